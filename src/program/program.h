/* SPDX-License-Identifier: MIT */
/*
 * A program: what the planner makes of a SELECT and the machine runs. Its
 * instructions are those of cl/opcodes.h, in the order
 *
 *     Table            one a cursor
 *     ResultColumn     one a result column
 *     Parallel         the rows' part starts
 *     ...              what is done for each row, Result among it
 *     Converge
 *     Finish
 *
 * The cursors that are axes come before those that are probed (cl/opcodes.h).
 * Without a table the rows' part runs for one row. The program is whole: it
 * can be printed, read back, checked and run without the tree it came from.
 */
#ifndef VDBQ_PROGRAM_PROGRAM_H
#define VDBQ_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "cl/launch.h"
#include "cl/opcodes.h"
#include "program/interval.h"

/* ----------------------------------------------------- the op table -- */

enum op_form {
#define OP_FORM(name, operands) FORM_##name,
    VDBQ_FORMS(OP_FORM)
#undef OP_FORM
        OP_FORMS
};
enum op_effect {
#define OP_EFFECT(name) EFFECT_##name,
    VDBQ_EFFECTS(OP_EFFECT)
#undef OP_EFFECT
        OP_EFFECTS
};

/* A row of the table in cl/opcodes.h. */
struct op_facts {
    const char *enum_name; /* "LE_I32": the machine's op_LE_I32           */
    const char *mnemonic;  /* "Le"                                        */
    const char *type;      /* "I32", "F64_I32", or "-"                    */
    enum op_form form;
    int writes; /* TYPE_... of the register written, or NONE   */
    int reads;  /* TYPE_... of the registers read, or NONE     */
    enum op_effect effect;
    unsigned cost;
    const char *meaning;
};
const struct op_facts *op_facts(enum opcode op);
/* The letters of its form, one for each of a, b, c, d. */
const char *op_operands(enum opcode op);
/* The opcode "Le.I32", "Parallel" of that name (without case), or -1. */
int op_find(const char *name, size_t length);
/* "I32" for TYPE_I32 ...; bytes of a value of the type, 0 for any other. */
const char *type_text(int type);
unsigned type_width(int type);

/* --------------------------------------------------------- programs -- */

struct instruction {
    enum opcode op;
    int a, b, c, d;
    int64_t integer;     /* of INTEGER_...                              */
    double real;         /* of FLOAT_...                                */
    const char *name;    /* of TABLE and RESULT_COLUMN; the text of TEXT,
                             the call of LOOKUP_..., the message of FAIL */
    const char *comment; /* may be NULL; printed behind the meaning     */
    struct position at;  /* in the SQL text, for errors while it runs   */
};

struct program_table {
    const char *name;
    uint32_t id;             /* in the catalogue                         */
    unsigned input;          /* 1 + number of the step's input whose rows
                                 it is; 0: it is of the catalogue         */
    unsigned column_count;   /* columns without the primary key; behind them,
                                 where there is one, the row number       */
    const int *column_types; /* TYPE_... of these                        */
    int key_type;            /* TYPE_... that Rowid gives; TYPE_I64 is
                                 the row number where there is no key     */
};

struct program {
    struct vector code;   /* of struct instruction                       */
    struct vector tables; /* of struct program_table; one a cursor       */
    unsigned registers;   /* 1 + the highest in use                      */
    struct arena arena;   /* of names and types                          */
    /* as program_pack() makes it, in the arena: the program never changes any
     * more; NULL: it was not kept */
    const struct program_pack *packed;
};

void program_init(struct program *program);
void program_finish(struct program *program);

/* Adds an instruction; its number, or -1: no memory. Strings must live in
 * the program's arena. */
int program_add(struct program *program, const struct instruction *added);
struct instruction *program_at(const struct program *program, int pc);
/* Puts instructions in front of number `pc`: jumps to there lead to the first of
 * them, those over it over all. Strings as above; false: no memory. */
bool program_insert(struct program *program, int pc,
                    const struct instruction *added, int count);
/* Whether instructions `pc` and on do what these do; comments do not count. */
bool program_has(const struct program *program, int pc,
                 const struct instruction *wanted, int count);
/* The first instruction of that opcode; -1: there is none. */
int program_find(const struct program *program, enum opcode op);

/* Whether an instruction reads a register, Result and those behind it apart. */
bool instruction_reads(const struct instruction *in, int register_);
/* The register that an instruction writes; -1: none. */
int instruction_writes(const struct instruction *in);

/* Cursors that are axes, the first ones: those before the first probed one. */
unsigned program_axes(const struct program *program);

/* Program counters of the rows' part: after Parallel, up to Converge. Only
 * of a checked program. */
struct program_part {
    int first;    /* of the first instruction for the rows */
    int converge; /* of Converge                           */
};
struct program_part program_part(const struct program *program);

/* Result columns of a checked program. */
struct program_result {
    const char *name;
    int type;          /* TYPE_...                            */
    int register_;     /* that holds the value                */
    int null_register; /* that is 1 where it is NULL, or -1   */
};
unsigned program_results(const struct program *program);
struct program_result program_result(const struct program *program,
                                     unsigned column);

/*
 * Proves that a program is well formed, and sets `registers`: known opcodes,
 * operands in bounds, the order of parts, one Result and as many result
 * columns as it outputs, forward jumps that stay inside the rows' part,
 * columns that exist with the type the opcode says, texts where the opcode
 * has one, every register written
 * by one instruction only, and written before it is read on every path (for
 * Result: on every path that leaves the row valid).
 * Nothing may run before this returned VDBQ_OK. Fails with PROGRAM (the
 * position is the instruction's `at`, or its line where it has none), LIMIT,
 * NO_MEMORY.
 */
enum vdbq_status program_check(struct program *program, struct error *error);

/* The sum of the prices of one row, for bounding launches. */
unsigned program_cost(const struct program *program);

/* ------------------------------------------------------------- reach -- */

/* What an input gives of some rows. */
struct input_range {
    struct interval value; /* NULL or not: what its register holds  */
    bool null, not_null;   /* whether some rows are so              */
};
struct program_pack;
struct run_values;
/*
 * Whether running the rows' part could be noticed: a row becomes a result row,
 * or an instruction fails for one. `ranges`: one per input of `pack`, of texts
 * their numbers; behind these one per build input, one per index, of its keys,
 * and one per index, of the rows that it gives. `values` is what the program leaves
 * open; NULL: that is not known. False is a proof; true may only mean that none
 * was found (dataflow.c). `room` is program_dataflow_room() bytes, aligned for
 * a double, of any content.
 */
bool program_reaches(const struct program *program,
                     const struct program_pack *pack,
                     const struct run_values *values,
                     const struct input_range *ranges, void *room);
size_t program_dataflow_room(const struct program *program);
/* The same, whether some row may be output; `room` then begins with a struct
 * interval for each register, of the values that rows have there which came
 * as far. */
bool program_dataflow_results(const struct program *program,
                              const struct program_pack *pack,
                              const struct run_values *values,
                              const struct input_range *ranges, void *room);

/* Tells of the instruction `pc` that failed for a row: RANGE and its place in
 * the statement. */
enum vdbq_status program_fault(const struct program *program, int pc,
                               struct error *error);

/* -------------------------------------------------------------- text -- */

/* One line an instruction: number, name, operands, and behind `;` what it
 * means. This is EXPLAIN's text and the .prog form. */
void program_print(const struct program *program, struct text *text);
/* The columns of that line, for EXPLAIN's rows. */
void instruction_print(const struct program *program, int pc, struct text *name,
                       struct text operands[4], struct text *meaning);

/* Reads the text form into an empty program: numbers in front and comments
 * behind `;` are skipped. Tables have their names only; the caller looks
 * them up and fills program_table before the check. Fails with PROGRAM and
 * the position in the text. */
enum vdbq_status program_read(const char *text, struct program *program,
                              struct error *error);

/* ------------------------------------------------------------ device -- */

/* What the code of a checked program needs on a device, packed: cl/launch.h.
 * Input i is the i-th column that the program reads of the first cursor, in
 * the order of columns, the key first; build inputs are those of the others, by
 * cursors and columns. */
struct program_input {
    int cursor;
    int column; /* -1: the primary key */
};
/* The number that a text constant may have where it is none of the words, by what
 * is asked of it. */
enum text_fit {
    FIT_UNUSED, /* nothing is asked: any number                         */
    FIT_NONE,   /* it is to be a word                                   */
    FIT_EQUAL,  /* which words it equals: one that no word has          */
    FIT_NEXT,   /* which words are less: that of the first greater word */
    FIT_LAST    /* which words are greater: that of the last less word  */
};

/* What a run fills before it starts: of TEXT and PARAMETER_... constant
 * number `place`, of LOOKUP_... table number `place`. Two lookups of the same
 * call for words of the same input share a table, and so do all for other words;
 * then the first alone is here. */
struct program_slot {
    int pc;
    unsigned place;
    int words; /* of a lookup: what pack_words_column() says of its words */
    /* of a text: */
    bool compared; /* only with words that are WORDS_COMPARED */
    enum text_fit fit;
};
/* What a program does with the words of an input. */
enum words_use {
    WORDS_ANY,
    WORDS_LOOKED_UP, /* they are looked up, in tables of their own */
    WORDS_COMPARED,  /* they are compared with constants           */
    WORDS_SHOWN      /* results have them, where nobody asks more than the
                        texts; they may be looked up, too. A pack says WORDS_ANY
                        of these: see shown_inputs                 */
};
/* What it points to never changes once it is made. */
struct program_pack {
    struct code *code; /* one an instruction of the program   */
    int64_t *constants;
    unsigned constant_count;
    struct program_input *inputs;
    unsigned input_count;
    enum words_use *uses; /* of each input: what its words are for */
    struct program_input *build_inputs;
    unsigned build_count;
    struct program_input *indexes; /* the columns that are probed         */
    unsigned index_count;
    struct program_slot *slots; /* in the order of instructions */
    unsigned slot_count;
    int *result_inputs; /* of each result column the input whose
                                    integers it has, or -1              */
    int *
        shown_inputs; /* of each result column the input whose words it has, which
                          are in results, or looked up, and no more; or -1 */
    unsigned result_count;
    unsigned lookup_count;
};

/* What a run knows and its program leaves open. A zeroed one fits a program
 * that leaves nothing open. */
struct run_lookup {
    const void *values;
    unsigned width; /* bytes of one: 1 where all are 0 or 1 */
    uint32_t count; /* words behind have 0 */
    unsigned own;   /* 1 + the input whose words alone these are, of which a
                       launch gets those of its morsels; 0: any words     */
};
struct run_values {
    const int64_t *slots; /* bits, for each slot of the pack; those of
                             lookups are not used                          */
    const struct run_lookup *lookups; /* one a table                       */
    /* bytes of the order codes of one morsel, at most, from order_codes_size(),
     * and of the values of its own words, from own_table_size() */
    uint64_t order_codes_bytes;
};

/* Packs into memory of `arena`, if the program has not kept its pack; fails for
 * want of memory. */
enum vdbq_status program_pack(const struct program *program,
                              struct arena *arena, struct program_pack *pack,
                              struct error *error);
/* Packs a checked program that changes no more, for all who run it. Likewise. */
enum vdbq_status program_keep_pack(struct program *program,
                                   struct error *error);

/* Whether instructions before `end` ask of a row's number, which the register holds,
 * no more than whether there is one. */
bool program_only_tests(const struct program *program, int register_, int end);

/* How the specialised machine loads columns of the rows that it runs over. A
 * zeroed one: as the inputs say, and only where some row is live. */
enum load_eager {
    EAGER_NONE,
    EAGER_FIRST, /* those before the first jump do not ask who is live */
    EAGER_ALL    /* none does                                          */
};
/* Where the specialised machine of a GPU takes rows (cl/sink/group.cl). */
enum program_sink {
    SINK_RESULT, /* they become result rows                               */
    SINK_OWN,    /* into groups, in a table of the work-group's own first */
    SINK_COMMON  /* into the groups of all                                */
};
struct program_loads {
    const unsigned char *encodings; /* one per input: 1 + the ENCODING_... that
                                       it has in all launches, 0: the input
                                       tells. NULL: all tell               */
    enum load_eager eager;
    enum program_sink sink;
    unsigned own_bytes; /* SINK_OWN: of that table and its copies, at most */
    bool few_live;      /* few rows come to the sink                       */
};

/* The text of run_constants() and run_step() for the specialised machine:
 * calls with numbers only; no name and no constant of the program is in it. */
void program_specialise(const struct program *program,
                        const struct program_pack *pack,
                        const struct program_loads *loads, struct text *text);

#endif
