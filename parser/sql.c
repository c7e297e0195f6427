/* SPDX-License-Identifier: MIT */
/*
 * From text to tree: finds where the first statement ends, checks its bytes,
 * and lets scanner and grammar read only that part, so that a script of many
 * statements costs each byte once.
 *
 * The splitter knows as much of SQL as it takes to find a semicolon: quotes
 * and comments, by the rules of sql.l. A doubled quote needs no rule: it
 * ends one quoted text and starts the next.
 */
#include "parser/ast.h"

#include <assert.h>
#include <string.h>

#include "parser/parser_inner.h"
#include "parser/sql_parser.h"

/* Where a statement ends. */
struct ending {
    size_t length;  /* of the statement, without its semicolon     */
    bool semicolon; /* there is one                                */
    bool blank;     /* there is nothing but blanks and comments    */
    bool open;      /* the text ends inside of quotes or a comment */
};

static struct ending find_end(const char *sql, size_t length);
static bool check_text(struct parse *parse);
static void run_grammar(struct parse *parse);

enum vdbq_status sql_parse(const char *sql, size_t length, struct arena *arena,
                           struct ast_statement **statement, size_t *consumed,
                           struct error *error)
{
    struct ending ending = find_end(sql, length);
    struct parse parse = { .sql = sql,
                           .length = ending.length,
                           .arena = arena,
                           .error = error,
                           .here = { 1, 1 } };

    *statement = NULL;
    *consumed = ending.length + ending.semicolon;
    error_clear(error);
    if (check_text(&parse))
        run_grammar(&parse);
    if (parse_failed(&parse))
        return error->status;
    assert(parse.statement != NULL);
    *statement = parse.statement;
    return VDBQ_OK;
}

enum vdbq_status sql_parse_expression(const char *sql, size_t length,
                                      struct arena *arena,
                                      const struct ast_expression **expression,
                                      struct error *error)
{
    struct parse parse = { .sql = sql,
                           .length = length,
                           .arena = arena,
                           .error = error,
                           .here = { 1, 1 },
                           .opening = TOKEN_ONE_EXPRESSION };

    *expression = NULL;
    error_clear(error);
    if (check_text(&parse))
        run_grammar(&parse);
    if (parse_failed(&parse))
        return error->status;
    assert(parse.expression != NULL);
    *expression = parse.expression;
    return VDBQ_OK;
}

bool sql_complete(const char *sql, size_t length)
{
    for (;;) {
        struct ending ending = find_end(sql, length);
        if (!ending.semicolon)
            return ending.blank && !ending.open;
        sql += ending.length + 1;
        length -= ending.length + 1;
    }
}

/* Scans and parses a copy of the statement, which flex writes to. */
static void run_grammar(struct parse *parse)
{
    char *text = memory_resize(NULL, parse->length + 2);

    if (text == NULL) {
        parse_no_memory(parse);
        return;
    }
    if (parse->length > 0)
        memcpy(text, parse->sql, parse->length);
    memset(text + parse->length, 0, 2);
    if (scanner_open(parse, text)) {
        sql_grammar_parse(parse);
        scanner_close(parse);
    } else {
        parse_no_memory(parse);
    }
    memory_release(text);
}

/* ----------------------------------------------------------- splitter -- */

/* Skips to behind the next `close`, or to the end, and says so. */
static size_t skip_to(const char *sql, size_t length, size_t at, char close,
                      bool *open)
{
    const char *found = memchr(sql + at, close, length - at);

    *open = found == NULL;
    return *open ? length : (size_t)(found - sql) + 1;
}

static size_t skip_comment(const char *sql, size_t length, size_t at,
                           bool *open)
{
    do
        at = skip_to(sql, length, at, '*', open);
    while (!*open && at < length && sql[at] != '/');
    *open = *open || at == length;
    return *open ? length : at + 1;
}

/* Skips a quoted text, a comment, or a byte. */
static size_t skip_piece(const char *sql, size_t length, size_t at,
                         struct ending *ending)
{
    char first = sql[at], second = at + 1 < length ? sql[at + 1] : '\0';
    bool ignored;

    if (first == '-' && second == '-')
        return skip_to(sql, length, at, '\n', &ignored);
    if (first == '/' && second == '*')
        return skip_comment(sql, length, at + 2, &ending->open);
    if (ending->blank
        && (strchr(" \t\r\n\f\v", first) == NULL || first == '\0'))
        ending->blank = false;
    if (first == '\'' || first == '"' || first == '`')
        return skip_to(sql, length, at + 1, first, &ending->open);
    if (first == '[')
        return skip_to(sql, length, at + 1, ']', &ending->open);
    return at + 1;
}

static struct ending find_end(const char *sql, size_t length)
{
    struct ending ending = { .blank = true };
    size_t at = 0;

    while (at < length && sql[at] != ';')
        at = skip_piece(sql, length, at, &ending);
    ending.length = at;
    ending.semicolon = at < length;
    return ending;
}

/* -------------------------------------------------------------- bytes -- */

/* The length of the UTF-8 character at `at`; 0: it is malformed. */
static size_t character_length(const unsigned char *at, size_t left)
{
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = at[0] < 0x80                    ? 1
                    : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                    : (at[0] & 0xf0) == 0xe0        ? 3
                    : (at[0] & 0xf8) == 0xf0        ? 4
                                                    : 0;
    unsigned code = at[0] & (0xffu >> (length + 1));

    if (length == 1 || length == 0 || length > left)
        return length > left ? 0 : length;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    if (code < least[length] || code > 0x10ffff
        || (code >= 0xd800 && code < 0xe000))
        return 0;
    return length;
}

static struct position position_of(const char *sql, size_t offset)
{
    struct position at = { 1, 1 };

    for (size_t i = 0; i < offset; i++) {
        at.column++;
        if (sql[i] == '\n') {
            at.line++;
            at.column = 1;
        }
    }
    return at;
}

/* The statement is text, without NUL bytes, and not too long. */
static bool check_text(struct parse *parse)
{
    const unsigned char *bytes = (const unsigned char *)parse->sql;
    size_t at = 0, step = 1;

    if (parse->length > SQL_BYTES_MAX) {
        error_set(parse->error, VDBQ_LIMIT,
                  "the statement has %zu bytes, more than %d", parse->length,
                  SQL_BYTES_MAX);
        return false;
    }
    for (; at < parse->length; at += step) {
        step = bytes[at] == 0
                   ? 0
                   : character_length(bytes + at, parse->length - at);
        if (step == 0)
            break;
    }
    if (at == parse->length)
        return true;
    error_at(parse->error, VDBQ_SYNTAX, position_of(parse->sql, at),
             bytes[at] == 0 ? "there is a NUL byte in the statement"
                            : "the byte 0x%02x is not text in UTF-8",
             (unsigned)bytes[at]);
    return false;
}
