/* SPDX-License-Identifier: MIT */
/*
 * What a bound query goes through: it is rewritten, and becomes steps.
 */
#include "plan/lower/lower.h"
#include "plan/plan.h"
#include "plan/rewrite/rewrite.h"
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"

enum vdbq_status plan_steps(struct binder *binder, struct node *node,
                            struct plan *plan)
{
    if (node != NULL)
        node = rewrite(binder, node);
    return node ? lower(binder, node, &plan->steps) : binder->error->status;
}
