/* SPDX-License-Identifier: MIT */
/*
 * The opcodes, in one table. The enum, the checker, the printer and reader
 * of programs, EXPLAIN, the interpreter's dispatch, the specialised text and
 * the planner's prices all expand from it; cl/ops.cl gives each opcode its
 * meaning under the same name, so that a missing one does not compile.
 *
 * The names and arguments of Table to Converge are those of the Virginian
 * Database (Bakkum 2010), with the cursors of its join extension (Angstadt &
 * Harcourt 2015); types are fixed when a program is made.
 *
 * Columns of the table (a macro that reads it must name them all: NVIDIA's
 * OpenCL C has no variadic macros):
 *   name      of the enum: the mnemonic, then the type it works on
 *   mnemonic  as it is printed, before a dot and the type
 *   type      as it is printed; for a cast "to_from"; - where there is none
 *   form      what the operands a, b, c, d are: see VDBQ_FORMS
 *   writes    type of the register written
 *   reads     type of the registers read
 *   effect    see VDBQ_EFFECTS
 *   cost      price of one row, in units of one addition
 *   meaning   as EXPLAIN prints it
 */
#ifndef VDBQ_CL_OPCODES_H
#define VDBQ_CL_OPCODES_H

#include "types.h"

/* What a, b, c and d are. w: register written, r: register read, t: type,
 * n: count, k: cursor, f: column, v: constant, j: jump target, y: validity,
 * i: table, u: register of NULL flags, -: 0. */
#define VDBQ_FORMS(X)          \
    X(NONE, "----")            \
    X(TABLE, "i-k-")           \
    X(RESULT_COLUMN, "tnu-")   \
    X(PARALLEL, "--j-")        \
    X(COLUMN, "wfk-")          \
    X(ROWID, "w-k-")           \
    X(CONSTANT, "wv--")        \
    X(UNARY, "wr--")           \
    X(BINARY, "wrr-")          \
    X(CHOICE, "wrrx")          \
    X(CAST, "trw-")            \
    X(COMPARE, "rrjy")         \
    X(TEST, "r-jy")            \
    X(RESULT, "sn--")

/* What an opcode may do beside writing its register.
 *   HOST      runs on the host, before and after the rows
 *   PURE      nothing
 *   CONSTANT  nothing, and the value is the same for all rows
 *   FAULT     fails the query, if it fails for a live row
 *   JUMP      raises the program counter of rows, sets their validity
 *   VALIDITY  sets the validity of rows
 *   OUTPUT    writes result rows
 *   END       ends the rows' part */
#define VDBQ_EFFECTS(X) \
    X(HOST) X(PURE) X(CONSTANT) X(FAULT) X(JUMP) X(VALIDITY) X(OUTPUT) X(END)

#define VDBQ_OPS_TYPED(X, T)                                                                              \
    X(COLUMN_##T,  "Column",  #T, COLUMN,   T,    NONE, PURE,     4, "r[a] = column b of cursor c")       \
    X(ROWID_##T,   "Rowid",   #T, ROWID,    T,    NONE, PURE,     4, "r[a] = primary key of cursor c")    \
    X(EQ_##T,      "Eq",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] = r[b] jump to c, validity d")  \
    X(NEQ_##T,     "Neq",     #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] <> r[b] jump to c, validity d") \
    X(LT_##T,      "Lt",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] < r[b] jump to c, validity d")  \
    X(LE_##T,      "Le",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] <= r[b] jump to c, validity d") \
    X(GT_##T,      "Gt",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] > r[b] jump to c, validity d")  \
    X(GE_##T,      "Ge",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] >= r[b] jump to c, validity d") \
    X(ADD_##T,     "Add",     #T, BINARY,   T,    T,    PURE,     1, "r[a] = r[b] + r[c]")                \
    X(SUB_##T,     "Sub",     #T, BINARY,   T,    T,    PURE,     1, "r[a] = r[b] - r[c]")                \
    X(MUL_##T,     "Mul",     #T, BINARY,   T,    T,    PURE,     1, "r[a] = r[b] * r[c]")                \
    X(DIV_##T,     "Div",     #T, BINARY,   T,    T,    PURE,     8, "r[a] = r[b] / r[c], 0 where r[c] = 0") \
    X(IS_EQ_##T,   "IsEq",    #T, BINARY,   I32,  T,    PURE,     1, "r[a] = r[b] = r[c]")                \
    X(IS_LT_##T,   "IsLt",    #T, BINARY,   I32,  T,    PURE,     1, "r[a] = r[b] < r[c]")                \
    X(IS_LE_##T,   "IsLe",    #T, BINARY,   I32,  T,    PURE,     1, "r[a] = r[b] <= r[c]")               \
    X(CHOOSE_##T,  "Choose",  #T, CHOICE,   T,    T,    PURE,     1, "r[a] = r[b] where r[d], else r[c]")

#define VDBQ_OPS_CAST(X, TO, FROM, EFFECT)                                                                \
    X(CAST_##TO##_##FROM, "Cast", #TO "_" #FROM, CAST, TO, FROM, EFFECT, 2, "r[c] = r[b] as type a")

/*    name         mnemonic   type  form      writes reads effect   cost meaning                          */
#define VDBQ_OPS(X)                                                                                       \
    X(TABLE,       "Table",   "-",  TABLE,         NONE, NONE, HOST,     0, "open table a as cursor c")   \
    X(RESULT_COLUMN, "ResultColumn", "-", RESULT_COLUMN, NONE, NONE, HOST, 0, "result column of type a")  \
    X(PARALLEL,    "Parallel", "-", PARALLEL,      NONE, NONE, HOST,     0, "for all rows, then go to c") \
    X(FINISH,      "Finish",  "-",  NONE,          NONE, NONE, HOST,     0, "close what was opened")      \
    VDBQ_OPS_TYPED(X, I32)                                                                                \
    VDBQ_OPS_TYPED(X, I64)                                                                                \
    VDBQ_OPS_TYPED(X, F32)                                                                                \
    VDBQ_OPS_TYPED(X, F64)                                                                                \
    X(COLUMN_NULL, "ColumnNull", "-", COLUMN,      I32,  NONE, PURE,     4, "r[a] = column b of cursor c is NULL") \
    X(INTEGER_I32, "Integer", "I32", CONSTANT,     I32,  NONE, CONSTANT, 0, "r[a] = b")                   \
    X(INTEGER_I64, "Integer", "I64", CONSTANT,     I64,  NONE, CONSTANT, 0, "r[a] = b")                   \
    X(FLOAT_F32,   "Float",   "F32", CONSTANT,     F32,  NONE, CONSTANT, 0, "r[a] = b")                   \
    X(FLOAT_F64,   "Float",   "F64", CONSTANT,     F64,  NONE, CONSTANT, 0, "r[a] = b")                   \
    X(ADD_CHECKED_I64, "AddChecked", "I64", BINARY, I64, I64,  FAULT,    2, "r[a] = r[b] + r[c], fails on overflow") \
    X(SUB_CHECKED_I64, "SubChecked", "I64", BINARY, I64, I64,  FAULT,    2, "r[a] = r[b] - r[c], fails on overflow") \
    X(MUL_CHECKED_I64, "MulChecked", "I64", BINARY, I64, I64,  FAULT,    4, "r[a] = r[b] * r[c], fails on overflow") \
    X(DIV_CHECKED_I64, "DivChecked", "I64", BINARY, I64, I64,  FAULT,    9, "r[a] = r[b] / r[c], fails on overflow") \
    X(MOD_I32,     "Mod",     "I32", BINARY,       I32,  I32,  PURE,     8, "r[a] = r[b] % r[c], 0 where r[c] = 0") \
    X(MOD_I64,     "Mod",     "I64", BINARY,       I64,  I64,  PURE,     8, "r[a] = r[b] % r[c], 0 where r[c] = 0") \
    X(IS_NAN_F32,  "IsNan",   "F32", UNARY,        I32,  F32,  PURE,     1, "r[a] = r[b] is not a number") \
    X(IS_NAN_F64,  "IsNan",   "F64", UNARY,        I32,  F64,  PURE,     1, "r[a] = r[b] is not a number") \
    VDBQ_OPS_CAST(X, I32, I64, FAULT)                                                                     \
    VDBQ_OPS_CAST(X, I32, F32, FAULT)                                                                     \
    VDBQ_OPS_CAST(X, I32, F64, FAULT)                                                                     \
    VDBQ_OPS_CAST(X, I64, I32, PURE)                                                                      \
    VDBQ_OPS_CAST(X, I64, F32, FAULT)                                                                     \
    VDBQ_OPS_CAST(X, I64, F64, FAULT)                                                                     \
    VDBQ_OPS_CAST(X, F32, I32, PURE)                                                                      \
    VDBQ_OPS_CAST(X, F32, I64, PURE)                                                                      \
    VDBQ_OPS_CAST(X, F32, F64, FAULT)                                                                     \
    VDBQ_OPS_CAST(X, F64, I32, PURE)                                                                      \
    VDBQ_OPS_CAST(X, F64, I64, PURE)                                                                      \
    VDBQ_OPS_CAST(X, F64, F32, PURE)                                                                      \
    X(BOTH_I32,    "Both",    "I32", BINARY,       I32,  I32,  PURE,     1, "r[a] = r[b] and r[c]")       \
    X(EITHER_I32,  "Either",  "I32", BINARY,       I32,  I32,  PURE,     1, "r[a] = r[b] or r[c]")        \
    X(NEGATE_I32,  "Negate",  "I32", UNARY,        I32,  I32,  PURE,     1, "r[a] = not r[b]")            \
    X(AND_I32,     "And",     "I32", COMPARE,      NONE, I32,  JUMP,     1, "if r[a] and r[b] jump to c, validity d") \
    X(OR_I32,      "Or",      "I32", COMPARE,      NONE, I32,  JUMP,     1, "if r[a] or r[b] jump to c, validity d") \
    X(NOT_I32,     "Not",     "I32", TEST,         NONE, I32,  JUMP,     1, "if not r[a] jump to c, validity d") \
    X(INVALID,     "Invalid", "-",  NONE,          NONE, NONE, VALIDITY, 1, "validity 0")                 \
    X(RESULT,      "Result",  "-",  RESULT,        NONE, NONE, OUTPUT,   4, "output b columns from r[a] on, if the row is valid") \
    X(CONVERGE,    "Converge", "-", NONE,          NONE, NONE, END,      0, "end of the rows' part")

enum opcode {
#define VDBQ_OPCODE(name, mnemonic, type, form, writes, reads, effect, cost, \
                    meaning)                                                 \
    OP_##name,
    VDBQ_OPS(VDBQ_OPCODE)
#undef VDBQ_OPCODE
    OPCODES
};

/* Limits of a program. */
enum {
    VDBQ_REGISTERS_MAX = 1024,
    VDBQ_CODE_MAX = 65536,
    VDBQ_CURSORS_MAX = 1
};

#endif
