/* SPDX-License-Identifier: MIT */
/*
 * First texts:
 *
 *   SELECT max(a || b) FROM t;  SELECT a || b FROM t ORDER BY 1 LIMIT 10
 *   SELECT g, max(a || b) FROM t GROUP BY g
 *
 * All texts that a function of the host makes would become words, and be sorted,
 * though of most nothing matters but that they are behind the first ones. The step
 * between, if any, gives the column as it is; what tests rows stands below.
 */
#include <string.h>

#include "plan/lower/lowering.h"
#include "program/functions/function.h"
#include "program/loads.h"

/* The column of an input that a scan gives as one column and no other; -1: it does
 * not give it so. */
static int column_below(const struct step *scan, int column)
{
    const struct program *program = &scan->scan.program;
    if (!program_gives(program, scan->column_count))
        return -1;
    int below = program_given_column(program, (unsigned)column);
    for (unsigned i = 0; i < scan->column_count; i++)
        if ((int)i != column && program_given_column(program, i) == below)
            return -1;
    return below;
}

/* Whether a map computes something of a column. */
static bool is_argument(const struct step *map, int column)
{
    const struct vector *functions = &map->map.functions;
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_function *function = vector_at(functions, i);
        for (size_t k = 0; k < function->arguments.count; k++)
            if (VECTOR_ITEMS(&function->arguments, int)[k] == column)
                return true;
    }
    return false;
}

/* The columns of a scan's input that are keys; false: one is none. */
static bool keys_below(const struct step *scan, struct step_firsts *firsts)
{
    for (unsigned i = 0; i < firsts->key_count; i++) {
        firsts->keys[i] = program_given_column(&scan->scan.program,
                                               (unsigned)firsts->keys[i]);
        if (firsts->keys[i] < 0)
            return false;
    }
    return true;
}

/* Whether all keys are columns of a map's input, `before` of which there are, and
 * there is room for them beside a function's arguments. */
static bool keys_are_before(const struct step_firsts *firsts, int before,
                            size_t arguments)
{
    for (unsigned i = 0; i < firsts->key_count; i++)
        if (firsts->keys[i] >= before)
            return false;
    return arguments + firsts->key_count <= FUNCTION_ARGUMENTS_MAX;
}

/* Tells the function that makes a column of a step. Nobody else reads the step. */
static void tell(struct steps *steps, int number, int column,
                 struct step_firsts firsts)
{
    while (column >= 0 && steps_readers(steps, number) == 1) {
        struct step *step = steps_at(steps, number);
        if (step->inputs.count != 1
            || (step->kind != STEP_SCAN && step->kind != STEP_MAP))
            return;
        int input = VECTOR_ITEMS(&step->inputs, int)[0];
        int before = (int)steps_at(steps, input)->column_count;
        if (step->kind == STEP_SCAN) {
            column = column_below(step, column);
            if (column >= 0 && !keys_below(step, &firsts))
                return;
        } else if (column >= before) {
            struct step_function *function = vector_at(
                &step->map.functions, (size_t)column - (size_t)before);
            if (step->columns[column].type == VDBQ_TEXT
                && keys_are_before(&firsts, before, function->arguments.count))
                function->firsts = firsts;
            return;
        } else if (is_argument(step, column)
                   || !keys_are_before(&firsts, before, 0)) {
            return;
        }
        number = input;
    }
}

/* Whether only this aggregate reads its column, in all rows. */
static bool reads_alone(const struct step_group *group,
                        const struct step_aggregate *aggregate)
{
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *other = vector_at(&group->aggregates, i);
        if (other->filter == aggregate->column
            || (other != aggregate && other->column == aggregate->column))
            return false;
    }
    return aggregate->column >= (int)group->keys && aggregate->filter < 0;
}

/* The least and the greatest text of all rows, or of each group. */
static void tell_of_group(struct steps *steps, const struct step *step)
{
    const struct step_group *group = &step->group;
    struct step_firsts firsts = { .count = 1, .key_count = group->keys };
    if (group->keys > STEP_FIRSTS_KEYS)
        return;
    for (unsigned i = 0; i < group->keys; i++)
        firsts.keys[i] = (int)i;
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        firsts.descending = aggregate->function == AGGREGATE_MAX;
        if ((firsts.descending || aggregate->function == AGGREGATE_MIN)
            && reads_alone(group, aggregate))
            tell(steps, VECTOR_ITEMS(&step->inputs, int)[0], aggregate->column,
                 firsts);
    }
}

/* The first rows of a sort, by its first key. */
static void tell_of_sort(struct steps *steps, const struct step *step)
{
    const struct step_sort *sort = &step->sort;
    uint32_t count = step_sort_firsts(sort);
    if (count == 0)
        return;
    const struct step_key *key = vector_at(&sort->keys, 0);
    tell(steps, VECTOR_ITEMS(&step->inputs, int)[0], key->column,
         (struct step_firsts){ .count = count, .descending = key->descending });
}

void lower_firsts(struct steps *steps)
{
    for (size_t i = 0; i < steps->steps.count; i++) {
        const struct step *step = steps_at(steps, (int)i);
        if (step->inputs.count != 1)
            continue;
        if (step->kind == STEP_GROUP)
            tell_of_group(steps, step);
        else if (step->kind == STEP_SORT)
            tell_of_sort(steps, step);
    }
}
