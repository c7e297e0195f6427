/* SPDX-License-Identifier: MIT */
/*
 * Steps that add columns to those of their input: subqueries, windows,
 * functions of the host.
 */
#include "plan/lower/lower.h"

#include <assert.h>
#include <string.h>

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
