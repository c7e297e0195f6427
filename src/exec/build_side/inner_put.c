/* SPDX-License-Identifier: MIT */
/*
 * Lays inner rows out: for each column that the program reads its values, then
 * its NULL flags if it has any, then the slots of the indexes and the keys that
 * only they need. Each starts at a multiple of 64 bytes; offset 0 is left out,
 * since it means that there are no NULLs.
 *
 * Before that the rows are made ready where they are: texts get the numbers
 * of the run's words, NULLs the value 0.
 */
#include <stdio.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/build_side/inner_columns.h"
#include "exec/build_side/inner_facts.h"
#include "exec/stream/stream_inner.h"
#include "program/interval.h"

/* Bytes that go to a device of its own at a time. */
enum { STAGING_BYTES = 16 << 20 };
/* Bytes of a text that are kept for its end, and one more index. */
enum { TEXT_SPARE = 80 };

/* --------------------------------------------------------------- facts -- */

/* The first column of the list that is the same as column i. */
static unsigned first_of(const struct inner *inner, unsigned i)
{
    unsigned first = 0;
    while (inner_column_at(inner, first) != inner_column_at(inner, i))
        first++;
    return first;
}

/* What is known of a column whose rows are on the device: before `order_codes`
 * make numbers of a text's codes. */
static struct feed_range device_range(const struct inner *inner, unsigned i,
                                      const struct run_dictionary *dictionary)
{
    const struct program_feed *feed = inner_feed_at(inner, i);
    const struct device_column *column =
        inner_device_column(inner_taken_at(inner, i), (unsigned)feed->column);
    struct feed_range range = { .null = column->nullable, .not_null = true };
    range.value = interval_any(step_machine_type(column->type));
    if (column->type == VDBQ_TEXT && dictionary->dictionary != NULL)
        range.value =
            (struct interval){ .high = dictionary->dictionary->count };
    else if (column->ranged)
        range.value =
            (struct interval){ .low = column->low, .high = column->high };
    return range;
}

/* Makes a column ready that comes first. */
static struct feed_range prepare_column(struct inner *inner, unsigned i,
                                        const struct run_dictionary *dictionary)
{
    const struct order_codes *order_codes =
        dictionary->inner_order_codes != NULL
            ? &dictionary->inner_order_codes[i]
            : NULL;
    if (inner_taken_at(inner, i) == NULL)
        return inner_facts(inner_column_at(inner, i), inner_rows_at(inner, i),
                           order_codes, stream_threads(inner->params));
    if (order_codes != NULL)
        inner->order_codes[i] = *order_codes;
    return device_range(inner, i, dictionary);
}

/* Makes the columns ready, each once, and notes what is known of them. */
static void prepare(struct inner *inner,
                    const struct run_dictionary *dictionary)
{
    unsigned count = inner_column_count(inner);
    for (unsigned i = 0; i < count; i++) {
        unsigned first = first_of(inner, i);
        inner->ranges[i] = first < i ? inner->ranges[first]
                                     : prepare_column(inner, i, dictionary);
    }
    for (unsigned i = 0; i < inner->pack.index_count; i++) {
        int64_t rows =
            (int64_t)inner_rows_at(inner, inner->pack.inner_count + i);
        inner->ranges[count + i] =
            (struct feed_range){ .value = { .low = -1, .high = rows - 1 },
                                 .not_null = true };
    }
}

static struct key_column key_column(const struct inner *inner, unsigned index)
{
    unsigned i = inner->pack.inner_count + index;
    const struct row_set_column *column = inner_column_at(inner, i);
    const struct feed_range *range = &inner->ranges[i];
    bool any = range->not_null && inner_rows_at(inner, i) > 0;
    return (struct key_column){ .values = column->values,
                                .nulls = column->nulls,
                                .width = column->width,
                                .rows = inner_rows_at(inner, i),
                                .low = any ? range->value.low : 0,
                                .high = any ? range->value.high : -1 };
}

/* -------------------------------------------------------------- layout -- */

/* Takes `size` bytes. */
static u64 take(u64 *end, u64 size)
{
    u64 at = *end;
    *end = TABLET_ALIGNED(at + size);
    return at;
}

/* Whether the keys of an index that is made on the device need a place of their
 * own: the kernel finds them, and which are NULL, where they are probed. */
static bool needs_keys(const struct inner *inner, unsigned number)
{
    unsigned i = inner->pack.inner_count + number;
    const struct row_set_column *column = inner_column_at(inner, i);
    bool hashed = inner->indexes[number].kind == INDEX_HASHED;
    return first_of(inner, i) >= inner->pack.inner_count
           && (inner_taken_at(inner, i) != NULL
               || (hashed && column->width == sizeof(i64)));
}

static void place_index(struct inner *inner, unsigned number, bool on_gpu,
                        u64 *end)
{
    unsigned i = inner->pack.inner_count + number;
    unsigned first = first_of(inner, i);
    struct key_column column = key_column(inner, number);
    struct key_index *index = &inner->indexes[number];
    struct inner_feed *keys = &inner->feeds[i];
    *index = key_index_plan(&column, on_gpu);
    index->slots = take(end, key_index_bytes(index));
    if (first < inner->pack.inner_count)
        *keys = inner->feeds[first];
    if (needs_keys(inner, number))
        keys->values = take(end, column.rows * column.width);
    if (needs_keys(inner, number) && inner->ranges[i].null
        && inner_taken_at(inner, i) != NULL)
        keys->nulls = take(end, column.rows);
    index->keys = keys->values;
}

static void place_feed(struct inner *inner, unsigned i, u64 *end)
{
    const struct row_set_column *column = inner_column_at(inner, i);
    inner->feeds[i] = inner_rows_place(inner_rows_at(inner, i), column->width,
                                       inner->ranges[i].null, end);
}

/* Gives everything its place, what the host writes first. */
static void lay_out(struct inner *inner, bool on_gpu)
{
    u64 end = TABLET_ALIGN;
    for (int device = 0; device <= 1; device++) {
        for (unsigned i = 0; i < inner_column_count(inner); i++) {
            if ((inner_taken_at(inner, i) != NULL) != device)
                continue;
            if (i < inner->pack.inner_count)
                place_feed(inner, i, &end);
            else
                place_index(inner, i - inner->pack.inner_count, on_gpu, &end);
        }
        if (!device)
            inner->host_bytes = end;
    }
    inner->bytes = end;
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
    unsigned threads = stream_threads(inner->params);
    struct copying copying = { .to = to,
                               .from = from,
                               .size = size,
                               .threads = parallel_threads(
                                   threads, size / sizeof(i64)) };
    if (size > 0)
        parallel_run(copying.threads, copy_part, &copying);
}

static void fill_index(const struct inner *inner, unsigned number, u8 *block)
{
    unsigned i = inner->pack.inner_count + number;
    struct key_column column = key_column(inner, number);
    const struct key_index *index = &inner->indexes[number];
    if (inner_taken_at(inner, i) != NULL)
        return;
    key_index_fill(index, &column, stream_threads(inner->params),
                   block + index->slots);
    if (needs_keys(inner, number))
        copy(inner, block + index->keys, column.values,
             column.rows * sizeof(i64));
}

/* Writes what the host has to where it can write. */
static void fill(const struct inner *inner, u8 *block)
{
    for (unsigned i = 0; i < inner->pack.inner_count; i++) {
        const struct row_set_column *column = inner_column_at(inner, i);
        if (inner_taken_at(inner, i) != NULL)
            continue;
        copy(inner, block + inner->feeds[i].values, column->values,
             inner_rows_at(inner, i) * column->width);
        if (inner->feeds[i].nulls != 0)
            copy(inner, block + inner->feeds[i].nulls, column->nulls,
                 inner_rows_at(inner, i));
    }
    for (unsigned i = 0; i < inner->pack.index_count; i++)
        fill_index(inner, i, block);
}

/* Into memory that the device shares with the host. */
static enum vdbq_status put_shared(struct inner *inner, struct device *device,
                                   struct error *error)
{
    enum vdbq_status status = device_memory_create(
        device, MEMORY_PINNED, inner->bytes, &inner->run.memory, error);
    if (status != VDBQ_OK)
        return status;
    fill(inner, device_memory_host(inner->run.memory));
    return device_memory_give(inner->run.memory, &inner->times, error);
}

/* Copies a block to the device, through pinned memory. */
static enum vdbq_status send(struct inner *inner, const u8 *block,
                             struct device_memory *staging, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (u64 at = 0; at < inner->host_bytes && status == VDBQ_OK;
         at += STAGING_BYTES) {
        u64 left = inner->host_bytes - at;
        u64 size = left < STAGING_BYTES ? left : STAGING_BYTES;
        copy(inner, device_memory_host(staging), block + at, size);
        status =
            device_write(inner->run.memory, at, device_memory_host(staging),
                         size, &inner->times, error);
    }
    return status;
}

/* Into memory of the device's own. */
static enum vdbq_status put_device(struct inner *inner, struct device *device,
                                   struct error *error)
{
    struct device_memory *staging = NULL;
    u64 size = inner->host_bytes;
    u8 *block = memory_resize(NULL, size);
    enum vdbq_status status = block == NULL ? error_no_memory(error) : VDBQ_OK;
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_DEVICE, inner->bytes,
                                      &inner->run.memory, error);
    if (status == VDBQ_OK)
        status = device_memory_create(
            device, MEMORY_PINNED, size < STAGING_BYTES ? size : STAGING_BYTES,
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

/* Copies the columns that are on the device already, and makes indexes. */
static enum vdbq_status put_taken(struct inner *inner, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < inner_column_count(inner) && status == VDBQ_OK;
         i++) {
        struct inner_device *rows = inner_taken_at(inner, i);
        const struct inner_feed *feed = &inner->feeds[i];
        bool index = i >= inner->pack.inner_count;
        unsigned number = i - inner->pack.inner_count;
        unsigned column = (unsigned)inner_feed_at(inner, i)->column;
        if (rows == NULL)
            continue;
        if (!index || needs_keys(inner, number))
            status = inner_device_copy(rows, column, 0, inner_rows_at(inner, i),
                                       inner->run.memory, feed, error);
        if (index && status == VDBQ_OK)
            status = inner_device_index(
                rows, &inner->indexes[number], inner->run.memory, feed,
                inner_column_at(inner, i)->width, error);
        if (status == VDBQ_OK)
            status = inner_device_wait(rows, &inner->times, error);
    }
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
    if (inner->memory != NULL && facts->shares_memory) {
        inner->held_bytes = inner->bytes;
        inner->memory->used_bytes += inner->bytes;
    }
    if (place->resident == NULL)
        return VDBQ_OK;
    enum vdbq_status status =
        resident_reserve(place->resident, inner->bytes, error);
    if (status == VDBQ_OK)
        inner->resident = place->resident;
    return status;
}

/* "probe (2556 dense, 300000 hashed: 4811 KB, 1 on the device)" */
static void name(struct inner *inner)
{
    size_t length = 0, size = sizeof inner->text;
    unsigned taken = 0;
    for (unsigned i = 0; i < inner->cursors; i++)
        taken += inner->rows[i].taken != NULL;
    for (unsigned i = 0; i < inner->pack.index_count; i++) {
        bool dense = inner->indexes[i].kind == INDEX_DENSE;
        uint64_t rows = inner_rows_at(inner, inner->pack.inner_count + i);
        if (length + TEXT_SPARE < size)
            length += (size_t)snprintf(inner->text + length, size - length,
                                       "%s%llu %s", i > 0 ? ", " : "probe (",
                                       (unsigned long long)rows,
                                       dense ? "dense" : "hashed");
    }
    length += (size_t)snprintf(inner->text + length, size - length, ": %llu KB",
                               (unsigned long long)(inner->bytes >> 10));
    if (taken > 0)
        length += (size_t)snprintf(inner->text + length, size - length,
                                   ", %u on the device", taken);
    snprintf(inner->text + length, size - length, ")");
}

enum vdbq_status inner_put(struct inner *inner, const struct inner_place *place,
                           struct error *error)
{
    prepare(inner, place->dictionary);
    lay_out(inner, device_facts(place->device)->is_gpu);
    inner->run.feeds = inner->feeds;
    inner->run.order_codes = inner->order_codes;
    inner->run.indexes = inner->indexes;
    enum vdbq_status status = reserve(inner, place, error);
    if (status != VDBQ_OK)
        return status;
    status = device_facts(place->device)->shares_memory
                 ? put_shared(inner, place->device, error)
                 : put_device(inner, place->device, error);
    if (status == VDBQ_OK)
        status = put_taken(inner, error);
    name(inner);
    inner_release_rows(inner);
    return status;
}
