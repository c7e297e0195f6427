/* SPDX-License-Identifier: MIT */
/*
 * STRING_AGG: the texts of a partition, joined in its order, as a text of all of
 * its rows. The texts are gathered while windows are computed, in memory or in
 * files; then they become words. Of a partition whose rows do not come all at once
 * the text is promised to the first ones, and known when its last ones came.
 */
#ifndef VDBQ_EXEC_WINDOW_JOINED_H
#define VDBQ_EXEC_WINDOW_JOINED_H

#include "base/text.h"
#include "data/tablet/gather.h"
#include "exec/window/window.h"

/* The texts that one function makes. Zeroed, it has none. */
struct window_joined {
    /* The words of what is joined, and of what stands between; not held, and
     * NULL where there are none. */
    const struct dictionary *values, *separators;
    struct text text;       /* the partition at hand so far, joined        */
    bool any;               /* ... it has one                              */
    bool begun;             /* ... rows before these had a part of it      */
    struct gather gather;   /* values of the result are its places, until
                               window_joined_follow() ...                   */
    struct vector promised; /* ... or of uint32_t, the places of these, with
                               JOINED_PROMISED                              */
    uint32_t *followed;     /* words of a batch ...                        */
    uint8_t *nulls;         /* ... and NULLs: of promised ones             */
    uint64_t followed_room; /* of both                                     */
};

enum {
    JOINED_NULL = INT32_MAX
}; /* the place of a promised text that is NULL */
#define JOINED_PROMISED (UINT32_C(1) << 31)

void window_joined_init(struct window_joined *joined);

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
