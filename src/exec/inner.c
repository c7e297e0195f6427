/* SPDX-License-Identifier: MIT */
/*
 * Gathers inner rows and lays them out: for each column that the program
 * reads its values, then its NULL flags if it has any, then the slots of the
 * indexes and the keys that only they need. Each starts at a multiple of 64
 * bytes; offset 0 is left out, since it means that there are no NULLs.
 *
 * Before that the rows are made ready where they are: texts get the numbers
 * of the run's words, NULLs the value 0.
 */
#include "exec/inner.h"

#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "exec/inner_facts.h"
#include "exec/key_index.h"
#include "exec/stream_inner.h"

/* Bytes that go to a device of its own at a time. */
enum { STAGING_BYTES = 16 << 20 };

struct inner {
    const struct stream_params *params;
    const struct program *program;
    struct program_pack pack;
    struct relation *relations; /* one a cursor; of those that are axes none */
    unsigned cursors;
    uint64_t rows;
    struct words **words;       /* one a column: see inner_words()           */
    struct run_inner run;
    struct inner_feed *feeds;
    struct key_index *indexes;
    struct feed_range *ranges;
    struct resident *resident;  /* of which `bytes` are held                 */
    uint64_t bytes;
    struct device_times times;
    char text[96];              /* for stats                                 */
    struct arena arena;
};

/* -------------------------------------------------------------- gather -- */

static unsigned column_count(const struct inner *inner)
{
    return inner->pack.inner_count + inner->pack.index_count;
}

/* Columns as inner_words() has them. */
static const struct program_feed *feed_at(const struct inner *inner,
                                          unsigned i)
{
    return i < inner->pack.inner_count
               ? &inner->pack.inner_feeds[i]
               : &inner->pack.indexes[i - inner->pack.inner_count];
}

static struct relation_column *column_at(const struct inner *inner, unsigned i)
{
    const struct program_feed *feed = feed_at(inner, i);
    return &inner->relations[feed->cursor].columns[feed->column];
}

static uint64_t rows_at(const struct inner *inner, unsigned i)
{
    return inner->relations[feed_at(inner, i)->cursor].rows;
}

static unsigned threads_of(const struct inner *inner)
{
    return inner->params->threads > 0 ? inner->params->threads : 1;
}

/* Takes the rows of one probed cursor. */
static enum vdbq_status take_rows(struct inner *inner, struct stream *stream,
                                  unsigned cursor, struct error *error)
{
    const struct program_table *table =
        vector_at(&inner->program->tables, cursor);
    struct relation *relation = &inner->relations[cursor];
    enum vdbq_status status =
        stream_gather(stream->inputs[table->input - 1], relation, error);
    if (status != VDBQ_OK)
        return status;
    stream_close_input(stream, table->input - 1);
    inner->rows += relation->rows;
    if (relation->rows > KEY_ROWS_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "%llu rows of %s on the inner side of a join; %u can "
                         "be probed", (unsigned long long)relation->rows,
                         table->name, KEY_ROWS_MAX);
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
    size_t count = column_count(inner) + (size_t)1;
    size_t ranges = count + inner->pack.index_count;
    inner->relations = arena_alloc(arena, inner->cursors *
                                              sizeof *inner->relations);
    inner->words = arena_alloc(arena, count * sizeof *inner->words);
    inner->feeds = arena_alloc(arena, count * sizeof *inner->feeds);
    inner->indexes = arena_alloc(arena, count * sizeof *inner->indexes);
    inner->ranges = arena_alloc(arena, ranges * sizeof *inner->ranges);
    if (!inner->relations || !inner->words || !inner->feeds ||
        !inner->indexes || !inner->ranges) {
        inner->cursors = 0;
        return error_no_memory(error);
    }
    return VDBQ_OK;
}

static enum vdbq_status gather(struct inner *inner, struct stream *stream,
                               struct error *error)
{
    enum vdbq_status status = describe(inner, error);
    for (unsigned i = program_axes(inner->program);
         i < inner->cursors && status == VDBQ_OK; i++)
        status = take_rows(inner, stream, i, error);
    for (unsigned i = 0; status == VDBQ_OK && i < column_count(inner); i++)
        inner->words[i] = column_at(inner, i)->words;
    return status;
}

enum vdbq_status inner_gather(struct stream *stream, struct inner **inner,
                              struct error *error)
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
    enum vdbq_status status = gather(made, stream, error);
    if (status == VDBQ_OK)
        *inner = made;
    else
        inner_close(made);
    return status;
}

static void release_rows(struct inner *inner)
{
    for (unsigned i = 0; i < inner->cursors && inner->relations != NULL; i++)
        relation_finish(&inner->relations[i]);
}

void inner_close(struct inner *inner)
{
    if (inner == NULL)
        return;
    device_memory_release(inner->run.memory);
    if (inner->resident != NULL)
        resident_return(inner->resident, inner->bytes);
    release_rows(inner);
    arena_finish(&inner->arena);
    memory_release(inner);
}

uint64_t inner_rows(const struct inner *inner)
{
    return inner != NULL ? inner->rows : 0;
}

struct words *const *inner_words(const struct inner *inner, unsigned *count)
{
    *count = inner != NULL ? column_count(inner) : 0;
    return inner != NULL ? inner->words : NULL;
}

const struct run_inner *inner_run(const struct inner *inner)
{
    return inner != NULL ? &inner->run : NULL;
}

const struct feed_range *inner_ranges(const struct inner *inner)
{
    return inner != NULL ? inner->ranges : NULL;
}

/* --------------------------------------------------------------- facts -- */

/* The first column of the list that is the same as column i. */
static unsigned first_of(const struct inner *inner, unsigned i)
{
    unsigned first = 0;
    while (column_at(inner, first) != column_at(inner, i))
        first++;
    return first;
}

/* Makes the columns ready, each once, and notes what is known of them. */
static void prepare(struct inner *inner, const struct word_table *words)
{
    unsigned count = column_count(inner);
    for (unsigned i = 0; i < count; i++) {
        unsigned first = first_of(inner, i);
        const struct run_ranks *ranks =
            words->inner_ranks != NULL ? &words->inner_ranks[i] : NULL;
        inner->ranges[i] =
            first < i ? inner->ranges[first]
                      : inner_facts(column_at(inner, i), rows_at(inner, i),
                                    ranks, threads_of(inner));
    }
    for (unsigned i = 0; i < inner->pack.index_count; i++) {
        int64_t rows =
            (int64_t)rows_at(inner, inner->pack.inner_count + i);
        inner->ranges[count + i] = (struct feed_range){
            .value = { .low = -1, .high = rows - 1 }, .not_null = true
        };
    }
}

static struct key_column key_column(const struct inner *inner, unsigned index)
{
    unsigned i = inner->pack.inner_count + index;
    const struct relation_column *column = column_at(inner, i);
    const struct feed_range *range = &inner->ranges[i];
    return (struct key_column){ .values = column->values,
                                .nulls = column->nulls,
                                .width = column->width,
                                .rows = rows_at(inner, i),
                                .low = range->not_null ? range->value.low : 0,
                                .high =
                                    range->not_null ? range->value.high : -1 };
}

/* -------------------------------------------------------------- layout -- */

/* Takes `size` bytes. */
static u64 take(u64 *end, u64 size)
{
    u64 at = *end;
    *end = TABLET_ALIGNED(at + size);
    return at;
}

static void place_index(struct inner *inner, unsigned number, u64 *end)
{
    unsigned i = inner->pack.inner_count + number;
    struct key_column column = key_column(inner, number);
    struct key_index *index = &inner->indexes[number];
    *index = key_index_plan(&column);
    index->slots = take(end, key_index_bytes(index));
    if (index->kind == INDEX_DENSE || column.width != sizeof(i64))
        return;
    unsigned first = first_of(inner, i);
    index->keys = first < inner->pack.inner_count
                      ? inner->feeds[first].values
                      : take(end, column.rows * sizeof(i64));
}

/* Gives everything its place; the bytes of all. */
static u64 lay_out(struct inner *inner)
{
    u64 end = TABLET_ALIGN;
    for (unsigned i = 0; i < inner->pack.inner_count; i++) {
        const struct relation_column *column = column_at(inner, i);
        inner->feeds[i].values = take(&end, rows_at(inner, i) * column->width);
        if (inner->ranges[i].null)
            inner->feeds[i].nulls = take(&end, rows_at(inner, i));
    }
    for (unsigned i = 0; i < inner->pack.index_count; i++)
        place_index(inner, i, &end);
    return end;
}

/* ---------------------------------------------------------------- fill -- */

/* A block of bytes that threads copy in parts. */
struct copying {
    u8 *to;
    const u8 *from;
    u64 size;
    unsigned threads;
};

static void copy_part(void *context, unsigned i)
{
    const struct copying *copying = context;
    u64 part = TABLET_ALIGNED(copying->size / copying->threads + 1);
    u64 first = part * i < copying->size ? part * i : copying->size;
    u64 left = copying->size - first;
    memcpy(copying->to + first, copying->from + first,
           left < part ? left : part);
}

static void copy(const struct inner *inner, u8 *to, const void *from, u64 size)
{
    struct copying copying = {
        .to = to, .from = from, .size = size,
        .threads = parallel_threads(threads_of(inner), size / sizeof(i64))
    };
    if (size > 0)
        parallel_run(copying.threads, copy_part, &copying);
}

static void fill_index(const struct inner *inner, unsigned number, u8 *block)
{
    unsigned i = inner->pack.inner_count + number;
    struct key_column column = key_column(inner, number);
    const struct key_index *index = &inner->indexes[number];
    key_index_fill(index, &column, threads_of(inner), block + index->slots);
    if (index->keys != 0 && first_of(inner, i) >= inner->pack.inner_count)
        copy(inner, block + index->keys, column.values,
             column.rows * sizeof(i64));
}

/* Writes all of it to where the host can write. */
static void fill(const struct inner *inner, u8 *block)
{
    for (unsigned i = 0; i < inner->pack.inner_count; i++) {
        const struct relation_column *column = column_at(inner, i);
        copy(inner, block + inner->feeds[i].values, column->values,
             rows_at(inner, i) * column->width);
        if (inner->feeds[i].nulls != 0)
            copy(inner, block + inner->feeds[i].nulls, column->nulls,
                 rows_at(inner, i));
    }
    for (unsigned i = 0; i < inner->pack.index_count; i++)
        fill_index(inner, i, block);
}

/* Into memory that the device shares with the host. */
static enum vdbq_status put_shared(struct inner *inner, struct device *device,
                                   struct error *error)
{
    enum vdbq_status status =
        device_memory_create(device, MEMORY_PINNED, inner->bytes,
                             &inner->run.memory, error);
    if (status != VDBQ_OK)
        return status;
    fill(inner, device_memory_host(inner->run.memory));
    return device_memory_give(inner->run.memory, &inner->times, error);
}

/* Copies a block to the device, through pinned memory. */
static enum vdbq_status send(struct inner *inner, const u8 *block,
                             struct device_memory *staging,
                             struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (u64 at = 0; at < inner->bytes && status == VDBQ_OK;
         at += STAGING_BYTES) {
        u64 left = inner->bytes - at;
        u64 size = left < STAGING_BYTES ? left : STAGING_BYTES;
        copy(inner, device_memory_host(staging), block + at, size);
        status = device_write(inner->run.memory, at,
                              device_memory_host(staging), size,
                              &inner->times, error);
    }
    return status;
}

/* Into memory of the device's own. */
static enum vdbq_status put_device(struct inner *inner, struct device *device,
                                   struct error *error)
{
    struct device_memory *staging = NULL;
    u8 *block = memory_resize(NULL, inner->bytes);
    enum vdbq_status status =
        block == NULL ? error_no_memory(error) : VDBQ_OK;
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_DEVICE, inner->bytes,
                                      &inner->run.memory, error);
    if (status == VDBQ_OK)
        status = device_memory_create(
            device, MEMORY_PINNED,
            inner->bytes < STAGING_BYTES ? inner->bytes : STAGING_BYTES,
            &staging, error);
    if (status == VDBQ_OK) {
        fill(inner, block);
        status = send(inner, block, staging, error);
    }
    if (staging != NULL)
        device_memory_release(staging);
    memory_release(block);
    return status;
}

/* ----------------------------------------------------------------- put -- */

/* Makes sure that the budget and the device can hold them. */
static enum vdbq_status reserve(struct inner *inner,
                                const struct inner_place *place,
                                struct error *error)
{
    const struct device_facts *facts = device_facts(place->device);
    if (inner->bytes > facts->buffer_max_bytes)
        return error_set(error, VDBQ_LIMIT,
                         "the inner rows of a join take %llu bytes; a buffer "
                         "of device '%s' holds %llu",
                         (unsigned long long)inner->bytes, facts->name,
                         (unsigned long long)facts->buffer_max_bytes);
    if (place->resident == NULL)
        return VDBQ_OK;
    enum vdbq_status status =
        resident_reserve(place->resident, inner->bytes, error);
    if (status == VDBQ_OK)
        inner->resident = place->resident;
    return status;
}

/* "probe (2556 dense, 300000 hashed: 4811 KB)" */
static void name(struct inner *inner)
{
    size_t length = 0, size = sizeof inner->text;
    for (unsigned i = 0; i < inner->pack.index_count; i++) {
        bool dense = inner->indexes[i].kind == INDEX_DENSE;
        uint64_t rows = rows_at(inner, inner->pack.inner_count + i);
        length += (size_t)snprintf(inner->text + length, size - length,
                                   "%s%llu %s", i > 0 ? ", " : "probe (",
                                   (unsigned long long)rows,
                                   dense ? "dense" : "hashed");
        if (length + 32 > size)
            break;
    }
    snprintf(inner->text + length, size - length, ": %llu KB)",
             (unsigned long long)(inner->bytes >> 10));
}

enum vdbq_status inner_put(struct inner *inner,
                           const struct inner_place *place,
                           struct error *error)
{
    prepare(inner, place->words);
    inner->bytes = lay_out(inner);
    inner->run.feeds = inner->feeds;
    inner->run.indexes = inner->indexes;
    enum vdbq_status status = reserve(inner, place, error);
    if (status != VDBQ_OK)
        return status;
    status = device_facts(place->device)->shares_memory
                 ? put_shared(inner, place->device, error)
                 : put_device(inner, place->device, error);
    name(inner);
    release_rows(inner);
    return status;
}

void inner_stats(const struct inner *inner, struct vdbq_stats *stats)
{
    if (inner == NULL)
        return;
    stream_add_times(&inner->times, stats);
    stats->steps = inner->text;
}
