/* SPDX-License-Identifier: MIT */
/*
 * The values of a file: what they are, and how they become values of a
 * column. An empty field is a NULL; in a text column a quoted one is not.
 */
#include "io/import_inner.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_word(const struct csv_field *field, const char *word)
{
    return field->length == strlen(word)
        && strncasecmp(field->bytes, word, field->length) == 0;
}

/* Whether it looks like 2024-02-29, perhaps with a time behind it. */
static bool is_dated(const struct csv_field *field)
{
    return field->length >= 8 && isdigit((unsigned char)field->bytes[0])
        && memchr(field->bytes, '-', field->length) != NULL;
}

static bool is_value(enum vdbq_type type, const struct csv_field *field)
{
    int64_t value;
    return vdbq_value_parse(type, 0, 0, field->bytes, field->length, &value);
}

enum value_kind import_kind(const struct csv_field *field)
{
    switch (number_kind(field->bytes, field->length)) {
    case NUMBER_NOTHING:
        return VALUE_NOTHING;
    case NUMBER_INT32:
        return VALUE_INT32;
    case NUMBER_INT64:
        return VALUE_INT64;
    case NUMBER_DOUBLE:
        return VALUE_DOUBLE;
    default:
        break;
    }
    if (is_word(field, "true") || is_word(field, "false"))
        return VALUE_BOOLEAN;
    if (!is_dated(field))
        return VALUE_TEXT;
    bool timed = memchr(field->bytes, ':', field->length) != NULL;
    if (!is_value(timed ? VDBQ_TIMESTAMP : VDBQ_DATE, field))
        return VALUE_TEXT;
    return timed ? VALUE_TIMESTAMP : VALUE_DATE;
}

static bool is_number(enum value_kind kind)
{
    return kind >= VALUE_INT32 && kind <= VALUE_DOUBLE;
}

enum value_kind import_kind_of_both(enum value_kind a, enum value_kind b)
{
    if (a == b || b == VALUE_NOTHING)
        return a;
    if (a == VALUE_NOTHING)
        return b;
    if (is_number(a) && is_number(b))
        return a > b ? a : b;
    bool dated = a >= VALUE_DATE && b >= VALUE_DATE
              && a <= VALUE_TIMESTAMP && b <= VALUE_TIMESTAMP;
    return dated ? VALUE_TIMESTAMP : VALUE_TEXT;
}

enum vdbq_type import_kind_type(enum value_kind kind)
{
    static const enum vdbq_type types[] = {
        [VALUE_NOTHING] = VDBQ_INTEGER, [VALUE_BOOLEAN] = VDBQ_BOOLEAN,
        [VALUE_INT32] = VDBQ_INTEGER,   [VALUE_INT64] = VDBQ_BIGINT,
        [VALUE_DOUBLE] = VDBQ_DOUBLE,   [VALUE_DATE] = VDBQ_DATE,
        [VALUE_TIMESTAMP] = VDBQ_TIMESTAMP, [VALUE_TEXT] = VDBQ_TEXT,
    };
    return types[kind];
}

/* -------------------------------------------------------------- reading -- */

size_t import_type_size(enum vdbq_type type)
{
    switch (type) {
    case VDBQ_TEXT:
        return sizeof(struct vdbq_text);
    case VDBQ_BIGINT:
    case VDBQ_DOUBLE:
    case VDBQ_DECIMAL:
    case VDBQ_TIMESTAMP:
        return 8;
    default:
        return 4;
    }
}

/* The text points into the file, or where quotes inside were written twice,
 * to a copy in `room`. */
static enum number_status read_text(const struct csv_field *field,
                                    char **room, struct vdbq_text *text)
{
    if (field->length == 0 && !field->quoted)
        return NUMBER_NULL;
    *text = (struct vdbq_text){ field->bytes, field->length };
    if (!field->doubled)
        return NUMBER_OK;
    csv_copy(field, *room, field->length + 1);
    text->bytes = *room;
    text->length = strlen(*room);
    *room += text->length;
    return NUMBER_OK;
}

static enum number_status read_small(const struct csv_field *field,
                                     int32_t *value)
{
    enum number_status status =
        number_to_int32(field->bytes, field->length, value);
    bool fits = status != NUMBER_OK
             || (*value >= INT16_MIN && *value <= INT16_MAX);
    return fits ? status : NUMBER_RANGE;
}

/* Types whose text form the library knows; blanks around it do not count. */
static enum number_status read_other(const struct import_column *column,
                                     const struct csv_field *field,
                                     void *value)
{
    const char *at = field->bytes, *end = at + field->length;
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (at < end && isspace((unsigned char)end[-1]))
        end--;
    if (at == end)
        return NUMBER_NULL;
    if (vdbq_value_parse(column->type, column->precision, column->scale, at,
                         (size_t)(end - at), value))
        return NUMBER_OK;
    bool number = number_kind(at, (size_t)(end - at)) != NUMBER_TEXT;
    return number && column->type == VDBQ_DECIMAL ? NUMBER_RANGE
                                                  : NUMBER_WRONG;
}

enum number_status import_read(const struct import_column *column,
                               const struct csv_field *field, char **room,
                               void *value)
{
    const char *bytes = field->bytes;
    size_t length = field->length;
    switch (column->type) {
    case VDBQ_INTEGER:
        return number_to_int32(bytes, length, value);
    case VDBQ_BIGINT:
        return number_to_int64(bytes, length, value);
    case VDBQ_FLOAT:
        return number_to_float(bytes, length, value);
    case VDBQ_DOUBLE:
        return number_to_double(bytes, length, value);
    case VDBQ_SMALLINT:
        return read_small(field, value);
    case VDBQ_TEXT:
        return read_text(field, room, value);
    default:
        return read_other(column, field, value);
    }
}
