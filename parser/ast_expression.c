/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: expressions. As in ast.c, each gives NULL
 * once a parse has failed and accepts NULL for what it is made of.
 */
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

static struct ast_expression *make(struct parse *parse,
                                   enum ast_expression_kind kind,
                                   struct span span);
static bool fits_limits(struct parse *parse,
                        const struct ast_expression *expression);

/* ----------------------------------------------------------- literals -- */

static struct ast_expression *make(struct parse *parse,
                                   enum ast_expression_kind kind,
                                   struct span span)
{
    struct ast_expression *made = parse_alloc(parse, sizeof *made);

    if (made == NULL)
        return NULL;
    made->kind = kind;
    made->depth = 1;
    made->nodes = 1;
    made->at = span.at;
    made->begin = span.begin;
    made->end = span.end;
    return made;
}

/* The digits behind 0x as 64 bits, which may be a negative number; false:
 * there are more. */
static bool read_hex(const char *digits, size_t count, int64_t *value)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        char digit = digits[i];
        if (bits >> 60 != 0)
            return false;
        bits = bits << 4 | (uint64_t)(digit <= '9' ? digit - '0'
                                                   : (digit | 0x20) - 'a' + 10);
    }
    memcpy(value, &bits, sizeof bits);
    return true;
}

struct ast_expression *ast_integer(struct parse *parse, struct span span)
{
    const char *text = parse->sql + span.begin;
    size_t length = span.end - span.begin;
    struct ast_expression *made = make(parse, AST_INTEGER, span);

    if (made == NULL)
        return NULL;
    if (length > 2 && (text[1] | 0x20) == 'x') {
        if (!read_hex(text + 2, length - 2, &made->integer))
            parse_bad_token(parse, span, "the number has more than 64 bits",
                            "");
    } else if (!text_to_int64(text, length, &made->integer)) {
        made->kind = AST_DECIMAL;
        text_to_double(text, length, &made->decimal);
    }
    return made;
}

struct ast_expression *ast_decimal(struct parse *parse, struct span span)
{
    struct ast_expression *made = make(parse, AST_DECIMAL, span);

    if (made != NULL)
        text_to_double(parse->sql + span.begin, span.end - span.begin,
                       &made->decimal);
    return made;
}

struct ast_expression *ast_string(struct parse *parse, struct span span)
{
    struct ast_expression *made = make(parse, AST_STRING, span);

    if (made != NULL)
        made->string = parse_unquoted(parse, span, &made->string_length);
    return made;
}

struct ast_expression *ast_null(struct parse *parse, struct span span)
{
    return make(parse, AST_NULL, span);
}

struct ast_expression *ast_boolean(struct parse *parse, struct span span,
                                   bool value)
{
    struct ast_expression *made = make(parse, AST_INTEGER, span);

    if (made != NULL)
        made->integer = value;
    return made;
}

struct ast_expression *ast_column(struct parse *parse, struct span span,
                                  struct ast_name table,
                                  struct ast_name column)
{
    struct ast_expression *made = make(parse, AST_COLUMN, span);

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

static unsigned deeper(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Makes an operator over one or two operands. */
static struct ast_expression *make_operator(struct parse *parse,
                                            struct operation operation,
                                            struct ast_expression *left,
                                            struct ast_expression *right)
{
    struct ast_expression *made = make(parse, AST_OPERATOR, operation.whole);

    if (made == NULL || left == NULL)
        return NULL;
    made->operator = operation.operator;
    made->at = operation.at;
    made->left = left;
    made->right = right;
    made->depth += deeper(left->depth, right != NULL ? right->depth : 0);
    made->nodes += left->nodes + (right != NULL ? right->nodes : 0);
    return fits_limits(parse, made) ? made : NULL;
}

static bool fits_limits(struct parse *parse,
                        const struct ast_expression *expression)
{
    if (expression->depth > SQL_DEPTH_MAX)
        parse_too_deep(parse, expression->at);
    else if (expression->nodes > SQL_NODES_MAX)
        error_at(parse->error, VDBQ_LIMIT, expression->at,
                 "the expression has more than %d parts", SQL_NODES_MAX);
    return !parse_failed(parse);
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

    if (operand == NULL || operation.operator != AST_MINUS
            || !is_least_int64(parse, operand))
        return make_operator(parse, operation, operand, NULL);
    made = make(parse, AST_INTEGER, operation.whole);
    if (made != NULL)
        made->integer = INT64_MIN;
    return made;
}

/* Whether the operand is written as TRUE or FALSE. */
static bool is_boolean(const struct parse *parse,
                       const struct ast_expression *operand)
{
    return operand->kind == AST_INTEGER
           && strchr("tTfF", parse->sql[operand->begin]) != NULL;
}

/* operand IS TRUE, or IS FALSE: operand IS NOT NULL AND operand <> 0 (= 0).
 * IS NOT is the opposite. */
static struct ast_expression *truth_test(struct parse *parse,
                                         struct operation operation,
                                         struct ast_expression *operand,
                                         struct ast_expression *boolean)
{
    struct operation and = operation, not = operation, compare = operation;
    struct operation known = operation;
    struct ast_expression *test;

    and.operator = AST_AND;
    not.operator = AST_NOT;
    known.operator = AST_IS_NOT;
    compare.operator = boolean->integer != 0 ? AST_NEQ : AST_EQ;
    boolean->integer = 0;
    test = make_operator(parse, compare, operand, boolean);
    if (test != NULL)
        test = make_operator(parse, and,
                             ast_null_test(parse, known, operand), test);
    if (operation.operator == AST_IS || test == NULL)
        return test;
    return make_operator(parse, not, test, NULL);
}

struct ast_expression *ast_binary(struct parse *parse,
                                  struct operation operation,
                                  struct ast_expression *left,
                                  struct ast_expression *right)
{
    bool is = operation.operator == AST_IS
              || operation.operator == AST_IS_NOT;

    if (left == NULL || right == NULL)
        return NULL;
    if (is && is_boolean(parse, right))
        return truth_test(parse, operation, left, right);
    return make_operator(parse, operation, left, right);
}

struct ast_expression *ast_null_test(struct parse *parse,
                                     struct operation operation,
                                     struct ast_expression *operand)
{
    struct span place = { .begin = operation.whole.end,
                          .end = operation.whole.end, .at = operation.at };

    return ast_binary(parse, operation, operand, ast_null(parse, place));
}

/* value >= low AND value <= high, over one value: nested BETWEENs double
 * the parts each time, which the limit on them ends. */
struct ast_expression *ast_between(struct parse *parse,
                                   struct operation operation,
                                   struct between between)
{
    struct operation low = operation, high = operation, not = operation;
    struct ast_expression *both;

    low.operator = AST_GE;
    high.operator = AST_LE;
    not.operator = AST_NOT;
    both = ast_binary(parse, operation,
                      ast_binary(parse, low, between.value, between.low),
                      ast_binary(parse, high, between.value, between.high));
    return between.not ? ast_unary(parse, not, both) : both;
}

struct ast_expression *ast_cast(struct parse *parse, struct span whole,
                                struct ast_expression *operand,
                                enum vdbq_type type)
{
    struct ast_expression *made = make(parse, AST_CAST, whole);

    if (made == NULL || operand == NULL)
        return NULL;
    made->type = type;
    made->left = operand;
    made->depth += operand->depth;
    made->nodes += operand->nodes;
    return fits_limits(parse, made) ? made : NULL;
}

struct ast_expression *ast_group(struct parse *parse, struct span whole,
                                 struct ast_expression *inner)
{
    if (inner == NULL)
        return NULL;
    inner->depth++;
    if (inner->depth > SQL_DEPTH_MAX)
        parse_too_deep(parse, whole.at);
    return inner;
}
