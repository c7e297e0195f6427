/* SPDX-License-Identifier: MIT */
/*
 * Constant folding.
 */
#ifndef VDBQ_PLAN_MAKE_FOLD_H
#define VDBQ_PLAN_MAKE_FOLD_H

#include "plan/tree/expression.h"

struct binder;

/* fold.c: replaces an expression of constants by its value. */
enum vdbq_status fold(struct binder *binder, struct expression *expression);

/* What a comparison of two texts that are known gives, by their bytes. NULL: a failure. */
struct expression *fold_texts(struct binder *binder, enum ast_operator operator,
                              const struct expression * left,
                              const struct expression *right,
                              struct position at);

void fold_finish(struct binder *binder);

#endif
