/* SPDX-License-Identifier: MIT */
/*
 * min() and max() of texts in another collation than BINARY: of those that are
 * equal in it the first one, as in SQLite. Aggregates compare texts by their
 * bytes alone, so that windows over the texts' keys find it. So arg_min() and
 * arg_max() find any value by another one, its key.
 */
#ifndef VDBQ_PLAN_OPERATOR_COLLATE_EXTREME_H
#define VDBQ_PLAN_OPERATOR_COLLATE_EXTREME_H

#include "plan/tree/expression.h"

struct binder;

/* The least or greatest of a group, as a value that all of its rows have; MIN
 * or MAX of `left`, by its keys `right`. NULL: a failure. */
struct expression *collate_extreme_of_group(struct binder *binder,
                                            const struct expression *aggregate,
                                            const struct vector *keys);
/* The same with OVER, which has an ORDER BY for texts only. */
struct expression *collate_extreme_over(struct binder *binder,
                                        const struct expression *aggregate,
                                        const struct vector *partition,
                                        const struct vector *order);

#endif
