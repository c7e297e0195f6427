/* SPDX-License-Identifier: MIT */
/*
 * string_agg(): the texts of a group, joined in the order that stands in the
 * call; rows that are equal under it, or all without one, in the table's. It is
 * a window function, STRING_AGG, of which all rows of a partition have the
 * text. With DISTINCT a row counts that is the first of its kind:
 *
 *   row_number() OVER (PARTITION BY keys, x ORDER BY the call's) = 1
 */
#ifndef VDBQ_PLAN_OPERATOR_JOINED_TEXTS_H
#define VDBQ_PLAN_OPERATOR_JOINED_TEXTS_H

#include "plan/tree/expression.h"

struct binder;

struct joined_texts {
    struct expression *value;     /* a text; NULLs do not count             */
    struct expression *key;       /* by which it is distinct; NULL: it need
                                     not be                                 */
    struct expression *separator; /* a text                                 */
    struct expression *filter;    /* of rows that count; NULL: all do       */
    struct vector order;          /* of struct order_term: in the call      */
    struct vector partition;      /* of struct expression *: OVER ...       */
    bool of_group; /* ... of a group, whose keys come to the partition later:
                      joined_texts_of_group()                               */
    struct position at;
};

/* The window function. NULL: a failure. */
struct expression *joined_texts(struct binder *binder,
                                const struct joined_texts *joined);
/* A window function with the keys of its group, where it is one that waits for
 * these; else NULL. `*failed`: there is a failure. */
struct expression *joined_texts_of_group(struct binder *binder,
                                         struct expression *e,
                                         const struct vector *keys,
                                         bool *failed);

#endif
