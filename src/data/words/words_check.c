/* SPDX-License-Identifier: MIT */
/*
 * Words are in order, each of them UTF-8, and fill the room that is theirs.
 * Packed words are proven as they are unpacked (words_unpack.c).
 */
#include "data/words/words_check.h"

#include "base/threads/parallel.h"
#include "base/type.h"

PARALLEL_CLONES bool words_ascii(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    unsigned char any = 0;

    for (size_t i = 0; i < size; i++)
        any |= at[i];
    return any < 0x80;
}

/* Ends inside the bytes; words in order, each of them UTF-8. */
static const char *order_fault(const struct tablet_words *words)
{
    const uint32_t *ends = (const uint32_t *)(words + 1);
    const char *bytes = (const char *)(ends + words->count);
    uint32_t start = 0, before = 0;
    bool ascii = words_ascii(bytes, words->bytes);

    for (uint32_t i = 0; i < words->count; i++) {
        uint32_t length = ends[i] - start;
        if (ends[i] < start || ends[i] > words->bytes)
            return "a word does not lie inside";
        if (!ascii && !text_is_utf8(bytes + start, length))
            return "a word is not UTF-8";
        if (i > 0
            && !word_behind(bytes + before, start - before, bytes + start,
                            length))
            return "the words are not in order";
        before = start;
        start = ends[i];
    }
    return start == words->bytes ? NULL : "bytes behind the words are left";
}

const char *words_fault(const struct tablet_words *words, uint64_t size)
{
    const uint8_t *bytes = (const uint8_t *)words;
    uint64_t used;

    if (size < sizeof *words
        || TABLET_WORDS_SIZE(words->count, words->bytes) > size)
        return "the words do not lie inside";
    used = sizeof *words + (uint64_t)words->count * sizeof(uint32_t)
           + words->bytes;
    for (uint64_t i = used; i < TABLET_ALIGNED(used); i++)
        if (bytes[i] != 0)
            return "what follows the words is not 0";
    return order_fault(words);
}
