/* SPDX-License-Identifier: MIT */
/*
 * Values that count once: see device_pairs.h.
 */
#include "exec/device_group/device_pairs.h"

#include "base/memory.h"
#include "exec/stream/stream_inner.h"

/* Whether each aggregate takes each value of the column behind the keys once,
 * and nothing else. */
static bool all_count_once(const struct step_group *step)
{
    for (size_t i = 0; i < step->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&step->aggregates, i);
        if (!aggregate->distinct || aggregate->filter >= 0
            || aggregate->column != (int)step->keys)
            return false;
    }
    return step->aggregates.count > 0;
}

/* The step that makes the pairs. */
static struct step_group pairs_step(const struct step_group *step)
{
    return (struct step_group){ .keys = step->keys + 1,
                                .aggregates = VECTOR(struct step_aggregate) };
}

bool device_pairs_can(const struct device_group_params *params,
                      uint64_t rows_most)
{
    struct step_group step = pairs_step(params->step);
    struct device_group_params first = *params;
    first.step = &step;
    return all_count_once(params->step) && params->column_count >= step.keys
           && rows_most <= UINT32_MAX
           && device_places(params->columns, NULL, step.keys, rows_most, NULL)
                  <= params->room
           && device_group_can(&first);
}

/* Groups the stream's rows by keys and value; the groups stay. */
static enum vdbq_status make_pairs(struct device_pairs *pairs,
                                   const struct device_group_params *params,
                                   struct stream *stream, struct error *error)
{
    struct device_group_params first = *params;
    struct run_place place = *stream_place(stream);
    struct device_group *group;
    bool kept = false;
    first.step = &pairs->by_value;
    first.groups_expected = 0; /* nobody knows how many pairs there are */
    place.resident = NULL;     /* they are gone before anything else comes */
    enum vdbq_status status = device_group_create(&first, &group, error);
    if (status != VDBQ_OK)
        return status;
    stream_sink(stream, device_group_sink(group));
    status = stream_drain(stream, error);
    if (status == VDBQ_OK)
        status = device_group_end(group, error);
    if (status == VDBQ_OK && device_group_count(group) > 0)
        status = device_group_keep(group, &place, params->inputs, NULL,
                                   &pairs->rows, &kept, error);
    if (status == VDBQ_OK && device_group_count(group) > 0 && !kept)
        status = error_set(error, VDBQ_LIMIT,
                           "the device has no room for %llu pairs of groups "
                           "and values that count once",
                           (unsigned long long)device_group_count(group));
    pairs->times = *device_group_times(group);
    device_group_destroy(group);
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
        struct step_aggregate aggregate =
            VECTOR_ITEMS(&step->aggregates, struct step_aggregate)[i];
        aggregate.distinct = false;
        if (!vector_append(&pairs->by_keys.aggregates, &aggregate, 1))
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

enum vdbq_status device_pairs_take(struct device_pairs *pairs,
                                   const struct device_group_params *params,
                                   struct stream *stream, struct error *error)
{
    *pairs = (struct device_pairs){ .by_value = pairs_step(params->step) };
    enum vdbq_status status = copy_aggregates(pairs, params->step, error);
    if (status == VDBQ_OK)
        status = make_pairs(pairs, params, stream, error);
    pairs->params = *params;
    pairs->params.step = &pairs->by_keys;
    pairs->params.column_count = pairs->by_value.keys;
    pairs->params.rows = pairs->rows.store.rows;
    pairs->params.rows_expected = (double)pairs->rows.store.rows;
    return status;
}

void device_pairs_finish(struct device_pairs *pairs)
{
    vector_finish(&pairs->by_keys.aggregates);
    device_rows_finish(&pairs->rows);
    *pairs = (struct device_pairs){ 0 };
}
