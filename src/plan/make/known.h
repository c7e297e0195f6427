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

/* expression_visit: whether nothing in it is of a row, or a text, and a program
 * computes it. */
bool expression_is_of_run(void *context, struct expression **operand);
/* What is computed of constants and parameters of the statement, as the constant that it
 * is, so that the plan holds for their values; what fails, and other expressions, as they
 * are. NULL: a failure. */
struct expression *expression_computed(struct binder *binder,
                                       struct expression *e);

#endif
