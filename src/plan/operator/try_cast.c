/* SPDX-License-Identifier: MIT */
/*
 * TRY_CAST. A text is read by a function of the host that gives NULL. A number
 * becomes NULL first where CAST would fail for it, and is cast then: so the
 * bounds here are those of convert.c, roundings included.
 */
#include "plan/operator/try_cast.h"

#include <assert.h>

#include "base/type.h"
#include "plan/make/arithmetic.h"
#include "plan/make/call.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* Above all that rounds to a finite FLOAT. */
#define FLOAT_END 0x1.ffffffp127

/* The operand, or NULL where it is not both. */
static struct expression *where_both(struct binder *binder,
                                     struct expression *e,
                                     struct expression *above,
                                     struct expression *below)
{
    const struct ast_expression place = { .at = e->at };
    struct expression *both =
        above && below ? expression_logic(binder, AST_AND, above, below, &place)
                       : NULL;
    struct expression *null =
        both ? expression_null(binder, e->type, e->at) : NULL;

    if (null == NULL)
        return NULL;
    null->precision = e->precision;
    null->scale = e->scale;
    return expression_choice(binder, both, e, null, e->at);
}

/* -------------------------------------------------------------- bounds -- */

/* The expression, or NULL where that DOUBLE is not between both. */
static struct expression *between_reals(struct binder *binder,
                                        struct expression *e,
                                        struct expression *real, double above,
                                        double below)
{
    const struct ast_expression place = { .at = e->at };
    struct expression *low = expression_real(binder, VDBQ_DOUBLE, above, e->at);
    struct expression *high =
        expression_real(binder, VDBQ_DOUBLE, below, e->at);

    if (low == NULL || high == NULL)
        return NULL;
    return where_both(binder, e,
                      expression_operator(binder, AST_GT, real, low, &place),
                      expression_operator(binder, AST_LT, real, high, &place));
}

/* The integer, or the digits of a DECIMAL, or NULL where they are outside. */
static struct expression *within(struct binder *binder, struct expression *e,
                                 int64_t least, int64_t greatest)
{
    struct expression *digits = e;

    assert(least <= greatest);
    if (e->range.low >= least && e->range.high <= greatest)
        return e;
    if (e->type == VDBQ_DECIMAL)
        digits = expression_renamed(binder, e, VDBQ_BIGINT, 0);
    if (digits == NULL)
        return NULL;
    return where_both(
        binder, e, expression_calculate(binder, AST_GE, digits, least, e->at),
        expression_calculate(binder, AST_LE, digits, greatest, e->at));
}

/* The greatest integer that, `drop` digits less and rounded half away from zero,
 * is at most `greatest`: 0 or above. All of them, where it has no BIGINT. */
static int64_t rounds_to(int64_t greatest, unsigned drop)
{
    int64_t unit = decimal_power(drop), most;

    assert(greatest >= 0);
    return __builtin_mul_overflow(greatest, unit, &most)
                   || __builtin_add_overflow(most, unit - unit / 2 - 1, &most)
               ? INT64_MAX
               : most;
}

/* The same of an integer or a DECIMAL that gets another scale. */
static struct expression *within_scaled(struct binder *binder,
                                        struct expression *e, int64_t below,
                                        int64_t greatest, unsigned scale)
{
    unsigned own = e->type == VDBQ_DECIMAL ? e->scale : 0;
    int64_t unit = own < scale ? decimal_power(scale - own) : 1;
    unsigned drop = own > scale ? own - scale : 0;
    int64_t most = rounds_to(below, drop);

    assert(greatest >= 0 && below >= 0);
    return within(binder, e, most == INT64_MAX ? INT64_MIN : -(most / unit),
                  rounds_to(greatest, drop) / unit);
}

/* --------------------------------------------------------------- types -- */

static struct expression *for_integer(struct binder *binder,
                                      struct expression *e, int type)
{
    int64_t least, greatest;

    type_limits((enum vdbq_type)type, &least, &greatest);
    if (is_float(e->type)) {
        e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
        if (e == NULL)
            return NULL;
        return type == VDBQ_BIGINT
                   ? between_reals(binder, e, e, -0x1.0000000000001p63, 0x1p63)
                   : between_reals(binder, e, e, (double)least - 1,
                                   (double)greatest + 1);
    }
    if (e->type != VDBQ_DECIMAL)
        return within(binder, e, least, greatest);
    return type == VDBQ_BIGINT ? e
                               : within_scaled(binder, e, -least, greatest, 0);
}

static struct expression *
for_decimal(struct binder *binder, struct expression *e, struct ast_type type)
{
    int64_t greatest = decimal_power(type.precision) - 1;
    double end = (double)decimal_power(type.precision) - 0.5;
    const struct ast_expression place = { .at = e->at };
    struct expression *factor, *digits;

    if (!is_float(e->type))
        return within_scaled(binder, e, greatest, greatest, type.scale);
    e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    factor = e ? expression_real(binder, VDBQ_DOUBLE,
                                 (double)decimal_power(type.scale), e->at)
               : NULL;
    digits = factor ? expression_arithmetic(binder, AST_MUL, e, factor, &place)
                    : NULL;
    return digits ? between_reals(binder, e, digits, -end, end) : NULL;
}

static struct expression *for_date(struct binder *binder, struct expression *e)
{
    int64_t least, greatest;
    struct ast_type days = { .type = VDBQ_BIGINT };

    type_limits(VDBQ_DATE, &least, &greatest);
    e = expression_try_cast(binder, e, days, e->at);
    return e ? within(binder, e, least, greatest) : NULL;
}

/* The number, NULL where it has no value of the type. */
static struct expression *castable(struct binder *binder, struct expression *e,
                                   struct ast_type type)
{
    int to = (int)type.type;

    if (to == VDBQ_DATE)
        return for_date(binder, e);
    if (to == VDBQ_DECIMAL)
        return for_decimal(binder, e, type);
    if (to == VDBQ_FLOAT && e->type == VDBQ_DOUBLE)
        return between_reals(binder, e, e, -FLOAT_END, FLOAT_END);
    return is_integer(to) ? for_integer(binder, e, to) : e;
}

/* --------------------------------------------------------------- texts -- */

static struct expression *of_text(struct binder *binder, struct expression *e,
                                  struct ast_type type)
{
    static const char *const names[] = {
        [VDBQ_INTEGER] = "try_integer",   [VDBQ_BIGINT] = "try_bigint",
        [VDBQ_SMALLINT] = "try_smallint", [VDBQ_FLOAT] = "try_double",
        [VDBQ_DOUBLE] = "try_double",     [VDBQ_BOOLEAN] = "try_boolean",
        [VDBQ_DATE] = "try_date",         [VDBQ_TIMESTAMP] = "try_timestamp"
    };
    struct position at = e->at;
    struct expression *arguments[3] = { e };

    if (type.type != VDBQ_DECIMAL) {
        e = expression_call(binder, names[type.type], &e, 1, at);
        if (e != NULL && type.type == VDBQ_FLOAT)
            return expression_try_cast(binder, e, type, at);
        return e && e->type != (int)type.type
                   ? expression_number(binder, e, (int)type.type, at)
                   : e;
    }
    arguments[1] = expression_integer(binder, type.precision, at);
    arguments[2] = expression_integer(binder, type.scale, at);
    if (arguments[1] == NULL || arguments[2] == NULL)
        return NULL;
    e = expression_renamed(
        binder, expression_call(binder, "try_decimal", arguments, 3, at),
        VDBQ_DECIMAL, type.scale);
    if (e != NULL)
        e->precision = type.precision;
    return e;
}

struct expression *expression_try_cast(struct binder *binder,
                                       struct expression *operand,
                                       struct ast_type type, struct position at)
{
    struct expression *e = operand;

    if (e == NULL)
        return NULL;
    if (e->type == VDBQ_TEXT && type.type != VDBQ_TEXT && !is_null_constant(e))
        return of_text(binder, e, type);
    if (is_number(e->type) && !is_null_constant(e)
        && (e->type != (int)type.type || type.type == VDBQ_DECIMAL))
        e = castable(binder, e, type);
    return expression_cast(binder, e, type, at);
}
