/* SPDX-License-Identifier: MIT */
/*
 * Windows of one value a partition, in files: see window_parts.h. Rows that share a hash keep
 * their order, and each its number, so that the first one of a partition is the
 * same as in memory.
 */
#include "exec/window/window_parts.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/stop.h"
#include "exec/rows/reorder.h"
#include "exec/rows/row_index.h"
#include "exec/window/window_apart.h"
#include "exec/window/window_firsts.h"

enum {
    HASHES = HOSTILE(4, 128), /* rows are told apart by so many          */
    BLOCKS_PART = 4,          /* of the memory: blocks of hashes         */
    OTHER_PART = 4,           /* ... wanted rows that are put in order   */
    APART_PART = 4,           /* ... one partition of too many rows      */
    RUNS_PART = 2,            /* ... windows of the others, in runs      */
    COMPUTE_BYTES = 40 /* of a row, while its windows are computed            */
};

struct window_parts {
    struct window_spill_params params;
    struct spill spill; /* rows of the input, by their hashes               */
    struct spill_parts adding;   /* ... adds them                            */
    struct row_set view;         /* of a batch                               */
    struct row_set_column *keys; /* ... what its rows are parted by          */
    uint64_t rows;               /* so far: the number of the next one       */
    struct reorder done;         /* wanted rows, with their windows          */
};

static const struct vector *partition_of(const struct step_window *step)
{
    const struct step_window_function *first = vector_at(&step->functions, 0);
    return &first->partition;
}

bool window_parts_can(const struct step_window *step)
{
    for (size_t i = 0; i < step->functions.count; i++) {
        const struct step_window_function *function =
            vector_at(&step->functions, i);
        if (function->partition.count == 0 || !step_window_gives_one(function)
            || !step_window_parts_alike(function,
                                        vector_at(&step->functions, 0)))
            return false;
    }
    return step->functions.count > 0;
}

/* ----------------------------------------------------- create, destroy -- */

/* Makes the file, for the columns of the input. */
static enum vdbq_status make_spill(struct window_parts *parts,
                                   struct error *error)
{
    const struct window_spill_params *params = &parts->params;
    enum vdbq_status status =
        row_set_init(&parts->view, params->columns, params->input_count, error);
    if (status == VDBQ_OK)
        status = spill_init(
            &parts->spill,
            &(struct spill_params){ .files = params->files,
                                    .memory = params->memory,
                                    .columns = params->columns,
                                    .column_count = params->input_count,
                                    .partitions = HASHES,
                                    .block_bytes = params->room_bytes
                                                   / BLOCKS_PART / HASHES },
            error);
    return status == VDBQ_OK ? spill_parts_init(&parts->adding, &parts->spill,
                                                params->threads, error)
                             : status;
}

enum vdbq_status window_parts_create(const struct window_spill_params *params,
                                     struct window_parts **parts,
                                     struct error *error)
{
    struct window_parts *made = memory_zeroed(1, sizeof *made);
    *parts = NULL;
    if (made == NULL)
        return error_no_memory(error);
    assert(window_parts_can(params->step) && params->joined == NULL);
    made->params = *params;
    made->keys =
        memory_zeroed(partition_of(params->step)->count, sizeof *made->keys);
    enum vdbq_status status = make_spill(made, error);
    if (status == VDBQ_OK && made->keys == NULL)
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        *parts = made;
    else
        window_parts_destroy(made);
    return status;
}

void window_parts_destroy(struct window_parts *parts)
{
    if (parts == NULL)
        return;
    spill_parts_finish(&parts->adding);
    spill_finish(&parts->spill);
    row_set_view_finish(&parts->view);
    reorder_finish(&parts->done);
    memory_release(parts->keys);
    memory_release(parts);
}

/* ----------------------------------------------------------------- add -- */

/* For spill_parts: the hashes of rows. */
static void find_hashes(const void *context, uint64_t first, uint64_t count,
                        uint16_t *hashes)
{
    const struct window_parts *parts = context;
    row_partitions(parts->keys,
                   (unsigned)partition_of(parts->params.step)->count, first,
                   count, HASHES, hashes);
}

enum vdbq_status window_parts_add(struct window_parts *parts,
                                  const struct vdbq_batch *batch,
                                  struct error *error)
{
    const struct vector *columns = partition_of(parts->params.step);
    const struct spill_slice all = { .from = &parts->view,
                                     .number = parts->rows,
                                     .find = find_hashes,
                                     .context = parts };
    row_set_view(&parts->view, batch, 0, batch->rows);
    for (size_t i = 0; i < columns->count; i++)
        parts->keys[i] = parts->view.columns[VECTOR_ITEMS(columns, int)[i]];
    parts->rows += batch->rows;
    return spill_parts_add(&parts->adding, &all, error);
}

/* --------------------------------------------------------- wanted rows -- */

/* Columns of the input, and results behind them, are wanted rows. */
static enum vdbq_status give(struct window_parts *parts,
                             const struct row_set_column *input,
                             const struct row_set_column *results,
                             const struct row_set_column *numbers,
                             uint64_t rows, struct error *error)
{
    unsigned before = parts->params.input_count;
    size_t count = parts->params.step->functions.count;
    struct row_set_column *columns =
        memory_zeroed(before + count, sizeof *columns);
    if (columns == NULL)
        return error_no_memory(error);
    memcpy(columns, input, before * sizeof *columns);
    memcpy(columns + before, results, count * sizeof *columns);
    const struct row_set both = { .rows = rows,
                                  .column_count = before + (unsigned)count,
                                  .columns = columns };
    enum vdbq_status status =
        reorder_add(&parts->done, &both, numbers->values, error);
    memory_release(columns);
    return status;
}

/* Columns of the input, a number, and those of the functions; NULL: no memory. */
static struct step_column *numbered_columns(const struct window_parts *parts)
{
    const struct window_spill_params *params = &parts->params;
    size_t before = params->input_count, count = params->step->functions.count;
    struct step_column *columns =
        memory_zeroed(before + 1 + count, sizeof *columns);
    if (columns == NULL)
        return NULL;
    memcpy(columns, params->columns, before * sizeof *columns);
    columns[before] = (struct step_column){ .name = "", .type = VDBQ_BIGINT };
    memcpy(columns + before + 1, params->columns + before,
           count * sizeof *columns);
    return columns;
}

/* ----------------------------------------------------------- in memory -- */

/* Brings all rows of a hash into memory, their numbers behind their columns. */
static enum vdbq_status load(const struct window_parts *parts, unsigned hash,
                             struct row_set *rows, struct error *error)
{
    const struct spill_range all = { .spill = &parts->spill,
                                     .partition = hash,
                                     .rows = spill_rows(&parts->spill, hash) };
    struct spill_reader reader;
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = row_set_room(rows, all.rows, error);
    if (status != VDBQ_OK)
        return status;
    status = spill_reader_init(&reader, &all, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = spill_read(&reader, &batch, error);
        batch.columns++; /* the numbers */
        if (status == VDBQ_OK && batch.rows > 0)
            status = row_set_append(rows, &batch, 1, error);
    }
    spill_reader_finish(&reader);
    return status;
}

/* Computes the windows of rows, which have their numbers behind their columns, and
 * gives those that are wanted. */
static enum vdbq_status compute(struct window_parts *parts,
                                struct row_set *rows, struct error *error)
{
    const struct window_spill_params *params = &parts->params;
    unsigned before = params->input_count;
    struct window_firsts firsts = { 0 };
    struct row_set results;
    enum vdbq_status status =
        row_set_init(&results, params->columns + before,
                     (unsigned)params->step->functions.count, error);
    if (status == VDBQ_OK)
        status = window_run(
            &(struct window_params){ .step = params->step,
                                     .rows = rows,
                                     .columns = params->columns,
                                     .firsts =
                                         params->step->firsts ? &firsts : NULL,
                                     .threads = params->threads },
            &results, error);
    if (status == VDBQ_OK) {
        if (params->step->firsts)
            row_set_keep(rows, firsts.rows, firsts.count);
        status = give(parts, rows->columns, results.columns,
                      &rows->columns[before], rows->rows, error);
    }
    window_firsts_finish(&firsts);
    row_set_finish(&results);
    return status;
}

/* ------------------------------------------------------------ too many -- */

/* Rows of a hash that are too many for memory: those of one partition, which are
 * selected from where they can be, and all others, whose windows are computed in
 * runs. */
struct too_many {
    struct window_apart apart; /* or zeroed                                */
    bool can_apart;
    struct window_spill *runs;
    uint64_t rows;  /* that went to the runs                               */
    unsigned count; /* columns of the input, and the number                */
    const struct step_column *columns; /* these, then the functions'       */
};

/* Has what takes the rows. */
static enum vdbq_status make_takers(const struct window_parts *parts,
                                    struct too_many *many, struct error *error)
{
    struct window_spill_params params = parts->params;
    enum vdbq_status status = VDBQ_OK;
    params.columns = many->columns;
    params.input_count = many->count;
    params.reads = NULL;
    params.any_order = true;
    params.room_bytes = parts->params.room_bytes / APART_PART;
    if (many->can_apart)
        status = window_apart_init(&many->apart, &params, error);
    params.room_bytes = parts->params.room_bytes / RUNS_PART;
    return status == VDBQ_OK ? window_spill_create(&params, &many->runs, error)
                             : status;
}

/* Takes rows of the hash. */
static enum vdbq_status take(struct too_many *many, struct vdbq_batch *batch,
                             struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    batch->columns++; /* the numbers */
    if (many->can_apart)
        status = window_apart_add(&many->apart, batch, error);
    many->rows += batch->rows;
    return status == VDBQ_OK ? window_spill_add(many->runs, batch, error)
                             : status;
}

/* Takes all of them. */
static enum vdbq_status take_all(const struct window_parts *parts,
                                 unsigned hash, struct too_many *many,
                                 struct error *error)
{
    const struct spill_range all = { .spill = &parts->spill,
                                     .partition = hash,
                                     .rows = spill_rows(&parts->spill, hash) };
    struct spill_reader reader;
    enum vdbq_status status = spill_reader_init(&reader, &all, error);
    while (status == VDBQ_OK && reader.rows_left > 0) {
        struct vdbq_batch batch;
        status = spill_read(&reader, &batch, error);
        if (status == VDBQ_OK)
            status = take(many, &batch, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    spill_reader_finish(&reader);
    return status;
}

/* Gives wanted rows of a batch whose windows were computed. */
static enum vdbq_status give_batch(struct window_parts *parts,
                                   struct row_set *view,
                                   const struct vdbq_batch *batch,
                                   struct error *error)
{
    const struct row_set_column *numbers =
        &view->columns[parts->params.input_count];
    row_set_view(view, batch, 0, batch->rows);
    return give(parts, view->columns, numbers + 1, numbers, batch->rows, error);
}

/* The next rows of the partition apart, then those that are computed in runs. */
static enum vdbq_status
next_batch(struct too_many *many, struct vdbq_batch *batch, struct error *error)
{
    *batch = (struct vdbq_batch){ .rows = 0 };
    enum vdbq_status status =
        many->apart.rows > 0 ? window_apart_batch(&many->apart, batch, error)
                             : VDBQ_OK;
    return status == VDBQ_OK && batch->rows == 0 && many->rows > 0
               ? window_spill_batch(many->runs, batch, error)
               : status;
}

/* Gives all wanted rows. */
static enum vdbq_status give_all(struct window_parts *parts,
                                 struct too_many *many, struct error *error)
{
    unsigned functions = (unsigned)parts->params.step->functions.count;
    struct vdbq_batch batch = { .rows = 1 };
    struct row_set view;
    enum vdbq_status status =
        row_set_init(&view, many->columns, many->count + functions, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = next_batch(many, &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = give_batch(parts, &view, &batch, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    row_set_view_finish(&view);
    return status;
}

/* Computes the windows of a hash that has too many rows for memory. */
static enum vdbq_status compute_many(struct window_parts *parts, unsigned hash,
                                     const struct step_column *columns,
                                     struct error *error)
{
    struct too_many many = { .can_apart = window_apart_can(parts->params.step),
                             .columns = columns,
                             .count = parts->params.input_count + 1 };
    enum vdbq_status status = make_takers(parts, &many, error);
    if (status == VDBQ_OK)
        status = take_all(parts, hash, &many, error);
    if (status == VDBQ_OK && many.apart.rows > 0)
        status = window_apart_end(&many.apart, error);
    if (status == VDBQ_OK && many.rows > 0)
        status = window_spill_end(many.runs, error);
    if (status == VDBQ_OK)
        status = give_all(parts, &many, error);
    window_apart_finish(&many.apart);
    window_spill_destroy(many.runs);
    return status;
}

/* ------------------------------------------------------------------ end -- */

/* Whether so many rows can be computed in memory. */
static bool fits(const struct window_parts *parts, uint64_t rows)
{
    uint64_t room = parts->params.room_bytes;
    return rows * (parts->spill.row_bytes + COMPUTE_BYTES)
           <= room - room / OTHER_PART;
}

/* Computes the windows of a hash. */
static enum vdbq_status compute_hash(struct window_parts *parts, unsigned hash,
                                     const struct step_column *columns,
                                     struct error *error)
{
    struct row_set rows;
    uint64_t count = spill_rows(&parts->spill, hash);
    if (count == 0)
        return VDBQ_OK;
    if (!fits(parts, count))
        return compute_many(parts, hash, columns, error);
    enum vdbq_status status =
        row_set_init(&rows, columns, parts->params.input_count + 1, error);
    if (status == VDBQ_OK)
        status = load(parts, hash, &rows, error);
    if (status == VDBQ_OK)
        status = compute(parts, &rows, error);
    row_set_finish(&rows);
    return status == VDBQ_OK ? stop_pause(error) : status;
}

/* Makes room for wanted rows, which come in any order. */
static enum vdbq_status begin_done(struct window_parts *parts,
                                   struct error *error)
{
    const struct window_spill_params *params = &parts->params;
    return reorder_init(
        &parts->done,
        &(struct reorder_params){ .files = params->files,
                                  .columns = params->columns,
                                  .column_count =
                                      params->input_count
                                      + (unsigned)params->step->functions.count,
                                  .reads = params->reads,
                                  .any_order = params->any_order,
                                  .numbers = parts->rows,
                                  .threads = params->threads,
                                  .room_bytes = params->room_bytes / OTHER_PART,
                                  .memory = params->memory },
        error);
}

enum vdbq_status window_parts_end(struct window_parts *parts,
                                  struct error *error)
{
    struct step_column *columns = numbered_columns(parts);
    spill_parts_finish(&parts->adding);
    enum vdbq_status status = columns != NULL ? spill_end(&parts->spill, error)
                                              : error_no_memory(error);
    if (status == VDBQ_OK)
        status = begin_done(parts, error);
    for (unsigned h = 0; h < HASHES && status == VDBQ_OK; h++)
        status = compute_hash(parts, h, columns, error);
    memory_release(columns);
    return status == VDBQ_OK ? reorder_end(&parts->done, error) : status;
}

uint64_t window_parts_rows(const struct window_parts *parts)
{
    return parts->done.rows;
}

enum vdbq_status window_parts_batch(struct window_parts *parts,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    return reorder_batch(&parts->done, batch, error);
}
