/* SPDX-License-Identifier: MIT */
/*
 * What an index of expressions or of some rows is of, over the rows of a node:
 * the texts that the catalogue has, bound like those of a query.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_BIND_H
#define VDBQ_PLAN_INDEX_INDEX_BIND_H

#include "plan/tree/node.h"

struct binder;

struct index_bound {
    struct expression **keys; /* one a key of the index           */
    struct expression *where; /* NULL: it is of all rows          */
};

/* Rows that have columns of a table: those in `numbers`, in their order, as the
 * node's from number `first` on. */
struct index_rows {
    struct node *node;
    unsigned first, count;
    const unsigned *numbers; /* NULL: the first ones, in the table's order */
    /* struct result: what columns of the only row are, in place of a node's;
     * NULL: there is a node */
    const struct vector *values;
};

/* Binds an index of keys. False: a failure, CORRUPT where the texts are not what
 * the catalogue says of them; the binder has it. */
bool index_bind(struct binder *binder, const struct table *table,
                const struct index *index, const struct index_rows *rows,
                struct index_bound *bound);

/* Makes the columns of a table that can be named those of such rows. */
enum vdbq_status index_scope(struct binder *binder, const struct table *table,
                             const struct index_rows *rows);

#endif
