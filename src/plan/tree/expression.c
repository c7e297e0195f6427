/* SPDX-License-Identifier: MIT */
/*
 * Expressions as trees: walking over operands, and finding equal ones.
 */
#include "plan/plan_inner.h"

#include <string.h>

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

bool is_null_constant(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && e->constant.null;
}

bool is_equality(const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && e->operator== AST_EQ;
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

bool expression_each(struct expression *e, expression_visit visit,
                     void *context)
{
    bool going = true;

    if (e->condition != NULL)
        going = visit(context, &e->condition);
    if (going && e->left != NULL)
        going = visit(context, &e->left);
    if (going && e->right != NULL)
        going = visit(context, &e->right);
    for (unsigned i = 0; i < e->argument_count && going; i++)
        going = visit(context, &e->arguments[i]);
    if (going && e->window != NULL)
        going = each_window(e->window, visit, context);
    if (going && e->subquery != NULL)
        going = each_outer_value(e->subquery, visit, context);
    return going;
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

bool is_lifted(const struct expression *e)
{
    return expression_has(e, EXPRESSION_SUBQUERY)
           || expression_has(e, EXPRESSION_FUNCTION);
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

static bool same_texts(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
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
    if (a->argument_count != b->argument_count
        || !same_or_none(a->left, b->left) || !same_or_none(a->right, b->right)
        || !same_or_none(a->condition, b->condition))
        return false;
    for (unsigned i = 0; i < a->argument_count; i++)
        if (!expression_same(a->arguments[i], b->arguments[i]))
            return false;
    return true;
}

bool expression_same(const struct expression *a, const struct expression *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->type != b->type || a->scale != b->scale)
        return false;
    switch (a->kind) {
    case EXPRESSION_CONSTANT:
        return same_constants(a, b);
    case EXPRESSION_COLUMN:
        return a->column.number == b->column.number;
    case EXPRESSION_PARAMETER:
        return a->parameter.number == b->parameter.number;
    case EXPRESSION_WINDOW:
    case EXPRESSION_SUBQUERY:
        return false;
    default:
        break;
    }
    return a->operator == b->operator && a->op == b->op
           && a->part == b->part /* the part of a date */
           && a->function == b->function && a->aggregate == b->aggregate
           && a->distinct == b->distinct && same_texts(a->call, b->call)
           && same_operands(a, b);
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

/* ------------------------------------------------------------- replace -- */

/* What expression_replace() hands down. */
struct replacing {
    struct binder *binder;
    expression_replacer replacer;
    void *context;
    bool any; /* an operand was replaced */
};

static bool replace_operand(void *context, struct expression **operand)
{
    struct replacing *replacing = context;
    struct expression *before = *operand;

    *operand = expression_replace(replacing->binder, before,
                                  replacing->replacer, replacing->context);
    replacing->any |= *operand != before;
    return *operand != NULL;
}

/* Copies what an expression has beside its operands, so that these can be
 * replaced in the copy. */
static bool own_lists(struct binder *binder, struct expression *e)
{
    bool there = true;

    if (e->argument_count > 0) {
        struct expression **own =
            arena_alloc(binder->arena, e->argument_count * sizeof(*own));
        there = own != NULL;
        if (there)
            memcpy(own, e->arguments, e->argument_count * sizeof(*own));
        e->arguments = own;
    }
    if (e->window != NULL && there) {
        struct window *own = arena_alloc(binder->arena, sizeof *own);
        there = own != NULL;
        if (there) {
            *own = *e->window;
            there = arena_vector_copy(binder->arena, &e->window->partition,
                                      &own->partition)
                    && arena_vector_copy(binder->arena, &e->window->order,
                                         &own->order);
        }
        e->window = own;
    }
    if (e->subquery != NULL && there) {
        struct subquery *own = arena_alloc(binder->arena, sizeof *own);
        there = own != NULL;
        if (there) {
            *own = *e->subquery;
            there = arena_vector_copy(binder->arena, &e->subquery->parameters,
                                      &own->parameters);
        }
        e->subquery = own;
    }
    return there;
}

static bool is_number_constant(const struct expression *e)
{
    return e == NULL
           || (e->kind == EXPRESSION_CONSTANT && e->type != VDBQ_TEXT);
}

/* Whether all operands have become numbers that are known. */
static bool is_foldable(const struct expression *e)
{
    return e->kind >= EXPRESSION_OPERATOR && e->kind <= EXPRESSION_MATH
           && is_number_constant(e->left) && is_number_constant(e->right)
           && is_number_constant(e->condition);
}

/* A copy whose operands were replaced. */
static struct expression *finish_copy(struct binder *binder,
                                      struct expression *e)
{
    range_update(e);
    if (!expression_fits(binder, e))
        return NULL;
    if (!is_foldable(e))
        return e;
    return fold(binder, e) == VDBQ_OK ? e : NULL;
}

struct expression *expression_replace(struct binder *binder,
                                      struct expression *e,
                                      expression_replacer replacer,
                                      void *context)
{
    struct replacing replacing = { binder, replacer, context, false };
    struct expression *copy = NULL;
    bool failed = false;

    if (stack_is_short())
        return stack_refuse(binder->error, e->at), NULL;
    copy = replacer(context, e, &failed);
    if (copy != NULL || failed)
        return copy;
    if (e->kind == EXPRESSION_CONSTANT || e->kind == EXPRESSION_COLUMN
        || e->kind == EXPRESSION_PARAMETER)
        return e;
    copy = arena_alloc(binder->arena, sizeof *copy);
    if (copy == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    *copy = *e;
    if (!own_lists(binder, copy)) {
        error_no_memory(binder->error);
        return NULL;
    }
    if (!expression_each(copy, replace_operand, &replacing))
        return NULL;
    if (!replacing.any)
        return e;
    return finish_copy(binder, copy);
}
