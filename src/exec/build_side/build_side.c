/* SPDX-License-Identifier: MIT */
/*
 * Takes build rows, and keeps them while the run lasts: build_side.h.
 */
#include "exec/build_side/build_columns.h"
#include "exec/stream/stream_inner.h"

/* -------------------------------------------------------------- columns -- */

unsigned build_column_count(const struct build_side *build_side)
{
    return build_side->pack.build_count + build_side->pack.index_count;
}

const struct program_input *build_input_at(const struct build_side *build_side,
                                           unsigned i)
{
    return i < build_side->pack.build_count
               ? &build_side->pack.build_inputs[i]
               : &build_side->pack.indexes[i - build_side->pack.build_count];
}

struct row_set_column *build_column_at(const struct build_side *build_side,
                                       unsigned i)
{
    const struct program_input *input = build_input_at(build_side, i);
    return &build_side->rows[input->cursor].row_set.columns[input->column];
}

uint64_t build_rows_at(const struct build_side *build_side, unsigned i)
{
    return build_side->rows[build_input_at(build_side, i)->cursor].row_set.rows;
}

struct device_rows *build_device_at(const struct build_side *build_side,
                                    unsigned i)
{
    struct build_rows *rows =
        &build_side->rows[build_input_at(build_side, i)->cursor];
    return rows->on_device ? &rows->device_rows : NULL;
}

unsigned build_first_of(const struct build_side *build_side, unsigned i)
{
    unsigned first = 0;
    while (build_column_at(build_side, first) != build_column_at(build_side, i))
        first++;
    return first;
}

/* -------------------------------------------------------------- rows -- */

/* Which columns of a cursor's rows the program reads or probes; false: it
 * probes a text, which the host makes numbers of. */
static bool find_wanted(const struct build_side *build_side, unsigned cursor,
                        bool *wanted)
{
    const struct program_table *table =
        vector_at(&build_side->program->tables, cursor);
    bool good = true;
    for (unsigned i = 0; i < build_column_count(build_side); i++) {
        const struct program_input *input = build_input_at(build_side, i);
        if (input->cursor != (int)cursor)
            continue;
        wanted[input->column] = true;
        good &= i < build_side->pack.build_count
                || table->column_types[input->column] != TYPE_WORD;
    }
    return good;
}

/* Begins to take the rows of one probed cursor. */
static enum vdbq_status begin_rows(struct build_side *build_side,
                                   struct stream *stream, unsigned cursor,
                                   struct device *device, struct error *error)
{
    const struct program_table *table =
        vector_at(&build_side->program->tables, cursor);
    struct stream *input = stream->inputs[table->input - 1];
    bool *wanted =
        arena_alloc(&build_side->arena, input->step->column_count + (size_t)1);
    if (wanted == NULL)
        return error_no_memory(error);
    bool can = find_wanted(build_side, cursor, wanted);
    return build_rows_begin(
        &build_side->rows[cursor], input,
        &(struct build_rows_params){ .device = can ? device : NULL,
                                     .wanted = wanted },
        error);
}

/* Takes the rows of one probed cursor. */
static enum vdbq_status take_rows(struct build_side *build_side,
                                  struct stream *stream, unsigned cursor,
                                  struct error *error)
{
    const struct program_table *table =
        vector_at(&build_side->program->tables, cursor);
    enum vdbq_status status = build_rows_take(
        &build_side->rows[cursor], stream->inputs[table->input - 1], error);
    if (status != VDBQ_OK)
        return status;
    uint64_t rows = build_side->rows[cursor].row_set.rows;
    stream_close_input(stream, table->input - 1);
    if (rows > KEY_ROWS_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "%llu rows of %s on the inner side of a join; %u can "
                         "be probed",
                         (unsigned long long)rows, table->name, KEY_ROWS_MAX);
    return VDBQ_OK;
}

/* Makes room for what is known of columns and indexes. */
static enum vdbq_status describe(struct build_side *build_side,
                                 struct error *error)
{
    struct arena *arena = &build_side->arena;
    enum vdbq_status status =
        program_pack(build_side->program, arena, &build_side->pack, error);
    if (status != VDBQ_OK)
        return status;
    size_t count = build_column_count(build_side) + (size_t)1;
    size_t ranges = count + build_side->pack.index_count;
    build_side->rows =
        arena_alloc(arena, build_side->cursors * sizeof *build_side->rows);
    build_side->dictionaries =
        arena_alloc(arena, count * sizeof *build_side->dictionaries);
    build_side->order_codes =
        arena_alloc(arena, count * sizeof *build_side->order_codes);
    build_side->inputs = arena_alloc(arena, count * sizeof *build_side->inputs);
    build_side->indexes =
        arena_alloc(arena, count * sizeof *build_side->indexes);
    build_side->ranges =
        arena_alloc(arena, ranges * sizeof *build_side->ranges);
    if (!build_side->rows || !build_side->dictionaries
        || !build_side->order_codes || !build_side->inputs
        || !build_side->indexes || !build_side->ranges) {
        build_side->cursors = 0;
        return error_no_memory(error);
    }
    return VDBQ_OK;
}

static enum vdbq_status take_all_rows(struct build_side *build_side,
                                      struct stream *stream,
                                      struct device *device,
                                      struct error *error)
{
    enum vdbq_status status = describe(build_side, error);
    unsigned first = program_axes(build_side->program);
    build_side->memory.account = stream->params->account;
    for (unsigned i = first; i < build_side->cursors && status == VDBQ_OK; i++)
        status = begin_rows(build_side, stream, i, device, error);
    for (unsigned i = first; i < build_side->cursors && status == VDBQ_OK; i++)
        status = take_rows(build_side, stream, i, error);
    for (unsigned i = 0;
         status == VDBQ_OK && i < build_column_count(build_side); i++)
        build_side->dictionaries[i] =
            build_column_at(build_side, i)->dictionary;
    return status;
}

enum vdbq_status build_side_open(struct stream *stream, struct device *device,
                                 struct build_side **build_side,
                                 struct error *error)
{
    const struct program *program = &stream->step->scan.program;
    *build_side = NULL;
    if (program_axes(program) == program->tables.count)
        return VDBQ_OK;
    struct build_side *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->params = stream->params;
    made->program = program;
    made->cursors = (unsigned)program->tables.count;
    enum vdbq_status status = take_all_rows(made, stream, device, error);
    if (status == VDBQ_OK)
        *build_side = made;
    else
        build_side_close(made);
    return status;
}

void build_release_rows(struct build_side *build_side)
{
    for (unsigned i = 0; i < build_side->cursors && build_side->rows; i++)
        build_rows_finish(&build_side->rows[i]);
}

void build_side_close(struct build_side *build_side)
{
    if (build_side == NULL)
        return;
    build_release_rows(build_side); /* waits for what is on its way from them */
    device_memory_release(build_side->run.memory);
    if (build_side->resident != NULL)
        resident_return(build_side->resident, build_side->bytes);
    account_give_all(&build_side->memory);
    arena_finish(&build_side->arena);
    memory_release(build_side);
}

struct dictionary *const *
build_side_dictionaries(const struct build_side *build_side, unsigned *count)
{
    *count = build_side != NULL ? build_column_count(build_side) : 0;
    return build_side != NULL ? build_side->dictionaries : NULL;
}

const struct run_build_side *build_side_run(const struct build_side *build_side)
{
    return build_side != NULL ? &build_side->run : NULL;
}

const struct input_range *build_side_ranges(const struct build_side *build_side)
{
    return build_side != NULL ? build_side->ranges : NULL;
}

void build_side_stats(const struct build_side *build_side,
                      struct vdbq_stats *stats)
{
    if (build_side == NULL)
        return;
    stream_add_times(&build_side->times, stats);
    stats->steps = build_side->text;
}
