/* SPDX-License-Identifier: MIT */
/*
 * Answers of subqueries that give one value, whatever row asks: min, max and the
 * like of rows that are the same for all. The value is a row of its own, which is
 * joined to each row: so the subquery is one of the parts of the query around it,
 * with which it can share what both read, and nothing is looked up row by row.
 *
 * One that can fail stays, since it is not run where no row asks; but if that is
 * a common subplan which the rows that ask are made of, it fails in any case.
 */
#include "plan/simplify/share.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/simplify/tree_pass.h"
#include "plan/tree/binder.h"
#include "plan/tree/common.h"
#include "plan/tree/node_fails.h"

/* Whether a query gives one row, neither more nor less. */
static bool is_one_row(const struct node *node)
{
    while (node->kind == NODE_SELECT && node->where == NULL)
        node = node->left;
    return (node->kind == NODE_GROUP && node->group.keys == 0)
           || (node->kind == NODE_VALUES && node->value_rows == 1)
           || node->kind == NODE_ONCE;
}

/* Whether a node's rows are made of those of a common subplan, all of them. */
static bool is_made_of(const struct node *node, const struct common *common)
{
    while (node->kind == NODE_SELECT || node->kind == NODE_APPLY
           || node->kind == NODE_MAP || node->kind == NODE_WINDOW
           || (node->kind == NODE_JOIN && node->join.kind == JOIN_LEFT))
        node = node->left;
    return node->kind == NODE_COMMON && node->common == common;
}

/* Whether a query can fail where `asking`, the rows that ask, would not. */
static bool fails_alone(const struct node *query, const struct node *asking)
{
    if (stack_is_short())
        return true;
    if (query->kind == NODE_COMMON)
        return query->common->fails && !is_made_of(asking, query->common);
    if (node_fails(query))
        return true;
    for (size_t i = 0; i < query->parts.count; i++)
        if (fails_alone(VECTOR_ITEMS(&query->parts, struct node *)[i], asking))
            return true;
    return (query->left != NULL && fails_alone(query->left, asking))
           || (query->right != NULL && fails_alone(query->right, asking));
}

static struct node *join_answer(struct binder *binder, struct node *node)
{
    unsigned count;
    struct node *join;
    int *columns;

    if (node->kind != NODE_APPLY || node->apply.kind != APPLY_SCALAR
        || node->apply.parameters.count > 0 || !is_one_row(node->right)
        || fails_alone(node->right, node->left))
        return node;
    join = node_join(binder, JOIN_LEFT, node->left, node->right);
    if (join == NULL || join->column_count == node->column_count)
        return join;
    count = node->column_count;
    columns = arena_alloc(binder->arena, (count + 1) * sizeof *columns);
    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)i;
    return node_columns(binder, join, columns, count);
}

struct node *join_answers(struct binder *binder, struct node *node)
{
    return tree_pass(binder, node, join_answer);
}
