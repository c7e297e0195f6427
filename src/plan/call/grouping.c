/* SPDX-License-Identifier: MIT */
/*
 * GROUPING(a, b): which keys the grouping of a row has left out, a bit for each, the
 * last one's the lowest. It is made of a symbol for each key, in the place of which
 * grouping_sets.c puts what a row has.
 */
#include "plan/call/call.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

enum { GROUPING_KEYS_MAX = 62 /* whose bits are a BIGINT */ };

/* Whether one key is left out of the grouping: a symbol, of 1 or 0. */
static struct expression *
left_out(struct binder *binder, const struct call *call, struct expression *key)
{
    struct expression *e = expression_new(binder, EXPRESSION_AGGREGATE,
                                          VDBQ_BIGINT, call->tree->at);

    if (e == NULL)
        return NULL;
    e->aggregate.function = AGGREGATE_GROUPING;
    expression_place(binder, e, call->tree);
    e->left = key;
    e->range = range_full(VDBQ_BIGINT);
    e->machine = type_machine(VDBQ_BIGINT);
    return expression_fits(binder, e) ? e : NULL;
}

/* That GROUPING is not called as it can be. */
static struct expression *refuse_call(struct binder *binder,
                                      const struct call *call)
{
    error_at(binder->error, VDBQ_SYNTAX, call->tree->at,
             "%s takes from one to %d keys, and nothing else", call->name,
             GROUPING_KEYS_MAX);
    error_hint(binder->error, "GROUPING(a, b) with GROUP BY ROLLUP (a, b) is 1 "
                              "where b is left out, 3 where a is, too");
    return NULL;
}

struct expression *bind_grouping(struct binder *binder, const struct call *call)
{
    struct expression *bits = NULL, *bit, *two;

    if (call->count == 0 || call->count > GROUPING_KEYS_MAX
        || call->tree->distinct || call->tree->over != NULL
        || call->filter != NULL)
        return refuse_call(binder, call);
    for (unsigned i = 0; i < call->count; i++) {
        bit = left_out(binder, call, call->arguments[i]);
        two = bits ? expression_integer(binder, 2, call->tree->at) : NULL;
        if (two != NULL)
            bits = expression_operator(binder, AST_MUL, bits, two, call->tree);
        if (bit == NULL || (i > 0 && bits == NULL))
            return NULL;
        bits = i == 0 ? bit
                      : expression_operator(binder, AST_ADD, bits, bit,
                                            call->tree);
    }
    return bits;
}
