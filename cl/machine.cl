/* SPDX-License-Identifier: MIT */
/*
 * The machine: the kernel that runs a program over rows, and the one that
 * puts result rows into table order. Follows cl/ops.cl and, where it is
 * specialised, the program's own text: run_constants() and run_step().
 */

#ifndef VDBQ_SPECIALISED

/* The dispatch: a case for each opcode of the table. Constants are run once,
 * before the first step; what runs on the host has no case. */
#define CASE(name)                                                           \
    case OP_##name:                                                          \
        op_##name(m, k, in.a, in.b, in.c, in.d);                             \
        break;
#define BEFORE_HOST(name)
#define BEFORE_PURE(name)
#define BEFORE_CONSTANT(name) CASE(name)
#define BEFORE_FAULT(name)
#define BEFORE_JUMP(name)
#define BEFORE_VALIDITY(name)
#define BEFORE_OUTPUT(name)
#define BEFORE_END(name)
#define STEP_HOST(name)
#define STEP_PURE(name) CASE(name)
#define STEP_CONSTANT(name)
#define STEP_FAULT(name) CASE(name)
#define STEP_JUMP(name) CASE(name)
#define STEP_VALIDITY(name) CASE(name)
#define STEP_OUTPUT(name) CASE(name)
#define STEP_END(name) CASE(name)
#define BEFORE(name, mnemonic, type, form, writes, reads, effect, cost, text) \
    BEFORE_##effect(name)
#define STEP(name, mnemonic, type, form, writes, reads, effect, cost, text)   \
    STEP_##effect(name)

/* Runs the instructions whose value is the same for all rows. */
static void run_constants(struct machine *m, i32 first, i32 end)
{
    for (i32 k = first; k < end; k++) {
        struct code in = m->code[k];
        switch (in.op) {
            VDBQ_OPS(BEFORE)
        default:
            break;
        }
    }
}

/* Runs the others, over the rows of one tile. */
static void run_step(struct machine *m, i32 first, i32 end)
{
    for (i32 k = first; k < end; k++) {
        struct code in = m->code[k];
        switch (in.op) {
            VDBQ_OPS(STEP)
        default:
            break;
        }
    }
}

#endif

/* Sets out on the next tile. Rows that do not exist are never live. */
static void tile_begin(struct machine *m, u64 row, u64 row_end, i32 first)
{
    u64 left = row < row_end ? row_end - row : 0;
    m->row = row;
    m->rows = left < VDBQ_TILE ? (i32)left : VDBQ_TILE;
    EACH {
        m->pc[t] = t < m->rows ? first : VDBQ_CODE_MAX;
        m->valid[t] = t < m->rows;
    }
}

/* Points the machine at what the control block describes. */
static void machine_open(struct machine *m, GLOBAL const u8 *control,
                         GLOBAL const u8 *data, GLOBAL u8 *result,
                         GLOBAL struct descriptor *descriptors,
                         GLOBAL u32 *counters)
{
    GLOBAL const struct launch *launch = (GLOBAL const struct launch *)control;
    m->control = control;
    m->code = (GLOBAL const struct code *)(control + launch->code);
    m->constants = (GLOBAL const i64 *)(control + launch->constants);
    m->feeds = (GLOBAL const struct feed *)(control + launch->feeds);
    m->outputs = (GLOBAL const struct output *)(control + launch->outputs);
    m->output_count = launch->output_count;
    m->data = data;
    m->result = result;
    m->descriptors = descriptors;
    m->counters = counters;
    m->fault = NO_FAULT;
}

/* Runs the steps of one group; all its work-items call it. */
static void run_group(struct machine *m, GLOBAL const struct launch *launch,
                      u32 group)
{
    const u32 step_rows = VDBQ_GROUP * VDBQ_TILE;
    i32 first = (i32)launch->code_first, end = (i32)launch->code_end;
    u32 step = group * launch->steps_per_item;
    u64 row = launch->row_first + (u64)step * step_rows;
    m->place = step * step_rows;
    run_constants(m, first, end);
    for (u32 i = 0; i < launch->steps_per_item; i++) {
        u64 at = row + (u64)i * step_rows;
        if (at >= launch->row_end)
            break;
        m->step = step + i;
        tile_begin(m, at + (u64)m->item * VDBQ_TILE, launch->row_end, first);
        run_step(m, first, end);
    }
}

#ifdef __OPENCL_C_VERSION__

__kernel __attribute__((reqd_work_group_size(VDBQ_GROUP, 1, 1))) void
vdbq_machine(GLOBAL const u8 *control, GLOBAL const u8 *data,
             GLOBAL u8 *result, GLOBAL struct descriptor *descriptors,
             GLOBAL u32 *counters)
{
    struct machine m;
#if VDBQ_GROUP > 1
    LOCAL u32 sums[LOCAL_SUMS];
    m.local_sums = sums;
#endif
    m.item = (u32)get_local_id(0);
    machine_open(&m, control, data, result, descriptors, counters);
    run_group(&m, (GLOBAL const struct launch *)control,
              (u32)get_group_id(0));
    if (m.fault != NO_FAULT)
        atomic_min(&counters[COUNTER_FAULT], m.fault);
}

/* Rows that the steps before this one kept; all items of the group call it. */
static u32 rows_before(GLOBAL const struct descriptor *descriptors, u32 step,
                       LOCAL u32 *sum)
{
    u32 mine = 0;
    for (u32 i = (u32)get_local_id(0); i < step; i += (u32)get_local_size(0))
        mine += descriptors[i].count;
    if (get_local_id(0) == 0)
        *sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine)
        atomic_add(sum, mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *sum;
}

/* Moves the rows that one descriptor names to place `to` and behind it. */
static void move_rows(GLOBAL const struct output *output,
                      GLOBAL const u8 *result, GLOBAL u8 *ordered,
                      struct descriptor rows, u32 to)
{
    GLOBAL const u8 *source = result + output->values;
    GLOBAL u8 *target = ordered + output->values;
    u32 from = rows.start, size = (u32)get_local_size(0);
    for (u32 i = (u32)get_local_id(0); i < rows.count; i += size) {
        if (output->width == 4)
            ((GLOBAL u32 *)target)[to + i] =
                ((GLOBAL const u32 *)source)[from + i];
        else
            ((GLOBAL u64 *)target)[to + i] =
                ((GLOBAL const u64 *)source)[from + i];
        if (output->null_register >= 0)
            ordered[output->nulls + to + i] = result[output->nulls + from + i];
    }
}

/* Step two of the two-step result: each group moves the rows of its steps,
 * `group_steps` of them, to their places in table order. */
__kernel void vdbq_order(GLOBAL const u8 *control, GLOBAL const u8 *result,
                         GLOBAL u8 *ordered,
                         GLOBAL const struct descriptor *descriptors,
                         u32 steps, u32 group_steps)
{
    LOCAL u32 sum;
    GLOBAL const struct launch *launch = (GLOBAL const struct launch *)control;
    GLOBAL const struct output *outputs =
        (GLOBAL const struct output *)(control + launch->outputs);
    u32 first = (u32)get_group_id(0) * group_steps;
    u32 to = rows_before(descriptors, first, &sum);
    for (u32 s = first; s < first + group_steps && s < steps; s++) {
        for (u32 o = 0; o < launch->output_count; o++)
            move_rows(outputs + o, result, ordered, descriptors[s], to);
        to += descriptors[s].count;
    }
}

#endif
