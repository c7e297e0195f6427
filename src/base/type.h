/* SPDX-License-Identifier: MIT */
/*
 * The types of SQL: what a value of each is to the machine, which values it
 * has, and their text forms. Whatever reads or prints a date, a timestamp, a
 * decimal or a boolean does it here.
 *
 * Dates are days since 1970-01-01, timestamps microseconds since its start,
 * in the Gregorian calendar, which is taken to hold for all time, from year 1
 * to 9999. Decimals are whole numbers: their digits, 18 at most, of which
 * `scale` stand behind the point.
 */
#ifndef VDBQ_BASE_TYPE_H
#define VDBQ_BASE_TYPE_H

#include "api/vdbq.h"

enum {
    TYPES = VDBQ_TIMESTAMP + 1, /* numbers of types are less */
    DECIMAL_DIGITS_MAX = 18,
    DATE_DAYS_MIN = -719162, /* 0001-01-01 */
    DATE_DAYS_MAX = 2932896, /* 9999-12-31 */
    TYPE_TEXT_MAX = 40       /* bytes of a value's text, with its NUL;
                                   not of TEXT                            */
};
#define DAY_MICROSECONDS INT64_C(86400000000)

/* What users call a type: "INTEGER"; "NONE" for what is no type. */
const char *type_name(enum vdbq_type type);
/* The machine's type, TYPE_I32 ... of cl/types.h; 0: it has none. */
int type_machine(enum vdbq_type type);
/* Bytes of a value in the caller's vectors; 0: there are no such. */
size_t type_bytes(enum vdbq_type type);
/* Whether value i of a vector is NULL, said or as a NaN. */
bool vector_null(const struct vdbq_vector *vector, uint64_t i);
/* Whether the machine holds it in an integer. */
bool type_is_integer(enum vdbq_type type);
/* The range of a type that is an integer to the machine. */
void type_limits(enum vdbq_type type, int64_t *least, int64_t *greatest);

/* A day of the calendar. */
struct type_day {
    int year;
    int month, day; /* from 1 */
};
struct type_day date_split(int32_t days);
/* False: there is no such day, or it is outside the range. */
bool date_join(struct type_day day, int32_t *days);

/* From and to text. Reading allows blanks around the text and returns false
 * where it is no such value, or not in the range; printing returns the length
 * and needs TYPE_TEXT_MAX bytes of room. */

/* 2024-02-29; reading takes a time behind it and forgets it. */
bool date_from_text(const char *bytes, size_t length, int32_t *days);
size_t date_to_text(int32_t days, char *room);
/* 2024-02-29 13:05:00, with .123456 where there are microseconds. Reading
 * takes a T between the two, a Z behind them, and leaves from the right on
 * out what is missing: seconds, the time. */
bool timestamp_from_text(const char *bytes, size_t length,
                         int64_t *microseconds);
size_t timestamp_to_text(int64_t microseconds, char *room);
/* The day that a time is in. */
int32_t timestamp_date(int64_t microseconds);
/* -12.50; digits behind the scale are rounded, half away from 0. False also
 * where more than `precision` digits are left. */
bool decimal_from_text(const char *bytes, size_t length, unsigned precision,
                       unsigned scale, int64_t *digits);
size_t decimal_to_text(int64_t digits, unsigned scale, char *room);
/* The same number with another scale, rounded as above; false: it has more
 * than `precision` digits. */
bool decimal_rescale(int64_t digits, unsigned from, unsigned to,
                     unsigned precision, int64_t *rescaled);
/* A double as a decimal, rounded; false: too many digits, or no number. */
bool decimal_from_double(double value, unsigned precision, unsigned scale,
                         int64_t *digits);
double decimal_to_double(int64_t digits, unsigned scale);
/* 10 to the power of `exponent`, 18 at most. */
int64_t decimal_power(unsigned exponent);
/* true, t, yes, y, on, 1 and their opposites, without case. */
bool boolean_from_text(const char *bytes, size_t length, int32_t *value);

/* A value of a vector, of any type but TEXT, printed; `scale` is of DECIMAL. */
size_t type_print(enum vdbq_type type, unsigned scale, const void *value,
                  char *room);
/* Reads one of any type but TEXT into `value`. */
bool type_parse(enum vdbq_type type, unsigned precision, unsigned scale,
                const char *bytes, size_t length, void *value);

/* Whether the bytes are UTF-8: no code too long, none past U+10FFFF, no half
 * of a surrogate. */
bool text_is_utf8(const char *bytes, size_t length);

#endif
