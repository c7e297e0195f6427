/* SPDX-License-Identifier: MIT */
/*
 * Picked rows: columns of single rows of a table, read from its tablets by the
 * rows' numbers there. Words are made of the texts that were read alone, so that
 * no dictionary of the table is needed.
 */
#ifndef VDBQ_EXEC_PICKED_H
#define VDBQ_EXEC_PICKED_H

#include "base/threads/parallel.h"
#include "data/pool/pool.h"
#include "exec/rows/row_set.h"
#include "program/steps/texts_use.h"

struct picked {
    const struct table *table; /* that they are of */
    const struct vector
        *numbers;             /* of int: the table's columns; behind the last
                                     one is the number of the row          */
    struct row_set rows;      /* with these columns                    */
    struct vdbq_text **texts; /* of each column that is a text, one a row  */
    uint64_t texts_room;      /* rows that there is room for               */
    struct arena arenas[PARALLEL_THREADS_MAX]; /* of their bytes: one for each
                                                  thread that reads         */
};

/* A row of a tablet, and the one of `rows` that it becomes. */
struct picked_row {
    uint32_t row, to;
};

/* No rows yet, with columns described so. picked_finish() is due whatever it
 * returns. */
enum vdbq_status picked_init(struct picked *picked, const struct table *table,
                             const struct vector *numbers,
                             const struct step_column *columns,
                             struct error *error);
void picked_finish(struct picked *picked); /* accepts a zeroed one */
/* No rows again, with room for as many as there were. */
void picked_empty(struct picked *picked);

/* What the bytes of texts take, until picked_end(). */
uint64_t picked_text_bytes(const struct picked *picked);

/* Makes room for `rows` rows more; who picks raises rows.rows. */
enum vdbq_status picked_room(struct picked *picked, uint64_t rows,
                             struct error *error);
/* Where rows are picked: a tablet in the host's memory; or the base of its edit,
 * in which the rows are places, with the edit over it. */
struct picked_from {
    const struct tablet_ref *ref;
    const struct tablet *tablet;
    const struct edit *over; /* NULL: the tablet is as it should be */
};
/* Reads all columns of rows, in their order. */
enum vdbq_status picked_read(struct picked *picked,
                             const struct picked_from *from,
                             const struct picked_row *rows, uint64_t count,
                             struct error *error);
/* The same by several threads at once, each with a number of its own below
 * PARALLEL_THREADS_MAX. picked_flags() comes first, on one thread. */
enum vdbq_status picked_flags(struct picked *picked,
                              const struct picked_from *from,
                              struct error *error);
enum vdbq_status picked_read_part(struct picked *picked, unsigned thread,
                                  const struct picked_from *from,
                                  const struct picked_row *rows, uint64_t count,
                                  struct error *error);
/* All rows are there, `rows` of them: their texts become words, which so many
 * threads sort at most. `uses`: what is asked of the numbers of each column's, an
 * enum texts_use. */
enum vdbq_status picked_end(struct picked *picked, uint64_t rows,
                            const uint8_t *uses, unsigned threads,
                            struct error *error);

#endif
