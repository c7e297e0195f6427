/* SPDX-License-Identifier: MIT */
/*
 * INSERT ... VALUES: expressions of constants to vectors of the columns'
 * types. A number that is written as such takes the short way; all else is
 * bound and folded like any expression.
 *
 * A value is stored as what it is or not at all: a whole number that does not
 * fit its column, and a fraction for a column of whole numbers, are refused.
 * Numbers are rounded to the nearest that a FLOAT or DOUBLE can hold.
 */
#include "plan/plan_inner.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* A column of the table while its values come in. */
struct filling {
    const struct column *column;
    bool key;
    bool named;     /* rows have a value for it  */
    void *values;
    uint8_t *nulls; /* NULL until the first NULL */
};

struct inserting {
    struct binder *binder;
    const struct ast_insert *insert;
    const struct table *table;
    struct filling *fillings; /* one a column of the table                 */
    unsigned *order;          /* the column that the i-th value goes to    */
    unsigned value_count;     /* of a row                                  */
};

/* A constant to be stored. */
struct constant {
    bool null;
    bool real_type;    /* `real` holds it, else `integer` */
    int64_t integer;
    double real;
    struct position at;
};

static enum vdbq_status read_columns(struct inserting *inserting);
static enum vdbq_status make_room(struct inserting *inserting);
static enum vdbq_status fill_missing(struct inserting *inserting);
static enum vdbq_status fill_row(struct inserting *inserting,
                                 const struct ast_row *row, size_t number);
static enum vdbq_status make_vectors(struct inserting *inserting,
                                     struct plan_insert *plan);
static bool read_literal(const struct ast_expression *tree,
                         struct constant *constant);
static enum vdbq_status read_expression(struct binder *binder,
                                        const struct ast_expression *tree,
                                        struct constant *constant);
static enum vdbq_status store(struct inserting *inserting,
                              struct filling *filling, size_t row,
                              const struct constant *constant);

enum vdbq_status plan_insert_rows(const struct ast_insert *insert,
                                  struct binder *binder,
                                  struct plan_insert *plan)
{
    struct inserting inserting = { .binder = binder, .insert = insert };
    enum vdbq_status status;
    size_t number = 0;

    inserting.table = find_table(binder, &insert->table);
    if (inserting.table == NULL)
        return binder->error->status;
    status = make_room(&inserting);
    if (status == VDBQ_OK)
        status = read_columns(&inserting);
    for (const struct ast_row *row = insert->query->rows;
         row != NULL && status == VDBQ_OK; row = row->next)
        status = fill_row(&inserting, row, number++);
    if (status == VDBQ_OK)
        status = fill_missing(&inserting);
    return status == VDBQ_OK ? make_vectors(&inserting, plan) : status;
}

/* ------------------------------------------------------------- columns -- */

static enum vdbq_status make_room(struct inserting *inserting)
{
    const struct table *table = inserting->table;
    struct arena *arena = inserting->binder->arena;
    size_t count = table->column_count;

    inserting->fillings =
        arena_alloc(arena, count * sizeof *inserting->fillings);
    inserting->order = arena_alloc(arena, count * sizeof *inserting->order);
    if (inserting->fillings == NULL || inserting->order == NULL)
        return error_no_memory(inserting->binder->error);
    for (unsigned i = 0; i < table->column_count; i++) {
        struct filling *filling = &inserting->fillings[i];
        unsigned width = type_width((int)table->columns[i].type);
        filling->column = &table->columns[i];
        filling->key = i == table->key;
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

/* A byte a row, once there is a NULL. */
static enum vdbq_status set_null(struct inserting *inserting,
                                 struct filling *filling, size_t row,
                                 struct position at)
{
    struct binder *binder = inserting->binder;

    if (filling->key)
        return error_at(binder->error, VDBQ_CONSTRAINT, at,
                        "row %zu has no value for the primary key %s",
                        row + 1, filling->column->name);
    if (filling->nulls == NULL)
        filling->nulls =
            arena_alloc(binder->arena, inserting->insert->query->row_count);
    if (filling->nulls == NULL)
        return error_no_memory(binder->error);
    filling->nulls[row] = 1;
    return VDBQ_OK;
}

/* Columns that the statement does not name are NULL in every row. */
static enum vdbq_status fill_missing(struct inserting *inserting)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < inserting->table->column_count; i++) {
        struct filling *filling = &inserting->fillings[i];
        for (size_t row = 0; !filling->named && status == VDBQ_OK
                             && row < inserting->insert->query->row_count;
             row++)
            status = set_null(inserting, filling, row,
                              inserting->insert->table.at);
    }
    return status;
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
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- rows -- */

static enum vdbq_status fill_row(struct inserting *inserting,
                                 const struct ast_row *row, size_t number)
{
    const struct ast_value *value = row->values;
    enum vdbq_status status = VDBQ_OK;

    if (row->value_count != inserting->value_count)
        return error_at(inserting->binder->error, VDBQ_SYNTAX, row->at,
                        "row %zu has %u values for %u columns", number + 1,
                        row->value_count, inserting->value_count);
    for (unsigned i = 0; value != NULL && status == VDBQ_OK;
         value = value->next, i++) {
        struct constant constant = { .at = value->expression->at };
        if (!read_literal(value->expression, &constant))
            status = read_expression(inserting->binder, value->expression,
                                     &constant);
        if (status == VDBQ_OK)
            status = store(inserting,
                           &inserting->fillings[inserting->order[i]], number,
                           &constant);
    }
    return status;
}

/* The short way: a number as it is written, with or without a minus. */
static bool read_literal(const struct ast_expression *tree,
                         struct constant *constant)
{
    bool minus = tree->kind == AST_OPERATOR && tree->operator == AST_MINUS;

    if (minus)
        tree = tree->left;
    if (tree->kind == AST_NULL && !minus) {
        constant->null = true;
        return true;
    }
    if (tree->kind == AST_INTEGER && !(minus && tree->integer < 0)) {
        constant->integer = minus ? -tree->integer : tree->integer;
        return true;
    }
    /* A whole number past int64 may be in the least one, with its minus. */
    if (tree->kind != AST_DECIMAL || (minus && tree->decimal >= 0x1p63))
        return false;
    constant->real_type = true;
    constant->real = minus ? -tree->decimal : tree->decimal;
    return true;
}

static enum vdbq_status read_expression(struct binder *binder,
                                        const struct ast_expression *tree,
                                        struct constant *constant)
{
    const struct expression *e = bind_expression(binder, tree);

    if (e == NULL)
        return binder->error->status;
    assert(e->kind == EXPRESSION_CONSTANT);
    constant->null = e->null;
    constant->real_type = is_float(e->type);
    constant->integer = e->integer;
    constant->real = e->real;
    return VDBQ_OK;
}

/* ------------------------------------------------------------- storing -- */

static enum vdbq_status refuse_range(const struct inserting *inserting,
                                     const struct filling *filling,
                                     const struct constant *constant)
{
    char number[32];
    const char *type = vdbq_type_name(filling->column->type);

    if (!constant->real_type)
        return error_at(inserting->binder->error, VDBQ_RANGE, constant->at,
                        "%lld does not fit column %s, which is %s",
                        (long long)constant->integer, filling->column->name,
                        type);
    text_from_double(constant->real, number);
    return error_at(inserting->binder->error, VDBQ_RANGE, constant->at,
                    "%s does not fit column %s, which is %s", number,
                    filling->column->name, type);
}

static enum vdbq_status refuse_fraction(const struct inserting *inserting,
                                        const struct filling *filling,
                                        const struct constant *constant)
{
    struct error *error = inserting->binder->error;
    char number[32];

    text_from_double(constant->real, number);
    error_at(error, VDBQ_TYPE, constant->at,
             "%s is not a whole number, and column %s is %s", number,
             filling->column->name, vdbq_type_name(filling->column->type));
    return error_hint(error, "CAST(%s AS %s) cuts the fraction off", number,
                      vdbq_type_name(filling->column->type));
}

static enum vdbq_status store_integer(struct inserting *inserting,
                                      struct filling *filling, size_t row,
                                      const struct constant *constant)
{
    bool narrow = filling->column->type == VDBQ_INTEGER;
    double real = constant->real;
    int64_t value = constant->integer;

    if (constant->real_type) {
        if (!(real >= -0x1p63 && real < 0x1p63))
            return refuse_range(inserting, filling, constant);
        if (real != floor(real))
            return refuse_fraction(inserting, filling, constant);
        value = (int64_t)real;
    }
    if (narrow && (value < INT32_MIN || value > INT32_MAX))
        return refuse_range(inserting, filling, constant);
    if (narrow)
        ((int32_t *)filling->values)[row] = (int32_t)value;
    else
        ((int64_t *)filling->values)[row] = value;
    return VDBQ_OK;
}

static enum vdbq_status store_float(struct inserting *inserting,
                                    struct filling *filling, size_t row,
                                    const struct constant *constant)
{
    const double limit = 3.4028235677973366e38; /* rounds to infinity */
    double real = constant->real;

    if (!constant->real_type) {
        ((float *)filling->values)[row] = (float)constant->integer;
        return VDBQ_OK;
    }
    if (fabs(real) >= limit && !isinf(real))
        return refuse_range(inserting, filling, constant);
    ((float *)filling->values)[row] = (float)real;
    return VDBQ_OK;
}

static enum vdbq_status store(struct inserting *inserting,
                              struct filling *filling, size_t row,
                              const struct constant *constant)
{
    if (constant->null)
        return set_null(inserting, filling, row, constant->at);
    switch (filling->column->type) {
    case VDBQ_FLOAT:
        return store_float(inserting, filling, row, constant);
    case VDBQ_DOUBLE:
        ((double *)filling->values)[row] = constant->real_type
                                               ? constant->real
                                               : (double)constant->integer;
        return VDBQ_OK;
    default:
        return store_integer(inserting, filling, row, constant);
    }
}
