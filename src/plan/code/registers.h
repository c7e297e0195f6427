/* SPDX-License-Identifier: MIT */
/*
 * Registers that are made of others. A flag is a register of TYPE_I32 that is
 * 1 or 0; as the number of one, -1 stands for a flag that is never 1.
 */
#ifndef VDBQ_PLAN_CODE_REGISTERS_H
#define VDBQ_PLAN_CODE_REGISTERS_H

#include "plan/code/emit.h"

/* Constants, in a register of `type`. */
int register_integer(struct generator *generator, int type, int64_t value);
int register_zero(struct generator *generator, int type);

/* What an opcode of one or two operands gives. */
int register_unary(struct generator *generator, enum opcode op, int b);
int register_binary(struct generator *generator, enum opcode op, int b, int c);

/* left where the condition is not 0, else right. */
int register_choose(struct generator *generator, int type, int left, int right,
                    int condition);
/* The register, but 0 where a flag is 1. */
int register_zero_where(struct generator *generator, int r, int type, int flag);

/* A flag from truths of TYPE_I32, which may be any numbers. */
int register_not(struct generator *generator, int r);
int register_both(struct generator *generator, int a, int b);
int register_either(struct generator *generator, int a, int b);
/* Where one of two flags is 1; either may be -1. */
int register_any(struct generator *generator, int a, int b);
/* Where the truth holds and the flag, which may be -1, is not 1. */
int register_unless(struct generator *generator, int r, int flag);

#endif
