/* SPDX-License-Identifier: MIT */
/*
 * What the lists behind a catalogue's bytes have in common (samples.h,
 * run_list.h, states.h): each begins at a multiple of 8, and ends with the
 * checksum of its bytes.
 */
#ifndef VDBQ_DATA_LIST_H
#define VDBQ_DATA_LIST_H

#include <stdbool.h>

#include "base/text.h"
#include "data/tablet/block.h"

enum { LIST_SUM_BYTES = 8 }; /* of the checksum */

/* Where a list begins behind so many bytes. */
static inline uint64_t list_start(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Begins a list behind the bytes of a text: where it starts. */
size_t list_begin(struct text *text);
/* Ends the list that starts there. */
void list_end(struct text *text, size_t start);
/* Whether a list that was read has the checksum that it ends with. */
bool list_is_whole(const struct block *list);

#endif
