/* SPDX-License-Identifier: MIT */
/*
 * Constants in columns, as NODE_VALUES has them: values of the machine's type
 * and a flag for each that is NULL, whose value is 0. A constant is a few bytes
 * there, where an expression is some hundred.
 */
#ifndef VDBQ_PLAN_TREE_CONSTANTS_H
#define VDBQ_PLAN_TREE_CONSTANTS_H

#include "base/memory.h"
#include "plan/tree/expression.h"

/* Room for so many constants of a type, all 0; false: no memory. */
bool constants_room(struct arena *arena, int type, size_t rows,
                    struct vdbq_vector *constants);
/* Writes a constant: one of the column's type, or an integer that fits a column
 * of integers. A text is copied into the arena. False: no memory. */
bool constants_put(struct arena *arena, struct vdbq_vector *constants,
                   size_t row, const struct expression *e);

/* A number as it is in an expression: `real` of FLOAT and DOUBLE, of all
 * others `integer`; both 0 of a text. */
struct constant_number {
    int64_t integer;
    double real;
};
struct constant_number constants_number(const struct vdbq_vector *constants,
                                        size_t row);

/* Whether the first `rows` of both are the same. */
bool constants_same(const struct vdbq_vector *a, const struct vdbq_vector *b,
                    size_t rows);
#endif
