/* SPDX-License-Identifier: MIT */
/*
 * CREATE INDEX. An index of columns of all rows is their numbers. One of
 * expressions, or of some rows, is kept as text, and bound anew where it is used
 * (plan/index/index_bind.h): it says the same of a row whenever that is asked, so
 * that it reads that row and nothing else.
 */
#include <string.h>

#include "plan/bind/bind.h"
#include "plan/call/names.h"
#include "plan/bind/scope.h"
#include "plan/index/index_bind.h"
#include "plan/statement/row_expression.h"
#include "plan/statement/statement.h"
#include "plan/statement/table_rows.h"
#include "plan/tree/binder.h"

/* An index on its way. */
struct creating {
    struct binder *binder;
    const struct table *table;
    struct plan_index *made;
    struct index_keys *keys; /* likewise; NULL: it is of columns     */
    bool *reads;             /* ... which of the table's these read  */
};

/* -------------------------------------------------------------- columns -- */

/* The column that a term is, perhaps with COLLATE; NULL: it is none. */
static const struct ast_expression *column_of(const struct ast_expression *term)
{
    const struct ast_expression *name =
        term->kind == AST_COLLATE ? term->left : term;

    return name->kind == AST_COLUMN ? name : NULL;
}

/* Whether the index is of columns of all rows. */
static bool is_of_columns(const struct ast_index *index)
{
    bool of_columns = index->where == NULL;

    for (const struct ast_order *term = index->terms; term != NULL;
         term = term->next)
        of_columns &= column_of(term->expression) != NULL;
    return of_columns;
}

static enum vdbq_status add_column(const struct creating *creating,
                                   const struct ast_expression *term)
{
    const struct ast_expression *name = column_of(term);
    struct plan_index *made = creating->made;
    const struct column *column;
    unsigned number;

    if (find_column(creating->table, &name->column, &number,
                    creating->binder->error)
        != VDBQ_OK)
        return creating->binder->error->status;
    column = &creating->table->columns[number];
    made->columns[made->column_count] = number;
    made->collations[made->column_count++] =
        term->kind == AST_COLLATE && column->type == VDBQ_TEXT
            ? term->collation
            : column->collation;
    return VDBQ_OK;
}

/* Whether each column has the collation that it has in the table. */
static bool has_own_collations(const struct table *table,
                               const struct plan_index *made)
{
    bool own = true;

    for (unsigned i = 0; i < made->column_count; i++)
        own &=
            made->collations[i] == table->columns[made->columns[i]].collation;
    return own;
}

static enum vdbq_status add_columns(const struct creating *creating,
                                    const struct ast_index *index)
{
    struct plan_index *made = creating->made;
    enum vdbq_status status = VDBQ_OK;

    for (const struct ast_order *term = index->terms;
         term != NULL && status == VDBQ_OK; term = term->next)
        status = add_column(creating, term->expression);
    if (status == VDBQ_OK && has_own_collations(creating->table, made))
        made->collations = NULL;
    return status;
}

/* ----------------------------------------------------------------- keys -- */

static struct row_expressions of_index(const struct creating *creating)
{
    return (struct row_expressions){ .binder = creating->binder,
                                     .what = "an index",
                                     .reads = creating->reads };
}

/* That it says something of a row. */
static enum vdbq_status check_key(const struct creating *creating,
                                  const struct ast_expression *tree,
                                  struct expression *e)
{
    const struct row_expressions of = of_index(creating);
    struct error *error = creating->binder->error;
    bool any;
    enum vdbq_status status = row_expression_check(&of, tree, e, &any);

    if (status != VDBQ_OK || any)
        return status;
    error_at(error, VDBQ_SYNTAX, tree->at, "this is no column of the table");
    return error_hint(
        error, "an index is of columns, and of what is computed of them");
}

static enum vdbq_status add_key(const struct creating *creating,
                                const struct ast_expression *tree)
{
    struct binder *binder = creating->binder;
    struct plan_index *made = creating->made;
    struct expression *e = bind_expression(binder, tree);
    struct column *key = &creating->keys->columns[made->column_count];
    const struct row_expressions of = of_index(creating);
    enum vdbq_status status;

    if (e == NULL)
        return binder->error->status;
    status = check_key(creating, tree, e);
    if (status != VDBQ_OK)
        return status;
    *key = (struct column){ .name = row_expression_text(&of, tree),
                            .type = (enum vdbq_type)e->type };
    if (key->name == NULL)
        return binder->error->status;
    if (e->type == VDBQ_DECIMAL) {
        key->precision = e->precision;
        key->scale = e->scale;
    }
    if (e->type == VDBQ_TEXT)
        key->collation = e->collating.collation;
    made->columns[made->column_count] = made->column_count;
    made->column_count++;
    return column_valid(key)
               ? VDBQ_OK
               : error_at(binder->error, VDBQ_TYPE, tree->at,
                          "an index cannot have values of this type");
}

static enum vdbq_status add_where(const struct creating *creating,
                                  const struct ast_expression *tree)
{
    struct expression *e = bind_condition(creating->binder, tree);
    const struct row_expressions of = of_index(creating);
    enum vdbq_status status;
    bool any;

    if (e == NULL)
        return creating->binder->error->status;
    status = row_expression_check(&of, tree, e, &any);
    if (status != VDBQ_OK)
        return status;
    creating->keys->where_sql = row_expression_text(&of, tree);
    return creating->keys->where_sql != NULL ? VDBQ_OK
                                             : creating->binder->error->status;
}

/* Binds all of it over rows of the table, of which there are none. */
static enum vdbq_status bind_keys(const struct creating *creating,
                                  const struct ast_index *index)
{
    struct binder *binder = creating->binder;
    const struct index_rows rows = { .node = table_rows_node(
                                         binder, creating->table, NULL, 0),
                                     .count = creating->table->column_count };
    struct scope scope;
    enum vdbq_status status;

    if (rows.node == NULL)
        return binder->error->status;
    scope_enter(binder, &scope);
    scope.node = rows.node;
    status = index_scope(binder, creating->table, &rows);
    for (const struct ast_order *term = index->terms;
         term != NULL && status == VDBQ_OK; term = term->next)
        status = add_key(creating, term->expression);
    if (status == VDBQ_OK && index->where != NULL)
        status = add_where(creating, index->where);
    scope_leave(binder, &scope);
    return status;
}

static enum vdbq_status add_keys(struct creating *creating,
                                 const struct ast_index *index, size_t count)
{
    struct arena *arena = creating->binder->arena;
    unsigned columns = creating->table->column_count;
    struct index_keys *keys = arena_alloc(arena, sizeof *keys);
    enum vdbq_status status;

    creating->keys = creating->made->keys = keys;
    creating->reads = arena_alloc(arena, columns * sizeof *creating->reads);
    if (keys == NULL || creating->reads == NULL)
        return error_no_memory(creating->binder->error);
    keys->columns = arena_alloc(arena, (count + 1) * sizeof *keys->columns);
    keys->reads = arena_alloc(arena, columns * sizeof *keys->reads);
    if (keys->columns == NULL || keys->reads == NULL)
        return error_no_memory(creating->binder->error);
    status = bind_keys(creating, index);
    for (unsigned i = 0; i < columns; i++)
        if (creating->reads[i])
            keys->reads[keys->read_count++] = i;
    return status;
}

/* ------------------------------------------------------------------ all -- */

static enum vdbq_status check_name(const struct ast_name *name,
                                   struct error *error)
{
    size_t length = strlen(name->text);

    if (length == 0)
        return error_at(error, VDBQ_SYNTAX, name->at,
                        "the name of an index is empty");
    return length <= NAME_BYTES_MAX
               ? VDBQ_OK
               : error_at(error, VDBQ_LIMIT, name->at,
                          "the name of an index has %zu bytes; at most %d are "
                          "allowed",
                          length, NAME_BYTES_MAX);
}

enum vdbq_status plan_create_index(const struct ast_index *index,
                                   struct binder *binder, struct plan *plan)
{
    struct creating creating = { .binder = binder,
                                 .table = find_table(binder, &index->table),
                                 .made = &plan->index };
    struct plan_index *made = &plan->index;
    enum vdbq_status status = check_name(&index->name, binder->error);
    size_t count = 0;

    plan->kind = PLAN_CREATE_INDEX;
    if (creating.table == NULL || status != VDBQ_OK)
        return binder->error->status;
    for (const struct ast_order *term = index->terms; term != NULL;
         term = term->next)
        count++;
    *made = (struct plan_index){ .name = index->name.text,
                                 .table_id = creating.table->id,
                                 .unique = index->unique,
                                 .if_not_exists = index->if_not_exists };
    made->columns =
        arena_alloc(binder->arena, (count + 1) * sizeof *made->columns);
    made->collations =
        arena_alloc(binder->arena, (count + 1) * sizeof *made->collations);
    if (made->columns == NULL || made->collations == NULL)
        return error_no_memory(binder->error);
    if (is_of_columns(index))
        return add_columns(&creating, index);
    made->collations = NULL;
    return add_keys(&creating, index, count);
}
