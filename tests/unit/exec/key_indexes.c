/* SPDX-License-Identifier: MIT */
/*
 * Key indexes: which kind is chosen, and which rows are found by it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "base/type.h"
#include "cl/bits.h"
#include "exec/build_side/build_facts.h"
#include "exec/build_side/key_bitmap.h"
#include "exec/build_side/key_index.h"

enum { KEYS = 200000 };

/* What a machine finds in a bitmap. */
static int64_t find_bit(const struct key_index *index, const u64 *slots,
                        uint64_t at)
{
    const u32 *rows =
        (const u32 *)(slots + (index->count + BITMAP_KEYS - 1) / BITMAP_KEYS);
    if (at >= index->count)
        return -1;
    u64 slot = slots[at / BITMAP_KEYS];
    u32 bit = (u32)1 << at % BITMAP_KEYS;
    uint64_t rank = (slot >> 32) + bits_count((u32)slot & (bit - 1));
    if (((u32)slot & bit) == 0)
        return -1;
    return index->in_order ? (int64_t)rank : (int64_t)rows[rank];
}

/* Whether the filter of an index lets a key through. */
static bool passes_filter(const struct key_index *index, const u64 *slots,
                          u64 hash)
{
    const u32 *filter = (const u32 *)(slots + index->count);
    u64 at = hash & (index->count - 1);
    return filter[at / FILTER_SLOTS] >> FILTER_BIT(at, hash) & 1;
}

/* What a machine finds. */
static int64_t find_key(const struct key_index *index,
                        const struct key_column *column, const void *slots,
                        int64_t key)
{
    bool wide = column->width == 8;
    uint32_t tag = wide ? hash_tag((u64)key) : (u32)key;
    uint64_t at = (uint64_t)key - (uint64_t)index->base;
    if (index->kind == INDEX_BITMAP)
        return find_bit(index, slots, at);
    if (index->kind == INDEX_DENSE)
        return at < index->count ? (int64_t)((const u32 *)slots)[at] - 1 : -1;
    if (!passes_filter(index, slots, hash_key((u64)key)))
        return -1;
    for (at = hash_key((u64)key);; at++) {
        u64 slot = ((const u64 *)slots)[at & (index->count - 1)];
        int64_t row = (int64_t)(u32)slot - 1;
        if (row < 0
            || (slot >> 32 == tag
                && (!wide || ((const int64_t *)column->values)[row] == key)))
            return row;
    }
}

/* Keys of which one index is made. */
struct index_case {
    int64_t base, step;   /* key k is base + k * step                  */
    bool wide;            /* of 64 bits                                */
    bool in_order;        /* one a row, none NULL; else two rows each,
                           mixed, some of them NULL                  */
    enum index_kind kind; /* that is chosen */
};

/* The number of a row's key. */
static uint32_t number_of_key(const struct index_case *of, uint32_t row)
{
    return of->in_order ? row : (uint32_t)(row * 7919ull % (KEYS / 2));
}

/* Each key is found in its first row, and nothing beside them; however many
 * threads make the index. */
static void expect_found(const struct index_case *of,
                         const struct key_column *keys,
                         const struct key_index *index, unsigned threads)
{
    uint32_t count = of->in_order ? KEYS : KEYS / 2;
    uint64_t bytes = key_index_bytes(index, keys);
    void *slots = memory_resize(NULL, bytes);
    int32_t *first = memory_zeroed(KEYS, sizeof *first);
    uint32_t passed = 0; /* keys beside these that the filter lets through */
    memset(slots, 0xff, bytes);
    key_index_fill(index, keys, threads, slots);
    for (uint32_t i = KEYS; i-- > 0;)
        if (keys->nulls == NULL || !keys->nulls[i])
            first[number_of_key(of, i)] = (int32_t)i + 1;
    for (uint32_t k = 0; k < count; k++) {
        int64_t key = of->base + k * of->step;
        assert_int_equal(find_key(index, keys, slots, key), first[k] - 1);
        if (of->step > 1)
            assert_int_equal(find_key(index, keys, slots, key + 1), -1);
        if (index->filtered)
            passed += passes_filter(index, slots, hash_key((u64)key + 1));
        assert_int_equal(find_key(index, keys, slots, of->base - 1 - k), -1);
    }
    assert_true(passed < count / 8);
    memory_release(first);
    memory_release(slots);
}

static void expect_index(const struct index_case *of)
{
    static int64_t values[KEYS];
    static uint8_t nulls[KEYS];
    struct row_set_column column = { .type =
                                         of->wide ? VDBQ_BIGINT : VDBQ_INTEGER,
                                     .width = of->wide ? 8 : 4,
                                     .values = values,
                                     .nulls = nulls };
    for (uint32_t i = 0; i < KEYS; i++) {
        int64_t key = of->base + number_of_key(of, i) * of->step;
        nulls[i] = !of->in_order && i % 11 == 3;
        if (of->wide)
            values[i] = key;
        else
            ((int32_t *)values)[i] = (int32_t)key;
    }
    struct input_range range = build_facts(&column, KEYS, NULL, 4);
    struct key_column keys = { .values = values,
                               .nulls = of->in_order ? NULL : nulls,
                               .width = column.width,
                               .rows = KEYS,
                               .low = range.value.low,
                               .high = range.value.high };
    assert_true(range.not_null && range.null == !of->in_order);
    struct key_index index = key_index_plan(&keys, false, 1);
    assert_int_equal(index.kind, of->kind);
    assert_int_equal(index.filtered, of->kind == INDEX_HASHED);
    assert_int_equal(index.in_order, of->in_order && of->kind == INDEX_BITMAP);
    for (unsigned threads = 1; threads <= 5; threads += 2)
        expect_found(of, &keys, &index, threads);
}

static void indexes_find_first_rows(void **state)
{
    (void)state;
    static const struct index_case cases[] = {
        { 0, 1, false, false, INDEX_DENSE },
        { 0, 1, true, false, INDEX_DENSE },
        { 0, 20011, false, false, INDEX_HASHED },
        { 0, 5000000029, true, false, INDEX_HASHED },
        { 0, 65536, true, false, INDEX_HASHED },
        { -7000000, 37, false, false, INDEX_BITMAP },
        { INT64_MAX - 20000000, 190, true, false, INDEX_BITMAP },
        { -2147483647, 127, false, true, INDEX_BITMAP },
        { 5, 1, false, true, INDEX_BITMAP },
        { INT64_MAX - 20000000, 100, true, true, INDEX_BITMAP },
        { INT64_MIN + KEYS, 3, true, true, INDEX_BITMAP },
        { 0, 129, false, true, INDEX_HASHED },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_index(&cases[i]);
}

/* Every other row has one key: its first row is found whichever thread comes
 * first, and the others' too. */
static void one_key_of_half_of_the_rows(void **state)
{
    (void)state;
    static int64_t values[KEYS];
    static const int64_t steps[] = { 1, 5000000029 };
    for (unsigned n = 0; n < sizeof steps / sizeof *steps; n++) {
        for (uint32_t i = 0; i < KEYS; i++)
            values[i] = i % 2 == 1 ? 7 * steps[n] : (8 + i) * steps[n];
        struct key_column keys = { .values = values,
                                   .width = 8,
                                   .rows = KEYS,
                                   .low = 7 * steps[n],
                                   .high = (6 + KEYS) * steps[n] };
        struct key_index index = key_index_plan(&keys, false, 5);
        assert_int_equal(index.kind, n == 0 ? INDEX_DENSE : INDEX_HASHED);
        void *slots = memory_resize(NULL, key_index_bytes(&index, &keys));
        key_index_fill(&index, &keys, 5, slots);
        assert_int_equal(find_key(&index, &keys, slots, 7 * steps[n]), 1);
        for (uint32_t i = 0; i < KEYS; i += 2)
            assert_int_equal(find_key(&index, &keys, slots, values[i]), i);
        memory_release(slots);
    }
}

/* On a GPU a dense index of few rows has a bit for each slot, whether it is used. */
static void dense_indexes_with_a_filter(void **state)
{
    (void)state;
    static int32_t values[KEYS];
    const int32_t apart = 37;
    for (uint32_t i = 0; i < KEYS; i++)
        values[i] = (int32_t)(i * 7919 % KEYS) * apart - 1000;
    const struct key_column keys = { .values = values,
                                     .width = 4,
                                     .rows = KEYS,
                                     .low = -1000,
                                     .high = (KEYS - 1) * apart - 1000 };
    for (unsigned threads = 1; threads <= 5; threads += 4) {
        struct key_index index = key_index_plan(&keys, true, threads);
        assert_int_equal(index.kind, INDEX_DENSE);
        assert_int_equal(index.filtered, 1);
        uint32_t *slots = memory_resize(NULL, key_index_bytes(&index, &keys));
        assert_non_null(slots);
        key_index_fill(&index, &keys, threads, slots);
        const uint32_t *filter = slots + index.count;
        for (uint64_t at = 0; at < index.count; at++) {
            assert_int_equal(slots[at] != 0, at % (unsigned)apart == 0);
            assert_int_equal(filter[at / 32] >> at % 32 & 1, slots[at] != 0);
        }
        memory_release(slots);
    }
}

/* Rows that are in order but for one, or for one NULL, wherever that is among
 * the threads. */
static void one_row_out_of_order(void **state)
{
    (void)state;
    static int32_t values[KEYS];
    static uint8_t nulls[KEYS];
    const struct key_column keys = {
        .values = values, .nulls = nulls, .width = 4, .rows = KEYS
    };
    for (uint32_t i = 0; i < KEYS; i++)
        values[i] = 2 * (int32_t)i;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        assert_true(key_bitmap_in_order(&keys, threads));
        for (unsigned share = 0; share <= 10; share++) {
            uint32_t row = (KEYS - 1) * share / 10;
            nulls[row] = 1;
            assert_false(key_bitmap_in_order(&keys, threads));
            nulls[row] = 0;
            values[row] += row > 0 ? -2 : 2;
            assert_false(key_bitmap_in_order(&keys, threads));
            values[row] = 2 * (int32_t)row;
        }
    }
}

/* The kind of index for two keys so far apart. */
static enum index_kind kind_of_pair(int64_t low, int64_t high)
{
    const int64_t values[] = { high, low };
    const struct key_column keys = {
        .values = values, .width = 8, .rows = 2, .low = low, .high = high
    };
    return key_index_plan(&keys, false, 1).kind;
}

/* Few keys get slots side by side or bits while these are small. */
static void few_keys_that_lie_apart(void **state)
{
    (void)state;
    assert_int_equal(kind_of_pair(-5, 1 << 17), INDEX_DENSE);
    assert_int_equal(kind_of_pair(-5, 1 << 20), INDEX_BITMAP);
    assert_int_equal(kind_of_pair(INT64_MAX - (1 << 20), INT64_MAX),
                     INDEX_BITMAP);
    assert_int_equal(kind_of_pair(-5, 1 << 22), INDEX_HASHED);
    assert_int_equal(kind_of_pair(INT64_MIN, INT64_MAX), INDEX_HASHED);
}

/* Rows whose keys a device has get no bitmap: the device makes none. */
static void bitmaps_are_made_on_the_host(void **state)
{
    (void)state;
    static const int32_t values[] = { 3, 4, 5, 6 };
    struct key_column keys = {
        .values = values, .width = 4, .rows = 4, .low = 3, .high = 6
    };
    assert_int_equal(key_index_plan(&keys, false, 1).kind, INDEX_BITMAP);
    assert_int_equal(key_index_plan(&keys, true, 1).kind, INDEX_DENSE);
    keys.values = NULL;
    assert_int_equal(key_index_plan(&keys, false, 1).kind, INDEX_DENSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_find_first_rows),
        cmocka_unit_test(one_key_of_half_of_the_rows),
        cmocka_unit_test(dense_indexes_with_a_filter),
        cmocka_unit_test(one_row_out_of_order),
        cmocka_unit_test(few_keys_that_lie_apart),
        cmocka_unit_test(bitmaps_are_made_on_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
