/* SPDX-License-Identifier: MIT */
/*
 * Calls of texts that a function of the host makes row by row, such as
 * upper(a || b), and what they are compared with. They are computed at once with
 * the function: then nobody needs its texts, and no words are made of them.
 */
#ifndef VDBQ_PLAN_SIMPLIFY_FUSED_CALLS_H
#define VDBQ_PLAN_SIMPLIFY_FUSED_CALLS_H

#include "plan/tree/expression.h"

struct binder;

/* What a list of expressions asks of such texts. */
struct fused_calls {
    struct binder *binder;
    struct vector uses; /* of struct expression *: each different one    */
};

/* Finds the calls of all expressions, and makes calls of comparisons with
 * constants. */
enum vdbq_status fused_calls_find(struct fused_calls *calls,
                                  struct expression **const *expressions,
                                  size_t count);

/* The function whose texts a call is of, where it is computed with that; NULL: it
 * is none, or looked up. */
struct expression *fused_call_function(const struct fused_calls *calls,
                                       const struct expression *e);

/* Adds the calls, the innermost first, to a vector of const char *. False: no
 * memory. */
bool fused_call_add(const struct expression *e, struct vector *calls);

#endif
