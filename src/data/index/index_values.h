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

/* A text's digest, and the least and the greatest one that a text can have that
 * begins with this one. */
int64_t index_digest(enum collation collation, struct vdbq_text text);
int64_t index_digest_least(struct vdbq_text start);
int64_t index_digest_most(struct vdbq_text start);
/* The bytes of a text that a digest has, and its bits behind them, which say nothing
 * of the order. */
enum { INDEX_HEAD_BYTES = 5, INDEX_HASH_BITS = 24 };
#define INDEX_HASH_MASK ((UINT64_C(1) << INDEX_HASH_BITS) - 1)

/* How a key is ordered in runs: like a column of that type. */
enum vdbq_type index_key_type(const struct column *key);

#endif
