/* SPDX-License-Identifier: MIT */
/*
 * New expressions. They live in the binder's arena; those with operands are
 * folded where these are constant. NULL: a failure, which is in the binder's
 * error.
 */
#ifndef VDBQ_PLAN_MAKE_EXPRESSION_NEW_H
#define VDBQ_PLAN_MAKE_EXPRESSION_NEW_H

#include "plan/tree/expression.h"

/* Without anything that depends on its kind; the machine's type is the one
 * that SQL's type has. */
struct expression *expression_new(struct binder *binder,
                                  enum expression_kind kind, int type,
                                  struct position at);
/* Notes where it is written, for EXPLAIN: not in a view, whose text is another
 * one than the statement's. */
void expression_place(const struct binder *binder, struct expression *e,
                      const struct ast_expression *tree);
/* The end of making one with operands, after which nothing of it changes:
 * counts its parts, finds what its register can hold, folds it. */
struct expression *expression_finish(struct binder *binder,
                                     struct expression *e);

/* Constants, as if they were written. */
struct expression *expression_null(struct binder *binder, int type,
                                   struct position at);
struct expression *expression_integer(struct binder *binder, int64_t value,
                                      struct position at);
struct expression *expression_truth(struct binder *binder, bool value,
                                    struct position at);
/* `type` is VDBQ_FLOAT or VDBQ_DOUBLE. */
struct expression *expression_real(struct binder *binder, int type,
                                   double value, struct position at);
struct expression *expression_text(struct binder *binder, struct vdbq_text text,
                                   struct position at);

/* A conversion that the machine's Cast makes. */
struct expression *expression_number(struct binder *binder,
                                     struct expression *operand, int type,
                                     struct position at);
/* The same bits under the name of another type; of NULL: NULL. */
struct expression *expression_renamed(struct binder *binder,
                                      struct expression *e, int type,
                                      unsigned scale);
/* The operand; where `refused` is true the query fails with the message. */
struct expression *expression_check(struct binder *binder,
                                    struct expression *operand,
                                    struct expression *refused,
                                    const char *message);
/* The opcode of one operand (`right` NULL) or two; `nan`: the result can be
 * not-a-number. */
struct expression *expression_math(struct binder *binder, enum opcode op,
                                   int type, struct expression *left,
                                   struct expression *right, bool nan,
                                   struct position at);
/* 0: known to be false; 1: known to be true; -1: NULL, or not known. */
int known_truth(const struct expression *e);

/* One whose operands have their types, and that gives the one that is named. */
struct expression *expression_operation(struct binder *binder,
                                        enum ast_operator operator, int type,
                                        struct expression *left,
                                        struct expression *right,
                                        const struct ast_expression *tree);

#endif
