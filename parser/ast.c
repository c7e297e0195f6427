/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: names and statements. The memory is the
 * arena's. Each gives NULL once a parse has failed and accepts NULL for what
 * it is made of.
 */
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

/* ------------------------------------------------- memory and names -- */

void *parse_alloc(struct parse *parse, size_t size)
{
    void *memory = parse_failed(parse) ? NULL : arena_alloc(parse->arena, size);

    if (memory == NULL)
        parse_no_memory(parse);
    return memory;
}

const char *parse_unquoted(struct parse *parse, struct span span,
                           size_t *length)
{
    const char *at = parse->sql + span.begin + 1;
    const char *end = parse->sql + span.end - 1;
    char quote = at[-1];
    char *text = parse_alloc(parse, (size_t)(end - at) + 1), *to = text;

    *length = 0;
    if (text == NULL)
        return NULL;
    for (; at < end; at++) {
        *to++ = *at;
        if (*at == quote && quote != '[')
            at++;
    }
    *length = (size_t)(to - text);
    return text;
}

unsigned deeper(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

struct ast_name ast_name(struct parse *parse, struct span span)
{
    struct ast_name name = { .at = span.at };
    size_t length = span.end - span.begin;
    const char *text = parse->sql + span.begin;
    char *copy;

    if (strchr("\"`[", *text) != NULL) {
        name.text = parse_unquoted(parse, span, &length);
    } else {
        copy = parse_alloc(parse, length + 1);
        if (copy != NULL)
            memcpy(copy, text, length);
        name.text = copy;
    }
    return name;
}

/* Grows by doubling; the arena keeps the halves. */
struct name_list ast_names(struct parse *parse, struct name_list list,
                           struct ast_name name)
{
    bool full = (list.count & (list.count - 1)) == 0; /* 0, 1, 2, 4, 8 ... */
    struct ast_name *items = list.items;

    if (full) {
        items =
            parse_alloc(parse, 2 * (size_t)(list.count + 1) * sizeof *items);
        if (items == NULL)
            return list;
        if (list.count > 0)
            memcpy(items, list.items, list.count * sizeof *items);
    }
    items[list.count++] = name;
    list.items = items;
    return list;
}

/* --------------------------------------------------------- statements -- */

struct ast_statement *make_statement(struct parse *parse,
                                     enum ast_statement_kind kind)
{
    struct ast_statement *made = parse_alloc(parse, sizeof *made);

    if (made != NULL)
        made->kind = kind;
    return made;
}

struct ast_name ast_own(struct parse *parse, struct table_name table)
{
    static const char *const schemas[] = { "main", "temp" };
    const struct ast_name *schema = &table.schema;

    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        if (schema->text != NULL && name_equal(schema->text, schemas[i]))
            table.name.schema = schemas[i];
    if (!parse_failed(parse) && schema->text != NULL
        && table.name.schema == NULL) {
        error_at(parse->error, VDBQ_SYNTAX, schema->at,
                 "%s is not the schema of a table here", schema->text);
        error_hint(parse->error,
                   "tables are in the schemas main, and temp: those of "
                   "CREATE TEMP TABLE");
    }
    return table.name;
}

struct ast_statement *ast_empty(struct parse *parse)
{
    return make_statement(parse, AST_EMPTY);
}

struct ast_statement *ast_query_made(struct parse *parse,
                                     enum ast_statement_kind kind,
                                     struct ast_query *query)
{
    struct ast_statement *made = make_statement(parse, kind);

    if (made != NULL)
        made->query = query;
    return made;
}

struct ast_statement *ast_simple(struct parse *parse,
                                 enum ast_statement_kind kind)
{
    return make_statement(parse, kind);
}

struct ast_statement *ast_savepoint(struct parse *parse,
                                    enum ast_statement_kind kind,
                                    struct ast_name name)
{
    struct ast_statement *made = make_statement(parse, kind);

    if (made != NULL)
        made->savepoint = name;
    return made;
}

struct ast_statement *ast_prepare(struct parse *parse, struct ast_name name,
                                  const struct ast_statement *statement,
                                  struct span what)
{
    struct ast_statement *made = make_statement(parse, AST_PREPARE);

    if (made == NULL || statement == NULL)
        return NULL;
    if (statement->kind >= AST_PREPARE) {
        error_at(parse->error, VDBQ_SYNTAX, what.at,
                 "PREPARE is of a statement that is none about such");
        return NULL;
    }
    parse->parameter_count = 0; /* they are that statement's */
    parse->parameters = NULL;
    parse->files = NULL;
    made->named = (struct ast_named){ .name = name,
                                      .begin = what.begin,
                                      .end = what.end };
    return made;
}

struct ast_statement *ast_execute(struct parse *parse, struct ast_name name,
                                  struct span word, struct span values,
                                  unsigned count)
{
    struct ast_statement *made = make_statement(parse, AST_EXECUTE);

    if (made == NULL)
        return NULL;
    if (parse->parameter_count > 0) {
        error_at(parse->error, VDBQ_SYNTAX, values.at,
                 "the values of EXECUTE have no parameters");
        error_hint(parse->error,
                   "a program gives them to a statement that it prepares");
        return NULL;
    }
    made->named = (struct ast_named){ .name = name,
                                      .word = word.begin,
                                      .begin = values.begin,
                                      .end = values.end,
                                      .values = count };
    return made;
}

struct ast_statement *ast_deallocate(struct parse *parse, struct ast_name name)
{
    struct ast_statement *made = make_statement(parse, AST_DEALLOCATE);

    if (made != NULL)
        made->named = (struct ast_named){ .name = name };
    return made;
}

void ast_finish(struct parse *parse, enum ast_explain explain,
                struct ast_statement *statement)
{
    if (statement == NULL)
        return;
    statement->explain = explain;
    statement->files = parse->files;
    statement->parameter_count = parse->parameter_count;
    statement->parameter_names = ast_parameter_names(parse);
    parse->statement = statement;
}

void ast_finish_expression(struct parse *parse, struct span whole,
                           struct ast_expression *expression)
{
    if (parse->parameter_count > 0 && !parse_failed(parse))
        error_at(parse->error, VDBQ_SYNTAX, whole.at,
                 "a parameter cannot stand here");
    parse->expression = expression;
}
