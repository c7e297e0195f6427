/* SPDX-License-Identifier: MIT */
/*
 * Rows of constants (NODE_VALUES) as vectors of a step.
 */
#include "plan/lower/lowering.h"
#include "plan/tree/binder.h"

/* The constants stay where they are: the plan's memory outlives its steps. */
static bool fill(struct arena *arena, const struct node *node,
                 const bool *needed, struct step_values *values)
{
    struct vdbq_vector *vectors =
        arena_alloc(arena, (node->column_count + 1) * sizeof *vectors);
    unsigned count = 0;

    for (unsigned i = 0; i < node->column_count && vectors != NULL; i++)
        if (needed[i])
            vectors[count++] = node->values[i];
    *values = (struct step_values){ node->value_rows, vectors };
    return vectors != NULL;
}

enum vdbq_status lower_values(struct lowering *lowering, struct node *node,
                              const bool *needed, int *map, int *number)
{
    struct steps *steps = lowering->steps;
    enum vdbq_status status = lower_add_step(
        lowering, STEP_VALUES, node->column_count, NULL, 0, number);

    if (status != VDBQ_OK)
        return status;
    if (!fill(&steps->arena, node, needed, &steps_at(steps, *number)->values))
        return error_no_memory(lowering->binder->error);
    for (unsigned i = 0; i < node->column_count; i++) {
        struct step_column column = lower_column(&node->columns[i]);
        if (!needed[i])
            continue;
        map[i] = (int)steps_at(steps, *number)->column_count;
        if (!lower_add_column(lowering, *number, &column))
            return lower_status(lowering, false);
    }
    return VDBQ_OK;
}
