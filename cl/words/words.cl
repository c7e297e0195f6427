/* SPDX-License-Identifier: MIT */
/*
 * Asks many words whether they match a pattern: an item takes a word at a time,
 * and its neighbours' bytes lie beside its own. What matches sets a bit.
 */
#include "cl/words/words.h"
#include "cl/kernel.cl"

/* Whether the literal whose bytes are at `byte` of the pattern stands here. */
static i32 is_literal(const struct words_pattern *pattern, u32 byte, u32 length,
                      GLOBAL const u8 *text)
{
    u32 i = 0;
    while (i < length && (text[i] | pattern->cases[byte + i]) == pattern->bytes[byte + i])
        i++;
    return i == length;
}

/* The literals between the first and the last, each as early as it comes. */
static i32 has_between(const struct words_pattern *pattern, u32 literal, u32 last,
                       u32 byte, GLOBAL const u8 *text, u32 at, u32 end)
{
    for (; literal < last; literal++) {
        u32 length = pattern->lengths[literal];
        while (at + length <= end && !is_literal(pattern, byte, length, text + at))
            at++;
        if (at + length > end)
            return 0;
        at += length;
        byte += length;
    }
    return 1;
}

static i32 matches(const struct words_pattern *pattern, GLOBAL const u8 *text, u32 length)
{
    u32 first = pattern->begins ? pattern->lengths[0] : 0, end = length;
    u32 literal = pattern->begins ? 1 : 0, last = pattern->count;
    if (length < pattern->least || (!pattern->any && length > pattern->least))
        return 0;
    if (!is_literal(pattern, 0, first, text))
        return 0;
    if (pattern->ends && literal < last) {
        u32 tail = pattern->lengths[--last];
        end -= tail;
        if (!is_literal(pattern, pattern->least - tail, tail, text + end))
            return 0;
    }
    return has_between(pattern, literal, last, first, text, first, end);
}

/* Sets bit `first` + i for each of `count` words i that matches. */
KERNEL void vdbq_words_match(GLOBAL const u8 *words, GLOBAL volatile u32 *bits, u64 count,
                             u64 first, struct words_pattern pattern)
{
    GLOBAL const u32 *ends = (GLOBAL const u32 *)words;
    GLOBAL const u8 *bytes = words + WORDS_BYTES_AT(count);
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u32 start = i > 0 ? ends[i - 1] : 0;
        if (matches(&pattern, bytes + start, ends[i] - start))
            atomic_or(&bits[(first + i) / 32], 1u << (first + i) % 32);
    }
}
