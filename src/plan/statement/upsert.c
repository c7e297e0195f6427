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
#include "data/index/unique.h"
#include "data/transaction/row_conflicts.h"
#include "plan/bind/bind.h"
#include "plan/bind/names.h"
#include "plan/bind/scope.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/statement/change.h"
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
    struct node *node;           /* columns of the rows that are met, the number
                                    of each, the rows that come, and theirs */
    unsigned met;                /* the column of the former numbers     */
    struct expression *where;    /* NULL: all                            */
    struct expression **results; /* one a column of the table            */
};

/* --------------------------------------------------------------- target -- */

/* Adds "(a, b)". */
static void list_rule(const struct unique_rule *rule, struct text *list)
{
    const unsigned *columns = unique_rule_columns(rule);

    text_print(list, "%s(", list->length > 0 ? ", " : "");
    for (unsigned i = 0; i < rule->column_count; i++)
        text_print(list, "%s%s", i > 0 ? ", " : "", rule->of[columns[i]].name);
    text_print(list, ")");
    if (index_is_partial(rule->keyed))
        text_print(list, " WHERE %s", rule->keyed->keys->where_sql);
}

/* Says what could have been written. */
static enum vdbq_status hint_rules(const struct table *table,
                                   const struct vector *rules,
                                   struct error *error)
{
    struct text list = { 0 };

    for (size_t i = 0; i < rules->count; i++)
        list_rule(vector_at(rules, i), &list);
    if (list.failed)
        error_no_memory(error);
    else if (rules->count == 0)
        error_hint(error,
                   "%s has no PRIMARY KEY, no UNIQUE columns and no "
                   "unique index",
                   table->name);
    else
        error_hint(error, "unique in %s: %s", table->name, list.bytes);
    text_finish(&list);
    return error->status;
}

static enum vdbq_status read_target(const struct ast_conflict *conflict,
                                    const struct table *table,
                                    struct binder *binder,
                                    struct plan_insert *plan)
{
    enum vdbq_status status = VDBQ_OK;

    plan->target.count = conflict->column_count;
    plan->target.columns =
        arena_alloc(binder->arena, (conflict->column_count + 1)
                                       * sizeof *plan->target.columns);
    if (plan->target.columns == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < conflict->column_count && status == VDBQ_OK; i++)
        status = find_column(table, &conflict->columns[i],
                             &plan->target.columns[i], binder->error);
    return status;
}

/* DO UPDATE without a target is about the only rule that there is. */
static enum vdbq_status only_rule(const struct ast_conflict *conflict,
                                  const struct table *table,
                                  const struct vector *rules,
                                  struct binder *binder,
                                  struct plan_insert *plan)
{
    const struct unique_rule *rule = vector_at(rules, 0);

    if (rules->count != 1) {
        error_at(binder->error, VDBQ_UNKNOWN, conflict->at,
                 "DO UPDATE needs to know which columns a row conflicts in");
        return hint_rules(table, rules, binder->error);
    }
    plan->target.count = rule->column_count;
    plan->target.columns = arena_alloc(
        binder->arena, rule->column_count * sizeof *plan->target.columns);
    if (plan->target.columns == NULL)
        return error_no_memory(binder->error);
    memcpy(plan->target.columns, unique_rule_columns(rule),
           rule->column_count * sizeof *plan->target.columns);
    return VDBQ_OK;
}

static enum vdbq_status find_rule(const struct ast_conflict *conflict,
                                  const struct table *table,
                                  const struct vector *rules,
                                  struct binder *binder,
                                  struct plan_insert *plan)
{
    enum vdbq_status status;

    if (conflict->columns == NULL)
        return conflict->sets == NULL
                   ? VDBQ_OK
                   : only_rule(conflict, table, rules, binder, plan);
    status = read_target(conflict, table, binder, plan);
    for (size_t i = 0; i < rules->count && status == VDBQ_OK; i++)
        if (conflict_targets(&plan->target, vector_at(rules, i)))
            return VDBQ_OK;
    if (status != VDBQ_OK)
        return status;
    error_at(binder->error, VDBQ_UNKNOWN, conflict->columns[0].at,
             "no rule says that %s unique",
             conflict->column_count > 1 ? "these columns together are"
                                        : "this column is");
    return hint_rules(table, rules, binder->error);
}

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

/* Rows as a node of constants: those that are met, if they are given, with a
 * NULL for the number of each, then those that come, with their numbers. */
static struct node *given_rows(const struct upsert *upsert)
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
    if (!table_rows_put(upsert->binder, table, rows->coming, rows->rows,
                        columns + first, vectors + first)
        || !table_rows_numbers(upsert->binder, rows->rows,
                               &vectors[first + count]))
        return NULL;
    columns[first + count] =
        (struct node_column){ .name = "", .type = VDBQ_BIGINT };
    return node_values(upsert->binder, columns, first + count + 1, vectors,
                       (size_t)rows->rows);
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

/* What of a table an index can look for: the values of the only row that comes,
 * or, of several, those of the first column. NULL: a failure. */
static struct expression *sought(const struct upsert *upsert, unsigned column)
{
    struct binder *binder = upsert->binder;
    struct ast_expression place = { .at = upsert->insert->conflict.at };
    struct expression *e = node_column(binder, upsert->node, column, place.at);
    struct expression *value;
    struct node *values;

    if (e == NULL)
        return NULL;
    if (upsert->rows->rows == 1) {
        value = table_rows_constant(binder, &upsert->table->columns[column],
                                    &upsert->rows->coming[column], place.at);
        return value ? expression_operator(binder, AST_EQ, e, value, &place)
                     : NULL;
    }
    values = values_of(upsert, column);
    return values ? bind_in_rows(binder, e, values, place.at) : NULL;
}

static bool add_sought(const struct upsert *upsert, struct vector *conditions)
{
    const struct conflict_target *target = &upsert->plan->target;
    const struct plan_conflicts *rows = upsert->rows;
    unsigned count = rows != NULL && rows->rows == 1 ? target->count : 1;

    if (rows == NULL || rows->rows == 0
        || upsert->table->rows / ROWS_MANY < rows->rows)
        return true;
    for (unsigned i = 0; i < count; i++) {
        struct expression *e = sought(upsert, target->columns[i]);
        if (e == NULL || !vector_append(conditions, &e, 1))
            return e != NULL ? error_no_memory(upsert->binder->error),
                   false     : false;
    }
    return true;
}

/* Rows meet where the rule's columns are equal. */
static bool add_equal(const struct upsert *upsert, struct vector *conditions)
{
    const struct conflict_target *target = &upsert->plan->target;
    struct ast_expression place = { .at = upsert->insert->conflict.at };
    struct binder *binder = upsert->binder;
    unsigned first = upsert->met + 1;

    for (unsigned i = 0; i < target->count; i++) {
        unsigned column = target->columns[i];
        struct expression *a =
            node_column(binder, upsert->node, column, place.at);
        struct expression *b =
            node_column(binder, upsert->node, first + column, place.at);
        struct expression *e =
            a && b ? expression_operator(binder, AST_EQ, a, b, &place) : NULL;
        if (e == NULL)
            return false;
        if (!vector_append(conditions, &e, 1))
            return error_no_memory(binder->error), false;
    }
    return true;
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
    return add_equal(upsert, &conditions) && add_sought(upsert, &conditions)
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
        status = find_rule(conflict, table, &rules, binder, plan);
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
    return plan_steps(binder, upsert_node(&upsert, statement->returning, plan),
                      plan);
}
