/* SPDX-License-Identifier: MIT */
/*
 * What is asked of nodes as they are.
 */
#include "plan/tree/node.h"

#include <assert.h>

unsigned node_part_width(const struct node *product, size_t number)
{
    const struct vector *parts = &product->parts;

    assert(product->kind == NODE_PRODUCT && number < parts->count);
    return product->widths != NULL
               ? product->widths[number]
               : VECTOR_ITEMS(parts, struct node *)[number]->column_count;
}

bool node_is_pairs(const struct node *node)
{
    return node->kind == NODE_JOIN && !node->shared
           && node->join.kind == JOIN_INNER && node->join.left_keys.count == 0
           && node->join.range.side == RANGE_JOIN_NONE;
}

bool join_needs_partner(const struct node *join, int side)
{
    switch (join->join.kind) {
    case JOIN_INNER:
    case JOIN_SEMI:
        return true;
    case JOIN_LEFT:
    case JOIN_ANTI: /* a right row counts for those it is the partner of */
        return side == 1;
    case JOIN_RIGHT:
        return side == 0;
    default:
        return false;
    }
}
