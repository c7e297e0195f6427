/* SPDX-License-Identifier: MIT */
/*
 * Calls of medians and other quantiles: symbols, which are made of windows once the
 * keys of the groups are known (bind/quantile.c).
 */
#include "plan/call/call.h"

#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* The fraction as a constant from 0 to 1; that of a median is a half. */
static struct expression *read_fraction(struct binder *binder,
                                        const struct call *call,
                                        const struct aggregate_row *row)
{
    struct expression *e;

    if (row->function == AGGREGATE_MEDIAN)
        return expression_real(binder, VDBQ_DOUBLE, 0.5, call->tree->at);
    e = expression_known(binder, call->arguments[1]);
    if (e != NULL && is_number(e->type))
        e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    if (e == NULL)
        return NULL;
    if (e->kind == EXPRESSION_CONSTANT && e->type == VDBQ_FLOAT)
        e = expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    if (e == NULL)
        return NULL;
    if (e->kind != EXPRESSION_CONSTANT || e->type != VDBQ_DOUBLE
        || e->constant.null
        || !(e->constant.real >= 0 && e->constant.real <= 1)) {
        error_at(binder->error, VDBQ_TYPE, call->arguments[1]->at,
                 "the fraction of %s is a constant number from 0 to 1",
                 call->name);
        return NULL;
    }
    return e;
}

bool quantile_is_between(enum aggregate_function function)
{
    return function != AGGREGATE_QUANTILE_DISC;
}

/* The value in the type that it is given in: whole numbers and decimals are
 * sooner in their order than the floats that they are as a result. */
static struct expression *read_value(struct binder *binder,
                                     const struct call *call,
                                     const struct aggregate_row *row)
{
    struct expression *e = call->arguments[0];

    if (!quantile_is_between(row->function))
        return e;
    if (is_null_constant(e))
        return expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    return is_float(e->type) || is_integer(e->type) || e->type == VDBQ_DECIMAL
               ? e
               : refuse_argument(binder, call, e);
}

struct expression *bind_quantile(struct binder *binder, const struct call *call,
                                 const struct aggregate_row *row)
{
    const struct ast_expression *tree = call->tree;
    unsigned count = row->function == AGGREGATE_MEDIAN ? 1 : 2;
    struct expression *e;

    if (call->count != count) {
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "%s takes %u arguments, not %u", call->name, count,
                 call->count);
        return NULL;
    }
    if (tree->distinct) {
        error_at(binder->error, VDBQ_TYPE, tree->at, "%s takes no DISTINCT",
                 call->name);
        return NULL;
    }
    e = expression_new(binder, EXPRESSION_AGGREGATE, VDBQ_DOUBLE, tree->at);
    if (e == NULL)
        return NULL;
    e->aggregate.function = row->function;
    expression_place(binder, e, tree);
    e->left = read_value(binder, call, row);
    e->right = e->left ? read_fraction(binder, call, row) : NULL;
    if (e->right == NULL)
        return NULL;
    e->condition = call->filter;
    if (!quantile_is_between(row->function)) {
        e->type = e->left->type;
        e->precision = e->left->precision;
        e->scale = e->left->scale;
    }
    e->nullable = true;
    e->range = range_full(e->type);
    e->machine = type_machine((enum vdbq_type)e->type);
    return expression_fits(binder, e) ? e : NULL;
}
