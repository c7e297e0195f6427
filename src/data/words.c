/* SPDX-License-Identifier: MIT */
/*
 * Words: one block of memory, of ends and bytes, shared by its holders.
 */
#include "data/words.h"

#include "base/memory.h"

struct words *words_hold(struct words *words)
{
    if (words != NULL)
        words->holders++;
    return words;
}

void words_release(struct words *words)
{
    if (words != NULL && --words->holders == 0)
        memory_release(words);
}

struct vdbq_text words_text(const struct words *words, uint32_t number)
{
    struct vdbq_text text = { .bytes = "" };
    if (words == NULL || number >= words->count)
        return text;
    uint32_t start = number > 0 ? words->ends[number - 1] : 0;
    text.bytes = words->bytes + start;
    text.length = words->ends[number] - start;
    return text;
}
