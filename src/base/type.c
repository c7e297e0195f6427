/* SPDX-License-Identifier: MIT */
/*
 * Types of SQL as a table; the calendar; whole values to and from text. What
 * is read piece by piece (dates, decimals) is in type_text.c.
 */
#include "base/type.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* What a type is. The machine's types have the numbers of the first four. */
/* clang-format off */
static const struct {
    const char *name;       /* as users write it                  */
    enum vdbq_type machine; /* NONE: it is no type of a value     */
    size_t bytes;           /* of a value in the caller's vectors */
    int64_t least, greatest;
} types[TYPES] = {
    [VDBQ_TYPE_NONE] = { "NONE",      VDBQ_TYPE_NONE, 0, 0, 0 },
    [VDBQ_INTEGER]   = { "INTEGER",   VDBQ_INTEGER,   4, INT32_MIN, INT32_MAX },
    [VDBQ_BIGINT]    = { "BIGINT",    VDBQ_BIGINT,    8, INT64_MIN, INT64_MAX },
    [VDBQ_FLOAT]     = { "FLOAT",     VDBQ_FLOAT,     4, 0, 0 },
    [VDBQ_DOUBLE]    = { "DOUBLE",    VDBQ_DOUBLE,    8, 0, 0 },
    [VDBQ_TEXT]      = { "TEXT",      VDBQ_TEXT,      sizeof(struct vdbq_text), 0, 0 },
    [VDBQ_BOOLEAN]   = { "BOOLEAN",   VDBQ_INTEGER,   4, 0, 1 },
    [VDBQ_SMALLINT]  = { "SMALLINT",  VDBQ_INTEGER,   4, INT16_MIN, INT16_MAX },
    [VDBQ_DECIMAL]   = { "DECIMAL",   VDBQ_BIGINT,    8, -INT64_C(999999999999999999),
                         INT64_C(999999999999999999) },
    [VDBQ_DATE]      = { "DATE",      VDBQ_INTEGER,   4, DATE_DAYS_MIN, DATE_DAYS_MAX },
    [VDBQ_TIMESTAMP] = { "TIMESTAMP", VDBQ_BIGINT,    8, DATE_DAYS_MIN * DAY_MICROSECONDS,
                         (DATE_DAYS_MAX + 1) * DAY_MICROSECONDS - 1 },
};
/* clang-format on */

const char *type_name(enum vdbq_type type)
{
    return (unsigned)type < TYPES ? types[type].name : types[0].name;
}

int type_machine(enum vdbq_type type)
{
    return (unsigned)type < TYPES ? (int)types[type].machine : 0;
}

size_t type_bytes(enum vdbq_type type)
{
    return (unsigned)type < TYPES ? types[type].bytes : 0;
}

bool vector_null(const struct vdbq_vector *vector, uint64_t i)
{
    if (vector->nulls != NULL && vector->nulls[i] != 0)
        return true;
    if (vector->type == VDBQ_FLOAT)
        return isnan(((const float *)vector->values)[i]);
    return vector->type == VDBQ_DOUBLE
           && isnan(((const double *)vector->values)[i]);
}

bool type_is_integer(enum vdbq_type type)
{
    return (unsigned)type < TYPES && types[type].greatest > 0;
}

void type_limits(enum vdbq_type type, int64_t *least, int64_t *greatest)
{
    *least = types[type].least;
    *greatest = types[type].greatest;
}

/* ----------------------------------------------------------- calendar -- */

enum {
    PERIOD_DAYS = 146097, /* of 400 years                    */
    EPOCH_DAYS = 719468   /* of 1970-01-01, from 0000-03-01  */
};

/* Years are counted from March on, so that a leap day is the last. */
struct type_day date_split(int32_t days)
{
    int64_t since = (int64_t)days + EPOCH_DAYS;
    int64_t period =
        (since < 0 ? since - (PERIOD_DAYS - 1) : since) / PERIOD_DAYS;
    int day = (int)(since - period * PERIOD_DAYS);
    int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int rest = day - (365 * year + year / 4 - year / 100);
    int month = (5 * rest + 2) / 153; /* 0: March */
    struct type_day split = { .month = month < 10 ? month + 3 : month - 9,
                              .day = rest - (153 * month + 2) / 5 + 1 };

    split.year = (int)(year + period * 400) + (split.month <= 2);
    return split;
}

static int month_days(int year, int month)
{
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 ? 28 + leap : 30 + (month + (month > 7)) % 2;
}

bool date_join(struct type_day day, int32_t *days)
{
    int year = day.year - (day.month <= 2);
    int month = day.month > 2 ? day.month - 3 : day.month + 9;

    if (day.year < 1 || day.year > 9999 || day.month < 1 || day.month > 12
        || day.day < 1 || day.day > month_days(day.year, day.month))
        return false;
    *days = year * 365 + year / 4 - year / 100 + year / 400
            + (153 * month + 2) / 5 + day.day - 1 - EPOCH_DAYS;
    return true;
}

int32_t timestamp_date(int64_t microseconds)
{
    int64_t days = microseconds / DAY_MICROSECONDS;

    return (int32_t)(days - (microseconds % DAY_MICROSECONDS < 0));
}

/* -------------------------------------------------------- whole values -- */

static int64_t integer_of(enum vdbq_type type, const void *value)
{
    int32_t narrow;
    int64_t wide;

    if (types[type].bytes == sizeof wide)
        return memcpy(&wide, value, sizeof wide), wide;
    return memcpy(&narrow, value, sizeof narrow), narrow;
}

size_t type_print(enum vdbq_type type, unsigned scale, const void *value,
                  char *room)
{
    float narrow;
    double real;

    switch (type) {
    case VDBQ_FLOAT:
        memcpy(&narrow, value, sizeof narrow);
        return text_from_float(narrow, room);
    case VDBQ_DOUBLE:
        memcpy(&real, value, sizeof real);
        return text_from_double(real, room);
    case VDBQ_BOOLEAN:
        return (size_t)sprintf(room, "%s",
                               integer_of(type, value) ? "true" : "false");
    case VDBQ_DECIMAL:
        return decimal_to_text(integer_of(type, value), scale, room);
    case VDBQ_DATE:
        return date_to_text((int32_t)integer_of(type, value), room);
    case VDBQ_TIMESTAMP:
        return timestamp_to_text(integer_of(type, value), room);
    default:
        return (size_t)sprintf(room, "%lld",
                               (long long)integer_of(type, value));
    }
}

/* Reads an integer of any type that is one. */
static bool parse_integer(enum vdbq_type type, unsigned precision,
                          unsigned scale, const char *bytes, size_t length,
                          int64_t *value)
{
    int32_t narrow = 0;
    bool read;

    switch (type) {
    case VDBQ_BOOLEAN:
        read = boolean_from_text(bytes, length, &narrow);
        break;
    case VDBQ_DATE:
        read = date_from_text(bytes, length, &narrow);
        break;
    case VDBQ_DECIMAL:
        return decimal_from_text(bytes, length, precision, scale, value);
    case VDBQ_TIMESTAMP:
        return timestamp_from_text(bytes, length, value);
    default:
        return text_to_int64(bytes, length, value)
               && *value >= types[type].least && *value <= types[type].greatest;
    }
    *value = narrow;
    return read;
}

bool type_parse(enum vdbq_type type, unsigned precision, unsigned scale,
                const char *bytes, size_t length, void *value)
{
    int64_t wide;
    int32_t narrow;
    double real;
    float single;

    if (type == VDBQ_FLOAT || type == VDBQ_DOUBLE) {
        if (!text_to_double(bytes, length, &real))
            return false;
        single = (float)real;
        memcpy(value, type == VDBQ_FLOAT ? (void *)&single : (void *)&real,
               types[type].bytes);
        return true;
    }
    if (!parse_integer(type, precision, scale, bytes, length, &wide))
        return false;
    narrow = (int32_t)wide;
    memcpy(value, types[type].bytes == 4 ? (void *)&narrow : (void *)&wide,
           types[type].bytes);
    return true;
}
