/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of the order of a group's values: medians and other quantiles.
 */
#ifndef VDBQ_PLAN_BIND_QUANTILE_H
#define VDBQ_PLAN_BIND_QUANTILE_H

#include "plan/bind/call.h"
#include "plan/bind/select.h"

/* A call as a symbol: its value on the left, its fraction, a constant, on the
 * right. NULL: a failure. */
struct expression *bind_quantile(struct binder *binder, const struct call *call,
                                 const struct aggregate_row *row);

/* The expression with what its symbols are made of, once the keys of the groups
 * are known. NULL: a failure. */
struct expression *quantile_expand(struct selecting *selecting,
                                   struct expression *e);

#endif
