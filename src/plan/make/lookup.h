/* SPDX-License-Identifier: MIT */
/* Calls that the machine looks up: those that are computed of one text. */
#ifndef VDBQ_PLAN_LOOKUP_H
#define VDBQ_PLAN_LOOKUP_H

#include "plan/tree/expression.h"

struct binder;

/* The type of a call in SQL: what is true or false is an INTEGER, as a comparison
 * is. */
int lookup_result(const struct function *function);
/* Whether the text forms of programs, which end at a NUL, can have a constant. */
bool lookup_is_constant(const struct expression *e);

/* A call that the machine looks up for each word of one text; `*made` NULL: it is
 * of several, or cannot be written so. False: a failure. */
bool lookup_make(struct binder *binder, const struct function *function,
                 struct expression *const *arguments, unsigned count,
                 struct position at, struct expression **made);
/* A look-up of what another one gives, as one look-up of that one's column; `*made`
 * NULL: it cannot be written so. False: a failure. */
bool lookup_nest(struct binder *binder, const struct expression *e,
                 struct expression **made);

/* Whether it is a call of a column that fails where the text becomes too long, and
 * for no other reason. */
bool lookup_fails_if_long(const struct expression *e);

#endif
