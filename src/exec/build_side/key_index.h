/* SPDX-License-Identifier: MIT */
/*
 * Key indexes, made on the host: by which key which build row is found
 * (struct key_index in cl/launch.h).
 */
#ifndef VDBQ_EXEC_KEY_INDEX_H
#define VDBQ_EXEC_KEY_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "cl/launch.h"

/* Build rows are numbered by i32, from 1 on in an index. */
#define KEY_ROWS_MAX 0x7ffffffeu

/* A column of keys: integers of 4 or 8 bytes. */
struct key_column {
    const void *values;   /* integers; NULL where the device has them */
    const uint8_t *nulls; /* NULL: no key is NULL                         */
    unsigned width;       /* of a key in bytes: 4 or 8 */
    uint64_t rows;        /* with those whose key is NULL */
    int64_t low, high;    /* the least and the greatest key; low > high:
                             there is none                                */
};

/* The key of a row, widened to 64 bits. */
static inline int64_t key_column_at(const struct key_column *column, bool wide,
                                    uint64_t row)
{
    return wide ? ((const int64_t *)column->values)[row]
                : ((const int32_t *)column->values)[row];
}

/* Whether the row has a key: one that is NULL matches nothing. */
static inline bool key_column_has(const struct key_column *column, uint64_t row)
{
    return column->nulls == NULL || column->nulls[row] == 0;
}

/* Chooses the kind of index and how many slots it has, with so many threads
 * that look at the keys. */
struct key_index key_index_plan(const struct key_column *column, bool on_gpu,
                                unsigned threads);
/* Bytes of its slots and of what lies behind them. */
uint64_t key_index_bytes(const struct key_index *index,
                         const struct key_column *column);
/* Writes the slots, of any content, with so many threads. */
void key_index_fill(const struct key_index *index,
                    const struct key_column *column, unsigned threads,
                    void *slots);

#endif
