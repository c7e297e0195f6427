/* SPDX-License-Identifier: MIT */
/*
 * DISTINCT aggregates at the end: pairs of a group's number and a value, which
 * each thread kept in tables and runs of its own, are merged and given to the
 * aggregates by all threads (group_pairs.c, group_take_pairs.c), or where they do not fit into
 * memory, by one (group_merge.c).
 */
#ifndef VDBQ_EXEC_GROUP_PAIRS_H
#define VDBQ_EXEC_GROUP_PAIRS_H

#include "base/threads/parallel.h"
#include "exec/group/group_inner.h"

/* Pairs of DISTINCT, as columns. */
struct group_pairs {
    uint32_t numbers[GROUP_BLOCK]; /* of the pairs where they are found */
    uint32_t groups[GROUP_BLOCK];  /* the same groups in the part that takes */
    uint64_t values[GROUP_BLOCK];  /* of the aggregate's argument */
    uint8_t nulls[GROUP_BLOCK];    /* of the values: all 0 */
};

/* Reads pairs that lie one behind the other; without keys all groups are the
 * one. */
void group_read_pairs(const struct group_table *table, const uint8_t *first,
                      unsigned count, struct group_pairs *pairs);
/* Counts all rows of a table's groups as passed over by an aggregate. */
void group_skip_rows(const struct group *group, unsigned which,
                     const struct group_table *table);

/* Whether there are pairs for several threads to merge. */
bool group_shares_pairs(const struct group *group);
/* Writes what parts still have of pairs out as runs. */
enum vdbq_status group_end_pairs(struct group *group, struct error *error);
/* Whether runs of pairs are in the group's file. */
bool group_has_pair_files(const struct group *group);
/* Merges groups and pairs, which are all in memory, and gives the pairs to
 * their aggregates: the group has a part for each partition then. */
enum vdbq_status group_merge_pairs(struct group *group, struct error *error);

/* Groups that are merged, and where they are. */
struct group_taking {
    struct group *group;
    uint64_t groups;  /* numbers of groups are below it                     */
    uint8_t *records; /* of all groups, by their numbers                    */
    /* of each part's groups: their numbers among all; NULL without keys    */
    const uint32_t *maps[PARALLEL_THREADS_MAX];
};
/* Gives the pairs of all parts, which are in memory, to their aggregates. */
enum vdbq_status group_take_pairs(const struct group_taking *taking,
                                  struct error *error);

#endif
