/* SPDX-License-Identifier: MIT */
/*
 * Which passes a query is rewritten with: all of them, unless a test leaves
 * some out (VDBQ_PASSES).
 */
#ifndef VDBQ_PLAN_TREE_PASSES_H
#define VDBQ_PLAN_TREE_PASSES_H

#include <stdbool.h>

struct binder;

/* A pass of rewrite.c's list, by its name. */
bool pass_is_on(const struct binder *binder, const char *name);

#endif
