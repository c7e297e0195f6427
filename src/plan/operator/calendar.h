/* SPDX-License-Identifier: MIT */
/*
 * Parts of dates that are made of days, months and years: the quarter, the week,
 * the day of the week and of the year, the seconds since 1970.
 */
#ifndef VDBQ_PLAN_OPERATOR_CALENDAR_H
#define VDBQ_PLAN_OPERATOR_CALENDAR_H

#include "plan/tree/expression.h"

struct binder;

enum calendar_part {
    CALENDAR_QUARTER, /* 1 to 4 */
    CALENDAR_WEEK,    /* of ISO 8601, 1 to 53: it begins on a Monday, the first
                          one has the year's first Thursday              */
    CALENDAR_DOW,     /* 0 to 6, from Sunday on */
    CALENDAR_ISODOW,  /* 1 to 7, from Monday on */
    CALENDAR_DOY,     /* 1 to 366 */
    CALENDAR_DECADE,  /* tens of years                              */
    CALENDAR_CENTURY, /* of 1901 to 2000 the 20th                    */
    CALENDAR_MILLENNIUM,
    CALENDAR_ISOYEAR,     /* the year that the week belongs to          */
    CALENDAR_YEARWEEK,    /* ... and the week: 202453                   */
    CALENDAR_MILLISECOND, /* of the minute: 59999 at most               */
    CALENDAR_MICROSECOND,
    CALENDAR_EPOCH, /* seconds since 1970, a DOUBLE */
    CALENDAR_PARTS
};

/* The part of that name, without case; -1: none of these. */
int calendar_named(const char *name, size_t length);

/* That part of a DATE, a TIMESTAMP, or a text that reads as one; others are refused.
 * NULL: a failure. */
struct expression *calendar_part(struct binder *binder,
                                 struct expression *operand,
                                 enum calendar_part part, struct position at);

/* The first day of a DATE's quarter or week. NULL: a failure. */
struct expression *calendar_first(struct binder *binder,
                                  struct expression *date,
                                  enum calendar_part part, struct position at);

#endif
