/* SPDX-License-Identifier: MIT */
/*
 * STRING_AGG: the texts of a partition, joined in its order, as a text of all of
 * its rows. The texts are gathered while windows are computed, in memory or in
 * files; then they become words.
 */
#ifndef VDBQ_EXEC_WINDOW_JOINED_H
#define VDBQ_EXEC_WINDOW_JOINED_H

#include "data/tablet/gather.h"
#include "exec/window/window.h"

/* The texts that one function makes. Zeroed, it has none. */
struct window_joined {
    /* The words of what is joined, and of what stands between; not held, and
     * NULL where there are none. */
    const struct dictionary *values, *separators;
    struct gather gather;   /* values of the result are its places, until
                               window_joined_follow()                       */
    uint32_t *followed;     /* words of a batch                            */
    uint64_t followed_room; /* of these                                    */
};

void window_joined_finish(struct window_joined *joined);

/* Makes words of the texts: the caller's. NULL: no memory, or the thread was
 * asked to stop. */
struct dictionary *window_joined_words(struct window_joined *joined,
                                       enum texts_use use, unsigned threads);
/* The numbers of words in place of a vector's places, once there are words; the
 * vector then has the numbers, until the next call. False: no memory. */
bool window_joined_follow(struct window_joined *joined,
                          struct vdbq_vector *vector, uint64_t rows);

#endif
