/* SPDX-License-Identifier: MIT */
/*
 * The control block of a launch, on the host: what is the same for all
 * launches of a program is written once, and what changes lies at its start,
 * so that little is moved for the next launch. Part of the launcher.
 */
#ifndef VDBQ_EXEC_CONTROL_H
#define VDBQ_EXEC_CONTROL_H

#include "cl/launch.h"
#include "program/program.h"

/* The numbers of the words that the codes of one input stand for; zeroed: a code
 * is its number. */
struct order_codes {
    /* of each dictionary entry its number; NULL: `before` and the code */
    const i32 *order_codes;
    u32 count;  /* entries; 0 where numbers are codes, or those and `before` in
                   all launches, and it is nobody's own                      */
    u32 before; /* words of other dictionaries, where they are an input's own or
                   shown                                                     */
};
/* Bytes that they take in a control block. */
u64 order_codes_size(const struct order_codes *order_codes);
/* Bytes that an input's own table takes there of a morsel with so many words. */
u64 own_table_size(unsigned width, u32 count);

/* The build rows of a program, in memory that the device holds: what
 * cl/launch.h says of them, in the order of the pack's lists. `order_codes` in
 * build_input is filled by control_init(). */
struct run_build_side {
    /* holds the columns and indexes of all build sides */
    struct device_memory *memory;
    const struct build_input *inputs; /* where each column lies in `memory` */
    /* one per input; NULL: none has any */
    const struct order_codes *order_codes;
    const struct key_index *indexes; /* one a cursor behind the first */
};

struct control {
    u8 *bytes;            /* of the program's arena; `fixed_size` of them   */
    u64 fixed_size;       /* all before the order codes, which change       */
    u64 order_codes_size; /* of these, for one morsel, at most */
    u64 head_size; /* struct launch_head, inputs, outputs and places of lookup
                      tables: these change                                */
    const struct run_lookup *lookups; /* one a table */
    unsigned lookup_count;            /* of `lookups` */
};

/* Lays the block out and fills in what stays the same. `build_side` may be NULL
 * where the program has one cursor. */
enum vdbq_status control_init(struct control *control,
                              const struct program *program,
                              const struct program_pack *pack,
                              const struct run_values *values,
                              const struct run_build_side *build_side,
                              struct arena *arena, struct error *error);

/* Fills in other values of parameters of a program that leaves nothing else open. */
void control_values(struct control *control, const struct program *program,
                    const struct program_pack *pack,
                    const struct run_values *values);

/* Writes order codes to a block at `at`, and where they are into `input`; gives
 * the place behind them. `before`: words of the morsels before it in a launch
 * that are the input's own, where there are any. */
u64 control_order_codes(u8 *block, u64 at,
                        const struct order_codes *order_codes, u32 before,
                        struct column_input *input);
/* Writes tables of own words to a block at `at`, and where they are into a head;
 * gives the place behind them. `order_codes`: those of each morsel of a launch;
 * NULL: there is none. */
u64 control_own_tables(const struct control *control, u8 *block, u64 at,
                       const struct order_codes *const *order_codes, u8 *head);

/* The parts of a block (or of a copy of its head) that change. */
struct launch_head *control_head(u8 *block);
struct column_input *control_inputs(u8 *block, unsigned morsel);
struct output *control_outputs(u8 *block);
u64 *control_lookups(u8 *block);

#endif
