/* SPDX-License-Identifier: MIT */
/*
 * Free space of the file: what no extent in use covers. Not kept on disk;
 * made from the catalogues that must stay readable when a transaction
 * starts (rules 6 and 7 of file.c).
 */
#ifndef VDBQ_DATA_SPACE_H
#define VDBQ_DATA_SPACE_H

#include "base/vector.h"
#include "data/catalogue/catalogue.h"

/* A run of bytes of the file. */
struct extent {
    uint64_t offset; /* in bytes, a multiple of PAGE_BYTES */
    uint64_t size;   /* in bytes, a multiple of PAGE_BYTES */
};

/* Adds an extent, or those of a catalogue's tablets and samples, rounded up to
 * pages.
 * False: no memory. */
bool extents_add(struct vector *extents, uint64_t offset, uint64_t size);
bool extents_add_catalogue(struct vector *extents,
                           const struct catalogue *catalogue);
/* Sorts by offset. */
void extents_sort(struct vector *extents);
/* The first of sorted extents that reaches into the next, or NULL. */
const struct extent *extents_overlap(const struct vector *extents);

struct space {
    struct vector gaps; /* of struct extent, free, by offset            */
    uint64_t tail;      /* everything from here on is free, too         */
    uint64_t taken;     /* bytes, counted by space_take()               */
    bool low;           /* blocks are to be as far down as can be       */
    uint64_t limit;     /* small blocks are neighbours below this place */
    uint64_t next;      /* where what was taken last ends               */
};

/* An empty space that begins at `tail`. */
struct space space_init(uint64_t tail);
/* Makes gaps of what `extents` leaves free from `first` on; sorts them. The
 * extents may be the same several times. False: no memory. */
bool space_fill(struct space *space, struct vector *extents, uint64_t first);
/* Takes `size` bytes, a multiple of a page: where they are. That is the first gap
 * that is large enough; after space_near() small blocks come behind the last one,
 * or where there is room for others, too. */
uint64_t space_take(struct space *space, uint64_t size);
/* What was there, and is to stay, ends there. From now on small blocks are taken
 * as neighbours up to a little behind that, unless they are to be far down. */
void space_near(struct space *space, uint64_t end);
/* The first gap that is large enough, if there is one; nothing is taken. */
bool space_find(const struct space *space, uint64_t size, uint64_t *offset);
/* Likewise takes space, behind all that is in use. */
uint64_t space_take_last(struct space *space, uint64_t size);
/* Makes what was taken free again. False: no memory. */
bool space_give(struct space *space, uint64_t offset, uint64_t size);
void space_finish(struct space *space);

#endif
