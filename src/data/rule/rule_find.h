/* SPDX-License-Identifier: MIT */
/*
 * The rows of a table that have some values in the columns of a rule. Only
 * tablets whose facts leave these values open are looked into, by their runs,
 * which the caller's cache keeps: so a row costs a few searches, whatever other
 * tablets came and went meanwhile.
 */
#ifndef VDBQ_DATA_RULE_FIND_H
#define VDBQ_DATA_RULE_FIND_H

#include "data/index/run_cache.h"
#include "data/rule/unique.h"

/* What is looked through. */
struct rule_find {
    struct database *database;
    const struct catalogue *catalogue; /* that has the table, and its runs */
    const struct table *table;
    const struct unique_rule *rule; /* that is findable, or hashed */
    const uint64_t *except; /* number of a row that is passed over; NULL:
                                       none is                                */
};

/* Whether rows are found so: none of the columns is a text, but of keys, and a run
 * has all of them. */
bool rule_findable(const struct unique_rule *rule);
/* Whether they are found by hashes of a rule with texts: a run of these is made of
 * all rows of a tablet, and is in no file. So it is for who would look through all
 * rows else. */
bool rule_is_hashed(const struct unique_rule *rule);
/* Whether to look for so many rows, one by one, takes less time than to make a set of
 * all rows of the table. */
bool rule_is_searched(const struct rule_find *find, uint64_t rows);
/* The same of rows that are looked for together, after those that were in that table
 * before: a set of all rows is there for later ones, too. */
bool rule_is_searched_together(const struct rule_find *find, uint64_t rows);
/* Adds the numbers of the table's rows that are like a row, by the rule's vectors
 * (rule_values.h), in whatever order, to a vector of uint64_t. Fails with IO,
 * CORRUPT, NO_MEMORY, CANCELLED, and as keys that are computed. */
enum vdbq_status rule_find(const struct rule_find *find,
                           const struct vdbq_vector *vectors, uint64_t row,
                           struct vector *numbers, struct error *error);
/* The same of the first so many rows together: the run of a tablet is taken once. */
enum vdbq_status rule_find_rows(const struct rule_find *find,
                                const struct vdbq_vector *vectors,
                                uint64_t rows, struct vector *numbers,
                                struct error *error);
/* Says of each of them whether the table has one that is like it: 1, else 0. Many are
 * counted, for rule_is_searched_together(). */
enum vdbq_status rule_meet_rows(const struct rule_find *find,
                                const struct vdbq_vector *vectors,
                                uint64_t rows, uint8_t *there,
                                struct error *error);

#endif
