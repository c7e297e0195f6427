/* SPDX-License-Identifier: MIT */
/*
 * Instructions of the rows' part while they are made: registers have
 * provisional numbers and jumps go to labels, until emit_finish() gives both
 * their places. A failure sticks in `status`: whoever emits goes on, and the
 * end fails.
 *
 * Emit rule 1. Every register is written by one instruction (machine rule 1).
 * Emit rule 2. An instruction that would do what an earlier one did is not
 *   emitted where the earlier one ran on every path to here; its register is
 *   used. Placing a label ends the use of what was emitted behind the first
 *   jump to it. A constant that says where it stands in the statement is the
 *   same as its copies, not as another that is equal.
 */
#ifndef VDBQ_PLAN_CODE_EMIT_H
#define VDBQ_PLAN_CODE_EMIT_H

#include "program/program.h"

enum { EMIT_BUCKETS = 256 };

struct expression;

/* Where the values of a column are. */
struct column_place {
    int cursor;
    int column; /* -1: Rowid                                       */
    int row;    /* register with the row, for ColumnAt; -1: the row
                   that runs: the cursor is an axis                */
    const struct made_column *made; /* it is computed; NULL: as above */
};
/* A column that is an expression over others, or is in registers by now. */
struct made_column {
    const struct expression *expression; /* NULL: in registers     */
    const struct column_place *columns;  /* of the expression      */
    int r, null;                         /* null: -1: never NULL   */
};

struct generator {
    struct program *program;
    const char *sql; /* the statement's text, for comments      */
    struct error *error;
    enum vdbq_status status;   /* the first failure                       */
    struct vector code;        /* of struct instruction                   */
    struct vector labels;      /* of struct label, in emit.c              */
    struct vector registers;   /* of struct made_register, in emit.c      */
    struct vector values;      /* of struct made_value: what may be used
                                 again, in order                         */
    int buckets[EMIT_BUCKETS]; /* the latest value of a hash; -1: none  */
    const struct column_place *columns; /* by the numbers that expressions
                                 have for them                           */
    int idle; /* a register that is 1 where what is emitted
                                 does not matter; -1: there is none      */
};

void generator_init(struct generator *generator, struct program *program,
                    const char *sql, struct error *error);
/* Whether nothing more can be emitted: it failed, or the stack is short. */
bool emit_is_too_deep(struct generator *generator, struct position at);
void generator_finish(struct generator *generator);

/* A copy of a text, for a name or a comment, in the program's arena; NULL: no
 * memory, which sticks. */
const char *emit_text(struct generator *generator, const char *bytes,
                      size_t length);

/* The opcode of a family for a type: emit_typed(OP_ADD_I32, TYPE_F64). */
enum opcode emit_typed(enum opcode op, int type);

/* The register that an instruction writes; its own operand for that is not
 * looked at. Emitted only where no earlier one did the same. */
int emit_value(struct generator *generator,
               const struct instruction *instruction);
/* A register for a result column with the value of register `r`: itself, or
 * where it is one already, another that the same instruction writes. */
int emit_result_register(struct generator *generator, int r);

/* A place that jumps may lead to. A row that jumps there keeps its validity
 * (1) or loses it (0). */
int emit_label(struct generator *generator, int validity);
void emit_place(struct generator *generator, int label);
/* A comparison, or AND_I32, OR_I32, NOT_I32 (which has no use for b). */
void emit_jump(struct generator *generator, enum opcode op, int a, int b,
               int label, struct position at);
void emit_invalid(struct generator *generator);
/* Fails the query with that message for a live row where the register is not
 * 0. */
void emit_fail(struct generator *generator, int r, const char *message,
               struct position at);

/* Where result columns are: provisional registers. */
struct emit_result {
    const char *name; /* in the program's arena */
    int type;
    int value;
    int null; /* -1: never NULL         */
};

/* Emits Result and writes the program: head, rows' part, end. */
enum vdbq_status emit_finish(struct generator *generator,
                             const struct emit_result *results,
                             unsigned result_count);

#endif
