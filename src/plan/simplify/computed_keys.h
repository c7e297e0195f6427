/* SPDX-License-Identifier: MIT */
/*
 * Keys of a group that other keys determine.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_COMPUTED_KEYS_H
#define VDBQ_PLAN_SIMPLIFY_COMPUTED_KEYS_H

#include "plan/tree/node.h"

struct binder;

/* computed_keys.c: keys that are constants, or computed of other keys, are
 * computed of the groups instead. */
struct node *computed_keys(struct binder *binder, struct node *node);

#endif
