/* SPDX-License-Identifier: MIT */
/*
 * A row set: materialised rows, column by column, each column in one run. Row i
 * of a column is at values + i * width, and is NULL where nulls[i] is not 0.
 * What the value of a NULL is, nobody may count on.
 */
#ifndef VDBQ_EXEC_ROW_SET_H
#define VDBQ_EXEC_ROW_SET_H

#include "data/tablet/dictionary.h"
#include "exec/rows/batches.h"
#include "program/steps/steps.h"

/* Numbers of rows are u32; ROW_SET_NO_ROW is none. */
#define ROW_SET_NO_ROW   0xffffffffu
#define ROW_SET_ROWS_MAX 0xfffffffeu

struct row_set_column {
    enum vdbq_type type; /* of SQL                                     */
    unsigned width;      /* of a value in bytes: 4 or 8                */
    void *values;        /* the machine's                              */
    uint8_t *nulls;      /* NULL: no value is NULL                     */
    /* of VDBQ_TEXT, held; values are its numbers. NULL: there is no word */
    struct dictionary *dictionary;
};

struct row_set {
    uint64_t rows;                  /* that are there */
    uint64_t rows_room;             /* rows that there is memory for */
    unsigned column_count;          /* of `columns` */
    struct row_set_column *columns; /* owned, and all that they point to */
    unsigned threads;               /* that move rows at most which need more
                                       room; the last append's; 0: one     */
};

/* Bytes of a value of a type of SQL, as the machine has it. */
unsigned row_set_width(enum vdbq_type type);

/* Makes an empty row set. row_set_finish() is due whatever it returns, and
 * accepts a zeroed struct. */
enum vdbq_status row_set_init(struct row_set *row_set,
                              const struct step_column *columns, unsigned count,
                              struct error *error);
/* The same, with the words of another one's columns. */
enum vdbq_status row_set_init_like(struct row_set *row_set,
                                   const struct step_column *columns,
                                   unsigned count, const struct row_set *other,
                                   struct error *error);
void row_set_finish(struct row_set *row_set);

/* Frees the rows; columns and their words stay. */
void row_set_clear(struct row_set *row_set);

/* Makes room for `rows` rows more than there are. Values of rows that are
 * written there count from `row_set->rows += ...` on. Fails with LIMIT where
 * they would be more than ROW_SET_ROWS_MAX. */
enum vdbq_status row_set_room(struct row_set *row_set, uint64_t rows,
                              struct error *error);
/* Gives a column NULL flags, 0 so far, for as many rows as there is room. */
enum vdbq_status row_set_flags(struct row_set *row_set, unsigned column,
                               struct error *error);

/* Adds the first columns of a batch, as many as the row set has; so many
 * threads work on it at most. */
enum vdbq_status row_set_append(struct row_set *row_set,
                                const struct vdbq_batch *batch,
                                unsigned threads, struct error *error);

/* The same with the rows of all batches. */
enum vdbq_status row_set_append_all(struct row_set *row_set,
                                    const struct batches *batches,
                                    unsigned threads, struct error *error);

/* The same with rows [first, first + rows) of a batch, on one thread. */
enum vdbq_status row_set_append_part(struct row_set *row_set,
                                     const struct vdbq_batch *batch,
                                     uint64_t first, uint64_t rows,
                                     struct error *error);

/* Adds rows of `from`, by their numbers, to columns [first, first + columns
 * of from). There must be room; row_set->rows
 * is the caller's to raise, when all columns have their values. So many threads
 * work on it at most. */
enum vdbq_status row_set_pick(struct row_set *row_set, unsigned first,
                              const struct row_set *from, const uint32_t *rows,
                              uint64_t count, unsigned threads,
                              struct error *error);

/* The same in parts, by threads of the caller. */
struct row_set_picking {
    struct row_set *to;         /* the rows go here */
    unsigned first;             /* of its columns                       */
    const struct row_set *from; /* the rows come from here */
    const bool *reads;          /* of each column of `from`: it is wanted;
                                    NULL: all are                        */
    bool lacks;                 /* a number may be ROW_SET_NO_ROW       */
};
/* Makes the NULL flags that it takes. */
enum vdbq_status row_set_pick_flags(const struct row_set_picking *picking,
                                    struct error *error);
/* Writes rows [at, at + count) of `to`, for which there must be room. */
void row_set_pick_part(const struct row_set_picking *picking, uint64_t at,
                       const uint32_t *rows, uint64_t count);

/* Vectors of rows from `row` on, one a column, into `vectors`. */
void row_set_vectors(const struct row_set *row_set, uint64_t row,
                     struct vdbq_vector *vectors);

/* Views rows [first, first + rows) of a batch, which it does not own: its columns
 * hold no values themselves, before and after. */
void row_set_view(struct row_set *row_set, const struct vdbq_batch *batch,
                  uint64_t first, uint64_t rows);
/* Ends a row set that views rows. */
void row_set_view_finish(struct row_set *row_set);

/* Leaves of its rows those of a list, which ascends. */
void row_set_keep(struct row_set *row_set, const uint32_t *list,
                  uint32_t count);

/* Takes over the words that a column's values are numbers of. */
void row_set_dictionary(struct row_set *row_set, unsigned column,
                        struct dictionary *dictionary);

static inline bool row_set_is_null(const struct row_set_column *column,
                                   uint64_t row)
{
    return column->nulls != NULL && column->nulls[row] != 0;
}

/* A value that is not NULL, of a type that is an integer to the machine. */
static inline int64_t row_set_integer(const struct row_set_column *column,
                                      uint64_t row)
{
    return column->width == sizeof(int32_t)
               ? ((const int32_t *)column->values)[row]
               : ((const int64_t *)column->values)[row];
}

/* A value of FLOAT or DOUBLE. */
static inline double row_set_real(const struct row_set_column *column,
                                  uint64_t row)
{
    return column->type == VDBQ_FLOAT ? ((const float *)column->values)[row]
                                      : ((const double *)column->values)[row];
}

#endif
