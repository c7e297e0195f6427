/* SPDX-License-Identifier: MIT */
/*
 * Proves that the functions of a step of windows fit its input.
 */
#include "base/type.h"
#include "program/steps/steps_check.h"

/* A frame by a distance has one key, from which that is counted. */
static enum vdbq_status
check_distance(const struct checking *check,
               const struct step_window_function *function)
{
    if (function->frame.unit != FRAME_DISTANCE)
        return VDBQ_OK;
    if (function->order.count != 1)
        return steps_refuse(check, "a frame by a distance has %zu keys",
                            function->order.count);
    const struct step_key *key = vector_at(&function->order, 0);
    return steps_input(check, 0)->columns[key->column].type != VDBQ_TEXT
               ? VDBQ_OK
               : steps_refuse(check, "a frame by a distance of texts");
}

static enum vdbq_status
check_window_function(const struct checking *check,
                      const struct step_window_function *function)
{
    enum vdbq_status status =
        steps_check_column(check, function->aggregate.column, true);
    if (status == VDBQ_OK)
        status = steps_check_column(check, function->aggregate.filter, true);
    if (status == VDBQ_OK)
        status = steps_check_column(check, function->fallback, true);
    for (size_t i = 0; i < function->partition.count && status == VDBQ_OK; i++)
        status = steps_check_column(
            check, VECTOR_ITEMS(&function->partition, int)[i], false);
    if (status == VDBQ_OK)
        status = steps_check_keys(check, &function->order);
    return status == VDBQ_OK ? check_distance(check, function) : status;
}

/* Of first rows alone: all functions have the first one's partition. */
static enum vdbq_status check_firsts(const struct checking *check)
{
    const struct vector *functions = &check->step->window.functions;
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        if (!step_window_gives_one(function)
            || !step_window_parts_alike(function, vector_at(functions, 0)))
            return steps_refuse(check, "function %zu has no first rows", i);
    }
    return VDBQ_OK;
}

enum vdbq_status steps_check_window(const struct checking *check)
{
    const struct vector *functions = &check->step->window.functions;
    enum vdbq_status status = steps_check_beside(check, functions->count);
    for (size_t i = 0; i < functions->count && status == VDBQ_OK; i++)
        status = check_window_function(check, vector_at(functions, i));
    return status == VDBQ_OK && check->step->window.firsts ? check_firsts(check)
                                                           : status;
}
