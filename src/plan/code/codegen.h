/* SPDX-License-Identifier: MIT */
/*
 * Expressions to instructions: as values in registers, and as conditions
 * that jump.
 */
#ifndef VDBQ_PLAN_CODEGEN_H
#define VDBQ_PLAN_CODEGEN_H

#include "plan/code/emit.h"
#include "plan/plan_inner.h"

/* A value in registers (plan rule 1). */
struct value {
    int r;
    int null; /* -1: never NULL */
};

/* The value in a register of type `machine`: the expression's own, or
 * TYPE_I64 for what is TYPE_I32. */
struct value value_of(struct generator *generator,
                      const struct expression *expression, int machine);
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

/* Adds the next cursor to a program, over the table or the input. */
enum vdbq_status codegen_add_source(const struct codegen_source *source,
                                    struct program *program,
                                    struct error *error);
/* The results, over what is emitted so far, and the end of the program; rows
 * that jump to `end` are none of them. */
void codegen_finish(struct generator *generator,
                    const struct codegen_result *results, unsigned count,
                    int end);

#endif
