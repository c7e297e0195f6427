/* SPDX-License-Identifier: MIT */
/* Arguments are equal where all their bits are, or where both are NULL: numbers
 * of texts stand for the texts. */
#include "exec/operator/map_memo.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "cl/hash.h"
#include "program/functions/function.h"

enum { SLOT_ROW, SLOT_NULLS, SLOT_ARGUMENTS }; /* words of a slot */

static unsigned slot_words(const struct map_memo *memo)
{
    return SLOT_ARGUMENTS + memo->count;
}

bool map_memo_init(struct map_memo *memo,
                   const struct row_set_column *arguments, unsigned count)
{
    assert(count <= FUNCTION_ARGUMENTS_MAX);
    *memo = (struct map_memo){ .arguments = arguments, .count = count };
    memo->slots = memory_zeroed((size_t)MAP_MEMO_SLOTS * slot_words(memo),
                                sizeof *memo->slots);
    return memo->slots != NULL;
}

void map_memo_finish(struct map_memo *memo)
{
    memory_release(memo->slots);
}

/* What a slot says of a row. */
static void read_row(const struct map_memo *memo, uint64_t row, uint64_t *slot)
{
    slot[SLOT_ROW] = row + 1;
    slot[SLOT_NULLS] = 0;
    for (unsigned i = 0; i < memo->count; i++) {
        const struct row_set_column *column = &memo->arguments[i];
        bool is_null = row_set_is_null(column, row);
        slot[SLOT_NULLS] |= (uint64_t)is_null << i;
        slot[SLOT_ARGUMENTS + i] =
            is_null ? 0
            : column->width == sizeof(uint32_t)
                ? ((const uint32_t *)column->values)[row]
                : ((const uint64_t *)column->values)[row];
    }
}

static uint64_t hash_of(const struct map_memo *memo, const uint64_t *slot)
{
    uint64_t hash = slot[SLOT_NULLS];
    for (unsigned i = 0; i < memo->count; i++)
        hash = hash_mix(hash, slot[SLOT_ARGUMENTS + i]);
    return hash_end(hash);
}

/* Whether it goes on, now and then. */
static void judge(struct map_memo *memo)
{
    if (memo->asked < MAP_MEMO_TRIES)
        return;
    memo->is_off = memo->known < MAP_MEMO_TRIES / MAP_MEMO_LEAST;
    memo->asked = memo->known = 0;
}

uint64_t map_memo_find(struct map_memo *memo, uint64_t row)
{
    uint64_t here[SLOT_ARGUMENTS + FUNCTION_ARGUMENTS_MAX], *slot;
    size_t compared = (slot_words(memo) - SLOT_NULLS) * sizeof *slot;
    if (memo->is_off)
        return row;
    read_row(memo, row, here);
    slot =
        memo->slots + hash_of(memo, here) % MAP_MEMO_SLOTS * slot_words(memo);
    memo->asked++;
    judge(memo);
    if (slot[SLOT_ROW] != 0
        && memcmp(slot + SLOT_NULLS, here + SLOT_NULLS, compared) == 0) {
        memo->known++;
        return slot[SLOT_ROW] - 1;
    }
    memcpy(slot, here, slot_words(memo) * sizeof *slot);
    return row;
}
