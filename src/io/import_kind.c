/* SPDX-License-Identifier: MIT */
/*
 * What values look like, so that a table that is to be made gets types that
 * hold them: numbers, dates, truth values; texts where nothing else fits.
 */
#include "io/import_inner.h"

#include <string.h>
#include <strings.h>

static bool is_boolean(const char *bytes, size_t length)
{
    return (length == 4 && strncasecmp(bytes, "true", 4) == 0)
        || (length == 5 && strncasecmp(bytes, "false", 5) == 0);
}

/* A value that is no number. Of what dates and times look like, the shortest
 * is 1-1-1. */
static unsigned seen_other(const char *bytes, size_t length)
{
    int64_t time;
    if (is_boolean(bytes, length))
        return SEEN_BOOLEAN;
    if (length < 5 || length >= VDBQ_VALUE_BYTES || (unsigned)*bytes - '0' > 9
        || !vdbq_value_parse(VDBQ_TIMESTAMP, 0, 0, bytes, length, &time))
        return SEEN_TEXT;
    return memchr(bytes, ':', length) ? SEEN_TIMESTAMP : SEEN_DATE;
}

unsigned import_seen(const struct csv_field *field)
{
    switch (number_kind(field->bytes, field->length)) {
    case NUMBER_NOTHING:
        return field->quoted && !field->length ? SEEN_QUOTES : 0;
    case NUMBER_INT32:
        return SEEN_INT32;
    case NUMBER_INT64:
        return SEEN_INT64;
    case NUMBER_DOUBLE:
        return SEEN_DOUBLE;
    default:
        return seen_other(field->bytes, field->length);
    }
}

enum vdbq_type import_seen_type(unsigned seen)
{
    static const struct {
        unsigned fits; /* what it holds, all together */
        enum vdbq_type type;
    } types[] = {
        { SEEN_INT32, VDBQ_INTEGER },
        { SEEN_INT32 | SEEN_INT64, VDBQ_BIGINT },
        { SEEN_INT32 | SEEN_INT64 | SEEN_DOUBLE, VDBQ_DOUBLE },
        { SEEN_DATE, VDBQ_DATE },
        { SEEN_DATE | SEEN_TIMESTAMP, VDBQ_TIMESTAMP },
        { SEEN_BOOLEAN, VDBQ_BOOLEAN },
    };
    if (seen == SEEN_QUOTES)
        return VDBQ_TEXT;
    seen &= ~(unsigned)SEEN_QUOTES;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!(seen & ~types[i].fits))
            return types[i].type;
    return VDBQ_TEXT;
}
