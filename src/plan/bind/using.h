/* SPDX-License-Identifier: MIT */
/*
 * USING and NATURAL: columns of both sides of a join that are one from there on.
 */
#ifndef VDBQ_PLAN_BIND_USING_H
#define VDBQ_PLAN_BIND_USING_H

#include "base/vector.h"
#include "parser/ast.h"

struct binder;

/* What a join's two sides are: columns from `left` on, from `middle` on. */
struct sides {
    unsigned left, middle, end;
    enum ast_join join;
};

/* One column of USING: that both are equal comes to `parts`, of struct expression *. */
enum vdbq_status using_column(struct binder *binder, const struct sides *sides,
                              const char *name, struct position at,
                              struct vector *parts);
/* All columns that both sides have. */
enum vdbq_status using_natural(struct binder *binder, const struct sides *sides,
                               struct position at, struct vector *parts);

#endif
