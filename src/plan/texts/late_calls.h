/* SPDX-License-Identifier: MIT */
/*
 * Calls of texts that are computed for few rows.
 */
#ifndef VDBQ_PLAN_TEXTS_LATE_CALLS_H
#define VDBQ_PLAN_TEXTS_LATE_CALLS_H

#include "plan/tree/node.h"

struct binder;

/* Where a condition or a LIMIT in a tree leaves far fewer rows than a text column
 * has words, calls of it are computed row by row behind that. NULL: a failure. */
struct node *late_calls(struct binder *binder, struct node *node);
/* Calls by which a sort with a LIMIT puts rows in order are computed row by row, too,
 * where they give about as many texts as there are rows: after indexes of expressions
 * were chosen. NULL: a failure. */
struct node *first_calls(struct binder *binder, struct node *root);
/* Calls of the condition of a LIMIT's SELECT are computed row by row where the LIMIT is
 * likely to end before many rows: likewise, and after calls were nested. NULL: a
 * failure. */
struct node *first_conditions(struct binder *binder, struct node *root);
/* The words that a column of a node has where it is a table's; else 0. */
double late_calls_words(const struct node *node, int column);
/* Those that an expression chooses from, of all of its columns; 0: it has calls, or can
 * fail. */
double late_calls_words_in(const struct node *node, struct expression *e);
/* Whether a call gives different texts for nearly all different words. */
bool late_calls_tell_apart(const struct expression *e);

#endif
