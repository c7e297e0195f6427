/* SPDX-License-Identifier: MIT */
/*
 * Steps over the rows of others: groups, sorts, limits and rows one after the
 * other; and those that add columns: subqueries, windows, functions of the
 * host.
 */
#include <assert.h>
#include <string.h>

#include "base/vector.h"
#include "plan/lower/lowering.h"
#include "plan/tree/binder.h"

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
    assert(group->keys + group->aggregates.count == node->column_count);
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

/* ---------------------------------------------------------- added columns -- */

/* A node whose columns are those below and some more: what is below, with
 * what `used` says beside what is needed, and a step over it. */
static int lower_wider(struct lowering *lowering, struct node *node,
                       enum step_kind kind, const bool *needed, bool *used,
                       int *below, int *map)
{
    unsigned count = node->left->column_count;
    int input, number;

    for (unsigned i = 0; i < count; i++)
        used[i] |= needed[i];
    input = lower_node(lowering, node->left, used, below);
    if (input < 0)
        return -1;
    number = lower_add_step(lowering, kind,
                            steps_at(lowering->steps, input)->column_count
                                + node->column_count - count,
                            &input, 1);
    if (number < 0 || !lower_add_columns_of(lowering, number, input))
        return -1;
    memcpy(map, below, count * sizeof *map);
    for (unsigned i = count; i < node->column_count; i++) {
        struct step_column column = lower_column(&node->columns[i]);
        map[i] = (int)steps_at(lowering->steps, number)->column_count;
        if (!lower_add_column(lowering, number, &column))
            return -1;
    }
    return number;
}

static void use(bool *used, int column)
{
    if (column >= 0)
        used[column] = true;
}

static int moved(const int *map, int column)
{
    return column < 0 ? column : map[column];
}

/* The query that is applied: its rows' columns as far as they matter. */
static bool lower_inner(struct lowering *lowering, struct node *node,
                        struct steps *inner)
{
    struct node *query = node->right;
    struct lowering inside = { lowering->binder, inner };
    bool *needed = lower_flags(lowering, query->column_count);
    int *map = lower_numbers(lowering, query->column_count);

    if (needed == NULL || map == NULL)
        return false;
    needed[0] = node->apply.kind != APPLY_EXISTS;
    if (lower_node(&inside, query, needed, map) < 0)
        return false;
    assert(!needed[0] || map[0] == 0);
    return true;
}

int lower_apply(struct lowering *lowering, struct node *node,
                const bool *needed, int *map)
{
    const struct vector *parameters = &node->apply.parameters;
    bool *used = lower_flags(lowering, node->left->column_count);
    int *below = lower_numbers(lowering, node->left->column_count), number;
    struct step_apply *apply;
    struct steps *inner;

    if (used == NULL || below == NULL)
        return -1;
    for (size_t i = 0; i < parameters->count; i++)
        use(used, VECTOR_ITEMS(parameters, struct step_parameter)[i].column);
    if (node->apply.kind == APPLY_IN)
        use(used, node->apply.column);
    number = lower_wider(lowering, node, STEP_APPLY, needed, used, below, map);
    if (number < 0)
        return -1;
    apply = &steps_at(lowering->steps, number)->apply;
    inner = arena_alloc(&lowering->steps->arena, sizeof *inner);
    if (inner == NULL)
        return error_no_memory(lowering->binder->error), -1;
    steps_init(inner);
    apply->inner = inner;
    apply->kind = node->apply.kind;
    apply->column = apply->kind == APPLY_IN ? below[node->apply.column] : -1;
    for (size_t i = 0; i < parameters->count; i++) {
        struct step_parameter parameter =
            VECTOR_ITEMS(parameters, struct step_parameter)[i];
        parameter.column = below[parameter.column];
        if (!vector_append(&apply->parameters, &parameter, 1))
            return error_no_memory(lowering->binder->error), -1;
    }
    return lower_inner(lowering, node, inner) ? number : -1;
}

/* Adds an item to a list of the step, which owns its vectors from then on;
 * returns it there. */
static void *add_to(struct lowering *lowering, struct vector *list,
                    const void *item)
{
    if (!vector_append(list, item, 1))
        return error_no_memory(lowering->binder->error), NULL;
    return vector_at(list, list->count - 1);
}

int lower_window(struct lowering *lowering, struct node *node,
                 const bool *needed, int *map)
{
    const struct vector *functions = &node->window.functions;
    bool *used = lower_flags(lowering, node->left->column_count);
    int *below = lower_numbers(lowering, node->left->column_count), number;
    bool done = true;

    if (used == NULL || below == NULL)
        return -1;
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        use(used, function->aggregate.column);
        use(used, function->aggregate.filter);
        use(used, function->fallback);
        for (size_t k = 0; k < function->partition.count; k++)
            use(used, VECTOR_ITEMS(&function->partition, int)[k]);
        for (size_t k = 0; k < function->order.count; k++)
            use(used,
                VECTOR_ITEMS(&function->order, struct step_key)[k].column);
    }
    number = lower_wider(lowering, node, STEP_WINDOW, needed, used, below, map);
    for (size_t i = 0; number >= 0 && i < functions->count && done; i++) {
        const struct step_window_function *from = vector_at(functions, i);
        struct step_window_function function = *from, *added;
        function.aggregate.column = moved(below, from->aggregate.column);
        function.aggregate.filter = moved(below, from->aggregate.filter);
        function.fallback = moved(below, from->fallback);
        function.partition = VECTOR(int);
        function.order = VECTOR(struct step_key);
        added = add_to(lowering,
                       &steps_at(lowering->steps, number)->window.functions,
                       &function);
        done = added != NULL
               && lower_move_numbers(lowering, &from->partition, below,
                                     &added->partition)
               && lower_move_keys(lowering, &from->order, below, &added->order);
    }
    return done ? number : -1;
}

int lower_map(struct lowering *lowering, struct node *node, const bool *needed,
              int *map)
{
    const struct vector *functions = &node->map.functions;
    bool *used = lower_flags(lowering, node->left->column_count);
    int *below = lower_numbers(lowering, node->left->column_count), number;
    bool done = true;

    if (used == NULL || below == NULL)
        return -1;
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_function *function = vector_at(functions, i);
        for (size_t k = 0; k < function->arguments.count; k++)
            use(used, VECTOR_ITEMS(&function->arguments, int)[k]);
    }
    number = lower_wider(lowering, node, STEP_MAP, needed, used, below, map);
    for (size_t i = 0; number >= 0 && i < functions->count && done; i++) {
        const struct step_function *from = vector_at(functions, i);
        struct step_function function = { .name = from->name,
                                          .arguments = VECTOR(int),
                                          .at = from->at };
        struct step_function *added =
            add_to(lowering, &steps_at(lowering->steps, number)->map.functions,
                   &function);
        done = added != NULL
               && lower_move_numbers(lowering, &from->arguments, below,
                                     &added->arguments);
    }
    return done ? number : -1;
}
