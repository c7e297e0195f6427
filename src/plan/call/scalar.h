/* SPDX-License-Identifier: MIT */
/*
 * Scalar functions as calls of them are bound. What a function is made of
 * stands in bind_scalar.c, bind_math.c or bind_date.c, in a function
 * scalar_...() that its row of function_table.h names.
 */
#ifndef VDBQ_PLAN_SCALAR_H
#define VDBQ_PLAN_SCALAR_H

#include "plan/call/call.h"
#include "program/functions/function_table.h"

/* A row of function_table.h. */
struct scalar {
    const char *name;
    unsigned least, most; /* arguments */
    /* Gives the expression; NULL: a failure, which is in the binder's error.
     * The call has so many arguments as the row says. */
    struct expression *(*bind)(struct binder *binder, const struct call *call);
    enum opcode op; /* of a row that is an OPCODE */
};

/* bind_date.c: the time of the statement, the same wherever it asks. From then on
 * its plan holds for one run, and it says nothing that has to last. */
int64_t statement_time(struct binder *binder);
/* ... a number calculated with a constant; of NULL, a failure, NULL. */
struct expression *scalar_calculated(struct binder *binder,
                                     const struct call *call,
                                     enum ast_operator operator,
                                     struct expression * e, int64_t constant);

#define BOUND(name, least, most, bind, meaning)                                \
    struct expression *scalar_##bind(struct binder *binder,                    \
                                     const struct call *call);
#define OPCODE(name, least, most, bind, op, meaning)                           \
    BOUND(name, least, most, bind, meaning)
#define PASS(...)
SCALAR_FUNCTIONS(BOUND, OPCODE, PASS)
#undef BOUND
#undef OPCODE
#undef PASS

#endif
