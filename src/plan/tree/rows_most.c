/* SPDX-License-Identifier: MIT */
/*
 * Rows that a node has at most, and what follows from it for sums: so many
 * times the greatest value.
 */
#include "plan/tree/rows_most.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/tree/common.h"
#include "plan/tree/unique_key.h"

static const double SUM_MOST = 4e18;          /* is known to fit 64 bits */
static const double ROUNDED = 1.000000000001; /* more than what doubles lose */

static uint64_t product(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether no left row has two partners. */
static bool is_single(const struct node *join)
{
    const struct vector *keys = &join->join.right_keys;

    return join->join.kind > JOIN_FULL || join->unnested
           || ((join->join.kind == JOIN_INNER || join->join.kind == JOIN_LEFT)
               && !join->join.nulls_match
               && node_is_unique(join->right, keys->items,
                                 (unsigned)keys->count));
}

/* Whether no right row has two partners, and none comes without one. */
static bool is_turned_single(const struct node *join)
{
    const struct vector *keys = &join->join.left_keys;

    return join->join.kind == JOIN_INNER && !join->join.nulls_match
           && node_is_unique(join->left, keys->items, (unsigned)keys->count);
}

static uint64_t joined(const struct node *join)
{
    uint64_t left = node_rows_most(join->left), right;

    if (is_single(join))
        return left;
    right = node_rows_most(join->right);
    if (is_turned_single(join))
        return right;
    return sum(product(left, right), sum(left, right));
}

uint64_t node_rows_most(const struct node *node)
{
    uint64_t rows = 0;

    if (stack_is_short())
        return UINT64_MAX;
    if (node->common != NULL)
        return node->common->rows_most;
    switch (node->kind) {
    case NODE_ONCE:
        return 1;
    case NODE_TABLE:
    case NODE_SEEK:
        return node->table->rows;
    case NODE_VALUES:
        return node->value_rows;
    case NODE_RECURSE:
    case NODE_WORKING:
        return UINT64_MAX;
    case NODE_JOIN:
        return joined(node);
    case NODE_OUTER:
        return joined(node);
    case NODE_PRODUCT:
        rows = 1;
        for (size_t i = 0; i < node->parts.count; i++)
            rows = product(rows, node_rows_most(VECTOR_ITEMS(
                                     &node->parts, struct node *)[i]));
        return rows;
    case NODE_CONCAT:
        for (size_t i = 0; i < node->parts.count; i++)
            rows = sum(rows, node_rows_most(
                                 VECTOR_ITEMS(&node->parts, struct node *)[i]));
        return rows;
    case NODE_GROUP:
        return sum(node_rows_most(node->left), node->group.keys == 0);
    case NODE_LIMIT:
        return lesser(node_rows_most(node->left), node->limit.limit);
    case NODE_SORT:
        return lesser(node_rows_most(node->left), node->sort.limit);
    default:
        return node_rows_most(node->left);
    }
}

bool sum_range(const struct node *below, const struct node_column *column,
               struct interval *range)
{
    double rows = (double)node_rows_most(below);
    double low = rows * (double)column->range.low;
    double high = rows * (double)column->range.high;

    if (low < -SUM_MOST || high > SUM_MOST)
        return false;
    *range = (struct interval){
        .low = low < 0 ? (int64_t)(low * ROUNDED) : 0,
        .high = high > 0 ? (int64_t)(high * ROUNDED) : 0,
    };
    return true;
}

bool aggregate_overflows(const struct node *below,
                         const struct step_aggregate *aggregate)
{
    const struct node_column *column;
    struct interval range;

    if (aggregate->function != AGGREGATE_SUM)
        return false;
    column = &below->columns[aggregate->column];
    return !is_float(column->type) && !sum_range(below, column, &range);
}

bool node_sum_overflows(const struct node *group)
{
    for (size_t i = 0; i < group->group.aggregates.count; i++)
        if (aggregate_overflows(group->left,
                                vector_at(&group->group.aggregates, i)))
            return true;
    return false;
}
