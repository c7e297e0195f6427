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

/* from.c: fills the scope. What is joined, and `conditions` (what ON and WHERE
 * say), become a NODE_PRODUCT. */
struct from {
    struct vector leaves;     /* of struct node *: what is joined         */
    struct vector conditions; /* of struct expression *, over all columns */
    unsigned first;           /* the scope's number of the first of these */
};

enum vdbq_status bind_from(struct binder *binder, const struct ast_from *tree,
                           struct from *from);

#endif
