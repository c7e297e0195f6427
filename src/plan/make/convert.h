/* SPDX-License-Identifier: MIT */
/*
 * Casts between the types of SQL, and parts of dates and times.
 */
#ifndef VDBQ_PLAN_MAKE_CONVERT_H
#define VDBQ_PLAN_MAKE_CONVERT_H

#include "plan/tree/expression.h"

struct binder;

/* convert_date.c: the day of a time, its midnight as a time, and a number of
 * days since 1970-01-01 as a date. */
struct expression *expression_date_of_time(struct binder *binder,
                                           struct expression *e);
struct expression *expression_time_of_date(struct binder *binder,
                                           struct expression *e);
struct expression *expression_date_of_days(struct binder *binder,
                                           struct expression *e,
                                           struct position at);

/* A DATE or a TIMESTAMP as it is, a text read as a time; others are refused. */
struct expression *expression_date_or_time(struct binder *binder,
                                           struct expression *e,
                                           struct position at);

/* A part of a date or a time. */
struct expression *expression_part(struct binder *binder,
                                   struct expression *operand,
                                   enum ast_unit unit, struct position at);

/* So many units, so many times. */
struct time_interval {
    enum ast_unit unit;
    int64_t count;
    struct expression *times; /* a whole number; NULL: once */
};
/* A date or a time moved by an interval, or `back` by it. */
struct expression *expression_moved(struct binder *binder,
                                    struct expression *operand,
                                    const struct time_interval *interval,
                                    bool back, struct position at);
/* Microseconds since 1970-01-01, a BIGINT, as a TIMESTAMP: what is outside its years
 * fails. And the other way round; a DATE is its midnight. Of NULL, a failure, NULL. */
struct expression *expression_time_of_count(struct binder *binder,
                                            struct expression *e);
struct expression *expression_count_of_time(struct binder *binder,
                                            struct expression *e);

/* convert.c: CAST. */
struct expression *expression_cast(struct binder *binder,
                                   struct expression *operand,
                                   struct ast_type type, struct position at);

struct expression *expression_cast_plain(struct binder *binder,
                                         struct expression *operand, int type,
                                         struct position at);

/* What a literal text is read as where a number is wanted. */
struct expression *expression_text_number(struct binder *binder,
                                          const struct expression *e);

/* A DECIMAL, or an integer, with another scale. */
struct expression *expression_scale(struct binder *binder,
                                    struct expression *operand, unsigned scale,
                                    struct position at);

#endif
