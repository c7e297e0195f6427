/* SPDX-License-Identifier: MIT */
/*
 * INSERT ... ON CONFLICT.
 */
#ifndef VDBQ_API_UPSERT_H
#define VDBQ_API_UPSERT_H

#include "api/query.h"
#include "data/transaction/row_conflicts.h"

/* What became of a key's row so far. */
struct upsert_state {
    uint32_t
        output;   /* of `outputs`, if `computed`; else it is the row that came
                        first */
    uint32_t met; /* of `outputs`: has the id of the row in the table */
    bool computed;
    bool changed; /* the table's row is no longer as it was */
};

struct upsert {
    vdbq_query *query;
    struct transaction *transaction;
    const struct plan_insert *plan;
    struct rows *source;   /* all rows that come, with what is returned of new
                            ones                                          */
    uint32_t first, count; /* those of them that are looked at             */
    struct vdbq_vector *coming;     /* these rows                          */
    struct row_conflict *conflicts; /* what each meets                     */
    struct upsert_state *states;    /* of each that is the first of its key */
    uint32_t *returned; /* of each: 1 + its row of `outputs`, 0: it is new or
                           nothing is returned                            */
    uint32_t *round;    /* the rows of a round                            */
    uint32_t round_count;
    struct rows outputs; /* of the rounds' queries                          */
    struct vdbq_vector *output; /* ... one vector a column                  */
    struct error *error;
};

/* upsert_rounds.c: fills `outputs`, and what is known of each row. */
enum vdbq_status upsert_rounds(struct upsert *upsert);
/* The values that a key's row has by now, as vectors, and its place in them. */
const struct vdbq_vector *upsert_values(const struct upsert *upsert,
                                        uint32_t first, uint32_t *row);
/* Gathers all rows of the query's plan. */
enum vdbq_status upsert_gather(vdbq_query *query, struct rows *rows);

/* DO NOTHING about the columns of a target: adds those of the rows that meet no
 * other row. */
enum vdbq_status upsert_free(vdbq_query *query, struct transaction *transaction,
                             uint64_t rows, const struct vdbq_vector *vectors);

/* Adds the steps of DO UPDATE, for the rows that a plan has in VALUES, to text. */
enum vdbq_status upsert_explain(vdbq_query *query, struct text *text);
/* DO UPDATE. */
enum vdbq_status upsert_update(vdbq_query *query,
                               struct transaction *transaction);

#endif
