/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions on their way to expressions. For bind_function.c and the
 * files beside it.
 */
#ifndef VDBQ_PLAN_CALL_CALL_H
#define VDBQ_PLAN_CALL_CALL_H

#include "plan/tree/expression.h"
#include "plan/operator/rows_fold.h"

struct binder;

enum { CALL_ARGUMENTS_MAX = 64 };

struct scalar; /* plan/call/scalar.h */

/* A call whose arguments are bound. */
struct call {
    const struct ast_expression *tree;
    const char *name;              /* as it is written                   */
    const struct scalar *function; /* NULL: not looked up, or no scalar  */
    unsigned count;                /* of arguments                       */
    struct expression *arguments[CALL_ARGUMENTS_MAX];
    struct expression *filter; /* of an aggregate; NULL: none            */
    struct vector within;      /* ORDER BY in it: of struct order_term   */
    struct vector partition;   /* OVER: of struct expression * ...       */
    struct vector order;       /* ... and of struct order_term           */
    struct step_frame frame;
};

/* That the function does not take such an argument; NULL. */
struct expression *refuse_argument(struct binder *binder,
                                   const struct call *call,
                                   const struct expression *argument);

/* Whether OVER, if there is one, says no more than a partition; else it fails. */
bool call_is_of_partition(struct binder *binder, const struct call *call);

/* bind_aggregate.c */
/* The aggregate that a call names; NULL: none. min() and max() of several
 * arguments are scalar functions. */
const struct aggregate_row *call_aggregate(const struct ast_expression *tree);
struct expression *bind_aggregate(struct binder *binder,
                                  const struct call *call,
                                  const struct aggregate_row *row);
/* A call with OVER. */
struct expression *bind_window(struct binder *binder, const struct call *call);

/* An aggregate of the argument with the call's FILTER and OVER; NULL: a failure. */
struct expression *bind_aggregate_part(struct binder *binder,
                                       const struct call *call,
                                       enum aggregate_function function,
                                       struct expression *argument);

/* Leaves rows out where that value is NULL. False: a failure. */
bool bind_filter_nulls(struct binder *binder, struct call *call,
                       struct expression *value);

/* bind_covariance.c: COVAR_POP and its siblings. NULL: a failure. */
struct expression *bind_covariance(struct binder *binder,
                                   const struct call *call,
                                   enum aggregate_function function);

/* bind_string_agg.c. NULL: a failure. */
struct expression *bind_string_agg(struct binder *binder,
                                   const struct call *call);

/* bind_fold.c: a fold of the rows that a call is of, without a value; and what the call
 * gives of it: OVER the fold, else what it is in the group's first row. */
struct rows_fold fold_of_call(struct binder *binder, const struct call *call,
                              enum window_function function, int type);
struct expression *fold_given(struct binder *binder, const struct call *call,
                              struct expression *fold);
/* The same: what is made of all rows of a group, by windows or by other
 * aggregates: LAST_ROW to APPROX_COUNT_DISTINCT, and with an ORDER BY in the call
 * FIRST_ROW and ANY_VALUE. NULL: a failure. */
struct expression *bind_fold(struct binder *binder, const struct call *call,
                             enum aggregate_function function);

/* bind_quantile.c: a quantile as a symbol: its value on the left, its fraction, a
 * constant, on the right. NULL: a failure. */
struct expression *bind_quantile(struct binder *binder, const struct call *call,
                                 const struct aggregate_row *row);
/* Whether it lies between values, and is none of them. */
bool quantile_is_between(enum aggregate_function function);

/* grouping.c: GROUPING(a, b), of symbols. NULL: a failure. */
struct expression *bind_grouping(struct binder *binder,
                                 const struct call *call);

/* frame_distance.c: how far the bound of RANGE is from a row, in the units of the
 * only key of the call's order: `e`, or NULL where an INTERVAL is written. False: a
 * failure. */
bool frame_distance(struct binder *binder, const struct call *call,
                    const struct ast_bound *from, struct expression *e,
                    struct frame_bound *bound);

/* Reads an argument that is a constant whole number, and no NULL: `what`
 * ("distance") names it where it is none. False: a failure. */
bool bind_whole_number(struct binder *binder, const struct call *call,
                       struct expression *argument, const char *what,
                       int64_t *value);

/* window_shares.c: NTILE, PERCENT_RANK, CUME_DIST, of other window functions.
 * NULL: a failure. */
struct expression *bind_window_share(struct binder *binder,
                                     const struct call *call,
                                     enum window_function function);

/* bind_scalar.c: what is made of other expressions, an opcode, or the host's. */
struct expression *bind_scalar(struct binder *binder, struct call *call);

/* bind_date.c: CURRENT_DATE and its like, which look like columns; not
 * `*found`: it is none. */
struct expression *bind_current(struct binder *binder,
                                const struct ast_expression *tree, bool *found);

#endif
