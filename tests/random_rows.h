/* SPDX-License-Identifier: MIT */
/*
 * Random rows for tests of grouping, sorting and windows: a column of each
 * type, with NULLs, few or many different values, floats among them that are
 * not finite or equal in odd ways.
 */
#ifndef VDBQ_TESTS_RANDOM_ROWS_H
#define VDBQ_TESTS_RANDOM_ROWS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "api/vdbq.h"
#include "base/memory.h"

enum { RANDOM_COLUMNS = 7, RANDOM_ROWS = 200000, RANDOM_FILTER = 6 };
#define RANDOM_SIZE 1e12 /* of all values of a column, added up */

static const enum vdbq_type random_types[RANDOM_COLUMNS] = {
    VDBQ_INTEGER, VDBQ_BIGINT, VDBQ_FLOAT,  VDBQ_DOUBLE,
    VDBQ_TEXT,    VDBQ_BIGINT, VDBQ_INTEGER
};
static void *random_values[RANDOM_COLUMNS];
static uint8_t *random_nulls[RANDOM_COLUMNS];

static uint64_t random_state = 88172645463325252u;

static inline uint32_t random_below(uint32_t count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 32) % count);
}

static inline bool random_is_float(unsigned column)
{
    return random_types[column] == VDBQ_FLOAT
           || random_types[column] == VDBQ_DOUBLE;
}

static inline double random_float(uint32_t variety)
{
    static const double odd[] = {
        0.0, -0.0, (double)INFINITY, -(double)INFINITY, 0.5, -1e6
    };
    if (random_below(variety > 1000 ? 5000 : 20) == 0)
        return odd[random_below(6)];
    return ((double)random_below(variety) - variety / 2.0) / 8;
}

/* Lets the allocation after `calls` others fail, and all that follow; until
 * random_fail_never(). */
static unsigned random_calls_left;
static inline void *random_resize(void *old, size_t size)
{
    if (random_calls_left == 0)
        return NULL;
    random_calls_left--;
    return realloc(old, size);
}
static inline void random_fail_after(unsigned calls)
{
    random_calls_left = calls;
    memory_calls.resize = random_resize;
}
static inline void random_fail_never(void)
{
    memory_calls.resize = realloc;
}

/* Fills the first `rows` rows of all columns; about `variety` different
 * values in each. */
static inline void random_fill(uint32_t rows, uint32_t variety)
{
    for (unsigned column = 0; column < RANDOM_COLUMNS; column++) {
        void *values = random_values[column];
        bool some = random_below(2) == 0;
        if (values == NULL) {
            values = random_values[column] = malloc(RANDOM_ROWS * 8);
            random_nulls[column] = malloc(RANDOM_ROWS);
        }
        for (uint32_t i = 0; i < rows; i++) {
            int32_t small = (int32_t)random_below(variety);
            random_nulls[column][i] = some && random_below(5) == 0;
            if (random_types[column] == VDBQ_DOUBLE)
                ((double *)values)[i] = random_float(variety);
            else if (random_types[column] == VDBQ_FLOAT)
                ((float *)values)[i] = (float)random_float(variety);
            else if (random_types[column] == VDBQ_BIGINT)
                ((int64_t *)values)[i] = ((int64_t)small - 7) * 10000001;
            else if (column == RANDOM_FILTER)
                ((int32_t *)values)[i] = small % 2;
            else
                ((int32_t *)values)[i] = small - 3;
        }
    }
}

/* Rows [at, at + count), the vectors at `vectors`. */
static inline struct vdbq_batch random_batch(uint32_t at, uint32_t count,
                                             struct vdbq_vector *vectors)
{
    for (unsigned i = 0; i < RANDOM_COLUMNS; i++) {
        unsigned width =
            random_types[i] == VDBQ_BIGINT || random_types[i] == VDBQ_DOUBLE
                ? 8
                : 4;
        bool nulls = false;
        for (uint32_t k = 0; k < count; k++)
            nulls |= random_nulls[i][at + k] != 0;
        vectors[i] =
            (struct vdbq_vector){ random_types[i],
                                  (const char *)random_values[i]
                                      + (size_t)at * width,
                                  nulls ? random_nulls[i] + at : NULL };
    }
    return (struct vdbq_batch){ count, RANDOM_COLUMNS, vectors };
}

static inline bool random_null(unsigned column, uint32_t row)
{
    return random_nulls[column][row] != 0;
}

/* A value of an integer column; 0 of another. */
static inline int64_t random_integer(unsigned column, uint32_t row)
{
    if (random_is_float(column))
        return 0;
    return random_types[column] == VDBQ_BIGINT
               ? ((int64_t *)random_values[column])[row]
               : ((int32_t *)random_values[column])[row];
}

/* A value of a float column; 0 of another. */
static inline double random_real(unsigned column, uint32_t row)
{
    if (!random_is_float(column))
        return 0;
    return random_types[column] == VDBQ_DOUBLE
               ? ((double *)random_values[column])[row]
               : (double)((float *)random_values[column])[row];
}

static inline bool random_equal(unsigned column, uint32_t a, uint32_t b)
{
    if (random_null(column, a) || random_null(column, b))
        return random_null(column, a) == random_null(column, b);
    return random_integer(column, a) == random_integer(column, b)
           && random_real(column, a) == random_real(column, b);
}

static inline bool random_less(unsigned column, double real, int64_t integer,
                               double other_real, int64_t other_integer)
{
    return random_is_float(column) ? real < other_real
                                   : integer < other_integer;
}

static inline bool random_true(int column, uint32_t row)
{
    return column < 0
           || (!random_null((unsigned)column, row)
               && random_integer((unsigned)column, row) != 0);
}

#endif
