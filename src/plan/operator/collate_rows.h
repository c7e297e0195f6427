/* SPDX-License-Identifier: MIT */
/*
 * Rows that are equal, or in order, by the collations of columns (collate.h).
 * All functions return NULL where they fail.
 */
#ifndef VDBQ_PLAN_OPERATOR_COLLATE_ROWS_H
#define VDBQ_PLAN_OPERATOR_COLLATE_ROWS_H

#include "base/vector.h"
#include "plan/tree/node.h"

struct binder;

/* A key of an order. */
struct collated_key {
    struct step_key key;
    enum collation collation; /* BINARY of what is no text */
};

/* The rows in the order of keys, a vector of struct collated_key whose columns
 * change, cut to their first `columns` columns. */
struct node *collate_sort(struct binder *binder, struct node *below,
                          struct vector *keys, unsigned columns);

/* Of the rows with equal values in `count` columns the first one in that order, as
 * collate_sort() has it; `keys` stays. */
struct node *collate_firsts(struct binder *binder, struct node *below,
                            const int *columns, unsigned count,
                            const struct vector *keys);

/* Of rows that are equal the first one. */
struct node *collate_distinct(struct binder *binder, struct node *below);

/* Of different rows of the left side (their first one) those that are on the
 * right one, too (JOIN_SEMI), or are not (JOIN_ANTI). Both have the same types
 * and collations. */
struct node *collate_filter(struct binder *binder, enum join_kind kind,
                            struct node *const rows[2]);

/* Likewise, but each row of the right side answers for one of the left: of n rows
 * that are equal, and m on the right side, the first m of n are on it, too, and
 * the others are not. */
struct node *collate_filter_all(struct binder *binder, enum join_kind kind,
                                struct node *const rows[2]);

#endif
