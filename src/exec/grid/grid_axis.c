/* SPDX-License-Identifier: MIT */
/*
 * Opens the rows of a grid's axes and lays out the inner ones.
 */
#include "exec/grid/grid_axis.h"

#include <assert.h>

#include "base/type.h"
#include "cl/tablet.h"
#include "program/dataflow/slice.h"

/* A device is left this part of its memory for all else. */
enum { BUILD_SHARE = 4 };

/* ---------------------------------------------------------------- rows -- */

/* The columns that a slice gives, with the types of SQL. */
static void retype(const struct program_table *table,
                   const struct program_input *inputs, unsigned count,
                   struct step *step)
{
    for (unsigned i = 0; i < count; i++) {
        int type = inputs[i].column < 0 ? table->key_type
                                        : table->column_types[inputs[i].column];
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
    const struct program_input *inputs =
        program_axis_inputs(pack, cursor, &count);
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
    retype(vector_at(&program->tables, (size_t)cursor), inputs, count, step);
    step->scan.ranks = cursor == 0 ? grid->step->scan.ranks : 0;
    return stream_open(grid->params, &axis->steps, TEXTS_ORDERED, &axis->rows,
                       error);
}

/* Notes which columns of the axis the program reads, and their widths. */
static enum vdbq_status find_inputs(struct axis *axis,
                                    const struct program_pack *pack, int cursor,
                                    const struct program_table *table,
                                    struct error *error)
{
    const struct program_input *inputs =
        program_axis_inputs(pack, cursor, &axis->input_count);
    axis->inputs = memory_zeroed(axis->input_count + 1, sizeof *axis->inputs);
    if (axis->inputs == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < axis->input_count; i++) {
        int column = inputs[i].column;
        int type = column < 0 ? table->key_type : table->column_types[column];
        axis->inputs[i] =
            (struct axis_input){ .column = table->input > 0 ? column : (int)i,
                                 .width = type_width(type) };
    }
    return VDBQ_OK;
}

enum vdbq_status axis_open(struct axis *axis, struct stream *grid,
                           const struct program_pack *pack, int cursor,
                           struct error *error)
{
    assert(cursor >= 0
           && (size_t)cursor < grid->step->scan.program.tables.count);
    const struct program_table *table =
        vector_at(&grid->step->scan.program.tables, (size_t)cursor);
    enum vdbq_status status = find_inputs(axis, pack, cursor, table, error);
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

enum vdbq_status axis_take_rows(struct axis *axis, struct stream *grid,
                                struct device *device, struct error *error)
{
    assert(axis->rows != NULL);
    unsigned columns = axis->rows->step->column_count;
    assert(axis->wanted == NULL);
    axis->wanted = memory_zeroed(columns + (size_t)1, sizeof *axis->wanted);
    if (axis->wanted == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < axis->input_count; i++)
        if (axis->inputs[i].column >= 0)
            axis->wanted[axis->inputs[i].column] = true;
    enum vdbq_status status = build_rows_begin(
        &axis->build_side, axis->rows,
        &(struct build_rows_params){ .device = device, .wanted = axis->wanted },
        error);
    if (status == VDBQ_OK)
        status = build_rows_take(&axis->build_side, axis->rows, error);
    close_rows(axis, grid);
    return status;
}

void axis_finish(struct axis *axis, struct stream *grid)
{
    close_rows(axis, grid);
    build_rows_finish(&axis->build_side);
    memory_release(axis->wanted);
    steps_finish(&axis->steps);
    memory_release(axis->inputs);
    *axis = (struct axis){ 0 };
}

struct dictionary *axis_dictionary(const struct axis *axis, unsigned input)
{
    assert(input < axis->input_count);
    int column = axis->inputs[input].column;
    if (column < 0)
        return NULL;
    return axis->rows != NULL
               ? stream_dictionary(axis->rows, (unsigned)column)
               : axis->build_side.row_set.columns[column].dictionary;
}

/* --------------------------------------------------------------- inner -- */

/* The most rows of an axis that are there at a time. */
static uint64_t rows_there(const struct grid_build *build_side, unsigned axis)
{
    return axis == 1 ? build_side->part_rows
                     : build_side->axes[axis].build_side.row_set.rows;
}

/* Gives the inputs their places; gives the bytes of all. Offset 0 is left out:
 * it means that there are no NULLs. */
static u64 place_inputs(struct grid_build *build_side)
{
    u64 end = TABLET_ALIGN;
    struct build_input *to = build_side->inputs;
    for (unsigned a = 1; a < build_side->axis_count; a++) {
        const struct axis *axis = &build_side->axes[a];
        for (unsigned i = 0; i < axis->input_count; i++, to++) {
            int column = axis->inputs[i].column;
            bool nulls =
                column >= 0
                && build_rows_nullable(&axis->build_side, (unsigned)column);
            *to = build_rows_place(rows_there(build_side, a),
                                   axis->inputs[i].width, nulls, &end);
        }
    }
    return end;
}

/* Makes parts of axis 1 such that one fits beside the other build rows. */
static void make_parts(struct grid_build *build_side,
                       const struct device *device,
                       const struct resident *resident)
{
    const struct device_facts *facts = device_facts(device);
    uint64_t rows = build_side->axes[1].build_side.row_set.rows;
    uint64_t most =
        resident != NULL ? resident_budget(resident) : facts->memory_bytes;
    most = most / BUILD_SHARE < facts->buffer_max_bytes
               ? most / BUILD_SHARE
               : facts->buffer_max_bytes;
    build_side->part_rows = rows > 0 ? rows : 1;
    while ((build_side->bytes = place_inputs(build_side)) > most
           && build_side->part_rows > TABLET_ALIGN)
        build_side->part_rows = build_side->part_rows / 2 + 1;
    build_side->parts =
        (rows + build_side->part_rows - 1) / build_side->part_rows;
    build_side->part = build_side->parts;
}

enum vdbq_status grid_build_init(struct grid_build *build_side,
                                 const struct run_place *place,
                                 struct arena *arena, struct error *error)
{
    struct resident *resident = place->resident;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned a = 1; a < build_side->axis_count; a++)
        build_side->input_count += build_side->axes[a].input_count;
    build_side->inputs = arena_alloc(arena, (build_side->input_count + 1)
                                                * sizeof *build_side->inputs);
    if (build_side->inputs == NULL)
        return error_no_memory(error);
    make_parts(build_side, place->device, resident);
    assert(build_side->part_rows > 0 && build_side->parts > 0);
    if (resident != NULL)
        status = resident_reserve(resident, build_side->bytes, error);
    if (status != VDBQ_OK)
        return status;
    build_side->resident = resident;
    status =
        device_memory_create(place->device, MEMORY_DEVICE, build_side->bytes,
                             &build_side->memory, error);
    build_side->run = (struct run_build_side){ .memory = build_side->memory,
                                               .inputs = build_side->inputs };
    return status;
}

void grid_build_finish(struct grid_build *build_side)
{
    device_memory_release(build_side->memory);
    if (build_side->resident != NULL)
        resident_return(build_side->resident, build_side->bytes);
    *build_side = (struct grid_build){ 0 };
}

uint64_t grid_build_rows(const struct grid_build *build_side, uint64_t part)
{
    assert(part < build_side->parts);
    uint64_t left = build_side->axes[1].build_side.row_set.rows
                    - part * build_side->part_rows;
    return left < build_side->part_rows ? left : build_side->part_rows;
}

/* Numbers of rows, from `first` on. */
static enum vdbq_status write_numbers(const struct grid_build *build_side,
                                      u64 at, uint64_t first, uint64_t rows,
                                      struct device_times *times,
                                      struct error *error)
{
    i64 *numbers = memory_zeroed(rows, sizeof *numbers);
    if (numbers == NULL)
        return error_no_memory(error);
    for (uint64_t i = 0; i < rows; i++)
        numbers[i] = (i64)(first + i);
    enum vdbq_status status = device_write(
        build_side->memory, at, numbers, rows * sizeof *numbers, times, error);
    memory_release(numbers);
    return status;
}

/* Rows [first, first + rows) of an input. */
static enum vdbq_status
write_input(struct grid_build *build_side, unsigned a, unsigned number,
            const struct build_input *to, uint64_t first, uint64_t rows,
            struct device_times *times, struct error *error)
{
    struct axis *axis = &build_side->axes[a];
    int column = axis->inputs[number].column;
    if (column < 0)
        return write_numbers(build_side, to->values, first, rows, times, error);
    return build_rows_write(&axis->build_side, (unsigned)column, first, rows,
                            build_side->memory, to, times, error);
}

enum vdbq_status grid_build_load(struct grid_build *build_side, uint64_t part,
                                 struct device_times *times,
                                 struct error *error)
{
    assert(part < build_side->parts);
    const struct build_input *input = build_side->inputs;
    enum vdbq_status status = VDBQ_OK;
    bool all = build_side->part == build_side->parts; /* the first time */
    for (unsigned a = 1; a < build_side->axis_count; a++) {
        const struct axis *axis = &build_side->axes[a];
        uint64_t first = a == 1 ? part * build_side->part_rows : 0;
        uint64_t rows = a == 1 ? grid_build_rows(build_side, part)
                               : axis->build_side.row_set.rows;
        for (unsigned i = 0; i < axis->input_count; i++, input++)
            if (status == VDBQ_OK && (a == 1 || all))
                status = write_input(build_side, a, i, input, first, rows,
                                     times, error);
    }
    assert(input == build_side->inputs + build_side->input_count);
    build_side->part = part;
    return status;
}
