/* SPDX-License-Identifier: MIT */
/*
 * UPDATE and DELETE: queries for all rows that the table has afterwards. What
 * a tablet held before stays for those who read it.
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
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"

/* A change of the rows of one table. */
struct change {
    struct binder *binder;
    const struct table *table;
    struct node *node;
    struct expression *where;    /* NULL: all rows                         */
    struct expression **results; /* one a column of the table              */
    struct expression *mark;     /* one more, or NULL                      */
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
    change->node = node_table(binder, change->table);
    if (change->node == NULL)
        return binder->error->status;
    binder->scope->node = change->node;
    count = change->table->column_count;
    change->results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*change->results));
    if (change->results == NULL)
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
    keep = change->where ? not_true(binder, change->where)
                         : expression_truth(binder, false, delete->table.at);
    return keep ? finish_change(change, keep, plan) : binder->error->status;
}

enum vdbq_status plan_delete(const struct ast_delete *delete,
                             struct binder *binder, struct plan *plan)
{
    struct change change = { .binder = binder };
    struct scope scope;
    enum vdbq_status status;

    scope_enter(binder, &scope);
    status = delete_rows(&change, delete, plan);
    scope_leave(binder, &scope);
    return status;
}

/* ---------------------------------------------------------------- UPDATE -- */

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
    if (e != NULL && change->where != NULL)
        e = expression_choice(binder, change->where, e, change->results[number],
                              set->column.at);
    if (e == NULL)
        return binder->error->status;
    change->results[number] = e;
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
    if (status == VDBQ_OK)
        status = mark_changed(change, update->table.at);
    return status == VDBQ_OK ? finish_change(change, NULL, plan) : status;
}

enum vdbq_status plan_update(const struct ast_update *update,
                             struct binder *binder, struct plan *plan)
{
    struct change change = { .binder = binder };
    struct scope scope;
    enum vdbq_status status;

    scope_enter(binder, &scope);
    status = update_rows(&change, update, plan);
    scope_leave(binder, &scope);
    return status;
}
