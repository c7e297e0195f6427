/* SPDX-License-Identifier: MIT */
/*
 * What conditions say of NULLs: most operators give NULL where an operand is,
 * and no row is kept for that.
 */
#include "plan/condition/refuses.h"

bool is_null_with(const struct expression *e, struct between columns)
{
    switch (e->kind) {
    case EXPRESSION_COLUMN:
        return e->column.number >= columns.low
               && e->column.number < columns.high;
    case EXPRESSION_CAST:
    case EXPRESSION_LOOKUP:
        return is_null_with(e->left, columns);
    case EXPRESSION_MATH:
        return is_null_with(e->left, columns)
               || (e->right != NULL && is_null_with(e->right, columns));
    case EXPRESSION_OPERATOR:
        if (e->operation.op == AST_NOT)
            return is_null_with(e->left, columns);
        return (e->operation.op <= AST_MOD || is_comparison(e->operation.op))
               && (is_null_with(e->left, columns)
                   || is_null_with(e->right, columns));
    default:
        return false;
    }
}

bool refuses_null(const struct expression *e, struct between columns)
{
    if (e->kind != EXPRESSION_OPERATOR)
        return is_null_with(e, columns);
    if (e->operation.op == AST_AND)
        return refuses_null(e->left, columns)
               || refuses_null(e->right, columns);
    if (e->operation.op == AST_OR)
        return refuses_null(e->left, columns)
               && refuses_null(e->right, columns);
    if (e->operation.op == AST_IS_NOT)
        return is_null_constant(e->right) && is_null_with(e->left, columns);
    return is_null_with(e, columns);
}

void join_tighten(struct node *join, bool not_left, bool not_right)
{
    if (not_right && join->join.kind == JOIN_LEFT)
        join->join.kind = JOIN_INNER;
    if (not_right && join->join.kind == JOIN_FULL)
        join->join.kind = JOIN_RIGHT;
    if (not_left && join->join.kind == JOIN_RIGHT)
        join->join.kind = JOIN_INNER;
    if (not_left && join->join.kind == JOIN_FULL)
        join->join.kind = JOIN_LEFT;
}
