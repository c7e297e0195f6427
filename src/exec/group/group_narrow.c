/* SPDX-License-Identifier: MIT */
/*
 * Narrow records: see group_narrow.h.
 */
#include "exec/group/group_narrow.h"

#include <assert.h>

#include "base/memory.h"

enum { WORD_BYTES = 8 };

/* Values of a word: as they are, and as signed ones, those below 0 first. */
struct extent {
    uint64_t least, most;
    int64_t signed_least, signed_most;
};

/* Looks at a word of all records. */
static struct extent look_at(const struct group_table *table, unsigned word)
{
    struct extent extent = { .least = UINT64_MAX,
                             .signed_least = INT64_MAX,
                             .signed_most = INT64_MIN };
    const uint8_t *at = table->records + (size_t)word * WORD_BYTES;
    for (uint32_t i = 0; i < table->count; i++, at += table->width) {
        uint64_t value;
        memcpy(&value, at, sizeof value);
        int64_t number = (int64_t)value;
        extent.least = value < extent.least ? value : extent.least;
        extent.most = value > extent.most ? value : extent.most;
        extent.signed_least =
            number < extent.signed_least ? number : extent.signed_least;
        extent.signed_most =
            number > extent.signed_most ? number : extent.signed_most;
    }
    return extent;
}

/* The narrower of the two ways to see a word's values. */
static struct group_narrow_word choose(const struct extent *extent)
{
    struct group_narrow_word word = { .least = extent->least };
    uint64_t range = extent->most - extent->least;
    uint64_t other =
        (uint64_t)extent->signed_most - (uint64_t)extent->signed_least;
    if (other < range) {
        word.least = (uint64_t)extent->signed_least;
        range = other;
    }
    for (; range > 0; range >>= 8) {
        word.mask = word.mask << 8 | 0xff;
        word.bytes++;
    }
    assert(word.bytes <= WORD_BYTES);
    return word;
}

bool group_narrow_init(struct group_narrow *narrow,
                       const struct group_table *table)
{
    assert(table->width % WORD_BYTES == 0 && table->count > 0);
    *narrow =
        (struct group_narrow){ .count = (unsigned)(table->width / WORD_BYTES) };
    narrow->words =
        memory_zeroed(narrow->count + (size_t)1, sizeof *narrow->words);
    if (narrow->words == NULL)
        return false;
    for (unsigned i = 0; i < narrow->count; i++) {
        struct extent extent = look_at(table, i);
        narrow->words[i] = choose(&extent);
        narrow->width += narrow->words[i].bytes;
    }
    if (narrow->width == 0) { /* all are alike: yet there are bytes to write */
        narrow->words[0].mask = 0xff;
        narrow->words[0].bytes = narrow->width = 1;
    }
    return true;
}

void group_narrow_finish(struct group_narrow *narrow)
{
    memory_release(narrow->words);
    *narrow = (struct group_narrow){ 0 };
}

void group_narrow_take(const struct group_narrow *narrow, const uint8_t *from,
                       uint32_t count, uint8_t *records)
{
    const struct group_narrow_word *words = narrow->words;
    for (uint32_t i = 0; i < count; i++)
        for (unsigned k = 0; k < narrow->count; k++) {
            uint64_t value;
            memcpy(&value, from, sizeof value);
            value = (value & words[k].mask) + words[k].least;
            memcpy(records, &value, sizeof value);
            from += words[k].bytes;
            records += WORD_BYTES;
        }
}
