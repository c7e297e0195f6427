/* SPDX-License-Identifier: MIT */
/*
 * Bits of integers: one opcode each, of 64 bits as all arithmetic of integers.
 * Other numbers have no bits that SQL knows: they are refused, where SQLite
 * would cut their fractions off without a word.
 */
#include "plan/operator/bits.h"

#include "base/type.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/tree/binder.h"

/* An operand as an integer; a text that is written, or bound to a parameter, is
 * the number that it looks like. */
static struct expression *integer_of(struct binder *binder,
                                     struct expression *e)
{
    if (e->type == VDBQ_TEXT)
        e = expression_known(binder, e);
    if (e != NULL && is_text_constant(e) && !e->constant.null)
        e = expression_text_number(binder, e);
    if (e == NULL || is_integer(e->type) || e->type == VDBQ_BOOLEAN)
        return e;
    error_at(binder->error, VDBQ_TYPE, e->at,
             "bits are those of integers, not of a %s",
             type_name((enum vdbq_type)e->type));
    error_hint(binder->error, "CAST(x AS BIGINT) makes an integer of it");
    return NULL;
}

/* One opcode of both; of a NULL, NULL. */
static struct expression *of_both(struct binder *binder, enum opcode op,
                                  struct expression *left,
                                  struct expression *right, struct position at)
{
    left = integer_of(binder, left);
    right = left ? integer_of(binder, right) : NULL;
    return right ? expression_math(binder, op, VDBQ_BIGINT, left, right, false,
                                   at)
                 : NULL;
}

struct expression *expression_bits_xor(struct binder *binder,
                                       struct expression *left,
                                       struct expression *right,
                                       struct position at)
{
    return of_both(binder, OP_BIT_XOR_I64, left, right, at);
}

static enum opcode opcode_of(enum ast_operator operator)
{
    switch (operator) {
    case AST_BIT_AND:
        return OP_BIT_AND_I64;
    case AST_BIT_OR:
        return OP_BIT_OR_I64;
    case AST_SHIFT_LEFT:
        return OP_SHIFT_LEFT_I64;
    default:
        return OP_SHIFT_RIGHT_I64;
    }
}

struct expression *expression_bits(struct binder *binder,
                                   enum ast_operator operator,
                                   struct expression * left,
                                   struct expression *right,
                                   const struct ast_expression *tree)
{
    if (operator== AST_BIT_NOT) {
        right = expression_integer(binder, -1, tree->at);
        return right ? expression_bits_xor(binder, left, right, tree->at)
                     : NULL;
    }
    return of_both(binder, opcode_of(operator), left, right, tree->at);
}
