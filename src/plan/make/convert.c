/* SPDX-License-Identifier: MIT */
/*
 * CAST. Conversions between machine numbers are an opcode; the others are made
 * of arithmetic (those of dates in convert_date.c), or are functions of the
 * host on texts.
 */
#include "plan/make/convert.h"

#include "base/type.h"

#include <string.h>

#include "plan/make/arithmetic.h"
#include "plan/make/call.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/coerce.h"
#include "plan/tree/binder.h"

/* ------------------------------------------------------------- decimals -- */

/* Half away from zero, divided. */
static struct expression *round_off(struct binder *binder, struct expression *e,
                                    int64_t divisor)
{
    struct expression *up, *down, *below;

    up = expression_calculate(binder, AST_ADD, e, divisor / 2, e->at);
    down = expression_calculate(binder, AST_SUB, e, divisor / 2, e->at);
    below = expression_calculate(binder, AST_LT, e, 0, e->at);
    if (up == NULL || down == NULL || below == NULL)
        return NULL;
    e = expression_choice(binder, below, down, up, e->at);
    return expression_calculate(binder, AST_DIV, e, divisor, up->at);
}

struct expression *expression_scale(struct binder *binder,
                                    struct expression *operand, unsigned scale,
                                    struct position at)
{
    struct expression *e = operand;
    int64_t digits;

    if (operand->type == VDBQ_DECIMAL && operand->scale == scale)
        return operand;
    if (operand->kind == EXPRESSION_CONSTANT && !operand->constant.null
        && scale >= operand->scale
        && !__builtin_mul_overflow(operand->constant.integer,
                                   decimal_power(scale - operand->scale),
                                   &digits))
        return expression_renamed(binder,
                                  expression_integer(binder, digits, at),
                                  VDBQ_DECIMAL, scale);
    if (is_null_constant(operand))
        return expression_renamed(binder,
                                  expression_null(binder, VDBQ_BIGINT, at),
                                  VDBQ_DECIMAL, scale);
    if (operand->type == VDBQ_DECIMAL)
        e = expression_renamed(binder, operand, VDBQ_BIGINT, 0);
    if (e != NULL && scale > operand->scale)
        e = expression_calculate(binder, AST_MUL, e,
                                 decimal_power(scale - operand->scale), at);
    else if (e != NULL && scale < operand->scale)
        e = round_off(binder, e, decimal_power(operand->scale - scale));
    return expression_renamed(binder, e, VDBQ_DECIMAL, scale);
}

static struct expression *decimal_of_float(struct binder *binder,
                                           struct expression *e, unsigned scale)
{
    struct ast_expression place = { .at = e->at };
    struct expression *factor, *zero;

    e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    factor = e ? expression_real(binder, VDBQ_DOUBLE,
                                 (double)decimal_power(scale), e->at)
               : NULL;
    e = factor ? expression_arithmetic(binder, AST_MUL, e, factor, &place)
               : NULL;
    zero = e ? expression_integer(binder, 0, e->at) : NULL;
    e = zero ? expression_math(binder, OP_ROUND_F64, VDBQ_DOUBLE, e, zero,
                               false, e->at)
             : NULL;
    e = e ? expression_number(binder, e, VDBQ_BIGINT, e->at) : NULL;
    return expression_renamed(binder, e, VDBQ_DECIMAL, scale);
}

static struct expression *decimal_of_text(struct binder *binder,
                                          struct expression *e,
                                          struct ast_type type)
{
    struct expression *arguments[3] = { e };

    arguments[1] = expression_integer(binder, type.precision, e->at);
    arguments[2] = expression_integer(binder, type.scale, e->at);
    if (arguments[1] == NULL || arguments[2] == NULL)
        return NULL;
    e = expression_call(binder, "to_decimal", arguments, 3, e->at);
    return expression_renamed(binder, e, VDBQ_DECIMAL, type.scale);
}

/* The text of a literal that a DOUBLE does not hold whole; NULL: it is none. */
static struct expression *digits_of(struct binder *binder,
                                    const struct expression *e)
{
    bool has = e->kind == EXPRESSION_CONSTANT && e->literal
               && e->type == VDBQ_DOUBLE && e->constant.text.length > 0;

    return has ? expression_text(binder, e->constant.text, e->at) : NULL;
}

/* That a DECIMAL has no more digits than its type. */
static struct expression *
with_precision(struct binder *binder, struct expression *e, unsigned precision)
{
    struct ast_expression place = { .at = e->at };
    struct expression *digits, *above, *below, *either;
    int64_t limit = decimal_power(precision);

    if (is_null_constant(e)
        || (e->range.low > -limit && e->range.high < limit)) {
        e->precision = precision;
        return e;
    }
    digits = expression_renamed(binder, e, VDBQ_BIGINT, 0);
    above = expression_calculate(binder, AST_GE, digits, limit, e->at);
    below = expression_calculate(binder, AST_LE, digits, -limit, e->at);
    either = above && below
                 ? expression_logic(binder, AST_OR, above, below, &place)
                 : NULL;
    e = either ? expression_check(binder, e, either,
                                  "the number has more "
                                  "digits than its DECIMAL")
               : NULL;
    if (e != NULL)
        e->precision = precision;
    return e;
}

/* A SMALLINT of a wider integer. */
static struct expression *to_smallint(struct binder *binder,
                                      struct expression *e)
{
    struct ast_expression place = { .at = e->at };
    struct expression *above, *below, *either;

    e = expression_cast_plain(binder, e, VDBQ_INTEGER, e->at);
    if (e != NULL && interval_fits(&e->range, INT16_MIN, INT16_MAX))
        return expression_number(binder, e, VDBQ_SMALLINT, e->at);
    above = expression_calculate(binder, AST_GT, e, INT16_MAX, place.at);
    below = expression_calculate(binder, AST_LT, e, INT16_MIN, place.at);
    either = above && below
                 ? expression_logic(binder, AST_OR, above, below, &place)
                 : NULL;
    e = either ? expression_check(binder, e, either,
                                  "the number does not fit SMALLINT")
               : NULL;
    return e ? expression_number(binder, e, VDBQ_SMALLINT, e->at) : NULL;
}

static struct expression *to_decimal(struct binder *binder,
                                     struct expression *e, struct ast_type type)
{
    struct expression *digits = digits_of(binder, e);

    if (digits != NULL)
        e = digits;
    if (e->type == VDBQ_TEXT) {
        e = decimal_of_text(binder, e, type); /* which looks at its digits */
        if (e != NULL)
            e->precision = type.precision;
        return e;
    }
    e = is_float(e->type) ? decimal_of_float(binder, e, type.scale)
                          : expression_scale(binder, e, type.scale, e->at);
    return e ? with_precision(binder, e, type.precision) : NULL;
}

/* A DECIMAL as another number. */
static struct expression *of_decimal(struct binder *binder,
                                     struct expression *e, int type)
{
    struct ast_expression place = { .at = e->at };
    int64_t factor = decimal_power(e->scale);
    struct expression *digits = expression_renamed(binder, e, VDBQ_BIGINT, 0),
                      *divisor;

    if (digits == NULL)
        return NULL;
    if (!is_float(type)) {
        if (factor > 1)
            digits = round_off(binder, digits, factor);
        return digits ? expression_cast_plain(binder, digits, type, e->at)
                      : NULL;
    }
    digits = expression_cast_plain(binder, digits, VDBQ_DOUBLE, e->at);
    divisor = expression_real(binder, VDBQ_DOUBLE, (double)factor, e->at);
    if (digits == NULL || divisor == NULL)
        return NULL;
    e = expression_arithmetic(binder, AST_DIV, digits, divisor, &place);
    return e ? expression_cast_plain(binder, e, type, e->at) : NULL;
}

/* ---------------------------------------------------------------- texts -- */

static struct expression *to_text(struct binder *binder, struct expression *e)
{
    struct expression *arguments[2] = { e, NULL };
    const char *name = e->type == VDBQ_FLOAT       ? "from_float"
                       : is_float(e->type)         ? "from_double"
                       : e->type == VDBQ_DECIMAL   ? "from_decimal"
                       : e->type == VDBQ_DATE      ? "from_date"
                       : e->type == VDBQ_TIMESTAMP ? "from_timestamp"
                       : e->type == VDBQ_BOOLEAN   ? "from_boolean"
                                                   : "from_integer";

    if (e->type != VDBQ_DECIMAL)
        return expression_call(binder, name, arguments, 1, e->at);
    arguments[1] = expression_integer(binder, e->scale, e->at);
    return arguments[1] ? expression_call(binder, name, arguments, 2, e->at)
                        : NULL;
}

static struct expression *of_text(struct binder *binder, struct expression *e,
                                  int type)
{
    static const char *const names[] = {
        [VDBQ_INTEGER] = "to_integer",   [VDBQ_BIGINT] = "to_bigint",
        [VDBQ_SMALLINT] = "to_smallint", [VDBQ_FLOAT] = "to_double",
        [VDBQ_DOUBLE] = "to_double",     [VDBQ_BOOLEAN] = "to_boolean",
        [VDBQ_DATE] = "to_date",         [VDBQ_TIMESTAMP] = "to_timestamp"
    };
    struct position at = e->at;

    e = expression_call(binder, names[type], &e, 1, at);
    return e && e->type != type ? expression_number(binder, e, type, at) : e;
}

/* The number that a literal text holds, blanks around it aside. */
struct expression *expression_text_number(struct binder *binder,
                                          const struct expression *e)
{
    const char *text = e->constant.text.bytes;
    size_t length = e->constant.text.length;
    int64_t integer;
    double real;

    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    while (length > 0 && strchr(" \t\r\n", text[0]) != NULL)
        text++, length--;
    if (text_to_int64(text, length, &integer))
        return expression_integer(binder, integer, e->at);
    if (length > 0 && text_to_double(text, length, &real) && real == real)
        return expression_real(binder, VDBQ_DOUBLE, real, e->at);
    error_at(binder->error, VDBQ_TYPE, e->at, "'%.*s' is not a number",
             (int)e->constant.text.length, e->constant.text.bytes);
    return NULL;
}

/* ------------------------------------------------------------------ all -- */

static struct expression *refuse(struct binder *binder,
                                 const struct expression *e, int type,
                                 struct position at)
{
    error_at(binder->error, VDBQ_TYPE, at, "a %s cannot become a %s",
             type_name((enum vdbq_type)e->type),
             type_name((enum vdbq_type)type));
    return NULL;
}

static struct expression *to_boolean(struct binder *binder,
                                     struct expression *e)
{
    struct expression *truth =
        expression_calculate(binder, AST_NEQ, e, 0, e->at);

    return truth ? expression_number(binder, truth, VDBQ_BOOLEAN, e->at) : NULL;
}

/* Types of which one at least is no plain number. */
static struct expression *convert(struct binder *binder, struct expression *e,
                                  int type, struct position at)
{
    if (type == VDBQ_TEXT)
        return to_text(binder, e);
    if (e->type == VDBQ_TEXT)
        return of_text(binder, e, type);
    if (type == VDBQ_BOOLEAN && is_number(e->type))
        return to_boolean(binder, e);
    if (type == VDBQ_SMALLINT && is_number(e->type) && e->type != VDBQ_BOOLEAN)
        return to_smallint(binder, e);
    if (e->type == VDBQ_DECIMAL && is_number(type))
        return of_decimal(binder, e, type);
    if (e->type == VDBQ_DATE && type == VDBQ_TIMESTAMP)
        return expression_time_of_date(binder, e);
    if (e->type == VDBQ_TIMESTAMP && type == VDBQ_DATE)
        return expression_date_of_time(binder, e);
    if (is_number(e->type) && type == VDBQ_DATE)
        return expression_date_of_days(binder, e, at);
    if (is_number(e->type) && is_number(type))
        return expression_number(binder, e, type, at);
    return refuse(binder, e, type, at);
}

static struct expression *null_of(struct binder *binder, struct ast_type type,
                                  struct position at)
{
    struct expression *e = expression_null(binder, (int)type.type, at);

    if (e != NULL) {
        e->precision = type.precision;
        e->scale = type.scale;
    }
    return e;
}

/* Whether the DECIMAL has the type's scale, and no more digits. */
static bool holds_decimal(const struct expression *e, struct ast_type type)
{
    return e->scale == type.scale
           && (type.precision >= DECIMAL_DIGITS_MAX
               || (e->precision > 0 && e->precision <= type.precision));
}

struct expression *expression_cast(struct binder *binder,
                                   struct expression *operand,
                                   struct ast_type type, struct position at)
{
    if (operand == NULL)
        return NULL;
    if (operand->type == (int)type.type
        && (type.type != VDBQ_DECIMAL || holds_decimal(operand, type)))
        return operand;
    if (is_null_constant(operand))
        return null_of(binder, type, at);
    if (type.type == VDBQ_DECIMAL) {
        if (!is_number(operand->type) && operand->type != VDBQ_TEXT)
            return refuse(binder, operand, VDBQ_DECIMAL, at);
        return to_decimal(binder, operand, type);
    }
    return convert(binder, operand, (int)type.type, at);
}

struct expression *expression_cast_plain(struct binder *binder,
                                         struct expression *operand, int type,
                                         struct position at)
{
    struct ast_type plain = { .type = (enum vdbq_type)type,
                              .precision = DECIMAL_DIGITS_MAX };

    if (type == VDBQ_DECIMAL && operand != NULL)
        plain.scale = operand->scale;
    return expression_cast(binder, operand, plain, at);
}
