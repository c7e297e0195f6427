/* SPDX-License-Identifier: MIT */
/*
 * CAST, and dates. Conversions between machine numbers are an opcode; the
 * others are made of arithmetic, or are functions of the host on texts.
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

enum { SCALE_MAX = 18, MONTHS_OF_YEAR = 12, YEARS_MAX = 10000 };
/* In the units of a TIMESTAMP. */
static const int64_t DAY = 86400000000;
static const int64_t clock_units[] = {
    [AST_HOUR] = 3600000000, [AST_MINUTE] = 60000000, [AST_SECOND] = 1000000
};

/* Operators of expressions that nobody wrote: of a number and a constant. Those
 * of comparisons need no rule of affinity. */
static struct expression *calculate(struct binder *binder,
                                    enum ast_operator operator,
                                    struct expression * left, int64_t right,
                                    struct position at)
{
    struct ast_expression place = { .at = at };
    struct expression *e;

    if (left == NULL)
        return NULL;
    e = is_comparison(operator) && is_float(left->type)
            ? expression_real(binder, VDBQ_DOUBLE, (double)right, at)
            : expression_integer(binder, right, at);
    if (e == NULL)
        return NULL;
    if (is_comparison(operator))
        return expression_operation(binder, operator, VDBQ_INTEGER, left, e,
                                    &place);
    return expression_arithmetic(binder, operator, left, e, &place);
}

/* The same bits under the name of another type. */
static struct expression *renamed(struct binder *binder, struct expression *e,
                                  int type, unsigned scale)
{
    struct expression *same =
        e ? expression_number(binder, e, type, e->at) : NULL;

    if (same == NULL)
        return NULL;
    same->scale = scale;
    same->precision = type == VDBQ_DECIMAL ? SCALE_MAX : 0;
    same->literal = false;
    return same;
}

static int64_t power_of_ten(unsigned digits)
{
    int64_t power = 1;

    while (digits-- > 0)
        power *= 10;
    return power;
}

/* ------------------------------------------------------------- decimals -- */

/* Half away from zero, divided. */
static struct expression *round_off(struct binder *binder, struct expression *e,
                                    int64_t divisor)
{
    struct expression *up, *down, *below;

    up = calculate(binder, AST_ADD, e, divisor / 2, e->at);
    down = calculate(binder, AST_SUB, e, divisor / 2, e->at);
    below = calculate(binder, AST_LT, e, 0, e->at);
    if (up == NULL || down == NULL || below == NULL)
        return NULL;
    e = expression_choice(binder, below, down, up, e->at);
    return calculate(binder, AST_DIV, e, divisor, up->at);
}

struct expression *expression_scale(struct binder *binder,
                                    struct expression *operand, unsigned scale,
                                    struct position at)
{
    struct expression *e = operand;

    if (operand->type == VDBQ_DECIMAL && operand->scale == scale)
        return operand;
    if (is_null_constant(operand))
        return renamed(binder, expression_null(binder, VDBQ_BIGINT, at),
                       VDBQ_DECIMAL, scale);
    if (operand->type == VDBQ_DECIMAL)
        e = renamed(binder, operand, VDBQ_BIGINT, 0);
    if (e != NULL && scale > operand->scale)
        e = calculate(binder, AST_MUL, e, power_of_ten(scale - operand->scale),
                      at);
    else if (e != NULL && scale < operand->scale)
        e = round_off(binder, e, power_of_ten(operand->scale - scale));
    return renamed(binder, e, VDBQ_DECIMAL, scale);
}

static struct expression *decimal_of_float(struct binder *binder,
                                           struct expression *e, unsigned scale)
{
    struct ast_expression place = { .at = e->at };
    struct expression *factor, *zero;

    e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    factor = e ? expression_real(binder, VDBQ_DOUBLE,
                                 (double)power_of_ten(scale), e->at)
               : NULL;
    e = factor ? expression_arithmetic(binder, AST_MUL, e, factor, &place)
               : NULL;
    zero = e ? expression_integer(binder, 0, e->at) : NULL;
    e = zero ? expression_math(binder, OP_ROUND_F64, VDBQ_DOUBLE, e, zero,
                               false, e->at)
             : NULL;
    e = e ? expression_number(binder, e, VDBQ_BIGINT, e->at) : NULL;
    return renamed(binder, e, VDBQ_DECIMAL, scale);
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
    return renamed(binder, e, VDBQ_DECIMAL, type.scale);
}

/* That a DECIMAL has no more digits than its type. */
static struct expression *
with_precision(struct binder *binder, struct expression *e, unsigned precision)
{
    struct ast_expression place = { .at = e->at };
    struct expression *digits, *above, *below, *either;
    int64_t limit = power_of_ten(precision);

    if (is_null_constant(e)
        || (e->range.low > -limit && e->range.high < limit)) {
        e->precision = precision;
        return e;
    }
    digits = renamed(binder, e, VDBQ_BIGINT, 0);
    above = calculate(binder, AST_GE, digits, limit, e->at);
    below = calculate(binder, AST_LE, digits, -limit, e->at);
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
    above = calculate(binder, AST_GT, e, INT16_MAX, place.at);
    below = calculate(binder, AST_LT, e, INT16_MIN, place.at);
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
    int64_t factor = power_of_ten(e->scale);
    struct expression *digits = renamed(binder, e, VDBQ_BIGINT, 0), *divisor;

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

/* ---------------------------------------------------------------- dates -- */

/* A number of days as a DATE, or of microseconds as a TIMESTAMP. What may lie
 * outside the years that these have is checked. */
static struct expression *in_years(struct binder *binder, struct expression *e,
                                   int type)
{
    struct ast_expression place = { .at = e ? e->at : (struct position){ 0 } };
    struct expression *below, *above, *either;
    int64_t least, greatest;

    type_limits((enum vdbq_type)type, &least, &greatest);
    if (e == NULL || is_null_constant(e)
        || (e->range.low >= least && e->range.high <= greatest))
        return e;
    below = calculate(binder, AST_LT, e, least, e->at);
    above = calculate(binder, AST_GT, e, greatest, e->at);
    either = below && above
                 ? expression_logic(binder, AST_OR, below, above, &place)
                 : NULL;
    return either ? expression_check(binder, e, either,
                                     "a date is outside "
                                     "the years 1 to 9999")
                  : NULL;
}

/* The day of a time: division that rounds down. */
static struct expression *day_of(struct binder *binder, struct expression *e)
{
    struct ast_expression place = { .at = e->at };
    struct expression *time = renamed(binder, e, VDBQ_BIGINT, 0);
    struct expression *day = calculate(binder, AST_DIV, time, DAY, e->at);
    struct expression *rest =
        day ? calculate(binder, AST_MOD, time, DAY, e->at) : NULL;
    struct expression *before =
        rest ? calculate(binder, AST_LT, rest, 0, e->at) : NULL;

    return before ? expression_arithmetic(binder, AST_SUB, day, before, &place)
                  : NULL;
}

static struct expression *date_of_time(struct binder *binder,
                                       struct expression *e)
{
    struct expression *day = day_of(binder, e);

    return day ? expression_number(binder, day, VDBQ_DATE, e->at) : NULL;
}

static struct expression *time_of_date(struct binder *binder,
                                       struct expression *e)
{
    struct expression *day = renamed(binder, e, VDBQ_BIGINT, 0);

    return renamed(binder, calculate(binder, AST_MUL, day, DAY, e->at),
                   VDBQ_TIMESTAMP, 0);
}

/* What of a time lies behind midnight. */
static struct expression *clock_of(struct binder *binder, struct expression *e)
{
    struct ast_expression place = { .at = e->at };
    struct expression *day = day_of(binder, e), *time;

    day = day ? calculate(binder, AST_MUL, day, DAY, e->at) : NULL;
    time = day ? renamed(binder, e, VDBQ_BIGINT, 0) : NULL;
    return time ? expression_arithmetic(binder, AST_SUB, time, day, &place)
                : NULL;
}

static struct expression *refuse_date(struct binder *binder,
                                      const struct expression *e,
                                      struct position at)
{
    error_at(binder->error, VDBQ_TYPE, at,
             "this needs a DATE or a TIMESTAMP, not a %s",
             type_name((enum vdbq_type)e->type));
    return NULL;
}

/* A text is read as a time; what is neither date nor time is refused. */
static struct expression *date_or_time(struct binder *binder,
                                       struct expression *e, struct position at)
{
    if (e->type == VDBQ_TEXT)
        return expression_cast_plain(binder, e, VDBQ_TIMESTAMP, at);
    return e->type == VDBQ_DATE || e->type == VDBQ_TIMESTAMP
               ? e
               : refuse_date(binder, e, at);
}

static struct expression *part_of_date(struct binder *binder,
                                       struct expression *date,
                                       enum ast_unit unit, struct position at)
{
    struct expression *e;

    if (is_null_constant(date))
        return expression_null(binder, VDBQ_INTEGER, at);
    e = expression_new(binder, EXPRESSION_MATH, VDBQ_INTEGER, at);
    if (e == NULL)
        return NULL;
    e->math.op = OP_DATE_PART_I32;
    e->left = date;
    e->math.part = unit;
    return expression_finish(binder, e);
}

struct expression *expression_part(struct binder *binder,
                                   struct expression *operand,
                                   enum ast_unit unit, struct position at)
{
    struct expression *e = date_or_time(binder, operand, at);

    if (e == NULL)
        return NULL;
    if (unit >= AST_HOUR) {
        e = e->type == VDBQ_DATE ? time_of_date(binder, e) : e;
        e = e ? clock_of(binder, e) : NULL;
        e = e ? calculate(binder, AST_DIV, e, clock_units[unit], at) : NULL;
        return e && unit != AST_HOUR ? calculate(binder, AST_MOD, e, 60, at)
                                     : e;
    }
    e = e->type == VDBQ_TIMESTAMP ? date_of_time(binder, e) : e;
    if (e == NULL)
        return NULL;
    return part_of_date(binder, e, unit, at);
}

/* A date moved by months. */
static struct expression *add_months(struct binder *binder,
                                     struct expression *e, int64_t months,
                                     struct position at)
{
    struct expression *count = expression_integer(binder, months, at);

    return count ? expression_math(binder, OP_ADD_MONTHS_I32, VDBQ_DATE, e,
                                   count, false, at)
                 : NULL;
}

static struct expression *move_date(struct binder *binder, struct expression *e,
                                    enum ast_unit unit, int64_t count,
                                    struct position at)
{
    if (unit == AST_DAY)
        return expression_cast_plain(
            binder, calculate(binder, AST_ADD, e, count, at), VDBQ_DATE, at);
    return add_months(binder, e,
                      unit == AST_YEAR ? count * MONTHS_OF_YEAR : count, at);
}

/* The date moves, the clock stays. */
static struct expression *move_time(struct binder *binder, struct expression *e,
                                    enum ast_unit unit, int64_t count,
                                    struct position at)
{
    struct ast_expression place = { .at = at };
    struct expression *date = date_of_time(binder, e);
    struct expression *clock = date ? clock_of(binder, e) : NULL;

    date = clock ? move_date(binder, date, unit, count, at) : NULL;
    date = date ? time_of_date(binder, date) : NULL;
    date = date ? renamed(binder, date, VDBQ_BIGINT, 0) : NULL;
    date = date ? expression_arithmetic(binder, AST_ADD, date, clock, &place)
                : NULL;
    return renamed(binder, date, VDBQ_TIMESTAMP, 0);
}

/* How many units an interval moves by; so many at most that they leave the
 * years of all dates, and nothing overflows. */
static int64_t interval_count(const struct ast_expression *interval, bool back)
{
    static const int64_t most[] = { [AST_YEAR] = YEARS_MAX,
                                    [AST_MONTH] = YEARS_MAX * 12,
                                    [AST_DAY] = YEARS_MAX * 366,
                                    [AST_HOUR] = YEARS_MAX * 366 * 24,
                                    [AST_MINUTE] =
                                        YEARS_MAX * INT64_C(366) * 1440,
                                    [AST_SECOND] =
                                        YEARS_MAX * INT64_C(366) * 86400 };
    int64_t count = interval->integer, limit = most[interval->unit];

    count = count > limit ? limit : count < -limit ? -limit : count;
    return back ? -count : count;
}

struct expression *expression_moved(struct binder *binder,
                                    struct expression *operand,
                                    const struct ast_expression *interval,
                                    bool back, struct position at)
{
    struct expression *e = date_or_time(binder, operand, at);
    enum ast_unit unit = interval->unit;
    int64_t count = interval_count(interval, back);

    if (e == NULL)
        return NULL;
    if (unit < AST_HOUR)
        return e->type == VDBQ_DATE ? move_date(binder, e, unit, count, at)
                                    : move_time(binder, e, unit, count, at);
    if (e->type == VDBQ_DATE)
        e = time_of_date(binder, e);
    e = renamed(binder, e, VDBQ_BIGINT, 0);
    e = calculate(binder, AST_ADD, e, clock_units[unit] * count, at);
    return renamed(binder, in_years(binder, e, VDBQ_TIMESTAMP), VDBQ_TIMESTAMP,
                   0);
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
    struct expression *truth = calculate(binder, AST_NEQ, e, 0, e->at);

    return truth ? expression_number(binder, truth, VDBQ_BOOLEAN, e->at) : NULL;
}

/* Days since 1970-01-01 as a date. */
static struct expression *of_days(struct binder *binder, struct expression *e,
                                  struct position at)
{
    e = expression_cast_plain(binder, e, VDBQ_BIGINT, at);
    e = in_years(binder, e, VDBQ_DATE);
    return e ? expression_number(binder, e, VDBQ_DATE, at) : NULL;
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
        return time_of_date(binder, e);
    if (e->type == VDBQ_TIMESTAMP && type == VDBQ_DATE)
        return date_of_time(binder, e);
    if (is_number(e->type) && type == VDBQ_DATE)
        return of_days(binder, e, at);
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
           && (type.precision >= SCALE_MAX
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
                              .precision = SCALE_MAX };

    if (type == VDBQ_DECIMAL && operand != NULL)
        plain.scale = operand->scale;
    return expression_cast(binder, operand, plain, at);
}
