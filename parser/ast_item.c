/* SPDX-License-Identifier: MIT */
/*
 * Items of lists that may be long. The expression that the grammar made of a
 * literal is given back to the parse as soon as it is in a list, so that a
 * list of a million literals never has a million expressions.
 */
#include <assert.h>
#include <string.h>

#include "parser/parser_inner.h"

bool ast_item_is_literal(const struct ast_item *item)
{
    return item->kind <= AST_FALSE;
}

const struct ast_expression *ast_item_read(const struct ast_item *item,
                                           struct ast_expression *room)
{
    if (!ast_item_is_literal(item))
        return item->expression;
    *room = (struct ast_expression){ .kind = item->kind,
                                     .depth = 1,
                                     .at = item->at,
                                     .begin = item->begin,
                                     .end = item->begin + item->length };
    if (item->kind == AST_INTEGER)
        room->integer = item->integer;
    else if (item->kind == AST_DECIMAL)
        room->decimal = item->decimal;
    else if (item->kind == AST_STRING)
        room->string = item->string;
    if (item->kind == AST_STRING)
        room->string_length = strlen(item->string);
    return room;
}

/* Whether it is a minus before a number. */
static bool is_minus(const struct ast_expression *e)
{
    return e->kind == AST_OPERATOR
           && e->
              operator== AST_MINUS && e->left->kind == AST_INTEGER && e->left->integer >= 0;
}

static void give_back(struct parse *parse, struct ast_expression *e)
{
    e->left = parse->spare;
    parse->spare = e;
}

/* Fills in an item of a literal; false: it is none. */
static bool take_literal(struct parse *parse, struct ast_item *item,
                         struct ast_expression *e)
{
    bool minus = is_minus(e);
    struct ast_expression *literal = minus ? e->left : e;

    if (literal->kind > AST_FALSE)
        return false;
    item->kind = literal->kind;
    if (item->kind == AST_INTEGER)
        item->integer = minus ? -literal->integer : literal->integer;
    else if (item->kind == AST_DECIMAL)
        item->decimal = literal->decimal;
    else if (item->kind == AST_STRING)
        item->string = literal->string;
    if (minus)
        give_back(parse, literal);
    give_back(parse, e);
    return true;
}

struct item_list ast_items(struct parse *parse, struct item_list list,
                           struct ast_expression *expression)
{
    struct ast_item *item = parse_alloc(parse, sizeof *item);

    if (item == NULL || expression == NULL)
        return list;
    assert(expression->end - expression->begin <= SQL_BYTES_MAX);
    list.depth = deeper(list.depth, depth_of(expression));
    item->at = expression->at;
    item->begin = (uint32_t)expression->begin;
    item->length = (uint32_t)(expression->end - expression->begin);
    if (!take_literal(parse, item, expression)) {
        item->kind = expression->kind;
        item->expression = expression;
    }
    if (list.last != NULL)
        list.last->next = item;
    else
        list.first = item;
    list.last = item;
    list.count++;
    return list;
}
