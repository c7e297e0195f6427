/* SPDX-License-Identifier: MIT */
/*
 * One launch: control block and feeds in, kernel, counters and rows out. All
 * that the host moves lies in pinned memory; nothing is moved twice, and only
 * what changed of the control block.
 */
#include "exec/flight.h"

#include <string.h>

#include "cl/tablet.h"
#include "exec/feed.h"

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
    if (status == VDBQ_OK)
        status = device_memory_create(params->device, MEMORY_DEVICE,
                                      params->control->size, &flight->control,
                                      error);
    if (status == VDBQ_OK)
        status = device_memory_create(params->device, MEMORY_DEVICE,
                                      COUNTERS * sizeof(u32),
                                      &flight->counters, error);
    return status;
}

void flight_finish(struct flight *flight)
{
    device_job_destroy(flight->job);
    result_finish(&flight->result);
    device_memory_release(flight->data);
    device_memory_release(flight->staging);
    device_memory_release(flight->counters);
    device_memory_release(flight->control);
    vector_finish(&flight->copies);
}

/* ------------------------------------------------------------- staging -- */

/* Offsets in `staging`, the host's side of small things: the control block as
 * the device has it, the counters as they start, as they ended, and the
 * descriptors. */
static u64 counters_start_at(const struct flight *flight)
{
    return TABLET_ALIGNED(flight->params->control->size);
}

static u64 counters_at(const struct flight *flight)
{
    return counters_start_at(flight) + TABLET_ALIGN;
}

static u64 descriptors_at(const struct flight *flight)
{
    return counters_at(flight) + TABLET_ALIGN;
}

static u8 *staging(const struct flight *flight, u64 offset)
{
    return (u8 *)device_memory_host(flight->staging) + offset;
}

static u32 *counters(const struct flight *flight)
{
    return (u32 *)(void *)staging(flight, counters_at(flight));
}

/* Makes room for the descriptors of `steps` steps. */
static enum vdbq_status staging_room(struct flight *flight, unsigned steps,
                                     struct error *error)
{
    if (flight->staging != NULL && flight->staging_steps >= steps)
        return VDBQ_OK;
    device_memory_release(flight->staging);
    flight->staging = NULL;
    flight->control_sent = false;
    enum vdbq_status status = device_memory_create(
        flight->params->device, MEMORY_PINNED,
        descriptors_at(flight) + steps * sizeof(struct descriptor),
        &flight->staging, error);
    if (status != VDBQ_OK)
        return status;
    flight->staging_steps = steps;
    u32 *start = (u32 *)(void *)staging(flight, counters_start_at(flight));
    start[COUNTER_ROWS] = 0;
    start[COUNTER_FAULT] = NO_FAULT;
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

/* Where feed i goes on the device; sets `size` to what all take. */
static void place_feeds(const struct flight *flight,
                        const struct runner_input *input, struct feed *feeds,
                        u64 *size)
{
    u64 at = TABLET_ALIGN; /* 0 means that there are no NULLs */
    for (unsigned i = 0; i < flight->params->pack->feed_count; i++) {
        const struct feed *from = &input->feeds[i];
        feeds[i] = *from;
        feeds[i].values = at;
        at = TABLET_ALIGNED(at + feed_value_bytes(from, input->rows));
        if (feed_null_bytes(from, input->rows) > 0)
            feeds[i].nulls = at;
        at = TABLET_ALIGNED(at + feed_null_bytes(from, input->rows));
    }
    *size = at;
}

/* Copies one feed to its place on the device. */
static enum vdbq_status copy_feed(struct flight *flight,
                                  const struct runner_input *input,
                                  const struct feed *from,
                                  const struct feed *to, struct error *error)
{
    enum vdbq_status status =
        add_copy(flight, flight->data, to->values, input->host + from->values,
                 feed_value_bytes(from, input->rows), error);
    if (status == VDBQ_OK)
        status = add_copy(flight, flight->data, to->nulls,
                          input->host + from->nulls,
                          feed_null_bytes(from, input->rows), error);
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

/* Brings the feeds to the device, or names the place where they are. */
static enum vdbq_status feeds_in(struct flight *flight,
                                 const struct runner_input *input,
                                 struct error *error)
{
    const struct flight_params *params = flight->params;
    struct feed *feeds = control_feeds(flight->head);
    unsigned count = params->pack->feed_count;
    u64 size;
    enum vdbq_status status = VDBQ_OK;
    if (input->data != NULL || input->host == NULL) {
        memcpy(feeds, input->feeds, count * sizeof *feeds);
        if (input->copy_count > 0 &&
            !vector_append(&flight->copies, input->copies, input->copy_count))
            status = error_no_memory(error);
        if (status == VDBQ_OK && input->data != NULL)
            status = device_memory_give(input->data, params->times, error);
        return status;
    }
    place_feeds(flight, input, feeds, &size);
    status = data_room(flight, size, error);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++)
        status = copy_feed(flight, input, &input->feeds[i], &feeds[i], error);
    return status;
}

/* --------------------------------------------------------------- start -- */

/* Puts the ranks of this start's feeds behind all else that is sent, and
 * where they are into the feeds; whether they are other ones than last time. */
static bool put_ranks(struct flight *flight, const struct run_ranks *ranks)
{
    struct feed *feeds = control_feeds(flight->head);
    const struct feed *last = control_feeds(staging(flight, 0));
    unsigned count = flight->params->pack->feed_count;
    bool same = flight->control_sent && flight->ranks == ranks;
    u64 at = flight->params->control->fixed_size;
    for (unsigned i = 0; i < count && ranks != NULL; i++)
        if (same)
            feeds[i].ranks = last[i].ranks;
        else
            at = control_ranks(staging(flight, 0), at, &ranks[i], &feeds[i]);
    if (!same)
        flight->ranks_end = at;
    flight->ranks = ranks;
    return !same && ranks != NULL;
}

/* Sends what changed of the control block, and the counters. */
static enum vdbq_status control_in(struct flight *flight,
                                   const struct run_ranks *ranks,
                                   struct error *error)
{
    const struct control *control = flight->params->control;
    u8 *sent = staging(flight, 0);
    bool others = put_ranks(flight, ranks);
    u64 size = others                 ? flight->ranks_end
               : flight->control_sent ? control->head_size
                                      : control->fixed_size;
    enum vdbq_status status = VDBQ_OK;
    if (!flight->control_sent)
        memcpy(sent, control->bytes, control->fixed_size);
    if (!flight->control_sent || others ||
        memcmp(sent, flight->head, control->head_size) != 0) {
        memcpy(sent, flight->head, control->head_size);
        status = add_copy(flight, flight->control, 0, sent, size, error);
    }
    flight->control_sent = true;
    if (status == VDBQ_OK)
        status = add_copy(flight, flight->counters, 0,
                          staging(flight, counters_start_at(flight)),
                          COUNTERS * sizeof(u32), error);
    return status;
}

/* Writes this start's head of the control block, but for the feeds. */
static void make_head(struct flight *flight, struct machine_shape shape,
                      uint64_t rows)
{
    const struct flight_params *params = flight->params;
    memcpy(flight->head, params->control->bytes, params->control->head_size);
    struct launch *launch = control_launch(flight->head);
    launch->row_first = 0;
    launch->row_end = rows;
    launch->steps_per_item = shape.steps_per_item;
    memcpy(control_outputs(flight->head), flight->result.outputs,
           launch->output_count * sizeof(struct output));
}

static enum vdbq_status job_start(struct flight *flight,
                                  struct device_machine *machine,
                                  const struct runner_input *input,
                                  struct error *error)
{
    struct result *result = &flight->result;
    struct device_job_params params = {
        .machine = machine,
        .in = VECTOR_ITEMS(&flight->copies, struct device_copy),
        .in_count = flight->copies.count,
        .launch = { .launch = control_launch(flight->head),
                    .control = flight->control,
                    .data = input->data ? input->data : flight->data,
                    .result = result->written,
                    .descriptors = result->descriptors,
                    .counters = flight->counters },
        .ordered = result->ordered,
        .steps = flight->steps,
        .counters = counters(flight),
    };
    if (result->ordered == NULL)
        params.descriptors = (struct descriptor *)(void *)staging(
            flight, descriptors_at(flight));
    return device_job_start(flight->job, &params, error);
}

enum vdbq_status flight_start(struct flight *flight,
                              struct device_machine *machine,
                              const struct runner_input *input,
                              struct error *error)
{
    struct machine_shape shape = device_machine_shape(machine);
    flight->steps =
        (unsigned)((input->rows + shape.step_rows - 1) / shape.step_rows);
    flight->copies.count = 0;
    flight->rows = input->rows;
    flight->machine = machine;
    enum vdbq_status status = result_begin(&flight->result, shape, input->rows,
                                           flight->params->times, error);
    if (status == VDBQ_OK)
        status = staging_room(flight, flight->steps, error);
    if (status != VDBQ_OK)
        return status;
    make_head(flight, shape, input->rows);
    status = feeds_in(flight, input, error);
    if (status == VDBQ_OK)
        status = control_in(flight, input->ranks, error);
    if (status == VDBQ_OK)
        status = job_start(flight, machine, input, error);
    if (status == VDBQ_OK)
        flight->state = FLIGHT_STARTED;
    return status;
}

/* ---------------------------------------------------------------- land -- */

/* What to tell of the instruction that failed. */
static enum vdbq_status report_fault(const struct program *program, u32 pc,
                                     struct error *error)
{
    const struct instruction *in = program_at(program, (int)pc);
    const struct op_facts *op = op_facts(in->op);
    if (op->form == FORM_FAIL)
        return error_at(error, VDBQ_RANGE, in->at, "%s", in->name);
    if (in->op == OP_ADD_MONTHS_I32)
        return error_at(error, VDBQ_RANGE, in->at,
                        "a date is outside the years 1 to 9999");
    if (in->op == OP_ABS_I32)
        return error_at(error, VDBQ_RANGE, in->at,
                        "integer overflow: a result does not fit 32 bits");
    if (op->form == FORM_CAST)
        return error_at(error, VDBQ_RANGE, in->at,
                        "a value is out of the range of %s",
                        vdbq_type_name((enum vdbq_type)op->writes));
    error_at(error, VDBQ_RANGE, in->at,
             "integer overflow: a result does not fit 64 bits");
    return error_hint(error, "compute with DOUBLE: CAST(... AS DOUBLE)");
}

/* The machine has run without a fault: sends the rows on their way. */
static enum vdbq_status collect(struct flight *flight, struct error *error)
{
    struct result *result = &flight->result;
    const struct descriptor *descriptors =
        (const struct descriptor *)(const void *)staging(
            flight, descriptors_at(flight));
    enum vdbq_status status =
        result_arrange(result, counters(flight)[COUNTER_ROWS], descriptors,
                       flight->steps, error);
    if (status == VDBQ_OK)
        status = device_job_collect(
            flight->job, VECTOR_ITEMS(&result->copies, struct device_copy),
            result->copies.count, error);
    if (status == VDBQ_OK)
        flight->state = FLIGHT_LEAVING;
    return status;
}

enum vdbq_status flight_hurry(struct flight *flight, struct error *error)
{
    if (flight->result.params.sink != NULL)
        return VDBQ_OK; /* it takes the rows in order */
    if (flight->state != FLIGHT_STARTED || !device_job_has_run(flight->job) ||
        counters(flight)[COUNTER_FAULT] != NO_FAULT)
        return VDBQ_OK;
    return collect(flight, error);
}

enum vdbq_status flight_land(struct flight *flight, struct error *error)
{
    struct device_times *times = flight->params->times;
    enum vdbq_status status = VDBQ_OK;
    if (flight->state == FLIGHT_STARTED) {
        status = device_job_run(flight->job, error);
        if (status == VDBQ_OK &&
            counters(flight)[COUNTER_FAULT] != NO_FAULT) {
            u32 pc = counters(flight)[COUNTER_FAULT];
            status = device_job_wait(flight->job, times, error);
            return status == VDBQ_OK
                       ? report_fault(flight->params->program, pc, error)
                       : status;
        }
        if (status == VDBQ_OK)
            status = collect(flight, error);
    }
    if (status != VDBQ_OK || flight->state != FLIGHT_LEAVING)
        return status;
    status = device_job_wait(flight->job, times, error);
    if (status == VDBQ_OK && flight->result.params.sink != NULL)
        status = result_sink(&flight->result, error);
    if (status == VDBQ_OK)
        status = result_land(&flight->result, times, error);
    if (status == VDBQ_OK)
        flight->state = FLIGHT_LANDED;
    return status;
}
