/* SPDX-License-Identifier: MIT */
/*
 * Calls of texts that a function of the host makes row by row, such as
 * upper(a || b), and what they are compared with. They are computed at once with
 * the function: then nobody needs its texts, and no words are made of them.
 */
#ifndef VDBQ_PLAN_TEXTS_FUSED_CALLS_H
#define VDBQ_PLAN_TEXTS_FUSED_CALLS_H

#include "plan/tree/expression.h"

struct binder;

/* Of such texts, or of those of a column, so many different uses are computed
 * anew; with more of them the texts are made once. */
enum { FUSED_USES_MOST = 4 };

/* Whether a comparison's operand can be an argument of a call. */
bool fused_is_constant(const struct expression *e);
/* The comparison of a look-up with such a constant as that of a call, which tells
 * texts apart, with 0; nested where it can be. NULL: a failure. */
struct expression *fused_compare(struct binder *binder,
                                 const struct expression *e);

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
