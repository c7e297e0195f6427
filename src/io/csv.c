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
    field->quoted = field->doubled = false;
    if (at < end && *at == '"')
        return quoted_field(reader, field);
    while (at < end && *at != delimiter && *at != '\n')
        at++;
    field->length = (size_t)(at - field->bytes);
    enum csv_next next = step_over(reader, at);
    if (next == CSV_LAST && field->length && at[-1] == '\r')
        field->length--;
    return next;
}

/* The closing quote of the field that starts at `at`, or NULL. */
static const char *closing_quote(const char *at, const char *end,
                                 bool *doubled)
{
    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        if (at + 1 == end || at[1] != '"')
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
    field->quoted = true;
    field->length = 0;
    field->quoted = true;
    const char *end = reader->end;
    const char *quote = closing_quote(field->bytes, end, &field->doubled);
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
    while (at < end) {
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

size_t csv_undouble(const struct csv_field *field, char *room)
{
    const char *at = field->bytes, *end = at + field->length, *quote;
    char *to = room;
    while ((quote = memchr(at, '"', (size_t)(end - at)))) {
        memcpy(to, at, (size_t)(quote + 1 - at));
        to += quote + 1 - at;
        at = quote + 2;
    }
    memcpy(to, at, (size_t)(end - at));
    return (size_t)(to - room) + (size_t)(end - at);
}

void csv_copy(const struct csv_field *field, char *room, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < field->length && used + 1 < size; i++) {
        room[used++] = field->bytes[i];
        if (field->doubled && field->bytes[i] == '"')
            i++;
    }
    room[used] = 0;
}

/* Whether an odd number of quotes lies between two places. */
static bool odd_quotes(const char *at, const char *end)
{
    bool odd = false;
    while (at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
        odd = !odd;
        at++;
    }
    return odd;
}

const char *csv_split(const struct csv_reader *reader, size_t size)
{
    if ((size_t)(reader->end - reader->at) <= size)
        return reader->end;
    const char *at = reader->at + size;
    bool quoted = odd_quotes(reader->at, at);
    while (at < reader->end) {
        char c = *at++;
        if (c == '"')
            quoted = !quoted;
        else if (c == '\n' && !quoted)
            break;
    }
    return at;
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
