/* SPDX-License-Identifier: MIT */
/*
 * Values that count once: see device_pairs.h.
 */
#include "exec/device_group/device_pairs.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "exec/stream/stream_inner.h"

static const struct step_aggregate *aggregate_of(const struct step_group *step,
                                                 size_t i)
{
    return &VECTOR_ITEMS(&step->aggregates, struct step_aggregate)[i];
}

/* ------------------------------------------------------------------ can -- */

/* The column of all values that count once; -1: there is none, or another form. */
static int value_of(const struct step_group *step)
{
    int value = -1;
    for (size_t i = 0; i < step->aggregates.count; i++) {
        const struct step_aggregate *aggregate = aggregate_of(step, i);
        if (!aggregate->distinct)
            continue;
        if (aggregate->filter >= 0 || aggregate->column < 0
            || (value >= 0 && aggregate->column != value))
            return -1;
        value = aggregate->column;
    }
    return value;
}

/* Whether there are aggregates that take all values. */
static bool has_others(const struct step_group *step)
{
    for (size_t i = 0; i < step->aggregates.count; i++)
        if (!aggregate_of(step, i)->distinct)
            return true;
    return false;
}

/* Whether all that counts once is a number of values: what stands in its place in
 * groups beside has the same type. */
static bool all_are_counted(const struct step_group *step)
{
    for (size_t i = 0; i < step->aggregates.count; i++)
        if (aggregate_of(step, i)->distinct
            && aggregate_of(step, i)->function != AGGREGATE_COUNT)
            return false;
    return true;
}

/* The step that makes the pairs. */
static struct step_group pairs_step(const struct step_group *step)
{
    return (struct step_group){ .keys = step->keys + 1,
                                .aggregates = VECTOR(struct step_aggregate) };
}

/* Describes the pairs' columns. */
static void describe(const struct device_group_params *params, unsigned value,
                     struct device_column *columns, struct step_column *inputs)
{
    unsigned keys = params->step->keys;
    assert(keys < DEVICE_PAIRS_COLUMNS && value < params->column_count);
    for (unsigned i = 0; i <= keys; i++) {
        columns[i] = params->columns[i < keys ? i : value];
        inputs[i] = params->inputs[i < keys ? i : value];
    }
}

/* How the pairs are grouped, whose columns these are. */
static struct device_group_params
pairs_params(const struct device_group_params *params,
             const struct step_group *step, const struct device_column *columns,
             const struct step_column *inputs)
{
    struct device_group_params made = *params;
    made.step = step;
    made.columns = columns;
    made.inputs = inputs;
    made.column_count = step->keys;
    made.program = NULL;
    made.groups_expected = 0; /* nobody knows how many pairs there are */
    return made;
}

/* How all else is grouped, beside them. */
static struct device_group_params
beside_params(const struct device_group_params *params,
              const struct step_group *step)
{
    struct device_group_params made = *params;
    made.step = step;
    made.program = NULL; /* rows are to be taken */
    return made;
}

/* The step that groups all else; false: no memory. */
static bool make_beside(const struct step_group *step, struct step_group *made)
{
    *made = (struct step_group){ .keys = step->keys,
                                 .aggregates = VECTOR(struct step_aggregate) };
    for (size_t i = 0; i < step->aggregates.count; i++) {
        struct step_aggregate aggregate = *aggregate_of(step, i);
        if (aggregate.distinct)
            aggregate = (struct step_aggregate){ .function = AGGREGATE_COUNT,
                                                 .column = -1,
                                                 .filter = -1 };
        if (!vector_append(&made->aggregates, &aggregate, 1))
            return false;
    }
    return true;
}

/* Whether the device can group all else. */
static bool can_beside(const struct device_group_params *params)
{
    struct step_group step;
    if (!all_are_counted(params->step))
        return false;
    bool made = make_beside(params->step, &step);
    const struct device_group_params beside = beside_params(params, &step);
    bool can = made && device_group_can(&beside);
    vector_finish(&step.aggregates);
    return can;
}

bool device_pairs_can(const struct device_group_params *params,
                      uint64_t rows_most)
{
    struct device_column columns[DEVICE_PAIRS_COLUMNS];
    struct step_column inputs[DEVICE_PAIRS_COLUMNS];
    struct step_group step = pairs_step(params->step);
    int value = value_of(params->step);
    if (value < 0 || step.keys > DEVICE_GROUP_KEYS_MAX
        || rows_most > UINT32_MAX)
        return false;
    describe(params, (unsigned)value, columns, inputs);
    struct device_group_params first =
        pairs_params(params, &step, columns, inputs);
    return device_places(columns, NULL, step.keys, rows_most, NULL)
               <= params->room
           && device_group_can(&first)
           && (!has_others(params->step) || can_beside(params));
}

/* --------------------------------------------------------------- taking -- */

/* The rows go to the pairs and to what is grouped beside them. */
static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *rows, struct error *error)
{
    struct device_pairs *pairs = (struct device_pairs *)sink;
    struct output outputs[DEVICE_PAIRS_COLUMNS];
    struct sink_rows own = *rows;
    unsigned keys = pairs->by_keys.keys;
    memcpy(outputs, rows->outputs, keys * sizeof *outputs);
    outputs[keys] = rows->outputs[pairs->value];
    own.outputs = outputs;
    struct sink *to = device_group_sink(pairs->group);
    enum vdbq_status status = to->take(to, &own, error);
    to = pairs->others != NULL ? device_group_sink(pairs->others) : NULL;
    return status == VDBQ_OK && to != NULL ? to->take(to, rows, error) : status;
}

static enum vdbq_status sink_wait(struct sink *sink, struct error *error)
{
    struct device_pairs *pairs = (struct device_pairs *)sink;
    struct sink *to = device_group_sink(pairs->group);
    enum vdbq_status status = to->wait(to, error);
    to = pairs->others != NULL ? device_group_sink(pairs->others) : NULL;
    return status == VDBQ_OK && to != NULL ? to->wait(to, error) : status;
}

/* Notes which columns of the stream are looked at. */
static enum vdbq_status make_reads(struct device_pairs *pairs,
                                   unsigned column_count, struct error *error)
{
    pairs->reads = memory_zeroed(column_count + (size_t)1, sizeof(bool));
    if (pairs->reads == NULL)
        return error_no_memory(error);
    if (pairs->others != NULL)
        memcpy(pairs->reads, device_group_sink(pairs->others)->reads,
               column_count * sizeof(bool));
    for (unsigned i = 0; i < pairs->by_keys.keys; i++)
        pairs->reads[i] = true;
    pairs->reads[pairs->value] = true;
    pairs->sink = (struct sink){ .reads = pairs->reads,
                                 .take = sink_take,
                                 .wait = sink_wait };
    return VDBQ_OK;
}

/* The groups that take the stream's rows. */
static enum vdbq_status make_groups(struct device_pairs *pairs,
                                    const struct device_group_params *params,
                                    struct error *error)
{
    const struct device_group_params first =
        pairs_params(params, &pairs->by_value, pairs->columns, pairs->inputs);
    enum vdbq_status status = device_group_create(&first, &pairs->group, error);
    if (status != VDBQ_OK || !has_others(params->step))
        return status;
    if (!make_beside(params->step, &pairs->beside))
        return error_no_memory(error);
    const struct device_group_params beside =
        beside_params(params, &pairs->beside);
    return device_group_create(&beside, &pairs->others, error);
}

/* All rows came: the pairs stay. */
static enum vdbq_status keep_pairs(struct device_pairs *pairs,
                                   struct stream *stream, struct error *error)
{
    struct run_place place = *stream_place(stream);
    struct device_group *group = pairs->group;
    bool kept = false;
    place.resident = NULL; /* they are gone before anything else comes */
    enum vdbq_status status = device_group_end(group, error);
    if (status != VDBQ_OK || device_group_count(group) == 0)
        return status;
    status = device_group_keep(group, &place, pairs->inputs, NULL, &pairs->rows,
                               &kept, error);
    return status == VDBQ_OK && !kept
               ? error_set(error, VDBQ_LIMIT,
                           "the device has no room for %llu pairs of groups "
                           "and values that count once",
                           (unsigned long long)device_group_count(group))
               : status;
}

/* Groups the stream's rows by keys and value; the groups stay. */
static enum vdbq_status make_pairs(struct device_pairs *pairs,
                                   const struct device_group_params *params,
                                   struct stream *stream, struct error *error)
{
    enum vdbq_status status = make_groups(pairs, params, error);
    if (status == VDBQ_OK)
        status = make_reads(pairs, params->column_count, error);
    if (status != VDBQ_OK)
        return status;
    stream_sink(stream, &pairs->sink);
    status = stream_drain(stream, error);
    if (status == VDBQ_OK)
        status = keep_pairs(pairs, stream, error);
    pairs->times = *device_group_times(pairs->group);
    device_group_destroy(pairs->group);
    pairs->group = NULL;
    return status;
}

/* The aggregates of the pairs: values that come once count as they come. */
static enum vdbq_status copy_aggregates(struct device_pairs *pairs,
                                        const struct step_group *step,
                                        struct error *error)
{
    pairs->by_keys =
        (struct step_group){ .keys = step->keys,
                             .aggregates = VECTOR(struct step_aggregate) };
    for (size_t i = 0; i < step->aggregates.count; i++) {
        struct step_aggregate aggregate = *aggregate_of(step, i);
        if (!aggregate.distinct)
            continue;
        aggregate.distinct = false;
        aggregate.column = (int)step->keys;
        if (!vector_append(&pairs->by_keys.aggregates, &aggregate, 1))
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

enum vdbq_status device_pairs_take(struct device_pairs *pairs,
                                   const struct device_group_params *params,
                                   struct stream *stream, struct error *error)
{
    *pairs = (struct device_pairs){ .step = params->step,
                                    .by_value = pairs_step(params->step),
                                    .value = (unsigned)value_of(params->step) };
    describe(params, pairs->value, pairs->columns, pairs->inputs);
    enum vdbq_status status = copy_aggregates(pairs, params->step, error);
    if (status == VDBQ_OK)
        status = make_pairs(pairs, params, stream, error);
    pairs->params =
        pairs_params(params, &pairs->by_keys, pairs->columns, pairs->inputs);
    pairs->params.column_count = pairs->by_value.keys;
    pairs->params.groups_expected = params->groups_expected;
    pairs->params.rows = pairs->rows.store.rows;
    pairs->params.rows_expected = (double)pairs->rows.store.rows;
    return status;
}

/* -------------------------------------------------------------- results -- */

/* The columns of the groups of pairs, as `results` has them; NULL: no memory. */
static struct step_column *counted_columns(const struct device_pairs *pairs,
                                           const struct step_column *results)
{
    unsigned keys = pairs->by_keys.keys, count = keys;
    struct step_column *columns =
        memory_zeroed(keys + pairs->by_keys.aggregates.count, sizeof *columns);
    for (unsigned i = 0; columns != NULL && i < keys; i++)
        columns[i] = results[i];
    for (unsigned i = 0; columns && i < pairs->step->aggregates.count; i++)
        if (aggregate_of(pairs->step, i)->distinct)
            columns[count++] = results[keys + i];
    return columns;
}

/* Puts the numbers of values in the places of numbers of rows. */
static void put_counts(const struct device_pairs *pairs,
                       const struct row_set *counts, struct row_set *row_set)
{
    unsigned keys = pairs->by_keys.keys, from = keys;
    assert(counts->rows == row_set->rows);
    for (unsigned i = 0; i < pairs->step->aggregates.count; i++) {
        struct row_set_column *to = &row_set->columns[keys + i];
        if (!aggregate_of(pairs->step, i)->distinct)
            continue;
        assert(to->width == counts->columns[from].width);
        if (counts->rows > 0)
            memcpy(to->values, counts->columns[from].values,
                   counts->rows * to->width);
        from++;
    }
}

enum vdbq_status device_pairs_write(struct device_pairs *pairs,
                                    struct device_group *counts,
                                    const struct step_column *results,
                                    struct row_set *row_set,
                                    struct error *error)
{
    struct row_set counted = { 0 };
    struct step_column *columns = counted_columns(pairs, results);
    if (columns == NULL)
        return error_no_memory(error);
    size_t count = pairs->by_keys.keys + pairs->by_keys.aggregates.count;
    enum vdbq_status status =
        row_set_init(&counted, columns, (unsigned)count, error);
    if (status == VDBQ_OK)
        status = device_group_end(counts, error);
    if (status == VDBQ_OK)
        status = device_group_finish(counts, &counted, error);
    if (status == VDBQ_OK)
        status = device_group_end(pairs->others, error);
    if (status == VDBQ_OK)
        status = device_group_finish(pairs->others, row_set, error);
    if (status == VDBQ_OK)
        put_counts(pairs, &counted, row_set);
    row_set_finish(&counted);
    memory_release(columns);
    return status;
}

void device_pairs_finish(struct device_pairs *pairs)
{
    device_group_destroy(pairs->group);
    device_group_destroy(pairs->others);
    vector_finish(&pairs->by_keys.aggregates);
    vector_finish(&pairs->beside.aggregates);
    device_rows_finish(&pairs->rows);
    memory_release(pairs->reads);
    *pairs = (struct device_pairs){ 0 };
}
