/* SPDX-License-Identifier: MIT */
/*
 * An index of rows by the tags of their keys, made by several threads and
 * never changed. Where there are hardly more tags than rows, it is an array
 * by tag (dense), else a table of slots that tags are hashed to.
 *
 * What it finds for a row are places: numbers [first, first + count) of a
 * list of rows, in which those of one key stand together and ascend. Where no
 * two rows are equal, or only one of them matters, places are rows.
 */
#ifndef VDBQ_EXEC_JOIN_INDEX_H
#define VDBQ_EXEC_JOIN_INDEX_H

#include "cl/hash.h"
#include "exec/join/join_keys.h"
#include "exec/join/join_sieve.h"
#include "exec/rows/key_counts.h"

struct join_slot {
    uint32_t tag;   /* of the key; see join_keys.h */
    uint32_t place; /* unique: the row; else of the group's start in `starts`;
                       ROW_SET_NO_ROW: the slot is free                     */
};

/* A partition of the slots: tags of one range of hashes. */
struct join_index_partition {
    uint64_t first; /* slot                       */
    uint32_t mask;  /* slots - 1, a power of two  */
};

struct join_index {
    const struct join_keys *keys; /* of both sides */
    bool dense;                   /* tags are small enough to be places */
    bool once;               /* one row of a key is as good as all          */
    bool unique;             /* places are rows                             */
    uint32_t *starts;        /* dense: the place of each tag, of a last tag
                              that no row has, and the end; else, where
                              places are not rows, of each group, and the
                              end where the next start is not that        */
    uint64_t *bits;          /* dense, where nobody asks for places: of each
                              tag, and of a last one that no row has, 1:
                              it has a row; a place is 0 then             */
    uint32_t *list;          /* of rows; NULL: places are rows              */
    struct join_slot *slots; /* hashed: of all partitions */
    struct join_sieve sieve; /* hashed: tags that have a slot */
    /* hashed: where a partition's slots are */
    struct join_index_partition *partitions;
    unsigned partition_bits; /* 2^partition_bits partitions            */
    /* of each tag how many rows it has; a place is 0 then, and nothing above but
     * `keys` and `unique` is of use. NULL: the rows are there */
    const struct key_counts *counted;
};

/* Makes an index of the keys' indexed side, of so many rows. The keys outlive
 * it; join_index_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
struct join_index_params {
    const struct join_keys *keys; /* of both sides */
    uint64_t rows;                /* of the right side */
    bool once;                    /* a key's first row is enough */
    bool which;                   /* somebody asks for places, not only how many
                              there are                                   */
    /* what has the rows of the tags, which are codes; it outlives the index.
     * NULL: the keys have them */
    const struct key_counts *counted;
    unsigned threads; /* to build with at most */
};
enum vdbq_status join_index_init(struct join_index *index,
                                 const struct join_index_params *params,
                                 struct error *error);
void join_index_finish(struct join_index *index);

/* Finds rows [first, first + rows) at hand of the other side, JOIN_BLOCK at
 * most: where their places start, and how many there are. */
void join_index_find(const struct join_index *index, uint64_t first,
                     unsigned rows, uint32_t *starts, uint32_t *counts);

/* The partition, below 2^bits, of a tag whose hash_number() it is; the low bits
 * are those of its slot in the partition. */
static inline uint32_t join_tag_partition(uint64_t hash, unsigned bits)
{
    return (uint32_t)(hash >> 40) & ((1u << bits) - 1);
}

#endif
