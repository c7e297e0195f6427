/* SPDX-License-Identifier: MIT */
/*
 * The way in: inputs, control block, and progress as it starts. All that the
 * host moves lies in pinned memory; nothing is moved twice, and only what
 * changed of the control block.
 */
#include "exec/launch/launch_in.h"

#include <assert.h>
#include <string.h>

#include "base/account.h"
#include "base/threads/parallel.h"
#include "cl/tablet.h"
#include "device/kind.h"
#include "exec/launch/column_input.h"

/* Bytes of a control block that are sent sooner than told apart: a command to
 * copy takes as long. */
enum { SENT_WHOLE_MAX = 64 << 10 };
/* Bytes of staging memory at most that kernels may reach where it is: what is larger is
 * copied as fast. */
enum { ZERO_COPY_MAX = 256 << 10 };

/* ------------------------------------------------------------- staging -- */

/* Offsets in `staging`, the host's side of small things: what `control` is on
 * the device, that is the control block and then progress, with what follows
 * it, as it starts; and progress as it ended. Where kernels may use what the host
 * holds, `control` is `staging` itself. */
static u64 progress_bytes(u64 steps)
{
    return sizeof(struct progress) + steps * sizeof(struct descriptor);
}

unsigned launch_steps(const struct launch *launch)
{
    return control_head(launch->head)->steps;
}

/* What of it a launch needs to be 0: a dense machine that writes rows reads the
 * states of its steps; the descriptors of others are only written. */
static u64 progress_in_bytes(const struct launch *launch)
{
    bool states = launch->result.dense && launch->groups == NULL;
    return sizeof(struct progress)
           + (states ? launch_steps(launch) * sizeof(u32) : 0);
}

u64 launch_progress_bytes(const struct launch *launch)
{
    return progress_bytes(launch->result.dense ? 0 : launch_steps(launch));
}

u64 launch_progress_start(const struct launch *launch)
{
    return TABLET_ALIGNED(launch->params->control->fixed_size
                          + launch->order_codes_room);
}

static u64 progress_at(const struct launch *launch)
{
    assert(launch->steps_room > 0);
    return launch_progress_start(launch)
           + TABLET_ALIGNED(progress_bytes(launch->steps_room));
}

/* The byte of the pinned staging memory at `offset`. */
static u8 *staging(const struct launch *launch, u64 offset)
{
    return (u8 *)device_memory_host(launch->staging) + offset;
}

struct progress *launch_progress(const struct launch *launch)
{
    assert(launch->steps_room > 0);
    return (struct progress *)(void *)staging(launch, progress_at(launch));
}

void launch_room_finish(struct launch *launch)
{
    if (launch->control != launch->staging)
        device_memory_release(launch->control);
    device_memory_release(launch->staging);
    account_process_give(launch->held_bytes);
    launch->staging = launch->control = NULL;
    launch->held_bytes = 0;
}

/* Whether launches have tables of own words, be these empty. */
static bool has_own_tables(const struct control *control)
{
    for (unsigned i = 0; i < control->lookup_count; i++)
        if (control->lookups[i].own > 0)
            return true;
    return false;
}

/* Bytes of the order codes and own words of a launch's morsels, at most. */
static u64 order_codes_bytes(const struct launch *launch,
                             const struct launcher_request *request)
{
    const struct control *control = launch->params->control;
    bool own = has_own_tables(control);
    u64 size = 0;
    for (unsigned i = 0; i < request->count; i++)
        if (own || request->morsels[i].order_codes != NULL)
            size += control->order_codes_size;
    return size;
}

/* Writes so many bytes of progress as it starts. */
static void begin_progress(const struct launch *launch, u64 size)
{
    assert(size >= sizeof(struct progress));
    u8 *start = staging(launch, launch_progress_start(launch));
    memset(start, 0, size);
    ((struct progress *)(void *)start)->fault = NO_FAULT;
}

/* Makes memory on both sides for so many steps. */
static enum vdbq_status make_room(struct launch *launch, unsigned steps,
                                  struct error *error)
{
    struct device *device = launch->params->device;
    launch->steps_room = steps;
    u64 bytes = progress_at(launch) + progress_bytes(steps);
    bool reached = bytes <= ZERO_COPY_MAX && device_zero_copies(device);
    enum vdbq_status status =
        device_memory_create(device, reached ? MEMORY_ZERO_COPY : MEMORY_PINNED,
                             bytes, &launch->staging, error);
    if (status != VDBQ_OK)
        return status;
    launch->held_bytes = device_memory_size(launch->staging);
    if (device_facts(device)->kind->kernels_use_held) {
        launch->control = launch->staging;
        return VDBQ_OK;
    }
    status = device_memory_create(device, MEMORY_DEVICE,
                                  launch_progress_start(launch)
                                      + progress_bytes(steps),
                                  &launch->control, error);
    if (status == VDBQ_OK)
        launch->held_bytes += device_memory_size(launch->control);
    return status;
}

enum vdbq_status launch_room(struct launch *launch,
                             const struct launcher_request *request,
                             struct error *error)
{
    unsigned steps = launch_steps(launch);
    u64 order_codes = order_codes_bytes(launch, request);
    if (launch->steps_room >= steps && launch->order_codes_room >= order_codes)
        return VDBQ_OK;
    steps = steps > launch->steps_room ? steps : launch->steps_room;
    if (order_codes > launch->order_codes_room)
        launch->order_codes_room = order_codes;
    launch_room_finish(launch);
    launch->control_sent = false;
    enum vdbq_status status = make_room(launch, steps, error);
    account_process_take(launch->held_bytes);
    if (status != VDBQ_OK) {
        launch->steps_room = 0;
        return status;
    }
    begin_progress(launch, progress_bytes(steps));
    return VDBQ_OK;
}

/* --------------------------------------------------------------- inputs -- */

/* Whether bytes follow those of a copy on both sides, up to padding: then one
 * transfer does for both. */
static bool joins(const struct device_copy *last,
                  const struct device_copy *next)
{
    u64 here = TABLET_ALIGNED(last->size);
    return last->memory == next->memory && last->from == next->from
           && last->offset + here == next->offset
           && (u8 *)last->bytes + here == (u8 *)next->bytes;
}

/* Adds a copy into the device, and joins it to the last one where both sides
   lie next to it. */
static enum vdbq_status add_copy(struct launch *launch,
                                 const struct device_copy *copy,
                                 struct error *error)
{
    struct device_copy *last =
        launch->copies.count > 0
            ? vector_at(&launch->copies, launch->copies.count - 1)
            : NULL;
    if (copy->size == 0)
        return VDBQ_OK;
    if (last != NULL && joins(last, copy)) {
        last->size = TABLET_ALIGNED(last->size) + copy->size;
        return VDBQ_OK;
    }
    return vector_append(&launch->copies, copy, 1) ? VDBQ_OK
                                                   : error_no_memory(error);
}

/* Adds one of bytes of a morsel to where its inputs lie. */
static enum vdbq_status add_input(struct launch *launch, u64 offset,
                                  void *bytes, u64 size, struct error *error)
{
    return add_copy(launch,
                    &(struct device_copy){ .memory = launch->data,
                                           .offset = offset,
                                           .bytes = bytes,
                                           .size = size },
                    error);
}

/* Adds one of staged bytes to the same place of the control block. */
static enum vdbq_status add_staged(struct launch *launch, u64 offset, u64 size,
                                   struct error *error)
{
    return add_copy(launch,
                    &(struct device_copy){ .memory = launch->control,
                                           .offset = offset,
                                           .bytes = staging(launch, offset),
                                           .size = size,
                                           .from = launch->staging },
                    error);
}

/* Where the inputs of a morsel go on the device, from `*end` on. */
static void place_inputs(const struct launch *launch,
                         const struct launcher_morsel *morsel,
                         struct column_input *inputs, u64 *end)
{
    u64 at = *end;
    for (unsigned i = 0; i < launch->params->pack->input_count; i++) {
        const struct column_input *from = &morsel->inputs[i];
        inputs[i] = *from;
        inputs[i].values = at;
        at = TABLET_ALIGNED(at + column_input_value_bytes(from, morsel->rows));
        if (column_input_null_bytes(from, morsel->rows) > 0)
            inputs[i].nulls = at;
        at = TABLET_ALIGNED(at + column_input_null_bytes(from, morsel->rows));
    }
    *end = at;
}

/* Copies the inputs of a morsel to their places on the device. */
static enum vdbq_status copy_inputs(struct launch *launch,
                                    const struct launcher_morsel *morsel,
                                    const struct column_input *inputs,
                                    struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned count = launch->params->pack->input_count;
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        const struct column_input *from = &morsel->inputs[i];
        status =
            add_input(launch, inputs[i].values, morsel->host + from->values,
                      column_input_value_bytes(from, morsel->rows), error);
        if (status == VDBQ_OK)
            status =
                add_input(launch, inputs[i].nulls, morsel->host + from->nulls,
                          column_input_null_bytes(from, morsel->rows), error);
    }
    return status;
}

/* Makes sure that the device has room for `size` bytes of inputs. */
static enum vdbq_status data_room(struct launch *launch, u64 size,
                                  struct error *error)
{
    if (launch->data && device_memory_size(launch->data) >= size)
        return VDBQ_OK;
    device_memory_release(launch->data);
    launch->data = NULL;
    return device_memory_create(launch->params->device, MEMORY_DEVICE, size,
                                &launch->data, error);
}

/* Names the places of inputs that the device has, or is about to get. */
static enum vdbq_status inputs_there(struct launch *launch,
                                     const struct launcher_request *request,
                                     struct error *error)
{
    const struct launch_params *params = launch->params;
    enum vdbq_status status = VDBQ_OK;
    if (request->copy_count > 0
        && !vector_append(&launch->copies, request->copies,
                          request->copy_count))
        return error_no_memory(error);
    for (unsigned i = 0; i < request->count && status == VDBQ_OK; i++) {
        const struct launcher_morsel *morsel = &request->morsels[i];
        memcpy(control_inputs(launch->head, i), morsel->inputs,
               params->pack->input_count * sizeof *morsel->inputs);
        if (morsel->data != NULL)
            status = device_memory_give(morsel->data, params->times, error);
    }
    return status;
}

/* Brings the inputs to the device. */
static enum vdbq_status inputs_bring(struct launch *launch,
                                     const struct launcher_request *request,
                                     struct error *error)
{
    u64 end = TABLET_ALIGN; /* 0 means that there are no NULLs */
    for (unsigned i = 0; i < request->count; i++)
        place_inputs(launch, &request->morsels[i],
                     control_inputs(launch->head, i), &end);
    enum vdbq_status status = data_room(launch, end, error);
    for (unsigned i = 0; i < request->count && status == VDBQ_OK; i++)
        status = copy_inputs(launch, &request->morsels[i],
                             control_inputs(launch->head, i), error);
    return status;
}

enum vdbq_status launch_inputs_in(struct launch *launch,
                                  const struct launcher_request *request,
                                  struct error *error)
{
    assert(request->count > 0 && request->count <= LAUNCH_MORSELS);
    launch->copies.count = 0;
    return request->morsels[0].host != NULL
               ? inputs_bring(launch, request, error)
               : inputs_there(launch, request, error);
}

/* ------------------------------------------------------------- control -- */

/* Whether a launch's morsels have the order codes that the last one's had. */
static bool same_order_codes(const struct launch *launch,
                             const struct launcher_request *request)
{
    for (unsigned i = 0; i < LAUNCH_MORSELS; i++)
        if (launch->order_codes[i]
            != (i < request->count ? request->morsels[i].order_codes : NULL))
            return false;
    return launch->control_sent;
}

/* Words of an input's own that the morsels before one have. */
static u32 own_before(const struct launch *launch, unsigned morsel,
                      unsigned input)
{
    u32 before = 0;
    for (unsigned i = 0; i < morsel; i++)
        if (launch->order_codes[i][input].order_codes == NULL)
            before += launch->order_codes[i][input].count;
    return before;
}

/* Puts the order codes of a morsel's inputs behind `at`, and where they are
 * into the inputs; `there`: they are there from the last time. */
static u64 morsel_order_codes(struct launch *launch, unsigned morsel, u64 at,
                              bool there)
{
    struct column_input *inputs = control_inputs(launch->head, morsel);
    const struct order_codes *order_codes = launch->order_codes[morsel];
    for (unsigned i = 0;
         order_codes != NULL && i < launch->params->pack->input_count; i++) {
        if (there)
            inputs[i].order_codes =
                control_inputs(staging(launch, 0), morsel)[i].order_codes;
        else
            at = control_order_codes(staging(launch, 0), at, &order_codes[i],
                                     own_before(launch, morsel, i), &inputs[i]);
    }
    return at;
}

/* The same of the tables of own words. */
static u64 own_tables(struct launch *launch, u64 at, bool there)
{
    const struct control *control = launch->params->control;
    if (!there)
        return control_own_tables(control, staging(launch, 0), at,
                                  launch->order_codes, launch->head);
    memcpy(control_lookups(launch->head), control_lookups(staging(launch, 0)),
           control->lookup_count * sizeof(u64));
    return at;
}

/* Puts the order codes of this start's inputs behind all else that is sent;
 * whether they are other ones than last time. */
static bool put_order_codes(struct launch *launch,
                            const struct launcher_request *request)
{
    u64 at = launch->params->control->fixed_size, end = at;
    bool same = same_order_codes(launch, request);
    for (unsigned i = 0; i < LAUNCH_MORSELS; i++) {
        launch->order_codes[i] =
            i < request->count ? request->morsels[i].order_codes : NULL;
        end = morsel_order_codes(launch, i, end, same);
    }
    end = own_tables(launch, end, same);
    assert(same || end - at <= launch->order_codes_room);
    if (!same)
        launch->order_codes_end = end;
    return !same && end > at;
}

/* Puts this start's control block into staging; the bytes of it that the
 * device does not have yet. */
static u64 stage_control(struct launch *launch,
                         const struct launcher_request *request)
{
    const struct control *control = launch->params->control;
    u8 *sent = staging(launch, 0);
    bool others = put_order_codes(launch, request),
         first = !launch->control_sent;
    if (first)
        parallel_copy(sent, control->bytes, control->fixed_size);
    if (!first && !others
        && memcmp(sent, launch->head, control->head_size) == 0)
        return 0;
    memcpy(sent, launch->head, control->head_size);
    launch->control_sent = true;
    if (others)
        return launch->order_codes_end;
    return first ? control->fixed_size : control->head_size;
}

enum vdbq_status launch_control_in(struct launch *launch,
                                   const struct launcher_request *request,
                                   struct error *error)
{
    u64 changed = stage_control(launch, request);
    u64 at = launch_progress_start(launch);
    if (launch->control == launch->staging) {
        begin_progress(launch, progress_in_bytes(launch));
        return VDBQ_OK;
    }
    if (at <= SENT_WHOLE_MAX)
        return add_staged(launch, 0, at + progress_in_bytes(launch), error);
    enum vdbq_status status = add_staged(launch, 0, changed, error);
    if (status == VDBQ_OK)
        status = add_staged(launch, at, progress_in_bytes(launch), error);
    return status;
}
