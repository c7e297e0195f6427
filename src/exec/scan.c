/* SPDX-License-Identifier: MIT */
/*
 * The only loop over tablets: feed, run, collect. A tablet is taken in parts
 * when one launch over all of it would take too long or too much memory.
 */
#include "exec/scan.h"

#include "data/tablet.h"

struct scan {
    struct scan_params params;
    struct runner *runner;
    const struct table *table; /* NULL: a program without a table, one row */
    struct feed *feeds;        /* of the launch at hand                    */
    struct pool_slot *slot;    /* of the tablet at hand; NULL: none        */
    size_t tablet;             /* its number                               */
    uint64_t row;              /* of it, where the next launch starts      */
    uint64_t rows_done;        /* of the table                             */
    uint64_t load_ns;
    bool ended;
    struct arena arena;
};

enum vdbq_status scan_open(const struct scan_params *params,
                           struct scan **scan, struct error *error)
{
    struct scan *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    const struct program *program = params->runner.program;
    made->params = *params;
    enum vdbq_status status =
        runner_open(&params->runner, &made->runner, error);
    if (status == VDBQ_OK) {
        size_t feeds = runner_pack(made->runner)->feed_count;
        made->feeds =
            arena_alloc(&made->arena, (feeds + 1) * sizeof *made->feeds);
        if (made->feeds == NULL)
            status = error_no_memory(error);
    }
    if (status == VDBQ_OK && program->tables.count > 0)
        made->table = catalogue_table_id(
            params->snapshot->catalogue,
            VECTOR_ITEMS(&program->tables, struct program_table)[0].id);
    if (status != VDBQ_OK) {
        scan_close(made);
        made = NULL;
    }
    *scan = made;
    return status;
}

static void release_slot(struct scan *scan)
{
    if (scan->slot != NULL)
        pool_release(scan->params.pool, scan->slot);
    scan->slot = NULL;
}

void scan_close(struct scan *scan)
{
    if (scan == NULL)
        return;
    release_slot(scan);
    runner_close(scan->runner);
    arena_finish(&scan->arena);
    memory_release(scan);
}

/* --------------------------------------------------------------- feed -- */

/* Number in the table of the program's column `column`; -1 is the key. */
static unsigned table_column_number(const struct table *table, int column)
{
    if (column < 0)
        return table->key;
    return (unsigned)column + (table->key != NO_KEY &&
                               (unsigned)column >= table->key);
}

/* Where a column of the tablet at hand starts at row `row`. */
static struct feed column_feed(const struct scan *scan, unsigned column,
                               uint64_t row)
{
    const struct tablet_column *from =
        tablet_column(scan->slot->tablet, column);
    return (struct feed){
        .values = from->values + row * from->width,
        .nulls = from->nulls != 0 ? from->nulls + row / 8 : 0,
        .base = from->base + (i64)row,
        .width = from->width,
        .encoding = from->encoding,
    };
}

/* Row numbers, for a table without a key. */
static struct feed number_feed(const struct scan *scan, uint64_t row)
{
    const struct tablet_ref *tablet = &scan->table->tablets[scan->tablet];
    return (struct feed){ .base = (i64)(tablet->row_first + row),
                          .width = sizeof(i64),
                          .encoding = ENCODING_SEQUENCE };
}

static void make_feeds(struct scan *scan)
{
    const struct program_pack *pack = runner_pack(scan->runner);
    for (unsigned i = 0; i < pack->feed_count; i++) {
        unsigned column =
            table_column_number(scan->table, pack->feeds[i].column);
        scan->feeds[i] = column == NO_KEY
                             ? number_feed(scan, scan->row)
                             : column_feed(scan, column, scan->row);
    }
}

/* Pins the tablet at hand. */
static enum vdbq_status pin(struct scan *scan, struct error *error)
{
    uint64_t before = pool_load_ns(scan->params.pool);
    enum vdbq_status status = pool_pin(scan->params.pool, scan->table,
                                       &scan->table->tablets[scan->tablet],
                                       &scan->slot, error);
    scan->load_ns += pool_load_ns(scan->params.pool) - before;
    if (status == VDBQ_OK && scan->params.runner.mode == MODE_SERIAL)
        status = device_memory_take(scan->slot->memory,
                                    runner_times(scan->runner), error);
    return status;
}

/* ---------------------------------------------------------------- run -- */

/* Runs the next part of the tablet at hand. */
static enum vdbq_status run_part(struct scan *scan, struct error *error)
{
    const struct tablet_ref *tablet = &scan->table->tablets[scan->tablet];
    uint64_t left = tablet->rows - scan->row;
    uint64_t most = runner_rows_max(scan->runner);
    struct runner_input input = {
        .feeds = scan->feeds,
        .data = scan->slot->memory,
        .host = device_memory_host(scan->slot->memory),
        .rows = left < most ? left : most,
    };
    make_feeds(scan);
    enum vdbq_status status = runner_run(scan->runner, &input, error);
    scan->row += input.rows;
    scan->rows_done += input.rows;
    if (status != VDBQ_OK || scan->row < tablet->rows)
        return status;
    scan->row = 0;
    scan->tablet++;
    return VDBQ_OK;
}

/* Runs the program for its one row, without a table. */
static enum vdbq_status run_row(struct scan *scan, struct error *error)
{
    scan->ended = true;
    return runner_run(scan->runner,
                      &(struct runner_input){ .feeds = scan->feeds,
                                              .rows = 1 },
                      error);
}

/* Whether the query is to stop. */
static bool stopped(const struct scan *scan)
{
    const struct scan_params *params = &scan->params;
    if (atomic_load(params->cancelled))
        return true;
    return params->progress != NULL && scan->table != NULL &&
           !params->progress(params->progress_context, scan->rows_done,
                             scan->table->rows);
}

/* One launch, or the end. */
static enum vdbq_status run_next(struct scan *scan, struct error *error)
{
    if (stopped(scan))
        return error_set(error, VDBQ_CANCELLED, "the query was cancelled");
    if (scan->table == NULL)
        return run_row(scan, error);
    if (scan->row == 0)
        release_slot(scan);
    if (scan->tablet == scan->table->tablet_count) {
        scan->ended = true;
        return VDBQ_OK;
    }
    enum vdbq_status status = VDBQ_OK;
    if (scan->slot == NULL)
        status = pin(scan, error);
    return status == VDBQ_OK ? run_part(scan, error) : status;
}

enum vdbq_status scan_batch(struct scan *scan, struct vdbq_batch *batch,
                            struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    runner_batch(scan->runner, batch);
    while (status == VDBQ_OK && batch->rows == 0 && !scan->ended) {
        status = run_next(scan, error);
        if (status == VDBQ_OK)
            runner_batch(scan->runner, batch);
    }
    if (status != VDBQ_OK)
        scan->ended = true;
    return status;
}

void scan_stats(struct scan *scan, struct vdbq_stats *stats)
{
    const struct device_times *times = runner_times(scan->runner);
    stats->build = runner_build(scan->runner);
    stats->rows_read += scan->rows_done;
    stats->bytes_in += times->bytes_in;
    stats->bytes_out += times->bytes_out;
    stats->kernel_ns += times->kernel_ns;
    stats->transfer_ns += times->transfer_ns;
    stats->compile_ns += times->compile_ns;
    stats->load_ns += scan->load_ns;
    stats->launches += times->launches;
}
