/* SPDX-License-Identifier: MIT */
/*
 * How a streamed result begins: what stands before each column's value in
 * every row (a separator, a name), and the names above the rows.
 */
#include "io/format_inner.h"
#include "io/import_kind.h"
#include "io/utf8.h"

#include <string.h>

static void separator_prefixes(struct format_result *result)
{
    struct out *prefixes = &result->prefixes;
    for (unsigned i = 0; i < result->columns; i++) {
        out_text(prefixes, i ? result->between : result->format->begin_row);
        result->prefix_ends[i] = prefixes->length;
    }
}

/* Whether all names are quoted, since one of them could be a value. */
static bool quotes_names(const struct format_result *result)
{
    if (!result->quote_names || result->format->text != format_csv_text)
        return false;
    for (unsigned i = 0; i < result->columns; i++) {
        const char *name = result->names[i];
        struct csv_field field = { .bytes = name, .length = strlen(name) };
        if (import_seen(&field) != SEEN_TEXT)
            return true;
    }
    return false;
}

static void header_row(struct format_result *result)
{
    const struct format *format = result->format;
    const bool quoted = quotes_names(result);
    out_text(result->out, format->begin_row);
    for (unsigned i = 0; i < result->columns; i++) {
        if (i)
            out_text(result->out, result->between);
        const char *name = result->names[i];
        if (quoted)
            format_doubled(result->out, name, strlen(name), '"');
        else
            format_text(result, result->out, name, strlen(name));
    }
    out_text(result->out, format->end_row);
}

void format_separated_begin(struct format_result *result)
{
    separator_prefixes(result);
    if (result->header)
        header_row(result);
}

/* Markdown knows no table without a header. */
void format_markdown_begin(struct format_result *result)
{
    separator_prefixes(result);
    header_row(result);
    for (unsigned i = 0; i < result->columns; i++)
        out_text(result->out, format_left(result->types[i]) ? "|---" : "|--:");
    out_text(result->out, "|\n");
}

static size_t name_width(const struct format_result *result, unsigned column)
{
    const char *name = result->names[column];
    return utf8_width(name, strlen(name));
}

void format_line_begin(struct format_result *result)
{
    size_t widest = 0;
    for (unsigned i = 0; i < result->columns; i++)
        if (name_width(result, i) > widest)
            widest = name_width(result, i);
    for (unsigned i = 0; i < result->columns; i++) {
        struct out *prefixes = &result->prefixes;
        out_text(prefixes, i ? result->between : "");
        out_repeat(prefixes, " ", widest - name_width(result, i));
        out_text(prefixes, result->names[i]);
        out_text(prefixes, " = ");
        result->prefix_ends[i] = prefixes->length;
    }
}

/* A name as SQL has it. */
static void sql_name(struct out *out, const char *name)
{
    if (vdbq_name_is_plain(name))
        out_text(out, name);
    else
        format_doubled(out, name, strlen(name), '"');
}

/* The names of columns only where a header is wanted, as sqlite3 does. */
void format_insert_begin(struct format_result *result)
{
    struct out *prefixes = &result->prefixes;
    out_text(prefixes, "INSERT INTO ");
    sql_name(prefixes, result->table);
    for (unsigned i = 0; i < result->columns && result->header; i++) {
        out_char(prefixes, i ? ',' : '(');
        sql_name(prefixes, result->names[i]);
    }
    out_text(prefixes, result->header ? ") VALUES(" : " VALUES(");
    for (unsigned i = 0; i < result->columns; i++) {
        out_text(prefixes, i ? result->between : "");
        result->prefix_ends[i] = prefixes->length;
    }
}

void format_jsonlines_begin(struct format_result *result)
{
    struct out *prefixes = &result->prefixes;
    for (unsigned i = 0; i < result->columns; i++) {
        out_text(prefixes, i ? "," : "{");
        format_json_text(prefixes, result->names[i], strlen(result->names[i]));
        out_char(prefixes, ':');
        result->prefix_ends[i] = prefixes->length;
    }
}

void format_json_begin(struct format_result *result)
{
    format_jsonlines_begin(result);
    out_char(result->out, '[');
}
