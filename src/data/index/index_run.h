/* SPDX-License-Identifier: MIT */
/*
 * Runs of the keys of an index (index_values.h), and the rows that they are made
 * of.
 */
#ifndef VDBQ_DATA_INDEX_RUN_H
#define VDBQ_DATA_INDEX_RUN_H

#include "data/index/index_values.h"
#include "data/index/run.h"

struct vector;

/* Makes the run by the first `count` keys of a tablet of `tablet_rows` rows.
 * `places`: the numbers in the tablet of the rows that were computed, ascending;
 * NULL: these are all of its rows. NULL: no memory, or it is to stop. */
struct run *index_values_run(const struct index_of *of,
                             const struct index_values *values, unsigned count,
                             const uint32_t *places, uint32_t tablet_rows);

/* The same of a tablet without an edit, or of the base of one, of which `block`
 * has the columns that the index reads; NULL: it is read. Fails as
 * index_values_compute(), and with IO. */
enum vdbq_status index_run(const struct index_of *of,
                           const struct tablet_ref *base, const void *block,
                           unsigned count, struct run **run,
                           struct error *error);
/* ... and of the rows of a base to which an edit gives other keys, as edited_run()
 * has them. */
enum vdbq_status index_run_edited(const struct index_of *of,
                                  const struct tablet_ref *base,
                                  const struct edit *edit, const void *block,
                                  unsigned count, struct run **run,
                                  struct error *error);
/* Whether that reads values of the base. */
bool index_reads_base(const struct index *index, const struct edit *edit);

/* Keys of so many rows, as a tablet of plain columns; without bytes: no memory, or the
 * thread is to stop. */
struct block keys_block(struct column *columns, const struct vdbq_vector *keys,
                        unsigned count, uint32_t rows);

/* Values of some columns of a table's rows, at places of a tablet's base with its
 * edit (NULL: there is none) over it. */
struct values_at {
    const struct table *table;
    const unsigned *columns;
    unsigned column_count;
    const struct edit *edit;
    const void *block; /* the base, with these columns; NULL: all are new */
    const struct vector *places; /* of uint32_t, ascending                */
};
/* Fills one vector a column of the table, of which others stay as they are; texts
 * live with block and edit. False: no memory. */
bool values_at(const struct values_at *of, struct arena *arena,
               struct vdbq_vector *vectors);

#endif
