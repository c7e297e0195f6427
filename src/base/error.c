/* SPDX-License-Identifier: MIT */
/*
 * Failures. A message that does not fit is cut, never inside a character.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static void format_cut(char *room, size_t size, const char *format,
                       va_list values);

void error_clear(struct error *error)
{
    error->status = VDBQ_OK;
    error->line = error->column = 0;
    error->message[0] = error->hint[0] = '\0';
}

enum vdbq_status error_set(struct error *error, enum vdbq_status status,
                           const char *format, ...)
{
    va_list values;

    error_clear(error);
    error->status = status;
    va_start(values, format);
    format_cut(error->message, sizeof error->message, format, values);
    va_end(values);
    return status;
}

enum vdbq_status error_at(struct error *error, enum vdbq_status status,
                          struct position at, const char *format, ...)
{
    va_list values;

    error_clear(error);
    error->status = status;
    error->line = at.line;
    error->column = at.column;
    va_start(values, format);
    format_cut(error->message, sizeof error->message, format, values);
    va_end(values);
    return status;
}

enum vdbq_status error_hint(struct error *error, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    format_cut(error->hint, sizeof error->hint, format, values);
    va_end(values);
    return error->status;
}

enum vdbq_status error_no_memory(struct error *error)
{
    return error_set(error, VDBQ_NO_MEMORY, "out of memory");
}

enum vdbq_status error_cancelled(struct error *error)
{
    return error_set(error, VDBQ_CANCELLED, "interrupted");
}

/* Formats into `room`; what does not fit is cut, and with it the last UTF-8
 * character left, which may have been split. */
static void format_cut(char *room, size_t size, const char *format,
                       va_list values)
{
    int wanted = vsnprintf(room, size, format, values);
    size_t end = size - 1;

    if (wanted < 0) {
        room[0] = '\0';
        return;
    }
    if ((size_t)wanted < size)
        return;
    while (end > 0 && ((unsigned char)room[end - 1] & 0xc0) == 0x80)
        end--;
    if (end > 0 && (unsigned char)room[end - 1] >= 0xc0)
        end--;
    room[end] = '\0';
}
