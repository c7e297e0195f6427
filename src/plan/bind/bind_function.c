/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions: the arguments are bound, and the kind of function
 * decides what becomes of them.
 */
#include "base/vector.h"
#include "plan/bind/bind.h"
#include "plan/call/call.h"
#include "plan/bind/clause.h"
#include "plan/bind/scope.h"
#include "plan/operator/collate.h"
#include "plan/operator/compare.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

static struct expression *refuse_aggregate(struct binder *binder,
                                           const struct call *call)
{
    error_at(binder->error, VDBQ_SYNTAX, call->tree->at,
             "the aggregate %s cannot stand here", call->name);
    error_hint(binder->error,
               "aggregates stand in the results, HAVING and ORDER BY of a "
               "query, not in WHERE, GROUP BY or one another");
    return NULL;
}

/* They have no affinity, in whatever function. */
static bool bind_arguments(struct binder *binder, struct call *call)
{
    call->count = 0;
    for (const struct ast_value *value = call->tree->arguments; value != NULL;
         value = value->next) {
        struct expression *e;
        if (call->count == CALL_ARGUMENTS_MAX) {
            error_at(binder->error, VDBQ_LIMIT, call->tree->at,
                     "a function takes at most %d arguments",
                     CALL_ARGUMENTS_MAX);
            return false;
        }
        e = bind_expression(binder, value->expression);
        e = e ? expression_affine(binder, e, false) : NULL;
        if (e == NULL)
            return false;
        call->arguments[call->count++] = e;
    }
    return true;
}

/* Whether a row counts: a narrow integer, as aggregates take it. False: a
 * failure. */
static bool bind_filter(struct binder *binder, struct call *call)
{
    const struct ast_expression *tree = call->tree->filter;
    struct collating collating = binder->collating;
    struct expression *e, *zero;

    if (tree == NULL)
        return true;
    e = bind_condition(binder, tree);
    binder->collating = collating;
    if (e != NULL && type_machine((enum vdbq_type)e->type) != TYPE_I32) {
        zero = expression_integer(binder, 0, tree->at);
        e = zero ? expression_operator(binder, AST_NEQ, e, zero, tree) : NULL;
    }
    call->filter = e;
    return e != NULL;
}

/* The terms of an ORDER BY that a call or its window has. */
static bool bind_order(struct binder *binder, const struct ast_order *order,
                       struct vector *terms)
{
    *terms = VECTOR_IN(binder->arena, struct order_term);
    for (; order != NULL; order = order->next) {
        struct expression *e = bind_expression(binder, order->expression);
        struct order_term term;
        e = e ? collation_own_key(binder, e) : NULL;
        if (e == NULL)
            return false;
        term = order_term(order, e);
        if (!vector_append(terms, &term, 1))
            return error_no_memory(binder->error), false;
    }
    return true;
}

/* ORDER BY in the call itself, of which COLLATE is not the call's. */
static bool bind_within(struct binder *binder, struct call *call)
{
    struct collating collating = binder->collating;
    bool done = bind_order(binder, call->tree->order, &call->within);

    binder->collating = collating;
    return done;
}

static bool bind_window_lists(struct binder *binder,
                              const struct ast_window *over, struct call *call)
{
    call->partition = VECTOR_IN(binder->arena, struct expression *);
    for (const struct ast_value *value = over->partition; value != NULL;
         value = value->next) {
        struct expression *e = bind_expression(binder, value->expression);
        e = e ? collation_own_key(binder, e) : NULL;
        if (e == NULL || !vector_append(&call->partition, &e, 1))
            return false;
    }
    return bind_order(binder, over->order, &call->order);
}

/* The rows behind the row at which a frame begins or ends. */
static bool bind_bound(struct binder *binder, const struct call *call,
                       const struct ast_bound *from, struct frame_bound *bound,
                       bool range)
{
    struct expression *e = NULL;

    bound->unbounded =
        from->kind == AST_BOUND_START || from->kind == AST_BOUND_END;
    if (from->offset == NULL)
        return true;
    if (from->offset->kind != AST_INTERVAL || !range) {
        e = bind_expression(binder, from->offset);
        if (e == NULL)
            return false;
    }
    if (range ? !frame_distance(binder, call, from, e, bound)
              : !bind_whole_number(binder, call, e, "frame offset",
                                   &bound->offset))
        return false;
    if (bound->offset < 0 || bound->real < 0) {
        error_at(binder->error, VDBQ_TYPE, from->at,
                 "the frame offset of %s is below 0", call->name);
        return false;
    }
    if (bound->offset > FRAME_OFFSET_MAX && !range)
        bound->offset = FRAME_OFFSET_MAX;
    if (from->kind == AST_BOUND_PRECEDING) {
        bound->offset = -bound->offset;
        bound->real = -bound->real;
    }
    return true;
}

/* Whether it can be a frame at all. */
static bool check_frame(struct binder *binder, const struct ast_frame *frame)
{
    const struct ast_bound *begin = &frame->begin, *end = &frame->end;

    if (begin->kind == AST_BOUND_END || begin->kind > end->kind
        || end->kind == AST_BOUND_START) {
        error_at(binder->error, VDBQ_SYNTAX, begin->at,
                 "the frame ends before it begins");
        error_hint(
            binder->error,
            "UNBOUNDED PRECEDING, n PRECEDING, CURRENT ROW, n FOLLOWING, "
            "UNBOUNDED FOLLOWING is the order of places");
        return false;
    }
    return true;
}

static bool bind_frame(struct binder *binder, const struct ast_frame *from,
                       struct call *call)
{
    struct step_frame *frame = &call->frame;

    *frame = (struct step_frame){ .unit = FRAME_DEFAULT };
    if (!from->written)
        return true;
    if (!check_frame(binder, from)
        || !bind_bound(binder, call, &from->begin, &frame->begin, from->range)
        || !bind_bound(binder, call, &from->end, &frame->end, from->range))
        return false;
    frame->unit = from->range ? FRAME_RANGE : FRAME_ROWS;
    if (from->range && (from->begin.offset != NULL || from->end.offset != NULL))
        frame->unit = FRAME_DISTANCE;
    else if (from->range
             && (call->order.count == 0
                 || (frame->begin.unbounded && !frame->end.unbounded)))
        frame->unit = FRAME_DEFAULT;
    return true;
}

/* No COLLATE in it is one of the call. */
static bool bind_over(struct binder *binder, const struct ast_window *over,
                      struct call *call)
{
    struct collating collating = binder->collating;
    struct ast_window whole;
    bool done = window_whole(binder, over, &whole)
                && bind_window_lists(binder, &whole, call)
                && bind_frame(binder, &whole.frame, call);

    binder->collating = collating;
    return done;
}

/* ----------------------------------------------------------- aggregates -- */

/* Binds an aggregate in the query that it belongs to. Aggregates do not stand
 * in aggregates of the same query. */
static struct expression *bind_own_aggregate(struct binder *binder,
                                             struct call *call,
                                             const struct aggregate_row *row)
{
    struct scope *scope = binder->scope;
    bool aggregates = scope->aggregates, windows = scope->windows;
    struct expression *e = NULL;

    scope->aggregates = scope->windows = false;
    if (bind_arguments(binder, call) && bind_within(binder, call)
        && bind_filter(binder, call))
        e = bind_aggregate(binder, call, row);
    scope->aggregates = aggregates;
    scope->windows = windows;
    return e;
}

/* An aggregate belongs to the innermost query of which it uses a column: over
 * columns of an outer query alone it is that one's, and its value a parameter
 * of this one. It is bound here to learn that. */
static struct expression *bind_aggregate_call(struct binder *binder,
                                              struct call *call,
                                              const struct aggregate_row *row)
{
    struct scope *scope = binder->scope, *owner;
    uint64_t lookups = binder->lookups;
    int parameters = binder->parameter_count;
    struct expression *e = bind_own_aggregate(binder, call, row);

    owner = scope_user(scope, lookups);
    if (e == NULL)
        return NULL;
    if (!owner->aggregates)
        return refuse_aggregate(binder, call);
    owner->aggregated = true;
    if (owner == scope)
        return e;
    scope_forget(scope, parameters);
    binder->scope = owner;
    e = bind_own_aggregate(binder, call, row);
    binder->scope = scope;
    return e ? scope_ask(binder, owner, e) : NULL;
}

/* -------------------------------------------------------------- windows -- */

static struct expression *bind_window_call(struct binder *binder,
                                           struct call *call)
{
    struct scope *scope = binder->scope;
    struct expression *e = NULL;

    if (!scope->windows) {
        error_at(binder->error, VDBQ_SYNTAX, call->tree->at,
                 "window functions stand in the results, QUALIFY and ORDER BY "
                 "only, and not in one another");
        return NULL;
    }
    scope->windows = false;
    if (bind_arguments(binder, call) && bind_within(binder, call)
        && bind_over(binder, call->tree->over, call)
        && bind_filter(binder, call))
        e = bind_window(binder, call);
    scope->windows = true;
    if (e == NULL && binder->error->status == VDBQ_OK)
        error_no_memory(binder->error);
    return e;
}

/* random() is made of a window function, so that no row is asked twice: what is
 * computed by one is neither pushed down nor copied. */
static bool check_random(struct binder *binder,
                         const struct ast_expression *tree)
{
    if (binder->scope->windows || binder->scope->random)
        return true;
    error_at(binder->error, VDBQ_SYNTAX, tree->at,
             "random() stands in results, WHERE of SELECT, QUALIFY, ORDER BY, "
             "VALUES and SET of UPDATE only, and not in aggregates");
    error_hint(binder->error, "a query in FROM may have it as a column");
    return false;
}

/* ------------------------------------------------------------------ all -- */

/* Whether the value depends on the order of rows. */
static bool takes_order(const struct aggregate_row *aggregate)
{
    return aggregate != NULL
           && (aggregate->function == AGGREGATE_STRING_AGG
               || aggregate->function == AGGREGATE_FIRST_ROW
               || aggregate->function == AGGREGATE_ANY_VALUE
               || aggregate->function == AGGREGATE_LAST_ROW
               || aggregate->function == AGGREGATE_PRODUCT);
}

/* Whether IGNORE NULLS may stand in the call: of values of other rows alone is there
 * a choice. */
static bool check_ignoring(struct binder *binder,
                           const struct ast_expression *tree)
{
    const struct window_row *window = window_named(tree->column.text);

    if (!tree->ignores_nulls
        || (tree->over != NULL && window != NULL
            && window->function <= WINDOW_NTH && window->least > 0))
        return true;
    error_at(binder->error, VDBQ_SYNTAX, tree->at,
             "%s takes no IGNORE NULLS: lag, lead, first_value, last_value and "
             "nth_value do",
             tree->column.text);
    return false;
}

/* date_add(x, INTERVAL 1 DAY) is x + INTERVAL 1 DAY; NULL: it is no such call. */
static const struct ast_expression *as_moved(struct binder *binder,
                                             const struct ast_expression *tree)
{
    bool adds = name_equal(tree->column.text, "date_add");
    struct ast_expression *made;

    if (tree->argument_count != 2 || tree->over != NULL
        || (!adds && !name_equal(tree->column.text, "date_sub")))
        return NULL;
    made = arena_alloc(binder->arena, sizeof *made);
    if (made == NULL)
        return NULL;
    made->kind = AST_OPERATOR;
    made->operator= adds ? AST_ADD : AST_SUB;
    made->left = tree->arguments->expression;
    made->right = tree->arguments->next->expression;
    made->depth = tree->depth;
    made->at = tree->at;
    made->begin = tree->begin;
    made->end = tree->end;
    return interval_stands_in(made) ? made : NULL;
}

struct expression *bind_function(struct binder *binder,
                                 const struct ast_expression *tree)
{
    const struct ast_expression *moved = as_moved(binder, tree);
    struct call call = { .tree = tree, .name = tree->column.text };
    const struct aggregate_row *aggregate = call_aggregate(tree);

    if (tree->order != NULL && !takes_order(aggregate)) {
        error_at(binder->error, VDBQ_SYNTAX, tree->order->expression->at,
                 "%s takes no ORDER BY", call.name);
        error_hint(
            binder->error,
            "first, last, any_value, product and string_agg do; of other "
            "aggregates the value does not depend on the order, and "
            "windows have theirs in OVER");
        return NULL;
    }
    if (moved != NULL)
        return bind_expression(binder, moved);
    if (!check_ignoring(binder, tree))
        return NULL;
    if (name_equal(call.name, "random") && !check_random(binder, tree))
        return NULL;
    if (aggregate != NULL && tree->over == NULL)
        return bind_aggregate_call(binder, &call, aggregate);
    if (tree->over != NULL)
        return bind_window_call(binder, &call);
    return bind_arguments(binder, &call) ? bind_scalar(binder, &call) : NULL;
}
