/* SPDX-License-Identifier: MIT */
/*
 * Sorting: the order of rows by several keys, stable; and the first rows of
 * that order, without having all of them.
 */
#ifndef VDBQ_EXEC_SORT_H
#define VDBQ_EXEC_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/launch/launch_bound.h"
#include "exec/rows/batches.h"
#include "exec/rows/row_set.h"

/* A column that decides. */
struct sort_key {
    int type;             /* TYPE_... of its values                */
    const void *values;   /* of the column */
    const uint8_t *nulls; /* NULL: no value is NULL    */
    bool descending;      /* the greatest go first */
    bool nulls_last;      /* NULLs go behind all values */
};

/* Writes the numbers of rows 0 to count - 1 in their order: the first key
 * decides first; rows with equal keys keep theirs. */
enum vdbq_status sort_order(const struct sort_key *keys, unsigned key_count,
                            uint32_t count, unsigned threads, uint32_t *order,
                            struct error *error);

/* Of a row in its order: its keys, or the first ones, differ from those of the
 * row before. */
enum sort_start { SORT_PARTITION = 1, SORT_PEERS = 2 };
/* The same, and writes at `starts`, a byte a row in that order, where the first
 * `partition` keys change, and where any does; both for the first row. */
enum vdbq_status sort_order_marked(const struct sort_key *keys,
                                   unsigned key_count, uint32_t count,
                                   unsigned threads, uint32_t *order,
                                   unsigned partition, uint8_t *starts,
                                   struct error *error);

/* Writes the numbers of the first `limit` rows, `count` at most, of that order:
 * not in it, but rows with equal keys keep theirs, and the last one is its last. */
enum vdbq_status sort_first(const struct sort_key *keys, unsigned key_count,
                            uint32_t count, uint32_t limit, unsigned threads,
                            uint32_t *order, struct error *error);

/* TYPE_... of a column's values, as they are sorted and grouped: numbers of
 * words are integers. */
int sort_type(enum vdbq_type type);
/* The keys of a step as those of a row set's rows. */
void sort_keys(const struct row_set *row_set, const struct step_key *keys,
               unsigned count, struct sort_key *made);

/* The first `limit` rows of an order, found as rows come. */
struct sort_top {
    const struct step_key *keys; /* of the plan */
    unsigned key_count;          /* of `keys` */
    uint64_t limit;              /* rows to keep */
    struct row_set rows; /* those that may be among them; rows with equal keys
                            in the order in which they came               */
    bool bounded;        /* rows that are not before the bound are left out */
    bool bound_null;     /* the last row kept has NULL as its first key */
    uint64_t bound;      /* order of the first key of the last row kept */
    const struct step_column *columns; /* of the input */
    unsigned threads;                  /* to work with at most */
    uint64_t seen;                     /* rows so far          */
    uint8_t *room;                     /* of a block's rows */
    struct arena arena;                /* of `room` */
};
/* Where fewer rows than this are asked for, sort_top takes little memory. */
enum { SORT_TOP_MAX = 1 << 16 };
/* How many rows it has at most at once, where so many are asked for. */
uint64_t sort_top_rows(uint64_t limit);

/* `keys` and `columns` (of the input) outlive it. sort_top_finish() is due
 * whatever it returns. */
enum vdbq_status sort_top_init(struct sort_top *top,
                               const struct step_key *keys, unsigned key_count,
                               uint64_t limit,
                               const struct step_column *columns,
                               unsigned column_count, unsigned threads,
                               struct error *error);
void sort_top_finish(struct sort_top *top); /* accepts a zeroed struct */
enum vdbq_status sort_top_add(struct sort_top *top,
                              const struct batches *batches,
                              struct error *error);
/* What rows that come later need not be added, as far as it is known. */
struct launch_bound sort_top_bound(const struct sort_top *top);
/* Puts `rows` into their final order, `limit` of them at most. */
enum vdbq_status sort_top_end(struct sort_top *top, struct error *error);

#endif
