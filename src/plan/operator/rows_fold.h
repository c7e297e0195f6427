/* SPDX-License-Identifier: MIT */
/*
 * Values that are made of all rows of a group, in the order that stands in the
 * call; rows that are equal under it, or all without one, in the table's: the
 * texts of string_agg(), the product of product(), the last row of last(). Each is
 * a window function (program/steps/aggregates.h), whose value all rows of a
 * partition have. With DISTINCT a row counts that is the first of its kind:
 *
 *   row_number() OVER (PARTITION BY keys, x ORDER BY the call's) = 1
 */
#ifndef VDBQ_PLAN_OPERATOR_ROWS_FOLD_H
#define VDBQ_PLAN_OPERATOR_ROWS_FOLD_H

#include "plan/tree/expression.h"

struct binder;

struct rows_fold {
    enum window_function function;
    int type;                     /* of what comes out                      */
    struct expression *value;     /* NULLs do not count                     */
    struct expression *key;       /* by which it is distinct; NULL: it need
                                     not be                                 */
    struct expression *separator; /* STRING_AGG: a text; else NULL          */
    struct expression *filter;    /* of rows that count; NULL: all do       */
    struct vector order;          /* of struct order_term: in the call      */
    struct vector partition;      /* of struct expression *: OVER ...       */
    bool of_group; /* ... of a group, whose keys come to the partition later:
                      rows_fold_of_group()                                       */
    struct position at;
};

/* The window function. NULL: a failure. */
struct expression *rows_fold_make(struct binder *binder,
                                  const struct rows_fold *fold);
/* The value, NULL or not, of the first or the last row that the filter leaves:
 * the function is FIRST or LAST. NULL: a failure. */
struct expression *rows_fold_row(struct binder *binder,
                                 const struct rows_fold *fold);
/* The value that most rows have, of several the one that comes first: of no
 * order; the key is what tells values apart. NULL: a failure. */
struct expression *rows_fold_mode(struct binder *binder,
                                  const struct rows_fold *fold);

/* A window function with the keys of its group, where it is one that waits for
 * these; else NULL. `*failed`: there is a failure. */
struct expression *rows_fold_of_group(struct binder *binder,
                                      struct expression *e,
                                      const struct vector *keys, bool *failed);

#endif
