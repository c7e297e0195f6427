/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: names, lists, statements. The memory is
 * the arena's. Each gives NULL once a parse has failed and accepts NULL for
 * what it is made of. Lists have a tail, so that a long INSERT takes linear
 * time.
 */
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

/* ------------------------------------------------- memory and names -- */

void *parse_alloc(struct parse *parse, size_t size)
{
    void *memory = parse_failed(parse) ? NULL
                 : arena_alloc(parse->arena, size);

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

/* -------------------------------------------------------------- types -- */

static enum vdbq_type find_type(const char *name)
{
    static const struct {
        const char *name;
        enum vdbq_type type;
    } types[] = {
        { "integer", VDBQ_INTEGER }, { "int", VDBQ_INTEGER },
        { "int4", VDBQ_INTEGER },    { "bigint", VDBQ_BIGINT },
        { "int8", VDBQ_BIGINT },     { "float", VDBQ_FLOAT },
        { "float4", VDBQ_FLOAT },    { "double", VDBQ_DOUBLE },
        { "real", VDBQ_DOUBLE },     { "float8", VDBQ_DOUBLE },
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (name_equal(name, types[i].name))
            return types[i].type;
    return VDBQ_TYPE_NONE;
}

static void no_such_type(struct parse *parse, struct position at,
                         const char *name)
{
    error_at(parse->error, VDBQ_SYNTAX, at, "there is no type \"%s\"", name);
    error_hint(parse->error, "the types are INTEGER (INT, INT4), BIGINT "
               "(INT8), FLOAT (FLOAT4) and DOUBLE (REAL, FLOAT8, DOUBLE "
               "PRECISION)");
}

enum vdbq_type ast_type(struct parse *parse, struct ast_name name)
{
    enum vdbq_type type;

    if (parse_failed(parse))
        return VDBQ_TYPE_NONE;
    type = find_type(name.text);
    if (type == VDBQ_TYPE_NONE)
        no_such_type(parse, name.at, name.text);
    return type;
}

enum vdbq_type ast_type_pair(struct parse *parse, struct ast_name first,
                             struct ast_name second)
{
    if (parse_failed(parse))
        return VDBQ_TYPE_NONE;
    if (name_equal(first.text, "double")
            && name_equal(second.text, "precision"))
        return VDBQ_DOUBLE;
    if (find_type(first.text) == VDBQ_TYPE_NONE)
        no_such_type(parse, first.at, first.text);
    else
        error_at(parse->error, VDBQ_SYNTAX, second.at,
                 "syntax error at \"%s\": the type %s is one word",
                 second.text, first.text);
    return VDBQ_TYPE_NONE;
}

enum vdbq_type ast_type_sized(struct parse *parse, struct span span,
                              enum vdbq_type type)
{
    if (!parse_failed(parse))
        error_at(parse->error, VDBQ_SYNTAX, span.at,
                 "the type %.*s takes no length",
                 (int)(span.end - span.begin), parse->sql + span.begin);
    return type;
}

/* -------------------------------------------------------------- lists -- */

/* Grows by doubling; the arena keeps the halves. */
struct name_list ast_names(struct parse *parse, struct name_list list,
                           struct ast_name name)
{
    bool full = (list.count & (list.count - 1)) == 0; /* 0, 1, 2, 4, 8 ... */
    struct ast_name *items = list.items;

    if (full) {
        items = parse_alloc(parse,
                            2 * (size_t)(list.count + 1) * sizeof *items);
        if (items == NULL)
            return list;
        if (list.count > 0)
            memcpy(items, list.items, list.count * sizeof *items);
    }
    items[list.count++] = name;
    list.items = items;
    return list;
}

struct value_list ast_values(struct parse *parse, struct value_list list,
                             struct ast_expression *expression)
{
    struct ast_value *value = parse_alloc(parse, sizeof *value);

    if (value == NULL)
        return list;
    value->expression = expression;
    if (list.last != NULL)
        list.last->next = value;
    else
        list.first = value;
    list.last = value;
    list.count++;
    return list;
}

struct ast_row *ast_row(struct parse *parse, struct span open,
                        struct value_list values)
{
    struct ast_row *row = parse_alloc(parse, sizeof *row);

    if (row == NULL)
        return NULL;
    row->values = values.first;
    row->value_count = values.count;
    row->at = open.at;
    return row;
}

struct row_list ast_rows(struct row_list list, struct ast_row *row)
{
    if (row == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = row;
    else
        list.first = row;
    list.last = row;
    list.count++;
    return list;
}

struct ast_result *ast_star(struct parse *parse, struct span span,
                            struct ast_name table)
{
    struct ast_result *result = parse_alloc(parse, sizeof *result);

    if (result == NULL)
        return NULL;
    result->star = true;
    result->table = table;
    result->at = span.at;
    return result;
}

struct ast_result *ast_result(struct parse *parse, struct span span,
                              struct ast_expression *expression,
                              struct ast_name alias)
{
    struct ast_result *result = parse_alloc(parse, sizeof *result);

    if (result == NULL)
        return NULL;
    result->expression = expression;
    result->alias = alias;
    result->at = span.at;
    return result;
}

struct result_list ast_results(struct result_list list,
                               struct ast_result *result)
{
    if (result == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = result;
    else
        list.first = result;
    list.last = result;
    list.count++;
    return list;
}

struct ast_column *ast_column_made(struct parse *parse, struct ast_name name,
                                   enum vdbq_type type,
                                   struct position key_at)
{
    struct ast_column *column = parse_alloc(parse, sizeof *column);

    if (column == NULL)
        return NULL;
    column->name = name;
    column->type = type;
    column->primary_key = key_at.line != 0;
    column->key_at = key_at;
    return column;
}

struct column_list ast_columns(struct column_list list,
                               struct ast_column *column)
{
    if (column == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = column;
    else
        list.first = column;
    list.last = column;
    list.count++;
    return list;
}

struct column_list ast_key(struct column_list list, struct ast_name key)
{
    list.key = key;
    return list;
}

struct ast_table *ast_table(struct parse *parse, struct ast_name name,
                            struct ast_name alias)
{
    struct ast_table *table = parse_alloc(parse, sizeof *table);

    if (table == NULL)
        return NULL;
    table->name = name;
    table->alias = alias;
    return table;
}

/* --------------------------------------------------------- statements -- */

static struct ast_statement *make_statement(struct parse *parse,
                                            enum ast_statement_kind kind)
{
    struct ast_statement *made = parse_alloc(parse, sizeof *made);

    if (made != NULL)
        made->kind = kind;
    return made;
}

struct ast_statement *ast_empty(struct parse *parse)
{
    return make_statement(parse, AST_EMPTY);
}

struct ast_statement *ast_select(struct parse *parse,
                                 struct result_list results,
                                 struct ast_table *from,
                                 struct ast_expression *where)
{
    struct ast_statement *made = make_statement(parse, AST_SELECT);

    if (made != NULL)
        made->select = (struct ast_select){ results.first, results.count,
                                            from, where };
    return made;
}

struct ast_statement *ast_create(struct parse *parse, bool if_not_exists,
                                 struct ast_name table,
                                 struct column_list columns)
{
    struct ast_statement *made = make_statement(parse, AST_CREATE_TABLE);

    if (made != NULL)
        made->create = (struct ast_create){
            .table = table, .if_not_exists = if_not_exists,
            .columns = columns.first, .column_count = columns.count,
            .key = columns.key
        };
    return made;
}

struct ast_statement *ast_drop(struct parse *parse, bool if_exists,
                               struct ast_name table)
{
    struct ast_statement *made = make_statement(parse, AST_DROP_TABLE);

    if (made != NULL)
        made->drop = (struct ast_drop){ table, if_exists };
    return made;
}

struct ast_statement *ast_insert(struct parse *parse, struct ast_name table,
                                 struct name_list columns,
                                 struct row_list rows)
{
    struct ast_statement *made = make_statement(parse, AST_INSERT);

    if (made != NULL)
        made->insert = (struct ast_insert){
            .table = table, .columns = columns.items,
            .column_count = columns.count, .rows = rows.first,
            .row_count = rows.count
        };
    return made;
}

void ast_finish(struct parse *parse, enum ast_explain explain,
                struct ast_statement *statement)
{
    if (statement == NULL)
        return;
    statement->explain = explain;
    parse->statement = statement;
}
