/* SPDX-License-Identifier: MIT */
/*
 * Late materialisation: the pass, and what its files share.
 */
#ifndef VDBQ_PLAN_REWRITE_LATE_H
#define VDBQ_PLAN_REWRITE_LATE_H

#include "plan/tree/node.h"

struct binder;

/* A column of a node that is fetched, and what it is in the table. */
struct late_column {
    unsigned column; /* of the node           */
    int from;        /* of the table          */
};

/* A table from which columns of a node are fetched: none of these has its
 * value there, and nobody may read it, but that one has the row's id. */
struct late_source {
    const struct node *table;
    unsigned row;          /* column of the node that has the id */
    struct vector columns; /* of struct late_column: that one, too */
};

/* A copy of a node, of which those of the `wanted` columns that come unchanged
 * from a table, and are read by nothing on their way, are fetched later; adds
 * to `sources` (of struct late_source) where from. Of columns that are not
 * wanted nothing changes. The node itself, where there is nothing to fetch. */
struct node *late_columns(struct binder *binder, struct node *node,
                          const bool *wanted, struct vector *sources);

/* The same of a NODE_TABLE, and of a NODE_SELECT over one: late_table.c. */
struct node *late_table(struct binder *binder, struct node *node,
                        const bool *wanted, struct vector *sources);
struct node *late_over_table(struct binder *binder, struct node *node,
                             const bool *wanted, struct vector *sources);

/* The same of a NODE_GROUP: keys that others determine. late_group.c. */
struct node *late_group(struct binder *binder, struct node *node,
                        const bool *wanted, struct vector *sources);

/* What all of it is done for: under a LIMIT the columns that it has for its
 * result alone are fetched behind it. A pass over the whole tree. */
struct node *fetch_late(struct binder *binder, struct node *root);

/* A copy of a node with columns of its own; what is below is the same. */
struct node *late_copy(struct binder *binder, const struct node *node);
/* The source that fetches a column of its node; NULL: none does. */
const struct late_source *late_source_of(const struct vector *sources,
                                         unsigned column);

#endif
