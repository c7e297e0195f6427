/* SPDX-License-Identifier: MIT */
/*
 * Lists behind a catalogue: list.h.
 */
#include "data/database/list.h"

#include <assert.h>
#include <string.h>

size_t list_begin(struct text *text)
{
    static const char zeros[8] = { 0 };

    text_add(text, zeros, list_start(text->length) - text->length);
    return text->length;
}

void list_end(struct text *text, size_t start)
{
    uint64_t checksum = text->failed ? 0
                                     : block_checksum(text->bytes + start,
                                                      text->length - start);

    text_add(text, (const char *)&checksum, sizeof checksum);
}

bool list_is_whole(const struct block *list)
{
    uint64_t checksum;

    assert(list->size >= LIST_SUM_BYTES);
    size_t size = list->size - LIST_SUM_BYTES;
    memcpy(&checksum, (const char *)list->bytes + size, sizeof checksum);
    return block_checksum(list->bytes, size) == checksum;
}
