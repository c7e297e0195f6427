/* SPDX-License-Identifier: MIT */
/*
 * Division of DISTINCT: see divide_distinct.h.
 */
#include "cluster/divide/divide_distinct.h"

#include <assert.h>
#include <math.h>

#include "program/steps/group_sink.h"

/* What it costs to bring pairs together, measured with 2 ranks on host cores: 3M
 * rows are grouped in 15 to 60 ns each, a pair is sent and merged in about 200. */
enum {
    PAIR_ROWS = 10,       /* rows that are grouped in the time of a pair    */
    PAIRS_FREE = 1 << 16, /* take some milliseconds: nobody minds           */
};

static struct step_aggregate *aggregate_of(const struct step_group *group,
                                           size_t number)
{
    return vector_at(&group->aggregates, number);
}

bool divide_has_distinct(const struct step_group *group)
{
    for (size_t i = 0; i < group->aggregates.count; i++)
        if (aggregate_of(group, i)->distinct)
            return true;
    return false;
}

static enum aggregate_keeps keeps_of(const struct step_aggregate *aggregate)
{
    return aggregate_row(aggregate->function)->keeps;
}

/* Whether it gives the same where rows that are equal come once. Floats that are
 * equal may differ in their bits, of which pairs keep one kind alone. */
static bool takes_pairs(const struct step *input,
                        const struct step_aggregate *aggregate)
{
    if (aggregate->column < 0)
        return false;
    int type = step_machine_type(input->columns[aggregate->column].type);
    return aggregate->distinct
           || (aggregate_takes_once(aggregate->function) && type != TYPE_F32
               && type != TYPE_F64);
}

/* Whether aggregates before a number are of the same column, or keys have it. */
static bool is_counted(const struct step_group *group, size_t number)
{
    int column = aggregate_of(group, number)->column;
    for (size_t i = 0; i < number; i++)
        if (aggregate_of(group, i)->column == column
            && keeps_of(aggregate_of(group, i)) != AGGREGATE_KEEPS_FIRST)
            return true;
    return column < (int)group->keys;
}

/* Columns whose values make pairs. Those of which the first value is asked for
 * follow from the keys. */
static unsigned count_values(const struct step_group *group)
{
    unsigned values = 0;
    for (size_t i = 0; i < group->aggregates.count; i++)
        values += keeps_of(aggregate_of(group, i)) != AGGREGATE_KEEPS_FIRST
                  && !is_counted(group, i);
    return values;
}

/* Whether a group reads a column. */
static bool reads(const struct step_group *group, int column)
{
    bool found = column < (int)group->keys;
    for (size_t i = 0; !found && i < group->aggregates.count; i++)
        found = aggregate_of(group, i)->column == column
                || aggregate_of(group, i)->filter == column;
    return found;
}

/* Why some aggregates cannot be made of pairs; NULL: all can. */
static const char *why_not(const struct step *input,
                           const struct step_group *group)
{
    for (size_t i = 0; i < group->aggregates.count; i++)
        if (!takes_pairs(input, aggregate_of(group, i)))
            return "an aggregate is of DISTINCT values, another of all";
    if (count_values(group) > 1)
        return "aggregates are of DISTINCT values of several columns";
    for (unsigned i = 0; i < input->column_count; i++)
        if (!reads(group, (int)i))
            return "an aggregate is of DISTINCT values, beside others";
    return NULL;
}

/* Whether it takes longer to bring the pairs of all ranks together than it takes
 * one rank to group the rows that the others would. */
static bool has_many_pairs(const struct step *input,
                           const struct step_group *group, unsigned ranks)
{
    double rows = input->rows, pairs = group->combinations;
    if (rows <= 0 || pairs <= 0)
        return false;
    double sent = fmin(pairs * ranks, rows);
    return sent > PAIRS_FREE && sent * PAIR_ROWS > rows * (ranks - 1) / ranks;
}

bool divide_distinct_pairs(const struct step *input,
                           const struct step_group *group)
{
    return why_not(input, group) == NULL;
}

const char *divide_distinct_alone(const struct step *input,
                                  const struct step_group *group,
                                  unsigned ranks)
{
    const char *why = why_not(input, group);
    if (why == NULL && has_many_pairs(input, group, ranks))
        why = "an aggregate is of too many DISTINCT values";
    return why;
}

/* Each value comes once a group: nobody need look for it again. With a filter,
 * it may come as often as that has values. */
static void forget_distinct(struct step_group *group)
{
    for (size_t i = 0; i < group->aggregates.count; i++)
        if (aggregate_of(group, i)->filter >= 0)
            return;
    for (size_t i = 0; i < group->aggregates.count; i++)
        aggregate_of(group, i)->distinct = false;
}

bool divide_distinct(struct steps *steps, int *top, int reader)
{
    struct step *pairs = steps_insert(steps, *top, STEP_GROUP);
    if (pairs == NULL)
        return false;
    struct step *rows = steps_at(steps, *top);
    struct step *groups = steps_at(steps, reader + 1); /* behind the new one */
    assert(groups->kind == STEP_GROUP);
    double combinations = groups->group.combinations;
    pairs->group.keys = rows->column_count;
    pairs->group.combinations = combinations;
    if (combinations > 0)
        pairs->rows = combinations;
    pairs->group.apart = true;
    forget_distinct(&groups->group);
    ++*top;
    return rows->kind != STEP_SCAN
           || group_sink_add(&rows->scan.program, &pairs->group);
}
