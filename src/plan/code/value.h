/* SPDX-License-Identifier: MIT */
/*
 * Expressions to registers, and conditions to jumps.
 */
#ifndef VDBQ_PLAN_CODE_VALUE_H
#define VDBQ_PLAN_CODE_VALUE_H

#include "plan/code/emit.h"

struct expression;

/* A value in registers (plan rule 1). */
struct value {
    int r;
    int null; /* -1: never NULL */
};

/* The value in a register of type `machine`: the expression's own, or
 * TYPE_I64 for what is TYPE_I32. */
struct value value_of(struct generator *generator,
                      const struct expression *expression, int machine);
/* Likewise, for a comparison that jumps: a constant shares its register with
 * copies of itself alone, so that statements that differ in constants have one
 * program, whether these are equal to one another or not. */
struct value value_compared_to(struct generator *generator,
                               const struct expression *expression,
                               int machine);
/* Its NULL register alone, or -1. */
int value_null(struct generator *generator,
               const struct expression *expression);
/* The same value with a register that is 0 for false, of TYPE_I32. */
struct value value_truth(struct generator *generator,
                         const struct expression *expression);
/* The type in whose registers the operands of a comparison meet. */
int value_compared(const struct expression *comparison);

enum { WHEN_FALSE = 0, WHEN_TRUE = 1 };
/* Jumps to the label when the condition is true, or (WHEN_FALSE) when it is
 * false or NULL. */
void condition_jump(struct generator *generator,
                    const struct expression *condition, int when, int label);

#endif
