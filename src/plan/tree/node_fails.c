/* SPDX-License-Identifier: MIT */
/*
 * Nodes that can fail: an expression that can, a sum that may be more than its
 * type holds, a function that refuses some values.
 */
#include "plan/tree/node_fails.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/tree/common.h"
#include "plan/tree/rows_most.h"
#include "program/functions/function.h"

bool node_results_fail(const struct node *select)
{
    for (unsigned i = 0; i < select->column_count; i++)
        if (select->results[i]->faults)
            return true;
    return false;
}

static bool functions_fail(const struct node *map)
{
    for (size_t i = 0; i < map->map.functions.count; i++) {
        const struct step_function *function =
            vector_at(&map->map.functions, i);
        if (function->looks_up || function_find(function->name)->fails)
            return true;
    }
    return false;
}

static bool windows_fail(const struct node *window)
{
    for (size_t i = 0; i < window->window.functions.count; i++) {
        const struct step_window_function *function =
            vector_at(&window->window.functions, i);
        if (function->function == WINDOW_AGGREGATE
            && aggregate_overflows(window->left, &function->aggregate))
            return true;
    }
    return false;
}

bool node_fails(const struct node *node)
{
    if (node->where != NULL && node->where->faults)
        return true;
    switch (node->kind) {
    case NODE_SELECT:
        return node_results_fail(node);
    case NODE_GROUP:
        return node_sum_overflows(node);
    case NODE_WINDOW:
        return windows_fail(node);
    case NODE_MAP:
        return functions_fail(node);
    case NODE_COMMON:
        return node->common->fails;
    default:
        return false;
    }
}

bool node_tree_fails(const struct node *node)
{
    if (stack_is_short() || node_fails(node))
        return true;
    for (size_t i = 0; i < node->parts.count; i++)
        if (node_tree_fails(VECTOR_ITEMS(&node->parts, struct node *)[i]))
            return true;
    return (node->left != NULL && node_tree_fails(node->left))
           || (node->right != NULL && node_tree_fails(node->right));
}
