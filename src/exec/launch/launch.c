/* SPDX-License-Identifier: MIT */
/*
 * One launch: what launch_in.c brings to the device, kernel, progress and rows
 * out.
 */
#include "exec/launch/launch.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "device/kind.h"
#include "exec/launch/launch_in.h"
#include "exec/launch/narrow.h"

/* Rows of a launch from which on the host's threads help to widen what comes of
 * it, and how many of these keep up with a link: with three a query was slower
 * than without, with six it was faster (H200). */
enum { WIDEN_ROWS_MIN = 1 << 18, WIDEN_THREADS_MIN = 5 };

enum vdbq_status launch_init(struct launch *launch,
                             const struct launch_params *params,
                             struct arena *arena, struct error *error)
{
    *launch = (struct launch){ .params = params,
                               .copies = VECTOR(struct device_copy) };
    launch->head = arena_alloc(arena, params->control->head_size);
    if (launch->head == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        result_init(&launch->result,
                    &(struct result_params){ .device = params->device,
                                             .program = params->program,
                                             .mapped = params->mapped },
                    error);
    if (status == VDBQ_OK)
        status = device_job_create(params->device, &launch->job, error);
    return status;
}

void launch_finish(struct launch *launch)
{
    device_job_destroy(launch->job);
    result_finish(&launch->result);
    device_memory_release(launch->data);
    launch_room_finish(launch);
    held_error_finish(&launch->failure);
    vector_finish(&launch->copies);
}

/* --------------------------------------------------------------- start -- */

/* Groups of a launch that has tables, for each that a core runs at once: more wait
 * less for the slowest, but each has a table to bring out (H100, SSB: 1, 2, 4 and 8
 * take 1.59, 1.58, 1.57 and 1.66 ms). */
enum { GROUPS_AT_ONCE = 2 };

/* Rows of a step that come to one copy of a work-group's own table. */
static u64 copy_rows(const struct launch *launch, struct machine_shape shape)
{
    unsigned items = device_tuning(launch->params->device)->group;
    unsigned copies = launch->groups->copies;
    assert(copies > 0 && items > 0);
    return shape.step_rows / (copies < items ? copies : items);
}

/* Steps of a group that has tables: so many, but for what a copy has room for. */
static u32 steps_of_tables(const struct launch *launch,
                           struct machine_shape shape, u32 steps)
{
    u32 most = launch->groups->copies == 0
                   ? steps
                   : (u32)(LAUNCH_COPY_ROWS / copy_rows(launch, shape));
    steps = steps < most ? steps : most;
    return steps > 0 ? steps : 1;
}

/* Steps that a group of a CPU walks: no more than the shape says, and such
 * that each core gets as many groups as any other. Of a GPU's groups that have
 * tables there are some for each core. */
static u32 steps_of_group(const struct launch *launch,
                          struct machine_shape shape, u32 steps)
{
    const struct device_facts *facts = device_facts(launch->params->device);
    unsigned cores = facts->cores;
    unsigned most = GROUPS_AT_ONCE * cores * facts->kind->groups_per_core;
    if (launch->groups != NULL && most > 0)
        return steps_of_tables(launch, shape, (steps + most - 1) / most);
    u32 groups = (steps + shape.steps_per_item - 1) / shape.steps_per_item;
    if (shape.dense || cores == 0 || groups <= 1)
        return shape.steps_per_item;
    groups = (groups + cores - 1) / cores * cores;
    return (steps + groups - 1) / groups;
}

/* Writes this start's head of the control block, but for inputs and outputs. */
static void make_head(struct launch *launch, struct machine_shape *shape,
                      const struct launcher_request *request)
{
    const struct control *control = launch->params->control;
    memcpy(launch->head, control->bytes, control->head_size);
    struct launch_head *head = control_head(launch->head);
    launch->rows = 0;
    head->cell_first = request->grid.first;
    memcpy(head->axis_rows, request->grid.axis_rows, sizeof head->axis_rows);
    for (unsigned i = 0; i < request->count; i++) {
        uint64_t rows = request->grid.cells > 0 ? request->grid.cells
                                                : request->morsels[i].rows;
        head->morsel_rows[i] = (u32)rows;
        head->morsel_first[i] = head->steps;
        head->steps += (u32)((rows + shape->step_rows - 1) / shape->step_rows);
        launch->rows += rows;
    }
    for (unsigned i = request->count; i < LAUNCH_MORSELS; i++)
        head->morsel_first[i] = NO_STEP;
    shape->steps_per_item = steps_of_group(launch, *shape, head->steps);
    head->steps_per_item = shape->steps_per_item;
    head->any_order = launch->result.params.sink != NULL
                      && launch->result.params.sink->any_order;
}

/* Gives a launch the numbers of its rows among those of the groups. */
static void number_rows(struct launch *launch, struct machine_shape shape)
{
    struct sink *sink = launch->result.params.sink;
    struct launch_tables *tables = launch->params->tables;
    struct launch_head *head = control_head(launch->head);
    uint64_t numbers = (uint64_t)head->steps * shape.step_rows;
    if (tables != NULL) {
        head->number = tables->numbers;
        tables->numbers += numbers;
        tables->waiting += numbers;
    } else if (sink != NULL && sink->groups != NULL) {
        head->number = launch->result.number = sink->numbers;
        sink->numbers += numbers;
    }
}

/* Says which groups rows are added to. */
static void place_tables(struct launch *launch, struct machine_shape shape)
{
    const struct launch_tables *tables = launch->params->tables;
    const struct sink_groups *groups = launch->groups;
    struct launch_head *head = control_head(launch->head);
    if (groups != NULL) {
        memcpy(head->keys, groups->keys, sizeof head->keys);
        head->table_bytes = groups->bytes;
        head->table_copies = groups->copies;
        head->copy_bytes = groups->copy_bytes;
        if (groups->copies > 0)
            head->low_bits = launch_low_bits(head->steps_per_item
                                             * copy_rows(launch, shape));
    }
    if (tables == NULL)
        return;
    memcpy(head->keys, tables->keys, sizeof head->keys);
    head->tables = launch_tables_at(launch->params->device);
    head->table_bytes = tables->bytes;
    head->table_copies = tables->copies;
    head->copy_bytes = tables->copy_bytes;
}

/* Says which rows are behind the sort's bound. */
static void place_bound(struct launch *launch)
{
    const struct launch_bound *bound = launch->params->bound;
    struct launch_head *head = control_head(launch->head);
    if (bound == NULL || !bound->set)
        return;
    head->bounded = 1;
    head->bound = bound->end;
    head->bound_flip = bound->flip;
}

/* Whether the machine adds all rows to groups. */
static bool has_groups(const struct launch *launch)
{
    return launch->groups != NULL || launch->params->tables != NULL;
}

/* Where the machine writes. */
static struct device_memory *written(const struct launch *launch)
{
    return launch->groups != NULL           ? launch->groups->records
           : launch->params->tables != NULL ? launch->params->tables_memory
                                            : launch->result.written;
}

/* Whether nothing that kernels write is read or written by this launch and the
 * one before it, but for groups, to which rows are added atomically. A build side
 * that is mapped is the host's work, but for that of a grid. On 16 cores TPC-H 6,
 * 14, 17 and 19 take 0.72 to 0.88 of the time where a launch sets out while cores are
 * still busy with the one before; SSB's kernels 0.95 on an H200. */
static bool is_apart(const struct launch *launch,
                     const struct launcher_request *request)
{
    const struct launch_params *params = launch->params;
    bool made = params->build_side == NULL
                || (params->mapped && request->grid.cells == 0);
    bool apart =
        launch->groups != NULL || (made && launch->result.params.sink == NULL);
    for (unsigned i = 0; i < request->count; i++)
        apart &= !request->morsels[i].computed;
    return apart;
}

static enum vdbq_status job_start(struct launch *launch,
                                  struct device_machine *machine,
                                  const struct launcher_request *request,
                                  struct error *error)
{
    struct device_job_params params = {
        .machine = machine,
        .in = VECTOR_ITEMS(&launch->copies, struct device_copy),
        .in_count = launch->copies.count,
        .launch = { .launch = control_head(launch->head),
                    .control = launch->control,
                    .progress_at = launch_progress_start(launch),
                    .build_side = launch->params->build_side,
                    .result = written(launch) },
        .beside = is_apart(launch, request),
        .progress = launch_progress(launch),
        .progress_in = launch->staging,
        .progress_size = launch_progress_bytes(launch),
    };
    for (unsigned i = 0; i < request->count; i++)
        params.launch.morsels[i] = request->morsels[i].host != NULL
                                       ? launch->data
                                       : request->morsels[i].data;
    return device_job_start(launch->job, &params, error);
}

/* Whether the rows' way out takes longer than the inputs' way in; where that is
 * not known yet it may. */
static bool most_leaves(const struct launch *launch)
{
    double rows = launch->params->share * (double)launch->rows;
    double leaving = rows * (double)result_row_bytes(launch->params->program);
    uint64_t coming = 0;
    for (size_t i = 0; i < launch->copies.count; i++)
        coming += VECTOR_ITEMS(&launch->copies, struct device_copy)[i].size;
    return launch->params->share < 0 || leaving > (double)coming;
}

/* Says how the rows leave. The host's threads are woken if they are to widen
 * many; where there are none for it, rows leave wide. */
static void place_rows(struct launch *launch,
                       const struct launcher_request *request)
{
    const struct launch_params *params = launch->params;
    struct output *outputs = launch->result.outputs;
    bool many = launch->rows >= WIDEN_ROWS_MIN;
    bool narrow = launch_can_prefetch(launch)
                  && launch->rows <= params->narrow_rows_max
                  && most_leaves(launch)
                  && narrow_outputs(params->pack, request, outputs);
    if (many && narrow && parallel_workers() >= WIDEN_THREADS_MIN)
        parallel_expect();
    else if (many)
        result_leave_wide(&launch->result);
    memcpy(control_outputs(launch->head), outputs,
           control_head(launch->head)->output_count * sizeof *outputs);
}

/* Makes room for the rows; those that go to groups need none. */
static enum vdbq_status begin_result(struct launch *launch,
                                     struct machine_shape shape,
                                     struct error *error)
{
    return result_begin(&launch->result, shape,
                        has_groups(launch) ? 0 : launch_steps(launch),
                        launch->params->times, error);
}

enum vdbq_status launch_start(struct launch *launch,
                              struct device_machine *machine,
                              const struct launcher_request *request,
                              struct error *error)
{
    assert(request->count > 0 && request->count <= LAUNCH_MORSELS);
    assert(launch->state == LAUNCH_IDLE);
    struct machine_shape shape = device_machine_shape(machine);
    launch->machine = machine;
    launch->request = *request;
    held_error_finish(&launch->failure);
    make_head(launch, &shape, request);
    number_rows(launch, shape);
    enum vdbq_status status = begin_result(launch, shape, error);
    if (status == VDBQ_OK)
        status = launch_room(launch, request, error);
    if (status == VDBQ_OK)
        status = launch_inputs_in(launch, request, error);
    if (status != VDBQ_OK)
        return status;
    place_rows(launch, request);
    place_tables(launch, shape);
    place_bound(launch);
    status = launch_control_in(launch, request, error);
    if (status == VDBQ_OK)
        status = job_start(launch, machine, request, error);
    if (status == VDBQ_OK)
        launch->state = LAUNCH_STARTED;
    return status;
}

/* ---------------------------------------------------------------- land -- */

/* Sends the rows on their way that the result's copies name. */
static enum vdbq_status send_copies(struct launch *launch, struct error *error)
{
    const struct vector *copies = &launch->result.copies;
    return device_job_collect(launch->job,
                              VECTOR_ITEMS(copies, struct device_copy),
                              copies->count, error);
}

/* The machine has added the rows to groups: no other has any of them. */
static void count_grouped(struct launch *launch)
{
    struct sink *sink = launch->result.params.sink;
    sink->rows += launch_progress(launch)->rows;
    sink->grouped = true;
}

/* The machine has run without a fault: sends the rows, those that were not
 * prefetched. */
static enum vdbq_status collect(struct launch *launch, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (launch->groups != NULL)
        count_grouped(launch);
    else if (!has_groups(launch))
        status = result_arrange(&launch->result, launch_progress(launch),
                                launch_steps(launch), error);
    if (status == VDBQ_OK)
        status = send_copies(launch, error);
    if (status == VDBQ_OK)
        launch->state = LAUNCH_LEAVING;
    return status;
}

bool launch_can_prefetch(const struct launch *launch)
{
    return launch->result.dense && result_leaves(&launch->result);
}

double launch_share(const struct launch *launch)
{
    assert(launch->rows > 0);
    return (double)launch_progress(launch)->rows / (double)launch->rows;
}

/* Shares of neighbouring launches differ: so many rows more are sent. */
enum { SLACK_PART = 256, SLACK_ROWS = 1024 };

enum vdbq_status launch_prefetch_output(struct launch *launch,
                                        struct error *error)
{
    assert(launch->params->share >= 0);
    struct result *result = &launch->result;
    uint64_t rows = (uint64_t)(launch->params->share * (double)launch->rows);
    rows += rows / SLACK_PART + SLACK_ROWS;
    if (launch->state != LAUNCH_STARTED || result->prefetched > 0)
        return VDBQ_OK;
    enum vdbq_status status = result_prefetch(
        result, rows < launch->rows ? rows : launch->rows, error);
    return status == VDBQ_OK ? send_copies(launch, error) : status;
}

enum vdbq_status launch_output_start(struct launch *launch, bool wait,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (launch->state != LAUNCH_STARTED)
        return VDBQ_OK;
    if (wait)
        status = device_job_run(launch->job, error);
    else if (!device_job_has_run(launch->job))
        return VDBQ_OK;
    return status != VDBQ_OK || launch_progress(launch)->fault != NO_FAULT
               ? status
               : collect(launch, error);
}

/* Leaves of the launch the rows before row `end`, counted as progress counts
 * the row that fails. */
static void cut_rows(struct launch *launch, struct machine_shape *shape,
                     u32 end)
{
    struct launch_head *head = control_head(launch->head);
    head->steps = 0;
    launch->rows = 0;
    for (unsigned i = 0; i < launch->request.count; i++) {
        u64 first = (u64)head->morsel_first[i] * shape->step_rows;
        u32 rows = first < end ? end - (u32)first : 0;
        if (rows < head->morsel_rows[i])
            head->morsel_rows[i] = rows;
        rows = head->morsel_rows[i];
        head->steps += (rows + shape->step_rows - 1) / shape->step_rows;
        launch->rows += rows;
    }
    shape->steps_per_item = steps_of_group(launch, *shape, head->steps);
    head->steps_per_item = shape->steps_per_item;
}

/* Runs the launch once more, over the rows before row `end`. */
static enum vdbq_status run_again(struct launch *launch, u32 end,
                                  struct error *error)
{
    struct device_times *times = launch->params->times;
    struct machine_shape shape = device_machine_shape(launch->machine);
    enum vdbq_status status = device_job_wait(launch->job, times, error);
    if (status != VDBQ_OK)
        return status;
    cut_rows(launch, &shape, end);
    status = begin_result(launch, shape, error);
    memcpy(control_outputs(launch->head), launch->result.outputs,
           control_head(launch->head)->output_count
               * sizeof *launch->result.outputs);
    launch->copies.count = 0;
    if (status == VDBQ_OK)
        status = launch_control_in(launch, &launch->request, error);
    if (status == VDBQ_OK)
        status = job_start(launch, launch->machine, &launch->request, error);
    return status == VDBQ_OK ? device_job_run(launch->job, error) : status;
}

/* A row failed. The rows up to it are run once more, so that it is the only
 * one that does: its first instruction that fails is the one to tell of. Then
 * those before it are, whose rows are the launch's. */
static enum vdbq_status land_before_fault(struct launch *launch,
                                          struct error *error)
{
    u32 row = launch_progress(launch)->fault;
    enum vdbq_status status = run_again(launch, row + 1, error);
    if (status != VDBQ_OK)
        return status;
    struct error failure;
    program_fault(launch->params->program,
                  (int)launch_progress(launch)->fault_at, &failure);
    held_error_set(&launch->failure, &failure);
    status = run_again(launch, row, error);
    return status == VDBQ_OK ? collect(launch, error) : status;
}

enum vdbq_status launch_arrive(struct launch *launch, struct error *error)
{
    assert(launch->state != LAUNCH_IDLE);
    struct device_times *times = launch->params->times;
    enum vdbq_status status = launch_output_start(launch, true, error);
    if (status == VDBQ_OK && launch->state == LAUNCH_STARTED)
        status = land_before_fault(launch, error);
    if (status == VDBQ_OK)
        status = device_job_wait(launch->job, times, error);
    if (status == VDBQ_OK && launch->result.params.sink != NULL)
        status = result_sink(&launch->result, error);
    if (status == VDBQ_OK)
        status = result_land(&launch->result, times, error);
    if (status == VDBQ_OK && launch->params->close_up)
        result_close_up(&launch->result);
    if (status == VDBQ_OK)
        launch->state = LAUNCH_ARRIVED;
    return status;
}
