/* SPDX-License-Identifier: MIT */
/*
 * Opens the rows of a grid's axes and lays out the inner ones.
 */
#include "exec/grid/grid_axis.h"

#include "base/type.h"
#include "cl/tablet.h"
#include "program/dataflow/slice.h"

/* A device is left this part of its memory for all else. */
enum { INNER_SHARE = 4 };

/* ---------------------------------------------------------------- rows -- */

/* The columns that a slice gives, with the types of SQL. */
static void retype(const struct program_table *table,
                   const struct program_feed *feeds, unsigned count,
                   struct step *step)
{
    for (unsigned i = 0; i < count; i++) {
        int type = feeds[i].column < 0 ? table->key_type
                                       : table->column_types[feeds[i].column];
        step->columns[i].type =
            type == TYPE_WORD ? VDBQ_TEXT : (enum vdbq_type)type;
    }
}

/* Opens a slice of the program over a table of the catalogue. */
static enum vdbq_status open_slice(struct axis *axis, struct stream *grid,
                                   const struct program_pack *pack, int cursor,
                                   struct error *error)
{
    const struct program *program = &grid->step->scan.program;
    unsigned count;
    const struct program_feed *feeds = program_axis_feeds(pack, cursor, &count);
    steps_init(&axis->steps);
    struct step *step = steps_add(&axis->steps, STEP_SCAN);
    if (step == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        program_slice(program, pack, cursor, &step->scan.program, error);
    if (status != VDBQ_OK)
        return status;
    if (!steps_describe(&axis->steps, step))
        return error_no_memory(error);
    retype(vector_at(&program->tables, (size_t)cursor), feeds, count, step);
    return stream_open(grid->params, &axis->steps, 0, &axis->rows, error);
}

static enum vdbq_status find_feeds(struct axis *axis,
                                   const struct program_pack *pack, int cursor,
                                   const struct program_table *table,
                                   struct error *error)
{
    const struct program_feed *feeds =
        program_axis_feeds(pack, cursor, &axis->feed_count);
    axis->feeds = memory_zeroed(axis->feed_count + 1, sizeof *axis->feeds);
    if (axis->feeds == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < axis->feed_count; i++) {
        int column = feeds[i].column;
        int type = column < 0 ? table->key_type : table->column_types[column];
        axis->feeds[i] =
            (struct axis_feed){ .column = table->input > 0 ? column : (int)i,
                                .width = type_width(type) };
    }
    return VDBQ_OK;
}

enum vdbq_status axis_open(struct axis *axis, struct stream *grid,
                           const struct program_pack *pack, int cursor,
                           struct error *error)
{
    const struct program_table *table =
        vector_at(&grid->step->scan.program.tables, (size_t)cursor);
    enum vdbq_status status = find_feeds(axis, pack, cursor, table, error);
    if (status != VDBQ_OK)
        return status;
    if (table->input == 0)
        return open_slice(axis, grid, pack, cursor, error);
    axis->rows = grid->inputs[table->input - 1];
    return VDBQ_OK;
}

/* Ends the use of the rows. */
static void close_rows(struct axis *axis, struct stream *grid)
{
    for (size_t i = 0; i < grid->step->inputs.count; i++)
        if (axis->rows != NULL && grid->inputs[i] == axis->rows) {
            stream_close_input(grid, (unsigned)i);
            axis->rows = NULL;
        }
    stream_close(axis->rows);
    axis->rows = NULL;
}

enum vdbq_status axis_gather(struct axis *axis, struct stream *grid,
                             struct device *device, struct error *error)
{
    unsigned columns = axis->rows->step->column_count;
    bool *wanted = memory_zeroed(columns + (size_t)1, sizeof *wanted);
    if (wanted == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < axis->feed_count; i++)
        if (axis->feeds[i].column >= 0)
            wanted[axis->feeds[i].column] = true;
    enum vdbq_status status = inner_rows_take(
        &axis->inner, axis->rows,
        &(struct inner_device_params){ .device = device, .wanted = wanted },
        error);
    memory_release(wanted);
    close_rows(axis, grid);
    return status;
}

void axis_finish(struct axis *axis, struct stream *grid)
{
    close_rows(axis, grid);
    inner_rows_finish(&axis->inner);
    steps_finish(&axis->steps);
    memory_release(axis->feeds);
    *axis = (struct axis){ 0 };
}

struct dictionary *axis_dictionary(const struct axis *axis, unsigned feed)
{
    int column = axis->feeds[feed].column;
    if (column < 0)
        return NULL;
    return axis->rows != NULL ? stream_dictionary(axis->rows, (unsigned)column)
                              : axis->inner.row_set.columns[column].dictionary;
}

/* --------------------------------------------------------------- inner -- */

/* The most rows of an axis that are there at a time. */
static uint64_t rows_there(const struct grid_inner *inner, unsigned axis)
{
    return axis == 1 ? inner->part_rows : inner->axes[axis].inner.row_set.rows;
}

/* Gives the feeds their places; gives the bytes of all. Offset 0 is left out:
 * it means that there are no NULLs. */
static u64 place_feeds(struct grid_inner *inner)
{
    u64 end = TABLET_ALIGN;
    struct inner_feed *to = inner->feeds;
    for (unsigned a = 1; a < inner->axis_count; a++) {
        const struct axis *axis = &inner->axes[a];
        for (unsigned i = 0; i < axis->feed_count; i++, to++) {
            int column = axis->feeds[i].column;
            bool nulls = column >= 0
                         && inner_rows_nullable(&axis->inner, (unsigned)column);
            *to = inner_rows_place(rows_there(inner, a), axis->feeds[i].width,
                                   nulls, &end);
        }
    }
    return end;
}

/* Makes parts of axis 1 such that one fits beside the other inner rows. */
static void make_parts(struct grid_inner *inner, const struct device *device,
                       const struct resident *resident)
{
    const struct device_facts *facts = device_facts(device);
    uint64_t rows = inner->axes[1].inner.row_set.rows;
    uint64_t most =
        resident != NULL ? resident_budget(resident) : facts->memory_bytes;
    most = most / INNER_SHARE < facts->buffer_max_bytes
               ? most / INNER_SHARE
               : facts->buffer_max_bytes;
    inner->part_rows = rows > 0 ? rows : 1;
    while ((inner->bytes = place_feeds(inner)) > most
           && inner->part_rows > TABLET_ALIGN)
        inner->part_rows = inner->part_rows / 2 + 1;
    inner->parts = (rows + inner->part_rows - 1) / inner->part_rows;
    inner->part = inner->parts;
}

enum vdbq_status grid_inner_init(struct grid_inner *inner,
                                 struct device *device,
                                 struct resident *resident, struct arena *arena,
                                 struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned a = 1; a < inner->axis_count; a++)
        inner->feed_count += inner->axes[a].feed_count;
    inner->feeds =
        arena_alloc(arena, (inner->feed_count + 1) * sizeof *inner->feeds);
    if (inner->feeds == NULL)
        return error_no_memory(error);
    make_parts(inner, device, resident);
    if (resident != NULL)
        status = resident_reserve(resident, inner->bytes, error);
    if (status != VDBQ_OK)
        return status;
    inner->resident = resident;
    status = device_memory_create(device, MEMORY_DEVICE, inner->bytes,
                                  &inner->memory, error);
    inner->run =
        (struct run_inner){ .memory = inner->memory, .feeds = inner->feeds };
    return status;
}

void grid_inner_finish(struct grid_inner *inner)
{
    device_memory_release(inner->memory);
    if (inner->resident != NULL)
        resident_return(inner->resident, inner->bytes);
    *inner = (struct grid_inner){ 0 };
}

uint64_t grid_inner_rows(const struct grid_inner *inner, uint64_t part)
{
    uint64_t left = inner->axes[1].inner.row_set.rows - part * inner->part_rows;
    return left < inner->part_rows ? left : inner->part_rows;
}

/* Numbers of rows, from `first` on. */
static enum vdbq_status write_numbers(const struct grid_inner *inner, u64 at,
                                      uint64_t first, uint64_t rows,
                                      struct device_times *times,
                                      struct error *error)
{
    i64 *numbers = memory_zeroed(rows, sizeof *numbers);
    if (numbers == NULL)
        return error_no_memory(error);
    for (uint64_t i = 0; i < rows; i++)
        numbers[i] = (i64)(first + i);
    enum vdbq_status status = device_write(
        inner->memory, at, numbers, rows * sizeof *numbers, times, error);
    memory_release(numbers);
    return status;
}

/* Rows [first, first + rows) of a feed. */
static enum vdbq_status write_feed(struct grid_inner *inner, unsigned a,
                                   unsigned number, const struct inner_feed *to,
                                   uint64_t first, uint64_t rows,
                                   struct device_times *times,
                                   struct error *error)
{
    struct axis *axis = &inner->axes[a];
    int column = axis->feeds[number].column;
    if (column < 0)
        return write_numbers(inner, to->values, first, rows, times, error);
    return inner_rows_write(&axis->inner, (unsigned)column, first, rows,
                            inner->memory, to, times, error);
}

enum vdbq_status grid_inner_load(struct grid_inner *inner, uint64_t part,
                                 struct device_times *times,
                                 struct error *error)
{
    const struct inner_feed *feed = inner->feeds;
    enum vdbq_status status = VDBQ_OK;
    bool all = inner->part == inner->parts; /* the first time */
    for (unsigned a = 1; a < inner->axis_count; a++) {
        const struct axis *axis = &inner->axes[a];
        uint64_t first = a == 1 ? part * inner->part_rows : 0;
        uint64_t rows =
            a == 1 ? grid_inner_rows(inner, part) : axis->inner.row_set.rows;
        for (unsigned i = 0; i < axis->feed_count; i++, feed++)
            if (status == VDBQ_OK && (a == 1 || all))
                status =
                    write_feed(inner, a, i, feed, first, rows, times, error);
    }
    inner->part = part;
    return status;
}
