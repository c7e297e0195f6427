/* SPDX-License-Identifier: MIT */
/*
 * Literals: literal.h.
 */
#include "plan/bind/literal.h"

#include <assert.h>

#include "plan/make/expression_new.h"

struct expression *bind_literal(struct binder *binder,
                                const struct ast_expression *tree)
{
    struct vdbq_text text = { tree->string, tree->string_length };

    assert(tree->kind <= AST_FALSE);
    switch (tree->kind) {
    case AST_INTEGER:
        return expression_integer(binder, tree->integer, tree->at);
    case AST_DECIMAL:
        return expression_real(binder, VDBQ_DOUBLE, tree->decimal, tree->at);
    case AST_STRING:
        return expression_text(binder, text, tree->at);
    case AST_NULL:
        return expression_null(binder, VDBQ_INTEGER, tree->at);
    default:
        return expression_truth(binder, tree->kind == AST_TRUE, tree->at);
    }
}
