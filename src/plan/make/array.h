/* SPDX-License-Identifier: MIT */
/*
 * Parameters that have an array: it stands for them in the list of an IN.
 */
#ifndef VDBQ_PLAN_MAKE_ARRAY_H
#define VDBQ_PLAN_MAKE_ARRAY_H

#include "parser/ast.h"

struct binder;

/* The parameter's value, if it is one that has an array; else NULL. */
const struct parameter *array_given(const struct binder *binder,
                                    const struct ast_expression *parameter);

/* The same of the only item of an IN with a list. */
const struct parameter *array_alone(const struct binder *binder,
                                    const struct ast_expression *in);

/* An IN with a list, in which each parameter that has an array is its values as
 * literals; itself where there is none. The plan is then of these values. NULL:
 * no memory, or too many of them. */
const struct ast_expression *array_list(struct binder *binder,
                                        const struct ast_expression *in);

#endif
