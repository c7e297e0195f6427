/* SPDX-License-Identifier: MIT */
/*
 * Tags of rows: see join_keys.h. All loops over values run over a block of
 * rows at once.
 */
#include "exec/join/join_keys.h"

#include <assert.h>
#include <string.h>

#include "base/paged.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/dictionary/dictionary_table.h"
#include "exec/rows/row_bounds.h"
#include "exec/rows/row_index.h"

/* --------------------------------------------------------------- texts -- */

/* Makes what translates the words of the asking side. */
static enum vdbq_status make_texts(struct join_keys *keys,
                                   const struct stream *asking,
                                   unsigned threads, struct error *error)
{
    for (unsigned i = 0; i < keys->count; i++) {
        struct dictionary *dictionary =
            stream_dictionary(asking, (unsigned)keys->asking_columns[i]);
        if (keys->indexed[i].type != VDBQ_TEXT
            || dictionary == keys->indexed[i].dictionary)
            continue;
        keys->texts[i] = dictionary_translate(
            dictionary, keys->indexed[i].dictionary, threads);
        if (keys->texts[i] == NULL)
            return stop_or_no_memory(error);
    }
    return VDBQ_OK;
}

/* What the words of the rows at hand become. */
static struct dictionary_table table_of(const struct join_keys *keys,
                                        unsigned key)
{
    const struct dictionary *words = keys->asking[key].dictionary;
    assert(keys->texts[key] != NULL);
    return (struct dictionary_table){ keys->texts[key],
                                      words != NULL ? words->count : 0 };
}

/* The numbers of words of some rows as those of the indexed side. */
static void translate(const struct join_keys *keys, unsigned key,
                      uint64_t first, uint64_t rows)
{
    assert(first + rows <= keys->room);
    const struct dictionary_table table = table_of(keys, key);
    const uint32_t *words = keys->sources[key];
    dictionary_follow(&table, words + first, rows, keys->numbers[key] + first);
}

/* Whether those of all rows at hand are translated at once: a block has too few for
 * a table of which only parts are in memory. */
static bool is_early(const struct join_keys *keys, unsigned key)
{
    const struct dictionary_table table = table_of(keys, key);
    return dictionary_table_parts(&table);
}

/* -------------------------------------------------------------- ranges -- */

/* The range of a key; false: it has no integers, or they span too many. */
static bool make_range(const struct join_keys *keys, unsigned key,
                       uint64_t rows, unsigned threads)
{
    const struct row_set_column *column = &keys->indexed[key];
    struct join_range *range = &keys->ranges[key];
    if (column->type == VDBQ_FLOAT || column->type == VDBQ_DOUBLE)
        return false;
    struct row_bounds bounds = row_bounds(column, rows, threads);
    range->low = bounds.low;
    if (bounds.low <= bounds.high)
        range->values = (uint64_t)bounds.high - (uint64_t)bounds.low + 1;
    range->codes = range->values + keys->nulls_match;
    return range->values <= JOIN_NO_TAG
           && (range->values > 0 || bounds.low > bounds.high);
}

/* Counts the combinations of values, as far as they have tags. */
static void make_ranges(struct join_keys *keys, uint64_t rows, unsigned threads)
{
    keys->tags = 1;
    keys->exact = true;
    for (unsigned i = 0; i < keys->count && keys->exact; i++) {
        keys->exact = make_range(keys, i, rows, threads)
                      && keys->tags * keys->ranges[i].codes <= JOIN_NO_TAG;
        keys->tags *= keys->exact ? keys->ranges[i].codes : 1;
    }
}

/* The only key's range, which is known. */
static void give_range(struct join_keys *keys, const struct join_range *range)
{
    assert(keys->count == 1 && !keys->nulls_match);
    assert(range->codes == range->values && range->values <= JOIN_NO_TAG);
    keys->ranges[0] = *range;
    keys->tags = range->codes;
    keys->exact = true;
}

/* -------------------------------------------------------- open, finish -- */

enum vdbq_status join_keys_init(struct join_keys *keys,
                                const struct join_keys_params *params,
                                struct error *error)
{
    const int *columns = VECTOR_ITEMS(params->indexed_keys, int);
    unsigned count = (unsigned)params->indexed_keys->count;
    assert(count > 0 && params->asking_keys->count == count);
    *keys = (struct join_keys){
        .nulls_match = params->nulls_match,
        .asking_columns = VECTOR_ITEMS(params->asking_keys, int),
        .ranges = memory_zeroed(count, sizeof *keys->ranges),
        .indexed = memory_zeroed(count, sizeof *keys->indexed),
        .asking = memory_zeroed(count, sizeof *keys->asking),
        .texts = memory_zeroed(count, sizeof *keys->texts),
        .sources = memory_zeroed(count, sizeof *keys->sources),
        .numbers = memory_zeroed(count, sizeof *keys->numbers),
    };
    if (!keys->ranges || !keys->indexed || !keys->asking || !keys->texts
        || !keys->sources || !keys->numbers)
        return error_no_memory(error);
    keys->count = count;
    for (unsigned i = 0; i < count; i++)
        keys->indexed[i] = params->indexed->columns[columns[i]];
    if (params->range != NULL)
        give_range(keys, params->range);
    else
        make_ranges(keys, params->indexed->rows, params->threads);
    keys->lent = params->texts != NULL;
    for (unsigned i = 0; i < count && keys->lent; i++)
        keys->texts[i] = params->texts[i];
    return keys->lent
               ? VDBQ_OK
               : make_texts(keys, params->asking, params->threads, error);
}

void join_keys_finish(struct join_keys *keys)
{
    for (unsigned i = 0; i < keys->count; i++) {
        if (!keys->lent)
            paged_release(keys->texts[i]);
        memory_release(keys->numbers[i]);
    }
    memory_release(keys->ranges);
    memory_release(keys->indexed);
    memory_release(keys->asking);
    memory_release(keys->texts);
    memory_release(keys->sources);
    memory_release(keys->numbers);
    *keys = (struct join_keys){ 0 };
}

/* Room for the words' numbers of so many rows. */
static enum vdbq_status numbers_room(struct join_keys *keys, uint64_t rows,
                                     struct error *error)
{
    for (unsigned i = 0; i < keys->count && rows > keys->room; i++) {
        uint32_t *numbers;
        if (keys->texts[i] == NULL)
            continue;
        numbers = memory_resize(keys->numbers[i], rows * sizeof *numbers);
        if (numbers == NULL)
            return error_no_memory(error);
        keys->numbers[i] = numbers;
    }
    keys->room = rows > keys->room ? rows : keys->room;
    return VDBQ_OK;
}

enum vdbq_status join_keys_begin(struct join_keys *keys,
                                 const struct row_set *rows,
                                 struct error *error)
{
    enum vdbq_status status = numbers_room(keys, rows->rows, error);
    for (unsigned i = 0; i < keys->count && status == VDBQ_OK; i++) {
        keys->asking[i] = rows->columns[keys->asking_columns[i]];
        keys->sources[i] = keys->asking[i].values;
        if (keys->texts[i] == NULL)
            continue;
        keys->asking[i].values = keys->numbers[i];
        if (is_early(keys, i))
            translate(keys, i, 0, rows->rows);
    }
    return status == VDBQ_OK ? stop_pause(error) : status;
}

/* ---------------------------------------------------------------- tags -- */

/* The tag with one more key; no tag when the value is not in the range. */
static inline uint32_t next_tag(const struct join_range *range, uint32_t tag,
                                int64_t value)
{
    uint64_t code = (uint64_t)value - (uint64_t)range->low;
    bool none = tag == JOIN_NO_TAG || code >= range->values;
    return none ? JOIN_NO_TAG : tag * (uint32_t)range->codes + (uint32_t)code;
}

/* Whether all values of a range are of 32 bits, so that codes are told in as
 * many. */
static bool is_narrow(const struct join_range *range)
{
    return range->low >= INT32_MIN && range->low <= INT32_MAX
           && range->values <= (uint64_t)(INT32_MAX - range->low) + 1;
}

PARALLEL_CLONES
static void tags_narrow(struct join_range range, const int32_t *restrict values,
                        unsigned count, uint32_t *restrict tags)
{
    uint32_t low = (uint32_t)range.low, codes = (uint32_t)range.codes;
    uint32_t end = (uint32_t)range.values;
    for (unsigned i = 0; i < count; i++) {
        uint32_t code = (uint32_t)values[i] - low, tag = tags[i];
        tags[i] = ((tag == JOIN_NO_TAG) | (code >= end)) ? JOIN_NO_TAG
                                                         : tag * codes + code;
    }
}

PARALLEL_CLONES
static void tags_i32(struct join_range range, const int32_t *restrict values,
                     unsigned count, uint32_t *restrict tags)
{
    for (unsigned i = 0; i < count; i++)
        tags[i] = next_tag(&range, tags[i], values[i]);
}

PARALLEL_CLONES
static void tags_i64(struct join_range range, const int64_t *restrict values,
                     unsigned count, uint32_t *restrict tags)
{
    for (unsigned i = 0; i < count; i++)
        tags[i] = next_tag(&range, tags[i], values[i]);
}

/* As tags_i64(), where a value may be NULL. */
static void tags_nulls(const struct join_keys *keys, unsigned key,
                       const struct row_set_column *column, uint64_t first,
                       unsigned count, uint32_t *tags)
{
    assert(column->nulls != NULL && key < keys->count);
    const struct join_range *range = &keys->ranges[key];
    for (unsigned i = 0; i < count; i++) {
        uint32_t tag = tags[i];
        if (column->nulls[first + i] == 0)
            tags[i] = next_tag(range, tag, row_set_integer(column, first + i));
        else if (!keys->nulls_match || tag == JOIN_NO_TAG)
            tags[i] = JOIN_NO_TAG;
        else
            tags[i] = tag * (uint32_t)range->codes + (uint32_t)range->values;
    }
}

/* Tags are numbers of the combinations of all keys: equal tags are equal
   keys. */
static void exact_tags(const struct join_keys *keys,
                       const struct row_set_column *columns, uint64_t first,
                       unsigned count, uint32_t *tags)
{
    memset(tags, 0, count * sizeof *tags);
    for (unsigned i = 0; i < keys->count; i++) {
        const struct row_set_column *column = &columns[i];
        if (column->nulls != NULL)
            tags_nulls(keys, i, column, first, count, tags);
        else if (column->width == sizeof(int32_t))
            (is_narrow(&keys->ranges[i]) ? tags_narrow : tags_i32)(
                keys->ranges[i], (const int32_t *)column->values + first, count,
                tags);
        else
            tags_i64(keys->ranges[i], (const int64_t *)column->values + first,
                     count, tags);
    }
}

/* Whether a row equals no row, not even itself: for a NULL or a NaN. */
static bool equals_none(const struct join_keys *keys,
                        const struct row_set_column *columns, uint64_t row)
{
    for (unsigned i = 0; i < keys->count; i++)
        if (!row_same(&columns[i], row, &columns[i], row))
            return true;
    return !keys->nulls_match && row_has_null(columns, keys->count, row);
}

/* Tags are hashes: equal tags may be different keys. */
static void hash_tags(const struct join_keys *keys,
                      const struct row_set_column *columns, uint64_t first,
                      unsigned count, uint32_t *tags)
{
    assert(!keys->exact);
    for (unsigned i = 0; i < count; i++) {
        uint32_t hash = (uint32_t)row_hash(columns, keys->count, first + i);
        hash = hash < JOIN_NO_TAG ? hash : hash - 1;
        tags[i] = equals_none(keys, columns, first + i) ? JOIN_NO_TAG : hash;
    }
}

/* Tags of a block of rows. */
static void make_tags(const struct join_keys *keys,
                      const struct row_set_column *columns, uint64_t first,
                      unsigned count, uint32_t *tags)
{
    if (keys->exact)
        exact_tags(keys, columns, first, count, tags);
    else
        hash_tags(keys, columns, first, count, tags);
}

unsigned join_tags_indexed(const struct join_keys *keys, uint64_t first,
                           uint64_t end, uint32_t *tags)
{
    assert(first < end);
    unsigned count =
        end - first < JOIN_BLOCK ? (unsigned)(end - first) : JOIN_BLOCK;
    make_tags(keys, keys->indexed, first, count, tags);
    return count;
}

void join_tags_asking(const struct join_keys *keys, uint64_t first,
                      unsigned count, uint32_t *tags)
{
    assert(count <= JOIN_BLOCK);
    for (unsigned i = 0; i < keys->count; i++)
        if (keys->texts[i] != NULL && !is_early(keys, i))
            translate(keys, i, first, count);
    make_tags(keys, keys->asking, first, count, tags);
}

bool join_keys_same(const struct join_keys *keys, uint64_t indexed,
                    const struct row_set_column *columns, uint64_t row)
{
    for (unsigned i = 0; i < keys->count; i++)
        if (!row_same(&keys->indexed[i], indexed, &columns[i], row))
            return false;
    return true;
}
