/* SPDX-License-Identifier: MIT */
/*
 * What registers can hold, as expressions and columns are told. It sets range,
 * machine, nullable and the flags after it, from the operands'.
 */
#ifndef VDBQ_PLAN_TREE_RANGE_H
#define VDBQ_PLAN_TREE_RANGE_H

#include "program/interval.h"

struct column_facts;
struct expression;
struct node_column;

/* range.c: sets range, machine, nullable and the flags after it, from the
 * operands'. */
void range_constant(struct expression *expression);

/* A NULL is stored as 0: adds that to what may be one. */
void range_add_zero(struct interval *range);

void range_column(struct node_column *column, const struct column_facts *facts);

/* Whatever the type can hold. */
struct interval range_full(int type);

/* Of any expression: once more, after operands were replaced. */
void range_update(struct expression *expression);

#endif
