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

/* What a, b, c and d are. w: register written, r: register read, x: register
 * of I32 read, t: type, n: number, k: cursor, f: column, v: constant, j: jump
 * target, y: validity, i: table, u: register of NULL flags,
 * which where Key and the others name none is -1, -: 0. The
 * cursors that a Probe names are probed: their rows are reached by numbers.
 * The others are axes: the rows' part runs for each row of the first one, or
 * where there are two or three, for each pair or triple of their rows. */
#define VDBQ_FORMS(X)          \
    X(NONE, "----")            \
    X(TABLE, "i-k-")           \
    X(RESULT_COLUMN, "tnu-")   \
    X(PARALLEL, "--j-")        \
    X(COLUMN, "wfk-")          \
    X(ROWID, "w-k-")           \
    X(PROBE, "wrkf")           \
    X(COLUMN_AT, "wfkx")       \
    X(CONSTANT, "wv--")        \
    X(TEXT, "w---")            \
    X(PARAMETER, "wn--")       \
    X(LOOKUP, "wr--")          \
    X(PART, "wrn-")            \
    X(SCALED, "wrx-")          \
    X(FAIL, "r---")            \
    X(UNARY, "wr--")           \
    X(BINARY, "wrr-")          \
    X(CHOICE, "wrrx")          \
    X(CAST, "trw-")            \
    X(COMPARE, "rrjy")         \
    X(TEST, "r-jy")            \
    X(RESULT, "sn--")          \
    X(GROUP, "nn--")           \
    X(KEY, "run-")             \
    X(ADD, "runn")             \
    X(COUNT, "-unn")           \
    X(GROUPED, "---n")

/* What an opcode may do beside writing its register.
 *   HOST      runs on the host, before and after the rows
 *   PURE      nothing
 *   CONSTANT  nothing, and the value is the same for all rows
 *   FAULT     fails the query, if it fails for a live row
 *   JUMP      raises the program counter of rows, sets their validity
 *   VALIDITY  sets the validity of rows
 *   OUTPUT    writes result rows
 *   GROUP     adds valid rows to groups, if the launch has some: then they are no
 *             result rows (cl/sink)
 *   END       ends the rows' part */
#define VDBQ_EFFECTS(X) \
    X(HOST) X(PURE) X(CONSTANT) X(FAULT) X(JUMP) X(VALIDITY) X(OUTPUT) X(END) X(GROUP)

#define VDBQ_OPS_TYPED(X, T)                                                                              \
    X(COLUMN_##T,  "Column",  #T, COLUMN,   T,    NONE, PURE,     4, "r[a] = column b of cursor c")       \
    X(ROWID_##T,   "Rowid",   #T, ROWID,    T,    NONE, PURE,     4, "r[a] = primary key of cursor c")    \
    X(EQ_##T,      "Eq",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] = r[b] jump to c, validity d")  \
    X(NEQ_##T,     "Neq",     #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] <> r[b] jump to c, validity d") \
    X(LT_##T,      "Lt",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] < r[b] jump to c, validity d")  \
    X(LE_##T,      "Le",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] <= r[b] jump to c, validity d") \
    X(GT_##T,      "Gt",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] > r[b] jump to c, validity d")  \
    X(GE_##T,      "Ge",      #T, COMPARE,  NONE, T,    JUMP,     1, "if r[a] >= r[b] jump to c, validity d") \
    X(BEHIND_##T,  "Behind",  #T, TEST,     NONE, T,    JUMP,     1, "if r[a] is behind the bound of the sort jump to c, validity d") \
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
    X(PROBE_I32,   "Probe",   "I32", PROBE,        I32,  I32,  PURE,    16, "r[a] = row of cursor c whose column d is r[b], or -1") \
    X(PROBE_I64,   "Probe",   "I64", PROBE,        I32,  I64,  PURE,    16, "r[a] = row of cursor c whose column d is r[b], or -1") \
    X(PROBE_WORD,  "Probe",   "WORD", PROBE,       I32,  I32,  PURE,    16, "r[a] = row of cursor c whose text in column d is number r[b], or -1") \
    X(COLUMN_AT_I32, "ColumnAt", "I32", COLUMN_AT, I32,  NONE, PURE,     8, "r[a] = column b of cursor c in row r[d], 0 without one") \
    X(COLUMN_AT_I64, "ColumnAt", "I64", COLUMN_AT, I64,  NONE, PURE,     8, "r[a] = column b of cursor c in row r[d], 0 without one") \
    X(COLUMN_AT_F32, "ColumnAt", "F32", COLUMN_AT, F32,  NONE, PURE,     8, "r[a] = column b of cursor c in row r[d], 0 without one") \
    X(COLUMN_AT_F64, "ColumnAt", "F64", COLUMN_AT, F64,  NONE, PURE,     8, "r[a] = column b of cursor c in row r[d], 0 without one") \
    X(COLUMN_AT_WORD, "ColumnAt", "WORD", COLUMN_AT, I32, NONE, PURE,    9, "r[a] = number of the text in column b of cursor c in row r[d], 0 without one") \
    X(COLUMN_AT_NULL, "ColumnAtNull", "-", COLUMN_AT, I32, NONE, PURE,   8, "r[a] = column b of cursor c in row r[d] is NULL, or there is no row") \
    X(COLUMN_WORD, "Column",  "WORD", COLUMN,      I32,  NONE, PURE,     5, "r[a] = number of the text in column b of cursor c") \
    X(ROWID_WORD,  "Rowid",   "WORD", ROWID,       I32,  NONE, PURE,     5, "r[a] = number of the text that is the primary key of cursor c") \
    X(TEXT,        "Text",    "-",  TEXT,          I32,  NONE, CONSTANT, 0, "r[a] = number of the text")  \
    X(PARAMETER_I32, "Parameter", "I32", PARAMETER, I32, NONE, CONSTANT, 0, "r[a] = parameter b")         \
    X(PARAMETER_I64, "Parameter", "I64", PARAMETER, I64, NONE, CONSTANT, 0, "r[a] = parameter b")         \
    X(PARAMETER_F32, "Parameter", "F32", PARAMETER, F32, NONE, CONSTANT, 0, "r[a] = parameter b")         \
    X(PARAMETER_F64, "Parameter", "F64", PARAMETER, F64, NONE, CONSTANT, 0, "r[a] = parameter b")         \
    X(PARAMETER_WORD, "Parameter", "WORD", PARAMETER, I32, NONE, CONSTANT, 0, "r[a] = number of the text in parameter b") \
    X(PARAMETER_NULL, "ParameterNull", "-", PARAMETER, I32, NONE, CONSTANT, 0, "r[a] = parameter b is NULL") \
    X(LOOKUP_I32,  "Lookup",  "I32", LOOKUP,       I32,  I32,  PURE,     4, "r[a] = the call for text r[b]") \
    X(LOOKUP_I64,  "Lookup",  "I64", LOOKUP,       I64,  I32,  PURE,     4, "r[a] = the call for text r[b]") \
    X(LOOKUP_F64,  "Lookup",  "F64", LOOKUP,       F64,  I32,  PURE,     4, "r[a] = the call for text r[b]") \
    X(LOOKUP_WORD, "Lookup",  "WORD", LOOKUP,      I32,  I32,  PURE,     4, "r[a] = number of the call's text for text r[b]") \
    X(LOOKUP_NULL, "LookupNull", "-", LOOKUP,      I32,  I32,  PURE,     4, "r[a] = the call for text r[b] is NULL") \
    X(LOOKUP_FAILS, "LookupFails", "-", LOOKUP,    I32,  I32,  PURE,     4, "r[a] = the call for text r[b] fails") \
    X(FAIL,        "Fail",    "-",  FAIL,          NONE, I32,  FAULT,    1, "fails if r[a]")              \
    X(ABS_I32,     "Abs",     "I32", UNARY,        I32,  I32,  FAULT,    1, "r[a] = size of r[b], fails on overflow") \
    X(ABS_I64,     "Abs",     "I64", UNARY,        I64,  I64,  FAULT,    1, "r[a] = size of r[b], fails on overflow") \
    X(ABS_F32,     "Abs",     "F32", UNARY,        F32,  F32,  PURE,     1, "r[a] = size of r[b]")        \
    X(ABS_F64,     "Abs",     "F64", UNARY,        F64,  F64,  PURE,     1, "r[a] = size of r[b]")        \
    X(DIV_FLOOR_I64, "DivFloor", "I64", BINARY,    I64,  I64,  PURE,     9, "r[a] = r[b] / r[c] rounded down, 0 where r[c] = 0") \
    X(MOD_FLOOR_I64, "ModFloor", "I64", BINARY,    I64,  I64,  PURE,     9, "r[a] = r[b] - r[c] * (r[b] / r[c] rounded down), 0 where r[c] = 0") \
    X(MOD_F64,     "Mod",     "F64", BINARY,       F64,  F64,  PURE,    30, "r[a] = r[b] % r[c], no number where r[c] = 0") \
    X(MUL_REST_F64, "MulRest", "F64", BINARY,      F64,  F64,  PURE,    12, "r[a] = what rounding takes from r[b] * r[c]") \
    X(BIT_AND_I64, "BitAnd",  "I64", BINARY,       I64,  I64,  PURE,     1, "r[a] = the bits that r[b] and r[c] have") \
    X(BIT_OR_I64,  "BitOr",   "I64", BINARY,       I64,  I64,  PURE,     1, "r[a] = the bits that r[b] or r[c] has") \
    X(BIT_XOR_I64, "BitXor",  "I64", BINARY,       I64,  I64,  PURE,     1, "r[a] = the bits that one of r[b] and r[c] has") \
    X(SHIFT_LEFT_I64, "ShiftLeft", "I64", BINARY,  I64,  I64,  PURE,     4, "r[a] = the bits of r[b] r[c] places higher") \
    X(SHIFT_RIGHT_I64, "ShiftRight", "I64", BINARY, I64, I64,  PURE,     4, "r[a] = the bits of r[b] r[c] places lower, behind its sign") \
    X(SHUFFLE_I64, "Shuffle", "I64", BINARY,       I64,  I64,  PURE,     6, "r[a] = random bits, number r[b] of those that r[c] begins") \
    X(FLOOR_F64,   "Floor",   "F64", UNARY,        F64,  F64,  PURE,     2, "r[a] = r[b] rounded down")   \
    X(CEIL_F64,    "Ceil",    "F64", UNARY,        F64,  F64,  PURE,     2, "r[a] = r[b] rounded up")     \
    X(TRUNC_F64,   "Trunc",   "F64", UNARY,        F64,  F64,  PURE,     2, "r[a] = r[b] without its fraction") \
    X(ROUND_F64,   "Round",   "F64", SCALED,       F64,  F64,  PURE,    30, "r[a] = r[b] rounded to r[c] digits") \
    X(SQRT_F64,    "Sqrt",    "F64", UNARY,        F64,  F64,  PURE,    10, "r[a] = square root of r[b]") \
    X(EXP_F64,     "Exp",     "F64", UNARY,        F64,  F64,  PURE,    30, "r[a] = e to the power of r[b]") \
    X(LN_F64,      "Ln",      "F64", UNARY,        F64,  F64,  PURE,    60, "r[a] = natural logarithm of r[b]") \
    X(LOG2_F64,    "Log2",    "F64", UNARY,        F64,  F64,  PURE,    60, "r[a] = logarithm of r[b] to base 2") \
    X(LOG10_F64,   "Log10",   "F64", UNARY,        F64,  F64,  PURE,    60, "r[a] = logarithm of r[b] to base 10") \
    X(POWER_F64,   "Power",   "F64", BINARY,       F64,  F64,  PURE,    99, "r[a] = r[b] to the power of r[c]") \
    X(SIN_F64,     "Sin",     "F64", UNARY,        F64,  F64,  PURE,    60, "r[a] = sine of r[b]")        \
    X(COS_F64,     "Cos",     "F64", UNARY,        F64,  F64,  PURE,    60, "r[a] = cosine of r[b]")      \
    X(TAN_F64,     "Tan",     "F64", UNARY,        F64,  F64,  PURE,    80, "r[a] = tangent of r[b]")     \
    X(ASIN_F64,    "Asin",    "F64", UNARY,        F64,  F64,  PURE,    60, "r[a] = angle whose sine is r[b]") \
    X(ACOS_F64,    "Acos",    "F64", UNARY,        F64,  F64,  PURE,    60, "r[a] = angle whose cosine is r[b]") \
    X(ATAN_F64,    "Atan",    "F64", UNARY,        F64,  F64,  PURE,    40, "r[a] = angle whose tangent is r[b]") \
    X(ATAN2_F64,   "Atan2",   "F64", BINARY,       F64,  F64,  PURE,    50, "r[a] = angle of the point r[c], r[b]") \
    X(DATE_PART_I32, "DatePart", "I32", PART,      I32,  I32,  PURE,    20, "r[a] = part c of the date r[b]") \
    X(ADD_MONTHS_I32, "AddMonths", "I32", BINARY,  I32,  I32,  FAULT,   40, "r[a] = date r[b] moved by r[c] months, fails outside years 1 to 9999") \
    X(BOTH_I32,    "Both",    "I32", BINARY,       I32,  I32,  PURE,     1, "r[a] = r[b] and r[c]")       \
    X(EITHER_I32,  "Either",  "I32", BINARY,       I32,  I32,  PURE,     1, "r[a] = r[b] or r[c]")        \
    X(NEGATE_I32,  "Negate",  "I32", UNARY,        I32,  I32,  PURE,     1, "r[a] = not r[b]")            \
    X(AND_I32,     "And",     "I32", COMPARE,      NONE, I32,  JUMP,     1, "if r[a] and r[b] jump to c, validity d") \
    X(OR_I32,      "Or",      "I32", COMPARE,      NONE, I32,  JUMP,     1, "if r[a] or r[b] jump to c, validity d") \
    X(NOT_I32,     "Not",     "I32", TEST,         NONE, I32,  JUMP,     1, "if not r[a] jump to c, validity d") \
    X(INVALID,     "Invalid", "-",  NONE,          NONE, NONE, VALIDITY, 1, "validity 0")                 \
    X(GROUP,       "Group",   "-",  GROUP,         NONE, NONE, GROUP,    1, "add the row, if valid, to its group: a keys, records of b bytes") \
    X(KEY_I32,     "Key",     "I32", KEY,          NONE, I32,  GROUP,    1, "key c of its group is r[a]") \
    X(KEY_I64,     "Key",     "I64", KEY,          NONE, I64,  GROUP,    1, "key c of its group is r[a]") \
    X(COUNT,       "Count",   "-",  COUNT,         NONE, NONE, GROUP,    1, "count NULLs at byte c of its record") \
    X(SUM_I32,     "Sum",     "I32", ADD,          NONE, I32,  GROUP,    1, "add r[a] to the sum at byte c of its record") \
    X(SUM_I64,     "Sum",     "I64", ADD,          NONE, I64,  GROUP,    1, "add r[a] to the sum at byte c of its record") \
    X(SUM_F32,     "Sum",     "F32", ADD,          NONE, F32,  GROUP,    2, "add r[a] to the sum at byte c of its record") \
    X(SUM_F64,     "Sum",     "F64", ADD,          NONE, F64,  GROUP,    2, "add r[a] to the sum at byte c of its record") \
    X(BEST_I32,    "Best",    "I32", ADD,          NONE, I32,  GROUP,    1, "keep r[a] at byte c of its record, if no other is better") \
    X(BEST_I64,    "Best",    "I64", ADD,          NONE, I64,  GROUP,    1, "keep r[a] at byte c of its record, if no other is better") \
    X(BEST_F32,    "Best",    "F32", ADD,          NONE, F32,  GROUP,    1, "keep r[a] at byte c of its record, if no other is better") \
    X(BEST_F64,    "Best",    "F64", ADD,          NONE, F64,  GROUP,    1, "keep r[a] at byte c of its record, if no other is better") \
    X(BITS_I32,    "Bits",    "I32", ADD,          NONE, I32,  GROUP,    1, "keep the bits of r[a] at byte c of its record") \
    X(BITS_I64,    "Bits",    "I64", ADD,          NONE, I64,  GROUP,    1, "keep the bits of r[a] at byte c of its record") \
    X(GROUPED,     "Grouped", "-",  GROUPED,       NONE, NONE, GROUP,    1, "count it; if the launch has groups, it is output no more") \
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

/* Parts of a date, as DatePart numbers them; the first three are those of
 * the syntax tree. Hours, minutes and seconds of a date are 0. */
enum date_part {
    DATE_YEAR, DATE_MONTH, DATE_DAY, DATE_HOUR, DATE_MINUTE, DATE_SECOND,
    DATE_WEEKDAY, /* 0: Sunday */
    DATE_YEARDAY, /* from 1    */
    DATE_QUARTER, /* from 1    */
    DATE_WEEK,    /* ISO 8601  */
    DATE_PARTS
};

/* Limits of a program. */
enum {
    VDBQ_REGISTERS_MAX = 1024,
    VDBQ_CODE_MAX = 65536,
    VDBQ_CURSORS_MAX = 16,
    VDBQ_AXES_MAX = 3 /* cursors of a grid */
};

#endif
