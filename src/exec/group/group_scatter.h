/* SPDX-License-Identifier: MIT */
/*
 * Rows that mostly make groups of their own are not looked up as they come. A
 * thread scatters them to partitions of their keys' hashes, the columns that are
 * needed side by side; who merges a partition looks its rows up, in a table that
 * fits the caches. After Leis et al., "Morsel-driven parallelism" (2014), section
 * 4.4, and Polychroniou and Ross, "A comprehensive study of main-memory
 * partitioning" (2014), section 3.
 */
#ifndef VDBQ_EXEC_GROUP_SCATTER_H
#define VDBQ_EXEC_GROUP_SCATTER_H

#include "exec/group/group_inner.h"

/* Some rows of a partition; behind the head lie the offsets of their numbers,
 * then column by column their values and whether these are NULL. */
struct scatter_chunk {
    struct scatter_chunk *next;
    uint64_t number;     /* of a row: what offsets count from */
    uint32_t rows, room; /* that it has, and could have       */
};

/* Rows that a thread scattered. */
struct group_scatter {
    struct scatter_chunk *first[GROUP_PARTITIONS], *last[GROUP_PARTITIONS];
    struct scatter_slab *slabs; /* owned: memory of the chunks           */
    size_t slab_left;           /* bytes of the newest one               */
    uint64_t rows;              /* of all chunks                         */
    uint64_t held_bytes;        /* of the account, for slabs             */
    uint64_t most_bytes;        /* that they may have                    */
};

/* Finds out which columns of the input are kept, and how. */
enum vdbq_status group_scatter_plan(struct group *group, struct error *error);

/* Whether a part is better off with scattering from now on: its table is full
 * of groups that few rows share, and there is memory. */
bool group_scatter_pays(const struct group *group,
                        const struct group_part *part);
/* The part scatters from now on. */
enum vdbq_status group_scatter_begin(const struct group *group,
                                     struct group_part *part,
                                     struct error *error);
/* Scatters rows of one batch; returns how many of the first ones, of 0 where the
 * part's `status` says why. Where there is no more memory, it takes all into the
 * part's own groups and scatters no more. */
uint64_t group_scatter_rows(struct group *group, struct group_part *part,
                            const struct batches_run *run);

/* Rows of a partition. */
uint64_t group_scatter_count(const struct group_scatter *scatter,
                             unsigned partition);
/* Takes the rows of a partition into the groups of `part`, which says whether it
 * failed. */
void group_scatter_take(struct group *group,
                        const struct group_scatter *scatter, unsigned partition,
                        struct group_part *part);
/* Takes all that the part has scattered into its own groups. */
void group_scatter_drain(struct group *group, struct group_part *part);

/* Frees what a part scattered, if it did. */
void group_scatter_finish(struct group *group, struct group_part *part);

#endif
