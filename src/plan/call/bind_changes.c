/* SPDX-License-Identifier: MIT */
/*
 * What a statement may ask of the connection that runs it: what it has changed
 * so far, and which vdbq it is. Counts are those before the statement, of which
 * a plan with them holds for one run.
 */
#include "plan/call/scalar.h"

#include <string.h>

#include "plan/make/expression_new.h"
#include "plan/plan.h"
#include "plan/tree/binder.h"

/* A value of this run. */
static struct expression *of_run(struct binder *binder, const struct call *call,
                                 int64_t value)
{
    struct expression *e;

    statement_time(binder);
    e = expression_integer(binder, value, call->tree->at);
    if (e != NULL)
        e->literal = false;
    return e;
}

static struct vdbq_changes changes(const struct binder *binder)
{
    const struct plan_limits *limits = binder->limits;

    return limits != NULL && limits->changes != NULL
               ? *limits->changes
               : (struct vdbq_changes){ 0 };
}

struct expression *scalar_changes(struct binder *binder,
                                  const struct call *call)
{
    return of_run(binder, call, (int64_t)changes(binder).rows);
}

struct expression *scalar_total_changes(struct binder *binder,
                                        const struct call *call)
{
    return of_run(binder, call, (int64_t)changes(binder).total);
}

struct expression *scalar_last_insert_rowid(struct binder *binder,
                                            const struct call *call)
{
    return of_run(binder, call, changes(binder).key);
}

struct expression *scalar_version(struct binder *binder,
                                  const struct call *call)
{
    const struct vdbq_text text = { VDBQ_VERSION, strlen(VDBQ_VERSION) };

    return expression_text(binder, text, call->tree->at);
}
