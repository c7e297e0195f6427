/* SPDX-License-Identifier: MIT */
/*
 * Chains of rows in buckets, at most as many rows as buckets. A chain holds
 * rows in their order, as long as all of them were added at once.
 */
#include "exec/rows/row_index.h"

#include <assert.h>
#include <string.h>

#include "base/threads/stop.h"
#include "cl/bits.h"
#include "cl/hash.h"

enum { BUCKETS_MIN = 16, HASHES = 1 << 10 /* that are made at once */ };

enum vdbq_status row_index_init(struct row_index *index, unsigned key_count,
                                bool nulls_match, struct error *error)
{
    *index = (struct row_index){ .nulls_match = nulls_match,
                                 .key_count = key_count };
    index->keys = memory_zeroed(key_count, sizeof *index->keys);
    return index->keys != NULL ? VDBQ_OK : error_no_memory(error);
}

void row_index_finish(struct row_index *index)
{
    memory_release(index->keys);
    memory_release(index->hashes);
    memory_release(index->next);
    memory_release(index->heads);
    *index = (struct row_index){ 0 };
}

/* ---------------------------------------------------------------- keys -- */

/* The bits that stand for a value: equal values have equal bits. */
static uint64_t value_bits(const struct row_set_column *key, uint64_t row)
{
    if (key->type == VDBQ_FLOAT || key->type == VDBQ_DOUBLE) {
        double value = key->type == VDBQ_FLOAT
                           ? ((const float *)key->values)[row]
                           : ((const double *)key->values)[row];
        if (value != value) /* of all NaNs, one, and of two zeros */
            return UINT64_MAX;
        return bits_of_f64(value == 0 ? 0 : value);
    }
    if (key->width == sizeof(uint32_t))
        return ((const uint32_t *)key->values)[row];
    return ((const uint64_t *)key->values)[row];
}

/* The same of a value that may be NULL. */
static uint64_t key_bits(const struct row_set_column *key, uint64_t row)
{
    return row_set_is_null(key, row) ? UINT64_MAX : value_bits(key, row);
}

uint64_t row_hash(const struct row_set_column *keys, unsigned key_count,
                  uint64_t row)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < key_count; i++)
        hash = hash_mix(hash, key_bits(&keys[i], row));
    return hash_end(hash);
}

/* Mixes the values of a key into hashes; of whole numbers their bits are values. */
static void mix_key(const struct row_set_column *key, uint64_t first,
                    uint64_t rows, uint64_t *hashes)
{
    const uint32_t *narrow = (const uint32_t *)key->values + first;
    bool plain = key->nulls == NULL && key->width == sizeof *narrow
                 && key->type != VDBQ_FLOAT;
    for (uint64_t i = 0; i < rows; i++)
        hashes[i] =
            hash_mix(hashes[i], plain ? narrow[i] : key_bits(key, first + i));
}

void row_hashes(const struct row_set_column *keys, unsigned key_count,
                uint64_t first, uint64_t rows, uint64_t *hashes)
{
    memset(hashes, 0, rows * sizeof *hashes);
    for (unsigned i = 0; i < key_count; i++)
        mix_key(&keys[i], first, rows, hashes);
    for (uint64_t i = 0; i < rows; i++)
        hashes[i] = hash_end(hashes[i]);
}

void row_partitions(const struct row_set_column *keys, unsigned key_count,
                    uint64_t first, uint64_t rows, unsigned partitions,
                    uint16_t *to)
{
    uint64_t hashes[HASHES];
    assert((partitions & (partitions - 1)) == 0 && partitions <= UINT16_MAX);
    for (uint64_t at = 0, some; at < rows; at += some) {
        some = rows - at < HASHES ? rows - at : HASHES;
        row_hashes(keys, key_count, first + at, some, hashes);
        for (uint64_t i = 0; i < some; i++)
            to[at + i] = (uint16_t)(hashes[i] >> 32 & (partitions - 1));
    }
}

bool row_has_null(const struct row_set_column *keys, unsigned key_count,
                  uint64_t row)
{
    bool null = false;
    for (unsigned i = 0; i < key_count; i++)
        null |= row_set_is_null(&keys[i], row);
    return null;
}

/* Whether the value equals itself: a NaN does not, so it matches no row. */
static bool is_number(const struct row_set_column *key, uint64_t row)
{
    if (key->type == VDBQ_FLOAT)
        return ((const float *)key->values)[row]
               == ((const float *)key->values)[row];
    if (key->type == VDBQ_DOUBLE)
        return ((const double *)key->values)[row]
               == ((const double *)key->values)[row];
    return true;
}

bool row_same(const struct row_set_column *a, uint64_t a_row,
              const struct row_set_column *b, uint64_t b_row)
{
    assert(a->type == b->type || a->width == b->width);
    bool a_null = row_set_is_null(a, a_row);
    if (a_null || row_set_is_null(b, b_row))
        return a_null && row_set_is_null(b, b_row);
    return value_bits(a, a_row) == value_bits(b, b_row) && is_number(a, a_row);
}

/* Whether the keys of row `at` of the index equal those of `row`. */
static bool same_keys(const struct row_index *index, uint32_t at,
                      const struct row_set_column *keys, uint64_t row)
{
    for (unsigned i = 0; i < index->key_count; i++)
        if (!row_same(&index->keys[i], at, &keys[i], row))
            return false;
    return true;
}

/* ----------------------------------------------------------------- add -- */

/* Makes room for as many rows and empties all buckets, which have other numbers
   now: the caller links every row again. */
static bool resize(struct row_index *index, uint64_t rows)
{
    uint64_t buckets = BUCKETS_MIN;
    while (buckets < rows)
        buckets *= 2;
    uint64_t *hashes = memory_resize(index->hashes, buckets * sizeof *hashes);
    if (hashes == NULL)
        return false;
    index->hashes = hashes;
    uint32_t *next = memory_resize(index->next, buckets * sizeof *next);
    if (next == NULL)
        return false;
    index->next = next;
    uint32_t *heads = memory_resize(index->heads, buckets * sizeof *heads);
    if (heads == NULL)
        return false;
    index->heads = heads;
    index->rows_room = buckets;
    index->mask = (uint32_t)(buckets - 1);
    assert((buckets & (buckets - 1)) == 0 && buckets >= rows);
    memset(heads, 0xff, buckets * sizeof *heads); /* ROW_SET_NO_ROW */
    return true;
}

/* Puts a row at the start of its chain. */
static void link_row(struct row_index *index, uint64_t row)
{
    uint32_t *head = &index->heads[index->hashes[row] & index->mask];
    if (!index->nulls_match && row_has_null(index->keys, index->key_count, row))
        return;
    index->next[row] = *head;
    *head = (uint32_t)row;
}

enum vdbq_status row_index_add(struct row_index *index,
                               const struct row_set_column *keys, uint64_t rows,
                               struct error *error)
{
    assert(rows >= index->rows && rows < ROW_SET_NO_ROW);
    uint64_t first = index->rows;
    memcpy(index->keys, keys, index->key_count * sizeof *keys);
    if (rows > index->rows_room) {
        if (!resize(index, rows))
            return error_no_memory(error);
        first = 0;
    }
    for (uint64_t row = index->rows; row < rows && !stop_at(row); row++)
        index->hashes[row] = row_hash(keys, index->key_count, row);
    for (uint64_t row = rows; row > first && !stop_at(row); row--)
        link_row(index, row - 1);
    index->rows = rows;
    return stop_pause(error);
}

uint32_t row_index_find(const struct row_index *index,
                        const struct row_set_column *keys, uint64_t row,
                        uint64_t hash, uint32_t after)
{
    assert(after == ROW_SET_NO_ROW || after < index->rows);
    uint32_t at;
    if (index->rows == 0)
        return ROW_SET_NO_ROW;
    at = after == ROW_SET_NO_ROW ? index->heads[hash & index->mask]
                                 : index->next[after];
    while (at != ROW_SET_NO_ROW
           && (index->hashes[at] != hash || !same_keys(index, at, keys, row)))
        at = index->next[at];
    return at;
}
