/* SPDX-License-Identifier: MIT */
/*
 * Series of whole numbers in FROM.
 */
#ifndef VDBQ_PLAN_BIND_SERIES_H
#define VDBQ_PLAN_BIND_SERIES_H

#include "plan/tree/node.h"

struct binder;

enum { SERIES_ARGUMENTS_MAX = 3 };

/* generate_series and range of constants, as rows of one column; NULL: a failure. */
struct node *series_bind(struct binder *binder, const struct ast_from *tree,
                         struct expression *const *arguments, unsigned count);
/* That there is no such function in FROM, or none with these arguments. */
void series_refuse(struct binder *binder, const struct ast_from *tree);

#endif
