/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: expressions. As in ast.c, each gives NULL
 * once a parse has failed and accepts NULL for what it is made of.
 */
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

struct ast_expression *make_expression(struct parse *parse,
                                       enum ast_expression_kind kind,
                                       struct span span)
{
    struct ast_expression *made = parse->spare;

    if (made == NULL || parse_failed(parse))
        made = parse_alloc(parse, sizeof *made);
    else
        parse->spare = made->left;
    if (made == NULL)
        return NULL;
    *made = (struct ast_expression){ 0 };
    made->kind = kind;
    made->depth = 1;
    made->at = span.at;
    made->begin = span.begin;
    made->end = span.end;
    return made;
}

bool fits_depth(struct parse *parse, unsigned depth, struct position at)
{
    if (depth > SQL_DEPTH_MAX)
        parse_too_deep(parse, at);
    return !parse_failed(parse);
}

unsigned depth_of(const struct ast_expression *expression)
{
    return expression != NULL ? expression->depth : 0;
}

/* What has parts as deep as that; NULL: too deep, or failed before. */
static struct ast_expression *
over_parts(struct parse *parse, struct ast_expression *made, unsigned depth)
{
    if (made == NULL)
        return NULL;
    made->depth = depth + 1;
    return fits_depth(parse, made->depth, made->at) ? made : NULL;
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
    list.depth = deeper(list.depth, depth_of(expression));
    return list;
}

struct ast_expression *ast_column(struct parse *parse, struct span span,
                                  struct ast_name table, struct ast_name column)
{
    struct ast_expression *made = make_expression(parse, AST_COLUMN, span);

    if (made != NULL) {
        made->table = table;
        made->column = column;
    }
    return made;
}

/* ---------------------------------------------------------- operators -- */

struct operation operation(enum ast_operator operator, struct span at,
                           struct span whole)
{
    return (struct operation){ operator, at.at, whole };
}

/* Makes an expression at an operator, over one or two operands. */
static struct ast_expression *make_over(struct parse *parse,
                                        enum ast_expression_kind kind,
                                        struct operation operation,
                                        struct ast_expression *left,
                                        struct ast_expression *right)
{
    struct ast_expression *made = make_expression(parse, kind, operation.whole);

    if (made == NULL || left == NULL)
        return NULL;
    made->operator= operation.operator;
    made->at = operation.at;
    made->left = left;
    made->right = right;
    return over_parts(parse, made, deeper(left->depth, depth_of(right)));
}

/* Whether it is the whole number that only fits with a minus before it. */
static bool is_least_int64(const struct parse *parse,
                           const struct ast_expression *operand)
{
    static const char digits[] = "9223372036854775808";
    const char *text = parse->sql + operand->begin;
    size_t length = operand->end - operand->begin;

    while (length > 0 && *text == '0')
        text++, length--;
    return operand->kind == AST_DECIMAL && length == sizeof digits - 1
           && memcmp(text, digits, length) == 0;
}

struct ast_expression *ast_unary(struct parse *parse,
                                 struct operation operation,
                                 struct ast_expression *operand)
{
    struct ast_expression *made;

    if (operand == NULL
        || operation.operator!= AST_MINUS || !is_least_int64(parse, operand))
        return make_over(parse, AST_OPERATOR, operation, operand, NULL);
    made = make_expression(parse, AST_INTEGER, operation.whole);
    if (made != NULL)
        made->integer = INT64_MIN;
    return made;
}

struct ast_expression *ast_binary(struct parse *parse,
                                  struct operation operation,
                                  struct ast_expression *left,
                                  struct ast_expression *right)
{
    if (right == NULL)
        return NULL;
    return make_over(parse, AST_OPERATOR, operation, left, right);
}

struct ast_expression *ast_null_test(struct parse *parse,
                                     struct operation operation,
                                     struct ast_expression *operand)
{
    struct span place = { .begin = operation.whole.end,
                          .end = operation.whole.end,
                          .at = operation.at };

    return ast_binary(parse, operation, operand,
                      make_expression(parse, AST_NULL, place));
}

struct ast_expression *ast_between(struct parse *parse,
                                   struct operation operation,
                                   struct between between)
{
    struct ast_expression *made =
        make_over(parse, AST_BETWEEN, operation, between.value, NULL);
    struct value_list bounds = { 0 };

    bounds = ast_values(parse, bounds, between.low);
    bounds = ast_values(parse, bounds, between.high);
    if (made == NULL)
        return NULL;
    made->arguments = bounds.first;
    made->argument_count = bounds.count;
    made->negated = between.not ;
    return over_parts(parse, made, deeper(between.value->depth, bounds.depth));
}

struct ast_expression *ast_in(struct parse *parse, struct operation operation,
                              struct ast_expression *value,
                              struct in_items items, bool not )
{
    struct ast_expression *made =
        make_over(parse, AST_IN, operation, value, NULL);
    unsigned depth = items.items.depth;

    if (made == NULL)
        return NULL;
    made->items = items.items.first;
    made->item_count = items.items.count;
    made->query = items.query;
    made->negated = not ;
    if (items.query != NULL)
        depth = items.query->depth;
    return over_parts(parse, made, deeper(value->depth, depth));
}

struct ast_expression *ast_row_value(struct parse *parse, struct span whole,
                                     struct item_list items)
{
    struct ast_expression *made = make_expression(parse, AST_ROW, whole);

    if (made == NULL)
        return NULL;
    made->items = items.first;
    made->item_count = items.count;
    return over_parts(parse, made, items.depth);
}

struct ast_expression *ast_grouping_sets(struct parse *parse, struct span whole,
                                         struct value_list sets)
{
    struct ast_expression *made = make_expression(parse, AST_SETS, whole);

    if (made == NULL)
        return NULL;
    made->arguments = sets.first;
    made->argument_count = sets.count;
    return over_parts(parse, made, sets.depth);
}

struct ast_expression *ast_like(struct parse *parse, struct operation operation,
                                struct like like)
{
    struct ast_expression *made =
        make_over(parse, AST_LIKE, operation, like.value, like.pattern);

    if (made == NULL)
        return NULL;
    made->escape = like.escape;
    made->negated = like.not ;
    made->match = like.match;
    return over_parts(parse, made,
                      deeper(made->depth - 1, depth_of(like.escape)));
}

struct ast_expression *ast_quantified(struct parse *parse,
                                      struct operation operation,
                                      struct ast_expression *left,
                                      struct ast_query *query, bool all)
{
    struct ast_expression *made =
        make_over(parse, AST_QUANTIFIED, operation, left, NULL);

    if (made == NULL || query == NULL)
        return NULL;
    made->query = query;
    made->negated = all;
    return over_parts(parse, made, deeper(left->depth, query->depth));
}

struct ast_expression *ast_cast(struct parse *parse, struct operation operation,
                                struct ast_expression *operand,
                                struct ast_type type)
{
    struct ast_expression *made =
        make_over(parse, AST_CAST, operation, operand, NULL);

    if (made != NULL)
        made->type = type;
    return made;
}

struct ast_expression *ast_try_cast(struct parse *parse,
                                    struct operation operation,
                                    struct ast_expression *operand,
                                    struct ast_type type)
{
    struct ast_expression *made = ast_cast(parse, operation, operand, type);

    if (made != NULL)
        made->try = true;
    return made;
}

struct ast_expression *ast_collate(struct parse *parse,
                                   struct operation operation,
                                   struct ast_expression *operand,
                                   enum collation collation)
{
    struct ast_expression *made =
        make_over(parse, AST_COLLATE, operation, operand, NULL);

    if (made != NULL)
        made->collation = collation;
    return made;
}

struct ast_expression *ast_subquery(struct parse *parse,
                                    enum ast_expression_kind kind,
                                    struct span whole, struct ast_query *query)
{
    struct ast_expression *made = make_expression(parse, kind, whole);

    if (made == NULL || query == NULL)
        return NULL;
    made->query = query;
    return over_parts(parse, made, query->depth);
}

struct ast_expression *ast_group(struct parse *parse, struct span whole,
                                 struct ast_expression *inner)
{
    if (inner == NULL)
        return NULL;
    inner->depth++;
    return fits_depth(parse, inner->depth, whole.at) ? inner : NULL;
}

/* --------------------------------------------------------------- CASE -- */

struct when_list ast_whens(struct parse *parse, struct when_list list,
                           struct ast_expression *when,
                           struct ast_expression *then)
{
    struct ast_when *made = parse_alloc(parse, sizeof *made);

    if (made == NULL)
        return list;
    made->when = when;
    made->then = then;
    if (list.last != NULL)
        list.last->next = made;
    else
        list.first = made;
    list.last = made;
    list.depth = deeper(list.depth, deeper(depth_of(when), depth_of(then)));
    return list;
}

struct ast_expression *ast_case(struct parse *parse, struct span whole,
                                struct ast_expression *operand,
                                struct when_list whens,
                                struct ast_expression *otherwise)
{
    struct ast_expression *made = make_expression(parse, AST_CASE, whole);
    unsigned depth = deeper(depth_of(operand), depth_of(otherwise));

    if (made == NULL)
        return NULL;
    made->left = operand;
    made->whens = whens.first;
    made->right = otherwise;
    return over_parts(parse, made, deeper(depth, whens.depth));
}

/* ---------------------------------------------------------- functions -- */

struct call ast_part(struct parse *parse, struct ast_expression *value,
                     struct ast_expression *start,
                     struct ast_expression *length)
{
    struct call call = { .part = true };

    call.arguments = ast_values(parse, call.arguments, value);
    call.arguments = ast_values(parse, call.arguments, start);
    if (length != NULL)
        call.arguments = ast_values(parse, call.arguments, length);
    return call;
}

struct call ast_side(struct parse *parse, struct span side,
                     struct ast_expression *characters,
                     struct ast_expression *value)
{
    struct call call = ast_part(parse, characters, value, NULL);

    call.side = ast_name(parse, side);
    return call;
}

/* trim(LEADING x FROM y) is ltrim(y, x). */
static void check_side(struct parse *parse, struct ast_name side,
                       struct ast_name *name)
{
    static const char *const sides[] = { "both", "leading", "trailing" };
    static const char *const names[] = { "trim", "ltrim", "rtrim" };
    int i = 2;

    while (i >= 0 && !name_equal(side.text, sides[i]))
        i--;
    if (i >= 0 && name_equal(name->text, "trim"))
        name->text = names[i];
    else
        error_at(parse->error, VDBQ_SYNTAX, side.at,
                 "trim is written with BOTH, LEADING or TRAILING, and no other "
                 "function");
}

/* substring(x FROM 2 FOR 3) is substring(x, 2, 3), but trim(x FROM y) is
 * trim(y, x). No other function is written so. */
static void check_part(struct parse *parse, struct ast_name name,
                       struct call *call)
{
    struct ast_value *first = call->arguments.first;

    if (name_equal(name.text, "substring") || name_equal(name.text, "substr"))
        return;
    if (name_equal(name.text, "trim") && call->arguments.count == 2) {
        struct ast_expression *characters = first->expression;
        first->expression = first->next->expression;
        first->next->expression = characters;
        return;
    }
    error_at(parse->error, VDBQ_SYNTAX, name.at,
             "the arguments of %s are written with commas", name.text);
}

struct ast_expression *ast_function(struct parse *parse, struct span whole,
                                    struct function function)
{
    struct ast_expression *made = make_expression(parse, AST_FUNCTION, whole);
    unsigned depth =
        deeper(function.call.arguments.depth, function.window.depth);

    depth = deeper(depth, function.call.order.depth);
    if (made == NULL)
        return NULL;
    if (function.call.part)
        check_part(parse, function.name, &function.call);
    if (function.call.side.text != NULL)
        check_side(parse, function.call.side, &function.name);
    made->column = function.name;
    made->arguments = function.call.arguments.first;
    made->argument_count = function.call.arguments.count;
    made->star = function.call.star;
    made->distinct = function.call.distinct;
    made->ignores_nulls = function.call.ignores_nulls;
    made->order = function.call.order.first;
    made->filter = function.filter;
    made->over = function.window.over;
    return over_parts(parse, made, deeper(depth, depth_of(function.filter)));
}
