/* SPDX-License-Identifier: MIT */
/*
 * INSERT. VALUES of constants become vectors of the columns' types
 * (insert_values.h). Other rows are those of a query.
 */
#include "plan/bind/assign.h"
#include "plan/bind/bind.h"
#include "plan/call/names.h"
#include "plan/bind/query.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/plan.h"
#include "plan/statement/insert_values.h"
#include "plan/statement/returning.h"
#include "plan/statement/statement.h"
#include "plan/statement/table_rows.h"
#include "plan/statement/upsert.h"
#include "plan/tree/binder.h"

/* ---------------------------------------------------------- from queries -- */

/* The value of the query's column `i`: what is written there, if it is a
 * constant. */
static struct expression *queried_value(struct binder *binder,
                                        const struct node *node, unsigned i,
                                        struct position at)
{
    if (node->kind == NODE_SELECT
        && node->results[i]->kind == EXPRESSION_CONSTANT)
        return node->results[i];
    return node_column(binder, node, i, at);
}

/* The query's columns in the places of the table's, each of its type, and
 * defaults for all others; false: a failure. */
static bool fill_results(struct inserting *inserting, const struct node *node,
                         struct expression **results)
{
    struct binder *binder = inserting->binder;
    const struct column *columns = inserting->table->columns;
    struct position at = inserting->insert->table.at;

    for (unsigned i = 0; i < inserting->value_count; i++) {
        unsigned column = inserting->order[i];
        struct expression *e = queried_value(binder, node, i, at);
        if (e != NULL)
            e = insert_assigned(inserting, e, &columns[column]);
        if (e == NULL)
            return false;
        results[column] = e;
    }
    for (unsigned i = 0; i < inserting->table->column_count; i++) {
        if (inserting->fillings[i].named)
            continue;
        results[i] = expression_default(binder, &columns[i], at);
        if (results[i] == NULL)
            return false;
    }
    return true;
}

static struct node *arrange(struct inserting *inserting, struct node *node)
{
    struct binder *binder = inserting->binder;
    const struct table *table = inserting->table;
    struct expression **results = arena_alloc(
        binder->arena, (table->column_count + 1) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    if (node->column_count != inserting->value_count) {
        error_at(binder->error, VDBQ_SYNTAX, inserting->insert->table.at,
                 "the query has %u columns for %u columns of %s",
                 node->column_count - inserting->adds_key,
                 inserting->value_count - inserting->adds_key, table->name);
        return NULL;
    }
    return fill_results(inserting, node, results) ? node_select(
               binder, node, NULL, results, NULL, table->column_count)
                                                  : NULL;
}

/* The rows of a node are those that are inserted; NULL: a failure. */
static enum vdbq_status insert_node(struct inserting *inserting,
                                    struct node *node, struct plan *plan)
{
    const struct ast_insert *insert = inserting->insert;
    const struct table *table = inserting->table;
    struct changed_rows rows = {
        .node = node,
        .table = table,
        .called = insert->alias.text ? insert->alias.text : insert->table.text,
        .id = table->key != NO_KEY ? (int)table->key : -1,
        .keeps = -1
    };

    if (node != NULL && inserting->returning != NULL)
        node = return_all(inserting->binder, &rows, inserting->returning, plan);
    plan->insert.from_query = true;
    plan->insert.table_id = table->id;
    plan->insert.column_count = table->column_count;
    return plan_steps(inserting->binder, node, plan);
}

/* The defaults of the columns that values are for; NULL: a failure. */
static struct expression **defaults_of(const struct inserting *inserting)
{
    struct binder *binder = inserting->binder;
    struct expression **defaults = arena_alloc(
        binder->arena, (inserting->value_count + 1) * sizeof(*defaults));

    if (defaults == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < inserting->value_count; i++) {
        defaults[i] = expression_default(
            binder, &inserting->table->columns[inserting->order[i]],
            inserting->insert->table.at);
        if (defaults[i] == NULL)
            return NULL;
    }
    return defaults;
}

static enum vdbq_status insert_query(struct inserting *inserting,
                                     struct plan *plan)
{
    struct binder *binder = inserting->binder;
    struct row_defaults defaults = { .rows = inserting->rows,
                                     .values = defaults_of(inserting),
                                     .count = inserting->value_count };
    struct node *node;

    if (defaults.values == NULL)
        return binder->error->status;
    binder->defaults = &defaults;
    node = bind_query(binder, inserting->insert->query);
    binder->defaults = NULL;
    return insert_node(inserting, node ? arrange(inserting, node) : NULL, plan);
}

/* The names of a query's columns. */
static struct ast_name *names_of(struct binder *binder, const struct node *node,
                                 struct position at)
{
    struct ast_name *names =
        arena_alloc(binder->arena, node->column_count * sizeof *names);

    if (names == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++)
        names[i] = (struct ast_name){ .text = node->columns[i].name, .at = at };
    return names;
}

/* BY NAME: `named`, a copy of the statement, has its query's columns as a list. */
static enum vdbq_status insert_by_name(struct inserting *inserting,
                                       struct ast_insert *named,
                                       struct plan *plan)
{
    struct binder *binder = inserting->binder;
    struct node *node = bind_query(binder, named->query);
    enum vdbq_status status;

    if (node == NULL)
        return binder->error->status;
    named->columns = names_of(binder, node, named->query->at);
    named->column_count = node->column_count;
    if (named->columns == NULL)
        return binder->error->status;
    inserting->insert = named;
    status = insert_columns(inserting);
    if (status == VDBQ_OK)
        status = insert_node(inserting, arrange(inserting, node), plan);
    return status;
}

/* Rows of constants, or the row that plan_insert_fill() gives values; NULL: a
 * failure. */
static struct node *constants_node(const struct inserting *inserting,
                                   const struct plan_insert *insert)
{
    struct node *node = table_rows_node(inserting->binder, inserting->table,
                                        insert->vectors, insert->rows);

    for (unsigned i = 0; node != NULL && i < insert->parameter_count; i++)
        node->values[insert->parameters[i].column].nulls =
            &insert->parameters[i].null;
    if (node != NULL && insert->parameter_count > 0)
        node_values_vary(node);
    return node;
}

/* Rows of constants of which something is returned. */
static enum vdbq_status return_constants(struct inserting *inserting,
                                         struct plan *plan)
{
    return insert_node(inserting, constants_node(inserting, &plan->insert),
                       plan);
}

/* ------------------------------------------------------------------ all -- */

static bool is_plain_values(const struct ast_query *query)
{
    return query != NULL && query->kind == AST_QUERY_VALUES
           && query->limit == NULL && query->offset == NULL
           && query->order == NULL && query->with == NULL;
}

/* The rows, as vectors or as a query. */
static enum vdbq_status insert_rows(struct inserting *inserting,
                                    struct plan *plan)
{
    const struct ast_query *query = inserting->insert->query;
    enum vdbq_status status = VDBQ_OK;
    bool computed = query != NULL && !is_plain_values(query);

    if (query == NULL)
        status = insert_defaults(inserting, plan);
    else if (!computed)
        status = insert_values(inserting, plan, &computed);
    if (status == VDBQ_OK && computed)
        status = insert_query(inserting, plan);
    else if (status == VDBQ_OK && inserting->returning != NULL)
        status = return_constants(inserting, plan);
    return status;
}

/* Whether it is ON CONFLICT DO NOTHING, whatever the conflict. */
static bool is_nothing(const struct ast_conflict *conflict)
{
    return conflict->at.line > 0 && conflict->target.terms == NULL
           && conflict->sets == NULL;
}

enum vdbq_status plan_insert_rows(const struct ast_statement *statement,
                                  struct binder *binder, struct plan *plan)
{
    const struct ast_insert *insert = &statement->insert;
    struct ast_insert named = *insert, keyed;
    struct inserting inserting = { .binder = binder,
                                   .insert = insert,
                                   .rows = insert->query,
                                   .returning = statement->returning };
    enum vdbq_status status;

    inserting.table = find_table(binder, &insert->table);
    if (inserting.table == NULL)
        return binder->error->status;
    if (binder->limits != NULL && binder->limits->conflicts != NULL)
        return plan_upsert(statement, inserting.table, binder, plan);
    plan->kind = PLAN_INSERT;
    if (!insert_key_fill(&inserting, &keyed))
        return error_no_memory(binder->error);
    status = insert->by_name ? insert_by_name(&inserting, &named, plan)
                             : insert_columns(&inserting);
    if (status == VDBQ_OK && !insert->by_name)
        status = insert_rows(&inserting, plan);
    plan->insert.conflict = insert->replace ? CONFLICT_REPLACE
                            : insert->ignore || is_nothing(&insert->conflict)
                                ? CONFLICT_IGNORE
                                : CONFLICT_FAIL;
    plan->insert.ignores_broken = insert->ignore;
    plan->insert.integer_key = insert_key_of(inserting.table);
    return status == VDBQ_OK && insert->conflict.at.line > 0
               ? plan_conflict(statement, inserting.table, binder, plan)
               : status;
}
