/* SPDX-License-Identifier: MIT */
/*
 * Aggregates and window functions of operands that are bound. They become
 * symbols in expressions, which select_group.c and extract.c give nodes of their
 * own.
 */
#include <string.h>

#include "base/text.h"
#include "plan/bind/call.h"
#include "plan/operator/collate_extreme.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/make/node.h"
#include "plan/operator/collate.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* ---------------------------------------------------------- aggregates -- */

const struct aggregate_row *call_aggregate(const struct ast_expression *tree)
{
    const struct aggregate_row *row = aggregate_named(tree->column.text);

    return row != NULL && row->keeps == AGGREGATE_KEEPS_BEST
                   && tree->argument_count > 1
               ? NULL
               : row;
}

/* The argument in a type that the aggregate adds up. */
static struct expression *summand(struct binder *binder,
                                  const struct call *call,
                                  const struct aggregate_row *row,
                                  struct expression *e)
{
    if (row->keeps != AGGREGATE_KEEPS_SUM || is_float(e->type)
        || is_integer(e->type) || e->type == VDBQ_DECIMAL)
        return e;
    if (e->type == VDBQ_BOOLEAN)
        return expression_cast_plain(binder, e, VDBQ_INTEGER, e->at);
    return refuse_argument(binder, call, e);
}

/* Gives an aggregate, of groups or with OVER, its type. */
static void type_aggregate(struct expression *e,
                           enum aggregate_function function)
{
    struct node_column argument = { 0 }, column;

    if (e->left != NULL)
        argument = (struct node_column){ .type = e->left->type,
                                         .precision = e->left->precision,
                                         .scale = e->left->scale,
                                         .range = e->left->range };
    aggregate_column(function, &argument, &column);
    e->type = column.type;
    e->precision = column.precision;
    e->scale = column.scale;
    e->nullable = column.nullable;
    e->range = column.range;
    e->machine = type_machine((enum vdbq_type)e->type);
}

/* A text in another collation than BINARY: what is counted once are keys, and
 * min() and max() have the keys beside it. */
static bool collate_argument(struct binder *binder,
                             const struct aggregate_row *row,
                             struct expression *e)
{
    struct expression *key = collation_own_key(binder, e->left);

    if (key != NULL && row->keeps == AGGREGATE_KEEPS_BEST && key != e->left)
        e->right = key;
    else if (key != NULL && e->aggregate.distinct)
        e->left = key;
    return key != NULL;
}

struct expression *bind_aggregate(struct binder *binder,
                                  const struct call *call,
                                  const struct aggregate_row *row)
{
    const struct ast_expression *tree = call->tree;
    struct expression *e;

    if (row->keeps == AGGREGATE_KEEPS_ALL)
        return bind_quantile(binder, call, row);
    e = expression_new(binder, EXPRESSION_AGGREGATE, VDBQ_BIGINT, tree->at);
    if (e == NULL)
        return NULL;
    if (call->count > 1
        || (call->count == 0 && row->keeps != AGGREGATE_KEEPS_NOTHING)) {
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "%s takes one argument, not %u", call->name, call->count);
        return NULL;
    }
    e->aggregate.function = row->function;
    e->aggregate.distinct = tree->distinct;
    expression_place(binder, e, tree);
    if (call->count == 1) {
        e->left = summand(binder, call, row, call->arguments[0]);
        if (e->left == NULL || !collate_argument(binder, row, e))
            return NULL;
    }
    e->condition = call->filter;
    type_aggregate(e, row->function);
    return expression_fits(binder, e) ? e : NULL;
}

/* -------------------------------------------------------------- windows -- */

bool bind_whole_number(struct binder *binder, const struct call *call,
                       struct expression *argument, const char *what,
                       int64_t *value)
{
    const struct expression *number = expression_known(binder, argument);

    if (number == NULL)
        return false;
    if (number->kind != EXPRESSION_CONSTANT || number->constant.null
        || !is_integer(number->type)) {
        error_at(binder->error, VDBQ_TYPE, number->at,
                 "the %s of %s is a constant whole number", what, call->name);
        return false;
    }
    *value = number->constant.integer;
    return true;
}

/* LAG and LEAD: how far, and what is there where no row is. */
static bool bind_distance(struct binder *binder, const struct call *call,
                          struct expression *e)
{
    e->window->offset = 1;
    if (call->count > 1
        && !bind_whole_number(binder, call, call->arguments[1], "distance",
                              &e->window->offset))
        return false;
    if (call->count > 2) {
        e->right = expression_cast_plain(binder, call->arguments[2],
                                         e->left->type, e->at);
        return e->right != NULL;
    }
    return true;
}

/* NTH_VALUE: which row of the frame. */
static bool bind_nth(struct binder *binder, const struct call *call,
                     struct expression *e)
{
    if (!bind_whole_number(binder, call, call->arguments[1], "place",
                           &e->window->offset))
        return false;
    if (e->window->offset > 0)
        return true;
    error_at(binder->error, VDBQ_TYPE, call->arguments[1]->at,
             "the place of %s counts from 1", call->name);
    return false;
}

static struct expression *new_window(struct binder *binder,
                                     const struct call *call)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_WINDOW, VDBQ_BIGINT, call->tree->at);

    if (e == NULL)
        return NULL;
    expression_place(binder, e, call->tree);
    e->window = arena_alloc(binder->arena, sizeof *e->window);
    if (e->window == NULL)
        return error_no_memory(binder->error), NULL;
    e->window->partition = call->partition;
    e->window->order = call->order;
    e->nullable = true;
    return e;
}

/* What a frame is not there for: false, and why. */
static bool check_framed(struct binder *binder, const struct call *call,
                         const struct expression *aggregate)
{
    const char *refused = aggregate->aggregate.distinct ? "DISTINCT"
                          : aggregate->right != NULL    ? "COLLATE"
                                                        : NULL;

    if (call->frame.unit == FRAME_DEFAULT || refused == NULL)
        return true;
    error_at(binder->error, VDBQ_SYNTAX, call->tree->at,
             "%s with %s takes no frame", call->name, refused);
    error_hint(binder->error, "without ROWS or RANGE it is computed of the "
                              "partition up to the row's last peer");
    return false;
}

static struct expression *window_of_aggregate(struct binder *binder,
                                              const struct call *call,
                                              const struct aggregate_row *row)
{
    struct expression *e, *aggregate;

    if (row->keeps == AGGREGATE_KEEPS_ALL) {
        error_at(binder->error, VDBQ_SYNTAX, call->tree->at, "%s takes no OVER",
                 call->name);
        return NULL;
    }
    e = new_window(binder, call);
    aggregate = e ? bind_aggregate(binder, call, row) : NULL;
    if (aggregate == NULL || !check_framed(binder, call, aggregate))
        return NULL;
    if (aggregate->right != NULL)
        return collate_extreme_over(binder, aggregate, &call->partition,
                                    &call->order);
    e->window->function = WINDOW_AGGREGATE;
    e->window->frame = call->frame;
    e->window->aggregate = aggregate->aggregate.function;
    e->window->distinct = aggregate->aggregate.distinct;
    e->left = aggregate->left;
    e->condition = aggregate->condition;
    type_aggregate(e, row->function);
    return expression_fits(binder, e) ? e : NULL;
}

struct expression *bind_window(struct binder *binder, const struct call *call)
{
    const struct aggregate_row *row = call_aggregate(call->tree);
    const struct window_row *window = window_named(call->name);
    struct expression *e;

    if (row != NULL)
        return window_of_aggregate(binder, call, row);
    if (window == NULL || call->count < window->least
        || call->count > window->most) {
        error_at(binder->error, VDBQ_UNKNOWN, call->tree->at,
                 "there is no window function %s with %u arguments", call->name,
                 call->count);
        return NULL;
    }
    if (window->function > WINDOW_NTH)
        return bind_window_share(binder, call, window->function);
    e = new_window(binder, call);
    if (e == NULL)
        return NULL;
    e->window->function = window->function;
    if (window->function >= WINDOW_FIRST)
        e->window->frame = call->frame;
    if (call->count > 0) {
        struct expression *argument = call->arguments[0];
        e->left = argument;
        e->type = argument->type;
        e->precision = argument->precision;
        e->scale = argument->scale;
        if (!(e->window->function == WINDOW_NTH
                  ? bind_nth(binder, call, e)
                  : bind_distance(binder, call, e)))
            return NULL;
    }
    e->machine = type_machine((enum vdbq_type)e->type);
    e->range = range_full(e->type);
    return expression_fits(binder, e) ? e : NULL;
}
