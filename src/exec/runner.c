/* SPDX-License-Identifier: MIT */
/*
 * Runs a program over feeds, launch by launch: control block in, kernel,
 * descriptors and rows out.
 */
#include "exec/runner.h"

#include <string.h>

#include "cl/tablet.h"
#include "exec/adapt.h"
#include "exec/result.h"

enum {
    LAUNCH_WORK = 100000000,    /* cost of one launch, in additions: a CPU
                                   core does this in some 20 ms          */
    LAUNCH_BYTES = 256 << 20,   /* of feeds or of result rows, together  */
    LAUNCH_ROWS_STEP = 64       /* launches start at multiples of this   */
};

struct runner {
    struct device *device;
    const struct program *program;
    enum run_mode mode;
    struct arena arena; /* of the pack and of the control block's copy */
    struct program_pack pack;
    struct device_machine *machine;
    struct machine_shape shape;
    struct adapt adapt; /* chooses the machine, where it may */
    uint64_t rows_max;
    u8 *control_bytes; /* the host's copy of the control block */
    uint64_t control_size;
    struct device_memory *control;
    struct device_memory *counters;
    struct device_memory *data; /* MODE_SERIAL: the feeds on the device */
    struct result result;
    struct device_times times;
};

/* ------------------------------------------------------- control block -- */

/* Lays out the control block: where its parts start, and how long it is. */
static struct launch control_layout(const struct runner *runner, u64 *size)
{
    struct program_part part = program_part(runner->program);
    struct launch launch = {
        .code_first = (u32)part.first,
        .code_end = (u32)part.converge,
        .output_count = program_results(runner->program),
        .steps_per_item = runner->shape.steps_per_item,
    };
    launch.code = TABLET_ALIGNED(sizeof launch);
    launch.constants = TABLET_ALIGNED(
        launch.code + runner->program->code.count * sizeof(struct code));
    launch.feeds = TABLET_ALIGNED(launch.constants +
                           runner->pack.constant_count * sizeof(i64));
    launch.outputs = TABLET_ALIGNED(launch.feeds +
                             runner->pack.feed_count * sizeof(struct feed));
    *size = TABLET_ALIGNED(launch.outputs +
                    launch.output_count * sizeof(struct output));
    return launch;
}

static struct launch *control_launch(const struct runner *runner)
{
    return (struct launch *)(void *)runner->control_bytes;
}

/* Makes the control block and fills in what stays the same. */
static enum vdbq_status control_create(struct runner *runner,
                                       struct error *error)
{
    struct launch launch = control_layout(runner, &runner->control_size);
    u8 *bytes = arena_alloc(&runner->arena, runner->control_size);
    if (bytes == NULL)
        return error_no_memory(error);
    runner->control_bytes = bytes;
    memcpy(bytes, &launch, sizeof launch);
    memcpy(bytes + launch.code, runner->pack.code,
           runner->program->code.count * sizeof(struct code));
    memcpy(bytes + launch.constants, runner->pack.constants,
           runner->pack.constant_count * sizeof(i64));
    enum vdbq_status status =
        device_memory_create(runner->device, MEMORY_DEVICE,
                             runner->control_size, &runner->control, error);
    if (status == VDBQ_OK)
        status = device_memory_create(runner->device, MEMORY_DEVICE,
                                      COUNTERS * sizeof(u32),
                                      &runner->counters, error);
    return status;
}

/* -------------------------------------------------------- open, close -- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bytes of one row of everything that the program reads. */
static uint64_t feed_row_bytes(const struct runner *runner)
{
    return (uint64_t)runner->pack.feed_count * sizeof(i64) + 1;
}

static uint64_t rows_of_a_launch(const struct runner *runner)
{
    uint64_t rows = LAUNCH_WORK / program_cost(runner->program);
    rows = least(rows, LAUNCH_BYTES / result_row_bytes(runner->program));
    rows = least(rows, LAUNCH_BYTES / feed_row_bytes(runner));
    rows = least(rows, TABLET_ROWS_MAX);
    rows -= rows % LAUNCH_ROWS_STEP;
    return rows > 0 ? rows : LAUNCH_ROWS_STEP;
}

/* Builds the machine, or lets exec/adapt.c choose one. */
static enum vdbq_status machine_build(struct runner *runner,
                                      const struct runner_params *params,
                                      struct error *error)
{
    enum vdbq_status status =
        adapt_init(&runner->adapt,
                   &(struct adapt_params){ .device = params->device,
                                           .program = params->program,
                                           .pack = &runner->pack,
                                           .adaptive = params->adaptive,
                                           .build = params->build,
                                           .rows = params->rows },
                   &runner->machine, &runner->times, error);
    if (status == VDBQ_OK)
        runner->shape = device_machine_shape(runner->machine);
    return status;
}

/* Goes on with another machine: launches and results take its shape. */
static void machine_change(struct runner *runner,
                           struct device_machine *machine)
{
    runner->machine = machine;
    runner->shape = device_machine_shape(machine);
    control_launch(runner)->steps_per_item = runner->shape.steps_per_item;
    result_reshape(&runner->result, runner->shape);
}

static enum vdbq_status runner_prepare(struct runner *runner,
                                       const struct runner_params *params,
                                       struct error *error)
{
    enum vdbq_status status =
        program_pack(runner->program, &runner->arena, &runner->pack, error);
    if (status == VDBQ_OK)
        status = machine_build(runner, params, error);
    if (status != VDBQ_OK)
        return status;
    runner->rows_max = rows_of_a_launch(runner);
    status = control_create(runner, error);
    if (status == VDBQ_OK)
        status = result_init(&runner->result,
                             &(struct result_params){
                                 .device = runner->device,
                                 .program = runner->program,
                                 .mapped = runner->mode == MODE_MAPPED,
                                 .shape = runner->shape },
                             error);
    return status;
}

enum vdbq_status runner_open(const struct runner_params *params,
                             struct runner **runner, struct error *error)
{
    struct runner *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->device = params->device;
    made->program = params->program;
    made->mode = params->mode;
    enum vdbq_status status = runner_prepare(made, params, error);
    if (status != VDBQ_OK) {
        runner_close(made);
        made = NULL;
    }
    *runner = made;
    return status;
}

void runner_close(struct runner *runner)
{
    if (runner == NULL)
        return;
    adapt_finish(&runner->adapt);
    result_finish(&runner->result);
    device_memory_destroy(runner->data);
    device_memory_destroy(runner->counters);
    device_memory_destroy(runner->control);
    arena_finish(&runner->arena);
    memory_release(runner);
}

const struct program_pack *runner_pack(const struct runner *runner)
{
    return &runner->pack;
}

uint64_t runner_rows_max(const struct runner *runner)
{
    return runner->rows_max;
}

const char *runner_build(struct runner *runner)
{
    return adapt_text(&runner->adapt);
}

struct device_times *runner_times(struct runner *runner)
{
    return &runner->times;
}

void runner_batch(struct runner *runner, struct vdbq_batch *batch)
{
    result_batch(&runner->result, batch);
}

/* ----------------------------------------------------------------- run -- */

/* Where feed i goes in serial mode; sets `size` to what all take. */
static void place_feeds(const struct runner *runner,
                        const struct runner_input *input, struct feed *feeds,
                        u64 *size)
{
    u64 at = TABLET_ALIGN; /* 0 means that there are no NULLs */
    for (unsigned i = 0; i < runner->pack.feed_count; i++) {
        feeds[i] = input->feeds[i];
        feeds[i].values = at;
        if (feeds[i].encoding == ENCODING_PLAIN)
            at = TABLET_ALIGNED(at + input->rows * feeds[i].width);
        if (feeds[i].nulls != 0) {
            feeds[i].nulls = at;
            at = TABLET_ALIGNED(at + (input->rows + 7) / 8);
        }
    }
    *size = at;
}

/* Copies one feed to its place on the device. */
static enum vdbq_status copy_feed(struct runner *runner,
                                  const struct runner_input *input,
                                  const struct feed *from,
                                  const struct feed *to, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (from->encoding == ENCODING_PLAIN)
        status = device_write(runner->data, to->values,
                              input->host + from->values,
                              input->rows * from->width, &runner->times,
                              error);
    if (status == VDBQ_OK && from->nulls != 0)
        status = device_write(runner->data, to->nulls,
                              input->host + from->nulls,
                              (input->rows + 7) / 8, &runner->times, error);
    return status;
}

/* Makes sure that the device has room for `size` bytes of feeds. */
static enum vdbq_status data_room(struct runner *runner, u64 size,
                                  struct error *error)
{
    if (runner->data && device_memory_size(runner->data) >= size)
        return VDBQ_OK;
    device_memory_destroy(runner->data);
    runner->data = NULL;
    return device_memory_create(runner->device, MEMORY_DEVICE, size,
                                &runner->data, error);
}

/* Brings the feeds to the device; the control block names their places. */
static enum vdbq_status feeds_in(struct runner *runner,
                                 const struct runner_input *input,
                                 struct error *error)
{
    struct feed *feeds =
        (struct feed *)(void *)(runner->control_bytes +
                                control_launch(runner)->feeds);
    u64 size;
    if (runner->mode == MODE_MAPPED) {
        memcpy(feeds, input->feeds, runner->pack.feed_count * sizeof *feeds);
        return input->data == NULL ? VDBQ_OK
                                   : device_memory_give(input->data,
                                                        &runner->times, error);
    }
    place_feeds(runner, input, feeds, &size);
    enum vdbq_status status = data_room(runner, size, error);
    for (unsigned i = 0; i < runner->pack.feed_count && status == VDBQ_OK; i++)
        status = copy_feed(runner, input, &input->feeds[i], &feeds[i], error);
    return status;
}

/* What to tell of the instruction that failed. */
static enum vdbq_status report_fault(const struct runner *runner, u32 pc,
                                     struct error *error)
{
    const struct instruction *in = program_at(runner->program, (int)pc);
    const struct op_facts *op = op_facts(in->op);
    if (op->form == FORM_CAST)
        return error_at(error, VDBQ_RANGE, in->at,
                        "a value is out of the range of %s",
                        vdbq_type_name((enum vdbq_type)op->writes));
    error_at(error, VDBQ_RANGE, in->at,
             "integer overflow: a result does not fit 64 bits");
    return error_hint(error, "compute with DOUBLE: CAST(... AS DOUBLE)");
}

static enum vdbq_status read_counters(struct runner *runner,
                                      u32 counters[COUNTERS],
                                      struct error *error)
{
    enum vdbq_status status =
        device_read(runner->counters, 0, counters, COUNTERS * sizeof(u32),
                    &runner->times, error);
    if (status == VDBQ_OK && counters[COUNTER_FAULT] != NO_FAULT)
        status = report_fault(runner, counters[COUNTER_FAULT], error);
    return status;
}

enum vdbq_status runner_run(struct runner *runner,
                            const struct runner_input *input,
                            struct error *error)
{
    struct launch *launch = control_launch(runner);
    struct device_launch params = { .launch = launch,
                                    .control = runner->control,
                                    .counters = runner->counters };
    struct device_machine *machine =
        adapt_machine(&runner->adapt, &runner->times);
    u32 counters[COUNTERS];
    if (machine != runner->machine)
        machine_change(runner, machine);
    launch->row_first = 0;
    launch->row_end = input->rows;
    enum vdbq_status status = feeds_in(runner, input, error);
    if (status == VDBQ_OK)
        status = result_begin(&runner->result, input->rows,
                              (struct output *)(void *)(runner->control_bytes +
                                                        launch->outputs),
                              &params, &runner->times, error);
    if (status == VDBQ_OK)
        status = device_write(runner->control, 0, runner->control_bytes,
                              runner->control_size, &runner->times, error);
    params.data = runner->mode == MODE_MAPPED ? input->data : runner->data;
    uint64_t before = runner->times.kernel_ns;
    if (status == VDBQ_OK)
        status = device_launch(runner->machine, &params, &runner->times,
                               error);
    adapt_ran(&runner->adapt, input->rows, runner->times.kernel_ns - before);
    if (status == VDBQ_OK)
        status = read_counters(runner, counters, error);
    if (status == VDBQ_OK)
        status = result_collect(&runner->result, runner->machine, &params,
                                counters[COUNTER_ROWS], &runner->times, error);
    return status;
}
