/* SPDX-License-Identifier: MIT */
/*
 * Grouping on a device: see device_group.h. Rows are only put into the queue;
 * the host waits where a hashed table may have become full, and at the end.
 */
#include "exec/device_group/device_group.h"

#include <assert.h>
#include <string.h>

#include "device/kernel.h"
#include "exec/device_group/device_group_inner.h"
#include "cl/sum.h"
#include "program/steps/group_sink.h"

static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *rows, struct error *error);
static enum vdbq_status sink_wait(struct sink *sink, struct error *error);

bool device_group_can(const struct device_group_params *params)
{
    struct device_group_shape shape;
    return device_has_kernels(params->device)
           && device_group_shape(params, &shape);
}

/* ---------------------------------------------------- create, destroy -- */

enum vdbq_status device_group_memory(struct device_group *group, uint64_t size,
                                     struct device_memory **made,
                                     struct error *error)
{
    return device_memory_create(group->params.device, MEMORY_DEVICE, size, made,
                                error);
}

/* Makes an empty table. */
static enum vdbq_status make_table(struct device_group *group,
                                   struct error *error)
{
    const struct group_control *control = &group->shape.control;
    uint64_t bytes = device_group_bytes(control);
    enum vdbq_status status =
        device_group_memory(group, bytes, &group->records, error);
    if (status == VDBQ_OK)
        status = device_fill(group->records, bytes, 0, error);
    if (status != VDBQ_OK || !control->hashed)
        return status;
    bytes = control->slots * control->parts * sizeof(u64);
    status = device_group_memory(group, bytes, &group->codes, error);
    return status == VDBQ_OK ? device_fill(group->codes, bytes, 0xff, error)
                             : status;
}

/* Bits of values that count once, all 0 at first. */
static enum vdbq_status make_bits(struct device_group *group,
                                  struct error *error)
{
    uint64_t bytes = (group->shape.bits + 31) / 32 * sizeof(u32);
    enum vdbq_status status = VDBQ_OK;
    if (bytes == 0)
        return VDBQ_OK;
    status = device_group_memory(group, bytes, &group->bits, error);
    return status == VDBQ_OK ? device_fill(group->bits, bytes, 0, error)
                             : status;
}

/* Notes which columns are needed. */
static enum vdbq_status make_reads(struct device_group *group,
                                   struct error *error)
{
    const struct vector *aggregates = &group->params.step->aggregates;
    bool *reads = memory_zeroed(group->params.column_count + 1, sizeof *reads);
    if (reads == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < group->params.step->keys; i++)
        reads[i] = true;
    for (unsigned i = 0; i < aggregates->count; i++) {
        const struct step_aggregate *step = vector_at(aggregates, i);
        if (step->column >= 0)
            reads[step->column] = true;
        if (step->filter >= 0)
            reads[step->filter] = true;
    }
    group->sink.reads = group->reads = reads;
    return VDBQ_OK;
}

/* Whether nothing hangs on which row is the first: of one group it is asked
 * for by FIRST alone. */
static bool any_order(const struct step_group *step)
{
    for (size_t i = 0; i < step->aggregates.count; i++)
        if (VECTOR_ITEMS(&step->aggregates, struct step_aggregate)[i].function
            == AGGREGATE_FIRST)
            return false;
    return step->keys == 0;
}

/* Lets a program add rows itself, where it can. */
static void offer(struct device_group *group)
{
    const struct device_group_params *params = &group->params;
    struct group_control *control = &group->shape.control;
    if (!device_group_offer(params, &group->shape, &group->groups))
        return;
    for (unsigned i = 0; i < control->aggregates; i++)
        control->aggregate[i].same = (u32)group_sink_same(params->step, i);
    group->groups.records = group->records;
    group->sink.groups = &group->groups;
}

enum vdbq_status device_group_create(const struct device_group_params *params,
                                     struct device_group **made,
                                     struct error *error)
{
    struct device_group *group = memory_zeroed(1, sizeof *group);
    enum vdbq_status status;

    *made = NULL;
    if (group == NULL)
        return error_no_memory(error);
    group->sink = (struct sink){ .any_order = any_order(params->step),
                                 .take = sink_take,
                                 .wait = sink_wait,
                                 .all_started = device_group_all_started };
    group->params = *params;
    device_group_shape(params, &group->shape);
    assert(device_group_can(params));
    status = make_reads(group, error);
    if (status == VDBQ_OK)
        status = device_group_memory(group, sizeof group->sent, &group->control,
                                     error);
    if (status == VDBQ_OK)
        status = device_group_memory(group, sizeof(struct group_state),
                                     &group->state, error);
    if (status == VDBQ_OK)
        status =
            device_fill(group->state, sizeof(struct group_state), 0, error);
    if (status == VDBQ_OK)
        status = make_table(group, error);
    if (status == VDBQ_OK)
        status = make_bits(group, error);
    if (status == VDBQ_OK)
        offer(group);
    if (status == VDBQ_OK)
        *made = group;
    else
        device_group_destroy(group);
    return status;
}

void device_group_destroy(struct device_group *group)
{
    struct error ignored;
    if (group == NULL)
        return;
    sink_wait(&group->sink, &ignored);
    device_memory_release(group->control);
    device_memory_release(group->records);
    device_memory_release(group->codes);
    device_memory_release(group->slots);
    device_memory_release(group->bits);
    device_memory_release(group->state);
    device_radix_finish(&group->listed);
    device_memory_release(group->out);
    device_memory_release(group->pinned);
    memory_release(group->small);
    memory_release(group->along);
    memory_release(group->reads);
    memory_release(group);
}

struct sink *device_group_sink(struct device_group *group)
{
    return &group->sink;
}

const char *device_group_text(const struct device_group *group)
{
    if (group->shape.control.parts > 1)
        return "hashed, wide keys";
    if (group->shape.control.hashed)
        return "hashed";
    return group->shape.control.copies > 0 ? "dense, in local memory" : "dense";
}

const struct device_times *device_group_times(const struct device_group *group)
{
    return &group->times;
}

/* ---------------------------------------------------------------- taking -- */

/* Where a column lies in this launch's rows; -1: there is none. */
static void place_column(const struct sink_rows *rows, int number,
                         struct group_column *column)
{
    if (number < 0)
        return;
    assert(rows->outputs != NULL);
    column->values = rows->outputs[number].values;
    column->nulls = rows->outputs[number].nulls;
}

/* Tells the device where the rows' columns are, unless it knows. */
static enum vdbq_status send_control(struct device_group *group,
                                     const struct sink_rows *rows,
                                     struct error *error)
{
    struct group_control *control = &group->shape.control;
    for (unsigned i = 0; i < control->keys; i++)
        place_column(rows, group->shape.key_columns[i],
                     &control->key[i].column);
    for (unsigned i = 0; i < control->aggregates; i++) {
        const struct step_aggregate *step = &group->shape.aggregates[i].step;
        place_column(rows, step->column, &control->aggregate[i].value);
        place_column(rows, step->filter, &control->aggregate[i].filter);
    }
    if (memcmp(control, &group->sent, sizeof *control) == 0)
        return VDBQ_OK;
    group->sent = *control;
    return device_write(group->control, 0, &group->sent, sizeof group->sent,
                        &group->times, error);
}

enum vdbq_status device_group_call(struct device_group *group,
                                   const struct device_call *call,
                                   struct error *error)
{
    return device_call(group->params.device, call, &group->times, error);
}

/* Runs a kernel over rows, with two memories of its own. */
static enum vdbq_status call_rows(struct device_group *group,
                                  const struct sink_rows *rows,
                                  enum device_kernel kernel,
                                  struct device_memory *const own[2],
                                  struct error *error)
{
    assert(rows->count > 0 && group->records != NULL);
    return device_group_call(
        group,
        &(struct device_call){
            .kernel = kernel,
            .memories = { group->control, rows->memory, group->records, own[0],
                          own[1], group->state },
            .memory_count = 6,
            .numbers = { rows->start, rows->count, group->rows },
            .number_count = 3,
            .items = rows->count },
        error);
}

/* Finds the slot of every row; new groups take free ones. */
static enum vdbq_status find(struct device_group *group,
                             const struct sink_rows *rows, struct error *error)
{
    bool local = group->shape.control.copies > 0;
    return call_rows(
        group, rows, local ? KERNEL_GROUP_FIND_LOCAL : KERNEL_GROUP_FIND,
        (struct device_memory *[]){ group->codes, group->slots }, error);
}

enum vdbq_status device_group_state(struct device_group *group,
                                    struct group_state *state,
                                    struct error *error)
{
    enum vdbq_status status = device_read(group->state, 0, state, sizeof *state,
                                          &group->times, error);
    return status == VDBQ_OK ? sink_wait(&group->sink, error) : status;
}

/* Moves the groups of a full table into one that is larger. */
static enum vdbq_status grow(struct device_group *group, struct error *error)
{
    struct group_control *control = &group->shape.control;
    struct device_memory *records = group->records, *codes = group->codes;
    uint64_t slots = control->slots;
    enum vdbq_status status;

    group->records = group->codes = NULL;
    control->slots = device_group_grown(group);
    if (control->slots > UINT32_MAX / 2)
        status = error_set(error, VDBQ_LIMIT, "too many groups");
    else
        status = make_table(group, error);
    if (status == VDBQ_OK)
        status =
            device_fill(group->state, sizeof(struct group_state), 0, error);
    group->sent = *control;
    if (status == VDBQ_OK)
        status = device_write(group->control, 0, &group->sent,
                              sizeof group->sent, &group->times, error);
    if (status == VDBQ_OK)
        status = device_group_call(
            group,
            &(struct device_call){ .kernel = KERNEL_GROUP_GROW,
                                   .memories = { group->control, records, codes,
                                                 group->records, group->codes,
                                                 group->state },
                                   .memory_count = 6,
                                   .numbers = { slots },
                                   .number_count = 1,
                                   .items = slots + 2 },
            error);
    if (status == VDBQ_OK)
        status = sink_wait(&group->sink, error);
    device_memory_release(records);
    device_memory_release(codes);
    return status;
}

/* Finds slots for all rows. A table that grows is probed no further than a
 * smaller one, which it is a quarter as full as. */
static enum vdbq_status find_slots(struct device_group *group,
                                   const struct sink_rows *rows,
                                   struct error *error)
{
    uint64_t bytes = rows->count * sizeof(u32);
    struct group_state state = { .full = 1 };
    enum vdbq_status status = VDBQ_OK;
    if (group->slots == NULL || device_memory_size(group->slots) < bytes) {
        device_memory_release(group->slots);
        group->slots = NULL;
        status = device_group_memory(group, bytes, &group->slots, error);
    }
    while (status == VDBQ_OK && state.full) {
        status = find(group, rows, error);
        if (status == VDBQ_OK)
            status = device_group_state(group, &state, error);
        if (status == VDBQ_OK && state.full)
            status = grow(group, error);
    }
    return status;
}

/* Raises the sums of all groups to the greatest exponent that came, and makes
 * room in them. */
static enum vdbq_status raise(struct device_group *group, struct error *error)
{
    assert(group->records != NULL);
    uint64_t slots = device_group_slots(&group->shape.control);
    return device_group_call(
        group,
        &(struct device_call){
            .kernel = KERNEL_GROUP_RAISE,
            .memories = { group->control, group->records, group->state },
            .memory_count = 3,
            .numbers = { slots },
            .number_count = 1,
            .items = slots },
        error);
}

/* Adds the rows to the records of their groups. */
static enum vdbq_status add(struct device_group *group,
                            const struct sink_rows *rows, struct error *error)
{
    bool local = group->shape.control.copies > 0;
    return call_rows(
        group, rows, local ? KERNEL_GROUP_ADD_LOCAL : KERNEL_GROUP_ADD,
        (struct device_memory *[]){ group->slots, group->bits }, error);
}

/* Takes so many rows as a sum has room for. */
static enum vdbq_status take(struct device_group *group,
                             const struct sink_rows *rows, struct error *error)
{
    assert(rows->count <= SUM_DIGITS_MAX && !group->ahead);
    const struct device_group_shape *shape = &group->shape;
    bool raises = shape->raises || group->added + rows->count > SUM_DIGITS_MAX;
    if (group->rows < rows->number)
        group->rows = rows->number;
    group->reported = true;
    enum vdbq_status status = send_control(group, rows, error);
    if (status == VDBQ_OK && shape->control.hashed)
        status = find_slots(group, rows, error);
    else if (status == VDBQ_OK && shape->finds)
        status = find(group, rows, error);
    if (status == VDBQ_OK && raises)
        status = raise(group, error);
    if (status == VDBQ_OK)
        status = add(group, rows, error);
    group->rows += rows->count;
    group->added = (raises ? 0 : group->added) + rows->count;
    return status;
}

static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *rows, struct error *error)
{
    struct sink_rows part = *rows;
    uint64_t left = rows->count;
    enum vdbq_status status = VDBQ_OK;
    for (; status == VDBQ_OK && left > 0; left -= part.count) {
        part.start = rows->start + (rows->count - left);
        part.count = left < SUM_DIGITS_MAX ? left : SUM_DIGITS_MAX;
        part.number = rows->number + (rows->count - left);
        status = take((struct device_group *)sink, &part, error);
    }
    return status;
}

static enum vdbq_status sink_wait(struct sink *sink, struct error *error)
{
    struct device_group *group = (struct device_group *)sink;
    return device_calls_wait(group->params.device, &group->times, error);
}
