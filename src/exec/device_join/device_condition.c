/* SPDX-License-Identifier: MIT */
/*
 * Conditions of joins on a device: see device_condition.h.
 */
#include "exec/device_join/device_condition.h"

#include <assert.h>

#include "base/threads/stop.h"
#include "exec/join/condition.h"

enum vdbq_status
device_condition_init(struct device_condition *condition,
                      const struct device_condition_params *params,
                      struct error *error)
{
    *condition = (struct device_condition){ .column = { .type = VDBQ_BIGINT } };
    enum vdbq_status status =
        condition_program(params->program, &condition->program, error);
    if (status == VDBQ_OK)
        status =
            device_store_init(&condition->kept, params->place->device,
                              &condition->column, 1, &condition->times, error);
    if (status == VDBQ_OK)
        status = host_morsels_init(
            &condition->morsels,
            &(struct host_morsels_params){ .stream = params->stream,
                                           .place = params->place,
                                           .program = &condition->program,
                                           .dictionaries = params->dictionaries,
                                           .rows = params->pairs },
            error);
    if (status == VDBQ_OK)
        launcher_sink(condition->morsels.launcher, &condition->kept.sink);
    return status;
}

void device_condition_finish(struct device_condition *condition)
{
    host_morsels_finish(&condition->morsels);
    device_store_finish(&condition->kept);
    program_finish(&condition->program);
    *condition = (struct device_condition){ 0 };
}

void device_condition_stop(struct device_condition *condition)
{
    host_morsels_finish(&condition->morsels);
}

bool device_condition_reads(const struct device_condition *condition,
                            unsigned column)
{
    const struct host_morsels *morsels = &condition->morsels;
    for (unsigned i = 0; i < morsels->pack->input_count; i++)
        if (morsels->inputs[i].column == (int)column)
            return true;
    return false;
}

/* Launches over pairs: how many each has, and how far they are. */
struct asking {
    const struct sink_rows *pairs; /* all of them */
    uint64_t share;                /* pairs of each launch but the last */
    uint64_t started;              /* pairs                             */
    uint64_t ended;                /* launches                          */
};

/* Starts launches while there is room. */
static enum vdbq_status start_launches(struct device_condition *condition,
                                       struct asking *asking,
                                       struct error *error)
{
    struct host_morsels *morsels = &condition->morsels;
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && asking->started < asking->pairs->count
           && host_morsels_have_room(morsels)) {
        uint64_t left = asking->pairs->count - asking->started;
        uint64_t some = left < asking->share ? left : asking->share;
        status = host_morsels_start_rows(morsels, asking->pairs,
                                         asking->started, some, error);
        asking->started += some;
    }
    return status;
}

/* Waits for the oldest launch. One that fails is told of once it has ended. */
static enum vdbq_status end_launch(struct device_condition *condition,
                                   struct asking *asking, struct error *error)
{
    struct vdbq_batch none;
    enum vdbq_status status =
        host_morsels_batch(&condition->morsels, &none, error);
    assert(status != VDBQ_OK || none.rows == 0);
    asking->ended += status == VDBQ_OK;
    return status;
}

enum vdbq_status device_condition_run(struct device_condition *condition,
                                      const struct sink_rows *pairs,
                                      uint64_t *number, uint64_t *judged,
                                      struct error *error)
{
    struct host_morsels *morsels = &condition->morsels;
    struct asking asking = { .pairs = pairs,
                             .share = launcher_rows_max(morsels->launcher) };
    assert(pairs->count > 0 && host_morsels_in_flight(morsels) == 0);
    condition->kept.rows = 0;
    *number = morsels->rows_started;
    *judged = pairs->count;
    enum vdbq_status status =
        device_store_room(&condition->kept, pairs->count, error);
    if (status == VDBQ_OK)
        status = start_launches(condition, &asking, error);
    while (status == VDBQ_OK && host_morsels_in_flight(morsels) > 0) {
        status = end_launch(condition, &asking, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
        if (status == VDBQ_OK)
            status = start_launches(condition, &asking, error);
    }
    if (status == VDBQ_RANGE)
        *judged = (asking.ended - 1) * asking.share
                  + launcher_rows_before(morsels->launcher);
    return status;
}
