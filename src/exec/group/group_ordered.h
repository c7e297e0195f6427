/* SPDX-License-Identifier: MIT */
/*
 * Groups of rows that come in the order of their key, as those of a table that
 * was filled by it: a group's rows are neighbours. So nobody looks for a group,
 * and no two threads have one in common.
 */
#ifndef VDBQ_EXEC_GROUP_ORDERED_H
#define VDBQ_EXEC_GROUP_ORDERED_H

#include "exec/group/group_inner.h"

/* Whether a group of such a step may be of rows in order, until it is known. */
bool group_order_possible(const struct group *group);

/* Takes in rows, if they, and those before them, are in order; else `*done` is
 * false, and rows are looked up from now on. */
enum vdbq_status group_add_ordered(struct group *group,
                                   const struct batches *batches, bool *done,
                                   struct error *error);

/* Whether all groups are there, each once, in the parts' segments. */
bool group_is_ordered(const struct group *group);

/* Where the records of groups [first, first + count) are, in the order of their
 * first rows. */
void group_list_ordered(const struct group *group, uint64_t first,
                        unsigned count, const uint8_t **records);

#endif
