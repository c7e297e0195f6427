/* SPDX-License-Identifier: MIT */
/*
 * The state of the machine while it runs over a tile of neighbouring rows,
 * and the words in which cl/ops.cl is written.
 *
 * The files of the machine build three ways. The host sets, for a device:
 *   VDBQ_TILE        rows of a tile: a handful on a GPU, hundreds on a CPU
 *   VDBQ_GROUP       work-items of a group; 1 on a CPU, where nothing waits
 *   VDBQ_REGISTERS   registers there is room for
 *   VDBQ_AXES        axes of the program, or where it is not specialised, at
 *                    most: more than one make a grid
 *   VDBQ_SPECIALISED the program is pasted in as calls
 * and as host C, where VDBQ_HOST is set and one call runs one group.
 */
#ifndef VDBQ_CL_MACHINE_H
#define VDBQ_CL_MACHINE_H

#include "launch.h"
#include "opcodes.h"
#include "tablet.h"

#ifndef VDBQ_TILE
#define VDBQ_TILE 256
#endif
#ifndef VDBQ_GROUP
#define VDBQ_GROUP 1
#endif
/* Steps before its own that a group looks at at once (H200, two of the ten
 * queries over 8M rows: 64 take 5 % longer than 32, 128 13 %). */
#ifndef VDBQ_LOOK_BACK
#define VDBQ_LOOK_BACK (VDBQ_GROUP < 32 ? VDBQ_GROUP : 32)
#endif
#ifndef VDBQ_AXES
#ifdef __OPENCL_C_VERSION__
#define VDBQ_AXES 1
#else
#define VDBQ_AXES 3
#endif
#endif
#ifndef VDBQ_REGISTERS
#define VDBQ_REGISTERS VDBQ_REGISTERS_MAX
#endif

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define UNROLL_4 _Pragma("unroll 4")
#else
#include <math.h>
#define GLOBAL
#define LOCAL
#define CONSTANT static const
#define UNROLL_4
#define popcount __builtin_popcount
#define atomic_or(to, bits) __atomic_fetch_or(to, bits, __ATOMIC_ACQ_REL)
#define atomic_xchg(to, value) __atomic_exchange_n(to, value, __ATOMIC_ACQ_REL)
#define mem_fence(flags) /* the two above order what is around them */
#endif

VDBQ_ASSERT_LAYOUT(axes, VDBQ_AXES <= VDBQ_AXES_MAX);
/* A state, and a row's number with a step behind it, hold what a launch has. */
VDBQ_ASSERT_LAYOUT(launch_rows,
                   (u64)LAUNCH_MORSELS * TABLET_ROWS_MAX <= STATE_ROWS);

/* The types as opcodes spell them. */
typedef i32 I32;
typedef i64 I64;
typedef f32 F32;
typedef f64 F64;

/* What the items of a group share while they find places for their rows and
 * write them. */
#if VDBQ_GROUP > 1
struct shared {
    u32 sums[2 * VDBQ_GROUP];
    GLOBAL const u8 *data; /* of the morsel                       */
    u32 morsel;   /* its number                                    */
    u32 step;    /* that the group runs                           */
    u32 count;   /* rows that the step kept                       */
    u32 before;  /* ... that the steps before it kept             */
    u32 waiting; /* rows that wait for others (cl/sink/refill.cl)  */
    u32 nearest; /* step back of which the end is known           */
};
#endif

/* A register: the values of a tile of rows, all of one type. On a CPU they lie
 * apart: at a distance of 4,096 bytes the load of one waits for the store of
 * another before it (Intel's 4K aliasing; two comparisons of one column took
 * half as long again). */
union tile {
    I32 I32[VDBQ_TILE];
    I64 I64[VDBQ_TILE];
    F32 F32[VDBQ_TILE];
    F64 F64[VDBQ_TILE];
#if VDBQ_GROUP == 1
    u8 apart[VDBQ_TILE * sizeof(F64) + 192];
#endif
};

/*
 * Machine rule 1. A register is written by one instruction only, so a row
 *   that jumped over the instruction may be given any value by it: the
 *   checker proved that such a row never reads it.
 * Machine rule 2. A row is live at instruction k while its own program
 *   counter is at most k. Jumps go forward only. A row that is not valid any
 *   more is live nowhere.
 * Machine rule 3. Every opcode is total: it has a value, and no undefined
 *   behaviour, for any bits in its registers. What fails for a live row is
 *   reported through `fault`.
 * Machine rule 4. All work-items of a group take the same path through the
 *   code; what differs between rows is data.
 */
struct machine {
    union tile r[VDBQ_REGISTERS];
    i32 pc[VDBQ_TILE];    /* of each row, or NOWHERE                     */
#if VDBQ_GROUP == 1
    GLOBAL u8 *table;     /* of groups: the item's; 0: the launch has none */
    u32 table_number;     /* ... among those of the launch                */
    u32 slot[VDBQ_TILE];  /* of each row: bytes to its group's record    */
    u32 kept[VDBQ_TILE + 8]; /* rows of the tile, in their order: the live ones,
                             if `listed`                                 */
    i32 live;             /* how many rows are, before instruction `wakes` */
    i32 wakes;            /* to which a row jumped that sleeps; or NOWHERE */
    i32 listed;           /* `kept` has the live rows                    */
    i32 kept_count;       /* rows that Result outputs                    */
#else
    LOCAL struct shared *shared;
    LOCAL i64 *packed;    /* VDBQ_GROUP * VDBQ_TILE: a column's values   */
    LOCAL u8 *own;        /* the work-group's table of groups, if it has one */
    u32 low_bits;         /* ... of values, that it sums apart           */
    u32 slot[VDBQ_TILE];  /* of each row: bytes to its group's record    */
    u32 counted;          /* rows that were added to groups              */
    i32 ahead;            /* whether the group's next step is of this morsel */
    i32 refilled;         /* whether the tile has rows from anywhere in the
                             morsel (cl/sink/refill.cl)                  */
    LOCAL u32 *waiting;   /* the words of rows that wait                 */
    u32 waiting_at;       /* of the first one that the item keeps or takes */
    u32 number[VDBQ_TILE]; /* of each row                                */
    u32 place_in_step;    /* of the first row that the item keeps        */
#endif
    i32 rows;             /* rows of this tile that exist                */
    u32 row;              /* number of the first one, in the morsel      */
#if VDBQ_AXES > 1
    i32 axes;             /* of the program                              */
    u32 axis_rows[VDBQ_AXES]; /* of each axis but the first              */
    u32 axis[VDBQ_AXES];  /* row of each one that the tile's first cell
                             is of                                       */
#endif
    u32 step;             /* its number in the launch                    */
    u32 place;            /* where in the result this step's rows start;
                             with a group of 1: where the next ones go   */
    u32 fault;            /* as in struct progress, of this group's rows */
    u32 fault_at;         /* likewise                                    */
    u32 item;             /* number of the work-item in its group        */
    GLOBAL const u8 *control;
    GLOBAL const struct code *code;
    GLOBAL const i64 *constants;
    GLOBAL const struct column_input *inputs; /* of the morsel           */
    u32 first_step;                  /* ... in the launch                */
    u32 morsel_rows;
    GLOBAL const struct output *outputs;
    u32 output_count;
    GLOBAL const u8 *data;           /* of the morsel                    */
    GLOBAL const u8 *morsels[LAUNCH_MORSELS]; /* the data of all           */
    GLOBAL const u8 *build_side;          /* the build rows                   */
    GLOBAL const struct build_input *build_inputs;
    GLOBAL const struct key_index *indexes;
    GLOBAL u8 *result;
    GLOBAL struct progress *progress;
#if VDBQ_GROUP == 1
    GLOBAL struct descriptor *descriptors; /* one a step                 */
#else
    GLOBAL u32 *states;                    /* likewise                   */
#endif
};

/* The axes of the program; of a specialised build a constant. */
#if VDBQ_AXES > 1 && !defined(VDBQ_SPECIALISED)
#define AXES m->axes
#else
#define AXES VDBQ_AXES
#endif

/* Before a loop over a tile that a CPU device's compiler is to make vectors of:
 * POCL 5 does not see for itself that it pays (ten queries over 8M rows, two
 * cores: 29.8 ms without, 7.4 with it). It need not tell where it can't. Two
 * vectors a round, or one where there are no more. */
#if defined(__OPENCL_C_VERSION__) && VDBQ_GROUP == 1
#define VECTORS                                                              \
    _Pragma("clang loop vectorize(enable) vectorize_width(8) interleave_count(2)")
#define VECTOR_OF_8                                                          \
    _Pragma("clang loop vectorize(enable) vectorize_width(8) interleave_count(1)")
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define VECTORS
#define VECTOR_OF_8
#endif

/* Over the rows of the tile. A device runs over all of it, existing or not: the
 * loop of a small tile unrolls into registers, that of a large one is made
 * vectors of without a rest. On the host, where most tables are small, it ends
 * with the rows that exist. */
#ifdef __OPENCL_C_VERSION__
#define EACH EVERY
#else
#define EACH EACH_EXISTING
#endif
/* In any case over all of it. */
#define EVERY VECTORS for (i32 t = 0; t < VDBQ_TILE; t++)
/* Over those that exist: for what touches memory. */
#if VDBQ_GROUP > 1
#define EACH_EXISTING EACH if (t < m->rows)
#else
#define EACH_EXISTING \
    VECTORS for (i32 t = 0, rows_ = m->rows; t < rows_; t++)
#endif

/* An interpreted CPU's opcodes stay functions of their own: inlined into the loop
 * over instructions, its counter made every comparison with a row's program
 * counter one of 64 bits (POCL 3.1, TPC-H 6 and 19: 0.9 and 0.8 of the time, and
 * 0.85 to compile them). Where the program is pasted in they are not: of operands
 * that are known there is more than half a function to leave out. */
#if defined(__OPENCL_C_VERSION__) && VDBQ_GROUP == 1 && !defined(VDBQ_SPECIALISED)
#define OP_INLINING __attribute__((noinline))
#elif defined(__OPENCL_C_VERSION__) && VDBQ_GROUP == 1
#define OP_INLINING __attribute__((always_inline))
#else
#define OP_INLINING
#endif
#define OP(name)                                                       \
    static OP_INLINING void op_##name(struct machine *m, i32 k, i32 a, \
                                      i32 b, i32 c, i32 d)
#define UNUSED(x) (void)(x)
/* The operands as values of row t. */
#define A(T) m->r[a].T[t]
#define B(T) m->r[b].T[t]
#define C(T) m->r[c].T[t]
#define D(T) m->r[d].T[t]
#define LIVE (m->pc[t] <= k)
/* The number in the launch of a row of the tile, if all steps were full. */
#define NUMBER_OF(t) ((m->step * VDBQ_GROUP + m->item) * VDBQ_TILE + (u32)(t))
/* Only a specialised machine's tiles are refilled; then rows have other numbers. */
#if VDBQ_GROUP > 1 && defined(VDBQ_SPECIALISED)
#define REFILLED m->refilled
#define NUMBER m->number[t]
#else
#define REFILLED 0
#define NUMBER NUMBER_OF(t)
#endif
/* What a row costs much for: where few rows of a tile are live, it is done for
 * these alone (cl/live.cl). Else it is done for all, so the statement must hold for
 * rows that are not live. On a GPU these cost nothing. */
#if VDBQ_GROUP > 1
#define DEAR(statement) EACH statement
#else
#define DEAR(statement)                                                \
    if (few_live(m, k))                                                \
        EACH_LISTED(statement;)                                        \
    else                                                               \
        EACH statement
#define EACH_LISTED(statement)                                         \
    for (i32 i_ = 0, end_ = m->live; i_ < end_; i_++) {                \
        i32 t = (i32)m->kept[i_];                                      \
        statement                                                      \
    }
#endif
/* The program counter of a row that is live nowhere. */
#define NOWHERE VDBQ_CODE_MAX

#endif
