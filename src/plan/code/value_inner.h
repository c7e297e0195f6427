/* SPDX-License-Identifier: MIT */
/*
 * What the files that put expressions into registers share: value.c asks the
 * others for the kinds of expressions that are theirs, and they ask it for
 * their operands (codegen.h).
 */
#ifndef VDBQ_PLAN_CODE_VALUE_INNER_H
#define VDBQ_PLAN_CODE_VALUE_INNER_H

#include "plan/code/codegen.h"

/* value_load.c. A constant comes in a register of the type that is asked for,
 * and of no other constant's where `at` is its place in the statement; the
 * others in one of their own. */
struct value value_constant(struct generator *generator,
                            const struct expression *e, int machine,
                            struct position at);
struct value value_column(struct generator *generator,
                          const struct expression *e);
/* The NULL register of a column alone. */
int value_column_null(struct generator *generator, const struct expression *e);
struct value value_parameter(struct generator *generator,
                             const struct expression *e);
struct value value_lookup(struct generator *generator,
                          const struct expression *e);

/* value_operator.c */
struct value value_operator(struct generator *generator,
                            const struct expression *e);

/* The column's name, or the text of a short expression, for EXPLAIN; NULL:
 * there is none. */
const char *value_comment(struct generator *generator,
                          const struct expression *e);

#endif
