/* SPDX-License-Identifier: MIT */
/*
 * Constant folding.
 */
#ifndef VDBQ_PLAN_MAKE_FOLD_H
#define VDBQ_PLAN_MAKE_FOLD_H

#include "base/error.h"

struct binder;
struct expression;

/* fold.c: replaces an expression of constants by its value. */
enum vdbq_status fold(struct binder *binder, struct expression *expression);

void fold_finish(struct binder *binder);

#endif
