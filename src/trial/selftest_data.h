/* SPDX-License-Identifier: MIT */
/*
 * The rows and the programs of the self-test.
 */
#ifndef VDBQ_EXEC_SELFTEST_DATA_H
#define VDBQ_EXEC_SELFTEST_DATA_H

#include "cl/launch.h"
#include "exec/launch/control.h"
#include "program/program.h"

enum {
    SELFTEST_ROWS = 9000, /* no multiple of any tile         */
    SELFTEST_BYTES = 2 << 20
};

/* Columns of the table that the programs read: for each type an x and a y;
 * and one of words, whose codes are the first x. */
enum {
    SELFTEST_X = 0,
    SELFTEST_Y = 4,
    SELFTEST_COLUMNS = 8,
    SELFTEST_WORD = SELFTEST_COLUMNS,
    SELFTEST_INPUTS_MAX = SELFTEST_WORD + 2, /* with the key */
    SELFTEST_BUILD_ROWS = 700
};

/* Fills `block` (SELFTEST_BYTES, 8-byte aligned) with the columns. Tame
 * values are small, so that nothing overflows; the others are the edges of
 * each type crossed with one another, then random bits. The last column of
 * NULL bits marks every third row. Behind them lie random lines, that are
 * codes of any width. */
void selftest_fill(u8 *block, bool tame);

/* The input of column `column`, or of the key (-1), read as `type`. */
struct column_input selftest_input(int column, int type);

/* How columns are encoded, to test that. */
struct selftest_encoding {
    u32 encoding; /* ENCODING_...                                   */
    u32 bits;     /* of a code, where the encoding has some         */
    u32 row;      /* the first row, where the encoding stores more  */
};
/* The input of a column so encoded; floats that cannot be are constants. */
struct column_input selftest_encoded(int column, int type,
                                     struct selftest_encoding encoding);

/* Whether the opcode is one the rows' part can use, and jumps or gives a
 * value. */
bool selftest_gives_value(enum opcode op);
bool selftest_jumps(enum opcode op);

/* Makes a program that outputs what the value opcodes of `ops` give, or which
 * rows jump with the one opcode. False: no memory. */
bool selftest_values(struct program *program, const enum opcode *ops,
                     unsigned count);
/* ... or that outputs the columns themselves and which are NULL. */
bool selftest_columns(struct program *program);
bool selftest_jump(struct program *program, enum opcode op, int validity);
/* ... or that fails for some rows. */
bool selftest_fail(struct program *program);

/* ... or that probes build rows by every type of key, for rows that are live
 * and others, and reads every type of column of what it finds. */
bool selftest_probe(struct program *program);

/* ... or that runs over a grid of so many axes, and reads every type of column
 * of each. */
bool selftest_grid(struct program *program, unsigned axes);

/* Build rows: a block of bytes, and what describes it. */
struct selftest_build_side {
    struct run_build_side run; /* without its memory */
    u8 *block;
    u64 size;
};
/* Makes them for a program of selftest_probe() or selftest_grid(), with dense
 * or hashed indexes. `order_codes`: of the input of words, of which keys are
 * made. All lives in `arena`. False: no memory. */
bool selftest_build_side(const struct program_pack *pack, bool hashed,
                         const struct order_codes *order_codes,
                         struct arena *arena,
                         struct selftest_build_side *build_side);

/* Fills what a program leaves open with fixed values. `order_codes`: one a
 * input. All lives in `arena`. False: no memory. */
bool selftest_open(const struct program *program,
                   const struct program_pack *pack, struct arena *arena,
                   struct run_values *values, struct order_codes *order_codes);

#endif
