/* SPDX-License-Identifier: MIT */
/*
 * Conditions to jumps, in SQL's three-valued logic: what is NULL is not true,
 * and its opposite is not true either. NOT is carried down to the
 * comparisons, which are then turned round; that is right since no value is
 * not-a-number (plan rule 3).
 */
#include "plan/code/emit.h"
#include "plan/code/registers.h"
#include "plan/code/value.h"
#include "plan/tree/expression.h"

/* What is asked of a condition: to jump to `label` when it, or its opposite
 * where it is `negated`, is true; or when that is false or NULL. */
struct wish {
    bool negated;
    int when;
    int label;
};

/* What decides in the end: a jump for either outcome, on registers a and b,
 * where none of the registers `null` and `null_too` (-1: none) is 1. */
struct test {
    enum opcode if_true, if_false;
    int a, b;
    int null, null_too;
    struct position at;
};

static void jump(struct generator *generator, const struct expression *e,
                 struct wish wish);
static void jump_both(struct generator *generator, const struct expression *e,
                      struct wish wish);
static void jump_either(struct generator *generator, const struct expression *e,
                        struct wish wish);
static void jump_known(struct generator *generator, bool holds,
                       struct wish wish);
static void jump_test(struct generator *generator, const struct test *test,
                      struct wish wish);
static void jump_comparison(struct generator *generator,
                            const struct expression *e, struct wish wish);
static void jump_same(struct generator *generator, const struct expression *e,
                      struct wish wish);
static void jump_value(struct generator *generator, const struct expression *e,
                       struct wish wish);

void condition_jump(struct generator *generator,
                    const struct expression *condition, int when, int label)
{
    struct wish wish = { .when = when, .label = label };

    jump(generator, condition, wish);
}

static void jump(struct generator *generator, const struct expression *e,
                 struct wish wish)
{
    bool is_operator = e->kind == EXPRESSION_OPERATOR;

    if (emit_is_too_deep(generator, e->at))
        return;
    if (is_operator && e->operation.op == AST_NOT) {
        wish.negated = !wish.negated;
        jump(generator, e->left, wish);
    } else if (is_operator
               && e->operation.op == (wish.negated ? AST_OR : AST_AND)) {
        jump_both(generator, e, wish);
    } else if (is_operator
               && e->operation.op == (wish.negated ? AST_AND : AST_OR)) {
        jump_either(generator, e, wish);
    } else if (is_operator && is_comparison(e->operation.op)) {
        jump_comparison(generator, e, wish);
    } else if (is_operator
               && (e->operation.op == AST_IS
                   || e->operation.op == AST_IS_NOT)) {
        jump_same(generator, e, wish);
    } else if (e->kind == EXPRESSION_CONSTANT) {
        bool truth = is_float(e->type) ? e->constant.real != 0
                                       : e->constant.integer != 0;
        jump_known(generator, !e->constant.null && truth != wish.negated, wish);
    } else {
        jump_value(generator, e, wish);
    }
}

/* Both operands must hold. */
static void jump_both(struct generator *generator, const struct expression *e,
                      struct wish wish)
{
    struct wish left = { wish.negated, WHEN_FALSE, wish.label };

    if (wish.when == WHEN_FALSE) {
        jump(generator, e->left, left);
        jump(generator, e->right, wish);
        return;
    }
    left.label = emit_label(generator, 1);
    jump(generator, e->left, left);
    jump(generator, e->right, wish);
    emit_place(generator, left.label);
}

/* One operand must hold. */
static void jump_either(struct generator *generator, const struct expression *e,
                        struct wish wish)
{
    struct wish left = { wish.negated, WHEN_TRUE, wish.label };

    if (wish.when == WHEN_TRUE) {
        jump(generator, e->left, left);
        jump(generator, e->right, wish);
        return;
    }
    left.label = emit_label(generator, 1);
    jump(generator, e->left, left);
    jump(generator, e->right, wish);
    emit_place(generator, left.label);
}

/* A condition that is known: every row jumps, or none. */
static void jump_known(struct generator *generator, bool holds,
                       struct wish wish)
{
    int one;

    if (holds != (wish.when == WHEN_TRUE))
        return;
    one = register_integer(generator, TYPE_I32, 1);
    emit_jump(generator, OP_AND_I32, one, one, wish.label,
              (struct position){ 0 });
}

/* Jumps where a register that says NULL is 1. */
static void jump_null(struct generator *generator, const struct test *test,
                      int label)
{
    int a = test->null >= 0 ? test->null : test->null_too;
    int b = test->null_too >= 0 ? test->null_too : a;

    emit_jump(generator, OP_OR_I32, a, b, label, test->at);
}

static void jump_test(struct generator *generator, const struct test *test,
                      struct wish wish)
{
    bool nullable = test->null >= 0 || test->null_too >= 0;
    bool on_true = wish.negated != (wish.when == WHEN_TRUE);
    int past = wish.label;

    if (nullable && wish.when == WHEN_TRUE)
        past = emit_label(generator, 1);
    if (nullable)
        jump_null(generator, test, past);
    emit_jump(generator, on_true ? test->if_true : test->if_false, test->a,
              test->b, wish.label, test->at);
    if (nullable && wish.when == WHEN_TRUE)
        emit_place(generator, past);
}

static void jump_comparison(struct generator *generator,
                            const struct expression *e, struct wish wish)
{
    static const struct {
        enum opcode if_true, if_false;
    } ops[] = { [AST_EQ] = { OP_EQ_I32, OP_NEQ_I32 },
                [AST_NEQ] = { OP_NEQ_I32, OP_EQ_I32 },
                [AST_LT] = { OP_LT_I32, OP_GE_I32 },
                [AST_LE] = { OP_LE_I32, OP_GT_I32 },
                [AST_GT] = { OP_GT_I32, OP_LE_I32 },
                [AST_GE] = { OP_GE_I32, OP_LT_I32 } };
    int type = value_compared(e);
    struct value left = value_compared_to(generator, e->left, type);
    struct value right = value_compared_to(generator, e->right, type);
    struct test test = { .if_true =
                             emit_typed(ops[e->operation.op].if_true, type),
                         .if_false =
                             emit_typed(ops[e->operation.op].if_false, type),
                         .a = left.r,
                         .b = right.r,
                         .null = left.null,
                         .null_too = right.null,
                         .at = e->at };

    jump_test(generator, &test, wish);
}

/* IS and IS NOT are each other's opposite, and = and != without NULLs. */
static void jump_same(struct generator *generator, const struct expression *e,
                      struct wish wish)
{
    struct expression same = *e;

    wish.negated = wish.negated != (e->operation.op == AST_IS_NOT);
    same.operation.op = AST_IS;
    if (e->left->nullable || e->right->nullable) {
        jump_value(generator, &same, wish);
    } else {
        same.operation.op = AST_EQ;
        jump_comparison(generator, &same, wish);
    }
}

/* A number, or the value of IS: true where it is not 0. */
static void jump_value(struct generator *generator, const struct expression *e,
                       struct wish wish)
{
    int type = e->machine;
    struct value value = value_of(generator, e, type);
    struct test test = { .if_true = OP_AND_I32,
                         .if_false = OP_NOT_I32,
                         .a = value.r,
                         .b = value.r,
                         .null = value.null,
                         .null_too = -1,
                         .at = e->at };

    if (type != TYPE_I32) {
        test.if_true = emit_typed(OP_NEQ_I32, type);
        test.if_false = emit_typed(OP_EQ_I32, type);
        test.b = register_zero(generator, type);
    }
    jump_test(generator, &test, wish);
}
