/* SPDX-License-Identifier: MIT */
/*
 * Gathers inner rows, and keeps them while the run lasts: inner.h.
 */
#include "exec/build_side/inner_columns.h"
#include "exec/stream/stream_inner.h"

/* -------------------------------------------------------------- columns -- */

unsigned inner_column_count(const struct inner *inner)
{
    return inner->pack.inner_count + inner->pack.index_count;
}

const struct program_feed *inner_feed_at(const struct inner *inner, unsigned i)
{
    return i < inner->pack.inner_count
               ? &inner->pack.inner_feeds[i]
               : &inner->pack.indexes[i - inner->pack.inner_count];
}

struct row_set_column *inner_column_at(const struct inner *inner, unsigned i)
{
    const struct program_feed *feed = inner_feed_at(inner, i);
    return &inner->rows[feed->cursor].row_set.columns[feed->column];
}

uint64_t inner_rows_at(const struct inner *inner, unsigned i)
{
    return inner->rows[inner_feed_at(inner, i)->cursor].row_set.rows;
}

struct inner_device *inner_taken_at(const struct inner *inner, unsigned i)
{
    return inner->rows[inner_feed_at(inner, i)->cursor].taken;
}

/* -------------------------------------------------------------- gather -- */

/* Which columns of a cursor's rows the program reads or probes; false: it
 * probes a text, which the host makes numbers of. */
static bool find_wanted(const struct inner *inner, unsigned cursor,
                        bool *wanted)
{
    const struct program_table *table =
        vector_at(&inner->program->tables, cursor);
    bool good = true;
    for (unsigned i = 0; i < inner_column_count(inner); i++) {
        const struct program_feed *feed = inner_feed_at(inner, i);
        if (feed->cursor != (int)cursor)
            continue;
        wanted[feed->column] = true;
        good &= i < inner->pack.inner_count
                || table->column_types[feed->column] != TYPE_WORD;
    }
    return good;
}

/* Takes the rows of one probed cursor. */
static enum vdbq_status take_rows(struct inner *inner, struct stream *stream,
                                  unsigned cursor, struct device *device,
                                  struct error *error)
{
    const struct program_table *table =
        vector_at(&inner->program->tables, cursor);
    struct stream *input = stream->inputs[table->input - 1];
    bool *wanted =
        arena_alloc(&inner->arena, input->step->column_count + (size_t)1);
    inner->memory = stream->params->memory;
    if (wanted == NULL)
        return error_no_memory(error);
    bool can = find_wanted(inner, cursor, wanted);
    enum vdbq_status status =
        inner_rows_take(&inner->rows[cursor], input,
                        &(struct inner_device_params){
                            .device = can ? device : NULL, .wanted = wanted },
                        error);
    if (status != VDBQ_OK)
        return status;
    uint64_t rows = inner->rows[cursor].row_set.rows;
    stream_close_input(stream, table->input - 1);
    if (rows > KEY_ROWS_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "%llu rows of %s on the inner side of a join; %u can "
                         "be probed",
                         (unsigned long long)rows, table->name, KEY_ROWS_MAX);
    return VDBQ_OK;
}

/* Makes room for what is known of columns and indexes. */
static enum vdbq_status describe(struct inner *inner, struct error *error)
{
    struct arena *arena = &inner->arena;
    enum vdbq_status status =
        program_pack(inner->program, arena, &inner->pack, error);
    if (status != VDBQ_OK)
        return status;
    size_t count = inner_column_count(inner) + (size_t)1;
    size_t ranges = count + inner->pack.index_count;
    inner->rows = arena_alloc(arena, inner->cursors * sizeof *inner->rows);
    inner->dictionaries =
        arena_alloc(arena, count * sizeof *inner->dictionaries);
    inner->order_codes = arena_alloc(arena, count * sizeof *inner->order_codes);
    inner->feeds = arena_alloc(arena, count * sizeof *inner->feeds);
    inner->indexes = arena_alloc(arena, count * sizeof *inner->indexes);
    inner->ranges = arena_alloc(arena, ranges * sizeof *inner->ranges);
    if (!inner->rows || !inner->dictionaries || !inner->order_codes
        || !inner->feeds || !inner->indexes || !inner->ranges) {
        inner->cursors = 0;
        return error_no_memory(error);
    }
    return VDBQ_OK;
}

static enum vdbq_status gather(struct inner *inner, struct stream *stream,
                               struct device *device, struct error *error)
{
    enum vdbq_status status = describe(inner, error);
    for (unsigned i = program_axes(inner->program);
         i < inner->cursors && status == VDBQ_OK; i++)
        status = take_rows(inner, stream, i, device, error);
    for (unsigned i = 0; status == VDBQ_OK && i < inner_column_count(inner);
         i++)
        inner->dictionaries[i] = inner_column_at(inner, i)->dictionary;
    return status;
}

enum vdbq_status inner_gather(struct stream *stream, struct device *device,
                              struct inner **inner, struct error *error)
{
    const struct program *program = &stream->step->scan.program;
    *inner = NULL;
    if (program_axes(program) == program->tables.count)
        return VDBQ_OK;
    struct inner *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->params = stream->params;
    made->program = program;
    made->cursors = (unsigned)program->tables.count;
    enum vdbq_status status = gather(made, stream, device, error);
    if (status == VDBQ_OK)
        *inner = made;
    else
        inner_close(made);
    return status;
}

void inner_release_rows(struct inner *inner)
{
    for (unsigned i = 0; i < inner->cursors && inner->rows; i++)
        inner_rows_finish(&inner->rows[i]);
}

void inner_close(struct inner *inner)
{
    if (inner == NULL)
        return;
    device_memory_release(inner->run.memory);
    if (inner->resident != NULL)
        resident_return(inner->resident, inner->bytes);
    if (inner->memory != NULL)
        inner->memory->used_bytes -= inner->held_bytes;
    inner_release_rows(inner);
    arena_finish(&inner->arena);
    memory_release(inner);
}

struct dictionary *const *inner_dictionaries(const struct inner *inner,
                                             unsigned *count)
{
    *count = inner != NULL ? inner_column_count(inner) : 0;
    return inner != NULL ? inner->dictionaries : NULL;
}

const struct run_inner *inner_run(const struct inner *inner)
{
    return inner != NULL ? &inner->run : NULL;
}

const struct feed_range *inner_ranges(const struct inner *inner)
{
    return inner != NULL ? inner->ranges : NULL;
}

void inner_stats(const struct inner *inner, struct vdbq_stats *stats)
{
    if (inner == NULL)
        return;
    stream_add_times(&inner->times, stats);
    stats->steps = inner->text;
}
