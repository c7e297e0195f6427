/* SPDX-License-Identifier: MIT */
/*
 * Which collation counts, and keys in it: collate.h.
 */
#include "plan/operator/collate.h"

#include "plan/make/call.h"
#include "plan/tree/binder.h"

enum collation collation_between(const struct expression *left,
                                 const struct expression *right)
{
    return right->collating.by > left->collating.by ? right->collating.collation
                                                    : left->collating.collation;
}

enum collation collation_of(const struct expression *e)
{
    return e->type == VDBQ_TEXT ? e->collating.collation : COLLATION_BINARY;
}

struct expression *collation_key(struct binder *binder, struct expression *e,
                                 enum collation collation)
{
    static const char *const functions[COLLATIONS] = {
        [COLLATION_NOCASE] = "lower", [COLLATION_RTRIM] = "rtrim"
    };

    if (collation == COLLATION_BINARY || e->type != VDBQ_TEXT)
        return e;
    return expression_call(binder, functions[collation], &e, 1, e->at);
}

struct expression *collation_own_key(struct binder *binder,
                                     struct expression *e)
{
    return collation_key(binder, e, collation_of(e));
}

struct expression *expression_collated(struct binder *binder,
                                       struct expression *e,
                                       struct collating collating)
{
    struct expression *copy;

    if (e->collating.collation == collating.collation
        && e->collating.by == collating.by)
        return e;
    copy = arena_alloc(binder->arena, sizeof *copy);
    if (copy == NULL)
        return error_no_memory(binder->error), NULL;
    *copy = *e;
    copy->collating = collating;
    return copy;
}
