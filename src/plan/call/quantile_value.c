/* SPDX-License-Identifier: MIT */
/*
 * Medians and other quantiles as windows: see quantile_value.h. quantile_disc(x, f)
 * is one of the values; quantile_cont(x, f) lies between two neighbours.
 */
#include "plan/call/quantile_value.h"

#include <string.h>

#include "base/vector.h"
#include "plan/call/call.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/operator/collate.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* ------------------------------------------------------------------ parts -- */

/* The order of values; false: no memory, or the failure that is told. */
static bool order_values(const struct quantile *quantile, struct vector *order)
{
    struct order_term term = { .expression = collation_key(
                                   quantile->making.binder, quantile->value,
                                   quantile->collation),
                               .nulls_last = true,
                               .result = -1 };

    if (term.expression == NULL)
        return false;
    *order = VECTOR_IN(quantile->making.binder->arena, struct order_term);
    if (!vector_append(order, &term, 1))
        return error_no_memory(quantile->making.binder->error), false;
    return true;
}

/* A quantile function over the rows of a partition, of the value's type, or the
 * DOUBLE that says how far it is from one to the next. */
static struct expression *of_rows(const struct quantile *quantile,
                                  enum window_function function)
{
    const struct expression *value = quantile->value;
    struct expression *e =
        expression_new(quantile->making.binder, EXPRESSION_WINDOW, VDBQ_DOUBLE,
                       quantile->making.at);

    if (e != NULL)
        e->window =
            arena_alloc(quantile->making.binder->arena, sizeof *e->window);
    if (e == NULL || e->window == NULL)
        return error_no_memory(quantile->making.binder->error), NULL;
    e->left = quantile->value;
    e->window->function = function;
    e->window->partition = *quantile->partition;
    memcpy(&e->window->offset, &quantile->fraction, sizeof e->window->offset);
    if (!order_values(quantile, &e->window->order))
        return NULL;
    if (function != WINDOW_QUANTILE_PART) {
        e->type = value->type;
        e->precision = value->precision;
        e->scale = value->scale;
    }
    e->nullable = true;
    e->range = range_full(e->type);
    e->machine = type_machine((enum vdbq_type)e->type);
    return expression_fits(quantile->making.binder, e) ? e : NULL;
}

/* The same, as what asks for it takes it. */
static struct expression *part(const struct quantile *quantile,
                               enum window_function function)
{
    struct expression *e = of_rows(quantile, function);

    return e != NULL && quantile->of_group != NULL
               ? quantile->of_group(quantile->making.binder, e)
               : e;
}

/* ---------------------------------------------------------------- values -- */

/* A neighbour of what is between values, as a DOUBLE. */
static struct expression *neighbour(const struct quantile *quantile,
                                    enum window_function function)
{
    struct expression *value = part(quantile, function);

    return value ? expression_cast_plain(quantile->making.binder, value,
                                         VDBQ_DOUBLE, quantile->making.at)
                 : NULL;
}

/* low * (1 - d) + high * d, or both where they are equal: they may be infinite. */
static struct expression *value_between(const struct quantile *quantile)
{
    struct expression *low = neighbour(quantile, WINDOW_QUANTILE_BELOW);
    struct expression *high = neighbour(quantile, WINDOW_QUANTILE_ABOVE);
    struct expression *d = part(quantile, WINDOW_QUANTILE_PART);
    const struct making *making = &quantile->making;
    struct expression *rest =
        making_operator(making, AST_SUB, making_real(making, 1), d);

    return making_choice(
        making, making_operator(making, AST_EQ, low, high), low,
        making_operator(making, AST_ADD,
                        making_operator(making, AST_MUL, low, rest),
                        making_operator(making, AST_MUL, high, d)));
}

struct expression *quantile_made(struct quantile quantile,
                                 const struct expression *symbol)
{
    struct binder *binder = quantile.making.binder;

    quantile.value = symbol->left;
    quantile.collation = collation_of(symbol->left);
    quantile.fraction = symbol->right->constant.real;
    if (symbol->condition != NULL)
        quantile.value = making_choice(
            &quantile.making, symbol->condition, symbol->left,
            expression_null(binder, symbol->left->type, symbol->at));
    if (quantile.value == NULL)
        return NULL;
    return quantile_is_between(symbol->aggregate.function)
               ? value_between(&quantile)
               : part(&quantile, WINDOW_QUANTILE_VALUE);
}
