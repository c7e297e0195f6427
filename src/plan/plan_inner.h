/* SPDX-License-Identifier: MIT */
/*
 * What the files of the planner share. A SELECT goes through them so:
 *
 *   names.c      names of tables and columns are looked up
 *   bind.c       the tree becomes expressions, leaves first
 *   type.c       each operator gets its type; conversions are put in
 *   range.c      what its register can hold, and so which opcode will do
 *   fold.c       what is constant is computed, by the machine itself
 *   codegen.c    the program: its head, the condition, the result columns
 *   condition.c  conditions become jumps
 *   value.c      expressions become registers
 *   emit.c       instructions, labels, registers (emit.h)
 *
 * ddl.c and insert.c plan the other statements.
 *
 * Plan rule 1. The machine knows no NULL. A value that can be NULL is two
 *   registers, the value's and an I32 one that is 1 where it is NULL.
 * Plan rule 2. A range holds for every live row, NULL or not: whatever the
 *   value's register is left with where the row's value is NULL is in it.
 * Plan rule 3. Not-a-number is NULL: a register holds one only where its
 *   NULL register is 1.
 * Plan rule 4. An opcode that fails for some values is run for rows that
 *   the condition keeps only, and its operands are made harmless where they
 *   are NULL.
 * Plan rule 5. The type of a result column follows from the statement and
 *   the columns' types, never from the data.
 */
#ifndef VDBQ_PLAN_PLAN_INNER_H
#define VDBQ_PLAN_PLAN_INNER_H

#include "plan/plan.h"

/* ------------------------------------------------------- expressions -- */

/* What a register can hold (plan rule 2). */
struct range {
    int64_t low, high;          /* of an integer                         */
    double low_real, high_real; /* of a float; may be infinite           */
    bool nan;                   /* a float that may be not-a-number, too */
};

enum expression_kind {
    EXPRESSION_CONSTANT, /* null, integer or real                     */
    EXPRESSION_COLUMN,   /* column                                    */
    EXPRESSION_OPERATOR, /* operator, left, right                     */
    EXPRESSION_CAST      /* left, to `type`                           */
};

/* Operands of an operator on numbers have one type, or are both integers:
 * those are widened while registers are filled. There are no signs: minus is
 * a subtraction or a multiplication. */
struct expression {
    enum expression_kind kind;
    enum ast_operator operator;
    int type;          /* TYPE_... of the value in SQL (plan rule 5)        */
    int machine;       /* TYPE_... of its register: I32 for a BIGINT that
                          fits; I64 is made of it where one is needed       */
    bool literal;      /* a constant made of literals alone: takes the type
                          of a FLOAT that it meets                          */
    bool nullable;     /* it can be NULL                                    */
    bool null_at_zero; /* the operator makes NULLs: where it divides by 0   */
    bool null_at_nan;  /* ... and of what is no number, like inf - inf      */
    bool checked;      /* the operator itself can fail                      */
    bool faults;       /* it can, or a part of it can                       */
    struct range range;

    bool null;         /* of a constant                                     */
    int64_t integer;
    double real;
    int column;        /* operand of Column; -1: Rowid                      */
    const char *name;  /* of a column                                       */
    struct expression *left, *right;

    struct position at;
    size_t begin, end; /* of the statement's text; equal: none of it        */
};

/* A SELECT whose names are looked up. */
struct bound_result {
    const char *name;
    struct expression *expression;
};
struct bound_select {
    const char *sql;            /* the statement's text             */
    const struct table *table;  /* NULL: no FROM                    */
    struct vector results;      /* of struct bound_result           */
    struct expression *where;   /* NULL: every row                  */
};

/* ----------------------------------------------------------- binding -- */

struct machine;

/* What binding needs to know. */
struct binder {
    const char *sql;
    size_t sql_length;
    const struct catalogue *catalogue;
    struct arena *arena;        /* of all that is made              */
    struct error *error;
    const struct table *table;  /* in scope; NULL: none             */
    const char *alias;          /* what the table is called here    */
    struct column_facts **facts;  /* of its columns, once asked for */
    struct machine *machine;    /* for folding, once needed         */
};

/*
 * Functions of the planner that return a pointer return NULL where they
 * fail, with the failure in the binder's error.
 */

/* names.c */
const struct table *find_table(const struct binder *binder,
                               const struct ast_name *name);
/* Number of the column; UNKNOWN with a hint where there is none. */
enum vdbq_status find_column(const struct table *table,
                             const struct ast_name *name, unsigned *column,
                             struct error *error);
/* A hint to a failure just set: the column that was meant. */
void hint_column(const struct table *table, const char *name,
                 struct error *error);
/* The name most like `name`, if it is like enough. */
struct likely {
    const char *name; /* NULL: none */
    unsigned distance;
};
void likely_name(struct likely *likely, const char *name, const char *other);

/* bind.c */
enum vdbq_status bind_select(struct binder *binder,
                             const struct ast_select *select,
                             struct bound_select *bound);
struct expression *bind_expression(struct binder *binder,
                                   const struct ast_expression *tree);

/* type.c: they make new expressions, folded where they are constant. */
struct expression *expression_null(struct binder *binder, int type,
                                   struct position at);
struct expression *expression_integer(struct binder *binder, int64_t value,
                                      struct position at);
/* `type` is TYPE_F32 or TYPE_F64. */
struct expression *expression_real(struct binder *binder, int type,
                                   double value, struct position at);
struct expression *expression_operator(struct binder *binder,
                                       enum ast_operator operator,
                                       struct expression *left,
                                       struct expression *right,
                                       const struct ast_expression *tree);
struct expression *expression_cast(struct binder *binder,
                                   struct expression *operand, int type,
                                   struct position at);
bool is_float(int type);
bool is_comparison(enum ast_operator operator); /* of = to >= */

/* range.c: sets range, machine, nullable and the flags after it, from the
 * operands'. */
void range_constant(struct expression *expression);
void range_column(struct expression *expression,
                  const struct column_facts *facts);
void range_operator(struct expression *expression);
void range_cast(struct expression *expression);

/* fold.c: replaces an expression of constants by its value. */
enum vdbq_status fold(struct binder *binder, struct expression *expression);
void fold_finish(struct binder *binder);

/* codegen.c: an initialised, empty program is filled. */
enum vdbq_status codegen_select(const struct bound_select *select,
                                struct program *program,
                                struct error *error);

/* ------------------------------------------------- other statements -- */

enum vdbq_status plan_create_table(const struct ast_create *create,
                                   struct binder *binder,
                                   struct plan_create *plan);
enum vdbq_status plan_drop_table(const struct ast_drop *drop,
                                 struct binder *binder,
                                 struct plan_drop *plan);
enum vdbq_status plan_insert_rows(const struct ast_insert *insert,
                                  struct binder *binder,
                                  struct plan_insert *plan);

#endif
