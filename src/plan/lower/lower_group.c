/* SPDX-License-Identifier: MIT */
/*
 * Groups, sorts, limits, and rows one after the other.
 */
#include "plan/lower/lower.h"

#include <assert.h>
#include <string.h>

int lower_group(struct lowering *lowering, struct node *node,
                const bool *needed, int *map)
{
    const struct step_group *group = &node->group;
    bool *used = lower_flags(lowering, node->left->column_count);
    int *below = lower_numbers(lowering, node->left->column_count);
    int input, number;
    bool done = true;

    if (used == NULL || below == NULL)
        return -1;
    for (unsigned i = 0; i < group->keys; i++)
        used[i] = true;
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        if (needed[group->keys + i] && aggregate->column >= 0)
            used[aggregate->column] = true;
        if (needed[group->keys + i] && aggregate->filter >= 0)
            used[aggregate->filter] = true;
    }
    input = lower_node(lowering, node->left, used, below);
    if (input < 0)
        return -1;
    number =
        lower_add_step(lowering, STEP_GROUP, node->column_count, &input, 1);
    if (number < 0)
        return -1;
    steps_at(lowering->steps, number)->group.keys = group->keys;
    for (unsigned i = 0; i < node->column_count && done; i++) {
        struct step *step = steps_at(lowering->steps, number);
        struct step_column column = lower_column(&node->columns[i]);
        struct step_aggregate aggregate;
        if (i >= group->keys && !needed[i])
            continue;
        assert(i >= group->keys || below[i] == (int)i);
        map[i] = (int)step->column_count;
        done = lower_add_column(lowering, number, &column);
        if (i < group->keys)
            continue;
        aggregate = VECTOR_ITEMS(&group->aggregates,
                                 struct step_aggregate)[i - group->keys];
        if (aggregate.column >= 0)
            aggregate.column = below[aggregate.column];
        if (aggregate.filter >= 0)
            aggregate.filter = below[aggregate.filter];
        if (done && !vector_append(&step->group.aggregates, &aggregate, 1)) {
            error_no_memory(lowering->binder->error);
            done = false;
        }
    }
    return done ? number : -1;
}

int lower_sort(struct lowering *lowering, struct node *node, const bool *needed,
               int *map)
{
    unsigned below_count = node->left->column_count;
    bool *used = lower_flags(lowering, below_count);
    int *below = lower_numbers(lowering, below_count), input, number;
    bool done = true;

    if (used == NULL || below == NULL)
        return -1;
    memcpy(used, needed, node->column_count);
    for (size_t i = 0; i < node->sort.keys.count; i++)
        used[VECTOR_ITEMS(&node->sort.keys, struct step_key)[i].column] = true;
    input = lower_node(lowering, node->left, used, below);
    if (input < 0)
        return -1;
    number = lower_add_step(lowering, STEP_SORT, node->column_count, &input, 1);
    if (number < 0)
        return -1;
    for (unsigned i = 0; i < node->column_count && done; i++) {
        struct step_column column = lower_column(&node->columns[i]);
        if (below[i] < 0)
            continue;
        map[i] = below[i];
        assert(below[i]
               == (int)steps_at(lowering->steps, number)->column_count);
        done = lower_add_column(lowering, number, &column);
    }
    if (done) {
        struct step_sort *sort = &steps_at(lowering->steps, number)->sort;
        sort->offset = node->sort.offset;
        sort->limit = node->sort.limit;
        done = lower_move_keys(lowering, &node->sort.keys, below, &sort->keys);
    }
    return done ? number : -1;
}

/* The step of the row of numbers that a LIMIT reads when it runs. */
static int lower_counts(struct lowering *lowering, struct node *counts)
{
    bool *all = lower_flags(lowering, counts->column_count);
    int *same = lower_numbers(lowering, counts->column_count);

    if (all == NULL || same == NULL)
        return -1;
    memset(all, true, counts->column_count);
    return lower_node(lowering, counts, all, same);
}

int lower_limit(struct lowering *lowering, struct node *node,
                const bool *needed, int *map)
{
    bool counted = node->right != NULL;
    int inputs[2] = { lower_node(lowering, node->left, needed, map) };
    int number;

    if (inputs[0] >= 0 && counted)
        inputs[1] = lower_counts(lowering, node->right);
    if (inputs[0] < 0 || inputs[1] < 0)
        return -1;
    number = lower_add_step(lowering, STEP_LIMIT,
                            steps_at(lowering->steps, inputs[0])->column_count,
                            inputs, 1 + counted);
    if (number < 0 || !lower_add_columns_of(lowering, number, inputs[0]))
        return -1;
    steps_at(lowering->steps, number)->limit = node->limit;
    return number;
}

/* -------------------------------------------------------------- concat -- */

int lower_concat(struct lowering *lowering, struct node *node, int *map)
{
    struct vector inputs = VECTOR(int);
    int number = -1, input = 0;

    for (size_t i = 0; i < node->parts.count && input >= 0; i++) {
        struct node *part = VECTOR_ITEMS(&node->parts, struct node *)[i];
        bool *all = lower_flags(lowering, part->column_count);
        int *same = lower_numbers(lowering, part->column_count);
        input = -1;
        if (all == NULL || same == NULL)
            break;
        memset(all, true, part->column_count);
        input = lower_node(lowering, part, all, same);
        if (input >= 0 && !vector_append(&inputs, &input, 1)) {
            error_no_memory(lowering->binder->error);
            input = -1;
        }
    }
    if (input >= 0)
        number = lower_add_step(lowering, STEP_CONCAT, node->column_count,
                                inputs.items, (unsigned)inputs.count);
    vector_finish(&inputs);
    for (unsigned i = 0; i < node->column_count && number >= 0; i++) {
        struct step_column column = lower_column(&node->columns[i]);
        map[i] = (int)i;
        if (!lower_add_column(lowering, number, &column))
            return -1;
    }
    return number;
}
