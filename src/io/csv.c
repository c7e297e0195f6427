/* SPDX-License-Identifier: MIT */
/* The CSV reader: one pass, a byte at a time outside of quotes. */
#include "io/csv.h"

#include <string.h>

static enum csv_next quoted_field(struct csv_reader *reader,
                                  struct csv_field *field);

/* Leaves the field's end: its delimiter, its line end, or the text's end. */
static enum csv_next step_over(struct csv_reader *reader, const char *at)
{
    if (at == reader->end) {
        reader->at = at;
        return CSV_LAST;
    }
    reader->at = at + 1;
    return *at == reader->delimiter ? CSV_MORE : CSV_LAST;
}

enum csv_next csv_next(struct csv_reader *reader, struct csv_field *field)
{
    const char *at = reader->at, *end = reader->end;
    const char delimiter = reader->delimiter;
    field->bytes = at;
    field->quote = field->escape = 0;
    field->doubled = false;
    if (at < end && reader->quote && *at == reader->quote)
        return quoted_field(reader, field);
    while (at < end && *at != delimiter && *at != '\n')
        at++;
    field->length = (size_t)(at - field->bytes);
    enum csv_next next = step_over(reader, at);
    if (next == CSV_LAST && field->length && at[-1] == '\r')
        field->length--;
    return next;
}

/* The same where quotes inside are escaped. */
static const char *closing_unescaped(const char *at, const char *end,
                                     char quote, char escape, bool *doubled)
{
    for (; at < end && *at != quote; at++) {
        bool escaped = *at == escape && at + 1 < end
                       && (at[1] == quote || at[1] == escape);
        *doubled |= escaped;
        at += escaped;
    }
    return at < end ? at : NULL;
}

/* The closing quote of the field whose text starts at `at`, or NULL. */
static const char *closing_quote(const struct csv_reader *reader,
                                 const char *at, bool *doubled)
{
    const char *end = reader->end;
    const char quote = reader->quote;
    if (reader->escape)
        return closing_unescaped(at, end, quote, reader->escape, doubled);
    while ((at = memchr(at, quote, (size_t)(end - at)))) {
        if (at + 1 == end || at[1] != quote)
            return at;
        *doubled = true;
        at += 2;
    }
    return NULL;
}

static enum csv_next quoted_field(struct csv_reader *reader,
                                  struct csv_field *field)
{
    field->bytes++;
    field->length = 0;
    field->quote = reader->quote;
    const char *end = reader->end;
    field->escape = reader->escape;
    const char *quote = closing_quote(reader, field->bytes, &field->doubled);
    if (!quote)
        return CSV_OPEN;
    field->length = (size_t)(quote - field->bytes);
    const char *at = quote + 1;
    if (at < end && *at == '\r' && (at + 1 == end || at[1] == '\n'))
        at++;
    if (at < end && *at != reader->delimiter && *at != '\n') {
        field->bytes = quote;
        return CSV_STRAY;
    }
    return step_over(reader, at);
}

bool csv_record(struct csv_reader *reader)
{
    const char *at = reader->at, *end = reader->end;
    while (at < end && !reader->single) {
        if (*at == '\n')
            at++;
        else if (*at == '\r' && (at + 1 == end || at[1] == '\n'))
            at++;
        else
            break;
    }
    reader->at = at;
    return at < end;
}

/* Whether what is at `at` stands for the character behind it. */
static bool is_escape(const struct csv_field *field, const char *at)
{
    const char *end = field->bytes + field->length;
    return *at == field->escape && at + 1 < end
           && (at[1] == field->quote || at[1] == field->escape);
}

static size_t unescape(const struct csv_field *field, char *room)
{
    const char *at = field->bytes, *end = at + field->length;
    char *to = room;
    for (; at < end; at++) {
        at += is_escape(field, at);
        *to++ = *at;
    }
    return (size_t)(to - room);
}

size_t csv_undouble(const struct csv_field *field, char *room)
{
    if (field->escape)
        return unescape(field, room);
    const char *at = field->bytes, *end = at + field->length, *quote;
    char *to = room;
    while (at < end && (quote = memchr(at, field->quote, (size_t)(end - at)))) {
        memcpy(to, at, (size_t)(quote + 1 - at));
        to += quote + 1 - at;
        at = quote + 2;
    }
    size_t rest = at < end ? (size_t)(end - at) : 0;
    memcpy(to, at, rest);
    return (size_t)(to - room) + rest;
}

void csv_copy(const struct csv_field *field, char *room, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < field->length && used + 1 < size; i++) {
        if (field->escape && field->doubled)
            i += is_escape(field, field->bytes + i);
        room[used++] = field->bytes[i];
        if (!field->escape && field->doubled && field->bytes[i] == field->quote)
            i++;
    }
    room[used] = 0;
}

/* What follows the quote at `at`, outside of quotes: a quoted field begins
 * there, or the quote is a character. The end where the field never ends. */
static const char *skip_quote(const struct csv_reader *reader, const char *at)
{
    bool doubled;
    bool starts =
        at == reader->at || at[-1] == '\n' || at[-1] == reader->delimiter;
    if (!starts)
        return at + 1;
    const char *quote = closing_quote(reader, at + 1, &doubled);
    return quote ? quote + 1 : reader->end;
}

const char *csv_split(const struct csv_reader *reader, size_t size)
{
    const char *at = reader->at, *end = reader->end;
    if ((size_t)(end - at) <= size)
        return end;
    for (const char *from = at + size, *line = NULL; from < end;) {
        if (!line || line < from)
            line = memchr(from, '\n', (size_t)(end - from));
        if (!line)
            line = end;
        const char *quote = reader->quote
                                ? memchr(at, reader->quote, (size_t)(line - at))
                                : NULL;
        if (!quote)
            return line < end ? line + 1 : end;
        at = skip_quote(reader, quote);
        from = at > from ? at : from;
    }
    return end;
}

void csv_position(const char *start, const char *place, uint64_t *line,
                  uint64_t *column)
{
    const char *at = start, *next;
    *line = 1;
    while (at < place && (next = memchr(at, '\n', (size_t)(place - at)))) {
        at = next + 1;
        ++*line;
    }
    *column = (uint64_t)(place - at) + 1;
}
