/* SPDX-License-Identifier: MIT */
/*
 * UPDATE and DELETE: queries for the rows that change, by their ids, with their
 * new values; or, where these are a large share of a table, for all rows that it
 * has afterwards. What a tablet held before stays for those who read it.
 */
#include <string.h>

#include "plan/bind/assign.h"
#include "plan/bind/bind.h"
#include "plan/bind/names.h"
#include "plan/bind/scope.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/plan.h"
#include "plan/rewrite/trace.h"
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"

/* Where one row of so many changes, all are written anew; but in tables of few
 * rows, where that is no faster. */
enum { ROWS_SHARE = 16, ROWS_FEW = 1 << 16 };

/* A change of the rows of one table. */
struct change {
    struct binder *binder;
    const struct table *table;
    struct node *node;
    unsigned number;             /* its column of the rows' numbers        */
    struct expression *where;    /* NULL: all rows                         */
    struct expression **results; /* one a column of the table              */
    struct expression *mark;     /* one more, or NULL                      */
    bool some;             /* the query is for the rows that change alone: */
    unsigned column_count; /* of `columns` */
    unsigned *columns;     /* that get new values, each once */
};

static enum vdbq_status start_change(struct change *change,
                                     const struct ast_name *name,
                                     const struct ast_name *alias)
{
    struct binder *binder = change->binder;
    const char *called = alias->text != NULL ? alias->text : name->text;
    unsigned count;

    change->table = find_table(binder, name);
    if (change->table == NULL)
        return binder->error->status;
    change->node = node_numbered(binder, change->table, &change->number);
    if (change->node == NULL)
        return binder->error->status;
    binder->scope->node = change->node;
    count = change->table->column_count;
    change->results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*change->results));
    change->columns =
        arena_alloc(binder->arena, (count + 1) * sizeof *change->columns);
    if (change->results == NULL || change->columns == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < count; i++) {
        change->results[i] = node_column(binder, change->node, i, name->at);
        if (change->results[i] == NULL)
            return binder->error->status;
    }
    return scope_add_node(binder, called, change->node, 0);
}

static enum vdbq_status bind_where(struct change *change,
                                   const struct ast_expression *where)
{
    if (where == NULL)
        return VDBQ_OK;
    change->where = bind_condition(change->binder, where);
    return change->where ? VDBQ_OK : change->binder->error->status;
}

static enum vdbq_status
finish_change(struct change *change, struct expression *keep, struct plan *plan)
{
    struct binder *binder = change->binder;
    unsigned count = change->table->column_count;
    struct node *node;

    if (change->mark != NULL)
        change->results[count++] = change->mark;
    node =
        node_select(binder, change->node, keep, change->results, NULL, count);
    plan->kind = PLAN_REWRITE;
    plan->rewrite.table_id = change->table->id;
    plan->rewrite.marked = change->mark != NULL;
    return plan_steps(binder, node, plan);
}

/* ------------------------------------------------------------- some rows -- */

/* The query for the rows that change: their numbers, and the new values. */
static enum vdbq_status finish_some(struct change *change, struct position at,
                                    struct plan *plan)
{
    struct binder *binder = change->binder;
    unsigned count = change->column_count;
    struct expression **results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*results));
    struct node *node;

    if (results == NULL)
        return error_no_memory(binder->error);
    results[0] = node_column(binder, change->node, change->number, at);
    if (results[0] == NULL)
        return binder->error->status;
    for (unsigned i = 0; i < count; i++)
        results[1 + i] = change->results[change->columns[i]];
    node = node_select(binder, change->node, change->where, results, NULL,
                       count + 1);
    plan->kind = PLAN_CHANGE;
    plan->change.table_id = change->table->id;
    plan->change.column_count = count;
    plan->change.columns = change->columns;
    return plan_steps(binder, node, plan);
}

/* Whether a step gives rows of the table alone, in its order: it scans it, or
 * scans or is what an index finds in it. */
static bool reads_alone(const struct steps *steps, const struct step *step,
                        const struct table *table)
{
    const struct program_table *read;
    int input;

    if (step->kind == STEP_SEEK)
        return step->seek.table == table->id;
    if (step->kind != STEP_SCAN || step->scan.program.tables.count != 1)
        return false;
    read = vector_at(&step->scan.program.tables, 0);
    if (read->input == 0)
        return read->id == table->id;
    input = VECTOR_ITEMS(&step->inputs, int)[read->input - 1];
    return reads_alone(steps, steps_at(steps, input), table);
}

/* Whether the planned steps give few rows, and in the order of the table. */
static bool gives_some(const struct binder *binder, const struct plan *plan)
{
    const struct table *table =
        catalogue_table_id(binder->catalogue, plan->change.table_id);
    const struct step *last = steps_last(&plan->steps);

    return reads_alone(&plan->steps, last, table) && last->rows >= 0
           && (table->rows <= ROWS_FEW
               || last->rows * ROWS_SHARE <= (double)table->rows);
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

/* Whether one of the columns that get new values has to be unique, by itself
 * or together with others: the rows are then checked as they are written. */
static bool changes_unique(const struct change *change, const unsigned *columns,
                           unsigned count)
{
    for (unsigned i = 0; i < change->column_count; i++)
        for (unsigned k = 0; k < count; k++)
            if (change->columns[i] == columns[k])
                return true;
    return false;
}

static bool changes_rule(const struct change *change)
{
    const struct table *table = change->table;
    const struct catalogue *catalogue = change->binder->catalogue;
    bool found = changes_unique(change, &table->key, 1);

    for (unsigned i = 0; i < table->column_count && !found; i++)
        found = table->columns[i].unique && changes_unique(change, &i, 1);
    for (unsigned i = 0; i < table->unique_count && !found; i++)
        found = changes_unique(change, table->uniques[i].columns,
                               table->uniques[i].column_count);
    for (size_t i = 0; i < catalogue->index_count && !found; i++) {
        const struct index *index = &catalogue->indexes[i];
        found = index->table_id == table->id && index->unique
                && changes_unique(change, index->columns, index->column_count);
    }
    return found;
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

static enum vdbq_status delete_rows(struct change *change,
                                    const struct ast_delete *delete,
                                    struct plan *plan)
{
    struct binder *binder = change->binder;
    enum vdbq_status status =
        start_change(change, &delete->table, &delete->alias);
    struct expression *keep;

    if (status == VDBQ_OK)
        status = bind_where(change, delete->where);
    if (status != VDBQ_OK)
        return status;
    if (change->some)
        return finish_some(change, delete->table.at, plan);
    keep = change->where ? not_true(binder, change->where)
                         : expression_truth(binder, false, delete->table.at);
    return keep ? finish_change(change, keep, plan) : binder->error->status;
}

static enum vdbq_status plan_delete_as(const struct ast_delete *delete,
                                       bool some, struct binder *binder,
                                       struct plan *plan)
{
    struct change change = { .binder = binder, .some = some };
    struct scope scope;
    enum vdbq_status status;

    scope_enter(binder, &scope);
    status = delete_rows(&change, delete, plan);
    scope_leave(binder, &scope);
    return status;
}

enum vdbq_status plan_delete(const struct ast_delete *delete,
                             struct binder *binder, struct plan *plan)
{
    enum vdbq_status status =
        plan_delete_as(delete, delete->where != NULL, binder, plan);

    if (status != VDBQ_OK || plan->kind == PLAN_REWRITE
        || gives_some(binder, plan))
        return status;
    plan_again(binder, plan);
    return plan_delete_as(delete, false, binder, plan);
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
    e = bind_expression(binder, set->expression);
    if (e != NULL)
        e = expression_assigned(binder, e, &change->table->columns[number]);
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

static enum vdbq_status update_rows(struct change *change,
                                    const struct ast_update *update,
                                    struct plan *plan)
{
    enum vdbq_status status =
        start_change(change, &update->table, &update->alias);

    if (status == VDBQ_OK)
        status = bind_where(change, update->where);
    for (const struct ast_set *set = update->sets;
         set != NULL && status == VDBQ_OK; set = set->next)
        status = set_column(change, set);
    if (status == VDBQ_OK && change->some && changes_rule(change))
        return VDBQ_OK;
    if (status == VDBQ_OK && change->some)
        return finish_some(change, update->table.at, plan);
    if (status == VDBQ_OK)
        status = mark_changed(change, update->table.at);
    return status == VDBQ_OK ? finish_change(change, NULL, plan) : status;
}

static enum vdbq_status plan_update_as(const struct ast_update *update,
                                       bool some, struct binder *binder,
                                       struct plan *plan)
{
    struct change change = { .binder = binder, .some = some };
    struct scope scope;
    enum vdbq_status status;

    scope_enter(binder, &scope);
    status = update_rows(&change, update, plan);
    scope_leave(binder, &scope);
    return status;
}

enum vdbq_status plan_update(const struct ast_update *update,
                             struct binder *binder, struct plan *plan)
{
    enum vdbq_status status =
        plan_update_as(update, update->where != NULL, binder, plan);

    if (status != VDBQ_OK || plan->kind == PLAN_REWRITE
        || (plan->kind == PLAN_CHANGE && gives_some(binder, plan)))
        return status;
    plan_again(binder, plan);
    return plan_update_as(update, false, binder, plan);
}
