/* SPDX-License-Identifier: MIT */
/*
 * First rows of groups:
 *
 *   SELECT k, median(x), arg_max(y, x) FROM t GROUP BY k
 *
 * is made of quantiles and first values over windows that are parted by k, and of
 * a group that takes these of its first row. Where it takes nothing else, the
 * window gives a row for each group, the first one, and the groups keep their
 * order. What could fail would fail in other rows, too, so only columns as they
 * are count.
 */
#include "plan/simplify/group_firsts.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"

/* --------------------------------------------------------------- the proof -- */

static bool takes_firsts(const struct step_group *group)
{
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        if (aggregate->function != AGGREGATE_FIRST || aggregate->filter >= 0)
            return false;
    }
    return true;
}

static bool gives_columns(const struct node *select)
{
    for (unsigned i = 0; i < select->column_count; i++)
        if (select->results[i]->kind != EXPRESSION_COLUMN)
            return false;
    return select->where == NULL;
}

/* Whether one of the group's keys is that column of the window. */
static bool is_key(const struct node *group, int column)
{
    for (unsigned i = 0; i < group->group.keys; i++)
        if (group->left->results[i]->column.number == column)
            return true;
    return false;
}

static bool parts_by(const struct step_window_function *function, int column)
{
    for (size_t i = 0; i < function->partition.count; i++)
        if (VECTOR_ITEMS(&function->partition, int)[i] == column)
            return true;
    return false;
}

/* Whether a function gives one value of the rows of each group. */
static bool is_of_groups(const struct node *group,
                         const struct step_window_function *function)
{
    bool same = step_window_gives_one(function)
                && function->partition.count == group->group.keys;

    for (size_t i = 0; i < function->partition.count && same; i++)
        same = is_key(group, VECTOR_ITEMS(&function->partition, int)[i]);
    for (unsigned i = 0; i < group->group.keys && same; i++)
        same = parts_by(function, group->left->results[i]->column.number);
    return same;
}

static bool wants_firsts(const struct node *group)
{
    const struct vector *functions = &group->left->left->window.functions;

    for (size_t i = 0; i < functions->count; i++)
        if (!is_of_groups(group, vector_at(functions, i))
            || !step_window_parts_alike(vector_at(functions, i),
                                        vector_at(functions, 0)))
            return false;
    return true;
}

/* --------------------------------------------------------------- the nodes -- */

/* The same group over a window of first rows. */
static struct node *make(struct binder *binder, const struct node *group)
{
    const struct node *select = group->left;
    struct node *window = arena_alloc(binder->arena, sizeof *window), *made;

    if (window == NULL)
        return error_no_memory(binder->error), NULL;
    *window = *select->left;
    window->window.firsts = true;
    made = node_select(binder, window, NULL, select->results, NULL,
                       select->column_count);
    if (made != NULL)
        made = node_group(binder, made, group->group.keys,
                          &group->group.aggregates);
    assert(made == NULL || made->column_count == group->column_count);
    for (unsigned i = 0; made != NULL && i < group->column_count; i++)
        made->columns[i].name = group->columns[i].name;
    return made;
}

struct node *group_firsts(struct binder *binder, struct node *node)
{
    const struct node *select = node->left, *window;

    if (node->kind != NODE_GROUP || select->kind != NODE_SELECT
        || select->common != NULL || select->shared)
        return node;
    window = select->left;
    if (window->kind != NODE_WINDOW || window->common != NULL || window->shared
        || window->window.firsts)
        return node;
    return takes_firsts(&node->group) && gives_columns(select)
                   && wants_firsts(node)
               ? make(binder, node)
               : node;
}
