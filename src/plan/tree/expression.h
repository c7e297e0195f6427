/* SPDX-License-Identifier: MIT */
/*
 * Expressions whose names are looked up and whose types are known, over the
 * columns of a node (node.h).
 *
 * Plan rule 1. The machine knows no NULL. A value that can be NULL is two
 *   registers, the value's and an I32 one that is 1 where it is NULL.
 * Plan rule 2. A range holds for every live row, NULL or not: whatever the
 *   value's register is left with where the row's value is NULL is in it.
 * Plan rule 3. Not-a-number is NULL: a register holds one only where its
 *   NULL register is 1.
 * Plan rule 4. An opcode that fails for some values is run for rows that
 *   the condition keeps only, and its operands are made harmless where they
 *   are NULL, or where a CASE goes another way.
 * Plan rule 5. The type of a result column follows from the statement and
 *   the columns' types, never from the data.
 */
#ifndef VDBQ_PLAN_TREE_EXPRESSION_H
#define VDBQ_PLAN_TREE_EXPRESSION_H

#include "base/type.h"
#include "data/catalogue/catalogue.h"
#include "parser/ast.h"
#include "plan/tree/collating.h"
#include "program/interval.h"
#include "program/functions/function.h"
#include "program/steps/steps.h"

enum { EXPRESSION_PARTS_MAX = 1 << 20 }; /* of one expression */

/* What an expression is; behind it: the member of the union that it has, and
 * which operands. The order counts: those up to EXPRESSION_PARAMETER have no
 * operands, those up to EXPRESSION_CHECK are computed by a program. */
enum expression_kind {
    EXPRESSION_CONSTANT,  /* constant                                    */
    EXPRESSION_COLUMN,    /* column                                      */
    EXPRESSION_PARAMETER, /* parameter                                   */
    EXPRESSION_OPERATOR,  /* operation, of left, right                   */
    EXPRESSION_CAST,      /* left, to `type`; machine numbers only       */
    EXPRESSION_CHOICE,    /* left where `condition` is true, else right  */
    EXPRESSION_MATH,      /* math, of left and right (NULL: of one)      */
    EXPRESSION_LOOKUP,    /* lookup, of the text left                    */
    EXPRESSION_CHECK,     /* left; `check` fails where `condition` is    */
    /* What the machine does not compute is extracted (extract.c) into a node of
     * its own, and becomes a column of that. */
    EXPRESSION_FUNCTION,  /* call                                        */
    EXPRESSION_AGGREGATE, /* aggregate, of left (NULL: rows), condition;
                             right: what MIN and MAX compare, NULL where
                             values are compared themselves              */
    EXPRESSION_WINDOW,    /* window, of left, right, condition           */
    EXPRESSION_SUBQUERY   /* subquery, of left (of IN)                   */
};

/* A term of an ORDER BY. */
struct order_term {
    struct expression *expression;
    bool descending, nulls_last;
    enum collation collation;
    int result; /* that it is, by its number; -1: none */
};

/* OVER. */
struct window {
    enum window_function function;
    enum aggregate_function aggregate; /* of WINDOW_AGGREGATE           */
    bool distinct;                     /* of WINDOW_AGGREGATE           */
    struct step_frame frame; /* of aggregates, FIRST, LAST, NTH         */
    int64_t offset;          /* LAG, LEAD, NTH; bits of a quantile's share  */
    bool of_group; /* the keys of a group are to come to the partition:
                      STRING_AGG and what it is made of, while SELECT is bound */
    struct vector partition; /* of struct expression *                  */
    struct vector order;     /* of struct order_term                    */
};

/* A query inside of an expression. */
struct subquery {
    enum apply_kind kind;
    struct node *node;
    struct vector parameters; /* of struct outer_value                   */
};
/* A parameter of a subquery, and its value for a row of the outer query. */
struct outer_value {
    int parameter;
    struct expression *value;
};

/*
 * An expression: what all kinds have, and a union with what its kind alone has.
 *
 * Operands of an operator on numbers have one type, or are both integers:
 * those are widened while registers are filled. There are no signs: minus is a
 * subtraction or a multiplication.
 *
 * It lives in the binder's arena, and may be an operand of several others: so
 * what replaces operands copies first (expression_replace).
 */
struct expression {
    enum expression_kind kind;
    int type; /* enum vdbq_type of the value in SQL (plan rule 5)  */
    unsigned precision, scale; /* of VDBQ_DECIMAL                           */
    int machine;  /* TYPE_... of its register: I32 for a BIGINT that
                          fits; I64 is made of it where one is needed       */
    bool literal; /* a constant made of literals alone: takes the type
                          of a FLOAT that it meets                          */
    bool affine;  /* a column or CAST: what it is compared with may
                          become its type (compare.h)                       */
    struct collating collating; /* of a text; of no use once names are bound */
    bool nullable;     /* it can be NULL                                    */
    bool null_at_zero; /* the operator makes NULLs: where it divides by 0   */
    bool null_at_nan;  /* ... and of what is no number, like inf - inf      */
    bool checked;      /* the operator itself can fail                      */
    bool faults;       /* it can, or a part of it can                       */
    struct interval range; /* of its register (plan rule 2)              */
    const char *name;      /* as a column of rows; NULL: it has none          */

    /* Operands; NULL: not there. Some kinds have further ones, see the union:
     * expression_each() visits all. */
    struct expression *left, *right, *condition;

    union {
        struct expression_constant {
            bool null;             /* it is NULL; then `integer` is 0    */
            int64_t integer;       /* of all types but floats and TEXT   */
            double real;           /* of FLOAT and DOUBLE                */
            struct vdbq_text text; /* of TEXT; the arena's or the SQL's; of a
                                      DOUBLE that is a literal its digits as
                                      written, or nothing               */
        } constant;
        struct {
            int number; /* of the columns of the node's rows             */
        } column;
        struct {
            int number; /* the statement's `?` come first, behind them
                           what subqueries ask of the queries around     */
        } parameter;
        struct {
            enum ast_operator op;
        } operation;
        struct {
            enum opcode op;
            int part; /* enum ast_unit, of OP_DATE_PART_I32 alone        */
        } math;
        struct {
            const struct function *function;
            const char *call; /* function_lookup_read() reads it         */
            unsigned depth;   /* of calls in it: at least 1              */
            bool nulls;       /* it, or a call in it, may give NULL ...  */
            bool fails;       /* ... or fail                             */
        } lookup;
        struct {
            const char *message; /* of the failure                       */
        } check;
        struct {
            const struct function *function;
            struct expression **arguments; /* operands, its own list     */
            unsigned count;                /* of them, at least 1        */
        } call;
        struct {
            enum aggregate_function function;
            bool distinct;
        } aggregate;
        struct window *window;     /* never NULL; lists with operands    */
        struct subquery *subquery; /* never NULL; `parameters` have some */
    };

    size_t size;  /* expressions in it, shared ones each time          */
    size_t depth; /* of expressions in one another; 0: there are none
                          in it                                             */
    struct position at;
    size_t begin, end; /* of the statement's text; equal: none of it        */
};

bool is_float(int type);
bool is_integer(int type);                      /* SMALLINT to BIGINT */
bool is_number(int type);                       /* these, BOOLEAN, DECIMAL */
bool is_comparison(enum ast_operator operator); /* of = to >= */
/* Whether a comparison, IS or IS NOT holds for values that compare so: below 0, 0, or
 * above. */
bool comparison_holds(enum ast_operator operator, int sign);
bool is_null_constant(const struct expression *e);
bool is_equality(const struct expression *e); /* left = right */

/* Whether both compute the same, of the same rows. */
bool expression_same(const struct expression *a, const struct expression *b);
/* The number, from `first` on, of one that does, in a vector of struct
 * expression *; -1: there is none. */
int expression_find(const struct vector *expressions, size_t first,
                    const struct expression *e);

/* Whether it, or a part of it, is of that kind. */
bool expression_has(const struct expression *e, enum expression_kind kind);
/* Whether a part of it is to be extracted before rows are grouped. */
bool needs_extraction(const struct expression *e);

/* Calls `visit` for each operand, which it may replace; false ends it. */
typedef bool (*expression_visit)(void *context, struct expression **operand);
bool expression_each(struct expression *e, expression_visit visit,
                     void *context);

/* Whether a program computes it: no part of it is to be extracted. */
bool expression_is_plain(const struct expression *e);
/* Whether a program computes each of its operands. */
bool expression_is_ready(struct expression *e);

struct binder;

/* Sets its depth; false: a failure, since walks over it would need more stack
 * than there is. */
bool expression_fits(struct binder *binder, struct expression *e);

#endif
