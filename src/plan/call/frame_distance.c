/* SPDX-License-Identifier: MIT */
/*
 * The distance of RANGE n PRECEDING and n FOLLOWING, in the units of the key that rows
 * are in the order of: whole numbers, the last digits of a DECIMAL, days of a DATE,
 * microseconds of a TIMESTAMP, and floats.
 */
#include "base/type.h"
#include "plan/call/call.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/tree/binder.h"

/* The key; NULL, and the failure, where there is none of which a distance can be. */
static const struct expression *key_of(struct binder *binder,
                                       const struct call *call,
                                       const struct ast_bound *from)
{
    const struct order_term *term =
        call->order.count == 1 ? vector_at(&call->order, 0) : NULL;
    const struct expression *key = term ? term->expression : NULL;

    if (key != NULL
        && (is_integer(key->type) || is_float(key->type)
            || key->type == VDBQ_DECIMAL || key->type == VDBQ_DATE
            || key->type == VDBQ_TIMESTAMP))
        return key;
    error_at(binder->error, VDBQ_SYNTAX, from->at,
             "RANGE with a distance needs an ORDER BY of one number or date");
    error_hint(binder->error, "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW counts "
                              "rows");
    return NULL;
}

static bool refuse(struct binder *binder, const struct ast_bound *from,
                   const struct expression *key)
{
    error_at(binder->error, VDBQ_TYPE, from->at, "that is no distance of a %s",
             type_name((enum vdbq_type)key->type));
    if (key->type == VDBQ_TIMESTAMP || key->type == VDBQ_DATE)
        error_hint(binder->error,
                   key->type == VDBQ_DATE
                       ? "a constant whole number of days is, or INTERVAL 7 DAY"
                       : "an INTERVAL of days, hours, minutes or seconds is");
    else
        error_hint(binder->error, "a constant number is");
    return false;
}

/* An INTERVAL in microseconds; -1: it is of months, or too long. */
static int64_t microseconds(const struct ast_expression *interval)
{
    static const int64_t units[] = { [AST_DAY] = DAY_MICROSECONDS,
                                     [AST_HOUR] = INT64_C(3600000000),
                                     [AST_MINUTE] = 60000000,
                                     [AST_SECOND] = 1000000 };
    int64_t unit = interval->unit >= AST_DAY ? units[interval->unit] : 0;

    if (unit == 0 || interval->integer < 0
        || interval->integer > INT64_MAX / unit)
        return -1;
    return interval->integer * unit;
}

static bool read_interval(struct binder *binder, const struct ast_bound *from,
                          const struct expression *key,
                          struct frame_bound *bound)
{
    int64_t length = microseconds(from->offset);

    if (length < 0
        || (key->type != VDBQ_TIMESTAMP
            && (key->type != VDBQ_DATE || length % DAY_MICROSECONDS != 0)))
        return refuse(binder, from, key);
    bound->offset = key->type == VDBQ_DATE ? length / DAY_MICROSECONDS : length;
    return true;
}

/* The number as a float, whatever it is; false: it is none. */
static bool read_real(const struct expression *e, double *value)
{
    if (is_float(e->type))
        *value = e->constant.real;
    else if (is_integer(e->type))
        *value = (double)e->constant.integer;
    else if (e->type == VDBQ_DECIMAL)
        *value = (double)e->constant.integer / (double)decimal_power(e->scale);
    else
        return false;
    return true;
}

/* A number of a DECIMAL's last digits, where it is exactly that. */
static bool read_digits(const struct expression *e,
                        const struct expression *key, int64_t *digits)
{
    double value, most = (double)(INT64_C(1) << 52);

    if (!read_real(e, &value))
        return false;
    value *= (double)decimal_power(key->scale);
    if (!(value > -most && value < most))
        return false;
    *digits = (int64_t)(value + (value < 0 ? -0.5 : 0.5));
    value -= (double)*digits;
    return value < 1e-6 && value > -1e-6;
}

bool frame_distance(struct binder *binder, const struct call *call,
                    const struct ast_bound *from, struct expression *e,
                    struct frame_bound *bound)
{
    const struct expression *key = key_of(binder, call, from);

    if (key == NULL)
        return false;
    if (e == NULL)
        return read_interval(binder, from, key, bound);
    e = expression_known(binder, e);
    if (e == NULL)
        return false;
    if (e->kind != EXPRESSION_CONSTANT || e->constant.null)
        return refuse(binder, from, key);
    if (is_float(key->type))
        return read_real(e, &bound->real) || refuse(binder, from, key);
    if (key->type == VDBQ_DECIMAL)
        return read_digits(e, key, &bound->offset) || refuse(binder, from, key);
    if (!is_integer(e->type) || key->type == VDBQ_TIMESTAMP)
        return refuse(binder, from, key);
    bound->offset = e->constant.integer;
    return true;
}
