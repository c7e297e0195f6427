/* SPDX-License-Identifier: MIT */
/*
 * A recursive query: the steps of its first query, and steps of their own for the
 * term, which run once a round.
 */
#include "plan/lower/lowering.h"
#include "plan/tree/common.h"

/* Columns as the node has them. */
static enum vdbq_status add_columns(struct lowering *lowering,
                                    const struct node *node, int *map,
                                    int number)
{
    for (unsigned i = 0; i < node->column_count; i++) {
        struct step_column column = lower_column(&node->columns[i]);
        map[i] = (int)i;
        if (!lower_add_column(lowering, number, &column))
            return lower_status(lowering, false);
    }
    return VDBQ_OK;
}

enum vdbq_status lower_recurse(struct lowering *lowering, struct node *node,
                               int *map, int *number)
{
    struct steps *term = arena_alloc(&lowering->steps->arena, sizeof *term);
    struct lowering inside = { lowering->binder, term };
    struct step_recurse *recurse;
    enum vdbq_status status;
    int input, last;

    if (term == NULL)
        return error_no_memory(lowering->binder->error);
    steps_init(term);
    status = lower_whole(lowering, node->left, &input);
    if (status == VDBQ_OK)
        status = lower_add_step(lowering, STEP_RECURSE, node->column_count,
                                &input, 1, number);
    if (status != VDBQ_OK)
        return status;
    recurse = &steps_at(lowering->steps, *number)->recurse;
    recurse->distinct = node->recursion->distinct;
    recurse->term = term;
    status = add_columns(lowering, node, map, *number);
    return status == VDBQ_OK ? lower_whole(&inside, node->right, &last)
                             : status;
}

enum vdbq_status lower_working(struct lowering *lowering, struct node *node,
                               int *map, int *number)
{
    enum vdbq_status status = lower_add_step(
        lowering, STEP_WORKING, node->column_count, NULL, 0, number);

    return status == VDBQ_OK ? add_columns(lowering, node, map, *number)
                             : status;
}
