/* SPDX-License-Identifier: MIT */
/*
 * Whether a row of a table has a key. Only tablets whose range the key is in are
 * looked into, by their runs, which the caller's cache keeps: so a key costs a
 * few searches, whatever other tablets came and went meanwhile.
 */
#ifndef VDBQ_DATA_KEY_FIND_H
#define VDBQ_DATA_KEY_FIND_H

#include "data/database/database.h"
#include "data/index/run_cache.h"

/* Keys that are found so: not texts. */
bool key_findable(const struct table *table);
/* A key of a table, which is not NULL. */
struct run_value key_value(const struct vdbq_vector *keys, uint64_t row);
/* Looks for one in all tablets. Fails with IO, CORRUPT, NO_MEMORY, CANCELLED. */
enum vdbq_status key_find(struct database *database, const struct table *table,
                          struct run_value key, bool *found,
                          struct error *error);
/* CONSTRAINT: says which key is there twice. */
enum vdbq_status key_twice(const struct table *table,
                           const struct vdbq_vector *keys, uint64_t row,
                           struct error *error);

#endif
