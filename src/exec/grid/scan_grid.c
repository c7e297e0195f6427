/* SPDX-License-Identifier: MIT */
/*
 * STEP_SCAN of several axes: a program over the cells of a grid. The rows of
 * the axes but the first are materialised, the left ones come in morsels;
 * launches cover neighbouring cells, so that work is bounded whatever the
 * numbers of rows are, and result rows come in the order of cells. A failure comes where
 * its row would have come.
 *
 * Launches run over blocks: all left rows of a morsel with all build rows; or
 * where the build rows are there in parts, a left row with a part.
 */
#include "device/kernel.h"

#include <assert.h>
#include "exec/launch/column_input.h"
#include "exec/grid/grid_left.h"
#include "exec/dictionary/run_dictionary.h"
#include "program/dataflow/slice.h"

/* Cells that are not run over yet. */
struct block {
    uint64_t left_first, left_rows; /* of the morsel                      */
    uint64_t part;                  /* of the build rows                  */
    uint64_t cell, cells;           /* the next one, and all              */
};

struct scan_grid {
    struct stream head; /* first: the stream that callers hold */
    struct axis axes[VDBQ_AXES_MAX];
    unsigned axis_count;          /* of `axes` */
    struct program program;       /* what slices leave to do: it is run    */
    struct program_pack pack;     /* of it                                 */
    struct run_place place;       /* where the cells are                   */
    struct grid_left left;        /* morsels of the left axis */
    struct grid_build build_side; /* the other axes, on the device */
    /* zeroed: the program needs none */
    struct run_dictionary dictionary;
    struct launcher *launcher; /* NULL: an axis has no rows             */
    struct block block;        /* cells that are started now */
    struct left_morsel *morsels[LAUNCHER_RING_MAX]; /* that launches in flight
                                    read, the oldest first                */
    uint64_t cells_done;                            /* for the statistics */
    struct device *device;       /* that may take the rows; NULL: none    */
    struct sink *sink;           /* takes them; NULL: batches give them   */
    bool fed;                    /* nothing is left to start              */
    struct error held;           /* ... since this happened; status OK: not */
    struct vdbq_vector *vectors; /* of the batch, with the types of SQL   */
    struct arena arena;          /* of the pack and of arrays of columns */
};

/* ---------------------------------------------------------------- open -- */

/* About how many rows an axis has. */
static uint64_t rows_of(const struct axis *axis)
{
    return axis->rows != NULL ? axis->rows->rows_most
                              : axis->build_side.row_set.rows;
}

/* About how many cells there are. */
static uint64_t cells_most(const struct scan_grid *grid)
{
    uint64_t cells = 1;
    for (unsigned a = 0; a < grid->axis_count; a++) {
        uint64_t rows = rows_of(&grid->axes[a]);
        if (rows > 0 && cells > UINT64_MAX / rows)
            return UINT64_MAX;
        cells *= rows;
    }
    return cells;
}

/* Where to run over so many cells as there are, as far as is known. */
static enum vdbq_status choose(struct scan_grid *grid, struct error *error)
{
    const struct stream_params *params = grid->head.params;
    grid->head.rows_most = cells_most(grid);
    return params->choose(params->choose_context, NULL, &grid->program,
                          grid->head.rows_most, &grid->place, error);
}

/* Takes the rows of all axes but the first. What the device has stays there,
 * and then the cells are there, too; else they are counted once more. */
static enum vdbq_status take_axes(struct scan_grid *grid, struct error *error)
{
    enum vdbq_status status = choose(grid, error);
    bool on_device = false;
    for (unsigned a = 1; a < grid->axis_count && status == VDBQ_OK; a++) {
        status = axis_take_rows(&grid->axes[a], &grid->head,
                                grid->place.takes ? grid->place.device : NULL,
                                error);
        on_device |= grid->axes[a].build_side.on_device;
    }
    if (status != VDBQ_OK || !on_device)
        return status == VDBQ_OK ? choose(grid, error) : status;
    grid->head.rows_most = cells_most(grid);
    return VDBQ_OK;
}

/* Opens all axes, then materialises all but the left one. */
static enum vdbq_status open_axes(struct scan_grid *grid, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned a = 0; a < grid->axis_count && status == VDBQ_OK; a++)
        status =
            axis_open(&grid->axes[a], &grid->head, &grid->pack, (int)a, error);
    return status == VDBQ_OK ? take_axes(grid, error) : status;
}

/* The words of an axis' inputs, into `words`; a text without any has `none`. */
static void find_dictionary(const struct scan_grid *grid, unsigned axis,
                            struct dictionary *none,
                            struct dictionary **dictionaries)
{
    const struct program_table *table = vector_at(&grid->program.tables, axis);
    unsigned count;
    const struct program_input *inputs =
        program_axis_inputs(&grid->pack, (int)axis, &count);
    for (unsigned i = 0; i < count; i++) {
        int column = inputs[i].column;
        int type = column < 0 ? table->key_type : table->column_types[column];
        if (type != TYPE_WORD)
            continue;
        dictionaries[i] = axis_dictionary(&grid->axes[axis], i);
        if (dictionaries[i] == NULL)
            dictionaries[i] = none;
    }
}

/* The words of the left rows, and of build rows into `build_side`. */
static enum vdbq_status make_base(struct scan_grid *grid,
                                  struct dictionary_base **base,
                                  struct dictionary ***build_side,
                                  struct error *error)
{
    unsigned inputs = grid->pack.input_count;
    struct dictionary **dictionaries =
        arena_alloc(&grid->arena, (inputs + grid->pack.build_count + 1)
                                      * sizeof *dictionaries);
    struct dictionary *none = dictionary_make(NULL, 0, NULL);
    bool made = dictionaries != NULL && none != NULL;
    *build_side = dictionaries + inputs;
    for (unsigned a = 0, first = 0; made && a < grid->axis_count; a++) {
        find_dictionary(grid, a, a == 0 ? none : NULL, dictionaries + first);
        first += grid->axes[a].input_count;
    }
    *base = made ? dictionary_base_make(&(struct dictionary_base_params){
                .dictionaries = dictionaries,
                .morsels = 1,
                .inputs = inputs,
                .uses = grid->pack.uses,
                .threads = stream_threads(grid->head.params) })
                 : NULL;
    dictionary_release(none);
    return *base != NULL ? VDBQ_OK : stop_or_no_memory(error);
}

/* Collects the words of the run. */
static enum vdbq_status make_dictionary(struct scan_grid *grid,
                                        struct error *error)
{
    const struct program *program = &grid->program;
    struct dictionary_base *base = NULL;
    struct dictionary **build_side = NULL;
    if (!run_dictionary_needed(program))
        return VDBQ_OK;
    enum vdbq_status status = make_base(grid, &base, &build_side, error);
    if (status == VDBQ_OK)
        status = run_dictionary_init(
            &grid->dictionary,
            &(struct run_dictionary_params){
                .program = program,
                .base = base,
                .parameters = grid->head.params->parameters,
                .parameter_count = grid->head.params->parameter_count,
                .build_side = build_side,
                .build_count = grid->pack.build_count,
                .threads = stream_threads(grid->head.params) },
            error);
    dictionary_base_release(base);
    return status;
}

/* Whether every axis but the left one has rows: else there is no cell. */
static bool has_build_rows(const struct scan_grid *grid)
{
    for (unsigned a = 1; a < grid->axis_count; a++)
        if (grid->axes[a].build_side.row_set.rows == 0)
            return false;
    return true;
}

/* Makes ready to launch. */
static enum vdbq_status open_launcher(struct scan_grid *grid,
                                      struct error *error)
{
    const struct run_place *place = &grid->place;
    grid->device = stream_taker(place);
    grid->left = (struct grid_left){ .axis = &grid->axes[0], .place = place };
    grid->build_side = (struct grid_build){ .axes = grid->axes,
                                            .axis_count = grid->axis_count };
    enum vdbq_status status = grid_left_init(&grid->left, &grid->arena, error);
    if (status == VDBQ_OK)
        status = grid_build_init(&grid->build_side, place, &grid->arena, error);
    if (status != VDBQ_OK)
        return status;
    grid->build_side.run.order_codes = grid->dictionary.build_order_codes;
    return launcher_open(
        &(struct launcher_params){ .place = place,
                                   .program = &grid->program,
                                   .rows = grid->head.rows_most,
                                   .build_side = &grid->build_side.run,
                                   .values = &grid->dictionary.values },
        &grid->launcher, error);
}

/* What is run over the cells: the step's program without what is said of one
 * axis alone, as far as the rows of that are kept by it already. */
static enum vdbq_status make_program(struct scan_grid *grid,
                                     struct error *error)
{
    const struct program *whole = &grid->head.step->scan.program;
    enum vdbq_status status =
        program_pack(whole, &grid->arena, &grid->pack, error);
    program_init(&grid->program);
    if (status == VDBQ_OK)
        status = program_rest(whole, &grid->pack, &grid->program, error);
    return status == VDBQ_OK
               ? program_pack(&grid->program, &grid->arena, &grid->pack, error)
               : status;
}

static enum vdbq_status scan_grid_open(struct stream *stream,
                                       struct error *error)
{
    struct scan_grid *grid = (struct scan_grid *)stream;
    grid->axis_count = program_axes(&stream->step->scan.program);
    assert(grid->axis_count >= 2 && grid->axis_count <= VDBQ_AXES_MAX);
    grid->vectors =
        memory_zeroed(stream->step->column_count, sizeof *grid->vectors);
    if (grid->vectors == NULL)
        return error_no_memory(error);
    enum vdbq_status status = make_program(grid, error);
    if (status == VDBQ_OK)
        status = open_axes(grid, error);
    if (status == VDBQ_OK)
        status = make_dictionary(grid, error);
    if (status != VDBQ_OK)
        return status;
    grid->fed = !has_build_rows(grid);
    return grid->fed ? VDBQ_OK : open_launcher(grid, error);
}

/* -------------------------------------------------------------- launch -- */

/* Cells that a left row has in a part. */
static uint64_t row_cells(const struct scan_grid *grid, uint64_t part)
{
    uint64_t cells = grid_build_rows(&grid->build_side, part);
    for (unsigned a = 2; a < grid->axis_count; a++)
        cells *= grid->axes[a].build_side.row_set.rows;
    return cells;
}

/* Begins a block at a row of the left morsel and a part of axis 1. */
static void block_begin(struct scan_grid *grid, uint64_t left_first,
                        uint64_t part)
{
    struct left_morsel *morsel = grid_left_filled(&grid->left);
    uint64_t rows = grid->build_side.parts > 1 ? 1 : morsel->rows;
    assert(left_first + rows <= morsel->rows);
    grid->block = (struct block){ .left_first = left_first,
                                  .left_rows = rows,
                                  .part = part,
                                  .cells = rows * row_cells(grid, part) };
}

/* Goes on to the next block of the morsel, or to the next morsel; without one
 * the grid is fed. */
static enum vdbq_status next_block(struct scan_grid *grid, struct error *error)
{
    const struct block *block = &grid->block;
    struct left_morsel *morsel = grid_left_filled(&grid->left);
    if (block->part + 1 < grid->build_side.parts && block->cells > 0) {
        block_begin(grid, block->left_first, block->part + 1);
        return VDBQ_OK;
    }
    if (block->left_first + block->left_rows < morsel->rows) {
        block_begin(grid, block->left_first + block->left_rows, 0);
        return VDBQ_OK;
    }
    enum vdbq_status status =
        grid_left_fill(&grid->left, launcher_times(grid->launcher), error);
    if (status != VDBQ_OK)
        grid->held = *error;
    grid->block = (struct block){ 0 };
    grid->fed = grid_left_filled(&grid->left)->rows == 0;
    if (!grid->fed)
        block_begin(grid, 0, 0);
    return VDBQ_OK;
}

/* Starts a launch over the next cells of the block. */
static enum vdbq_status start_cells(struct scan_grid *grid, struct error *error)
{
    struct block *block = &grid->block;
    uint64_t each = row_cells(grid, block->part);
    uint64_t most = launcher_rows_max(grid->launcher);
    uint64_t cells = block->cells - block->cell;
    if (cells > most)
        cells = most;
    uint64_t first = block->left_first + block->cell / each;
    uint64_t last = block->left_first + (block->cell + cells - 1) / each;
    uint64_t from = first - first % 64;
    struct launcher_request request = { .count = 1 };
    request.morsels[0] = grid_left_morsel(&grid->left, from, last - from + 1);
    if (grid->dictionary.base != NULL)
        request.morsels[0].order_codes =
            run_dictionary_codes(&grid->dictionary, 0);
    request.grid.first = (first - from) * each + block->cell % each;
    request.grid.cells = cells;
    request.grid.axis_rows[0] =
        (uint32_t)grid_build_rows(&grid->build_side, block->part);
    if (grid->axis_count > 2)
        request.grid.axis_rows[1] =
            (uint32_t)grid->axes[2].build_side.row_set.rows;
    enum vdbq_status status = launcher_start(grid->launcher, &request, error);
    if (status != VDBQ_OK)
        return status;
    struct left_morsel *morsel = grid_left_filled(&grid->left);
    grid->morsels[launcher_in_flight(grid->launcher) - 1] = morsel;
    morsel->in_flight++;
    block->cell += cells;
    grid->cells_done += cells;
    return VDBQ_OK;
}

/* Whether a launch must wait for those in flight: the morsel that is to be
 * filled, or the build rows, are in use. */
static bool must_wait(const struct scan_grid *grid)
{
    const struct block *block = &grid->block;
    if (launcher_in_flight(grid->launcher) == 0)
        return false;
    if (block->cell == block->cells)
        return grid->build_side.parts > 1 || !grid_left_has_room(&grid->left);
    return block->part != grid->build_side.part;
}

/* One launch more, or the end. */
static enum vdbq_status start_next(struct scan_grid *grid, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (grid->block.cell == grid->block.cells && grid->held.status != VDBQ_OK)
        grid->fed = true;
    else if (grid->block.cell == grid->block.cells)
        status = next_block(grid, error);
    if (status != VDBQ_OK || grid->fed)
        return status;
    if (grid->block.part != grid->build_side.part)
        status = grid_build_load(&grid->build_side, grid->block.part,
                                 launcher_times(grid->launcher), error);
    return status == VDBQ_OK ? start_cells(grid, error) : status;
}

/* Starts launches while there is room. */
static enum vdbq_status input(struct scan_grid *grid, struct error *error)
{
    while (!grid->fed && launcher_has_room(grid->launcher)
           && !must_wait(grid)) {
        enum vdbq_status status = stop_pause(error);
        if (status != VDBQ_OK)
            return status;
        if (start_next(grid, error) == VDBQ_OK)
            continue;
        grid->held = *error;
        grid->fed = true;
    }
    return VDBQ_OK;
}

/* The oldest launch has given all its rows. */
static void launch_done(struct scan_grid *grid)
{
    grid->morsels[0]->in_flight--;
    for (unsigned i = 0; i < launcher_in_flight(grid->launcher); i++)
        grid->morsels[i] = grid->morsels[i + 1];
}

/* The next rows of launches, maybe none where a sink takes them; `*more`: they
 * were not the last ones. */
static enum vdbq_status next_rows(struct scan_grid *grid,
                                  struct vdbq_batch *batch, bool *more,
                                  struct error *error)
{
    enum vdbq_status status = input(grid, error);
    batch->rows = 0;
    if (status != VDBQ_OK)
        return status;
    *more = launcher_in_flight(grid->launcher) > 0;
    if (*more)
        status = launcher_batch(grid->launcher, batch, error);
    if (*more && status == VDBQ_OK && batch->rows == 0)
        launch_done(grid);
    if (*more || grid->held.status == VDBQ_OK)
        return status;
    *error = grid->held;
    return error->status;
}

/* Gives the next rows; a launch may have none. */
static enum vdbq_status scan_grid_batch(struct stream *stream,
                                        struct vdbq_batch *batch,
                                        struct error *error)
{
    struct scan_grid *grid = (struct scan_grid *)stream;
    enum vdbq_status status = VDBQ_OK;
    bool more = grid->launcher != NULL;
    batch->rows = 0;
    while (status == VDBQ_OK && more && batch->rows == 0)
        status = next_rows(grid, batch, &more, error);
    if (status == VDBQ_OK && batch->rows > 0)
        stream_retype(stream, batch, grid->vectors);
    return status;
}

/* ---------------------------------------------------- rows on a device -- */

static const struct run_place *scan_grid_place(const struct stream *stream)
{
    const struct scan_grid *grid = (const struct scan_grid *)stream;
    return grid->device != NULL ? &grid->place : NULL;
}

static struct dictionary *scan_grid_dictionary(const struct stream *stream,
                                               unsigned column);

static struct device_column *scan_grid_columns(struct stream *stream)
{
    const struct program *program = &stream->step->scan.program;
    unsigned count = stream->step->column_count;
    struct device_column *columns = memory_zeroed(count + 1, sizeof *columns);
    for (unsigned i = 0; columns != NULL && i < count; i++)
        columns[i] =
            device_column_of(&stream->step->columns[i],
                             program_result(program, i).null_register >= 0,
                             scan_grid_dictionary(stream, i));
    return columns;
}

static void scan_grid_sink(struct stream *stream, struct sink *sink)
{
    struct scan_grid *grid = (struct scan_grid *)stream;
    grid->sink = sink;
    assert(grid->launcher != NULL);
    launcher_sink(grid->launcher, sink);
}

static enum vdbq_status scan_grid_advance(struct stream *stream, bool *more,
                                          struct error *error)
{
    assert(((const struct scan_grid *)stream)->sink != NULL);
    struct scan_grid *grid = (struct scan_grid *)stream;
    struct vdbq_batch none;
    enum vdbq_status status = next_rows(grid, &none, more, error);
    stream->rows = grid->sink->rows;
    return status;
}

static const struct stream_device_calls device_calls = {
    .place = scan_grid_place,
    .columns = scan_grid_columns,
    .sink = scan_grid_sink,
    .advance = scan_grid_advance,
};

/* ------------------------------------------------------------------ rest -- */

static struct dictionary *scan_grid_dictionary(const struct stream *stream,
                                               unsigned column)
{
    return stream->step->columns[column].type == VDBQ_TEXT
               ? ((const struct scan_grid *)stream)->dictionary.dictionary
               : NULL;
}

static void scan_grid_stats(const struct stream *stream,
                            struct vdbq_stats *stats)
{
    const struct scan_grid *grid = (const struct scan_grid *)stream;
    stats->cells += grid->cells_done;
    if (grid->launcher != NULL)
        launcher_stats(grid->launcher, stats);
}

static void scan_grid_close(struct stream *stream)
{
    struct scan_grid *grid = (struct scan_grid *)stream;
    launcher_close(grid->launcher); /* waits for what is in flight */
    grid_left_finish(&grid->left);
    grid_build_finish(&grid->build_side);
    run_dictionary_finish(&grid->dictionary);
    for (unsigned a = 0; a < grid->axis_count; a++)
        axis_finish(&grid->axes[a], stream);
    program_finish(&grid->program);
    arena_finish(&grid->arena);
    memory_release(grid->vectors);
}

const struct stream_kind scan_grid = {
    .size = sizeof(struct scan_grid),
    .calls = { .batch = scan_grid_batch,
               .dictionary = scan_grid_dictionary,
               .stats = scan_grid_stats,
               .close = scan_grid_close,
               .device = &device_calls },
    .open = scan_grid_open,
};
