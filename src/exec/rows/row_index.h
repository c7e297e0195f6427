/* SPDX-License-Identifier: MIT */
/*
 * An index of rows by their keys: finds the rows whose key columns equal those
 * of another row, by hashing. Keys are compared pairwise, so both sides have
 * the same machine types in the same order, and the same words.
 */
#ifndef VDBQ_EXEC_ROW_INDEX_H
#define VDBQ_EXEC_ROW_INDEX_H

#include "exec/rows/row_set.h"

struct row_index {
    bool nulls_match; /* NULL equals NULL; else rows with one are
                                 not in the index                        */
    unsigned key_count;
    struct row_set_column *keys; /* those of the rows that it holds     */
    uint64_t rows;               /* that it has seen                        */
    uint64_t rows_room; /* rows that hashes, next and heads have room for */
    uint64_t *hashes;   /* of each row                             */
    uint32_t *next;     /* row in the same bucket, or none         */
    uint32_t *heads;    /* of each bucket                          */
    uint32_t mask;      /* buckets - 1                             */
};

/* Makes an empty index over that many key columns. row_index_finish() is due
 * whatever it returns, and accepts a zeroed struct. */
enum vdbq_status row_index_init(struct row_index *index, unsigned key_count,
                                bool nulls_match, struct error *error);
void row_index_finish(struct row_index *index);

/* Adds rows [index->rows, rows), whose key columns are at `keys` from now on,
 * in one piece with those before. Rows that were added by one call are found
 * in their order. */
enum vdbq_status row_index_add(struct row_index *index,
                               const struct row_set_column *keys, uint64_t rows,
                               struct error *error);

/* The hash of a row's keys. */
uint64_t row_hash(const struct row_set_column *keys, unsigned key_count,
                  uint64_t row);
/* The same of rows [first, first + rows). */
void row_hashes(const struct row_set_column *keys, unsigned key_count,
                uint64_t first, uint64_t rows, uint64_t *hashes);
/* Partitions of these rows, of a power of two, by their hashes. */
void row_partitions(const struct row_set_column *keys, unsigned key_count,
                    uint64_t first, uint64_t rows, unsigned partitions,
                    uint16_t *to);
/* The next row of the index that equals row `row` of `keys`: the first one
 * after ROW_SET_NO_ROW; ROW_SET_NO_ROW: there is none. */
uint32_t row_index_find(const struct row_index *index,
                        const struct row_set_column *keys, uint64_t row,
                        uint64_t hash, uint32_t after);

/* Whether two values are the same, as keys are compared: two NULLs are. */
bool row_same(const struct row_set_column *a, uint64_t a_row,
              const struct row_set_column *b, uint64_t b_row);

/* Whether one of the row's keys is NULL. */
bool row_has_null(const struct row_set_column *keys, unsigned key_count,
                  uint64_t row);

#endif
