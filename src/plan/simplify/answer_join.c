/* SPDX-License-Identifier: MIT */
/*
 * Answers of subqueries that give one value, whatever row asks: min, max and the
 * like of rows that are the same for all. The value is a row of its own, which is
 * joined to each row: so the subquery is one of the parts of the query around it,
 * with which it can share what both read, and nothing is looked up row by row.
 *
 * One that can fail stays, since it is not run where no row asks.
 */
#include "plan/simplify/share.h"

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/simplify/tree_pass.h"
#include "plan/tree/binder.h"
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

static struct node *join_answer(struct binder *binder, struct node *node)
{
    unsigned count;
    struct node *join;
    int *columns;

    if (node->kind != NODE_APPLY || node->apply.kind != APPLY_SCALAR
        || node->apply.parameters.count > 0 || !is_one_row(node->right)
        || node_tree_fails(node->right))
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
