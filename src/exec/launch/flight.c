/* SPDX-License-Identifier: MIT */
/*
 * One launch: what flight_in.c brings to the device, kernel, progress and rows
 * out.
 */
#include "exec/launch/flight.h"

#include <string.h>

#include "base/threads/team.h"
#include "exec/launch/flight_in.h"
#include "exec/launch/narrow.h"

/* Rows of a launch from which on the host's threads help to widen what comes
 * of it. */
enum { TEAM_ROWS_MIN = 1 << 18 };

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

/* --------------------------------------------------------------- start -- */

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
        uint64_t rows =
            input->grid.cells > 0 ? input->grid.cells : input->pieces[i].rows;
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
    launch->any_order = flight->result.params.sink != NULL
                        && flight->result.params.sink->any_order;
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
                    .progress_at = flight_progress_start(flight),
                    .inner = flight->params->inner,
                    .result = flight->result.written },
        .beside =
            flight->params->inner == NULL && flight->result.params.sink == NULL,
        .progress = flight_progress(flight),
        .progress_size = flight_progress_bytes(flight),
    };
    for (unsigned i = 0; i < input->count; i++)
        params.launch.pieces[i] = input->pieces[i].host != NULL
                                      ? flight->data
                                      : input->pieces[i].data;
    return device_job_start(flight->job, &params, error);
}

/* Whether the rows' way out takes longer than the feeds' way in; where that is
 * not known yet it may. */
static bool most_leaves(const struct flight *flight)
{
    double rows = flight->params->share * (double)flight->rows;
    double leaving = rows * (double)result_row_bytes(flight->params->program);
    uint64_t coming = 0;
    for (size_t i = 0; i < flight->copies.count; i++)
        coming += VECTOR_ITEMS(&flight->copies, struct device_copy)[i].size;
    return flight->params->share < 0 || leaving > (double)coming;
}

/* Says how the rows leave. The host's threads are woken if they are to widen
 * many; where there are none for it, rows leave wide. */
static void place_rows(struct flight *flight, const struct runner_input *input)
{
    const struct flight_params *params = flight->params;
    struct output *outputs = flight->result.outputs;
    bool many = flight->rows >= TEAM_ROWS_MIN;
    bool narrow =
        flight_foresees(flight) && flight->rows <= params->narrow_rows_max
        && most_leaves(flight) && narrow_outputs(params->pack, input, outputs);
    struct team *team = narrow && many ? device_team(params->device) : NULL;
    team_wake(team);
    if (many && team == NULL)
        result_leave_wide(&flight->result);
    memcpy(control_outputs(flight->head), outputs,
           control_launch(flight->head)->output_count * sizeof *outputs);
}

enum vdbq_status flight_start(struct flight *flight,
                              struct device_machine *machine,
                              const struct runner_input *input,
                              struct error *error)
{
    struct machine_shape shape = device_machine_shape(machine);
    flight->machine = machine;
    flight->input = *input;
    flight->failure.status = VDBQ_OK;
    make_head(flight, &shape, input);
    enum vdbq_status status =
        result_begin(&flight->result, shape, flight_steps(flight),
                     flight->params->times, error);
    if (status == VDBQ_OK)
        status = flight_room(flight, error);
    if (status == VDBQ_OK)
        status = flight_feeds_in(flight, input, error);
    if (status != VDBQ_OK)
        return status;
    place_rows(flight, input);
    status = flight_control_in(flight, input, error);
    if (status == VDBQ_OK)
        status = job_start(flight, machine, input, error);
    if (status == VDBQ_OK)
        flight->state = FLIGHT_STARTED;
    return status;
}

/* ---------------------------------------------------------------- land -- */

/* Sends the rows on their way that the result's copies name. */
static enum vdbq_status send_copies(struct flight *flight, struct error *error)
{
    const struct vector *copies = &flight->result.copies;
    return device_job_collect(flight->job,
                              VECTOR_ITEMS(copies, struct device_copy),
                              copies->count, error);
}

/* The machine has run without a fault: sends the rows, those that were not
 * foreseen. */
static enum vdbq_status collect(struct flight *flight, struct error *error)
{
    enum vdbq_status status = result_arrange(
        &flight->result, flight_progress(flight), flight_steps(flight), error);
    if (status == VDBQ_OK)
        status = send_copies(flight, error);
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
    return (double)flight_progress(flight)->rows / (double)flight->rows;
}

/* Shares of neighbouring launches differ: so many rows more are sent. */
enum { SLACK_PART = 256, SLACK_ROWS = 1024 };

enum vdbq_status flight_foresee(struct flight *flight, struct error *error)
{
    struct result *result = &flight->result;
    uint64_t rows = (uint64_t)(flight->params->share * (double)flight->rows);
    rows += rows / SLACK_PART + SLACK_ROWS;
    if (flight->state != FLIGHT_STARTED || result->foreseen > 0)
        return VDBQ_OK;
    enum vdbq_status status = result_foresee(
        result, rows < flight->rows ? rows : flight->rows, error);
    return status == VDBQ_OK ? send_copies(flight, error) : status;
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
    return status != VDBQ_OK || flight_progress(flight)->fault != NO_FAULT
               ? status
               : collect(flight, error);
}

/* Leaves of the launch the rows before row `end`, counted as progress counts
 * the row that fails. */
static void cut_rows(struct flight *flight, struct machine_shape *shape,
                     u32 end)
{
    struct launch *launch = control_launch(flight->head);
    launch->steps = 0;
    flight->rows = 0;
    for (unsigned i = 0; i < flight->input.count; i++) {
        u64 first = (u64)launch->piece_first[i] * shape->step_rows;
        u32 rows = first < end ? end - (u32)first : 0;
        if (rows < launch->piece_rows[i])
            launch->piece_rows[i] = rows;
        rows = launch->piece_rows[i];
        launch->steps += (rows + shape->step_rows - 1) / shape->step_rows;
        flight->rows += rows;
    }
    shape->steps_per_item = steps_of_group(flight, *shape, launch->steps);
    launch->steps_per_item = shape->steps_per_item;
}

/* Runs the launch once more, over the rows before row `end`. */
static enum vdbq_status run_again(struct flight *flight, u32 end,
                                  struct error *error)
{
    struct device_times *times = flight->params->times;
    struct machine_shape shape = device_machine_shape(flight->machine);
    enum vdbq_status status = device_job_wait(flight->job, times, error);
    if (status != VDBQ_OK)
        return status;
    cut_rows(flight, &shape, end);
    status = result_begin(&flight->result, shape, flight_steps(flight), times,
                          error);
    memcpy(control_outputs(flight->head), flight->result.outputs,
           control_launch(flight->head)->output_count
               * sizeof *flight->result.outputs);
    flight->copies.count = 0;
    if (status == VDBQ_OK)
        status = flight_control_in(flight, &flight->input, error);
    if (status == VDBQ_OK)
        status = job_start(flight, flight->machine, &flight->input, error);
    return status == VDBQ_OK ? device_job_run(flight->job, error) : status;
}

/* A row failed. The rows up to it are run once more, so that it is the only
 * one that does: its first instruction that fails is the one to tell of. Then
 * those before it are, whose rows are the launch's. */
static enum vdbq_status land_before_fault(struct flight *flight,
                                          struct error *error)
{
    u32 row = flight_progress(flight)->fault;
    enum vdbq_status status = run_again(flight, row + 1, error);
    if (status != VDBQ_OK)
        return status;
    program_fault(flight->params->program,
                  (int)flight_progress(flight)->fault_at, &flight->failure);
    status = run_again(flight, row, error);
    return status == VDBQ_OK ? collect(flight, error) : status;
}

enum vdbq_status flight_land(struct flight *flight, struct error *error)
{
    struct device_times *times = flight->params->times;
    enum vdbq_status status = flight_hurry(flight, true, error);
    if (status == VDBQ_OK && flight->state == FLIGHT_STARTED)
        status = land_before_fault(flight, error);
    if (status == VDBQ_OK)
        status = device_job_wait(flight->job, times, error);
    if (status == VDBQ_OK && flight->result.params.sink != NULL)
        status = result_sink(&flight->result, error);
    if (status == VDBQ_OK)
        status = result_land(&flight->result, times, error);
    if (status == VDBQ_OK)
        flight->state = FLIGHT_LANDED;
    return status;
}
