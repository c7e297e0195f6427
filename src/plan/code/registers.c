/* SPDX-License-Identifier: MIT */
/*
 * Registers that are made of others: registers.h.
 */
#include "plan/code/registers.h"

int register_integer(struct generator *generator, int type, int64_t value)
{
    return emit_value(
        generator, &(struct instruction){
                       .op = type == TYPE_I32 ? OP_INTEGER_I32 : OP_INTEGER_I64,
                       .integer = value });
}

static int register_real(struct generator *generator, int type, double value)
{
    return emit_value(generator,
                      &(struct instruction){
                          .op = type == TYPE_F32 ? OP_FLOAT_F32 : OP_FLOAT_F64,
                          .real = value });
}

int register_zero(struct generator *generator, int type)
{
    return type == TYPE_F32 || type == TYPE_F64
               ? register_real(generator, type, 0)
               : register_integer(generator, type, 0);
}

int register_unary(struct generator *generator, enum opcode op, int b)
{
    return emit_value(generator, &(struct instruction){ .op = op, .b = b });
}

int register_binary(struct generator *generator, enum opcode op, int b, int c)
{
    return emit_value(generator,
                      &(struct instruction){ .op = op, .b = b, .c = c });
}

int register_choose(struct generator *generator, int type, int left, int right,
                    int condition)
{
    return emit_value(
        generator, &(struct instruction){ .op = emit_typed(OP_CHOOSE_I32, type),
                                          .b = left,
                                          .c = right,
                                          .d = condition });
}

int register_zero_where(struct generator *generator, int r, int type, int flag)
{
    return register_choose(generator, type, register_zero(generator, type), r,
                           flag);
}

int register_not(struct generator *generator, int r)
{
    return register_unary(generator, OP_NEGATE_I32, r);
}

int register_both(struct generator *generator, int a, int b)
{
    return register_binary(generator, OP_BOTH_I32, a, b);
}

int register_either(struct generator *generator, int a, int b)
{
    return register_binary(generator, OP_EITHER_I32, a, b);
}

int register_any(struct generator *generator, int a, int b)
{
    if (a < 0 || a == b)
        return b;
    return b < 0 ? a : register_either(generator, a, b);
}

int register_unless(struct generator *generator, int r, int flag)
{
    return flag < 0
               ? r
               : register_both(generator, r, register_not(generator, flag));
}
