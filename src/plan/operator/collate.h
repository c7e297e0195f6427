/* SPDX-License-Identifier: MIT */
/*
 * Collations of expressions, by SQLite's rule. COLLATE says one explicitly, for
 * what it stands behind and all that is computed of that; a column has one,
 * BINARY where its table says nothing, also behind + and CAST. Of two operands
 * an explicit one counts, else that of a column, and of two alike the left one.
 *
 * What is compared, sorted or grouped in another collation than BINARY is so by
 * keys (base/collation.h) in place of the texts: by calls of a function, made
 * while names are bound. Behind that nothing knows of collations.
 */
#ifndef VDBQ_PLAN_OPERATOR_COLLATE_H
#define VDBQ_PLAN_OPERATOR_COLLATE_H

#include "plan/tree/expression.h"

struct binder;

/* That of a comparison of both. */
enum collation collation_between(const struct expression *left,
                                 const struct expression *right);
/* That of a text that is compared with its like, in an order or a group;
 * BINARY of all that is no text. */
enum collation collation_of(const struct expression *e);

/* What is compared in the place of a text: itself for BINARY, and of what is no
 * text. NULL: a failure. */
struct expression *collation_key(struct binder *binder, struct expression *e,
                                 enum collation collation);
/* Its key in its own collation. */
struct expression *collation_own_key(struct binder *binder,
                                     struct expression *e);

/* The expression with that collation; itself, or a copy. */
struct expression *expression_collated(struct binder *binder,
                                       struct expression *e,
                                       struct collating collating);

#endif
