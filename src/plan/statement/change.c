/* SPDX-License-Identifier: MIT */
/*
 * UPDATE and DELETE: queries for the rows that change, by their numbers, with their
 * new values; or, where these are a large share of a table, for all rows that it
 * has afterwards. What a tablet held before stays for those who read it.
 *
 * With FROM, USING or RETURNING the query is for the rows that change. A row that
 * is matched several times comes as often: the API tells them apart.
 */
#include <string.h>

#include "plan/bind/assign.h"
#include "plan/bind/bind.h"
#include "plan/bind/from.h"
#include "plan/call/names.h"
#include "plan/bind/scope.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/plan.h"
#include "plan/rewrite/trace.h"
#include "plan/statement/change.h"
#include "plan/statement/returning.h"
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"

/* Where one row of so many changes, all are written anew: of few values, which are
 * held in memory until all are known, one of two; but in tables of few rows, where
 * that is no faster. Numbers that change leave all other columns as they are. */
enum {
    ROWS_SHARE = 16,
    VALUES_HELD = 1 << 24,
    VALUE_BYTES = 16, /* that one takes, about */
    ROWS_FEW = 1 << 16
};

/* A change of the rows of one table. */
struct change {
    struct binder *binder;
    const struct table *table;
    const char *called;
    struct from from;            /* the table, and what FROM names         */
    unsigned number;             /* its column of the rows' numbers        */
    struct expression *where;    /* NULL: all rows                         */
    struct expression **results; /* one a column of the table              */
    struct expression *mark;     /* one more, or NULL                      */
    bool joined;           /* FROM names something                         */
    bool some;             /* the query is for the rows that change alone: */
    unsigned column_count; /* of `columns` */
    unsigned *columns;     /* that get new values, each once */
};

static enum vdbq_status start_change(struct change *change,
                                     const struct ast_name *name,
                                     const struct ast_name *alias,
                                     const struct ast_from *from)
{
    struct binder *binder = change->binder;
    enum vdbq_status status;
    unsigned count;

    change->called = alias->text != NULL ? alias->text : name->text;
    change->joined = from != NULL;
    change->from.leaves = VECTOR_IN(binder->arena, struct node *);
    change->from.conditions = VECTOR_IN(binder->arena, struct expression *);
    change->table = find_table(binder, name);
    if (change->table == NULL)
        return binder->error->status;
    count = change->table->column_count;
    change->results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*change->results));
    change->columns =
        arena_alloc(binder->arena, (count + 1) * sizeof *change->columns);
    if (change->results == NULL || change->columns == NULL)
        return error_no_memory(binder->error);
    status = bind_from_behind(binder, change->table, change->called, from,
                              &change->from, &change->number);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        change->results[i] =
            node_column(binder, binder->scope->node, i, name->at);
        if (change->results[i] == NULL)
            return binder->error->status;
    }
    return status;
}

static enum vdbq_status bind_where(struct change *change,
                                   const struct ast_expression *where)
{
    if (where == NULL)
        return VDBQ_OK;
    change->where = bind_condition(change->binder, where);
    return change->where ? VDBQ_OK : change->binder->error->status;
}

/* The table's rows, all of them. */
static struct node *rows_of(const struct change *change)
{
    return VECTOR_ITEMS(&change->from.leaves, struct node *)[0];
}

static enum vdbq_status
finish_change(struct change *change, struct expression *keep, struct plan *plan)
{
    struct binder *binder = change->binder;
    unsigned count = change->table->column_count;
    struct node *node;

    if (change->mark != NULL)
        change->results[count++] = change->mark;
    node = node_select(binder, rows_of(change), keep, change->results, NULL,
                       count);
    plan->kind = PLAN_REWRITE;
    plan->rewrite.table_id = change->table->id;
    plan->rewrite.marked = change->mark != NULL;
    return plan_steps(binder, node, plan);
}

/* ------------------------------------------------------------- some rows -- */

/* The rows that change, with those of FROM that they go with. NULL: a failure. */
static struct node *matched(struct change *change)
{
    struct from *from = &change->from;

    if (!change->joined && change->where == NULL)
        return rows_of(change);
    if (change->where != NULL
        && !vector_append(&from->conditions, &change->where, 1))
        return error_no_memory(change->binder->error), NULL;
    return node_product(change->binder, &from->leaves, &from->conditions);
}

/* The numbers of the rows that change, then `count` values. NULL: a failure. */
static struct node *numbers_and_values(struct change *change,
                                       struct position at,
                                       struct expression *const *values,
                                       unsigned count)
{
    struct binder *binder = change->binder;
    struct expression **results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*results));
    struct node *node = matched(change);

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    results[0] = node ? node_column(binder, node, change->number, at) : NULL;
    if (results[0] == NULL)
        return NULL;
    memcpy(results + 1, values, count * sizeof(*results));
    return node_select(binder, node, NULL, results, NULL, count + 1);
}

/* ... the new values alone. */
static struct node *new_values(struct change *change, struct position at)
{
    unsigned count = change->column_count;
    struct expression **values =
        arena_alloc(change->binder->arena, (count + 1) * sizeof(*values));

    if (values == NULL)
        return error_no_memory(change->binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        values[i] = change->results[change->columns[i]];
    return numbers_and_values(change, at, values, count);
}

/* What rowid is of a row with the new values: its key, or what it was. */
static struct expression *new_id(struct change *change, struct position at)
{
    return change->table->key != NO_KEY
               ? change->results[change->table->key]
               : node_column(change->binder, rows_of(change),
                             change->table->column_count, at);
}

/* ... the new values, and behind them what is returned of rows that have them:
 * these have all columns of the table, and what rowid is afterwards. */
static struct node *returned_values(struct change *change, struct position at,
                                    const struct ast_result *returning,
                                    struct plan *plan)
{
    struct arena *arena = change->binder->arena;
    unsigned all = change->table->column_count, count = change->column_count;
    int *columns = arena_alloc(arena, (count + 1) * sizeof *columns);
    struct expression **values =
        arena_alloc(arena, (all + 1) * sizeof(*values));
    struct changed_rows rows = { .table = change->table,
                                 .called = change->called,
                                 .first = 1,
                                 .id = (int)all + 1,
                                 .keeps = -1 };

    if (columns == NULL || values == NULL)
        return error_no_memory(change->binder->error), NULL;
    memcpy(values, change->results, all * sizeof(*values));
    values[all] = new_id(change, at);
    if (values[all] == NULL)
        return NULL;
    columns[0] = 0;
    for (unsigned i = 0; i < count; i++)
        columns[1 + i] = 1 + (int)change->columns[i];
    rows.node = numbers_and_values(change, at, values, all + 1);
    return rows.node ? return_results(change->binder, &rows, columns, count + 1,
                                      returning, plan)
                     : NULL;
}

/* The query for the rows that change: their numbers, the new values, and what is
 * returned. */
static enum vdbq_status finish_some(struct change *change, struct position at,
                                    const struct ast_result *returning,
                                    struct plan *plan)
{
    struct node *node = returning != NULL
                            ? returned_values(change, at, returning, plan)
                            : new_values(change, at);

    plan->kind = PLAN_CHANGE;
    plan->change = (struct plan_change){ .table_id = change->table->id,
                                         .column_count = change->column_count,
                                         .columns = change->columns };
    return plan_steps(change->binder, node, plan);
}

/* Whether a step gives rows of the table alone, in its order: it scans it, is
 * what an index finds in it, or scans such rows or computes functions of them. */
static bool reads_alone(const struct steps *steps, const struct step *step,
                        const struct table *table)
{
    const int *inputs = step->inputs.items;
    const struct program_table *read;

    if (step->kind == STEP_SEEK)
        return step->seek.table == table->id;
    if (step->kind == STEP_MAP)
        return reads_alone(steps, steps_at(steps, inputs[0]), table);
    if (step->kind != STEP_SCAN || step->scan.program.tables.count != 1)
        return false;
    read = vector_at(&step->scan.program.tables, 0);
    return read->input == 0
               ? read->id == table->id
               : reads_alone(steps, steps_at(steps, inputs[read->input - 1]),
                             table);
}

/* Notes whether the planned steps give each row once, in the table's order. */
static void note_order(const struct binder *binder, struct plan *plan)
{
    const struct table *table =
        catalogue_table_id(binder->catalogue, plan->change.table_id);

    plan->change.joined =
        !reads_alone(&plan->steps, steps_last(&plan->steps), table);
}

/* Whether rows get new values, none of them a text. */
static bool sets_numbers(const struct plan_change *change,
                         const struct table *table)
{
    bool numbers = change->column_count > 0;

    for (unsigned i = 0; i < change->column_count; i++)
        numbers =
            numbers && table->columns[change->columns[i]].type != VDBQ_TEXT;
    return numbers;
}

/* How many values are few. */
static double values_held(const struct plan_limits *limits)
{
    uint64_t bytes = limits != NULL ? limits->held_bytes : 0;

    return bytes > 0 && bytes / VALUE_BYTES < VALUES_HELD
               ? (double)(bytes / VALUE_BYTES)
               : VALUES_HELD;
}

/* Whether the steps give few rows. */
static bool gives_some(const struct binder *binder, const struct plan *plan)
{
    const struct plan_change *change = &plan->change;
    const struct table *table =
        catalogue_table_id(binder->catalogue, change->table_id);
    double rows = steps_last(&plan->steps)->rows;
    bool held =
        rows * (1 + change->column_count) <= values_held(binder->limits);
    double share = !held ? ROWS_SHARE : sets_numbers(change, table) ? 1 : 2;

    return rows >= 0
           && (table->rows <= ROWS_FEW || rows * share <= (double)table->rows);
}

/* Forgets the steps, for others. */
static void plan_again(struct binder *binder, struct plan *plan)
{
    steps_finish(&plan->steps);
    steps_init(&plan->steps);
    if (binder->trace == NULL)
        return;
    text_finish(&binder->trace->text);
    *binder->trace = (struct trace){ 0 };
}

/* ---------------------------------------------------------------- DELETE -- */

/* Rows stay of which the condition is not true. */
static struct expression *not_true(struct binder *binder,
                                   struct expression *where)
{
    struct ast_expression place = { .at = where->at };
    struct expression *no = expression_truth(binder, false, where->at);
    struct expression *yes = expression_truth(binder, true, where->at);
    struct expression *truth =
        yes && no ? expression_choice(binder, where, yes, no, where->at) : NULL;

    return truth ? expression_operator(binder, AST_NOT, truth, NULL, &place)
                 : NULL;
}

static enum vdbq_status bind_delete(struct change *change,
                                    const struct ast_delete *delete)
{
    enum vdbq_status status =
        start_change(change, &delete->table, &delete->alias, delete->from);

    return status == VDBQ_OK ? bind_where(change, delete->where) : status;
}

static enum vdbq_status delete_most(struct change *change, struct position at,
                                    struct plan *plan)
{
    struct binder *binder = change->binder;
    struct expression *keep = change->where
                                  ? not_true(binder, change->where)
                                  : expression_truth(binder, false, at);

    return keep ? finish_change(change, keep, plan) : binder->error->status;
}

static enum vdbq_status plan_delete_as(const struct ast_statement *statement,
                                       bool some, struct binder *binder,
                                       struct plan *plan)
{
    const struct ast_delete *delete = &statement->delete;
    struct change change = { .binder = binder, .some = some };
    struct scope scope;
    enum vdbq_status status;

    scope_enter(binder, &scope);
    status = bind_delete(&change, delete);
    scope_leave(binder, &scope);
    if (status != VDBQ_OK)
        return status;
    return some ? finish_some(&change, delete->table.at, statement->returning,
                              plan)
                : delete_most(&change, delete->table.at, plan);
}

enum vdbq_status plan_delete(const struct ast_statement *statement,
                             struct binder *binder, struct plan *plan)
{
    const struct ast_delete *delete = &statement->delete;
    bool needs = delete->from != NULL || statement->returning != NULL;
    enum vdbq_status status =
        plan_delete_as(statement, needs || delete->where, binder, plan);

    if (status == VDBQ_OK && plan->kind == PLAN_CHANGE)
        note_order(binder, plan);
    if (status != VDBQ_OK || needs || plan->kind == PLAN_REWRITE
        || gives_some(binder, plan))
        return status;
    plan_again(binder, plan);
    return plan_delete_as(statement, false, binder, plan);
}

/* ---------------------------------------------------------------- UPDATE -- */

/* Notes that a column gets new values. */
static void note_column(struct change *change, unsigned number)
{
    for (unsigned i = 0; i < change->column_count; i++)
        if (change->columns[i] == number)
            return;
    change->columns[change->column_count++] = number;
}

/* What a SET says, as a value of the column. NULL: a failure. */
struct expression *bind_set(struct binder *binder, const struct ast_set *set,
                            const struct column *column)
{
    struct expression *e;

    if (set->width == 0 && set->expression->kind == AST_DEFAULT)
        return expression_default(binder, column, set->expression->at);
    e = set->width == 0 ? bind_expression(binder, set->expression)
                        : bind_subquery_column(binder, set->expression,
                                               set->number, set->width);
    return e ? expression_assigned(binder, e, column) : NULL;
}

/* A column's new value where the condition holds, else what it has. */
static enum vdbq_status set_column(struct change *change,
                                   const struct ast_set *set)
{
    struct binder *binder = change->binder;
    struct expression *e;
    unsigned number;

    if (find_column(change->table, &set->column, &number, binder->error)
        != VDBQ_OK)
        return binder->error->status;
    binder->scope->random = true;
    e = bind_set(binder, set, &change->table->columns[number]);
    binder->scope->random = false;
    if (e != NULL && change->where != NULL && !change->some)
        e = expression_choice(binder, change->where, e, change->results[number],
                              set->column.at);
    if (e == NULL)
        return binder->error->status;
    change->results[number] = e;
    note_column(change, number);
    return VDBQ_OK;
}

/* Where the condition holds. */
static enum vdbq_status mark_changed(struct change *change, struct position at)
{
    struct binder *binder = change->binder;
    struct expression *yes = expression_truth(binder, true, at);
    struct expression *no = expression_truth(binder, false, at);

    change->mark = yes;
    if (change->where != NULL && yes != NULL && no != NULL)
        change->mark = expression_choice(binder, change->where, yes, no, at);
    return change->mark && no ? VDBQ_OK : binder->error->status;
}

static enum vdbq_status bind_update(struct change *change,
                                    const struct ast_update *update)
{
    enum vdbq_status status =
        start_change(change, &update->table, &update->alias, update->from);

    if (status == VDBQ_OK)
        status = bind_where(change, update->where);
    for (const struct ast_set *set = update->sets;
         set != NULL && status == VDBQ_OK; set = set->next)
        status = set_column(change, set);
    if (status == VDBQ_OK && !change->some)
        status = mark_changed(change, update->table.at);
    return status;
}

static enum vdbq_status plan_update_as(const struct ast_statement *statement,
                                       bool some, struct binder *binder,
                                       struct plan *plan)
{
    const struct ast_update *update = &statement->update;
    struct change change = { .binder = binder, .some = some };
    struct scope scope;
    enum vdbq_status status;

    scope_enter(binder, &scope);
    status = bind_update(&change, update);
    scope_leave(binder, &scope);
    if (status != VDBQ_OK)
        return status;
    return some ? finish_some(&change, update->table.at, statement->returning,
                              plan)
                : finish_change(&change, NULL, plan);
}

enum vdbq_status plan_update(const struct ast_statement *statement,
                             struct binder *binder, struct plan *plan)
{
    const struct ast_update *update = &statement->update;
    bool needs = update->from != NULL || statement->returning != NULL;
    enum vdbq_status status = plan_update_as(statement, true, binder, plan);

    if (status == VDBQ_OK && plan->kind == PLAN_CHANGE)
        note_order(binder, plan);
    if (status != VDBQ_OK || needs || plan->kind == PLAN_REWRITE
        || gives_some(binder, plan))
        return status;
    plan_again(binder, plan);
    return plan_update_as(statement, false, binder, plan);
}
