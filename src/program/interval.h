/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic with ranges: what an operation gives, and whether a condition can
 * hold, where its operands are in given ranges. The planner chooses opcodes by
 * it (range.c), a run prunes tablets by it (dataflow.c).
 */
#ifndef VDBQ_PROGRAM_INTERVAL_H
#define VDBQ_PROGRAM_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/* What a register can hold. Of an integer type the first two count, of a float
 * the others. Where `low` > `high` there is no value (of rows that there are
 * not). */
struct interval {
    int64_t low, high;
    double low_real, high_real; /* may be infinite                         */
    bool nan;                   /* it may be not-a-number, too             */
};
/* What a condition can be. */
struct verdict {
    bool may_hold, may_fail;
};

/* Every value of a type of the machine (TYPE_...). */
struct interval interval_any(int type);
/* One float, or not-a-number. */
struct interval interval_real(double value);
/* Whether the integers of `a` are all from `low` to `high`. */
bool interval_fits(const struct interval *a, int64_t low, int64_t high);
/* The verdict as a truth value, and a truth value as a verdict. */
struct interval interval_truth(struct verdict verdict);
struct verdict interval_verdict(const struct interval *range);

enum interval_relation { RELATION_EQ, RELATION_LT, RELATION_LE };
struct verdict interval_compare(enum interval_relation relation, int type,
                                const struct interval *a,
                                const struct interval *b);

/* In the order of the operators of SQL (parser/ast.h). */
enum arithmetic {
    ARITHMETIC_ADD,
    ARITHMETIC_SUB,
    ARITHMETIC_MUL,
    ARITHMETIC_DIV,
    ARITHMETIC_MOD
};
/* What an operation can give. */
struct interval_result {
    struct interval value; /* every exact value that fits the type         */
    bool overflows;        /* an exact value may not fit                   */
    bool by_zero;          /* it may divide by 0                           */
    bool invalid;          /* floats: it may be inf - inf, 0 * inf, or
                              inf / inf, which is no number                */
};
/* As the opcodes: integers by 0 are 0, a quotient is cut towards 0, and a
 * remainder has the sign of what is divided. Floats by 0: any float, and
 * only `by_zero` tells of 0 / 0. No remainders of floats. */
struct interval_result interval_arithmetic(enum arithmetic arithmetic, int type,
                                           const struct interval *a,
                                           const struct interval *b);
/* The sizes of integers. */
struct interval_result interval_size(int type, const struct interval *a);
/* Fractions are cut off. */
struct interval_result interval_cast(int to, int from,
                                     const struct interval *a);
/* Both ranges together. */
struct interval interval_join(const struct interval *a,
                              const struct interval *b);
/* Cuts `a` down to what both have; false: nothing. */
bool interval_meet(struct interval *a, const struct interval *b);

#endif
