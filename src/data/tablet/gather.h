/* SPDX-License-Identifier: MIT */
/*
 * Gathering words of texts that threads make: a thread puts its texts into a
 * gather of its own, which copies those that it has not met lately. At the end
 * the words of all are told apart by their hashes, shared out to the threads,
 * and nothing is sorted: they are numbered in the order in which they came
 * first, those of the first gather before those of the next.
 */
#ifndef VDBQ_DATA_GATHER_H
#define VDBQ_DATA_GATHER_H

#include "base/vector.h"
#include "data/tablet/dictionary.h"
#include "program/steps/texts_use.h"

struct gather_slot;

/* What a thread has. Zeroed it has nothing yet. */
struct gather {
    struct vdbq_text *texts; /* that were copied, by their places; paged     */
    uint64_t *hashes;        /* of these; paged                              */
    uint32_t count, room;    /* of both                                      */
    struct gather_slot *slots; /* by the hash: the text that came last       */
    uint32_t slot_count;       /* 0, or a power of two                       */
    uint32_t added;            /* texts since the slots were made            */
    uint32_t asked, met;       /* texts since it was last judged, and those that
                                  came before                              */
    bool is_off;               /* few come again: the slots are not asked    */
    bool
        is_given; /* who makes it sets this where nobody will compare the words:
                      a text that is not looked for needs no hash then         */
    struct vector blocks;     /* of void *, paged: the texts' bytes         */
    size_t left, block_bytes; /* of the last one; and all of it             */
    uint32_t *numbers; /* of each place, once they are put together; paged   */
    /* Threads have theirs side by side: what is counted here at each text shares no
     * line of the cache with the next one's. */
    unsigned char apart[64];
};

void gather_init(struct gather *gather);
void gather_finish(struct gather *gather); /* accepts a zeroed one */

/* Takes a copy of a text, unless an equal one is met again soon; `*place` is the
 * place of either. False: no memory. */
bool gather_add(struct gather *gather, struct vdbq_text text, uint32_t *place);

/* Makes words of what `count` gathers have, and their `numbers`, for what is asked
 * of these; their texts go.
 * Up to so many threads work on it. NULL: no memory, more than 4 GiB, or the
 * thread was asked to stop. */
struct dictionary *gather_together(struct gather *gathers, unsigned count,
                                   enum texts_use use, unsigned threads);

#endif
