/* SPDX-License-Identifier: MIT */
/*
 * What operators give, in registers: NULLs follow SQL's three-valued logic.
 */
#include <assert.h>

#include "plan/code/emit.h"
#include "plan/code/registers.h"
#include "plan/code/value.h"
#include "plan/code/value_inner.h"
#include "plan/tree/expression.h"

/* ---------------------------------------------------------- arithmetic -- */

static enum opcode arithmetic_op(const struct expression *e)
{
    switch (e->operation.op) {
    case AST_ADD:
        return e->checked ? OP_ADD_CHECKED_I64
                          : emit_typed(OP_ADD_I32, e->machine);
    case AST_SUB:
        return e->checked ? OP_SUB_CHECKED_I64
                          : emit_typed(OP_SUB_I32, e->machine);
    case AST_MUL:
        return e->checked ? OP_MUL_CHECKED_I64
                          : emit_typed(OP_MUL_I32, e->machine);
    case AST_DIV:
        return e->checked ? OP_DIV_CHECKED_I64
                          : emit_typed(OP_DIV_I32, e->machine);
    default:
        assert(e->operation.op == AST_MOD);
        return e->machine == TYPE_I32 ? OP_MOD_I32 : OP_MOD_I64;
    }
}

static int is_zero(struct generator *generator, int r, int type)
{
    return register_binary(generator, emit_typed(OP_IS_EQ_I32, type), r,
                           register_zero(generator, type));
}

static int is_nan(struct generator *generator, int r, int type)
{
    return register_unary(generator,
                          type == TYPE_F32 ? OP_IS_NAN_F32 : OP_IS_NAN_F64, r);
}

/* With one operand made 0 where the result is NULL, no checked operation
 * overflows there: the right one of a difference, else the left one. */
static struct value arithmetic(struct generator *generator,
                               const struct expression *e)
{
    int type = e->machine;
    struct value left = value_of(generator, e->left, type);
    struct value right = value_of(generator, e->right, type);
    int null = register_any(generator, left.null, right.null);
    struct instruction in = { .op = arithmetic_op(e),
                              .b = left.r,
                              .c = right.r,
                              .comment = value_comment(generator, e),
                              .at = e->at };
    int harmless =
        e->checked ? register_any(generator, null, generator->idle) : -1;
    int r;

    if (e->checked && harmless >= 0 && e->operation.op == AST_SUB)
        in.c = register_zero_where(generator, in.c, type, harmless);
    else if (e->checked && harmless >= 0)
        in.b = register_zero_where(generator, in.b, type, harmless);
    r = emit_value(generator, &in);
    if (e->null_at_zero)
        null = register_any(generator, null, is_zero(generator, right.r, type));
    if (e->null_at_nan)
        null = register_any(generator, null, is_nan(generator, r, type));
    return (struct value){ .r = r, .null = null };
}

/* ---------------------------------------------------------- comparison -- */

int value_compared(const struct expression *comparison)
{
    int left = comparison->left->machine, right = comparison->right->machine;

    if (left == TYPE_F32 || left == TYPE_F64)
        return left;
    return left == TYPE_I32 && right == TYPE_I32 ? TYPE_I32 : TYPE_I64;
}

static struct value comparison(struct generator *generator,
                               const struct expression *e)
{
    int type = value_compared(e);
    struct value left = value_of(generator, e->left, type);
    struct value right = value_of(generator, e->right, type);
    bool swap = e->operation.op == AST_GT || e->operation.op == AST_GE;
    enum opcode op = OP_IS_EQ_I32;
    int r;

    if (e->operation.op == AST_LT || e->operation.op == AST_GT)
        op = OP_IS_LT_I32;
    if (e->operation.op == AST_LE || e->operation.op == AST_GE)
        op = OP_IS_LE_I32;
    r = register_binary(generator, emit_typed(op, type),
                        swap ? right.r : left.r, swap ? left.r : right.r);
    if (e->operation.op == AST_NEQ)
        r = register_not(generator, r);
    return (struct value){ .r = r,
                           .null =
                               register_any(generator, left.null, right.null) };
}

/* Whether both are NULL, or neither is and they are equal. */
static int is_same(struct generator *generator, const struct expression *e)
{
    int type = value_compared(e), equal, one, nulls;
    struct value left = value_of(generator, e->left, type);
    struct value right = value_of(generator, e->right, type);

    equal = register_binary(generator, emit_typed(OP_IS_EQ_I32, type), left.r,
                            right.r);
    one = register_any(generator, left.null, right.null);
    if (one < 0)
        return equal;
    equal = register_unless(generator, equal, one);
    if (left.null < 0 || right.null < 0)
        return equal;
    nulls = register_both(generator, left.null, right.null);
    return register_either(generator, equal, nulls);
}

static struct value is(struct generator *generator, const struct expression *e)
{
    bool left_null =
        e->left->kind == EXPRESSION_CONSTANT && e->left->constant.null;
    bool right_null =
        e->right->kind == EXPRESSION_CONSTANT && e->right->constant.null;
    int r;

    if (left_null || right_null)
        r = value_null(generator, right_null ? e->left : e->right);
    else
        r = is_same(generator, e);
    if (r < 0)
        r = register_integer(generator, TYPE_I32, 0);
    if (e->operation.op == AST_IS_NOT)
        r = register_not(generator, r);
    return (struct value){ .r = r, .null = -1 };
}

/* --------------------------------------------------------------- logic -- */

/* The register, or where its value is NULL the value that decides nothing:
 * 1 for AND, 0 for OR. */
static int undecided(struct generator *generator, struct value value,
                     bool is_and)
{
    if (value.null < 0)
        return value.r;
    if (is_and)
        return register_either(generator, value.r, value.null);
    return register_unless(generator, value.r, value.null);
}

/* NULL where an operand is and none is false. */
static struct value both(struct generator *generator,
                         const struct expression *e)
{
    struct value left = value_truth(generator, e->left);
    struct value right = value_truth(generator, e->right);
    struct value value = { .null =
                               register_any(generator, left.null, right.null) };
    int open;

    value.r = register_both(generator, left.r, right.r);
    if (value.null < 0)
        return value;
    open = register_both(generator, undecided(generator, left, true),
                         undecided(generator, right, true));
    value.null = register_both(generator, value.null, open);
    return value;
}

/* NULL where an operand is and none is true. What is true must be so whatever
 * the other's register holds; what is not must not be made so by it, but is
 * NULL then. */
static struct value either(struct generator *generator,
                           const struct expression *e)
{
    struct value left = value_truth(generator, e->left);
    struct value right = value_truth(generator, e->right);
    struct value value = { .null =
                               register_any(generator, left.null, right.null) };
    int decided;

    value.r = register_either(generator, left.r, right.r);
    if (value.null < 0)
        return value;
    decided = register_either(generator, undecided(generator, left, false),
                              undecided(generator, right, false));
    value.null = register_unless(generator, value.null, decided);
    return value;
}

static struct value not(struct generator * generator,
                        const struct expression *e)
{
    struct value value = value_truth(generator, e->left);

    value.r = register_not(generator, value.r);
    return value;
}

/* ----------------------------------------------------------------- all -- */

struct value value_operator(struct generator *generator,
                            const struct expression *e)
{
    switch (e->operation.op) {
    case AST_AND:
        return both(generator, e);
    case AST_OR:
        return either(generator, e);
    case AST_NOT:
        return not(generator, e);
    case AST_IS:
    case AST_IS_NOT:
        return is(generator, e);
    default:
        break;
    }
    return is_comparison(e->operation.op) ? comparison(generator, e)
                                          : arithmetic(generator, e);
}
