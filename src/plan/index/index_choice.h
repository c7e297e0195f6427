/* SPDX-License-Identifier: MIT */
/*
 * What may be found by an index, and all that says where values of a table's
 * columns are.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_CHOICE_H
#define VDBQ_PLAN_INDEX_INDEX_CHOICE_H

#include "base/vector.h"
#include "plan/index/index_bind.h"

struct binder;

/* An index, or a rule that says that columns are unique. */
struct index_candidate {
    const char *name; /* of an index; NULL: it has none */
    bool is_key;      /* it is the primary key          */
    const unsigned
        *columns;   /* of the table, or (struct index_key) keys       */
    unsigned count; /* ... so many                                      */
    const struct index
        *keyed;          /* that has keys; NULL: it is of columns        */
    struct vector where; /* struct expression *: what it has rows by, of
                                  parts that AND joins; empty: all rows       */
};

/* An expression that is a key of an index, as a column behind those of the table
 * and the row's id: the first one that is the same. */
struct index_key {
    const struct expression *expression;
    const struct column *column; /* what it is                             */
    bool whole; /* an index of all rows has it: it fails for none of them   */
};

/* All that a table has, in the binder's memory. */
struct index_candidates {
    const struct node *table;
    struct vector items; /* struct index_candidate */
    struct vector keys;  /* struct index_key       */
};

/* Adds the parts of an AND to a vector of struct expression *. False: no memory. */
bool index_split(struct expression *e, struct vector *parts);
/* False: no memory. An index whose text is not what it should be is left out. */
bool index_candidates(struct binder *binder, const struct node *table,
                      struct index_candidates *candidates);
/* The number of a column, or of a key, that an expression is, maybe in a type that
 * holds all of its values; -1: it is none. The id of a row is its key. */
int index_column(const struct index_candidates *candidates,
                 const struct expression *e);
/* What such a number is. */
const struct column *index_column_of(const struct index_candidates *candidates,
                                     unsigned number);
/* The key that a number is; NULL: it is a column. */
const struct index_key *index_key_of(const struct index_candidates *candidates,
                                     unsigned number);
/* What is thought of its values. */
struct column_estimate index_estimate(const struct index_candidates *candidates,
                                      unsigned number);
/* Whether runs of a candidate have of one of its columns a digest, so that rows
 * are found that are to be tested. */
bool index_is_inexact(const struct index_candidates *candidates,
                      const struct index_candidate *candidate, unsigned column);

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
/* ... and how many it pays to find. */
uint64_t index_rows_most(const struct node *table, double row_cost);
uint64_t index_rows_most_alone(const struct node *table);
/* Whether a plan may hope that what can fail, and is computed for a seek, does not;
 * and whether it may hope that few rows are found. */
bool index_may_hope(const struct binder *binder);
bool index_may_hope_few(const struct binder *binder);
/* Whether a SELECT computes nothing that can fail. */
bool index_is_safe(const struct node *select);

/* The node that finds rows of a table, about so many; what is asked of the keys
 * is not said yet. NULL: no memory. */
struct node *index_seek(struct binder *binder, const struct node *table,
                        const struct index_candidate *candidate, double rows);

#endif
