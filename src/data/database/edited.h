/* SPDX-License-Identifier: MIT */
/*
 * Tablets with their edits over them (data/catalogue/edit.h).
 */
#ifndef VDBQ_DATA_EDITED_H
#define VDBQ_DATA_EDITED_H

#include "base/settings.h"
#include "data/tablet/block.h"
#include "data/tablet/tablet.h"

struct tablet_editing {
    const struct table *table;
    const struct edit *edit;
    const void *base;   /* what that is over: a checked tablet, or its wanted
                           columns                                       */
    const bool *wanted; /* one a column; NULL: all of them                */
    enum encoding_choice choice; /* of columns that are made anew; never one
                                    that takes more than plain values */
};

/* Writes the tablet of the rows that there are with the edit at the start of a
 * block; a column that is not wanted is not there. Returns its bytes; 0: no
 * memory, or the thread was asked to stop. */
uint64_t tablet_edited(const struct tablet_editing *params, void *block);

/* The same in a new block of all columns, which has room for sums of its pages.
 * Without bytes: as above. */
struct block tablet_block_edited(const struct tablet_editing *params);

/* A column of the base, which is proven before anything is made of it. */
struct edited_column {
    const struct edit *edit;
    const struct tablet_column *stored; /* what the base's head says of it */
    unsigned column;
    uint64_t words;              /* bytes that its words take in memory   */
    enum encoding_choice choice; /* as above                              */
};
/* Bytes that a column takes at most. The tablet takes those of all its wanted
 * columns and its head. */
struct edited_room {
    uint64_t column; /* of its values and NULL bits                      */
    uint64_t words;  /* of its words                                     */
    uint64_t work;   /* while it is made: of its values beside the block */
};
struct edited_room tablet_edited_room(const struct edited_column *what);

#endif
