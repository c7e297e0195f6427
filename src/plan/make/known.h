/* SPDX-License-Identifier: MIT */
/*
 * Parameters of the statement whose values are given with it.
 */
#ifndef VDBQ_PLAN_MAKE_KNOWN_H
#define VDBQ_PLAN_MAKE_KNOWN_H

#include "plan/tree/expression.h"

struct binder;

/* known.c: the value of a parameter as if it were written in its place. */
struct expression *expression_given(struct binder *binder, int number,
                                    struct position at);

/* A parameter of the statement as the constant that it stands for, so that the
 * plan holds for its value; other expressions as they are. */
struct expression *expression_known(struct binder *binder,
                                    struct expression *e);

#endif
