/* SPDX-License-Identifier: MIT */
/* The words for what can go wrong with a file, where it does, and what to do. */
#include "io/import/import_inner.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_SHOWN = 40 };

enum vdbq_status import_fail(struct import *import, enum vdbq_status status,
                             const char *hint, const char *format, ...)
{
    struct import_report *report = import->report;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->message, sizeof report->message, format, arguments);
    va_end(arguments);
    snprintf(report->hint, sizeof report->hint, "%s", hint);
    return status;
}

enum vdbq_status import_fail_cut(struct import *import)
{
    import->report->line = import->report->column = 0;
    return import_fail(import, VDBQ_IO, "read it again once it is complete",
                       "another program cut the file while it was read");
}

enum vdbq_status import_fail_db(struct import *import)
{
    const struct vdbq_error *error = vdbq_error(import->params->db);
    return import_fail(import, error->status, error->hint, "%s",
                       error->message);
}

enum vdbq_status import_fail_stopped(struct import *import)
{
    return import_fail(import, VDBQ_CANCELLED, "",
                       "interrupted: nothing was imported");
}

/* The value as it can be shown: not too long, no control characters, nothing
 * that is not UTF-8. */
static void show_value(const struct csv_field *field, char *room)
{
    struct vdbq_text text;
    csv_copy(field, room, VALUE_SHOWN + 1);
    bool utf8 = vdbq_value_parse(VDBQ_TEXT, 0, 0, room, strlen(room), &text);
    for (char *at = room; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f
            || (!utf8 && (unsigned char)*at > 0x7f))
            *at = '?';
    if (field->length > VALUE_SHOWN)
        strcat(room, "...");
}

static const char *range_hint(enum vdbq_type type)
{
    switch (type) {
    case VDBQ_SMALLINT:
        return "make the column INTEGER";
    case VDBQ_INTEGER:
        return "make the column BIGINT";
    case VDBQ_BIGINT:
    case VDBQ_FLOAT:
        return "make the column DOUBLE";
    case VDBQ_DECIMAL:
        return "give the column more digits";
    default:
        return "";
    }
}

/* What to do about a value of another type than its column's. */
static const char *type_hint(enum vdbq_type type, const struct csv_field *field)
{
    bool whole =
        type == VDBQ_SMALLINT || type == VDBQ_INTEGER || type == VDBQ_BIGINT;
    if (type == VDBQ_TEXT)
        return "convert the file: iconv -f LATIN1 -t UTF-8 ...";
    if (type == VDBQ_DATE || type == VDBQ_TIMESTAMP)
        return "dates are written 2024-02-29, times 2024-02-29 13:05:00; "
               "empty the field for a NULL";
    return whole && number_kind(field->bytes, field->length) == NUMBER_DOUBLE
               ? "make the column DOUBLE, or round the value"
               : "correct the value, or empty the field for a NULL";
}

static enum vdbq_status fail_value(struct import *import,
                                   const struct import_fault *fault)
{
    const struct import_column *column = &import->column[fault->column];
    const char *name = vdbq_type_name(column->type);
    bool text = column->type == VDBQ_TEXT;
    char value[VALUE_SHOWN + 8];
    show_value(&fault->field, value);
    if (fault->kind == FAULT_RANGE)
        return import_fail(import, VDBQ_RANGE, range_hint(column->type),
                           "value '%s' in column %s does not fit %s", value,
                           column->name, name);
    return import_fail(
        import, VDBQ_TYPE, type_hint(column->type, &fault->field),
        "value '%s' in column %s is not %s%s", value, column->name,
        text                           ? ""
        : column->type == VDBQ_INTEGER ? "an "
                                       : "a ",
        text ? "UTF-8" : name);
}

static enum vdbq_status fail_count(struct import *import,
                                   const struct import_fault *fault)
{
    return import_fail(import, VDBQ_TYPE,
                       fault->kind == FAULT_FEWER
                           ? "add the missing delimiters; an empty field is "
                             "a NULL"
                           : "put a value that holds the delimiter in "
                             "quotes; --delimiter of .import and .csv, or "
                             "DELIMITER of COPY, names another",
                       "the record has %u field%s where %u are expected",
                       fault->column, fault->column == 1 ? "" : "s",
                       import->columns);
}

static enum vdbq_status fail_quote(struct import *import,
                                   const struct import_fault *fault)
{
    if (fault->kind == FAULT_RETURN)
        return import_fail(import, VDBQ_TYPE,
                           "lines end with LF or CR LF: tr '\\r' '\\n' makes "
                           "them; a value that holds one stands in quotes",
                           "a carriage return without a line feed");
    if (fault->kind == FAULT_OPEN)
        return import_fail(import, VDBQ_TYPE,
                           "close it; a quote inside is written twice; "
                           "--quote '' of .import and .csv, or QUOTE '' of "
                           "COPY, makes quotes characters",
                           "a quoted field starts here and never ends");
    return import_fail(import, VDBQ_TYPE,
                       "a quote inside a quoted field is written twice",
                       "text follows the quote that closes a field");
}

enum vdbq_status import_fail_at(struct import *import,
                                const struct import_fault *fault)
{
    struct import_report *report = import->report;
    if (fault->kind == FAULT_MEMORY)
        return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    csv_position(import->counted, fault->place, &report->line, &report->column);
    report->line += import->lines;
    switch (fault->kind) {
    case FAULT_MORE:
    case FAULT_FEWER:
        return fail_count(import, fault);
    case FAULT_STRAY:
    case FAULT_OPEN:
    case FAULT_RETURN:
        return fail_quote(import, fault);
    default:
        return fail_value(import, fault);
    }
}
