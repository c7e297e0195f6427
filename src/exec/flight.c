/* SPDX-License-Identifier: MIT */
/*
 * One launch: control block and feeds in, kernel, progress and rows out. All
 * that the host moves lies in pinned memory; nothing is moved twice, and only
 * what changed of the control block.
 */
#include "exec/flight.h"

#include <string.h>

#include "base/team.h"
#include "cl/tablet.h"
#include "exec/feed.h"
#include "exec/narrow.h"

/* Rows of a launch from which on the host's threads help to widen what comes
 * of it. */
enum { TEAM_ROWS_MIN = 1 << 18 };
/* Bytes of a control block that are sent sooner than told apart: a command to
 * copy takes as long. */
enum { SENT_WHOLE_MAX = 64 << 10 };

enum vdbq_status flight_init(struct flight *flight,
                             const struct flight_params *params,
                             struct arena *arena, struct error *error)
{
    *flight = (struct flight){ .params = params,
                               .copies = VECTOR(struct device_copy) };
    flight->head = arena_alloc(arena, params->control->head_size);
    if (flight->head == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        result_init(&flight->result,
                    &(struct result_params){ .device = params->device,
                                             .program = params->program,
                                             .mapped = params->mapped },
                    error);
    if (status == VDBQ_OK)
        status = device_job_create(params->device, &flight->job, error);
    return status;
}

void flight_finish(struct flight *flight)
{
    device_job_destroy(flight->job);
    result_finish(&flight->result);
    device_memory_release(flight->data);
    device_memory_release(flight->staging);
    device_memory_release(flight->control);
    vector_finish(&flight->copies);
}

/* ------------------------------------------------------------- staging -- */

/* Offsets in `staging`, the host's side of small things: what `control` is on
 * the device, that is the control block and then progress, with what follows
 * it, as it starts; and progress as it ended. */
static u64 progress_bytes(u64 steps)
{
    return sizeof(struct progress) + steps * sizeof(struct descriptor);
}

static unsigned steps_of(const struct flight *flight)
{
    return control_launch(flight->head)->steps;
}

/* What of it a launch needs to be 0: a dense machine reads the states of its
 * steps; the descriptors of others are only written. */
static u64 progress_in_bytes(const struct flight *flight)
{
    return sizeof(struct progress) +
           (flight->result.dense ? steps_of(flight) * sizeof(u32) : 0);
}

/* What of it comes back. */
static u64 progress_out_bytes(const struct flight *flight)
{
    return progress_bytes(flight->result.dense ? 0 : steps_of(flight));
}

static u64 progress_start_at(const struct flight *flight)
{
    return TABLET_ALIGNED(flight->params->control->size);
}

static u64 progress_at(const struct flight *flight)
{
    return progress_start_at(flight) +
           TABLET_ALIGNED(progress_bytes(flight->steps_room));
}

static u8 *staging(const struct flight *flight, u64 offset)
{
    return (u8 *)device_memory_host(flight->staging) + offset;
}

static struct progress *progress(const struct flight *flight)
{
    return (struct progress *)(void *)staging(flight, progress_at(flight));
}

/* Makes room for the control block, and for what `steps` steps say. */
static enum vdbq_status control_room(struct flight *flight, unsigned steps,
                                      struct error *error)
{
    struct device *device = flight->params->device;
    if (flight->steps_room >= steps)
        return VDBQ_OK;
    device_memory_release(flight->staging);
    device_memory_release(flight->control);
    flight->staging = flight->control = NULL;
    flight->control_sent = false;
    flight->steps_room = steps;
    enum vdbq_status status = device_memory_create(
        device, MEMORY_PINNED, progress_at(flight) + progress_bytes(steps),
        &flight->staging, error);
    if (status == VDBQ_OK)
        status = device_memory_create(
            device, MEMORY_DEVICE,
            progress_start_at(flight) + progress_bytes(steps),
            &flight->control, error);
    if (status != VDBQ_OK) {
        flight->steps_room = 0;
        return status;
    }
    u8 *start = staging(flight, progress_start_at(flight));
    memset(start, 0, progress_bytes(steps));
    ((struct progress *)(void *)start)->fault = NO_FAULT;
    return VDBQ_OK;
}

/* --------------------------------------------------------------- feeds -- */

/* Whether bytes follow those of a copy on both sides, up to padding: then one
 * transfer does for both. */
static bool joins(const struct device_copy *last,
                  const struct device_copy *next)
{
    u64 here = TABLET_ALIGNED(last->size);
    return last->memory == next->memory &&
           last->offset + here == next->offset &&
           (u8 *)last->bytes + here == (u8 *)next->bytes;
}

static enum vdbq_status add_copy(struct flight *flight,
                                 struct device_memory *memory, u64 offset,
                                 void *bytes, u64 size, struct error *error)
{
    struct device_copy copy = {
        .memory = memory, .offset = offset, .bytes = bytes, .size = size
    };
    struct device_copy *last =
        flight->copies.count > 0
            ? vector_at(&flight->copies, flight->copies.count - 1)
            : NULL;
    if (size == 0)
        return VDBQ_OK;
    if (last != NULL && joins(last, &copy)) {
        last->size = TABLET_ALIGNED(last->size) + size;
        return VDBQ_OK;
    }
    return vector_append(&flight->copies, &copy, 1) ? VDBQ_OK
                                                    : error_no_memory(error);
}

/* Where the feeds of a piece go on the device, from `*end` on. */
static void place_feeds(const struct flight *flight,
                        const struct runner_piece *piece, struct feed *feeds,
                        u64 *end)
{
    u64 at = *end;
    for (unsigned i = 0; i < flight->params->pack->feed_count; i++) {
        const struct feed *from = &piece->feeds[i];
        feeds[i] = *from;
        feeds[i].values = at;
        at = TABLET_ALIGNED(at + feed_value_bytes(from, piece->rows));
        if (feed_null_bytes(from, piece->rows) > 0)
            feeds[i].nulls = at;
        at = TABLET_ALIGNED(at + feed_null_bytes(from, piece->rows));
    }
    *end = at;
}

/* Copies the feeds of a piece to their places on the device. */
static enum vdbq_status copy_feeds(struct flight *flight,
                                   const struct runner_piece *piece,
                                   const struct feed *feeds,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned count = flight->params->pack->feed_count;
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        const struct feed *from = &piece->feeds[i];
        status = add_copy(flight, flight->data, feeds[i].values,
                          piece->host + from->values,
                          feed_value_bytes(from, piece->rows), error);
        if (status == VDBQ_OK)
            status = add_copy(flight, flight->data, feeds[i].nulls,
                              piece->host + from->nulls,
                              feed_null_bytes(from, piece->rows), error);
    }
    return status;
}

/* Makes sure that the device has room for `size` bytes of feeds. */
static enum vdbq_status data_room(struct flight *flight, u64 size,
                                  struct error *error)
{
    if (flight->data && device_memory_size(flight->data) >= size)
        return VDBQ_OK;
    device_memory_release(flight->data);
    flight->data = NULL;
    return device_memory_create(flight->params->device, MEMORY_DEVICE, size,
                                &flight->data, error);
}

/* Names the places of feeds that the device has, or is about to get. */
static enum vdbq_status feeds_there(struct flight *flight,
                                    const struct runner_input *input,
                                    struct error *error)
{
    const struct flight_params *params = flight->params;
    enum vdbq_status status = VDBQ_OK;
    if (input->copy_count > 0 &&
        !vector_append(&flight->copies, input->copies, input->copy_count))
        return error_no_memory(error);
    for (unsigned i = 0; i < input->count && status == VDBQ_OK; i++) {
        const struct runner_piece *piece = &input->pieces[i];
        memcpy(control_feeds(flight->head, i), piece->feeds,
               params->pack->feed_count * sizeof *piece->feeds);
        if (piece->data != NULL)
            status = device_memory_give(piece->data, params->times, error);
    }
    return status;
}

/* Brings the feeds to the device. */
static enum vdbq_status feeds_in(struct flight *flight,
                                 const struct runner_input *input,
                                 struct error *error)
{
    u64 end = TABLET_ALIGN; /* 0 means that there are no NULLs */
    for (unsigned i = 0; i < input->count; i++)
        place_feeds(flight, &input->pieces[i], control_feeds(flight->head, i),
                    &end);
    enum vdbq_status status = data_room(flight, end, error);
    for (unsigned i = 0; i < input->count && status == VDBQ_OK; i++)
        status = copy_feeds(flight, &input->pieces[i],
                            control_feeds(flight->head, i), error);
    return status;
}

/* --------------------------------------------------------------- start -- */

/* Whether a launch's pieces have the ranks that the last one's had. */
static bool same_ranks(const struct flight *flight,
                       const struct runner_input *input)
{
    for (unsigned i = 0; i < LAUNCH_PIECES; i++)
        if (flight->ranks[i]
            != (i < input->count ? input->pieces[i].ranks : NULL))
            return false;
    return flight->control_sent;
}

/* Puts the ranks of a piece's feeds behind `at`, and where they are into the
 * feeds; `there`: they are there from the last time. */
static u64 piece_ranks(struct flight *flight, unsigned piece, u64 at,
                       bool there)
{
    struct feed *feeds = control_feeds(flight->head, piece);
    const struct run_ranks *ranks = flight->ranks[piece];
    for (unsigned i = 0;
         ranks != NULL && i < flight->params->pack->feed_count; i++) {
        if (there)
            feeds[i].ranks =
                control_feeds(staging(flight, 0), piece)[i].ranks;
        else
            at = control_ranks(staging(flight, 0), at, &ranks[i], &feeds[i]);
    }
    return at;
}

/* Puts the ranks of this start's feeds behind all else that is sent; whether
 * they are other ones than last time. */
static bool put_ranks(struct flight *flight, const struct runner_input *input)
{
    u64 at = flight->params->control->fixed_size, end = at;
    bool same = same_ranks(flight, input);
    for (unsigned i = 0; i < LAUNCH_PIECES; i++) {
        flight->ranks[i] = i < input->count ? input->pieces[i].ranks : NULL;
        end = piece_ranks(flight, i, end, same);
    }
    if (!same)
        flight->ranks_end = end;
    return !same && end > at;
}

/* Puts this start's control block into staging; the bytes of it that the
 * device does not have yet. */
static u64 stage_control(struct flight *flight,
                         const struct runner_input *input)
{
    const struct control *control = flight->params->control;
    u8 *sent = staging(flight, 0);
    bool others = put_ranks(flight, input), first = !flight->control_sent;
    if (first)
        memcpy(sent, control->bytes, control->fixed_size);
    if (!first && !others &&
        memcmp(sent, flight->head, control->head_size) == 0)
        return 0;
    memcpy(sent, flight->head, control->head_size);
    flight->control_sent = true;
    if (others)
        return flight->ranks_end;
    return first ? control->fixed_size : control->head_size;
}

/* Sends what changed of the control block, and progress as it starts. Of a
 * small block all is sent, so that both go at once. */
static enum vdbq_status control_in(struct flight *flight,
                                   const struct runner_input *input,
                                   struct error *error)
{
    u64 changed = stage_control(flight, input);
    u64 at = progress_start_at(flight);
    if (at <= SENT_WHOLE_MAX)
        return add_copy(flight, flight->control, 0, staging(flight, 0),
                        at + progress_in_bytes(flight), error);
    enum vdbq_status status = add_copy(flight, flight->control, 0,
                                       staging(flight, 0), changed, error);
    if (status == VDBQ_OK)
        status = add_copy(flight, flight->control, at, staging(flight, at),
                          progress_in_bytes(flight), error);
    return status;
}

/* Steps that a group of a CPU walks: no more than the shape says, and such
 * that each core gets as many groups as any other. */
static u32 steps_of_group(const struct flight *flight,
                          struct machine_shape shape, u32 steps)
{
    unsigned cores = device_facts(flight->params->device)->cores;
    u32 groups = (steps + shape.steps_per_item - 1) / shape.steps_per_item;
    if (shape.dense || cores == 0 || groups <= 1)
        return shape.steps_per_item;
    groups = (groups + cores - 1) / cores * cores;
    return (steps + groups - 1) / groups;
}

/* Writes this start's head of the control block, but for feeds and outputs. */
static void make_head(struct flight *flight, struct machine_shape *shape,
                      const struct runner_input *input)
{
    const struct control *control = flight->params->control;
    memcpy(flight->head, control->bytes, control->head_size);
    struct launch *launch = control_launch(flight->head);
    flight->rows = 0;
    launch->cell_first = input->grid.first;
    memcpy(launch->axis_rows, input->grid.axis_rows, sizeof launch->axis_rows);
    for (unsigned i = 0; i < input->count; i++) {
        uint64_t rows = input->grid.cells > 0 ? input->grid.cells
                                              : input->pieces[i].rows;
        launch->piece_rows[i] = (u32)rows;
        launch->piece_first[i] = launch->steps;
        launch->steps +=
            (u32)((rows + shape->step_rows - 1) / shape->step_rows);
        flight->rows += rows;
    }
    for (unsigned i = input->count; i < LAUNCH_PIECES; i++)
        launch->piece_first[i] = NO_STEP;
    shape->steps_per_item = steps_of_group(flight, *shape, launch->steps);
    launch->steps_per_item = shape->steps_per_item;
    launch->any_order = flight->result.params.sink != NULL &&
                        flight->result.params.sink->any_order;
}

static enum vdbq_status job_start(struct flight *flight,
                                  struct device_machine *machine,
                                  const struct runner_input *input,
                                  struct error *error)
{
    struct device_job_params params = {
        .machine = machine,
        .in = VECTOR_ITEMS(&flight->copies, struct device_copy),
        .in_count = flight->copies.count,
        .launch = { .launch = control_launch(flight->head),
                    .control = flight->control,
                    .progress_at = progress_start_at(flight),
                    .inner = flight->params->inner,
                    .result = flight->result.written },
        .beside = flight->params->inner == NULL &&
                  flight->result.params.sink == NULL,
        .progress = progress(flight),
        .progress_size = progress_out_bytes(flight),
    };
    for (unsigned i = 0; i < input->count; i++)
        params.launch.pieces[i] = input->pieces[i].host != NULL
                                      ? flight->data
                                      : input->pieces[i].data;
    return device_job_start(flight->job, &params, error);
}

enum vdbq_status flight_start(struct flight *flight,
                              struct device_machine *machine,
                              const struct runner_input *input,
                              struct error *error)
{
    struct machine_shape shape = device_machine_shape(machine);
    bool narrow;
    flight->copies.count = 0;
    flight->machine = machine;
    make_head(flight, &shape, input);
    enum vdbq_status status =
        result_begin(&flight->result, shape, steps_of(flight),
                     flight->params->times, error);
    if (status == VDBQ_OK)
        status = control_room(flight, steps_of(flight), error);
    if (status != VDBQ_OK)
        return status;
    narrow = flight_foresees(flight) &&
             narrow_outputs(flight->params->pack, input,
                            flight->result.outputs);
    memcpy(control_outputs(flight->head), flight->result.outputs,
           control_launch(flight->head)->output_count * sizeof(struct output));
    status = input->pieces[0].host != NULL
                 ? feeds_in(flight, input, error)
                 : feeds_there(flight, input, error);
    if (status == VDBQ_OK)
        status = control_in(flight, input, error);
    if (status == VDBQ_OK)
        status = job_start(flight, machine, input, error);
    if (status == VDBQ_OK)
        flight->state = FLIGHT_STARTED;
    if (narrow && flight->rows >= TEAM_ROWS_MIN)
        team_wake(device_team(flight->params->device));
    return status;
}

/* ---------------------------------------------------------------- land -- */

/* The machine has run without a fault: sends the rows on their way. */
static enum vdbq_status collect(struct flight *flight, struct error *error)
{
    struct result *result = &flight->result;
    enum vdbq_status status =
        result_arrange(result, progress(flight), steps_of(flight), error);
    if (status == VDBQ_OK)
        status = device_job_collect(
            flight->job, VECTOR_ITEMS(&result->copies, struct device_copy),
            result->copies.count, error);
    if (status == VDBQ_OK)
        flight->state = FLIGHT_LEAVING;
    return status;
}

bool flight_foresees(const struct flight *flight)
{
    return flight->result.dense && result_leaves(&flight->result);
}

double flight_share(const struct flight *flight)
{
    return (double)progress(flight)->rows / (double)flight->rows;
}

/* Shares of neighbouring launches differ: so many rows more are sent. */
enum { SLACK_PART = 256, SLACK_ROWS = 1024 };

enum vdbq_status flight_foresee(struct flight *flight, double share,
                                struct error *error)
{
    struct result *result = &flight->result;
    uint64_t rows = (uint64_t)(share * (double)flight->rows);
    rows += rows / SLACK_PART + SLACK_ROWS;
    if (flight->state != FLIGHT_STARTED || result->foreseen > 0)
        return VDBQ_OK;
    enum vdbq_status status = result_foresee(
        result, rows < flight->rows ? rows : flight->rows, error);
    return status == VDBQ_OK
               ? device_job_collect(
                     flight->job,
                     VECTOR_ITEMS(&result->copies, struct device_copy),
                     result->copies.count, error)
               : status;
}

enum vdbq_status flight_hurry(struct flight *flight, bool wait,
                              struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (flight->state != FLIGHT_STARTED)
        return VDBQ_OK;
    if (wait)
        status = device_job_run(flight->job, error);
    else if (!device_job_has_run(flight->job))
        return VDBQ_OK;
    return status != VDBQ_OK || progress(flight)->fault != NO_FAULT
               ? status
               : collect(flight, error);
}

enum vdbq_status flight_land(struct flight *flight, struct error *error)
{
    struct device_times *times = flight->params->times;
    enum vdbq_status status = flight_hurry(flight, true, error);
    if (status == VDBQ_OK)
        status = device_job_wait(flight->job, times, error);
    if (status == VDBQ_OK && flight->state == FLIGHT_STARTED)
        return program_fault(flight->params->program,
                             (int)progress(flight)->fault, error);
    if (status == VDBQ_OK && flight->result.params.sink != NULL)
        status = result_sink(&flight->result, error);
    if (status == VDBQ_OK)
        status = result_land(&flight->result, times, error);
    if (status == VDBQ_OK)
        flight->state = FLIGHT_LANDED;
    return status;
}
