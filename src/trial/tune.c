/* SPDX-License-Identifier: MIT */
/*
 * Measures shapes of the machine on a device, with the program of a plain
 * filter over two columns; medians of the kernel's own time count.
 */
#include "trial/tune.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/threads/stop.h"
#include "cl/tablet.h"
#include "device/kind.h"
#include "trial/tune_search.h"

enum {
    TUNE_ROWS = TABLET_ROWS_MAX,
    TUNE_FEW = 64,  /* rows of a launch that is all overhead */
    TUNE_RUNS = 15, /* the median of which counts            */
    TUNE_COLUMNS = 2,
    TUNE_HOST_SHARE = 8, /* the host runs over that part          */
    HOST_ROWS_LEAST = 1 << 10,
    HOST_ROWS_MOST = TABLET_ROWS_MAX /* a query that comes again would want
                                        an open device                     */
};

/* select x, y from t where x > 60 and y + y < 100 */
static const char program_text[] = "Table 0 0 0 0 \"t\"\n"
                                   "ResultColumn 1 0 0 0 \"x\"\n"
                                   "ResultColumn 1 0 0 0 \"y\"\n"
                                   "Parallel 0 0 13 0\n"
                                   "Column.I32 0 0 0 0\n"
                                   "Integer.I32 2 60 0 0\n"
                                   "Le.I32 0 2 12 0\n"
                                   "Column.I32 1 1 0 0\n"
                                   "Add.I32 3 1 1 0\n"
                                   "Integer.I32 4 100 0 0\n"
                                   "Ge.I32 3 4 12 0\n"
                                   "Result 0 2 0 0\n"
                                   "Converge 0 0 0 0\n"
                                   "Finish 0 0 0 0\n";

/* Both columns are plain. */
static const unsigned char tuned_encodings[TUNE_COLUMNS] = {
    1 + ENCODING_PLAIN, 1 + ENCODING_PLAIN
};

struct tuning_run {
    const struct tune_params *params;
    struct program program;
    struct device_memory *data, *host_data;
    struct error *error;
};

/* What TUNE_RUNS launches took, each a median; what the first one took more
 * is compilation. */
struct times_of_run {
    uint64_t kernel_ns;
    uint64_t wall_ns;
    uint64_t compile_ns;
};

static enum vdbq_status tune_all(struct tuning_run *run,
                                 struct device_tuning *best);

/* ---------------------------------------------------------------- rows -- */

static enum vdbq_status program_make(struct program *program,
                                     struct error *error)
{
    static const int types[TUNE_COLUMNS] = { TYPE_I32, TYPE_I32 };
    program_init(program);
    enum vdbq_status status = program_read(program_text, program, error);
    if (status != VDBQ_OK)
        return status;
    struct program_table *table = vector_at(&program->tables, 0);
    table->column_count = TUNE_COLUMNS;
    table->column_types = types;
    table->key_type = TYPE_I64;
    return program_check(program, error);
}

/* Memory with both columns: values from -100 to 100 without a pattern. */
static enum vdbq_status rows_make(struct device *device,
                                  struct device_memory **data,
                                  struct error *error)
{
    const uint64_t values = (uint64_t)TUNE_ROWS * TUNE_COLUMNS;
    enum vdbq_status status = device_memory_create(
        device, MEMORY_PINNED, values * sizeof(i32), data, error);
    if (status != VDBQ_OK)
        return status;
    i32 *at = device_memory_host(*data);
    u64 state = 88172645463325252u;
    for (uint64_t i = 0; i < values; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        at[i] = (i32)(state % 201) - 100;
    }
    return VDBQ_OK;
}

/* ------------------------------------------------------------- measure -- */

static uint64_t median(uint64_t *values)
{
    for (unsigned i = 1; i < TUNE_RUNS; i++)
        for (unsigned k = i; k > 0 && values[k] < values[k - 1]; k--) {
            uint64_t swapped = values[k];
            values[k] = values[k - 1];
            values[k - 1] = swapped;
        }
    return values[TUNE_RUNS / 2];
}

/* One launch, to its last row. */
static enum vdbq_status run_launch(struct launcher *launcher,
                                   const struct launcher_request *request,
                                   struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = launcher_start(launcher, request, error);
    while (status == VDBQ_OK && batch.rows > 0)
        status = launcher_batch(launcher, &batch, error);
    return status;
}

/* Runs once to warm up, then TUNE_RUNS times. */
static enum vdbq_status run_launches(struct launcher *launcher,
                                     const struct launcher_request *request,
                                     struct times_of_run *times,
                                     struct error *error)
{
    uint64_t kernel[TUNE_RUNS], wall[TUNE_RUNS];
    enum vdbq_status status = run_launch(launcher, request, error);
    for (int i = 0; i < TUNE_RUNS && status == VDBQ_OK; i++) {
        uint64_t before = launcher_times(launcher)->kernel_ns;
        uint64_t start = os_time_ns();
        status = run_launch(launcher, request, error);
        kernel[i] = launcher_times(launcher)->kernel_ns - before;
        wall[i] = os_time_ns() - start;
    }
    if (status != VDBQ_OK)
        return status;
    *times = (struct times_of_run){ .kernel_ns = median(kernel),
                                    .wall_ns = median(wall) };
    return VDBQ_OK;
}

/* Measures one build over the first `rows` rows of `data`. */
static enum vdbq_status measure(struct tuning_run *run, struct device *device,
                                struct device_memory *data,
                                enum device_build build, uint64_t rows,
                                struct times_of_run *times)
{
    const struct column_input inputs[TUNE_COLUMNS] = {
        { .width = sizeof(i32), .encoding = ENCODING_PLAIN },
        { .width = sizeof(i32),
          .encoding = ENCODING_PLAIN,
          .values = TUNE_ROWS * sizeof(i32) },
    };
    bool mapped = device_facts(device)->shares_memory;
    struct launcher *launcher;
    const struct settings settings = { .build = build };
    const struct run_place place = { .device = device,
                                     .mode = mapped ? MODE_MAPPED : MODE_SERIAL,
                                     .settings = &settings };
    struct launcher_params params = { .place = &place,
                                      .program = &run->program,
                                      .most_live = true };
    enum vdbq_status status = launcher_open(&params, &launcher, run->error);
    if (status != VDBQ_OK)
        return status;
    struct launcher_request request = {
        .morsels = { { .inputs = inputs,
                       .rows = rows,
                       .data = mapped ? data : NULL,
                       .host = mapped ? NULL : device_memory_host(data) } },
        .count = 1,
    };
    status = run_launches(launcher, &request, times, run->error);
    times->compile_ns = launcher_times(launcher)->compile_ns;
    launcher_close(launcher);
    if (status == VDBQ_OK)
        status =
            device_memory_take(data, &(struct device_times){ 0 }, run->error);
    return status;
}

/* --------------------------------------------------------------- shapes -- */

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Measures one shape both ways and keeps what is better than the best. */
static enum vdbq_status try_shape(struct tuning_run *run,
                                  const struct device_tuning *shape,
                                  struct device_tuning *best, uint64_t ns[2])
{
    struct device *device = run->params->device;
    struct times_of_run times[2];
    char line[128];
    enum vdbq_status status = stop_pause(run->error);
    if (status != VDBQ_OK)
        return status;
    device_tuning_set(device, shape);
    for (int i = BUILD_INTERPRETED; i <= BUILD_SPECIALISED; i++)
        if (status == VDBQ_OK)
            status = measure(run, device, run->data, (enum device_build)i,
                             TUNE_ROWS, &times[i]);
    if (status != VDBQ_OK)
        return status;
    snprintf(line, sizeof line, "%6u %6u %9u %14.3f %14.3f", shape->group,
             shape->tile, shape->item_rows,
             milliseconds(times[BUILD_INTERPRETED].kernel_ns),
             milliseconds(times[BUILD_SPECIALISED].kernel_ns));
    run->params->report(run->params->context, line);
    if (times[BUILD_INTERPRETED].kernel_ns < ns[BUILD_INTERPRETED]) {
        ns[BUILD_INTERPRETED] = times[BUILD_INTERPRETED].kernel_ns;
        best->tile = shape->tile;
        best->group = shape->group;
        best->item_rows = shape->item_rows;
    }
    if (times[BUILD_SPECIALISED].kernel_ns < ns[BUILD_SPECIALISED]) {
        ns[BUILD_SPECIALISED] = times[BUILD_SPECIALISED].kernel_ns;
        best->tile_specialised = shape->tile;
    }
    return VDBQ_OK;
}

/* Tries tiles from `low` to `high` in groups of `group`. */
static enum vdbq_status try_tiles(struct tuning_run *run, unsigned group,
                                  unsigned low, unsigned high,
                                  struct device_tuning *best, uint64_t ns[2])
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned tile = low; tile <= high && status == VDBQ_OK; tile *= 2) {
        struct device_tuning shape = *best;
        shape.group = group;
        shape.tile = shape.tile_specialised = tile;
        status = try_shape(run, &shape, best, ns);
    }
    return status;
}

/* Tries how far an item of a CPU walks, which needs no new build. */
static enum vdbq_status try_items(struct tuning_run *run,
                                  struct device_tuning *best, uint64_t ns[2])
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned rows = 1 << 14; rows <= 1 << 18 && status == VDBQ_OK;
         rows *= 4) {
        struct device_tuning shape = *best;
        shape.item_rows = rows;
        shape.tile_specialised = shape.tile;
        if (rows != best->item_rows)
            status = try_shape(run, &shape, best, ns);
    }
    return status;
}

static enum vdbq_status try_shapes(struct tuning_run *run,
                                   struct device_tuning *best, uint64_t ns[2])
{
    enum vdbq_status status;
    ns[0] = ns[1] = UINT64_MAX;
    run->params->report(run->params->context,
                        " group   tile item rows interpreted ms "
                        "specialised ms");
    if (best->group == 1) {
        status = try_tiles(run, 1, 256, 4096, best, ns);
        return status == VDBQ_OK ? try_items(run, best, ns) : status;
    }
    status = try_tiles(run, 128, 2, 8, best, ns);
    return status == VDBQ_OK ? try_tiles(run, 256, 2, 8, best, ns) : status;
}

/* The same with the kernels' times, which nothing else of the run needs. */
static enum vdbq_status try_timed(struct tuning_run *run,
                                  struct device_tuning *best, uint64_t ns[2])
{
    enum vdbq_status status =
        device_times_hold(run->params->device, run->error);
    if (status != VDBQ_OK)
        return status;
    status = try_shapes(run, best, ns);
    device_times_release(run->params->device);
    return status;
}

/* ---------------------------------------------------------------- rates -- */

/* The time to build a specialised machine to its end, as if no cache held
 * it, and again on a second context, when the driver's cache does. */
static enum vdbq_status measure_builds(struct tuning_run *run,
                                       struct device_tuning *best)
{
    struct arena arena = { 0 };
    struct program_pack pack;
    struct text body = { 0 };
    const struct program_loads loads = { .encodings = tuned_encodings };
    struct device *devices[2] = { run->params->device, run->params->again };
    uint64_t *ns[2] = { &best->compile_ns, &best->cached_ns };
    enum vdbq_status status =
        program_pack(&run->program, &arena, &pack, run->error);
    if (status == VDBQ_OK) {
        /* A driver may look for what it knows behind the preprocessor. */
        text_print(&body, "enum { tuned_at_%llu };\n",
                   (unsigned long long)os_time_ns());
        program_specialise(&run->program, &pack, &loads, &body);
        if (body.failed)
            status = error_no_memory(run->error);
    }
    for (int i = 0; i < 2 && status == VDBQ_OK; i++) {
        device_tuning_set(devices[i], best);
        status = device_build_time(devices[i],
                                   &(struct device_machine_params){
                                       .build = BUILD_SPECIALISED,
                                       .registers = run->program.registers,
                                       .body = body.bytes },
                                   ns[i], run->error);
    }
    text_finish(&body);
    arena_finish(&arena);
    return status;
}

/* Rows under which the host is done before the device is even open. */
static uint64_t host_rows(const struct tuning_run *run,
                          const struct device_tuning *best, double host_row_ns,
                          double device_row_ns)
{
    double fixed =
        (double)(run->params->open_ns + best->cached_ns + best->launch_ns);
    double rows = host_row_ns > device_row_ns
                      ? fixed / (host_row_ns - device_row_ns)
                      : HOST_ROWS_MOST;
    if (rows < HOST_ROWS_LEAST)
        return HOST_ROWS_LEAST;
    return rows > HOST_ROWS_MOST ? HOST_ROWS_MOST : (uint64_t)rows;
}

static enum vdbq_status measure_rates(struct tuning_run *run,
                                      const uint64_t ns[2],
                                      struct device_tuning *best)
{
    struct times_of_run few, host;
    const uint64_t host_share = TUNE_ROWS / TUNE_HOST_SHARE;
    enum vdbq_status status = measure(run, run->params->device, run->data,
                                      BUILD_INTERPRETED, TUNE_FEW, &few);
    if (status == VDBQ_OK)
        status = measure(run, run->params->host, run->host_data,
                         BUILD_INTERPRETED, host_share, &host);
    if (status != VDBQ_OK)
        return status;
    double row_ns = (double)ns[BUILD_INTERPRETED] / TUNE_ROWS;
    best->gain = (double)ns[BUILD_INTERPRETED] / (double)ns[BUILD_SPECIALISED];
    best->cost_ns = row_ns / program_cost(&run->program);
    best->launch_ns = few.wall_ns;
    best->host_rows_max =
        host_rows(run, best, (double)host.wall_ns / (double)host_share, row_ns);
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- all -- */

static void report_rates(const struct tuning_run *run,
                         const struct device_tuning *best,
                         const struct text *path)
{
    struct text lines = { 0 };
    text_print(&lines,
               "interpreted / specialised %.2f, compile %.1f ms, from a cache "
               "%.1f ms, launch %.3f ms",
               best->gain, milliseconds(best->compile_ns),
               milliseconds(best->cached_ns), milliseconds(best->launch_ns));
    if (!lines.failed)
        run->params->report(run->params->context, lines.bytes);
    text_finish(&lines);
    text_print(&lines,
               "GB/s: memory of the device %.1f, to it %.1f, from it %.1f, "
               "both ways %.1f, memory of the host %.1f",
               best->limits.memory_read, best->limits.copy_in,
               best->limits.copy_out, best->limits.copy_both,
               best->limits.host_read);
    if (!lines.failed)
        run->params->report(run->params->context, lines.bytes);
    text_finish(&lines);
    text_print(&lines,
               "the host runs queries of up to %llu rows where no "
               "device is asked for",
               (unsigned long long)best->host_rows_max);
    if (!lines.failed && device_tuning(run->params->device)->group == 1)
        run->params->report(run->params->context, lines.bytes);
    text_finish(&lines);
    if (best->pary_keys_max > 0)
        text_print(&lines,
                   "look-ups of up to %llu keys are p-ary, of more by tree",
                   (unsigned long long)best->pary_keys_max);
    else
        text_print(&lines, "look-ups are by tree, however few keys there are");
    if (!lines.failed)
        run->params->report(run->params->context, lines.bytes);
    text_finish(&lines);
    if (device_facts(run->params->device)->shares_memory
        || best->look_ups_min >= LOOK_UPS_NEVER)
        text_print(&lines, "the host looks up keys of an index, however many");
    else
        text_print(&lines,
                   "the device looks up %llu keys of an index or more at once, "
                   "the host fewer",
                   (unsigned long long)best->look_ups_min);
    if (!lines.failed)
        run->params->report(run->params->context, lines.bytes);
    text_finish(&lines);
    text_print(&lines, "written to %s", path->bytes);
    if (!lines.failed)
        run->params->report(run->params->context, lines.bytes);
    text_finish(&lines);
}

static enum vdbq_status tune_all(struct tuning_run *run,
                                 struct device_tuning *best)
{
    uint64_t ns[2];
    struct text path = { 0 };
    enum vdbq_status status = try_timed(run, best, ns);
    if (status == VDBQ_OK)
        status = measure_builds(run, best);
    if (status == VDBQ_OK)
        status = measure_rates(run, ns, best);
    if (status == VDBQ_OK)
        status = tune_search(run->params, best, run->error);
    if (status == VDBQ_OK)
        status = device_limits_measure(run->params->device, run->error);
    if (status == VDBQ_OK) {
        best->limits = device_tuning(run->params->device)->limits;
        device_tuning_set(run->params->device, best);
        status = device_tuning_save(run->params->device, &path, run->error);
    }
    if (status == VDBQ_OK)
        report_rates(run, best, &path);
    text_finish(&path);
    return status;
}

enum vdbq_status tune(const struct tune_params *params, struct error *error)
{
    struct tuning_run run = { .params = params, .error = error };
    const struct device_tuning before = *device_tuning(params->device);
    struct device_tuning best = before;
    enum vdbq_status status;
    if (!device_facts(params->device)->kind->specialises)
        return error_set(error, VDBQ_DEVICE,
                         "the host has one build: nothing is to be tuned");
    status = program_make(&run.program, error);
    if (status == VDBQ_OK)
        status = rows_make(params->device, &run.data, error);
    if (status == VDBQ_OK)
        status = rows_make(params->host, &run.host_data, error);
    if (status == VDBQ_OK)
        status = tune_all(&run, &best);
    if (status != VDBQ_OK)
        device_tuning_set(params->device, &before);
    device_memory_destroy(run.data);
    device_memory_destroy(run.host_data);
    program_finish(&run.program);
    return status;
}
