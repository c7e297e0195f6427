/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of the order of a group's values: medians and other quantiles.
 * They are made of windows over the rows of each group,
 *
 *   quantile_...(x) OVER (PARTITION BY keys ORDER BY x NULLS LAST)
 *
 * (program/steps/aggregates.h), texts by their keys in their collation, whose
 * results all rows of a group have, and its first row gives. quantile_disc(x, f)
 * is one of the values; quantile_cont(x, f) lies between two neighbours.
 */
#include "plan/call/call.h"
#include "plan/bind/select.h"

#include <string.h>

#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/replace.h"
#include "plan/operator/collate.h"
#include "plan/operator/rows_fold.h"
#include "plan/operator/making.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* ------------------------------------------------------------------ parts -- */

/* A quantile while it is made. */
struct quantile {
    struct selecting *selecting;
    struct making making;
    struct expression *value; /* NULL where it does not count */
    enum collation collation; /* ... by which values are in order */
    double fraction;
};

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

/* A quantile function over the rows of a group, of the value's type, or the
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
    e->window->partition = quantile->selecting->keys;
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

/* The same of a group: all of its rows have it. */
static struct expression *of_group(const struct quantile *quantile,
                                   enum window_function function)
{
    struct expression *e = of_rows(quantile, function);

    return e ? select_first(quantile->making.binder, e) : NULL;
}

/* ----------------------------------------------------------------- values -- */

/* A neighbour of what is between values, as a DOUBLE. */
static struct expression *neighbour(const struct quantile *quantile,
                                    enum window_function function)
{
    struct expression *value = of_group(quantile, function);

    return value ? expression_cast_plain(quantile->making.binder, value,
                                         VDBQ_DOUBLE, quantile->making.at)
                 : NULL;
}

/* low * (1 - d) + high * d, or both where they are equal: they may be infinite. */
static struct expression *value_between(const struct quantile *quantile)
{
    struct expression *low = neighbour(quantile, WINDOW_QUANTILE_BELOW);
    struct expression *high = neighbour(quantile, WINDOW_QUANTILE_ABOVE);
    struct expression *d = of_group(quantile, WINDOW_QUANTILE_PART);
    const struct making *making = &quantile->making;
    struct expression *rest =
        making_operator(making, AST_SUB, making_real(making, 1), d);

    return making_choice(
        making, making_operator(making, AST_EQ, low, high), low,
        making_operator(making, AST_ADD,
                        making_operator(making, AST_MUL, low, rest),
                        making_operator(making, AST_MUL, high, d)));
}

static struct expression *expand(void *context, struct expression *e,
                                 bool *failed)
{
    struct selecting *selecting = context;
    struct binder *binder = selecting->binder;
    struct quantile quantile = { .selecting = selecting,
                                 .making = { binder, e->at } };

    if (e->kind == EXPRESSION_WINDOW)
        return rows_fold_of_group(binder, e, &selecting->keys, failed);
    if (e->kind != EXPRESSION_AGGREGATE
        || aggregate_row(e->aggregate.function)->keeps != AGGREGATE_KEEPS_ALL)
        return NULL;
    quantile.value = e->left;
    quantile.collation = collation_of(e->left);
    quantile.fraction = e->right->constant.real;
    if (e->condition != NULL)
        quantile.value =
            making_choice(&quantile.making, e->condition, e->left,
                          expression_null(binder, e->left->type, e->at));
    struct expression *made = NULL;
    if (quantile.value != NULL)
        made = quantile_is_between(e->aggregate.function)
                   ? value_between(&quantile)
                   : of_group(&quantile, WINDOW_QUANTILE_VALUE);
    *failed = made == NULL;
    return made;
}

struct expression *quantile_expand(struct selecting *selecting,
                                   struct expression *e)
{
    return expression_replace(selecting->binder, e, expand, selecting);
}
