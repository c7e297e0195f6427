/* SPDX-License-Identifier: MIT */
/* Arguments are equal where all their bits are: numbers of texts stand for the
 * texts. A row with a NULL is not asked for, since it costs no call. */
#include "exec/operator/map_memo.h"

#include <assert.h>

#include "base/memory.h"
#include "cl/hash.h"

/* The bits of a row's argument. */
static uint64_t bits_of(const struct row_set_column *column, uint64_t row)
{
    return column->width == sizeof(uint32_t)
               ? ((const uint32_t *)column->values)[row]
               : ((const uint64_t *)column->values)[row];
}

/* Whether a column has the same value in all rows, as one of a constant has. */
static bool is_constant(const struct row_set_column *column, uint64_t first,
                        uint64_t end)
{
    bool same = column->nulls == NULL;
    for (uint64_t row = first; row < end && same; row++)
        same = bits_of(column, row) == bits_of(column, first);
    return same;
}

bool map_memo_init(struct map_memo *memo,
                   const struct row_set_column *arguments, unsigned count,
                   uint64_t first, uint64_t end)
{
    assert(count <= FUNCTION_ARGUMENTS_MAX);
    *memo = (struct map_memo){ .slot_count = MAP_MEMO_FIRST };
    for (unsigned i = 0; i < count; i++)
        if (!is_constant(&arguments[i], first, end))
            memo->arguments[memo->count++] = &arguments[i];
    memo->slots = memory_zeroed(memo->slot_count, sizeof *memo->slots);
    return memo->slots != NULL;
}

void map_memo_finish(struct map_memo *memo)
{
    memory_release(memo->slots);
}

static bool has_null(const struct map_memo *memo, uint64_t row)
{
    for (unsigned i = 0; i < memo->count; i++)
        if (row_set_is_null(memo->arguments[i], row))
            return true;
    return false;
}

static uint64_t hash_of(const struct map_memo *memo, uint64_t row)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < memo->count; i++)
        hash = hash_mix(hash, bits_of(memo->arguments[i], row));
    return hash_end(hash);
}

static bool are_equal(const struct map_memo *memo, uint64_t a, uint64_t b)
{
    for (unsigned i = 0; i < memo->count; i++)
        if (bits_of(memo->arguments[i], a) != bits_of(memo->arguments[i], b))
            return false;
    return true;
}

static uint64_t *slot_of(const struct map_memo *memo, uint64_t hash)
{
    return &memo->slots[hash & (memo->slot_count - 1)];
}

/* Four times as many slots, where rows took half of them; without memory it
 * stays as it is, for it is only quicker with more. */
static void grow(struct map_memo *memo)
{
    if (memo->kept < memo->slot_count / 2 || memo->slot_count >= MAP_MEMO_MOST)
        return;
    if (memo->slot_count >= MAP_MEMO_JUDGED
        && memo->met < memo->kept / MAP_MEMO_HOPE) {
        memo->is_off = true;
        return;
    }
    uint64_t *slots =
        memory_zeroed((size_t)memo->slot_count * 4, sizeof *slots);
    if (slots == NULL)
        return;
    uint64_t *before = memo->slots;
    uint32_t count = memo->slot_count;
    memo->slots = slots;
    memo->slot_count = count * 4;
    memo->kept = memo->met = memo->asked = memo->known = 0;
    for (uint32_t i = 0; i < count; i++)
        if (before[i] != 0)
            *slot_of(memo, hash_of(memo, (uint32_t)before[i] - 1)) = before[i];
    memory_release(before);
}

/* Whether it goes on, now and then. */
static void judge(struct map_memo *memo)
{
    if (memo->asked < MAP_MEMO_TRIES)
        return;
    memo->is_off = memo->slot_count >= MAP_MEMO_MOST
                   && memo->known < MAP_MEMO_TRIES / MAP_MEMO_LEAST;
    memo->asked = memo->known = 0;
}

uint64_t map_memo_find(struct map_memo *memo, uint64_t row)
{
    if (memo->is_off || has_null(memo, row))
        return row;
    grow(memo);
    judge(memo);
    uint64_t hash = hash_of(memo, row), half = hash >> 32 << 32;
    uint64_t *slot = slot_of(memo, hash);
    memo->asked++;
    if (*slot != 0 && *slot >> 32 == half >> 32
        && are_equal(memo, (uint32_t)*slot - 1, row)) {
        memo->known++;
        memo->met++;
        return (uint32_t)*slot - 1;
    }
    assert(row < ROW_SET_ROWS_MAX);
    *slot = half | (row + 1);
    memo->kept++;
    return row;
}
