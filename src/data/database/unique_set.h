/* SPDX-License-Identifier: MIT */
/*
 * Sets of hashes of rows, which a database keeps for its tables. Two rows are
 * taken for alike when 128 bits of their hashes are. What is hashed, and when
 * a set is made, is in unique.c.
 */
#ifndef VDBQ_DATA_UNIQUE_SET_H
#define VDBQ_DATA_UNIQUE_SET_H

#include "base/collation.h"
#include "base/vector.h"
#include "data/catalogue/identity.h"

/* The hash of some columns of one row. */
struct unique_hash {
    uint64_t low, high; /* of a row's values; both 0: a free slot */
};

/* A column of a rule. */
struct unique_column {
    unsigned number; /* of the table's columns */
    enum collation collation;
};

/* The rows that a table has, by the hashes of some of its columns. */
struct unique_set {
    uint32_t table_id; /* of the rule's table */
    uint64_t origin;   /* of an index's keys that are hashed; 0: columns are */
    unsigned column_count;         /* of `columns` */
    struct unique_column *columns; /* of the rule, or that its keys are made
                                      of; owned                          */
    bool made;          /* it holds the rows of the table's state `of`    */
    bool grown;         /* and rows that are in no tablet yet             */
    struct identity of; /* the state of the table that the set holds */
    uint64_t used;      /* when, counted in calls                         */
    struct unique_hash *slots; /* both 0: free                           */
    size_t capacity; /* a power of 2, or 0                             */
    size_t count;    /* hashes in it */
};
void unique_set_finish(struct unique_set *set); /* accepts a zeroed one */
bool unique_set_has(const struct unique_set *set, struct unique_hash hash);
/* False: no memory. */
bool unique_set_add(struct unique_set *set, struct unique_hash hash);
/* Makes room for so many hashes in all, so that it need not grow. False: no
 * memory, or what runs is to stop. */
bool unique_set_reserve(struct unique_set *set, uint64_t count);
/* Asks early for the memory where a hash belongs. */
void unique_set_fetch(const struct unique_set *set, struct unique_hash hash);

/* The rows of a table have another state now, of which only these columns'
 * values are others: sets that read none of them hold it, too. */
void unique_sets_follow(struct vector *sets, struct identity from,
                        struct identity to, const bool *changed);

/* Finishes a vector of sets. */
void unique_sets_finish(struct vector *sets);

#endif
