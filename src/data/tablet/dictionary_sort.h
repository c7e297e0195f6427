/* SPDX-License-Identifier: MIT */
/* The order of texts, and sorting many of them. */
#ifndef VDBQ_DATA_DICTIONARY_SORT_H
#define VDBQ_DATA_DICTIONARY_SORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "api/vdbq.h"

/* Less than 0, 0 or more: as memcmp, and a text before those it begins. */
int text_compare(struct vdbq_text a, struct vdbq_text b);

/* Eight bytes of a text from `depth` on as a number, its first byte the highest,
 * with 0 behind the text's end. */
static inline uint64_t text_head(struct vdbq_text text, size_t depth)
{
    size_t left = text.length > depth ? text.length - depth : 0;
    uint64_t head = 0;
    if (left >= sizeof head)
        memcpy(&head, text.bytes + depth, sizeof head);
    else if (left > 0)
        memcpy(&head, text.bytes + depth, left);
    return __builtin_bswap64(head);
}

/* Writes the places of different texts in their order. False: no memory, or
 * the thread was asked to stop. */
bool dictionary_sort(const struct vdbq_text *texts, uint32_t count,
                     uint32_t *order);

#endif
