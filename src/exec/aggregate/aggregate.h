/* SPDX-License-Identifier: MIT */
/*
 * Aggregates: what is kept of the values that one takes in (its state), and
 * what comes of it. The state does not depend on the order in which values
 * come, nor on how they are shared out among states that are then merged. A
 * zeroed state has taken nothing in.
 *
 * Rows that are passed over are counted, in front of the state, so that where
 * there are none nothing is counted: whoever keeps states keeps a count of rows,
 * too. Where no row ever can be, because no value is NULL and nothing is
 * filtered, there is no such number, and records are smaller.
 */
#ifndef VDBQ_EXEC_AGGREGATE_H
#define VDBQ_EXEC_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "program/steps/steps.h"

enum {
    AGGREGATE_BLOCK = 1024,  /* rows that are taken in at a time */
    AGGREGATE_FEW = 8,       /* groups that rows are sorted by   */
    AGGREGATE_STATE_MAX = 64 /* bytes of a state at most         */
};

enum aggregate_kind {
    AGGREGATE_ROWS,   /* nothing is kept                           */
    AGGREGATE_NARROW, /* a sum of 32-bit integers                  */
    AGGREGATE_WIDE,   /* a sum of 64-bit integers, in 128 bits     */
    AGGREGATE_REAL,   /* a sum of floats (sum.h)                   */
    AGGREGATE_BEST,   /* the least or greatest value (order.h)     */
    AGGREGATE_BITS,   /* bits of integers, in a word               */
    AGGREGATE_EARLIEST
};
struct aggregate {
    /* function, column and filter as the plan has them */
    struct step_aggregate step;
    int type;                 /* TYPE_... of the argument            */
    unsigned scale;           /* of a DECIMAL argument, else 0       */
    enum aggregate_kind kind; /* which state it keeps */
    bool shared;              /* its state is that of one before it, which
                                 takes in, carries and merges it     */
    bool skips;               /* rows may be passed over             */
    size_t skipped;           /* ... where they are counted in a record */
    size_t at;                /* where its state is in a record      */
};

/* An aggregate's argument. */
struct aggregate_argument {
    int type;       /* TYPE_...; TYPE_NONE: there is none, rows are counted */
    unsigned scale; /* digits behind the point; 0: it is no DECIMAL         */
    bool nullable;  /* a value may be NULL                                  */
};
/* An aggregate of that argument; what it keeps begins at `at` of a record, a
 * multiple of 8. */
struct aggregate aggregate_make(const struct step_aggregate *step,
                                struct aggregate_argument argument, size_t at);
/* Whether values that are equal count once: there is a DISTINCT to which that
 * makes a difference. */
bool aggregate_is_distinct(const struct aggregate *aggregate);
/* Whether two of the same rows take in the same sum, of which each makes something
 * else: a state of one serves both. */
bool aggregate_adds_same(const struct aggregate *a, const struct aggregate *b);
/* Has it use the state of one that adds the same. */
void aggregate_share(struct aggregate *aggregate, const struct aggregate *with);
/* Bytes of what it keeps, a multiple of 8; 0: its state is another one's. */
size_t aggregate_bytes(const struct aggregate *aggregate);
/* TYPE_... of what comes of it. */
int aggregate_result_type(const struct aggregate *aggregate);

/* Rows to take in. */
struct aggregate_rows {
    const struct vdbq_vector *argument; /* NULL: none                     */
    const struct vdbq_vector *filter;   /* I32, must be true; NULL: none  */
    uint64_t start;  /* the first row's place in these                   */
    unsigned count;  /* AGGREGATE_BLOCK at most                          */
    uint64_t number; /* of the first row among all, for FIRST            */
    const uint32_t *offsets; /* of each row from that number; NULL: they follow
                                each other                               */
};
/* The number of a row among all. */
static inline uint64_t aggregate_number(const struct aggregate_rows *rows,
                                        unsigned row)
{
    return rows->number + (rows->offsets != NULL ? rows->offsets[row] : row);
}
/* Rows that count, picked out: of use to all aggregates of a block that have
 * the same argument and filter. */
struct aggregate_room {
    bool made; /* to be set to false in front of each block */
    /* what was picked for; the next aggregate may share it */
    const struct vdbq_vector *argument, *filter;
    unsigned count;                   /* rows that were kept */
    uint16_t ends[AGGREGATE_FEW];     /* of sorted rows: behind each group's */
    uint8_t kept[AGGREGATE_BLOCK];    /* of each row: 1, or 0 */
    uint64_t values[AGGREGATE_BLOCK]; /* arguments of the rows that were kept */
};
/* Takes rows into the records of each, which aggregate_carry() must give room
 * after SUM_DIGITS_MAX rows (cl/sum.h) at most; or all into one. */
void aggregate_add(const struct aggregate *aggregate,
                   const struct aggregate_rows *rows,
                   struct aggregate_room *room, uint8_t *const *records);
void aggregate_add_one(const struct aggregate *aggregate,
                       const struct aggregate_rows *rows,
                       struct aggregate_room *room, uint8_t *record);

/* A block's rows, sorted by their groups, which are few; the rows of a group
 * in their order. */
struct aggregate_sorted {
    unsigned groups;                 /* AGGREGATE_FEW at most            */
    uint8_t *records[AGGREGATE_FEW]; /* of each group                    */
    uint16_t ends[AGGREGATE_FEW];    /* in `rows`, behind its rows       */
    uint16_t rows[AGGREGATE_BLOCK];  /* their numbers in the block       */
};
/* Sorts a block's rows, one at least, by the numbers of their groups, from
 * `*least` on; false: these lie too far apart. The records are the caller's to
 * set. */
bool aggregate_sort(const uint32_t *numbers, unsigned count, uint32_t *least,
                    struct aggregate_sorted *sorted);
/* Takes them in: those of a group at a time, as all into one. */
void aggregate_add_sorted(const struct aggregate *aggregate,
                          const struct aggregate_rows *rows,
                          const struct aggregate_sorted *sorted,
                          struct aggregate_room *room);

void aggregate_carry(const struct aggregate *aggregate, uint8_t *record);
void aggregate_merge(const struct aggregate *aggregate, uint8_t *into,
                     const uint8_t *from);

/* For DISTINCT, whose owner picks the rows that are taken in. Copies the
 * values that count, and what `tags` says of their rows (NULL: nothing), one
 * behind the other; returns how many. */
unsigned aggregate_pick(const struct aggregate *aggregate,
                        const struct aggregate_rows *rows, uint64_t *values,
                        const uint32_t *tags, uint32_t *tags_picked);
/* Counts so many rows as passed over; it skips. */
void aggregate_skip(const struct aggregate *aggregate, uint8_t *record,
                    uint64_t rows);

/* Writes what comes of a record that saw `rows` rows to row `row` of a column
 * of values. Fails with RANGE. */
enum vdbq_status aggregate_result(const struct aggregate *aggregate,
                                  const uint8_t *record, uint64_t rows,
                                  void *values, uint8_t *nulls, uint64_t row,
                                  struct error *error);
/* Fails with RANGE: a sum of integers does not fit 64 bits. */
enum vdbq_status aggregate_overflow(const struct step_aggregate *step,
                                    struct error *error);

#endif
