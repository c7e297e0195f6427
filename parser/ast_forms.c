/* SPDX-License-Identifier: MIT */
/*
 * Constructors of forms that are written in a way of their own and mean calls of
 * functions: EXTRACT, POSITION, INTERVAL of an expression, WITHIN GROUP, x ^ y.
 */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

struct ast_expression *ast_extract(struct parse *parse, struct span whole,
                                   struct span name, struct span field,
                                   struct ast_expression *value)
{
    struct function function = { .name = ast_name(parse, name) };
    struct ast_name word = ast_name(parse, field);
    struct ast_expression *text = make_expression(parse, AST_STRING, field);

    if (text == NULL)
        return NULL;
    text->string = word.text;
    text->string_length = strlen(word.text);
    function.call.arguments = ast_values(parse, function.call.arguments, text);
    function.call.arguments = ast_values(parse, function.call.arguments, value);
    return ast_function(parse, whole, function);
}

struct ast_expression *ast_position(struct parse *parse, struct span at,
                                    struct span name,
                                    struct ast_expression *part,
                                    struct ast_expression *whole)
{
    struct function function = { .name = ast_name(parse, name) };

    function.name.text = "instr";
    function.call.arguments = ast_values(parse, function.call.arguments, whole);
    function.call.arguments = ast_values(parse, function.call.arguments, part);
    return ast_function(parse, at, function);
}

struct ast_expression *ast_power(struct parse *parse, struct span whole,
                                 struct ast_expression *base,
                                 struct ast_expression *exponent)
{
    struct function function = { .name = { .text = "power", .at = whole.at } };

    function.call.arguments = ast_values(parse, function.call.arguments, base);
    function.call.arguments =
        ast_values(parse, function.call.arguments, exponent);
    return ast_function(parse, whole, function);
}

/* ------------------------------------------------------------- INTERVAL -- */

struct ast_expression *ast_interval_of(struct parse *parse, struct span whole,
                                       struct ast_expression *amount,
                                       struct span unit)
{
    size_t length = unit.end - unit.begin;
    char *name = parse_alloc(parse, length + sizeof "to_s");
    struct function function = { .name = { .text = name, .at = whole.at } };

    if (name == NULL)
        return NULL;
    assert(is_unit(parse->sql + unit.begin, length));
    length -= (parse->sql[unit.end - 1] | 0x20) == 's';
    memcpy(name, "to_", 3);
    memcpy(name + 3, parse->sql + unit.begin, length);
    memcpy(name + 3 + length, "s", 2);
    function.call.arguments =
        ast_values(parse, function.call.arguments, amount);
    return ast_function(parse, whole, function);
}

/* --------------------------------------------------------- WITHIN GROUP -- */

/* Aggregates of the standard, and what they are called where the value is an
 * argument: percentile_cont(f) WITHIN GROUP (ORDER BY x) is quantile_cont(x, f). */
static const struct ordered_set {
    const char *name, *plain;
    unsigned arguments;
} ordered_sets[] = {
    { "percentile_cont", "quantile_cont", 1 },
    { "percentile_disc", "quantile_disc", 1 },
    { "quantile_cont", "quantile_cont", 1 },
    { "quantile_disc", "quantile_disc", 1 },
    { "mode", "mode", 0 },
};

static const struct ordered_set *find_set(const struct function *function)
{
    for (size_t i = 0; i < sizeof ordered_sets / sizeof *ordered_sets; i++)
        if (name_equal(function->name.text, ordered_sets[i].name)
            && function->call.arguments.count == ordered_sets[i].arguments)
            return &ordered_sets[i];
    return NULL;
}

/* The value that the rows are put in order by is the first argument. */
static struct ast_expression *of_set(struct parse *parse, struct span whole,
                                     struct function function,
                                     const struct ordered_set *set,
                                     const struct ast_order *order)
{
    struct value_list given = function.call.arguments;
    struct value_list arguments =
        ast_values(parse, (struct value_list){ 0 }, order->expression);

    if (order->next != NULL || order->descending
        || order->nulls != AST_NULLS_DEFAULT) {
        error_at(parse->error, VDBQ_SYNTAX, function.name.at,
                 "%s is WITHIN GROUP of one value, in ascending order",
                 function.name.text);
        return NULL;
    }
    for (const struct ast_value *value = given.first; value != NULL;
         value = value->next)
        arguments = ast_values(parse, arguments, value->expression);
    function.name.text = set->plain;
    function.call.arguments = arguments;
    return ast_function(parse, whole, function);
}

struct ast_expression *ast_within_group(struct parse *parse, struct span whole,
                                        struct function function,
                                        struct order_list order)
{
    const struct ordered_set *set;

    if (parse_failed(parse))
        return NULL;
    set = find_set(&function);
    if (function.call.order.first != NULL) {
        error_at(parse->error, VDBQ_SYNTAX, function.name.at,
                 "%s has an ORDER BY and WITHIN GROUP", function.name.text);
        return NULL;
    }
    if (set != NULL)
        return of_set(parse, whole, function, set, order.first);
    function.call.order = order;
    return ast_function(parse, whole, function);
}
