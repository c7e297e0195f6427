/* SPDX-License-Identifier: MIT */
/*
 * Lists of rows that a seek looks for: values of several keys each, in the order
 * of the first one, then of the next one, and so on.
 */
#ifndef VDBQ_EXEC_SEEK_ROWS_H
#define VDBQ_EXEC_SEEK_ROWS_H

#include "data/index/run.h"
#include "exec/stream/stream.h"

struct seek_terms;

struct seek_rows {
    unsigned columns;         /* of a row, at least 2                      */
    uint32_t count;           /* of rows, none twice                       */
    struct run_value *values; /* `columns` of each row; of texts none yet  */
    struct vdbq_text *texts[RUN_COLUMNS_MAX]; /* of a column, in order, none
                                                 twice; NULL: it is of numbers */
    uint32_t text_count[RUN_COLUMNS_MAX];
    uint32_t *numbers[RUN_COLUMNS_MAX]; /* ... of these, one a row        */
};

/* Reads the list of a seek's terms; rows in which one value is NULL, or none of its
 * column's, are left out. seek_rows_finish() is due whatever it returns. Fails with
 * NO_MEMORY, CANCELLED. */
enum vdbq_status seek_rows_init(struct seek_rows *rows,
                                const struct seek_terms *terms,
                                unsigned threads, struct error *error);
void seek_rows_finish(struct seek_rows *rows); /* accepts a zeroed one */

/* The rows that one tablet can have, `*count` of them, in order: `rows->values`, or
 * if some are texts a list of the caller's, `*made`, which may be NULL. `block` has
 * the columns that are texts; `run`: its run, or NULL. False: no memory, or the
 * thread is to stop. */
bool seek_rows_in(const struct seek_rows *rows, const struct seek_terms *terms,
                  const void *block, const struct run *run,
                  struct run_value **made, uint32_t *count);

#endif
