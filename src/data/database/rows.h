/* SPDX-License-Identifier: MIT */
/*
 * Rows on their way into a tablet: kept column by column in memory.
 */
#ifndef VDBQ_DATA_ROWS_H
#define VDBQ_DATA_ROWS_H

#include "data/database/database.h"

struct rows_column {
    enum vdbq_type type; /* of SQL */
    void *values;        /* those that are NULL may hold anything; texts that
                       are have no bytes (NULL), the others are in `texts` */
    uint8_t *nulls;      /* one byte a row; NULL until there is a NULL */
    struct arena texts;  /* the bytes of texts     */
    uint64_t text_bytes; /* how many there are     */
};

struct rows {
    unsigned column_count;       /* of `columns` */
    uint32_t count;              /* rows that are there */
    uint32_t capacity;           /* rows there is room for */
    struct rows_column *columns; /* owned */
};

/* False: no memory. */
bool rows_init(struct rows *rows, const struct table *table);
void rows_finish(struct rows *rows); /* accepts a zeroed one */

/* Forgets the rows but keeps their room. */
void rows_clear(struct rows *rows);

/* How many bytes they take; and of these their texts. */
uint64_t rows_bytes(const struct rows *rows);
uint64_t rows_text_bytes(const struct rows *rows);

/* Makes room for `count` rows in all. False: no memory. */
bool rows_reserve(struct rows *rows, uint32_t count);
/* Adds rows first .. first + count - 1 of the vectors; NaN becomes NULL.
 * False: no memory. */
bool rows_add(struct rows *rows, const struct vdbq_vector *vectors,
              uint64_t first, uint32_t count);
/* Takes the last rows out again. */
void rows_take_back(struct rows *rows, uint32_t count);
/* Adds all rows of a checked tablet. False: no memory. */
bool rows_add_tablet(struct rows *rows, const void *block);

/* Reads a tablet of the table and adds its rows. Fails with IO, CORRUPT,
 * NO_MEMORY. */
enum vdbq_status rows_add_ref(struct rows *rows, struct database *database,
                              const struct table *table,
                              const struct tablet_ref *tablet,
                              struct error *error);
/* Likewise, into rows that it makes; they are to be finished whatever it
 * returns. */
enum vdbq_status rows_load(struct rows *rows, struct database *database,
                           const struct table *table,
                           const struct tablet_ref *tablet,
                           struct error *error);

/* The rows as vectors, one item a column. */
void rows_vectors(const struct rows *rows, struct vdbq_vector *vectors);

/* A vector without its first values. */
struct vdbq_vector vector_behind(const struct vdbq_vector *vector,
                                 uint64_t first);

#endif
