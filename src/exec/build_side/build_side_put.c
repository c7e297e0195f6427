/* SPDX-License-Identifier: MIT */
/*
 * Lays build rows out: for each column that the program reads its values, then
 * its NULL flags if it has any, then the slots of the indexes and the keys that
 * only they need. Each starts at a multiple of 64 bytes; offset 0 is left out,
 * since it means that there are no NULLs. Behind the last one come 64 bytes more: a
 * host reads the first value even of what has none (VALUE_AT in cl/build_side.cl).
 *
 * Before that the rows are made ready where they are: texts get the numbers
 * of the run's words, NULLs the value 0.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "device/kind.h"
#include "exec/build_side/build_columns.h"
#include "exec/build_side/build_facts.h"
#include "exec/stream/stream_inner.h"
#include "program/interval.h"

/* Bytes that go to a device of its own at a time. */
enum { STAGING_BYTES = 16 << 20 };
/* Bytes of a text that are kept for its end, and one more index. */
enum { TEXT_SPARE = 80 };
/* Bytes that are copied between two asks to stop. */
enum { COPY_BYTES = 4 << 20 };

/* --------------------------------------------------------------- facts -- */

/* What is known of a column whose rows are on the device: before `order_codes`
 * make numbers of a text's codes. */
static struct input_range device_range(const struct build_side *build_side,
                                       unsigned i,
                                       const struct run_dictionary *dictionary)
{
    const struct program_input *input = build_input_at(build_side, i);
    const struct device_column *column =
        &build_device_at(build_side, i)->columns[input->column];
    struct input_range range = { .null = column->nullable, .not_null = true };
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
static struct input_range
prepare_column(struct build_side *build_side, unsigned i,
               const struct run_dictionary *dictionary)
{
    const struct order_codes *order_codes =
        dictionary->build_order_codes != NULL
            ? &dictionary->build_order_codes[i]
            : NULL;
    if (build_device_at(build_side, i) == NULL)
        return build_facts(build_column_at(build_side, i),
                           build_rows_at(build_side, i), order_codes,
                           stream_threads(build_side->params));
    if (order_codes != NULL)
        build_side->order_codes[i] = *order_codes;
    return device_range(build_side, i, dictionary);
}

/* Makes the columns ready, each once, and notes what is known of them. */
static void prepare(struct build_side *build_side,
                    const struct run_dictionary *dictionary)
{
    unsigned count = build_column_count(build_side);
    for (unsigned i = 0; i < count; i++) {
        unsigned first = build_first_of(build_side, i);
        build_side->ranges[i] = first < i
                                    ? build_side->ranges[first]
                                    : prepare_column(build_side, i, dictionary);
    }
    for (unsigned i = 0; i < build_side->pack.index_count; i++) {
        int64_t rows = (int64_t)build_rows_at(build_side,
                                              build_side->pack.build_count + i);
        build_side->ranges[count + i] =
            (struct input_range){ .value = { .low = -1, .high = rows - 1 },
                                  .not_null = true };
    }
}

/* The keys of an index; where no row has a key, low is above high. */
static struct key_column key_column(const struct build_side *build_side,
                                    unsigned index)
{
    assert(index < build_side->pack.index_count);
    unsigned i = build_side->pack.build_count + index;
    const struct row_set_column *column = build_column_at(build_side, i);
    const struct input_range *range = &build_side->ranges[i];
    bool any = range->not_null && build_rows_at(build_side, i) > 0;
    return (struct key_column){ .values = column->values,
                                .nulls = column->nulls,
                                .width = column->width,
                                .rows = build_rows_at(build_side, i),
                                .low = any ? range->value.low : 0,
                                .high = any ? range->value.high : -1 };
}

/* -------------------------------------------------------------- layout -- */

/* Takes `size` bytes. */
static u64 take(u64 *end, u64 size)
{
    u64 at = *end;
    assert(at % TABLET_ALIGN == 0);
    *end = TABLET_ALIGNED(at + size);
    return at;
}

bool build_needs_keys(const struct build_side *build_side, unsigned number)
{
    unsigned i = build_side->pack.build_count + number;
    const struct row_set_column *column = build_column_at(build_side, i);
    bool hashed = build_side->indexes[number].kind == INDEX_HASHED;
    return build_first_of(build_side, i) >= build_side->pack.build_count
           && hashed && column->width == sizeof(i64);
}

/* Chooses the kind of the index and lays out its slots, and keys that no column
   of the program holds already. */
static void place_index(struct build_side *build_side, unsigned number,
                        bool dense, u64 *end)
{
    assert(number < build_side->pack.index_count);
    unsigned i = build_side->pack.build_count + number;
    unsigned first = build_first_of(build_side, i);
    struct key_column column = key_column(build_side, number);
    struct key_index *index = &build_side->indexes[number];
    struct build_input *keys = &build_side->inputs[i];
    *index = key_index_plan(&column, dense, stream_threads(build_side->params));
    index->slots = take(end, key_index_bytes(index, &column));
    if (first < build_side->pack.build_count)
        *keys = build_side->inputs[first];
    if (build_needs_keys(build_side, number))
        keys->values = take(end, column.rows * column.width);
    index->keys = keys->values;
}

/* Lays out the values and NULL flags of a column. */
static void place_input(struct build_side *build_side, unsigned i, u64 *end)
{
    assert(i < build_side->pack.build_count);
    const struct row_set_column *column = build_column_at(build_side, i);
    build_side->inputs[i] =
        build_rows_place(build_rows_at(build_side, i), column->width,
                         build_side->ranges[i].null, end);
}

/* Gives everything its place, what the host writes first. */
static void lay_out(struct build_side *build_side, bool dense)
{
    u64 end = TABLET_ALIGN;
    for (int device = 0; device <= 1; device++) {
        for (unsigned i = 0; i < build_column_count(build_side); i++) {
            if ((build_device_at(build_side, i) != NULL) != device)
                continue;
            if (i < build_side->pack.build_count)
                place_input(build_side, i, &end);
            else
                place_index(build_side, i - build_side->pack.build_count, dense,
                            &end);
        }
        if (!device)
            build_side->host_bytes = end;
    }
    if (build_bounds_bytes(build_side) > 0)
        build_side->bounds_at = take(&end, build_bounds_bytes(build_side));
    build_side->bytes = end + TABLET_ALIGN;
}

/* ---------------------------------------------------------------- fill -- */

/* A block of bytes that threads copy in parts. */
struct copying {
    u8 *to;
    const u8 *from;
    u64 size;         /* in bytes */
    unsigned threads; /* that share the bytes */
};

/* One thread's share; shares begin at aligned places. */
static void copy_part(void *context, unsigned i)
{
    const struct copying *copying = context;
    u64 part = TABLET_ALIGNED(copying->size / copying->threads + 1);
    u64 first = part * i < copying->size ? part * i : copying->size;
    u64 left = copying->size - first;
    u64 end = first + (left < part ? left : part);
    for (u64 some; first < end && !stop_asked(); first += some) {
        some = end - first < COPY_BYTES ? end - first : COPY_BYTES;
        memcpy(copying->to + first, copying->from + first, some);
    }
}

/* Copies with as many threads as the bytes are worth. */
static void copy(const struct build_side *build_side, u8 *to, const void *from,
                 u64 size)
{
    unsigned threads = stream_threads(build_side->params);
    struct copying copying = { .to = to,
                               .from = from,
                               .size = size,
                               .threads = parallel_threads(
                                   threads, size / sizeof(i64)) };
    if (size > 0)
        parallel_run(copying.threads, copy_part, &copying);
}

/* Fills an index on the host, unless the device has its rows. */
static void fill_index(const struct build_side *build_side, unsigned number,
                       u8 *block)
{
    unsigned i = build_side->pack.build_count + number;
    struct key_column column = key_column(build_side, number);
    const struct key_index *index = &build_side->indexes[number];
    if (build_device_at(build_side, i) != NULL)
        return;
    key_index_fill(index, &column, stream_threads(build_side->params),
                   block + index->slots);
    if (build_needs_keys(build_side, number))
        copy(build_side, block + index->keys, column.values,
             column.rows * sizeof(i64));
}

/* Writes what the host has to where it can write. */
static void fill(const struct build_side *build_side, u8 *block)
{
    for (unsigned i = 0; i < build_side->pack.build_count; i++) {
        const struct row_set_column *column = build_column_at(build_side, i);
        if (build_device_at(build_side, i) != NULL)
            continue;
        copy(build_side, block + build_side->inputs[i].values, column->values,
             build_rows_at(build_side, i) * column->width);
        if (build_side->inputs[i].nulls != 0)
            copy(build_side, block + build_side->inputs[i].nulls, column->nulls,
                 build_rows_at(build_side, i));
    }
    for (unsigned i = 0; i < build_side->pack.index_count; i++)
        fill_index(build_side, i, block);
}

/* Into memory that the device shares with the host. */
static enum vdbq_status put_shared(struct build_side *build_side,
                                   struct device *device, struct error *error)
{
    enum vdbq_status status =
        device_memory_create(device, MEMORY_PINNED, build_side->bytes,
                             &build_side->run.memory, error);
    if (status != VDBQ_OK)
        return status;
    fill(build_side, device_memory_host(build_side->run.memory));
    status =
        device_memory_give(build_side->run.memory, &build_side->times, error);
    return status == VDBQ_OK ? stop_pause(error) : status;
}

/* Copies a block to the device, through pinned memory. */
static enum vdbq_status send(struct build_side *build_side, const u8 *block,
                             struct device_memory *staging, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (u64 at = 0; at < build_side->host_bytes && status == VDBQ_OK;
         at += STAGING_BYTES) {
        u64 left = build_side->host_bytes - at;
        u64 size = left < STAGING_BYTES ? left : STAGING_BYTES;
        copy(build_side, device_memory_host(staging), block + at, size);
        status = stop_pause(error);
        if (status != VDBQ_OK)
            break;
        status = device_write(build_side->run.memory, at,
                              device_memory_host(staging), size,
                              &build_side->times, error);
    }
    return status;
}

/* Writes what the host has, and copies that to the device. */
static enum vdbq_status send_host(struct build_side *build_side,
                                  struct device *device, struct error *error)
{
    struct device_memory *staging = NULL;
    u64 size = build_side->host_bytes;
    u8 *block = memory_resize(NULL, size);
    enum vdbq_status status = block == NULL ? error_no_memory(error) : VDBQ_OK;
    if (status == VDBQ_OK)
        status = device_memory_create(
            device, MEMORY_PINNED, size < STAGING_BYTES ? size : STAGING_BYTES,
            &staging, error);
    if (status == VDBQ_OK) {
        fill(build_side, block);
        status = stop_pause(error);
    }
    if (status == VDBQ_OK)
        status = send(build_side, block, staging, error);
    device_memory_release(staging);
    memory_release(block);
    return status;
}

/* Into memory of the device's own; the host may have nothing of it. */
static enum vdbq_status put_device(struct build_side *build_side,
                                   struct device *device, struct error *error)
{
    enum vdbq_status status =
        device_memory_create(device, MEMORY_DEVICE, build_side->bytes,
                             &build_side->run.memory, error);
    return status == VDBQ_OK && build_side->host_bytes > TABLET_ALIGN
               ? send_host(build_side, device, error)
               : status;
}

/* ----------------------------------------------------------------- put -- */

/* Makes sure that the budget and the device can hold them. */
static enum vdbq_status reserve(struct build_side *build_side,
                                const struct run_place *place,
                                struct error *error)
{
    const struct device_facts *facts = device_facts(place->device);
    if (build_side->bytes > facts->buffer_max_bytes)
        return error_set(error, VDBQ_LIMIT,
                         "the inner rows of a join take %llu bytes; a buffer "
                         "of device '%s' holds %llu",
                         (unsigned long long)build_side->bytes, facts->name,
                         (unsigned long long)facts->buffer_max_bytes);
    if (facts->shares_memory)
        account_take_anyway(&build_side->memory, build_side->bytes);
    if (place->resident == NULL)
        return VDBQ_OK;
    enum vdbq_status status =
        resident_reserve(place->resident, build_side->bytes, error);
    if (status == VDBQ_OK)
        build_side->resident = place->resident;
    return status;
}

/* "probe (2556 bitmap, 300000 hashed: 4811 KB, 1 on the device)" */
static void name(struct build_side *build_side)
{
    size_t length = 0, size = sizeof build_side->text;
    unsigned on_device = 0;
    for (unsigned i = 0; i < build_side->cursors; i++)
        on_device += build_side->rows[i].on_device;
    for (unsigned i = 0; i < build_side->pack.index_count; i++) {
        static const char *const kinds[] = { [INDEX_DENSE] = "dense",
                                             [INDEX_HASHED] = "hashed",
                                             [INDEX_BITMAP] = "bitmap" };
        uint64_t rows =
            build_rows_at(build_side, build_side->pack.build_count + i);
        if (length + TEXT_SPARE < size)
            length += (size_t)snprintf(build_side->text + length, size - length,
                                       "%s%llu %s", i > 0 ? ", " : "probe (",
                                       (unsigned long long)rows,
                                       kinds[build_side->indexes[i].kind]);
    }
    length +=
        (size_t)snprintf(build_side->text + length, size - length, ": %llu KB",
                         (unsigned long long)(build_side->bytes >> 10));
    if (on_device > 0)
        length += (size_t)snprintf(build_side->text + length, size - length,
                                   ", %u on the device", on_device);
    snprintf(build_side->text + length, size - length, ")");
}

enum vdbq_status build_side_put(struct build_side *build_side,
                                const struct run_place *place,
                                const struct run_dictionary *dictionary,
                                struct error *error)
{
    prepare(build_side, dictionary);
    if (stop_asked())
        return error_cancelled(error); /* not all facts are known */
    lay_out(build_side, device_facts(place->device)->kind->dense_indexes);
    assert(build_side->bytes > 0
           && build_side->host_bytes <= build_side->bytes);
    build_side->run.inputs = build_side->inputs;
    build_side->run.order_codes = build_side->order_codes;
    build_side->run.indexes = build_side->indexes;
    enum vdbq_status status = reserve(build_side, place, error);
    if (status != VDBQ_OK)
        return status;
    status = device_facts(place->device)->shares_memory
                 ? put_shared(build_side, place->device, error)
                 : put_device(build_side, place->device, error);
    if (status == VDBQ_OK)
        status = build_put_device(build_side, error);
    name(build_side);
    build_release_rows(build_side);
    return status;
}
