/* SPDX-License-Identifier: MIT */
/*
 * What somebody reads of a step: which columns (who makes them may leave the
 * others as they are), and whether the order of its rows.
 */
#include "program/steps/steps.h"

#include <string.h>

/* A step, and what is read of input `input` of it. */
struct reading {
    const struct steps *steps;
    int step;
    size_t input;
    bool *reads;
    unsigned count;
};

/* Of whichever cursor: a column too many is no harm. */
static void read_program_columns(const struct program *program, unsigned first,
                                 const struct reading *reading)
{
    for (size_t pc = 0; pc < program->code.count; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        bool probes = op_facts(in->op)->form == FORM_PROBE;
        unsigned column = (unsigned)(probes ? in->d : in->b) - first;
        bool reads = probes || op_operands(in->op)[1] == 'f';
        if (reads && column < reading->count)
            reading->reads[column] = true;
    }
}

/* The columns of a range on the side of the input. */
static void read_range_join(const struct step_range_join *range,
                            const struct reading *reading)
{
    bool value = (range->side == RANGE_JOIN_RIGHT) == (reading->input == 1);
    if (range->side == RANGE_JOIN_NONE)
        return;
    if (value)
        reading->reads[range->column] = true;
    if (!value && range->low >= 0)
        reading->reads[range->low] = true;
    if (!value && range->high >= 0)
        reading->reads[range->high] = true;
}

static void read_group(const struct step_group *group,
                       const struct reading *reading)
{
    for (unsigned i = 0; i < group->keys; i++)
        reading->reads[i] = true;
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        if (aggregate->column >= 0)
            reading->reads[aggregate->column] = true;
        if (aggregate->filter >= 0)
            reading->reads[aggregate->filter] = true;
    }
}

/* Keys, the range, what the condition reads, and what is read of the join's
 * columns. */
static bool read_join(const struct step *step, const struct reading *reading)
{
    const struct step_join *join = &step->join;
    const struct step *left =
        steps_at(reading->steps, VECTOR_ITEMS(&step->inputs, int)[0]);
    const struct vector *keys =
        reading->input == 0 ? &join->left_keys : &join->right_keys;
    unsigned first = reading->input == 0 ? 0 : left->column_count;
    bool *own = memory_zeroed(step->column_count, sizeof *own);
    if (own == NULL)
        return false;
    steps_reads(reading->steps, reading->step, own);
    for (unsigned i = 0; i < reading->count; i++)
        reading->reads[i] |= first + i < step->column_count && own[first + i];
    memory_release(own);
    for (size_t i = 0; i < keys->count; i++)
        reading->reads[VECTOR_ITEMS(keys, int)[i]] = true;
    read_range_join(&join->range, reading);
    if (join->condition != NULL)
        read_program_columns(join->condition, first, reading);
    return true;
}

/* Keys, and what is read of the exchange's columns. */
static bool read_exchange(const struct step *step,
                          const struct reading *reading)
{
    const struct vector *keys = &step->exchange.keys;
    bool *own = memory_zeroed(step->column_count, sizeof *own);
    if (own == NULL)
        return false;
    steps_reads(reading->steps, reading->step, own);
    for (unsigned i = 0; i < reading->count; i++)
        reading->reads[i] |= own[i];
    memory_release(own);
    for (size_t i = 0; i < keys->count; i++)
        reading->reads[VECTOR_ITEMS(keys, int)[i]] = true;
    return true;
}

static void read_all(const struct reading *reading)
{
    memset(reading->reads, true, reading->count * sizeof *reading->reads);
}

static void read_input(const struct reading *reading)
{
    const struct step *step = steps_at(reading->steps, reading->step);
    if (step->kind == STEP_SCAN)
        read_program_columns(&step->scan.program, 0, reading);
    else if (step->kind == STEP_GROUP)
        read_group(&step->group, reading);
    else if ((step->kind != STEP_JOIN || !read_join(step, reading))
             && (step->kind != STEP_EXCHANGE || !read_exchange(step, reading)))
        read_all(reading);
}

void steps_reads(const struct steps *steps, int number, bool *reads)
{
    struct reading reading = { .steps = steps,
                               .reads = reads,
                               .count = steps_at(steps, number)->column_count };
    memset(reads, 0, reading.count * sizeof *reads);
    if (number == (int)steps->steps.count - 1)
        read_all(&reading);
    for (size_t i = (size_t)number + 1; i < steps->steps.count; i++) {
        const struct vector *inputs = &steps_at(steps, (int)i)->inputs;
        reading.step = (int)i;
        for (size_t j = 0; j < inputs->count; j++) {
            reading.input = j;
            if (VECTOR_ITEMS(inputs, int)[j] == number)
                read_input(&reading);
        }
    }
}

unsigned steps_readers(const struct steps *steps, int number)
{
    unsigned readers = 0;

    for (size_t i = (size_t)number + 1; i < steps->steps.count; i++) {
        const struct vector *inputs = &steps_at(steps, (int)i)->inputs;
        for (size_t j = 0; j < inputs->count; j++)
            readers += VECTOR_ITEMS(inputs, int)[j] == number;
    }
    return readers;
}

/* Each step but the last is read once at least. */
bool steps_share(const struct steps *steps)
{
    size_t inputs = 0;

    for (size_t i = 0; i < steps->steps.count; i++)
        inputs += steps_at(steps, (int)i)->inputs.count;
    return inputs >= steps->steps.count;
}

/* -------------------------------------------------------------- order -- */

/* Whether a program may fail: then the first row that does is told of. */
static bool may_fail(const struct program *program)
{
    for (size_t pc = 0; pc < program->code.count; pc++)
        if (op_facts(program_at(program, (int)pc)->op)->effect == EFFECT_FAULT)
            return true;
    return false;
}

/* Whether all rows make one group, of which nothing hangs on the first one. */
static bool groups_any_order(const struct step_group *group)
{
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        if (aggregate->function == AGGREGATE_FIRST)
            return false;
    }
    return group->keys == 0;
}

bool step_passes_order(const struct step *step)
{
    if (step->kind == STEP_SCAN)
        return !may_fail(&step->scan.program);
    return step->kind == STEP_JOIN
           && (step->join.condition == NULL || !may_fail(step->join.condition));
}

static bool reads_step(const struct step *step, int number)
{
    for (size_t i = 0; i < step->inputs.count; i++)
        if (VECTOR_ITEMS(&step->inputs, int)[i] == number)
            return true;
    return false;
}

/* Follows the rows from reader to reader, each of which stands behind what it
 * reads. */
bool steps_any_order(const struct steps *steps, int number)
{
    for (int at = number, i = number + 1; i < (int)steps->steps.count; i++) {
        const struct step *step = steps_at(steps, i);
        if (!reads_step(step, at))
            continue;
        if (steps_readers(steps, at) > 1)
            return false;
        if (step->kind == STEP_GROUP)
            return groups_any_order(&step->group);
        if (!step_passes_order(step))
            return false;
        at = i;
    }
    return false; /* who runs the steps sees it */
}
