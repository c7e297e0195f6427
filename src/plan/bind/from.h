/* SPDX-License-Identifier: MIT */
/*
 * FROM.
 */
#ifndef VDBQ_PLAN_BIND_FROM_H
#define VDBQ_PLAN_BIND_FROM_H

#include "base/vector.h"
#include "parser/ast.h"
#include "base/error.h"

struct binder;
struct node;
struct table;
struct view;

/* from.c: fills the scope. What is joined, and `conditions` (what ON and WHERE
 * say), become a NODE_PRODUCT. */
struct from {
    struct vector leaves;     /* of struct node *: what is joined         */
    struct vector conditions; /* of struct expression *, over all columns */
    unsigned first;           /* the scope's number of the first of these */
};

/* The columns of a view, of which nobody asks for rows; NULL: a failure. */
struct node *from_view_columns(struct binder *binder, const struct view *view);

enum vdbq_status bind_from(struct binder *binder, const struct ast_from *tree,
                           struct from *from);
/* The same behind a table that comes first, under the name `called`, whose column
 * `*number` is that of its rows' numbers; `tree` may be NULL. */
enum vdbq_status bind_from_behind(struct binder *binder,
                                  const struct table *table, const char *called,
                                  const struct ast_from *tree,
                                  struct from *from, unsigned *number);

#endif
