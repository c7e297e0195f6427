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
