/* SPDX-License-Identifier: MIT */
/*
 * What the host hands to one launch of the machine, and what comes back.
 *
 * The control block is one buffer: a struct launch_head, then, at the offsets
 * it names, the code, the constants, the inputs, the outputs, the lookup tables
 * and what describes build rows. All is 8-byte aligned. Offsets are in bytes
 * from the start of the control block unless said otherwise.
 *
 * The machine runs the code over the rows of some morsels: neighbouring rows
 * of tablets, each in a data buffer of its own. It walks a morsel in steps of
 * VDBQ_GROUP * VDBQ_TILE rows, of which the last may be shorter; steps are
 * counted through all morsels. Each step packs its surviving rows, in table
 * order, into neighbouring places of the result and describes them: reading
 * the descriptors in order gives the result in table order. With groups of
 * more than one item the steps' places follow one another in that order; what
 * steps know of that are their states, and there are no descriptors.
 *
 * A program of several axes runs over the cells of a grid: the rows of its one
 * morsel are then cells. Cell (left * R1 + r1) * R2 + r2 is that of the left
 * row, of row r1 of the R1 rows of axis 1, and of r2 of axis 2, if there is
 * one. The left rows are those of the inputs.
 */
#ifndef VDBQ_CL_LAUNCH_H
#define VDBQ_CL_LAUNCH_H

#include "hash.h"
#include "opcodes.h"
#include "types.h"

/* One instruction as the machine reads it. */
struct code {
    i32 op; /* enum opcode             */
    i32 a;  /* operands: cl/opcodes.h  */
    i32 b;
    i32 c;
    i32 d;
    i32 reserved; /* 0 */
};

/* Where a column's values of this launch's rows are; offsets into the data
 * buffer. What the encodings are is drawn in cl/tablet.h. */
struct column_input {
    u64 values;
    u64 nulls;    /* bits, or bytes where `bits` says so; 0: none is NULL;
                     INPUT_ALL_NULL: all are                              */
    i64 base;     /* ENCODING_SEQUENCE: the value of row 0; of the others
                     as in the tablet                                     */
    u32 width;    /* bytes of a value                                     */
    u32 encoding; /* ENCODING_...                                         */
    u32 bits;     /* ENCODING_PACKED: of a code; ENCODING_PLAIN: 8 where a
                     row's NULL flag is a byte, as an output's            */
    u32 row;      /* ENCODING_PACKED: codes from `values` to row 0's, a
                     multiple of PACKED_LANES; ENCODING_RUNS: the number
                     in the tablet of row 0, a multiple of 64             */
    u64 order_codes;    /* of a column of words: offset in the control block of
                     the i32 number of each code, a struct lookup; or
                     ORDER_CODES_ADD and what is added to a code; 0: a
                     code is its number                                   */
};
#define ORDER_CODES_ADD 0x8000000000000000UL
#define INPUT_ALL_NULL 0xffffffffffffffffUL

/* Operand d of Column and Rowid in a specialised program: 1 + the encoding
 * that the input has in all morsels of all launches, or 0 where it differs;
 * and whether the column is loaded without asking if a row is live. */
#define LOAD_ENCODING 7
#define LOAD_EAGER 8

/* Operand c of Probe on a device: of the row's number nobody asks more than
 * whether it is -1. */
#define PROBE_TESTED 1

/*
 * The build rows of a program are those of its probed cursors and of a grid's
 * further axes: rows that are reached by their numbers. Their columns are
 * plain; all of them lie in one buffer, the inner one, and offsets are into
 * that.
 */
struct build_input {
    u64 values;
    u64 nulls; /* bytes, 1 where NULL; 0: none is NULL                    */
    u64 order_codes; /* as an input's: offset in the control block        */
};

/* How build rows are found by a key that no two of them share, or of several
 * the first one. Rows whose key is NULL are not in it. A dense index has a
 * u32 for each key from `base` on: 1 + the row, or 0; behind them there may be a
 * filter: a bit for each, whether it is not 0, in u32 words. A hashed one has u64
 * slots: the low half is 1 + the row, or 0 where the slot is empty, the high
 * one a tag: of 32-bit keys the key, of others hash_tag(). A key is sought from
 * slot hash_key() % count on, up to an empty one; there always is one. Behind
 * the slots there may be a filter, u32 words with eight bits for each slot, of
 * which keys that are sought from it on have set bit hash_key() >> 61: most keys
 * that no row has end there.
 *
 * A bitmap index has a bit for each key from `base` on, whether a row has it,
 * in the low half of a u64 for each BITMAP_KEYS keys; the high half is how
 * many bits are set before it. A key's rank, how many keys are less, is its
 * row where rows lie in the order of their keys; else behind the bits comes an
 * i32 for each rank: the row. */
struct key_index {
    u64 slots; /* offset of the slots                                     */
    u64 count; /* of them; of a hashed index a power of two; of a bitmap: of
                  its keys                                                */
    i64 base;
    u64 keys;  /* offset of the rows' keys: of INDEX_HASHED, 64 bits wide  */
    u32 kind;  /* INDEX_...                                               */
    u32 in_order; /* INDEX_BITMAP: 1: a rank is the row                   */
    u32 filtered; /* INDEX_HASHED and INDEX_DENSE: 1: there is a filter   */
    u32 reserved; /* 0                                                    */
};
enum index_kind { INDEX_DENSE, INDEX_HASHED, INDEX_BITMAP };
#define BITMAP_SHIFT 5
#define BITMAP_KEYS (1 << BITMAP_SHIFT)
/* Words of a dense index's filter. */
#define DENSE_FILTER_WORDS(count) (((count) + 31) / 32)
/* Slots for each word of a hashed index's filter, and a key's bit in the word of
 * its slot: of its hash_key(). */
#define FILTER_SLOTS 4
#define FILTER_BIT(slot, hash) \
    ((u32)(slot) % FILTER_SLOTS * 8 + (u32)((hash) >> 61))

/* A table of values, one a word; behind it they lie, 4 or 8 bytes each, or one
 * where all are 0 or 1. */
struct lookup {
    u32 count; /* words from here on have the value 0 */
    u32 flags; /* 1: the values of an i32 are a byte each; 0 */
};

/* A result column: where its values go; offsets into the result buffer. Groups
 * of several items can write integers narrow: each as what it is more than
 * `base`, without a sign, which must fit. */
struct output {
    u64 values;
    u64 nulls;         /* bytes, 1 where NULL; unused with null_register -1 */
    i64 base;          /* unused where it is not narrow                     */
    i32 register_;     /* that holds the value                              */
    i32 null_register; /* that holds 1 where the value is NULL, or -1       */
    u32 width;         /* 4 or 8: of a value                                */
    u32 narrow;        /* 1, 2 or 4, less than width: bytes that are written
                          instead; 0: it is not narrow                      */
};

/* Morsels of a launch at most. */
#define LAUNCH_MORSELS 16
/* The first step of a morsel that there is not, and those of one morsel. */
#define NO_STEP 0xffffffffu
#define ONE_MORSEL                                                            \
    { 0,       NO_STEP, NO_STEP, NO_STEP, NO_STEP, NO_STEP, NO_STEP, NO_STEP, \
      NO_STEP, NO_STEP, NO_STEP, NO_STEP, NO_STEP, NO_STEP, NO_STEP, NO_STEP }

/* A key of groups: codes of its values are how much more than `base` these
 * are, NULL's comes behind them. */
struct launch_key {
    i64 base;
    u32 size;
    u32 stride; /* bytes of a table from one code to the next */
};
#define LAUNCH_KEYS 8
/* Of a work-group's own table of groups with its copies, at most. */
#define LAUNCH_LOCAL_BYTES 20480
/* Of the lowest bits of values that such a table sums apart, in 32 bits, there are
 * so many at least: no more rows may come to a copy than these have room for. */
#define LAUNCH_LOW_BITS 16
#define LAUNCH_COPY_ROWS (1u << (32 - LAUNCH_LOW_BITS))
/* In front of the tables that items add to, each for itself: an u32, how many they
 * are, and for each an u32 of flags. An item takes one that nobody has, and leaves it
 * used: what is in one that was not, nobody knows. */
#define TABLE_TAKEN 1
#define TABLE_USED 2
/* Operand d of the opcodes that add to groups. */
#define ADD_ONLY_GROUP 1 /* there are no keys */
#define ADD_TURNED 2     /* Best keeps the least value, Bits what all have */
#define ADD_ODD 4        /* Bits keeps those that an odd number of values have */

struct launch_head {
    struct launch_key keys[LAUNCH_KEYS];
    u64 tables;         /* of groups: offset in the result buffer, which has
                           nothing else then                          */
    u64 number;         /* of the first row, where rows are added to groups */
    u32 table_bytes;    /* of one with its copies, or of groups of several
                           items: without; 0: there is none            */
    u32 table_copies;   /* a power of two                             */
    u32 copy_bytes;
    u32 bounded;        /* 1: for Behind there is a bound             */
    u64 bound;          /* a value is behind whose code, with the bits of
                           `bound_flip` turned, is not below it       */
    u64 bound_flip;     /* 0; of a descending order all               */
    u32 morsel_first[LAUNCH_MORSELS]; /* number of each morsel's first step */
    u32 morsel_rows[LAUNCH_MORSELS];
    u64 code;           /* struct code[]; indexed by program counter   */
    u64 constants;      /* i64[]; bits of an f64 where it is one       */
    u64 inputs;          /* struct column_input[input_count] for each morsel */
    u64 outputs;        /* struct output[]                             */
    u64 lookups;        /* u64[]: where each struct lookup is          */
    u64 build_inputs;    /* struct build_input[]                       */
    u64 indexes;        /* struct key_index[]                          */
    u64 cell_first;     /* of a grid: number of the morsel's row 0     */
    u32 axis_rows[VDBQ_AXES_MAX - 1]; /* rows of axes 1 and 2; 0: there is no
                           such axis                                   */
    u32 code_first;     /* program counter of the first instruction    */
    u32 code_end;       /* ... and of the Converge that ends it        */
    u32 input_count;
    u32 output_count;
    u32 steps;          /* of all morsels                              */
    u32 steps_per_item; /* steps that one group walks, one by one; with
                           several items it is 1, or how many are walked
                           by each on average                          */
    u32 any_order;      /* 1: with groups of more than one item the rows of
                           steps may come in any order, and no state is
                           looked at                                   */
    u32 low_bits;       /* of a value, that a work-group's own table of
                           groups sums apart; LAUNCH_LOW_BITS or more  */
};

/* The rows that one step kept: [start, start + count) of the result. */
struct descriptor {
    u32 start;
    u32 count;
};

/* The state of a step, of groups of more than one item: 0 before anything is
 * known, then STATE_COUNT + the rows that it kept, then STATE_END + those that
 * it and all steps before it kept. */
#define STATE_COUNT 0x40000000u
#define STATE_END 0x80000000u
#define STATE_ROWS 0x3fffffffu

/* How far a launch is, behind the control block; then comes, of each step, its
 * descriptor or its u32 state. All is 0 before, but for `fault`, which is
 * NO_FAULT. */
struct progress {
    u32 rows;   /* result rows, with groups of more than one item      */
    u32 fault;  /* the first live row for which an instruction failed: its
                   number if all steps were full                       */
    u32 groups; /* that have set out, of more than one item            */
    u32 fault_at; /* which instruction, if only rows of one group failed */
};
#define NO_FAULT 0xffffffffu

VDBQ_ASSERT_LAYOUT(code, sizeof(struct code) == 24);
VDBQ_ASSERT_LAYOUT(input, sizeof(struct column_input) == 48);
VDBQ_ASSERT_LAYOUT(build_input, sizeof(struct build_input) == 24);
VDBQ_ASSERT_LAYOUT(key_index, sizeof(struct key_index) == 48);
VDBQ_ASSERT_LAYOUT(lookup, sizeof(struct lookup) == 8);
VDBQ_ASSERT_LAYOUT(output, sizeof(struct output) == 40);
VDBQ_ASSERT_LAYOUT(launch_head, sizeof(struct launch_head) == 256 + 8 * 16 + 24);
VDBQ_ASSERT_LAYOUT(progress, sizeof(struct progress) == 16);
VDBQ_ASSERT_LAYOUT(descriptor, sizeof(struct descriptor) == 8);

#endif
