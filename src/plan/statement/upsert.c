/* SPDX-License-Identifier: MIT */
/*
 * INSERT ... ON CONFLICT. DO UPDATE is a query that is planned once rows are
 * known that meet others: it joins them, as `excluded`, with the rows that they
 * meet, and gives these as they are afterwards. Where rows of the table are met,
 * conditions on the rule's columns let an index find them. A row that an earlier
 * row of the same statement made or changed is not read from the table: its
 * values come beside those of `excluded`.
 */
#include "plan/statement/upsert.h"

#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "data/rule/unique.h"
#include "data/transaction/row_conflicts.h"
#include "plan/bind/bind.h"
#include "plan/call/names.h"
#include "plan/bind/scope.h"
#include "plan/bind/select.h"
#include "plan/index/index_bind.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/statement/change.h"
#include "plan/statement/conflict_target.h"
#include "plan/statement/returning.h"
#include "plan/statement/table_rows.h"
#include "plan/tree/binder.h"

/* A table is asked for some values only where it has that many times as many
 * rows. */
enum { ROWS_MANY = 8 };

struct upsert {
    struct binder *binder;
    const struct table *table;
    const struct ast_insert *insert;
    const struct plan_insert *plan;    /* its target */
    const struct plan_conflicts *rows; /* NULL: none, binding is all     */
    struct vdbq_vector *coming;        /* those that come, as constants  */
    struct node *node;           /* columns of the rows that are met, the number
                                    of each, the rows that come, and theirs */
    unsigned met;                /* the column of the former numbers     */
    struct expression *where;    /* NULL: all                            */
    struct expression **results; /* one a column of the table            */
};

/* ----------------------------------------------------------------- sets -- */

/* Which columns SET names, each once, and whether a rule is about one. */
static enum vdbq_status note_sets(const struct ast_conflict *conflict,
                                  const struct table *table,
                                  const struct vector *rules,
                                  struct binder *binder,
                                  struct plan_insert *plan)
{
    bool *set = arena_alloc(binder->arena, table->column_count * sizeof *set);
    unsigned *columns =
        arena_alloc(binder->arena, table->column_count * sizeof *columns);

    if (set == NULL || columns == NULL)
        return error_no_memory(binder->error);
    plan->updates = true;
    plan->sets = columns;
    for (const struct ast_set *item = conflict->sets; item != NULL;
         item = item->next) {
        unsigned number;
        if (find_column(table, &item->column, &number, binder->error)
            != VDBQ_OK)
            return binder->error->status;
        if (!set[number])
            columns[plan->set_count++] = number;
        set[number] = true;
    }
    for (size_t i = 0; i < rules->count; i++)
        plan->moves |= unique_rule_reads(vector_at(rules, i), set);
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- rows -- */

/* The rows that come, or room for any. */
static bool put_coming(const struct upsert *upsert, struct node_column *columns,
                       struct vdbq_vector *vectors)
{
    const struct plan_conflicts *rows = upsert->rows;

    return rows != NULL && rows->any
               ? table_rows_any(upsert->binder, upsert->table, columns, vectors)
               : table_rows_put(upsert->binder, upsert->table,
                                rows != NULL ? rows->coming : NULL,
                                rows != NULL ? rows->rows : 0, columns,
                                vectors);
}

/* Rows as a node of constants: those that are met, if they are given, with a
 * NULL for the number of each, then those that come, with their numbers. */
static struct node *given_rows(struct upsert *upsert)
{
    static const struct plan_conflicts none;
    const struct plan_conflicts *rows = upsert->rows ? upsert->rows : &none;
    struct arena *arena = upsert->binder->arena;
    const struct table *table = upsert->table;
    unsigned count = table->column_count, first = 0;
    struct node_column *columns =
        arena_alloc(arena, 2 * (count + (size_t)1) * sizeof *columns);
    struct vdbq_vector *vectors =
        arena_alloc(arena, 2 * (count + (size_t)1) * sizeof *vectors);
    struct node *node;

    if (columns == NULL || vectors == NULL)
        return error_no_memory(upsert->binder->error), NULL;
    if (rows->before != NULL) {
        first = count + 1;
        if (!table_rows_put(upsert->binder, table, rows->before, rows->rows,
                            columns, vectors)
            || !table_rows_nulls(upsert->binder, VDBQ_BIGINT, rows->rows,
                                 &vectors[count]))
            return NULL;
        columns[count] =
            (struct node_column){ .name = "", .type = VDBQ_BIGINT };
    }
    if (!put_coming(upsert, columns + first, vectors + first)
        || !table_rows_numbers(upsert->binder, rows->rows,
                               &vectors[first + count]))
        return NULL;
    columns[first + count] =
        (struct node_column){ .name = "", .type = VDBQ_BIGINT };
    upsert->coming = vectors + first;
    node = node_values(upsert->binder, columns, first + count + 1, vectors,
                       (size_t)rows->rows);
    if (node != NULL && rows->any)
        node_values_vary(node);
    return node;
}

/* The values of a column of the rows that come, as rows. */
static struct node *values_of(const struct upsert *upsert, unsigned column)
{
    struct node_column described;
    struct vdbq_vector *vector =
        arena_alloc(upsert->binder->arena, sizeof *vector);

    table_rows_column(upsert->table, column, &described);
    if (vector == NULL)
        return error_no_memory(upsert->binder->error), NULL;
    if (!table_rows_clean(upsert->binder, &upsert->rows->coming[column],
                          upsert->rows->rows, vector))
        return NULL;
    return node_values(upsert->binder, &described, 1, vector,
                       (size_t)upsert->rows->rows);
}

/* What of a table an index can look for: the values of the rule's first column. NULL:
 * a failure. */
static struct expression *sought(const struct upsert *upsert)
{
    struct binder *binder = upsert->binder;
    struct position at = upsert->insert->conflict.at;
    unsigned column = upsert->plan->target.columns[0];
    struct expression *e = node_column(binder, upsert->node, column, at);
    struct node *values = e != NULL ? values_of(upsert, column) : NULL;

    return values ? bind_in_rows(binder, e, values, at) : NULL;
}

static bool add_condition(const struct upsert *upsert, struct expression *e,
                          struct vector *conditions)
{
    if (e == NULL)
        return false;
    return vector_append(conditions, &e, 1)
               ? true
               : (error_no_memory(upsert->binder->error), false);
}

/* Whether few rows come, which the table is asked for; of one row the join knows. */
static bool seeks(const struct upsert *upsert)
{
    const struct plan_conflicts *rows = upsert->rows;

    return rows != NULL && rows->rows > 0 && !rows->any
           && upsert->table->rows / ROWS_MANY >= rows->rows;
}

static bool add_sought(const struct upsert *upsert, struct vector *conditions)
{
    return !seeks(upsert) || add_condition(upsert, sought(upsert), conditions);
}

/* a = b */
static bool add_pair(const struct upsert *upsert, struct expression *a,
                     struct expression *b, struct vector *conditions)
{
    struct ast_expression place = { .at = upsert->insert->conflict.at };

    return a != NULL && b != NULL
           && add_condition(
               upsert,
               expression_operator(upsert->binder, AST_EQ, a, b, &place),
               conditions);
}

/* Rows meet where the rule's columns are equal. */
static bool add_equal(const struct upsert *upsert, struct vector *conditions)
{
    const struct conflict_target *target = &upsert->plan->target;
    struct position at = upsert->insert->conflict.at;
    struct binder *binder = upsert->binder;
    unsigned first = upsert->met + 1;
    bool added = true;

    for (unsigned i = 0; i < target->count && added; i++) {
        unsigned column = target->columns[i];
        added = add_pair(upsert, node_column(binder, upsert->node, column, at),
                         node_column(binder, upsert->node, first + column, at),
                         conditions);
    }
    return added;
}

/* Rows meet where the index's keys are equal, and it has the table's row. */
static bool add_keys(const struct upsert *upsert, struct vector *conditions)
{
    struct binder *binder = upsert->binder;
    const struct index *index =
        catalogue_index_of(binder->catalogue, upsert->plan->target.origin);
    unsigned count = upsert->table->column_count;
    const struct index_rows met = { .node = upsert->node, .count = count };
    const struct index_rows comes = { .node = upsert->node,
                                      .first = upsert->met + 1,
                                      .count = count };
    struct index_bound table, coming;

    if (index == NULL)
        return error_set(binder->error, VDBQ_MISUSE, "no such index"), false;
    if (!index_bind(binder, upsert->table, index, &met, &table)
        || !index_bind(binder, upsert->table, index, &comes, &coming))
        return false;
    for (unsigned i = 0; i < index->column_count; i++)
        if (!add_pair(upsert, table.keys[i], coming.keys[i], conditions))
            return false;
    return table.where == NULL
           || add_condition(upsert, table.where, conditions);
}

/* What rows meet by. */
static bool add_met(const struct upsert *upsert, struct vector *conditions)
{
    if (upsert->plan->target.origin != 0)
        return add_keys(upsert, conditions);
    return add_equal(upsert, conditions) && add_sought(upsert, conditions);
}

/* The rows that come beside those of the table that they meet. The columns are
 * known before the conditions that name them. */
static struct node *meet_table(struct upsert *upsert, struct node *given)
{
    struct binder *binder = upsert->binder;
    struct vector parts = VECTOR_IN(binder->arena, struct node *);
    struct vector conditions = VECTOR_IN(binder->arena, struct expression *);
    struct node *table = node_numbered(binder, upsert->table, &upsert->met);

    if (table == NULL)
        return NULL;
    if (!vector_append(&parts, &table, 1) || !vector_append(&parts, &given, 1))
        return error_no_memory(binder->error), NULL;
    upsert->node = node_product(binder, &parts, &conditions);
    if (upsert->node == NULL)
        return NULL;
    binder->scope->node = upsert->node;
    return add_met(upsert, &conditions)
               ? node_product(binder, &parts, &conditions)
               : NULL;
}

/* ------------------------------------------------------------------ SET -- */

/* The columns of the row that is met, by their names alone, too; those of the
 * row that comes as `excluded`. */
static enum vdbq_status name_columns(struct upsert *upsert)
{
    const struct ast_insert *insert = upsert->insert;
    const struct table *table = upsert->table;
    struct changed_rows rows = {
        .node = upsert->node,
        .table = table,
        .called = insert->alias.text ? insert->alias.text : insert->table.text,
        .id = table->key != NO_KEY ? (int)table->key : -1
    };
    enum vdbq_status status = scope_add_rows(upsert->binder, &rows);

    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++)
        status = scope_add(upsert->binder, "excluded", table->columns[i].name,
                           (int)(upsert->met + 1 + i), true);
    return status;
}

static enum vdbq_status bind_sets(struct upsert *upsert)
{
    struct binder *binder = upsert->binder;
    const struct ast_conflict *conflict = &upsert->insert->conflict;

    if (conflict->where != NULL) {
        upsert->where = bind_condition(binder, conflict->where);
        if (upsert->where == NULL)
            return binder->error->status;
    }
    for (const struct ast_set *set = conflict->sets; set != NULL;
         set = set->next) {
        unsigned number;
        struct expression *e;
        if (find_column(upsert->table, &set->column, &number, binder->error)
            != VDBQ_OK)
            return binder->error->status;
        e = bind_set(binder, set, &upsert->table->columns[number]);
        if (e != NULL && upsert->where != NULL)
            e = expression_choice(
                binder, upsert->where, e,
                node_column(binder, upsert->node, number, set->column.at),
                set->column.at);
        if (e == NULL)
            return binder->error->status;
        upsert->results[number] = e;
    }
    return VDBQ_OK;
}

static enum vdbq_status bind_upsert(struct upsert *upsert)
{
    struct binder *binder = upsert->binder;
    unsigned count = upsert->table->column_count;
    bool given = upsert->rows != NULL && upsert->rows->before != NULL;
    struct node *node = given_rows(upsert);
    enum vdbq_status status;

    upsert->node = node;
    upsert->met = count;
    binder->scope->node = node;
    if (node != NULL && !given)
        node = meet_table(upsert, node);
    upsert->results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*upsert->results));
    if (node == NULL)
        return binder->error->status;
    if (upsert->results == NULL)
        return error_no_memory(binder->error);
    upsert->node = node;
    for (unsigned i = 0; i < count; i++) {
        upsert->results[i] =
            node_column(binder, node, i, upsert->insert->table.at);
        if (upsert->results[i] == NULL)
            return binder->error->status;
    }
    status = name_columns(upsert);
    return status == VDBQ_OK ? bind_sets(upsert) : status;
}

/* ------------------------------------------------------------------ all -- */

/* Whether WHERE keeps a row. */
static struct expression *keeps(const struct upsert *upsert)
{
    struct binder *binder = upsert->binder;
    struct position at = upsert->insert->conflict.at;
    struct expression *yes = expression_truth(binder, true, at);
    struct expression *no = expression_truth(binder, false, at);

    if (upsert->where == NULL || yes == NULL || no == NULL)
        return yes && no ? yes : NULL;
    return expression_choice(binder, upsert->where, yes, no, at);
}

/* The numbers of rows that come, those of the rows they meet, whether
 * these change, and their columns afterwards; then what is returned. */
static struct node *arrange(const struct upsert *upsert,
                            const struct ast_result *returning,
                            struct plan *plan)
{
    struct binder *binder = upsert->binder;
    const struct ast_insert *insert = upsert->insert;
    const struct table *table = upsert->table;
    unsigned count = table->column_count;
    struct expression **results =
        arena_alloc(binder->arena, (count + UPSERT_BEFORE) * sizeof(*results));
    int *columns =
        arena_alloc(binder->arena, (count + UPSERT_BEFORE) * sizeof *columns);
    struct changed_rows rows = {
        .table = table,
        .called = insert->alias.text ? insert->alias.text : insert->table.text,
        .first = UPSERT_BEFORE,
        .id = table->key != NO_KEY ? UPSERT_BEFORE + (int)table->key : -1,
        .keeps = upsert->where != NULL ? UPSERT_KEPT : -1
    };

    if (results == NULL || columns == NULL)
        return error_no_memory(binder->error), NULL;
    results[UPSERT_NUMBER] = node_column(
        binder, upsert->node, upsert->met + 1 + count, insert->table.at);
    results[UPSERT_MET] =
        node_column(binder, upsert->node, upsert->met, insert->table.at);
    results[UPSERT_KEPT] = keeps(upsert);
    for (unsigned i = 0; i < UPSERT_BEFORE; i++)
        if (results[i] == NULL)
            return NULL;
    for (unsigned i = 0; i < count; i++)
        results[UPSERT_BEFORE + i] = upsert->results[i];
    for (unsigned i = 0; i < count + UPSERT_BEFORE; i++)
        columns[i] = (int)i;
    rows.node = node_select(binder, upsert->node, NULL, results, NULL,
                            count + UPSERT_BEFORE);
    return rows.node ? return_results(binder, &rows, columns,
                                      count + UPSERT_BEFORE, returning, plan)
                     : NULL;
}

/* Binds DO UPDATE; NULL: a failure. */
static struct node *upsert_node(struct upsert *upsert,
                                const struct ast_result *returning,
                                struct plan *plan)
{
    struct scope scope;
    enum vdbq_status status;

    scope_enter(upsert->binder, &scope);
    status = bind_upsert(upsert);
    scope_leave(upsert->binder, &scope);
    return status == VDBQ_OK ? arrange(upsert, returning, plan) : NULL;
}

/* What ON CONFLICT says of the rule and of columns. */
static enum vdbq_status read_conflict(const struct ast_conflict *conflict,
                                      const struct table *table,
                                      struct binder *binder,
                                      struct plan_insert *plan)
{
    struct vector rules;
    enum vdbq_status status =
        unique_rules(binder->catalogue, table, true, &rules)
            ? VDBQ_OK
            : error_no_memory(binder->error);

    if (status == VDBQ_OK)
        status = conflict_target_find(conflict, table, &rules, binder,
                                      &plan->target);
    if (status == VDBQ_OK && conflict->sets != NULL)
        status = note_sets(conflict, table, &rules, binder, plan);
    vector_finish(&rules);
    return status;
}

enum vdbq_status plan_conflict(const struct ast_statement *statement,
                               const struct table *table, struct binder *binder,
                               struct plan *plan)
{
    const struct ast_conflict *conflict = &statement->insert.conflict;
    struct upsert upsert = { .binder = binder,
                             .table = table,
                             .insert = &statement->insert,
                             .plan = &plan->insert };
    struct plan_returned returned = plan->returned;
    enum vdbq_status status =
        read_conflict(conflict, table, binder, &plan->insert);

    if (status != VDBQ_OK || conflict->sets == NULL)
        return status;
    if (upsert_node(&upsert, statement->returning, plan) == NULL)
        return binder->error->status;
    plan->returned = returned;
    return VDBQ_OK;
}

enum vdbq_status plan_upsert(const struct ast_statement *statement,
                             const struct table *table, struct binder *binder,
                             struct plan *plan)
{
    struct plan_insert said = { 0 };
    struct upsert upsert = { .binder = binder,
                             .table = table,
                             .insert = &statement->insert,
                             .plan = &said,
                             .rows = binder->limits->conflicts };
    enum vdbq_status status =
        read_conflict(&statement->insert.conflict, table, binder, &said);

    if (status != VDBQ_OK)
        return status;
    plan->kind = PLAN_UPSERT;
    status = plan_steps(binder,
                        upsert_node(&upsert, statement->returning, plan), plan);
    plan->upsert.coming = binder->limits->conflicts->any ? upsert.coming : NULL;
    return status;
}
