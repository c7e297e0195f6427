/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of the order of a group's values, medians and other quantiles, are
 * made of windows over the rows of each group (call/quantile_value.h), whose
 * results all rows of a group have, and its first row gives.
 */
#include "plan/bind/select.h"
#include "plan/call/quantile_value.h"
#include "plan/make/replace.h"
#include "plan/operator/rows_fold.h"
#include "plan/tree/binder.h"

static struct expression *expand(void *context, struct expression *e,
                                 bool *failed)
{
    struct selecting *selecting = context;
    struct binder *binder = selecting->binder;
    struct quantile quantile = { .making = { binder, e->at },
                                 .partition = &selecting->keys,
                                 .of_group = select_first };
    struct expression *made;

    if (e->kind == EXPRESSION_WINDOW)
        return rows_fold_of_group(binder, e, &selecting->keys, failed);
    if (e->kind != EXPRESSION_AGGREGATE
        || aggregate_row(e->aggregate.function)->keeps != AGGREGATE_KEEPS_ALL)
        return NULL;
    made = quantile_made(quantile, e);
    *failed = made == NULL;
    return made;
}

struct expression *quantile_expand(struct selecting *selecting,
                                   struct expression *e)
{
    return expression_replace(selecting->binder, e, expand, selecting);
}
