/* SPDX-License-Identifier: MIT */
/*
 * Expressions as trees: walking over operands, and finding equal ones.
 */
#include "plan/tree/expression.h"

#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/tree/binder.h"

bool is_float(int type)
{
    return type == VDBQ_FLOAT || type == VDBQ_DOUBLE;
}

bool is_integer(int type)
{
    return type == VDBQ_SMALLINT || type == VDBQ_INTEGER || type == VDBQ_BIGINT;
}

bool is_number(int type)
{
    return is_integer(type) || is_float(type) || type == VDBQ_BOOLEAN
           || type == VDBQ_DECIMAL;
}

bool is_comparison(enum ast_operator operator)
{
    return operator>= AST_EQ && operator<= AST_GE;
}

bool comparison_holds(enum ast_operator operator, int sign)
{
    switch (operator) {
    case AST_EQ:
    case AST_IS:
        return sign == 0;
    case AST_NEQ:
    case AST_IS_NOT:
        return sign != 0;
    case AST_LT:
        return sign < 0;
    case AST_LE:
        return sign <= 0;
    case AST_GT:
        return sign > 0;
    default:
        return sign >= 0;
    }
}

bool is_null_constant(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->constant.null;
}

bool is_equality(const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_EQ;
}

/* ---------------------------------------------------------------- walk -- */

static bool each_window(struct window *window, expression_visit visit,
                        void *context)
{
    for (size_t i = 0; i < window->partition.count; i++)
        if (!visit(context, vector_at(&window->partition, i)))
            return false;
    for (size_t i = 0; i < window->order.count; i++) {
        struct order_term *term = vector_at(&window->order, i);
        if (!visit(context, &term->expression))
            return false;
    }
    return true;
}

static bool each_outer_value(struct subquery *subquery, expression_visit visit,
                             void *context)
{
    for (size_t i = 0; i < subquery->parameters.count; i++) {
        struct outer_value *value = vector_at(&subquery->parameters, i);
        if (!visit(context, &value->value))
            return false;
    }
    return true;
}

/* Operands beside left, right and condition, of the kinds that have some. */
static bool each_further(struct expression *e, expression_visit visit,
                         void *context)
{
    switch (e->kind) {
    case EXPRESSION_FUNCTION:
        for (unsigned i = 0; i < e->call.count; i++)
            if (!visit(context, &e->call.arguments[i]))
                return false;
        return true;
    case EXPRESSION_WINDOW:
        return each_window(e->window, visit, context);
    case EXPRESSION_SUBQUERY:
        return each_outer_value(e->subquery, visit, context);
    default:
        return true;
    }
}

bool expression_each(struct expression *e, expression_visit visit,
                     void *context)
{
    return (e->condition == NULL || visit(context, &e->condition))
           && (e->left == NULL || visit(context, &e->left))
           && (e->right == NULL || visit(context, &e->right))
           && each_further(e, visit, context);
}

static bool seek(void *kind, struct expression **operand)
{
    enum expression_kind wanted = *(enum expression_kind *)kind;

    return (*operand)->kind != wanted && expression_each(*operand, seek, kind);
}

bool expression_has(const struct expression *e, enum expression_kind kind)
{
    struct expression *copy = (struct expression *)(uintptr_t)e;

    return !seek(&kind, &copy);
}

bool needs_extraction(const struct expression *e)
{
    return expression_has(e, EXPRESSION_SUBQUERY)
           || expression_has(e, EXPRESSION_FUNCTION);
}

bool expression_is_plain(const struct expression *e)
{
    return !needs_extraction(e) && !expression_has(e, EXPRESSION_WINDOW);
}

static bool is_plain(void *unused, struct expression **operand)
{
    (void)unused;
    return expression_is_plain(*operand);
}

bool expression_is_ready(struct expression *e)
{
    return expression_each(e, is_plain, NULL);
}

static bool take_depth(void *most, struct expression **operand)
{
    size_t depth = (*operand)->depth + 1;

    if (*(size_t *)most < depth)
        *(size_t *)most = depth;
    return true;
}

bool expression_fits(struct binder *binder, struct expression *e)
{
    e->depth = 0;
    expression_each(e, take_depth, &e->depth);
    if (stack_holds(e->depth))
        return true;
    stack_refuse(binder->error, e->at);
    return false;
}

/* --------------------------------------------------------------- equal -- */

static bool same_or_none(const struct expression *a, const struct expression *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return expression_same(a, b);
}

static bool same_constants(const struct expression *a,
                           const struct expression *b)
{
    if (a->constant.null || b->constant.null)
        return a->constant.null == b->constant.null;
    if (a->type == VDBQ_TEXT)
        return a->constant.text.length == b->constant.text.length
               && memcmp(a->constant.text.bytes, b->constant.text.bytes,
                         a->constant.text.length)
                      == 0;
    return is_float(a->type) ? memcmp(&a->constant.real, &b->constant.real,
                                      sizeof a->constant.real)
                                   == 0
                             : a->constant.integer == b->constant.integer;
}

static bool same_operands(const struct expression *a,
                          const struct expression *b)
{
    return same_or_none(a->left, b->left) && same_or_none(a->right, b->right)
           && same_or_none(a->condition, b->condition);
}

static bool same_calls(const struct expression *a, const struct expression *b)
{
    if (a->call.function != b->call.function || a->call.count != b->call.count)
        return false;
    for (unsigned i = 0; i < a->call.count; i++)
        if (!expression_same(a->call.arguments[i], b->call.arguments[i]))
            return false;
    return true;
}

/* Whether two subqueries are copies of one that ask for the same values. */
static bool same_subqueries(const struct subquery *a, const struct subquery *b)
{
    bool same = a->kind == b->kind && a->node == b->node
                && a->parameters.count == b->parameters.count;

    for (size_t i = 0; i < a->parameters.count && same; i++) {
        const struct outer_value *one = vector_at(&a->parameters, i);
        const struct outer_value *other = vector_at(&b->parameters, i);
        same = one->parameter == other->parameter
               && expression_same(one->value, other->value);
    }
    return same;
}

static bool same_windows(const struct window *a, const struct window *b)
{
    bool same = a->function == b->function && a->aggregate == b->aggregate
                && a->distinct == b->distinct && a->offset == b->offset
                && frame_same(&a->frame, &b->frame)
                && a->partition.count == b->partition.count
                && a->order.count == b->order.count;

    for (size_t i = 0; same && i < a->partition.count; i++)
        same = expression_same(
            VECTOR_ITEMS(&a->partition, struct expression *)[i],
            VECTOR_ITEMS(&b->partition, struct expression *)[i]);
    for (size_t i = 0; same && i < a->order.count; i++) {
        const struct order_term *one = vector_at(&a->order, i);
        const struct order_term *other = vector_at(&b->order, i);
        same = one->descending == other->descending
               && one->nulls_last == other->nulls_last
               && expression_same(one->expression, other->expression);
    }
    return same;
}

/* Aggregates of an order, quantiles, take their values in a collation. */
static bool same_collation(const struct expression *a,
                           const struct expression *b)
{
    return a == NULL || b == NULL
           || a->collating.collation == b->collating.collation;
}

/* Whether what their kind alone has is the same. */
static bool same_kinds(const struct expression *a, const struct expression *b)
{
    switch (a->kind) {
    case EXPRESSION_CONSTANT:
        return same_constants(a, b);
    case EXPRESSION_COLUMN:
        return a->column.number == b->column.number;
    case EXPRESSION_PARAMETER:
        return a->parameter.number == b->parameter.number;
    case EXPRESSION_OPERATOR:
        return a->operation.op == b->operation.op;
    case EXPRESSION_CAST:
    case EXPRESSION_CHOICE:
        return true;
    case EXPRESSION_MATH:
        return a->math.op == b->math.op && a->math.part == b->math.part;
    case EXPRESSION_LOOKUP:
        return strcmp(a->lookup.call, b->lookup.call) == 0;
    case EXPRESSION_CHECK:
        return strcmp(a->check.message, b->check.message) == 0;
    case EXPRESSION_FUNCTION:
        return same_calls(a, b);
    case EXPRESSION_AGGREGATE:
        return a->aggregate.function == b->aggregate.function
               && a->aggregate.distinct == b->aggregate.distinct
               && same_collation(a->left, b->left);
    case EXPRESSION_SUBQUERY:
        return same_subqueries(a->subquery, b->subquery);
    case EXPRESSION_WINDOW:
        return same_windows(a->window, b->window);
    }
    return false;
}

bool expression_same(const struct expression *a, const struct expression *b)
{
    return a == b
           || (a->kind == b->kind && a->type == b->type && a->scale == b->scale
               && same_kinds(a, b) && same_operands(a, b));
}

int expression_find(const struct vector *expressions, size_t first,
                    const struct expression *e)
{
    for (size_t i = first; i < expressions->count; i++)
        if (expression_same(VECTOR_ITEMS(expressions, struct expression *)[i],
                            e))
            return (int)i;
    return -1;
}
