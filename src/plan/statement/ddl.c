/* SPDX-License-Identifier: MIT */
/*
 * CREATE TABLE and DROP TABLE against the catalogue at hand. Whoever writes
 * looks again: another connection may have been there before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "plan/bind/assign.h"
#include "plan/call/names.h"
#include "plan/bind/query.h"
#include "plan/leaf/lists.h"
#include "plan/plan.h"
#include "plan/rewrite/rewrite.h"
#include "plan/statement/statement.h"
#include "plan/statement/table_checks.h"
#include "plan/tree/binder.h"

static enum vdbq_status query_columns(const struct ast_create *create,
                                      struct binder *binder, struct plan *plan);
static enum vdbq_status check_columns(const struct ast_create *create,
                                      struct binder *binder,
                                      struct plan_create *plan);
static enum vdbq_status check_repeated(const struct ast_create *create,
                                       struct binder *binder);
static enum vdbq_status find_key(const struct ast_create *create,
                                 struct binder *binder,
                                 struct plan_create *plan);
static enum vdbq_status read_constraints(const struct ast_create *create,
                                         struct binder *binder,
                                         struct plan_create *plan);

enum vdbq_status plan_create_table(const struct ast_create *create,
                                   struct binder *binder, struct plan *plan)
{
    const struct ast_name *name = &create->table;
    struct plan_create *made = &plan->create;
    enum vdbq_status status = ddl_check_name(name, "table", binder->error);
    bool replaced =
        create->replaces
        && catalogue_table_in(binder->catalogue, new_schema(name), name->text)
               != NULL;

    plan->kind = PLAN_CREATE_TABLE;
    made->uniques = VECTOR_IN(binder->arena, struct unique);
    made->checks = VECTOR_IN(binder->arena, struct row_check);
    if (status == VDBQ_OK && !replaced)
        status = ddl_check_free(binder, name, create->if_not_exists);
    if (status == VDBQ_OK && !replaced
        && binder->catalogue->table_count >= TABLES_MAX)
        status = error_at(binder->error, VDBQ_LIMIT, name->at,
                          "a database has at most %d tables", TABLES_MAX);
    made->name = name->text;
    made->key = NO_KEY;
    made->if_not_exists = create->if_not_exists;
    made->replaces = create->replaces;
    if (status != VDBQ_OK)
        return status;
    if (create->query != NULL)
        return query_columns(create, binder, plan);
    status = check_columns(create, binder, made);
    return status == VDBQ_OK ? find_key(create, binder, made) : status;
}

enum vdbq_status plan_drop(const struct ast_drop *drop, enum plan_kind kind,
                           struct binder *binder, struct plan *plan)
{
    plan->kind = kind;
    plan->drop.name = drop->name.text;
    plan->drop.if_exists = drop->if_exists;
    if (kind == PLAN_DROP_TABLE && !drop->if_exists
        && find_table(binder, &drop->name) == NULL)
        return binder->error->status;
    return VDBQ_OK;
}

/* The statement, without OR REPLACE: files say CREATE VIEW. NULL: no memory. */
static const char *view_sql(const struct ast_view *view,
                            const struct binder *binder)
{
    static const char create[] = "CREATE ";
    size_t length = binder->sql_length - view->begin;
    char *sql;

    if (!view->replaces)
        return arena_copy(binder->arena, binder->sql, binder->sql_length);
    sql = arena_alloc(binder->arena, sizeof create + length);
    if (sql != NULL) {
        memcpy(sql, create, sizeof create - 1);
        memcpy(sql + sizeof create - 1, binder->sql + view->begin, length);
        sql[sizeof create - 1 + length] = '\0';
    }
    return sql;
}

enum vdbq_status plan_create_view(const struct ast_view *view,
                                  struct binder *binder, struct plan *plan)
{
    enum vdbq_status status =
        ddl_check_name(&view->name, "view", binder->error);
    const struct view *replaced =
        view->replaces ? catalogue_view_in(
            binder->catalogue, new_schema(&view->name), view->name.text)
                       : NULL;
    struct node *node;

    plan->kind = PLAN_CREATE_VIEW;
    plan->view.name = view->name.text;
    plan->view.if_not_exists = view->if_not_exists;
    plan->view.replaces = view->replaces;
    plan->view.temporary =
        name_equal(new_schema(&view->name), SCHEMA_TEMPORARY);
    if (status == VDBQ_OK && replaced == NULL)
        status = ddl_check_free(binder, &view->name, view->if_not_exists);
    if (status != VDBQ_OK)
        return status;
    plan->view.sql = view_sql(view, binder);
    if (plan->view.sql == NULL)
        return error_no_memory(binder->error);
    binder->replaced = replaced;
    binder->schema = plan->view.temporary ? NULL : SCHEMA_MAIN;
    node = bind_query(binder, view->query);
    return node && rewrite(binder, node) ? VDBQ_OK : binder->error->status;
}

enum vdbq_status ddl_check_free(const struct binder *binder,
                                const struct ast_name *name, bool keeps)
{
    const struct catalogue *catalogue = binder->catalogue;
    const char *schema = new_schema(name);

    if (lists_table(NULL, name->text) != NULL)
        return error_at(binder->error, VDBQ_EXISTS, name->at,
                        "%s is there of itself: it lists tables, indexes and "
                        "views",
                        name->text);
    if (!keeps && catalogue_table_in(catalogue, schema, name->text) != NULL) {
        error_at(binder->error, VDBQ_EXISTS, name->at,
                 "there is a table %s already", name->text);
        return error_hint(binder->error,
                          "CREATE TABLE IF NOT EXISTS keeps it, DROP TABLE "
                          "removes it");
    }
    if (!keeps && catalogue_view_in(catalogue, schema, name->text) != NULL) {
        error_at(binder->error, VDBQ_EXISTS, name->at,
                 "there is a view %s already", name->text);
        return error_hint(binder->error, "DROP VIEW removes it");
    }
    return VDBQ_OK;
}

/* The columns of CREATE TABLE AS. */
static enum vdbq_status query_columns(const struct ast_create *create,
                                      struct binder *binder, struct plan *plan)
{
    struct plan_create *made = &plan->create;
    struct node *node = bind_query(binder, create->query);
    unsigned count;

    if (node == NULL)
        return binder->error->status;
    count = node->column_count;
    made->from_query = true;
    made->column_count = count;
    made->columns =
        arena_alloc(binder->arena, (count + 1) * sizeof *made->columns);
    if (made->columns == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < count; i++)
        made->columns[i] =
            (struct column){ .name = node->columns[i].name,
                             .type = (enum vdbq_type)node->columns[i].type,
                             .precision = node->columns[i].precision,
                             .scale = node->columns[i].scale };
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < i; k++)
            if (name_equal(made->columns[i].name, made->columns[k].name))
                return error_at(binder->error, VDBQ_EXISTS, create->query->at,
                                "the query has two columns %s",
                                made->columns[i].name);
    return plan_steps(binder, node, plan);
}

enum vdbq_status ddl_check_name(const struct ast_name *name, const char *what,
                                struct error *error)
{
    size_t length = strlen(name->text);

    if (length == 0)
        return error_at(error, VDBQ_SYNTAX, name->at,
                        "the name of a %s is empty", what);
    if (length > NAME_BYTES_MAX)
        return error_at(error, VDBQ_LIMIT, name->at,
                        "the name of a %s has %zu bytes; at most %d are "
                        "allowed",
                        what, length, NAME_BYTES_MAX);
    return VDBQ_OK;
}

/* ------------------------------------------------------------- columns -- */

/* The text of DEFAULT; its value must be a constant that fits. */
static enum vdbq_status read_default(struct binder *binder,
                                     const struct ast_column *from,
                                     struct column *column)
{
    const struct ast_expression *tree = from->default_value;
    struct expression *e;

    column->default_sql = arena_copy(binder->arena, binder->sql + tree->begin,
                                     tree->end - tree->begin);
    if (column->default_sql == NULL)
        return error_no_memory(binder->error);
    e = expression_default_bound(binder, tree, column);
    if (e == NULL)
        return binder->error->status;
    if (e->kind != EXPRESSION_CONSTANT)
        return error_at(binder->error, VDBQ_TYPE, tree->at,
                        "a default is a constant");
    return VDBQ_OK;
}

enum vdbq_status ddl_describe_column(struct binder *binder,
                                     const struct ast_column *from,
                                     struct column *column)
{
    *column = (struct column){ .name = from->name.text,
                               .type = from->type.type,
                               .precision = from->type.precision,
                               .scale = from->type.scale,
                               .collation = from->type.type == VDBQ_TEXT
                                                ? from->collation
                                                : COLLATION_BINARY,
                               .not_null = from->not_null,
                               .unique = from->unique };
    return from->default_value != NULL ? read_default(binder, from, column)
                                       : VDBQ_OK;
}

static enum vdbq_status check_columns(const struct ast_create *create,
                                      struct binder *binder,
                                      struct plan_create *plan)
{
    unsigned count = 0;

    if (create->column_count > COLUMNS_MAX)
        return error_at(binder->error, VDBQ_LIMIT, create->table.at,
                        "table %s has %u columns; at most %d are allowed",
                        create->table.text, create->column_count, COLUMNS_MAX);
    plan->columns = arena_alloc(binder->arena, (create->column_count + 1)
                                                   * sizeof *plan->columns);
    if (plan->columns == NULL)
        return error_no_memory(binder->error);
    for (const struct ast_column *column = create->columns; column != NULL;
         column = column->next) {
        if (ddl_check_name(&column->name, "column", binder->error) != VDBQ_OK)
            return binder->error->status;
        if (ddl_describe_column(binder, column, &plan->columns[count++])
            != VDBQ_OK)
            return binder->error->status;
    }
    plan->column_count = count;
    return check_repeated(create, binder);
}

/* A letter of a name as name_equal() compares it. */
static int folded(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

static int compare_names(const void *a, const void *b)
{
    const struct ast_column *const *left = a, *const *right = b;
    const char *x = (*left)->name.text, *y = (*right)->name.text;

    while (*x != '\0' && folded(*x) == folded(*y))
        x++, y++;
    return folded(*x) - folded(*y);
}

static enum vdbq_status refuse_repeated(const struct ast_column *a,
                                        const struct ast_column *b,
                                        struct error *error)
{
    bool a_first = a->name.at.line < b->name.at.line
                   || (a->name.at.line == b->name.at.line
                       && a->name.at.column < b->name.at.column);
    const struct ast_column *later = a_first ? b : a;

    return error_at(error, VDBQ_EXISTS, later->name.at,
                    "there is a column %s already", later->name.text);
}

/* Refuses a name that two columns have: sorted, these are neighbours. */
static enum vdbq_status check_repeated(const struct ast_create *create,
                                       struct binder *binder)
{
    const struct ast_column **sorted =
        arena_alloc(binder->arena, (create->column_count + 1) * sizeof(void *));
    size_t count = 0;

    if (sorted == NULL)
        return error_no_memory(binder->error);
    for (const struct ast_column *column = create->columns; column != NULL;
         column = column->next)
        sorted[count++] = column;
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < count; i++)
        if (name_equal(sorted[i - 1]->name.text, sorted[i]->name.text))
            return refuse_repeated(sorted[i - 1], sorted[i], binder->error);
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- key -- */

static enum vdbq_status two_keys(const struct ast_create *create,
                                 struct position at, struct error *error)
{
    error_at(error, VDBQ_SYNTAX, at, "table %s has more than one primary key",
             create->table.text);
    return error_hint(error, "one column can be the primary key");
}

static enum vdbq_status find_key(const struct ast_create *create,
                                 struct binder *binder,
                                 struct plan_create *plan)
{
    unsigned number = 0;

    plan->key = NO_KEY;
    for (const struct ast_column *column = create->columns; column != NULL;
         column = column->next, number++) {
        if (!column->primary_key)
            continue;
        if (plan->key != NO_KEY)
            return two_keys(create, column->key_at, binder->error);
        plan->key = number;
    }
    return read_constraints(create, binder, plan);
}

/* A column of a constraint, perhaps with COLLATE: the catalogue has no other
 * collation for it than the column's. */
static enum vdbq_status find_term(const struct binder *binder,
                                  const struct table *table,
                                  const struct ast_expression *term,
                                  unsigned *number)
{
    bool collated = term->kind == AST_COLLATE;
    const struct ast_expression *name = collated ? term->left : term;
    const struct column *column;

    if (find_column(table, &name->column, number, binder->error) != VDBQ_OK)
        return binder->error->status;
    column = &table->columns[*number];
    if (!collated || column->type != VDBQ_TEXT
        || column->collation == term->collation)
        return VDBQ_OK;
    error_at(binder->error, VDBQ_SYNTAX, term->at,
             "a constraint of a table goes by the collation of its columns: "
             "that of %s is %s",
             column->name, collation_name(column->collation));
    return error_hint(binder->error,
                      "give the column its COLLATE behind its type, or let "
                      "CREATE UNIQUE INDEX have one of its own");
}

/* The table as it will be. */
static struct table table_of(const struct plan_create *plan)
{
    return (struct table){ .name = plan->name,
                           .column_count = plan->column_count,
                           .columns = plan->columns,
                           .key = NO_KEY };
}

/* The columns that a constraint names. */
static enum vdbq_status add_unique(const struct ast_constraint *constraint,
                                   struct binder *binder,
                                   struct plan_create *plan)
{
    const struct table made = table_of(plan);
    struct unique unique = { 0 };
    enum vdbq_status status = VDBQ_OK;

    for (const struct ast_order *term = constraint->terms; term != NULL;
         term = term->next)
        unique.column_count++;
    unique.columns = arena_alloc(binder->arena, (unique.column_count + 1)
                                                    * sizeof *unique.columns);
    if (unique.columns == NULL)
        return error_no_memory(binder->error);
    unique.column_count = 0;
    for (const struct ast_order *term = constraint->terms;
         term != NULL && status == VDBQ_OK; term = term->next)
        status = find_term(binder, &made, term->expression,
                           &unique.columns[unique.column_count++]);
    if (status != VDBQ_OK)
        return status;
    if (constraint->primary && unique.column_count == 1) {
        plan->key = unique.columns[0];
        return VDBQ_OK;
    }
    for (unsigned i = 0; i < unique.column_count && constraint->primary; i++)
        plan->columns[unique.columns[i]].not_null = true;
    return vector_append(&plan->uniques, &unique, 1)
               ? VDBQ_OK
               : error_no_memory(binder->error);
}

/* Those of columns, then those of the table. */
static enum vdbq_status read_checks(const struct ast_create *create,
                                    struct binder *binder,
                                    struct plan_create *plan)
{
    const struct table made = table_of(plan);
    enum vdbq_status status = VDBQ_OK;

    for (const struct ast_column *column = create->columns;
         column != NULL && status == VDBQ_OK; column = column->next)
        status = table_checks_add(binder, &made, column->checks, &plan->checks);
    return status == VDBQ_OK ? table_checks_add(
               binder, &made, create->constraints, &plan->checks)
                             : status;
}

static enum vdbq_status read_constraints(const struct ast_create *create,
                                         struct binder *binder,
                                         struct plan_create *plan)
{
    bool primary = plan->key != NO_KEY;
    enum vdbq_status status = VDBQ_OK;

    for (const struct ast_constraint *constraint = create->constraints;
         constraint != NULL && status == VDBQ_OK;
         constraint = constraint->next) {
        if (constraint->primary && primary)
            status = two_keys(create, constraint->terms->expression->at,
                              binder->error);
        primary |= constraint->primary;
        if (status == VDBQ_OK && constraint->check == NULL)
            status = add_unique(constraint, binder, plan);
    }
    return status == VDBQ_OK ? read_checks(create, binder, plan) : status;
}
