/* SPDX-License-Identifier: MIT */
/*
 * Dates: days since 1970-01-01 in the Gregorian calendar, which is taken to
 * hold for all time. All in integers; years are counted from March on, so
 * that the day that some years have more is their last. 400 years are one
 * period, DATE_PERIOD days. Any 32-bit number is a date.
 */
#include "machine.h"

#define DATE_PERIOD 146097
#define DATE_EPOCH 719468 /* 1970-01-01, from 0000-03-01 on        */
#define DATE_FIRST -719162 /* 0001-01-01: the least that is moved  */
#define DATE_LAST 2932896  /* 9999-12-31: the greatest             */

struct date {
    i64 year;
    i32 month, day; /* from 1 */
};

/* The division is of numbers without a sign and of 32 bits, which all devices make
 * vectors of: days are counted from -2^31 on, and that day's place in its period
 * is added behind it. */
#define DATE_LEAST_PERIOD -14695 /* of the least date of all */
#define DATE_LEAST_DAY 131235    /* its day in that          */

static inline struct date date_of(i32 days)
{
    u32 since = (u32)days ^ 0x80000000U, period = since / DATE_PERIOD;
    u32 day = since - period * DATE_PERIOD + DATE_LEAST_DAY;
    u32 wraps = day >= DATE_PERIOD;
    day -= wraps ? DATE_PERIOD : 0;
    u32 year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    u32 rest = day - (365 * year + year / 4 - year / 100);
    u32 month = (5 * rest + 2) / 153; /* 0: March */
    struct date date;
    date.month = (i32)(month < 10 ? month + 3 : month - 9);
    date.year = (i32)year + ((i32)(period + wraps) + DATE_LEAST_PERIOD) * 400 +
                (date.month <= 2);
    date.day = (i32)(rest - (153 * month + 2) / 5) + 1;
    return date;
}

static i64 date_days(struct date date)
{
    i64 from = date.year - (date.month <= 2);
    i64 period = (from < 0 ? from - 399 : from) / 400;
    i64 year = from - period * 400;
    i32 month = date.month > 2 ? date.month - 3 : date.month + 9;
    i64 day = (153 * month + 2) / 5 + date.day - 1;
    return period * DATE_PERIOD + year * 365 + year / 4 - year / 100 + day -
           DATE_EPOCH;
}

/* Sunday is 0. */
static i32 date_weekday(i32 days)
{
    i32 from = (days % 7 + 4) % 7; /* 1970-01-01 was a Thursday */
    return from < 0 ? from + 7 : from;
}

static i64 date_new_year(i64 year)
{
    struct date first;
    first.year = year;
    first.month = first.day = 1;
    return date_days(first);
}

/* ISO 8601: weeks start on Monday; the first has the year's first Thursday. */
static i32 date_week(i32 days)
{
    i64 monday = (i64)days - (date_weekday(days) + 6) % 7;
    i64 thursday = monday + 3;
    i64 year = date_of(days).year;
    i64 first = date_new_year(year);
    if (thursday < first)
        first = date_new_year(year - 1);
    else if (thursday >= date_new_year(year + 1))
        first = date_new_year(year + 1);
    return (i32)((thursday - first) / 7) + 1;
}

/* A part of the date (enum date_part); of others 0. */
static i32 date_part(i32 days, i32 part)
{
    struct date date = date_of(days);
    switch (part) {
    case DATE_YEAR:
        return (i32)date.year;
    case DATE_MONTH:
        return date.month;
    case DATE_DAY:
        return date.day;
    case DATE_WEEKDAY:
        return date_weekday(days);
    case DATE_YEARDAY:
        return (i32)(days - date_new_year(date.year)) + 1;
    case DATE_QUARTER:
        return (date.month + 2) / 3;
    case DATE_WEEK:
        return date_week(days);
    default:
        return 0;
    }
}
