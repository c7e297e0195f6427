/* SPDX-License-Identifier: MIT */
/*
 * PRAGMA, and COPY: its options, which whoever reads or writes the file is given as texts
 * (struct vdbq_copy). What an option is, is a row of one table.
 */
#include "parser/parser_inner.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum option_for { FOR_BOTH, FOR_FROM };
enum option_kind {
    KIND_SWITCH,    /* true, or false                               */
    KIND_DELIMITER, /* one byte of ASCII that separates             */
    KIND_QUOTE,     /* the same, or none                            */
    KIND_WORD       /* anything                                     */
};

static const struct option {
    const char *name;
    const char *shown; /* of those that mean the same */
    enum option_for whose;
    enum option_kind kind;
    size_t place; /* in struct vdbq_copy         */
} options[] = {
#define PLACE(field) offsetof(struct vdbq_copy, field)
    { "header", "HEADER", FOR_BOTH, KIND_SWITCH, PLACE(header) },
    { "delimiter", "DELIMITER", FOR_BOTH, KIND_DELIMITER, PLACE(delimiter) },
    { "delim", "DELIMITER", FOR_BOTH, KIND_DELIMITER, PLACE(delimiter) },
    { "sep", "DELIMITER", FOR_BOTH, KIND_DELIMITER, PLACE(delimiter) },
    { "separator", "DELIMITER", FOR_BOTH, KIND_DELIMITER, PLACE(delimiter) },
    { "quote", "QUOTE", FOR_FROM, KIND_QUOTE, PLACE(quote) },
    { "escape", "ESCAPE", FOR_FROM, KIND_DELIMITER, PLACE(escape) },
    { "null", "NULL", FOR_BOTH, KIND_WORD, PLACE(null_text) },
    { "nullstr", "NULL", FOR_BOTH, KIND_WORD, PLACE(null_text) },
    { "format", "FORMAT", FOR_BOTH, KIND_WORD, PLACE(format) },
#undef PLACE
};
enum { OPTIONS = sizeof options / sizeof *options };

static void take_options(struct parse *parse, const struct copy_parts *parts,
                         struct vdbq_copy *copy);

static const char *const *name_texts(struct parse *parse,
                                     struct name_list names)
{
    const char **texts = names.count > 0
                             ? parse_alloc(parse, names.count * sizeof *texts)
                             : NULL;

    for (unsigned i = 0; texts != NULL && i < names.count; i++)
        texts[i] = names.items[i].text;
    return texts;
}

struct ast_statement *ast_copy(struct parse *parse, struct copy_parts parts)
{
    struct ast_statement *made =
        make_statement(parse, parts.from ? AST_COPY_FROM : AST_COPY);
    size_t length;

    if (made == NULL || (!parts.from && parts.query == NULL))
        return NULL;
    made->copy = (struct ast_copy){ .query = parts.query,
                                    .table = parts.table,
                                    .columns = parts.columns.items,
                                    .column_count = parts.columns.count,
                                    .at = parts.file.at };
    made->copy.said = (struct vdbq_copy){
        .file = parse_unquoted(parse, parts.file, &length),
        .table = parts.table.text,
        .columns = name_texts(parse, parts.columns),
        .column_count = parts.columns.count,
        .header = -1,
    };
    take_options(parse, &parts, &made->copy.said);
    return made;
}

/* SELECT a, b FROM table */
struct ast_query *ast_table_columns(struct parse *parse, struct span whole,
                                    struct table_name table,
                                    struct name_list columns)
{
    struct select_parts parts = { .from = ast_table(parse, whole, table,
                                                    (struct ast_name){ 0 }) };

    for (unsigned i = 0; i < columns.count; i++) {
        struct span span = whole;
        span.at = columns.items[i].at;
        parts.results = ast_results(
            parts.results,
            ast_result(parse, span,
                       ast_column(parse, span, (struct ast_name){ 0 },
                                  columns.items[i]),
                       columns.items[i]));
    }
    return parts.from != NULL ? ast_select(parse, whole, parts) : NULL;
}

/* --------------------------------------------------------------- options -- */

/* A text without its quotes, or a word as it stands. */
static struct ast_name option_value(struct parse *parse, struct span value)
{
    size_t length;

    if (parse->sql[value.begin] != '\'')
        return ast_name(parse, value);
    return (struct ast_name){ .text = parse_unquoted(parse, value, &length),
                              .at = value.at };
}

struct ast_statement *ast_pragma(struct parse *parse, struct ast_name name,
                                 struct span argument)
{
    bool check = !parse_failed(parse) && argument.end == argument.begin
                 && name_equal(name.text, "integrity_check");
    struct ast_statement *made =
        make_statement(parse, check ? AST_CHECK : AST_PRAGMA);

    if (made == NULL || check)
        return made;
    made->pragma = (struct ast_pragma){ .name = name };
    if (argument.end > argument.begin)
        made->pragma.argument = option_value(parse, argument);
    return made;
}

struct ast_statement *ast_show(struct parse *parse, struct span at,
                               struct ast_name name)
{
    struct ast_statement *made;

    if (parse_failed(parse) || !name_equal(name.text, "tables"))
        return ast_query_made(
            parse, AST_DESCRIBE,
            ast_whole_table(parse, at, (struct table_name){ { 0 }, name }));
    made = make_statement(parse, AST_PRAGMA);
    if (made != NULL)
        made->pragma = (struct ast_pragma){ .name = name };
    return made;
}

struct ast_copy_option *ast_copy_option(struct parse *parse, struct span name,
                                        struct span value)
{
    struct ast_copy_option *made = parse_alloc(parse, sizeof *made);

    if (made == NULL)
        return NULL;
    made->name = ast_name(parse, name);
    made->value.at = value.at;
    if (value.end > value.begin)
        made->value = option_value(parse, value);
    return made;
}

struct copy_option_list ast_copy_options(struct copy_option_list list,
                                         struct ast_copy_option *option)
{
    if (option == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = option;
    else
        list.first = option;
    list.last = option;
    return list;
}

static void refuse_name(struct parse *parse, const struct ast_name *name)
{
    const char *near = NULL;
    unsigned limit = 2;

    for (unsigned i = 0; i < OPTIONS; i++) {
        unsigned distance = name_distance(name->text, options[i].name, limit);
        if (distance <= limit) {
            near = options[i].shown;
            limit = distance - (distance > 0);
        }
    }
    error_at(parse->error, VDBQ_SYNTAX, name->at, "COPY has no option %s",
             name->text);
    if (near != NULL)
        error_hint(parse->error, "did you mean %s?", near);
    else
        error_hint(parse->error, "its options are HEADER, DELIMITER, QUOTE, "
                                 "ESCAPE, NULL and FORMAT");
}

/* The option of that name, if this COPY has it. */
static const struct option *find_option(struct parse *parse,
                                        const struct ast_name *name, bool from)
{
    for (unsigned i = 0; i < OPTIONS; i++) {
        if (!name_equal(name->text, options[i].name))
            continue;
        if (from || options[i].whose == FOR_BOTH)
            return &options[i];
        error_at(parse->error, VDBQ_SYNTAX, name->at,
                 "COPY TO has no option %s", options[i].shown);
        error_hint(parse->error, "its options are HEADER, DELIMITER, NULL and "
                                 "FORMAT; values are quoted by \" where they "
                                 "have to be");
        return NULL;
    }
    refuse_name(parse, name);
    return NULL;
}

/* Nothing, and words that mean yes and no: 1, 0; else -1. */
static int read_switch(const char *text)
{
    static const char *const words[] = { "false", "off", "no",  "0",
                                         "true",  "on",  "yes", "1" };

    if (text == NULL)
        return 1;
    for (int i = 0; i < 8; i++)
        if (name_equal(text, words[i]))
            return i >= 4;
    return -1;
}

/* One byte of ASCII that is no line end; \t is a tab. */
static const char *read_character(const char *text)
{
    if (strcmp(text, "\\t") == 0)
        return "\t";
    return strlen(text) == 1 && (unsigned char)*text < 0x80
                   && strchr("\r\n", *text) == NULL
               ? text
               : NULL;
}

static void refuse_value(struct parse *parse,
                         const struct ast_copy_option *given,
                         const struct option *option, const char *wanted)
{
    struct position at =
        given->value.text != NULL ? given->value.at : given->name.at;

    error_at(parse->error, VDBQ_SYNTAX, at, "%s is %s", option->shown, wanted);
}

static void take_option(struct parse *parse,
                        const struct ast_copy_option *given,
                        const struct option *option, struct vdbq_copy *copy)
{
    const char *text = given->value.text;
    void *place = (char *)copy + option->place;
    bool none = option->kind == KIND_QUOTE && text != NULL && *text == '\0';

    if (option->kind == KIND_SWITCH) {
        *(int *)place = read_switch(text);
        if (*(int *)place < 0)
            refuse_value(parse, given, option, "true or false");
        return;
    }
    if (text != NULL && option->kind != KIND_WORD && !none)
        text = read_character(text);
    if (text == NULL)
        refuse_value(parse, given, option,
                     option->kind == KIND_WORD ? "to be followed by a text"
                     : option->kind == KIND_QUOTE
                         ? "one character of ASCII, or '' for none"
                         : "one character of ASCII, as ';', or '\\t'");
    *(const char **)place = text;
}

static void take_options(struct parse *parse, const struct copy_parts *parts,
                         struct vdbq_copy *copy)
{
    unsigned long given = 0;

    for (const struct ast_copy_option *at = parts->options.first;
         at != NULL && !parse_failed(parse); at = at->next) {
        const struct option *option =
            find_option(parse, &at->name, parts->from);
        if (option == NULL)
            return;
        if ((given & 1ul << option->place / sizeof(int)) != 0)
            error_at(parse->error, VDBQ_SYNTAX, at->name.at,
                     "%s is there twice", option->shown);
        else
            take_option(parse, at, option, copy);
        given |= 1ul << option->place / sizeof(int);
    }
}
