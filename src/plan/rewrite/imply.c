/* SPDX-License-Identifier: MIT */
/*
 * What an OR about several parts of FROM says of one of them:
 *
 *   (n.a = 1 AND m.b = 2) OR (n.a = 3 AND m.b = 4)
 *
 * is true of no row of n for which n.a = 1 OR n.a = 3 is not true. That is a
 * condition of its own, which leaves out rows of n before they are joined; the
 * OR stays. Of a branch with more to say of n all that can be said of n alone
 * counts; where one says nothing, nothing follows. What can fail implies
 * nothing, nor does what a node of its own computes.
 */
#include "plan/rewrite/imply.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/condition/refuses.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

enum { IMPLYING_SIZE_MAX = 500 }; /* of an OR that is looked at */

struct implying {
    struct binder *binder;
    struct between columns; /* of the part of FROM, by FROM's numbers */
};

/* Whether all columns are the part's, and a program computes it. */
static bool is_of_part(void *context, struct expression **operand)
{
    const struct between *columns = context;
    const struct expression *e = *operand;

    if (e->kind >= EXPRESSION_FUNCTION || e->faults)
        return false;
    if (e->kind == EXPRESSION_COLUMN)
        return e->column.number >= columns->low
               && e->column.number < columns->high;
    return expression_each(*operand, is_of_part, context);
}

static bool is_operation(const struct expression *e, enum ast_operator op)
{
    return e->kind == EXPRESSION_OPERATOR && e->operation.op == op;
}

/* What is true of the part's columns where the condition is true; NULL: nothing
 * that is known, or a failure. */
static struct expression *implied(struct implying *implying,
                                  struct expression *e)
{
    bool any = is_operation(e, AST_OR);
    struct ast_expression place = { .at = e->at };
    struct expression *left, *right;

    if (stack_is_short())
        return NULL;
    if (is_of_part(&implying->columns, &e))
        return expression_has(e, EXPRESSION_COLUMN) ? e : NULL;
    if (!any && !is_operation(e, AST_AND))
        return NULL;
    left = implied(implying, e->left);
    if (left == NULL && any)
        return NULL;
    right = implied(implying, e->right);
    if (right == NULL)
        return any ? NULL : left;
    if (left == NULL)
        return right;
    return expression_operator(implying->binder, any ? AST_OR : AST_AND, left,
                               right, &place);
}

/* Adds what an OR says of a part that is not all that it says. */
static enum vdbq_status imply(struct implying *implying, struct expression *e,
                              struct vector *conditions)
{
    struct binder *binder = implying->binder;
    struct expression *more;

    if (!is_operation(e, AST_OR) || e->size > IMPLYING_SIZE_MAX
        || is_of_part(&implying->columns, &e))
        return VDBQ_OK;
    more = implied(implying, e);
    if (more == NULL || known_truth(more) == 1
        || expression_find(conditions, 0, more) >= 0)
        return binder->error->status;
    return vector_append(conditions, &more, 1) ? VDBQ_OK
                                               : error_no_memory(binder->error);
}

struct node *imply_filters(struct binder *binder, struct node *product)
{
    struct implying implying = { .binder = binder };
    enum vdbq_status status = VDBQ_OK;

    if (product->kind != NODE_PRODUCT)
        return product;
    size_t written = product->conditions.count;
    for (size_t k = 0; k < product->parts.count && status == VDBQ_OK; k++) {
        implying.columns.low = implying.columns.high;
        implying.columns.high += (int)node_part_width(product, k);
        for (size_t i = 0; i < written && status == VDBQ_OK; i++)
            status = imply(
                &implying,
                VECTOR_ITEMS(&product->conditions, struct expression *)[i],
                &product->conditions);
    }
    return status == VDBQ_OK ? product : NULL;
}
