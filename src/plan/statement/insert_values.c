/* SPDX-License-Identifier: MIT */
/*
 * VALUES: see insert_values.h. A number that is written as such takes the short
 * way, all else is bound and folded like any expression.
 */
#include "plan/statement/insert_values.h"

#include "plan/bind/assign.h"
#include "plan/bind/bind.h"
#include "plan/call/names.h"
#include "plan/call/scalar.h"
#include "plan/bind/scope.h"
#include "plan/make/node.h"
#include "plan/statement/statement.h"

/* ------------------------------------------------------------- columns -- */

static enum vdbq_status start_columns(struct inserting *inserting)
{
    const struct table *table = inserting->table;
    struct arena *arena = inserting->binder->arena;
    size_t count = table->column_count;

    inserting->fillings =
        arena_alloc(arena, (count + 1) * sizeof *inserting->fillings);
    inserting->order =
        arena_alloc(arena, (count + 1) * sizeof *inserting->order);
    if (inserting->fillings == NULL || inserting->order == NULL)
        return error_no_memory(inserting->binder->error);
    for (unsigned i = 0; i < table->column_count; i++) {
        inserting->fillings[i].column = &table->columns[i];
        inserting->fillings[i].key = i == table->key;
    }
    return VDBQ_OK;
}

/* Room for the values of all rows. */
static enum vdbq_status make_room(struct inserting *inserting)
{
    struct arena *arena = inserting->binder->arena;

    for (unsigned i = 0; i < inserting->table->column_count; i++) {
        struct filling *filling = &inserting->fillings[i];
        int type = type_machine(filling->column->type);
        size_t width =
            type == TYPE_WORD ? sizeof(struct vdbq_text) : type_width(type);
        filling->values =
            arena_alloc(arena, inserting->insert->query->row_count * width);
        if (filling->values == NULL)
            return error_no_memory(inserting->binder->error);
    }
    return VDBQ_OK;
}

/* The i-th value of a row is for that column. */
static void name_column(struct inserting *inserting, unsigned i,
                        unsigned number)
{
    inserting->order[i] = number;
    inserting->fillings[number].named = true;
}

/* Which value goes to which column. No column is named twice, so there are
 * no more names than columns. */
static enum vdbq_status read_columns(struct inserting *inserting)
{
    const struct ast_insert *insert = inserting->insert;
    unsigned count = inserting->table->column_count;
    enum vdbq_status status = VDBQ_OK;

    if (insert->columns == NULL) {
        for (unsigned i = 0; i < count; i++)
            name_column(inserting, i, i);
        inserting->value_count = count;
        return VDBQ_OK;
    }
    inserting->value_count = insert->column_count;
    for (unsigned i = 0; i < insert->column_count && status == VDBQ_OK; i++) {
        const struct ast_name *name = &insert->columns[i];
        unsigned number;
        status = find_column(inserting->table, name, &number,
                             inserting->binder->error);
        if (status == VDBQ_OK && inserting->fillings[number].named)
            status = error_at(inserting->binder->error, VDBQ_EXISTS, name->at,
                              "column %s is in the list twice", name->text);
        if (status == VDBQ_OK)
            name_column(inserting, i, number);
    }
    return status;
}

enum vdbq_status insert_columns(struct inserting *inserting)
{
    enum vdbq_status status = start_columns(inserting);
    return status == VDBQ_OK ? read_columns(inserting) : status;
}

/* -------------------------------------------------------------- vectors -- */

void store_constant(enum vdbq_type type, void *values, size_t row,
                    const struct expression *e)
{
    switch (type_machine(type)) {
    case TYPE_I32:
        ((int32_t *)values)[row] = (int32_t)e->constant.integer;
        break;
    case TYPE_I64:
        ((int64_t *)values)[row] = e->constant.integer;
        break;
    case TYPE_F32:
        ((float *)values)[row] = (float)e->constant.real;
        break;
    case TYPE_F64:
        ((double *)values)[row] = e->constant.real;
        break;
    default:
        ((struct vdbq_text *)values)[row] = e->constant.text;
        break;
    }
}

static void store(const struct filling *filling, size_t row,
                  const struct expression *e)
{
    store_constant(filling->column->type, filling->values, row, e);
}

/* Whether a NULL may come to a column, whatever becomes of it. */
static bool may_come(const struct inserting *inserting,
                     const struct filling *filling)
{
    return !filling->key
           && (!filling->column->not_null || inserting->insert->ignore);
}

/* A statement with parameters, which are NULL before they have values, is planned
 * all the same where it returns columns: those are asked for before that. */
static bool waits_for_values(const struct inserting *inserting)
{
    return inserting->returning != NULL && inserting->binder->value_count > 0;
}

/* A byte a row, once there is a NULL. */
static enum vdbq_status set_null(struct inserting *inserting,
                                 struct filling *filling, size_t row,
                                 struct position at)
{
    struct binder *binder = inserting->binder;
    bool waits = waits_for_values(inserting);

    if (filling->key && !waits)
        return error_at(binder->error, VDBQ_CONSTRAINT, at,
                        "row %zu has no value for the primary key %s", row + 1,
                        filling->column->name);
    if (!may_come(inserting, filling) && !waits)
        return error_at(binder->error, VDBQ_CONSTRAINT, at,
                        "row %zu has no value for column %s, which is NOT "
                        "NULL",
                        row + 1, filling->column->name);
    if (filling->nulls == NULL)
        filling->nulls =
            arena_alloc(binder->arena, inserting->insert->query->row_count);
    if (filling->nulls == NULL)
        return error_no_memory(binder->error);
    filling->nulls[row] = 1;
    return VDBQ_OK;
}

/* Columns that the statement does not name have their default. */
static enum vdbq_status fill_missing(struct inserting *inserting)
{
    struct position at = inserting->insert->table.at;
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0;
         i < inserting->table->column_count && status == VDBQ_OK; i++) {
        struct filling *filling = &inserting->fillings[i];
        struct expression *e;
        if (filling->named)
            continue;
        e = expression_default(inserting->binder, filling->column, at);
        if (e == NULL)
            return inserting->binder->error->status;
        for (size_t row = 0;
             status == VDBQ_OK && row < inserting->insert->query->row_count;
             row++) {
            if (e->constant.null)
                status = set_null(inserting, filling, row, at);
            else
                store(filling, row, e);
        }
    }
    return status;
}

/* Lists the parameters that are values as they are given. */
static enum vdbq_status make_parameters(struct inserting *inserting,
                                        struct plan_insert *plan)
{
    const struct table *table = inserting->table;
    const struct filling *fillings = inserting->fillings;

    plan->parameters =
        arena_alloc(inserting->binder->arena,
                    table->column_count * sizeof *plan->parameters);
    if (plan->parameters == NULL)
        return error_no_memory(inserting->binder->error);
    for (unsigned i = 0; i < table->column_count; i++) {
        struct plan_parameter *to = &plan->parameters[plan->parameter_count];
        if (fillings[i].parameter == 0)
            continue;
        *to = (struct plan_parameter){ .number =
                                           (unsigned)fillings[i].parameter - 1,
                                       .column = i,
                                       .nullable =
                                           may_come(inserting, &fillings[i]) };
        plan->vectors[i].values = &to->value;
        plan->parameter_count++;
    }
    plan->of_any = plan->parameter_count > 0 && !inserting->reads
                   && inserting->insert->conflict.sets == NULL
                   && inserting->returning == NULL;
    return VDBQ_OK;
}

static enum vdbq_status make_vectors(struct inserting *inserting,
                                     struct plan_insert *plan)
{
    const struct table *table = inserting->table;
    struct vdbq_vector *vectors = arena_alloc(
        inserting->binder->arena, table->column_count * sizeof *vectors);

    if (vectors == NULL)
        return error_no_memory(inserting->binder->error);
    for (unsigned i = 0; i < table->column_count; i++)
        vectors[i] =
            (struct vdbq_vector){ .type = table->columns[i].type,
                                  .values = inserting->fillings[i].values,
                                  .nulls = inserting->fillings[i].nulls };
    *plan = (struct plan_insert){ .table_id = table->id,
                                  .rows = inserting->insert->query->row_count,
                                  .column_count = table->column_count,
                                  .vectors = vectors };
    return make_parameters(inserting, plan);
}

/* ---------------------------------------------------------------- rows -- */

/* Whether a value goes into its column as it is written: a whole number, or
 * NULL. All else is bound. */
static bool read_literal(const struct ast_expression *tree,
                         const struct filling *filling, size_t row)
{
    bool minus = tree->kind == AST_OPERATOR && tree->operator== AST_MINUS;
    enum vdbq_type type = filling->column->type;
    int64_t value;

    if (minus)
        tree = tree->left;
    if (tree->kind != AST_INTEGER || (minus && tree->integer < 0))
        return false;
    value = minus ? -tree->integer : tree->integer;
    if (type == VDBQ_BIGINT) {
        ((int64_t *)filling->values)[row] = value;
        return true;
    }
    if (type != VDBQ_INTEGER || value < INT32_MIN || value > INT32_MAX)
        return false;
    ((int32_t *)filling->values)[row] = (int32_t)value;
    return true;
}

/* Whether a value is a parameter that need not be read to make the plan: what else the
 * statement says of the row is planned for any. */
static bool read_parameter(const struct inserting *inserting,
                           const struct ast_expression *tree,
                           struct filling *filling)
{
    const struct plan_limits *limits = inserting->binder->limits;

    if (tree->kind != AST_PARAMETER || inserting->insert->query->row_count != 1
        || inserting->binder->parameters == NULL
        || tree->integer > inserting->binder->value_count || limits == NULL
        || limits->converts || !insert_takes_parameters(filling->column->type))
        return false;
    filling->parameter = (int)tree->integer;
    return true;
}

/* `e`, or where it is NULL the column's default. */
static struct expression *or_default(struct binder *binder,
                                     struct expression *e,
                                     const struct column *column)
{
    const struct ast_expression place = { .at = e->at };
    struct expression *other = expression_default(binder, column, e->at);
    struct call both = { .tree = &place,
                         .arguments = { e, other },
                         .count = 2 };

    return other != NULL ? scalar_coalesce(binder, &both) : NULL;
}

struct expression *insert_assigned(const struct inserting *inserting,
                                   struct expression *e,
                                   const struct column *column)
{
    bool replaces = inserting->insert->replace && column->not_null
                    && column->default_sql != NULL;

    e = expression_assigned(inserting->binder, e, column);
    return e != NULL && replaces ? or_default(inserting->binder, e, column) : e;
}

/* `*computed`: it is no constant, so that the rows must be a query's. */
static enum vdbq_status fill_value(struct inserting *inserting,
                                   struct filling *filling, size_t row,
                                   struct expression *e, bool *computed)
{
    struct position at = e->at;

    e = insert_assigned(inserting, e, filling->column);
    if (e == NULL)
        return inserting->binder->error->status;
    if (e->kind != EXPRESSION_CONSTANT) {
        *computed = true;
        return VDBQ_OK;
    }
    if (e->constant.null)
        return set_null(inserting, filling, row, at);
    store(filling, row, e);
    return VDBQ_OK;
}

/* Whether an expression has no parts. */
static bool is_constant(const struct ast_expression *tree)
{
    return tree->kind == AST_INTEGER || tree->kind == AST_DECIMAL
           || tree->kind == AST_STRING || tree->kind == AST_NULL
           || tree->kind == AST_TRUE || tree->kind == AST_FALSE;
}

static enum vdbq_status fill_row(struct inserting *inserting,
                                 const struct ast_row *row, size_t number,
                                 bool *computed)
{
    const struct ast_item *item = row->items;
    enum vdbq_status status = VDBQ_OK;

    if (row->item_count != inserting->value_count)
        return error_at(inserting->binder->error, VDBQ_SYNTAX, row->at,
                        "row %zu has %u values for %u columns", number + 1,
                        row->item_count, inserting->value_count);
    for (unsigned i = 0; item != NULL && status == VDBQ_OK && !*computed;
         item = item->next, i++) {
        struct filling *filling = &inserting->fillings[inserting->order[i]];
        struct ast_expression room;
        const struct ast_expression *tree = ast_item_read(item, &room);
        struct expression *e;
        if (read_literal(tree, filling, number)
            || read_parameter(inserting, tree, filling))
            continue;
        inserting->reads |= !is_constant(tree);
        e = tree->kind == AST_DEFAULT
                ? expression_default(inserting->binder, filling->column,
                                     tree->at)
                : bind_expression(inserting->binder, tree);
        status = e ? fill_value(inserting, filling, number, e, computed)
                   : inserting->binder->error->status;
    }
    return status;
}

/* ------------------------------------------------------------------ all -- */

enum vdbq_status insert_values(struct inserting *inserting, struct plan *plan,
                               bool *computed)
{
    enum vdbq_status status = make_room(inserting);
    struct scope scope;
    size_t number = 0;

    inserting->binder->constants = true;
    scope_enter(inserting->binder, &scope);
    scope.node = node_once(inserting->binder);
    scope.random = true;
    for (const struct ast_row *row = inserting->insert->query->rows;
         row != NULL && status == VDBQ_OK && !*computed; row = row->next)
        status = fill_row(inserting, row, number++, computed);
    if (status == VDBQ_OK && !*computed)
        status = fill_missing(inserting);
    scope_leave(inserting->binder, &scope);
    inserting->binder->constants = false;
    return status == VDBQ_OK && !*computed
               ? make_vectors(inserting, &plan->insert)
               : status;
}

enum vdbq_status insert_defaults(struct inserting *inserting, struct plan *plan)
{
    static const struct ast_query one = { .kind = AST_QUERY_VALUES,
                                          .row_count = 1 };
    const struct ast_insert *said = inserting->insert;
    struct ast_insert insert = *said;
    enum vdbq_status status;

    insert.query = (struct ast_query *)(uintptr_t)&one;
    inserting->insert = &insert;
    for (unsigned i = 0; i < inserting->table->column_count; i++)
        inserting->fillings[i].named = false;
    status = make_room(inserting);
    if (status == VDBQ_OK)
        status = fill_missing(inserting);
    if (status == VDBQ_OK)
        status = make_vectors(inserting, &plan->insert);
    inserting->insert = said;
    return status;
}
