/* SPDX-License-Identifier: MIT */
/*
 * Operands of different types are coerced to one:
 *
 *   operands                   become
 *   integers, BOOLEAN          integers
 *   DECIMAL with these         DECIMAL
 *   FLOAT with FLOAT           FLOAT
 *   FLOAT with a literal       FLOAT
 *   DECIMAL with a literal     DECIMAL
 *   all other numbers          DOUBLE
 *   DATE with TIMESTAMP        TIMESTAMP
 *   text with a literal text   what the text is read as
 *   anything with NULL         the other's type
 *
 * A literal that is too large for a FLOAT, or has too many digits for a
 * DECIMAL, stays what it is.
 *
 * Those that take `left` and `right` replace the operands by converted ones.
 * Where they fail, the failure is in the binder's error, and operands may be
 * NULL.
 */
#ifndef VDBQ_PLAN_MAKE_COERCE_H
#define VDBQ_PLAN_MAKE_COERCE_H

#include "plan/tree/expression.h"

/* As values of one type, which is returned; VDBQ_TYPE_NONE: a failure. */
int expression_coerce(struct binder *binder, struct expression **left,
                      struct expression **right, struct position at);
/* The digits of what is one of two values that have met: of the longer DECIMAL;
 * 0 where they are none. */
unsigned coerce_precision(const struct expression *left,
                          const struct expression *right);
/* To be compared or computed with: integers stay as wide as they are, and
 * then the type is BIGINT. */
int coerce_compared(struct binder *binder, struct expression **left,
                    struct expression **right, struct position at);

/* What of it arithmetic makes use of by itself. */

/* Literals become what a DECIMAL beside them is; false: a failure. */
bool coerce_literals(struct binder *binder, struct expression **left,
                     struct expression **right);
/* Numbers, one of them a DECIMAL and none a float, get the greater scale;
 * false: a failure. */
bool coerce_scales(struct binder *binder, struct expression **left,
                   struct expression **right, struct position at);
/* Texts of parameters become constants, so that they can be read as what they
 * meet; false: a failure. */
bool coerce_texts(struct binder *binder, struct expression **left,
                  struct expression **right);
/* An operand as the type that was found; NULL: a failure. */
struct expression *coerce_cast(struct binder *binder, struct expression *e,
                               int type);
/* Fails since the types do not go together: VDBQ_TYPE_NONE. */
int coerce_refuse(struct binder *binder, const struct expression *left,
                  const struct expression *right, struct position at);

bool is_text_constant(const struct expression *e);

/* `left` where the condition is true, else `right`; they are brought to one
 * type. */
struct expression *expression_choice(struct binder *binder,
                                     struct expression *condition,
                                     struct expression *left,
                                     struct expression *right,
                                     struct position at);

#endif
