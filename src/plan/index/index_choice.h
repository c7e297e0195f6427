/* SPDX-License-Identifier: MIT */
/*
 * What may be found by an index, and all that says where values of a table's
 * columns are.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_CHOICE_H
#define VDBQ_PLAN_INDEX_INDEX_CHOICE_H

#include "base/vector.h"
#include "plan/tree/node.h"

struct binder;

/* An index, or a rule that says that columns are unique. */
struct index_candidate {
    const char *name; /* of an index; NULL: it has none */
    bool is_key;      /* it is the primary key          */
    const unsigned *columns;
    unsigned count;
};

/* All that a table has: a vector of them, in the binder's memory. False: no
 * memory. */
bool index_candidates(struct binder *binder, const struct node *table,
                      struct vector *candidates);

/* Whether rows of a node are asked for by values at all: it is a table that is
 * not tiny. */
bool index_is_sought(const struct node *table);
/* What a row that is found costs, with the columns of a node that are fetched, in
 * rows of a scan. */
double index_row_cost(const struct node *reader);
/* Whether to find so many rows of a table costs less than a scan; alone: whatever
 * is fetched. */
bool index_pays(const struct node *table, double rows, double row_cost);
bool index_pays_alone(const struct node *table, double rows);
/* Whether a SELECT computes nothing that can fail. */
bool index_is_safe(const struct node *select);

/* The node that finds rows of a table, about so many; what is asked of the keys
 * is not said yet. NULL: no memory. */
struct node *index_seek(struct binder *binder, const struct node *table,
                        const struct index_candidate *candidate, double rows);

#endif
