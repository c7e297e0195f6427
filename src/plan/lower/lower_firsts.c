/* SPDX-License-Identifier: MIT */
/*
 * First texts:
 *
 *   SELECT max(a || b) FROM t;  SELECT a || b FROM t ORDER BY 1 LIMIT 10
 *
 * All texts that a function of the host makes would become words, and be sorted,
 * though of most nothing matters but that they are behind the first ones. The step
 * between, if any, gives the column as it is; what tests rows stands below.
 */
#include <string.h>

#include "plan/lower/lowering.h"
#include "program/loads.h"

/* More are kept in a heap no faster than they are sorted. */
enum { FIRSTS_MOST = 1000 };

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
        } else if (column >= before) {
            struct step_function *function = vector_at(
                &step->map.functions, (size_t)column - (size_t)before);
            if (step->columns[column].type == VDBQ_TEXT)
                function->firsts = firsts;
            return;
        } else if (is_argument(step, column)) {
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
    return aggregate->column >= 0 && aggregate->filter < 0;
}

/* The least and the greatest text of all rows. */
static void tell_of_group(struct steps *steps, const struct step *step)
{
    const struct step_group *group = &step->group;
    for (size_t i = 0; group->keys == 0 && i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        bool most = aggregate->function == AGGREGATE_MAX;
        if ((most || aggregate->function == AGGREGATE_MIN)
            && reads_alone(group, aggregate))
            tell(steps, VECTOR_ITEMS(&step->inputs, int)[0], aggregate->column,
                 (struct step_firsts){ 1, most });
    }
}

/* The first rows of a sort, by its first key. */
static void tell_of_sort(struct steps *steps, const struct step *step)
{
    const struct step_sort *sort = &step->sort;
    if (sort->keys.count == 0 || sort->limit > FIRSTS_MOST
        || sort->offset > FIRSTS_MOST || sort->limit == 0)
        return;
    const struct step_key *key = vector_at(&sort->keys, 0);
    tell(steps, VECTOR_ITEMS(&step->inputs, int)[0], key->column,
         (struct step_firsts){ (uint32_t)(sort->offset + sort->limit),
                               key->descending });
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
