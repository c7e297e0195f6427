/* SPDX-License-Identifier: MIT */
/*
 * Aggregates and window functions of operands that are bound. They become
 * symbols in expressions, which select_group.c and extract.c give nodes of their
 * own.
 */
#include <string.h>

#include "base/text.h"
#include "plan/call/call.h"
#include "plan/call/quantile_value.h"
#include "plan/operator/collate_extreme.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/make/logic.h"
#include "plan/make/node.h"
#include "plan/operator/collate.h"
#include "plan/operator/operator.h"
#include "plan/operator/variance.h"
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

/* The argument in a type that the aggregate takes: one that is added up, or has
 * bits. */
static struct expression *summand(struct binder *binder,
                                  const struct call *call,
                                  const struct aggregate_row *row,
                                  struct expression *e)
{
    bool adds = row->keeps == AGGREGATE_KEEPS_SUM;

    if ((!adds && row->keeps != AGGREGATE_KEEPS_BITS) || is_integer(e->type)
        || (adds && (is_float(e->type) || e->type == VDBQ_DECIMAL)))
        return e;
    if (adds ? e->type == VDBQ_BOOLEAN : is_null_constant(e))
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

static struct expression *bind_made(struct binder *binder,
                                    const struct call *call,
                                    enum aggregate_function function);
static struct expression *window_of_aggregate(struct binder *binder,
                                              const struct call *call,
                                              const struct aggregate_row *row);
static struct expression *arg_extreme_over(struct binder *binder,
                                           const struct call *call,
                                           const struct expression *aggregate);

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
    if (row->keeps == AGGREGATE_KEEPS_OTHERS)
        return bind_made(binder, call, row->function);
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

/* ------------------------------------------------- made of other ones -- */

/* Whether there are so many arguments and no DISTINCT that matters. */
static bool check_made(struct binder *binder, const struct call *call,
                       unsigned count, bool distinct)
{
    if (call->count != count)
        error_at(binder->error, VDBQ_TYPE, call->tree->at,
                 "%s takes %s, not %u", call->name,
                 count == 1 ? "one argument" : "two arguments", call->count);
    else if (call->tree->distinct && !distinct)
        error_at(binder->error, VDBQ_TYPE, call->tree->at,
                 "%s takes no DISTINCT", call->name);
    else
        return true;
    if (call->count == count)
        error_hint(binder->error, "SELECT DISTINCT in a query in FROM leaves "
                                  "each value once");
    return false;
}

struct expression *bind_aggregate_part(struct binder *binder,
                                       const struct call *call,
                                       enum aggregate_function function,
                                       struct expression *argument)
{
    struct ast_expression tree = *call->tree;
    struct call part = *call;

    if (argument == NULL)
        return NULL;
    tree.distinct = false;
    part.tree = &tree;
    part.count = 1;
    part.arguments[0] = argument;
    return tree.over != NULL
               ? window_of_aggregate(binder, &part, aggregate_row(function))
               : bind_aggregate(binder, &part, aggregate_row(function));
}

static struct expression *bind_variance(struct binder *binder,
                                        const struct call *call,
                                        enum aggregate_function function)
{
    struct expression *argument = call->arguments[0];
    struct variance_values values;
    struct variance_sums sums = { 0 };

    if (is_null_constant(argument))
        argument = expression_cast_plain(binder, argument, VDBQ_DOUBLE,
                                         call->tree->at);
    if (argument == NULL || !is_number(argument->type))
        return argument ? refuse_argument(binder, call, argument) : NULL;
    if (!variance_values(binder, argument, &values))
        return NULL;
    sums.count =
        bind_aggregate_part(binder, call, AGGREGATE_COUNT, values.value);
    if (sums.count != NULL)
        sums.count = expression_cast_plain(binder, sums.count, VDBQ_DOUBLE,
                                           call->tree->at);
    sums.sum = bind_aggregate_part(binder, call, AGGREGATE_TOTAL, values.value);
    sums.sum_rest =
        bind_aggregate_part(binder, call, AGGREGATE_SUM_REST, values.value);
    sums.squares =
        bind_aggregate_part(binder, call, AGGREGATE_TOTAL, values.square);
    sums.squares_rest =
        bind_aggregate_part(binder, call, AGGREGATE_SUM_REST, values.square);
    sums.rests =
        bind_aggregate_part(binder, call, AGGREGATE_TOTAL, values.rest);
    if (values.rest != NULL && sums.rests == NULL)
        return NULL;
    return variance_of(binder, function, &sums, values.scale, call->tree->at);
}

/* Whether all values, or any, are true: the least or the greatest of 0 and 1. */
static struct expression *bind_truth(struct binder *binder,
                                     const struct call *call,
                                     enum aggregate_function function)
{
    struct position at = call->tree->at;
    struct expression *e = expression_condition(binder, call->arguments[0], at),
                      *zero;

    if (e != NULL && e->type != VDBQ_BOOLEAN) {
        zero = expression_integer(binder, 0, at);
        e = zero ? expression_operator(binder, AST_NEQ, e, zero, call->tree)
                 : NULL;
    }
    return bind_aggregate_part(
        binder, call,
        function == AGGREGATE_BOOL_AND ? AGGREGATE_MIN : AGGREGATE_MAX, e);
}

/* The rows of the filter for which it is true, too. */
static struct expression *bind_count_if(struct binder *binder,
                                        const struct call *call)
{
    struct position at = call->tree->at;
    const struct ast_expression place = { .at = at };
    struct call counted = *call;

    counted.filter = expression_condition(binder, call->arguments[0], at);
    if (counted.filter != NULL && call->filter != NULL)
        counted.filter = expression_logic(binder, AST_AND, call->filter,
                                          counted.filter, &place);
    return counted.filter
               ? bind_aggregate_part(binder, &counted, AGGREGATE_COUNT,
                                     expression_integer(binder, 1, at))
               : NULL;
}

bool bind_filter_nulls(struct binder *binder, struct call *call,
                       struct expression *value)
{
    const struct ast_expression place = { .at = call->tree->at };
    struct expression *there =
        expression_null_test(binder, AST_IS_NOT, value, &place);

    if (there != NULL && call->filter != NULL)
        there = expression_logic(binder, AST_AND, call->filter, there, &place);
    call->filter = there;
    return there != NULL;
}

/* The value of the first row, or of the first one that has one. */
static struct expression *bind_first(struct binder *binder,
                                     const struct call *call,
                                     enum aggregate_function function)
{
    struct expression *value = call->arguments[0];
    struct call first = *call;

    return function == AGGREGATE_FIRST_ROW
                   || bind_filter_nulls(binder, &first, value)
               ? bind_aggregate_part(binder, &first, AGGREGATE_FIRST, value)
               : NULL;
}

/* The first argument where the second one is the least or the greatest: as MIN
 * and MAX of texts by keys. */
static struct expression *bind_arg_extreme(struct binder *binder,
                                           const struct call *call,
                                           enum aggregate_function function)
{
    struct expression *value = call->arguments[0], *e;
    struct call known = *call;

    if (!bind_filter_nulls(binder, &known, value)
        || !bind_filter_nulls(binder, &known, call->arguments[1]))
        return NULL;
    e = expression_new(binder, EXPRESSION_AGGREGATE, value->type,
                       call->tree->at);
    if (e == NULL)
        return NULL;
    e->aggregate.function =
        function == AGGREGATE_ARG_MIN ? AGGREGATE_MIN : AGGREGATE_MAX;
    expression_place(binder, e, call->tree);
    e->left = value;
    e->right = collation_own_key(binder, call->arguments[1]);
    e->condition = known.filter;
    if (e->right == NULL)
        return NULL;
    type_aggregate(e, e->aggregate.function);
    if (!expression_fits(binder, e))
        return NULL;
    return call->tree->over ? arg_extreme_over(binder, call, e) : e;
}

static struct expression *bind_made(struct binder *binder,
                                    const struct call *call,
                                    enum aggregate_function function)
{
    bool extreme =
        function == AGGREGATE_ARG_MIN || function == AGGREGATE_ARG_MAX;
    bool truth =
        function == AGGREGATE_BOOL_AND || function == AGGREGATE_BOOL_OR;
    bool pairs =
        function >= AGGREGATE_COVAR_POP && function <= AGGREGATE_REGR_SXY;
    bool first =
        function == AGGREGATE_FIRST_ROW || function == AGGREGATE_ANY_VALUE;

    if (function == AGGREGATE_GROUPING)
        return bind_grouping(binder, call);
    if (function == AGGREGATE_STRING_AGG)
        return bind_string_agg(binder, call);
    if (!check_made(binder, call, extreme || pairs ? 2 : 1,
                    truth || first || function == AGGREGATE_PRODUCT
                        || function == AGGREGATE_APPROX_COUNT_DISTINCT))
        return NULL;
    if (pairs)
        return bind_covariance(binder, call, function);
    if (function == AGGREGATE_COUNT_IF)
        return bind_count_if(binder, call);
    if ((function >= AGGREGATE_LAST_ROW
         && function <= AGGREGATE_APPROX_COUNT_DISTINCT)
        || (first && call->within.count > 0))
        return bind_fold(binder, call, function);
    return extreme ? bind_arg_extreme(binder, call, function)
           : truth ? bind_truth(binder, call, function)
           : first ? bind_first(binder, call, function)
                   : bind_variance(binder, call, function);
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

/* It is found by the order of its window, of which there is one: that of all
 * rows of a partition. */
static struct expression *arg_extreme_over(struct binder *binder,
                                           const struct call *call,
                                           const struct expression *aggregate)
{
    return call_is_of_partition(binder, call) ? collate_extreme_over(
               binder, aggregate, &call->partition, &call->order)
                                              : NULL;
}

/* Of all rows of a partition, whose order is that of the values. */
static struct expression *quantile_over(struct binder *binder,
                                        const struct call *call,
                                        const struct aggregate_row *row)
{
    const struct quantile quantile = { .making = { binder, call->tree->at },
                                       .partition = &call->partition };
    struct expression *symbol;

    if (!call_is_of_partition(binder, call))
        return NULL;
    symbol = bind_quantile(binder, call, row);
    return symbol ? quantile_made(quantile, symbol) : NULL;
}

static struct expression *window_of_aggregate(struct binder *binder,
                                              const struct call *call,
                                              const struct aggregate_row *row)
{
    struct expression *e, *aggregate;

    if (row->keeps == AGGREGATE_KEEPS_ALL)
        return quantile_over(binder, call, row);
    if (row->keeps == AGGREGATE_KEEPS_OTHERS)
        return bind_made(binder, call, row->function);
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
    e->window->frame.known = call->tree->ignores_nulls;
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
