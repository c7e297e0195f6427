/* SPDX-License-Identifier: MIT */
/* The days of seven years; none of them is drawn. */
#include <string.h>

#include "ssb.h"

enum {
    DATEKEY,
    DATE,
    DAYOFWEEK,
    MONTH,
    YEAR,
    YEARMONTHNUM,
    YEARMONTH,
    DAYNUMINWEEK,
    DAYNUMINMONTH,
    DAYNUMINYEAR,
    MONTHNUMINYEAR,
    WEEKNUMINYEAR,
    SELLINGSEASON,
    LASTDAYINWEEKFL,
    LASTDAYINMONTHFL,
    HOLIDAYFL,
    WEEKDAYFL,
    COLUMNS
};
enum { FIRST_YEAR = 1992, FIRST_WEEKDAY = 3 /* a Wednesday; Sunday is 0 */ };

static const char *const names[COLUMNS] = { "d_datekey",
                                            "d_date",
                                            "d_dayofweek",
                                            "d_month",
                                            "d_year",
                                            "d_yearmonthnum",
                                            "d_yearmonth",
                                            "d_daynuminweek",
                                            "d_daynuminmonth",
                                            "d_daynuminyear",
                                            "d_monthnuminyear",
                                            "d_weeknuminyear",
                                            "d_sellingseason",
                                            "d_lastdayinweekfl",
                                            "d_lastdayinmonthfl",
                                            "d_holidayfl",
                                            "d_weekdayfl" };
static const enum vdbq_type types[COLUMNS] = {
    VDBQ_INTEGER, VDBQ_TEXT,    VDBQ_TEXT,    VDBQ_TEXT,    VDBQ_INTEGER,
    VDBQ_INTEGER, VDBQ_TEXT,    VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER,
    VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_TEXT,    VDBQ_INTEGER, VDBQ_INTEGER,
    VDBQ_INTEGER, VDBQ_INTEGER
};

static const char *const weekdays[] = { "Sunday",    "Monday",   "Tuesday",
                                        "Wednesday", "Thursday", "Friday",
                                        "Saturday" };
static const char *const months[] = { "January", "February", "March",
                                      "April",   "May",      "June",
                                      "July",    "August",   "September",
                                      "October", "November", "December" };
/* By month. */
static const char *const seasons[] = { "Winter", "Winter",    "Winter",
                                       "Spring", "Summer",    "Summer",
                                       "Summer", "Summer",    "Fall",
                                       "Fall",   "Christmas", "Christmas" };
/* Month * 100 + day. */
static const int holidays[] = { 101, 220, 420,  520,  720,
                                820, 920, 1020, 1120, 1224 };

struct day {
    int year, month, in_month, in_year; /* from 1 */
};

static uint64_t row_count(const void *tables)
{
    (void)tables;
    return SSB_DAYS;
}

static int month_days(int year, int month)
{
    static const int days[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };
    return days[month - 1] + (month == 2 && year % 4 == 0);
}

static void next_day(struct day *day)
{
    day->in_month++;
    day->in_year++;
    if (day->in_month <= month_days(day->year, day->month))
        return;
    day->in_month = 1;
    if (++day->month <= 12)
        return;
    day->month = day->in_year = 1;
    day->year++;
}

static int32_t key_of(const struct day *day)
{
    return day->year * 10000 + day->month * 100 + day->in_month;
}

void ssb_days(int32_t *day_key)
{
    struct day day = { FIRST_YEAR, 1, 1, 1 };
    for (int i = 0; i < SSB_DAYS; i++, next_day(&day))
        day_key[i] = key_of(&day);
}

static bool is_holiday(const struct day *day)
{
    for (size_t i = 0; i < sizeof holidays / sizeof holidays[0]; i++)
        if (holidays[i] == day->month * 100 + day->in_month)
            return true;
    return false;
}

static void fill_names(const struct day *day, unsigned weekday,
                       struct batch *batch, uint64_t row)
{
    const char *month = months[day->month - 1];
    batch_print(batch, DATE, row, "%s %d, %d", month, day->in_month, day->year);
    batch_words(batch, DAYOFWEEK, row, weekdays[weekday]);
    batch_words(batch, MONTH, row, month);
    batch_print(batch, YEARMONTH, row, "%.3s%d", month, day->year);
    batch_words(batch, SELLINGSEASON, row, seasons[day->month - 1]);
}

static void fill_day(const struct day *day, unsigned weekday,
                     struct batch *batch, uint64_t row)
{
    fill_names(day, weekday, batch, row);
    batch_integer(batch, DATEKEY, row, key_of(day));
    batch_integer(batch, YEAR, row, day->year);
    batch_integer(batch, YEARMONTHNUM, row, day->year * 100 + day->month);
    batch_integer(batch, DAYNUMINWEEK, row, weekday + 1);
    batch_integer(batch, DAYNUMINMONTH, row, day->in_month);
    batch_integer(batch, DAYNUMINYEAR, row, day->in_year);
    batch_integer(batch, MONTHNUMINYEAR, row, day->month);
    batch_integer(batch, WEEKNUMINYEAR, row, day->in_year / 7 + 1);
    batch_integer(batch, LASTDAYINWEEKFL, row, weekday == 6);
    batch_integer(batch, LASTDAYINMONTHFL, row,
                  day->in_month == month_days(day->year, day->month));
    batch_integer(batch, HOLIDAYFL, row, is_holiday(day));
    batch_integer(batch, WEEKDAYFL, row, weekday >= 1 && weekday <= 5);
}

/* All days fit one batch. */
static void fill(const void *tables, struct batch *batch)
{
    struct day day = { FIRST_YEAR, 1, 1, 1 };
    (void)tables;
    for (uint64_t row = 0; row < batch->rows; row++, next_day(&day))
        fill_day(&day, (FIRST_WEEKDAY + row) % 7, batch, row);
}

const struct maker ssb_date = {
    .output = {
        .name = "date", .columns = COLUMNS, .names = names, .types = types,
        .schema = "(d_datekey integer primary key, d_date text, "
                  "d_dayofweek text, d_month text, d_year integer, "
                  "d_yearmonthnum integer, d_yearmonth text, "
                  "d_daynuminweek integer, d_daynuminmonth integer, "
                  "d_daynuminyear integer, d_monthnuminyear integer, "
                  "d_weeknuminyear integer, d_sellingseason text, "
                  "d_lastdayinweekfl integer, d_lastdayinmonthfl integer, "
                  "d_holidayfl integer, d_weekdayfl integer)",
    },
    .text_bytes = BATCH_TEXT_BYTES,
    .batch_units = SSB_BATCH, .unit_rows = 1, .units = row_count, .fill = fill,
};
