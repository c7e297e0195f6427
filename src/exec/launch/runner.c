/* SPDX-License-Identifier: MIT */
/*
 * Runs a program over feeds: keeps a ring of flights going, on the machine that
 * exec/launch/adapt.c chooses. Flights start and land in order, and so the rows come in
 * order.
 */
#include "exec/launch/runner.h"

#include "cl/tablet.h"
#include "exec/launch/adapt.h"
#include "exec/launch/flight.h"

enum {
    LAUNCH_WORK = 100000000,  /* cost of one launch, in additions: a CPU
                                   core does this in some 20 ms          */
    GPU_FACTOR = 32,          /* a GPU does that much more             */
    LAUNCH_BYTES = 128 << 20, /* of feeds or of result rows, together  */
    MAPPED_BYTES = 64 << 20,  /* of result rows in the host's memory   */
    CACHED_SHARE = 256,       /* cached: of result rows, up to such a part
                                   of the device's memory, and ...       */
    CACHED_BYTES = 256 << 20, /* ... this: a launch takes 8 us to start
                                   and end (H200)                        */
    LAUNCH_ROWS_STEP = 64     /* launches start at multiples of this   */
};

struct runner {
    struct device *device;
    const struct program *program;
    enum run_mode mode;
    struct arena arena; /* of the pack and of the control blocks */
    struct program_pack pack;
    struct control control;
    struct adapt adapt; /* chooses the machine, where it may */
    uint64_t rows_max;
    struct flight_params shared;
    struct flight flights[RUNNER_RING_MAX]; /* a ring                  */
    unsigned ring;      /* of which this many are used                 */
    unsigned first;     /* the oldest in flight                        */
    unsigned in_flight; /* how many                                    */
    bool failed;        /* a row of the oldest one, behind its rows    */
    struct sink *sink;  /* takes the rows; NULL: none                  */
    struct device_times times;
};

const char *runner_mode_name(enum run_mode mode)
{
    static const char *const names[RUN_MODES] = {
        [MODE_SERIAL] = "serial",
        [MODE_STREAMED] = "streamed",
        [MODE_MAPPED] = "mapped",
        [MODE_CACHED] = "cached",
    };
    return names[mode];
}

/* -------------------------------------------------------- open, close -- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bytes of one row of everything that has to come to the device; cells share
 * theirs. */
static uint64_t feed_row_bytes(const struct runner *runner)
{
    return runner->mode == MODE_CACHED || program_axes(runner->program) > 1
               ? 1
               : (uint64_t)runner->pack.feed_count * sizeof(i64) + 1;
}

/* Bytes of a launch's result rows, at most. */
static uint64_t result_bytes(const struct runner *runner)
{
    uint64_t share = device_facts(runner->device)->memory_bytes / CACHED_SHARE;
    if (runner->mode == MODE_MAPPED)
        return MAPPED_BYTES;
    if (runner->mode != MODE_CACHED || share < LAUNCH_BYTES)
        return LAUNCH_BYTES;
    return least(share, CACHED_BYTES);
}

static uint64_t rows_of_a_launch(const struct runner *runner)
{
    uint64_t work = LAUNCH_WORK;
    if (device_facts(runner->device)->is_gpu)
        work *= GPU_FACTOR;
    uint64_t rows = work / program_cost(runner->program);
    rows =
        least(rows, result_bytes(runner) / result_row_bytes(runner->program));
    rows = least(rows, LAUNCH_BYTES / feed_row_bytes(runner));
    rows = least(rows, (uint64_t)LAUNCH_PIECES * TABLET_ROWS_MAX);
    rows -= rows % LAUNCH_ROWS_STEP;
    return rows > 0 ? rows : LAUNCH_ROWS_STEP;
}

static enum vdbq_status adapt_open(struct runner *runner,
                                   const struct runner_params *params,
                                   struct error *error)
{
    return adapt_init(&runner->adapt,
                      &(struct adapt_params){ .device = params->device,
                                              .program = params->program,
                                              .pack = &runner->pack,
                                              .adaptive = params->adaptive,
                                              .build = params->build,
                                              .rows = params->rows,
                                              .most_live = params->most_live,
                                              .arena = &runner->arena },
                      &runner->times, error);
}

/* Launches that a mode has in flight: they overlap with copies, and on a CPU
 * the device need not wait until the host's thread has its turn. */
static unsigned ring_of(enum run_mode mode)
{
    return mode == MODE_SERIAL ? 1 : RUNNER_RING_MAX;
}

static enum vdbq_status make_ring(struct runner *runner,
                                  const struct run_inner *inner, uint64_t rows,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    runner->shared = (struct flight_params){
        .device = runner->device,
        .program = runner->program,
        .pack = &runner->pack,
        .control = &runner->control,
        .inner = inner != NULL ? inner->memory : NULL,
        .times = &runner->times,
        .mapped = runner->mode == MODE_MAPPED,
        .narrow_rows_max = ring_of(runner->mode) > 1 ? rows / 2 : 0,
        .share = -1,
    };
    runner->ring = ring_of(runner->mode);
    for (unsigned i = 0; i < runner->ring && status == VDBQ_OK; i++)
        status = flight_init(&runner->flights[i], &runner->shared,
                             &runner->arena, error);
    return status;
}

static enum vdbq_status runner_prepare(struct runner *runner,
                                       const struct runner_params *params,
                                       struct error *error)
{
    enum vdbq_status status =
        program_pack(runner->program, &runner->arena, &runner->pack, error);
    if (status == VDBQ_OK)
        status = adapt_open(runner, params, error);
    if (status != VDBQ_OK)
        return status;
    runner->rows_max = rows_of_a_launch(runner);
    const struct run_values nothing = { 0 };
    status = control_init(&runner->control, runner->program, &runner->pack,
                          params->values ? params->values : &nothing,
                          params->inner, &runner->arena, error);
    return status == VDBQ_OK
               ? make_ring(runner, params->inner, params->rows, error)
               : status;
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
    for (unsigned i = 0; i < RUNNER_RING_MAX; i++)
        flight_finish(&runner->flights[i]);
    arena_finish(&runner->arena);
    memory_release(runner);
}

void runner_sink(struct runner *runner, struct sink *sink)
{
    runner->sink = sink;
    for (unsigned i = 0; i < runner->ring; i++)
        runner->flights[i].result.params.sink = sink;
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

void runner_stats(struct runner *runner, struct vdbq_stats *stats)
{
    const struct device_times *times = &runner->times;
    stats->build = runner_build(runner);
    stats->bytes_in += times->bytes_in;
    stats->bytes_out += times->bytes_out;
    stats->kernel_ns += times->kernel_ns;
    stats->builds += times->builds;
    stats->builds_cached += times->builds_cached;
    stats->transfer_ns += times->transfer_ns;
    stats->compile_ns += times->compile_ns;
    stats->launches += times->launches;
}

/* ---------------------------------------------------------------- ring -- */

unsigned runner_in_flight(const struct runner *runner)
{
    return runner->in_flight;
}

unsigned runner_ring(const struct runner *runner)
{
    return runner->ring;
}

/* A CPU may be done with the first launch's rows, as with a LIMIT: the others
 * follow once these have been asked for. */
bool runner_has_room(const struct runner *runner)
{
    bool first = runner->mode == MODE_MAPPED && runner->times.launches == 0;
    return !runner->failed && runner->in_flight < (first ? 1 : runner->ring);
}

/* The n-th flight, from the oldest on. */
static struct flight *flight_at(struct runner *runner, unsigned n)
{
    return &runner->flights[(runner->first + n) % runner->ring];
}

/* Whether it is known about how many rows a launch gives. */
static bool foresees(const struct runner *runner)
{
    return runner->shared.share >= 0;
}

/* Sends the rows of a launch on their way if it has run, or the host waits for
 * that; else as many as are foreseen. */
static enum vdbq_status send_flight(struct runner *runner,
                                    struct flight *flight, bool wait,
                                    struct error *error)
{
    enum vdbq_status status = flight_hurry(flight, wait, error);
    if (status != VDBQ_OK || !flight_foresees(flight))
        return status;
    if (flight->state == FLIGHT_LEAVING)
        runner->shared.share = flight_share(flight);
    return foresees(runner) ? flight_foresee(flight, error) : VDBQ_OK;
}

/* Sends the rows of launches on their way. `waited` of them are waited for
 * where it is not foreseen how many rows there are: to ask a GPU takes as long
 * as rows of others are on their way. */
static enum vdbq_status send_rows(struct runner *runner, unsigned waited,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    bool stay = runner->mode == MODE_MAPPED || runner->sink != NULL;
    unsigned leaving = stay ? 0 : runner->in_flight;
    for (unsigned i = 0; i < leaving && status == VDBQ_OK; i++)
        status = send_flight(runner, flight_at(runner, i),
                             i < waited && !foresees(runner), error);
    return status;
}

/* How many launches are waited for before the next one starts: the first, once
 * another keeps the way to the device busy, so that its rows can set out and
 * those of others be foreseen. */
static unsigned waited_at_start(struct runner *runner)
{
    return runner->in_flight >= 2 && flight_foresees(flight_at(runner, 0)) ? 1
                                                                           : 0;
}

enum vdbq_status runner_start(struct runner *runner,
                              const struct runner_input *input,
                              struct error *error)
{
    struct flight *flight = flight_at(runner, runner->in_flight);
    struct device_machine *machine;
    enum vdbq_status status = send_rows(runner, waited_at_start(runner), error);
    if (status == VDBQ_OK)
        status = adapt_machine(&runner->adapt, input, &runner->times, &machine,
                               error);
    if (status == VDBQ_OK)
        status = flight_start(flight, machine, input, error);
    if (status == VDBQ_OK)
        runner->in_flight++;
    return status;
}

/* Waits for the rows of the oldest flight. Those of the next are waited for
 * to set out behind them, so that there is always something on its way out;
 * of others, where they are known already. */
static enum vdbq_status land(struct runner *runner, struct error *error)
{
    enum vdbq_status status = send_rows(runner, 2, error);
    if (status != VDBQ_OK)
        return status;
    struct flight *flight = flight_at(runner, 0);
    uint64_t before = runner->times.kernel_ns;
    status = flight_land(flight, error);
    adapt_ran(&runner->adapt, flight->machine, flight->rows,
              runner->times.kernel_ns - before);
    runner->failed = status == VDBQ_OK && flight->failure.status != VDBQ_OK;
    return status;
}

/* Tells of the row that failed, once a call said that none is left before it. */
static enum vdbq_status tell_failure(const struct flight *flight,
                                     struct error *error)
{
    *error = flight->failure;
    return error->status;
}

uint64_t runner_rows_before(const struct runner *runner)
{
    return runner->flights[runner->first].rows;
}

enum vdbq_status runner_batch(struct runner *runner, struct vdbq_batch *batch,
                              struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    struct flight *flight = flight_at(runner, 0);
    if (runner->failed && flight->state == FLIGHT_IDLE)
        return tell_failure(flight, error);
    if (flight->state != FLIGHT_LANDED)
        status = land(runner, error);
    if (status != VDBQ_OK)
        return status;
    result_batch(&flight->result, batch);
    if (batch->rows > 0)
        return VDBQ_OK;
    flight->state = FLIGHT_IDLE;
    if (runner->failed)
        return VDBQ_OK;
    runner->first = (runner->first + 1) % runner->ring;
    runner->in_flight--;
    return VDBQ_OK;
}
