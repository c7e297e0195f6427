/* SPDX-License-Identifier: MIT */
/*
 * Errors as a person reads them: where, what, the source line with a caret,
 * and what to do.
 */
#include "shell.h"

#include "io/utf8.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SOURCE_BEFORE = 60, SOURCE_SHOWN = 120, NAME_MAX_LENGTH = 64 };

enum shell_exit shell_exit_code(enum vdbq_status status)
{
    switch (status) {
    case VDBQ_OK:
        return EXIT_OK;
    case VDBQ_IO:
    case VDBQ_CORRUPT:
    case VDBQ_BUSY:
    case VDBQ_EXPIRED:
        return EXIT_FILE;
    case VDBQ_DEVICE:
        return EXIT_DEVICE;
    case VDBQ_CANCELLED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_SQL;
    }
}

void shell_raise(struct shell *shell, enum shell_exit code)
{
    if ((int)code > shell->status)
        shell->status = code;
}

void shell_error_head(struct shell *shell, const char *name, uint64_t line,
                      uint64_t column)
{
    struct out *err = &shell->err;
    shell_bar_clear(shell);
    out_flush(&shell->out);
    out_text(err, shell->color ? "\033[1;31merror:\033[0m " : "error: ");
    if (name && line && column)
        out_print(err, "%s:%llu:%llu: ", name, (unsigned long long)line,
                  (unsigned long long)column);
    else if (name && line)
        out_print(err, "%s:%llu: ", name, (unsigned long long)line);
    else if (name)
        out_print(err, "%s: ", name);
    else if (line && column)
        out_print(err, "line %llu, column %llu: ", (unsigned long long)line,
                  (unsigned long long)column);
    else if (line)
        out_print(err, "line %llu: ", (unsigned long long)line);
}

void shell_error_hint(struct shell *shell, const char *hint)
{
    if (!*hint)
        return;
    out_text(&shell->err, "hint: ");
    out_text(&shell->err, hint);
    if (hint[strlen(hint) - 1] != '\n')
        out_char(&shell->err, '\n');
}

bool shell_fail(struct shell *shell, const struct place *place,
                enum vdbq_status status, const char *hint, const char *format,
                ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    shell_error_head(shell, place ? place->name : NULL,
                     place && place->line_known ? place->line : 0, 0);
    out_text(&shell->err, message);
    out_char(&shell->err, '\n');
    shell_error_hint(shell, hint);
    out_flush(&shell->err);
    shell_raise(shell, shell_exit_code(status));
    return false;
}

/* A long line is cut to a window that holds the column, on whole characters. */
static const char *window(const char *source, size_t *length, size_t *column)
{
    size_t start = *column > SOURCE_BEFORE ? *column - SOURCE_BEFORE : 0;
    if (*length <= SOURCE_SHOWN)
        start = 0;
    while (start && start < *length && (source[start] & 0xc0) == 0x80)
        start--;
    *column -= start;
    *length -= start;
    if (*length > SOURCE_SHOWN) {
        *length = SOURCE_SHOWN;
        while (*length && (source[start + *length] & 0xc0) == 0x80)
            --*length;
    }
    return source + start;
}

/* Blanks as wide as the text in front of the column; tabs stay tabs. */
static void indent(struct out *err, const char *source, size_t column)
{
    while (column) {
        uint32_t character;
        size_t size = utf8_read(source, column, &character);
        if (character == '\t')
            out_char(err, '\t');
        else
            out_repeat(err, " ", utf8_character_width(character));
        source += size;
        column -= size;
    }
}

/* The source line, and a caret under `column` (from 1). */
static void show_source(struct shell *shell, const char *source, size_t column)
{
    struct out *err = &shell->err;
    size_t length = strcspn(source, "\r\n");
    size_t before = column - 1 < length ? column - 1 : length;
    if (!length)
        return;
    source = window(source, &length, &before);
    out_text(err, "  ");
    out_bytes(err, source, length);
    out_text(err, "\n  ");
    indent(err, source, before);
    out_text(err, shell->color ? "\033[1;31m^\033[0m\n" : "^\n");
}

bool shell_fail_db(struct shell *shell, const struct place *place)
{
    const struct vdbq_error *error = vdbq_error(shell->db);
    uint64_t line = place->line_known ? place->line : 0, column = 0;
    if (error->line) {
        line = place->line + error->line - 1;
        column = error->column + (error->line == 1 ? place->column - 1 : 0);
    }
    shell_error_head(shell, place->name, line, column);
    out_text(&shell->err, error->message);
    out_char(&shell->err, '\n');
    if (error->line && error->column)
        show_source(shell, error->source, error->column);
    shell_error_hint(shell, error->hint);
    out_flush(&shell->err);
    shell_raise(shell, shell_exit_code(error->status));
    return false;
}

/* -------------------------------------------------------- did you mean -- */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* How many letters must change, come, go or swap places, without case. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][NAME_MAX_LENGTH + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    size_t length = strlen(b);
    if (length > NAME_MAX_LENGTH || strlen(a) > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (unsigned i = 0; i <= length; i++)
        row[i] = i;
    for (unsigned i = 0; a[i]; i++) {
        unsigned *spare = before;
        before = last;
        last = row;
        row = spare;
        row[0] = i + 1;
        for (size_t k = 0; k < length; k++) {
            row[k + 1] = least(last[k] + !same_letter(a[i], b[k]),
                               least(row[k], last[k + 1]) + 1);
            if (i && k && same_letter(a[i], b[k - 1])
                && same_letter(a[i - 1], b[k]))
                row[k + 1] = least(row[k + 1], before[k - 1] + 1);
        }
    }
    return row[length];
}

void shell_closest(const char *name,
                   const char *(*next)(void *context, unsigned index),
                   void *context, const char *otherwise, char *hint)
{
    const char *candidate;
    unsigned nearest = (unsigned)strlen(name) / 4 + 2;
    snprintf(hint, SHELL_HINT_ROOM, "%s", otherwise);
    for (unsigned i = 0; (candidate = next(context, i)); i++) {
        unsigned own = distance(name, candidate);
        if (own >= nearest)
            continue;
        nearest = own;
        snprintf(hint, SHELL_HINT_ROOM, "did you mean %s?", candidate);
    }
}
