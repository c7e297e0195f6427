/* SPDX-License-Identifier: MIT */
/*
 * Keys of indexes that are of expressions or of some rows (struct index_keys).
 *
 * Of the rows of a tablet that such an index has, the keys are the rows of a
 * tablet of its own, the tablet of keys. It is made where it is needed, and not
 * kept; its runs are (data/index/run.h), under the name index_identity(). A run's
 * rows are numbers of the tablet, as those of any other run; there are fewer of
 * them where the index is of some rows.
 *
 * A text is no number of a dictionary here, but a digest: its first bytes, and
 * behind them some bits of its hash. Digests are in the order of those bytes,
 * and different texts may have one: what is found by a digest is to be tested.
 */
#ifndef VDBQ_DATA_INDEX_VALUES_H
#define VDBQ_DATA_INDEX_VALUES_H

#include "data/database/database.h"
#include "data/database/rows.h"
#include "data/index/run.h"

struct vector;

/* What keys are made with. */
struct index_of {
    struct database *database;
    const struct catalogue *catalogue; /* that has table and index */
    const struct table *table;
    const struct index *index; /* with `keys` */
};

/* Keys of those of some rows that the index has. */
struct index_values {
    struct rows rows;            /* the number of each, and its keys      */
    struct vdbq_vector *vectors; /* of these: numbers, ascending, as BIGINT,
                                    then one vector a key                 */
};

/* Computes the keys of rows, of which the columns that the index reads are there;
 * index_values_finish() is due whatever it returns. Fails as an expression does
 * (RANGE, TYPE), with CORRUPT, NO_MEMORY, CANCELLED. */
enum vdbq_status index_values_compute(const struct index_of *of, uint64_t rows,
                                      const struct vdbq_vector *vectors,
                                      struct index_values *values,
                                      struct error *error);
void index_values_finish(struct index_values *values); /* accepts zeroed */

/* Makes vectors, one a key, of all `rows` rows: of those that the index has not,
 * each key is NULL. They live in the arena, their texts with `values`. False: no
 * memory. */
bool index_values_spread(const struct index_values *values, uint64_t rows,
                         struct arena *arena, struct vdbq_vector *vectors);

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
/* ... and of the rows of a tablet to whose keys its edit may give other values:
 * rows are places of the base. */
enum vdbq_status index_run_edited(const struct index_of *of,
                                  const struct tablet_ref *tablet,
                                  const void *block, unsigned count,
                                  struct run **run, struct error *error);
/* Whether that reads values of the base. */
bool index_reads_base(const struct index *index, const struct edit *edit);
/* Whether the edit gives a column that the index reads a new value at a place. */
bool index_is_edited(const struct index *index, const struct edit *edit,
                     uint32_t place);

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

/* A text's digest, and the least and the greatest one that a text can have that
 * begins with this one. */
int64_t index_digest(enum collation collation, struct vdbq_text text);
int64_t index_digest_least(struct vdbq_text start);
int64_t index_digest_most(struct vdbq_text start);

/* How a key is ordered in runs: like a column of that type. */
enum vdbq_type index_key_type(const struct column *key);

#endif
