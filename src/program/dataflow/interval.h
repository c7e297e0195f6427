/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic with ranges: what an opcode's value can be, whether a condition
 * can hold, where its operands are in given ranges. For reach.c.
 */
#ifndef VDBQ_PROGRAM_INTERVAL_H
#define VDBQ_PROGRAM_INTERVAL_H

#include "program/program.h"

/* What a condition can be. */
struct verdict {
    bool may_hold, may_fail;
};

/* Every value of a type. */
struct interval interval_any(int type);
/* The verdict as a truth value, and a truth value as a verdict. */
struct interval interval_truth(struct verdict verdict);
struct verdict interval_verdict(const struct interval *range);

enum interval_relation { RELATION_EQ, RELATION_LT, RELATION_LE };
struct verdict interval_compare(enum interval_relation relation, int type,
                                const struct interval *a,
                                const struct interval *b);

enum arithmetic {
    ARITHMETIC_ADD,
    ARITHMETIC_SUB,
    ARITHMETIC_MUL,
    ARITHMETIC_DIV,
    ARITHMETIC_MOD
};
/* As the opcodes: integers by 0 are 0, a quotient is cut towards 0, and a
 * remainder has the sign of what is divided. No remainders of floats.
 * `*overflows`: the exact value of an integer may not fit its type; the range
 * then is of any value. */
struct interval interval_arithmetic(enum arithmetic arithmetic, int type,
                                    const struct interval *a,
                                    const struct interval *b, bool *overflows);
/* The sizes of integers; `*overflows`: the least of them has none. */
struct interval interval_size(int type, const struct interval *a,
                              bool *overflows);
/* `*overflows`: some value may not fit, and fails. */
struct interval interval_cast(int to, int from, const struct interval *a,
                              bool *overflows);
/* Both ranges together. */
struct interval interval_join(const struct interval *a,
                              const struct interval *b);

#endif
