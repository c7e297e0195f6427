/* SPDX-License-Identifier: MIT */
/*
 * Runs a program over inputs: keeps a ring of launches going, on the machine
 * that exec/launch/adapt.c chooses. Launches start and end in order, and so the
 * rows come in order.
 */
#include "exec/launch/launcher.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "cl/tablet.h"
#include "device/kind.h"
#include "exec/launch/adapt.h"
#include "exec/launch/launch.h"

enum {
    LAUNCH_WORK = 100000000,    /* cost of one launch, in additions: a CPU
                                   core does this in some 20 ms          */
    LAUNCH_BYTES = 128 << 20,   /* of inputs or of result rows, together */
    MAPPED_BYTES = 16 << 20,    /* of result rows in the host's memory: they are
                                   read while its caches have them ...   */
    MAPPED_CORES = 4,           /* ... of so many cores, and what belongs to
                                   them: more take more                  */
    CORE_ROWS = 1 << 18,        /* mapped: rows of a launch that a core is
                                   worth starting for                    */
    CACHED_SHARE = 256,         /* cached: of result rows, up to such a part
                                   of the device's memory, and ...       */
    CACHED_BYTES = 256 << 20,   /* ... this: a launch takes 8 us to start
                                   and end (H200)                        */
    MEMORY_SHARE = 64,          /* of what the user lets all have of the host's
                                   memory: result rows, up to such a part */
    RESULT_BYTES = 64 << 10,    /* ... and at least this                 */
    LAUNCH_ROWS_STEP = 64,      /* launches start at multiples of this   */
    OWN_BYTES_LEAST = 1280,     /* of a work-group's own table of groups    */
    FEW_ROWS = HOSTILE(0, 1024) /* up to so many are run over in one launch
                                   in less time than more are made in  */
};

struct launcher {
    struct device *device;         /* of all launches */
    const struct program *program; /* of the caller */
    enum run_mode mode;            /* how columns come to the device */
    uint64_t memory_bytes;         /* of the settings; 0: the default */
    struct arena arena;            /* of the pack and of the control blocks */
    struct program_pack pack;      /* of the program */
    struct control control;        /* the block that all launches share */
    struct adapt adapt;            /* chooses the machine, where it may */
    uint64_t rows_max;             /* of one launch */
    /* what all launches of the ring have in common */
    struct launch_params shared;
    struct launch *launches;   /* a ring, in the arena                        */
    unsigned ring;             /* how many they are                           */
    unsigned first;            /* the oldest in flight                        */
    unsigned in_flight;        /* how many                                    */
    bool failed;               /* a row of the oldest one, behind its rows    */
    struct sink *sink;         /* takes the rows; NULL: none                  */
    bool gives_rows;           /* ... some: a launch added none to groups     */
    struct device_times times; /* added to by all launches */
};

/* -------------------------------------------------------- open, close -- */

/* The smaller of two. */
static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bytes of one row of everything that has to come to the device; cells share
 * theirs. */
static uint64_t input_row_bytes(const struct launcher *launcher)
{
    return launcher->mode == MODE_CACHED || program_axes(launcher->program) > 1
               ? 1
               : (uint64_t)launcher->pack.input_count * sizeof(i64) + 1;
}

/* The larger of two. */
static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* How much more a launch takes than one of a few cores, so that these set out
 * and wait for one another as seldom (16 cores, TPC-H 1, 5, 7: 0.8 to 0.87 of
 * the time). */
static uint64_t launch_width(const struct launcher *launcher)
{
    return launcher->mode == MODE_MAPPED
               ? most(device_facts(launcher->device)->cores / MAPPED_CORES, 1)
               : 1;
}

/* Bytes of a launch's result rows in the host's memory, at most. */
static uint64_t mapped_bytes(const struct launcher *launcher)
{
    uint64_t share = launcher->memory_bytes / MEMORY_SHARE;
    uint64_t bytes = MAPPED_BYTES * launch_width(launcher);
    if (launcher->memory_bytes == 0)
        return bytes;
    return least(most(share, RESULT_BYTES), bytes);
}

/* Bytes of a launch's result rows, at most. */
static uint64_t result_bytes(const struct launcher *launcher)
{
    uint64_t share =
        device_facts(launcher->device)->memory_bytes / CACHED_SHARE;
    if (launcher->mode == MODE_MAPPED)
        return mapped_bytes(launcher);
    if (launcher->mode != MODE_CACHED || share < LAUNCH_BYTES)
        return LAUNCH_BYTES;
    return least(share, CACHED_BYTES);
}

/* How many rows one launch takes: bounded by its time, by the bytes of its
   columns and of its result, and by the tablets of one launch. */
static uint64_t rows_of_a_launch(const struct launcher *launcher)
{
    uint64_t work = LAUNCH_WORK * launch_width(launcher)
                    * device_facts(launcher->device)->kind->launch_factor;
    uint64_t rows = work / program_cost(launcher->program);
    rows = least(rows,
                 result_bytes(launcher) / result_row_bytes(launcher->program));
    rows = least(rows, LAUNCH_BYTES * launch_width(launcher)
                           / input_row_bytes(launcher));
    rows = least(rows, (uint64_t)LAUNCH_MORSELS * TABLET_ROWS_MAX);
    rows -= rows % LAUNCH_ROWS_STEP;
    assert(rows % LAUNCH_ROWS_STEP == 0);
    return rows > 0 ? rows : LAUNCH_ROWS_STEP;
}

/* Opens the choice between the interpreted and the specialised kernel. */
static enum vdbq_status adapt_open(struct launcher *launcher,
                                   const struct launcher_params *params,
                                   struct error *error)
{
    return adapt_init(&launcher->adapt,
                      &(struct adapt_params){ .launcher = params,
                                              .pack = &launcher->pack,
                                              .arena = &launcher->arena },
                      &launcher->times, error);
}

/* Launches that a mode has in flight: they overlap with copies, and on a CPU
 * the device need not wait until the host's thread has its turn. */
static unsigned ring_of(enum run_mode mode)
{
    return mode == MODE_SERIAL ? 1 : LAUNCHER_RING_MAX;
}

/* The same of a launcher over `rows`: where a launch has much to say it runs long
 * enough for the host's thread to have its turn, and each one holds that twice. */
static unsigned ring_in(const struct launcher *launcher, uint64_t rows)
{
    enum { MUCH = 1 << 20, TWO = 2 };
    const struct control *control = &launcher->control;
    bool few = rows > 0 && rows <= FEW_ROWS; /* 0: nobody knows */
    unsigned ring = few ? 1 : ring_of(launcher->mode);
    bool much = control->fixed_size + control->order_codes_size > MUCH;
    return launcher->mode == MODE_MAPPED && much && ring > TWO ? TWO : ring;
}

/* Nothing is known yet of what launches over `rows` give. */
static void share_nothing(struct launcher *launcher, uint64_t rows)
{
    launcher->shared.narrow_rows_max =
        ring_of(launcher->mode) > 1 ? rows / 2 : 0;
    launcher->shared.share = -1;
}

/* Makes the launches that may be under way at the same time. */
static enum vdbq_status make_ring(struct launcher *launcher,
                                  const struct run_build_side *build_side,
                                  uint64_t rows, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    launcher->shared = (struct launch_params){
        .device = launcher->device,
        .program = launcher->program,
        .pack = &launcher->pack,
        .control = &launcher->control,
        .build_side = build_side != NULL ? build_side->memory : NULL,
        .times = &launcher->times,
        .mapped = launcher->mode == MODE_MAPPED,
    };
    share_nothing(launcher, rows);
    unsigned ring = ring_in(launcher, rows);
    assert(ring > 0 && ring <= LAUNCHER_RING_MAX);
    launcher->launches =
        arena_alloc(&launcher->arena, ring * sizeof *launcher->launches);
    if (launcher->launches == NULL)
        return error_no_memory(error);
    memset(launcher->launches, 0, ring * sizeof *launcher->launches);
    launcher->ring = ring;
    for (unsigned i = 0; i < launcher->ring && status == VDBQ_OK; i++)
        status = launch_init(&launcher->launches[i], &launcher->shared,
                             &launcher->arena, error);
    return status;
}

/* Packs the program, chooses its kernel and makes the ring. */
static enum vdbq_status launcher_prepare(struct launcher *launcher,
                                         const struct launcher_params *params,
                                         struct error *error)
{
    enum vdbq_status status = program_pack(launcher->program, &launcher->arena,
                                           &launcher->pack, error);
    if (status == VDBQ_OK)
        status = adapt_open(launcher, params, error);
    if (status != VDBQ_OK)
        return status;
    launcher->rows_max = rows_of_a_launch(launcher);
    const struct run_values nothing = { 0 };
    status =
        control_init(&launcher->control, launcher->program, &launcher->pack,
                     params->values ? params->values : &nothing,
                     params->build_side, &launcher->arena, error);
    return status == VDBQ_OK
               ? make_ring(launcher, params->build_side, params->rows, error)
               : status;
}

enum vdbq_status launcher_open(const struct launcher_params *params,
                               struct launcher **launcher, struct error *error)
{
    struct launcher *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    assert(params->place->mode != MODE_AUTO);
    made->device = params->place->device;
    made->program = params->program;
    made->mode = params->place->mode;
    made->memory_bytes = params->place->settings->memory_bytes;
    enum vdbq_status status = launcher_prepare(made, params, error);
    if (status != VDBQ_OK) {
        launcher_close(made);
        made = NULL;
    }
    *launcher = made;
    return status;
}

void launcher_close(struct launcher *launcher)
{
    if (launcher == NULL)
        return;
    adapt_finish(&launcher->adapt);
    for (unsigned i = 0; i < launcher->ring; i++)
        launch_finish(&launcher->launches[i]);
    device_memory_release(launcher->shared.tables_memory);
    arena_finish(&launcher->arena);
    memory_release(launcher);
}

bool launcher_can_rest(const struct launcher *launcher)
{
    return launcher->in_flight == 0 && !launcher->failed
           && launcher->mode == MODE_MAPPED && launcher->sink == NULL
           && launcher->shared.build_side == NULL
           && launcher->shared.bound == NULL && !launcher->adapt.adaptive
           && launcher->adapt.build == BUILD_INTERPRETED
           && launcher->pack.lookup_count == 0;
}

void launcher_again(struct launcher *launcher,
                    const struct launcher_params *params)
{
    assert(launcher_can_rest(launcher));
    assert(params->program == launcher->program);
    launcher->times = (struct device_times){ 0 };
    adapt_again(&launcher->adapt, params->rows);
    share_nothing(launcher, params->rows);
    if (params->values != NULL)
        control_values(&launcher->control, launcher->program, &launcher->pack,
                       params->values);
    for (unsigned i = 0; i < launcher->ring; i++)
        launcher->launches[i].control_sent = false;
}

/* How the specialised machine is made for a sink. */
static enum program_sink sink_form(const struct sink *sink)
{
    if (sink == NULL || sink->groups == NULL)
        return SINK_RESULT;
    return sink->groups->copies > 0 ? SINK_OWN : SINK_COMMON;
}

/* Room for a work-group's own table and its copies: one of few sizes, so that few
 * machines serve all tables, and no more than need be, for the rest of a core's local
 * memory is its cache. */
static unsigned own_bytes(const struct sink *sink)
{
    unsigned bytes = LAUNCH_LOCAL_BYTES, wanted;
    if (sink == NULL || sink->groups == NULL)
        return 0;
    wanted = sink->groups->copies * sink->groups->copy_bytes;
    assert(wanted <= bytes);
    while (bytes / 2 >= wanted && bytes / 2 >= OWN_BYTES_LEAST)
        bytes /= 2;
    return bytes;
}

void launcher_sink(struct launcher *launcher, struct sink *sink)
{
    launcher->sink = sink;
    launcher->adapt.loads.sink = sink_form(sink);
    launcher->adapt.loads.own_bytes = own_bytes(sink);
    for (unsigned i = 0; i < launcher->ring; i++)
        launcher->launches[i].result.params.sink = sink;
}

enum vdbq_status launcher_tables(struct launcher *launcher,
                                 struct launch_tables *tables,
                                 struct error *error)
{
    launcher->shared.tables = tables;
    return launch_tables_make(tables, launcher->device,
                              &launcher->shared.tables_memory, &launcher->times,
                              error);
}

void launcher_bound(struct launcher *launcher, const struct launch_bound *bound)
{
    launcher->shared.bound = bound;
}

void launcher_close_up(struct launcher *launcher)
{
    launcher->shared.close_up = true;
}

const struct program_pack *launcher_pack(const struct launcher *launcher)
{
    return &launcher->pack;
}

uint64_t launcher_rows_max(const struct launcher *launcher)
{
    return launcher->rows_max;
}

uint64_t launcher_rows_wanted(const struct launcher *launcher)
{
    uint64_t cores = most(device_facts(launcher->device)->cores, 1);
    return launcher->times.launches == 0 && launcher->shared.tables == NULL
               ? 1
               : least(CORE_ROWS * cores, launcher->rows_max);
}

const char *launcher_build(struct launcher *launcher)
{
    return adapt_text(&launcher->adapt);
}

struct device_times *launcher_times(struct launcher *launcher)
{
    return &launcher->times;
}

void launcher_stats(struct launcher *launcher, struct vdbq_stats *stats)
{
    const struct device_times *times = &launcher->times;
    stats->build = launcher_build(launcher);
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

unsigned launcher_in_flight(const struct launcher *launcher)
{
    return launcher->in_flight;
}

unsigned launcher_ring(const struct launcher *launcher)
{
    return launcher->ring;
}

/* A CPU may be done with the first launch's rows, as with a LIMIT: the others
 * follow once these have been asked for. Tables of groups that are full are taken
 * before more rows come. */
bool launcher_has_room(const struct launcher *launcher)
{
    bool first = launcher->mode == MODE_MAPPED && launcher->times.launches == 0
                 && launcher->shared.tables == NULL;
    bool full = launch_tables_full(launcher->shared.tables);
    return !launcher->failed
           && launcher->in_flight < (first || full ? 1 : launcher->ring);
}

/* The n-th launch, from the oldest on. */
static struct launch *launch_at(struct launcher *launcher, unsigned n)
{
    assert(n < launcher->ring);
    return &launcher->launches[(launcher->first + n) % launcher->ring];
}

/* Whether it is known about how many rows a launch gives. */
static bool can_prefetch(const struct launcher *launcher)
{
    return launcher->shared.share >= 0;
}

/* Sends the rows of a launch on their way if it has run, or the host waits for
 * that; else as many as are prefetched. */
static enum vdbq_status start_output(struct launcher *launcher,
                                     struct launch *launch, bool wait,
                                     struct error *error)
{
    enum vdbq_status status = launch_output_start(launch, wait, error);
    if (status != VDBQ_OK || !launch_can_prefetch(launch))
        return status;
    if (launch->state == LAUNCH_LEAVING)
        launcher->shared.share = launch_share(launch);
    return can_prefetch(launcher) ? launch_prefetch_output(launch, error)
                                  : VDBQ_OK;
}

/* Sends the rows of launches on their way. `waited` of them are waited for
 * where nobody predicts how many rows there are: to ask a GPU takes as long
 * as rows of others are on their way. */
static enum vdbq_status send_rows(struct launcher *launcher, unsigned waited,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    bool stay = launcher->mode == MODE_MAPPED || launcher->sink != NULL;
    unsigned leaving = stay ? 0 : launcher->in_flight;
    for (unsigned i = 0; i < leaving && status == VDBQ_OK; i++)
        status = start_output(launcher, launch_at(launcher, i),
                              i < waited && !can_prefetch(launcher), error);
    return status;
}

/* How many launches are waited for before the next one starts: the first, once
 * another keeps the way to the device busy, so that its rows can set out and
 * those of others be prefetched. */
static unsigned waited_at_start(struct launcher *launcher)
{
    return launcher->in_flight >= 2
                   && launch_can_prefetch(launch_at(launcher, 0))
               ? 1
               : 0;
}

enum vdbq_status launcher_start(struct launcher *launcher,
                                const struct launcher_request *request,
                                struct error *error)
{
    assert(launcher->in_flight < launcher->ring);
    struct launch *launch = launch_at(launcher, launcher->in_flight);
    struct device_machine *machine;
    enum vdbq_status status =
        send_rows(launcher, waited_at_start(launcher), error);
    if (status == VDBQ_OK)
        status = adapt_machine(&launcher->adapt, request, &launcher->times,
                               &machine, error);
    if (status == VDBQ_OK) {
        launch->groups = adapt_groups(&launcher->adapt, machine)
                             ? launcher->sink->groups
                             : NULL;
        status = launch_start(launch, machine, request, error);
    }
    launcher->gives_rows |= launch->groups == NULL;
    if (status == VDBQ_OK)
        launcher->in_flight++;
    return status;
}

enum vdbq_status launcher_all_started(struct launcher *launcher,
                                      struct error *error)
{
    struct sink *sink = launcher->sink;
    return sink != NULL && sink->all_started != NULL && !launcher->gives_rows
                   && launcher->in_flight > 0
               ? sink->all_started(sink, error)
               : VDBQ_OK;
}

/* Waits for the rows of the n-th launch, once those before it are there. Those
 * of the next are waited for to set out behind them, so that there is always
 * something on its way out; of others, where they are known already. */
static enum vdbq_status land(struct launcher *launcher, unsigned n,
                             struct error *error)
{
    enum vdbq_status status = send_rows(launcher, n + 2, error);
    if (status != VDBQ_OK)
        return status;
    struct launch *launch = launch_at(launcher, n);
    uint64_t before = launcher->times.kernel_ns;
    status = launch_arrive(launch, error);
    adapt_ran(&launcher->adapt, launch->machine, launch->rows,
              launcher->times.kernel_ns - before);
    return status;
}

enum vdbq_status launcher_settle(struct launcher *launcher, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < launcher->in_flight && status == VDBQ_OK; i++) {
        enum launch_state state = launch_at(launcher, i)->state;
        if (state == LAUNCH_STARTED || state == LAUNCH_LEAVING)
            status = land(launcher, i, error);
    }
    return status;
}

/* Tells of the row that failed, once a call said that none is left before
 * it. */
static enum vdbq_status tell_failure(const struct launch *launch,
                                     struct error *error)
{
    assert(launch->failure.status != VDBQ_OK);
    return held_error_tell(&launch->failure, error);
}

uint64_t launcher_rows_before(const struct launcher *launcher)
{
    assert(launcher->in_flight > 0);
    return launcher->launches[launcher->first].rows;
}

bool launcher_stays(const struct launcher *launcher)
{
    const struct launch *launch = &launcher->launches[launcher->first];
    return launcher->in_flight > 0 && launch->state == LAUNCH_ARRIVED
           && result_has_batch(&launch->result);
}

/* Has the tables of groups taken, unless launches still add to them. */
static enum vdbq_status take_tables(struct launcher *launcher,
                                    struct error *error)
{
    const struct launch_params *shared = &launcher->shared;
    return shared->tables != NULL && launcher->in_flight == 0
               ? launch_tables_take(shared->tables, shared->tables_memory,
                                    &launcher->times, error)
               : VDBQ_OK;
}

enum vdbq_status launcher_batch(struct launcher *launcher,
                                struct vdbq_batch *batch, struct error *error)
{
    assert(launcher->in_flight > 0);
    enum vdbq_status status = VDBQ_OK;
    struct launch *launch = launch_at(launcher, 0);
    if (launcher->failed && launch->state == LAUNCH_IDLE)
        return tell_failure(launch, error);
    if (launch->state != LAUNCH_ARRIVED)
        status = land(launcher, 0, error);
    if (status != VDBQ_OK)
        return status;
    assert(launch->state == LAUNCH_ARRIVED);
    launcher->failed = launch->failure.status != VDBQ_OK;
    result_batch(&launch->result, batch);
    if (batch->rows > 0)
        return VDBQ_OK;
    launch->state = LAUNCH_IDLE;
    if (launcher->failed)
        return VDBQ_OK;
    launcher->first = (launcher->first + 1) % launcher->ring;
    launcher->in_flight--;
    return take_tables(launcher, error);
}
