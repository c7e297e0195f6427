/* SPDX-License-Identifier: MIT */
/*
 * The machine: the kernel that runs a program over rows. Follows cl/ops.cl
 * and, where it is specialised, the program's own text: run_constants() and
 * run_step().
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
#define BEFORE_GROUP(name)
#define STEP_HOST(name)
#define STEP_PURE(name) CASE(name)
#define STEP_CONSTANT(name)
#define STEP_FAULT(name) CASE(name)
#define STEP_JUMP(name) CASE(name)
#define STEP_VALIDITY(name) CASE(name)
#define STEP_OUTPUT(name) CASE(name)
#define STEP_END(name) CASE(name)
#define STEP_GROUP(name) CASE(name)
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

/* Sets out on the next tile. A tile without any rows is at row 0, so that eager
 * loads find something there. */
static void tile_begin(struct machine *m, u32 row, u32 row_end, i32 first)
{
    u32 left = row < row_end ? row_end - row : 0;
    m->row = left > 0 ? row : 0;
    i32 rows = left < VDBQ_TILE ? (i32)left : VDBQ_TILE;
    m->rows = rows;
    if (rows == VDBQ_TILE)
        EVERY m->pc[t] = first;
    else
        EVERY m->pc[t] = t < rows ? first : NOWHERE;
#if VDBQ_GROUP == 1
    m->live = rows;
    m->wakes = NOWHERE;
    m->listed = 0;
#endif
}

#if VDBQ_AXES > 1
/* Finds the rows of the tile's first cell: one division an axis. */
static void grid_begin(struct machine *m, GLOBAL const struct launch_head *launch)
{
    u64 cell = launch->cell_first + m->row;
    for (i32 i = AXES - 1; i > 0; i--) {
        u32 rows = launch->axis_rows[i - 1];
        m->axis_rows[i] = rows;
        m->axis[i] = (u32)(cell % rows);
        cell /= rows;
    }
    m->axis_rows[0] = 0; /* the left rows have an end, not a round */
    m->axis[0] = (u32)cell;
}
#endif

/* Points the machine at what the control block describes. */
static void machine_open(struct machine *m, GLOBAL const u8 *control,
                         GLOBAL u8 *result, GLOBAL struct progress *progress)
{
    GLOBAL const struct launch_head *launch = (GLOBAL const struct launch_head *)control;
    m->control = control;
    m->code = (GLOBAL const struct code *)(control + launch->code);
    m->constants = (GLOBAL const i64 *)(control + launch->constants);
    m->outputs = (GLOBAL const struct output *)(control + launch->outputs);
    m->build_inputs =
        (GLOBAL const struct build_input *)(control + launch->build_inputs);
    m->indexes = (GLOBAL const struct key_index *)(control + launch->indexes);
#if VDBQ_AXES > 1
    m->axes = 1;
    while (m->axes < VDBQ_AXES && launch->axis_rows[m->axes - 1] > 0)
        m->axes++;
#endif
    m->output_count = launch->output_count;
    m->result = result;
    m->progress = progress;
#if VDBQ_GROUP == 1
    m->descriptors = (GLOBAL struct descriptor *)(progress + 1);
#else
    m->states = (GLOBAL u32 *)(progress + 1);
#endif
    m->fault = NO_FAULT;
}

/* Finds the morsel that a step is of: its number. */
static u32 find_morsel(struct machine *m, GLOBAL const struct launch_head *launch)
{
    u32 morsel = 0;
    m->data = m->morsels[0];
    for (u32 p = 1; p < LAUNCH_MORSELS; p++)
        if (m->step >= launch->morsel_first[p]) {
            morsel = p;
            m->data = m->morsels[p];
        }
    return morsel;
}

/* Sets out on a morsel: finds its inputs. */
static void morsel_begin(struct machine *m, GLOBAL const struct launch_head *launch,
                         u32 morsel)
{
    GLOBAL const struct column_input *inputs =
        (GLOBAL const struct column_input *)((GLOBAL const u8 *)launch +
                                     launch->inputs);
    m->inputs = inputs + morsel * launch->input_count;
    m->first_step = launch->morsel_first[morsel];
    m->morsel_rows = launch->morsel_rows[morsel];
}

/* Sets out on a step of the morsel: finds its rows there. */
static void step_begin(struct machine *m, GLOBAL const struct launch_head *launch,
                       i32 first)
{
    u32 step = m->step - m->first_step;
    tile_begin(m, (step * VDBQ_GROUP + m->item) * VDBQ_TILE, m->morsel_rows, first);
#if VDBQ_GROUP > 1 && defined(VDBQ_SPECIALISED)
    m->refilled = 0;
    EVERY m->number[t] = NUMBER_OF(t);
#endif
#if VDBQ_AXES > 1
    grid_begin(m, launch);
#else
    UNUSED(launch);
#endif
}

#if VDBQ_GROUP > 1

/* Finds the step of a group, and its morsel, which the first item does for all.
 * Groups are counted as they set out: whoever waits for another's rows then
 * waits for one that runs. */
static u32 group_begin(struct machine *m, GLOBAL const struct launch_head *launch)
{
    LOCAL struct shared *shared = m->shared;
    if (m->item == 0) {
        m->step = atomic_inc(&m->progress->groups);
        shared->step = m->step;
        shared->morsel = find_morsel(m, launch);
        shared->data = m->data;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    m->step = shared->step;
    m->data = shared->data;
    return shared->morsel;
}

#if defined(VDBQ_SINK_OWN) || defined(VDBQ_SINK_COMMON)

/* Gives a work-group its own table, which is empty. */
static void own_begin(struct machine *m, GLOBAL const struct launch_head *launch)
{
    LOCAL u64 *words = (LOCAL u64 *)m->own;
    u32 count = launch->copy_bytes / 8 * launch->table_copies;
    m->low_bits = launch->low_bits;
    for (u32 i = m->item; i < count; i += VDBQ_GROUP)
        words[i] = 0;
}

/* Adds it to the device's. */
static void own_end(struct machine *m, GLOBAL const struct launch_head *launch)
{
#ifdef VDBQ_SINK_OWN
    for (u32 at = m->item * VDBQ_SINK_OWN; at < launch->table_bytes;
         at += VDBQ_GROUP * VDBQ_SINK_OWN)
        run_flush(m, at);
#else
    UNUSED(m);
    UNUSED(launch);
#endif
}

/* Counts the rows of the work-group among those of the launch. */
static void count_rows(struct machine *m)
{
    volatile LOCAL u32 *count = &m->shared->count;
    if (m->item == 0)
        *count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (m->counted > 0)
        atomic_add(count, m->counted);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (m->item == 0 && *count > 0)
        atomic_add(&m->progress->rows, *count);
}

#ifdef VDBQ_REFILL

/* Runs the rest of the program over rows that wait, once they fill a tile of each
 * item; at the end of the group's steps in a morsel over all. */
static void run_waiting(struct machine *m, i32 first, i32 end)
{
    const u32 least = m->ahead ? VDBQ_GROUP * VDBQ_TILE : 1;
    if (m->ahead && (m->step - m->first_step) % WAIT_STEPS != 0)
        return;
    for (;;) {
        barrier(CLK_LOCAL_MEM_FENCE);
        u32 count = m->shared->waiting;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (count < least)
            return;
        refill_begin(m, count, first);
        run_rest(m, first, end);
    }
}

#else
#define run_waiting(m, first, end)
#endif

/* Runs one group, which adds its rows to tables: neighbouring steps, for which
 * nobody waits. */
static void run_group(struct machine *m, GLOBAL const struct launch_head *launch)
{
    i32 first = (i32)launch->code_first, end = (i32)launch->code_end;
    u32 next = 0, each = launch->steps_per_item;
    u32 step_end = ((u32)get_group_id(0) + 1) * each;
    if (step_end > launch->steps)
        step_end = launch->steps;
    run_constants(m, first, end);
    own_begin(m, launch);
    m->counted = 0;
    if (m->item == 0)
        m->shared->waiting = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (m->step = (u32)get_group_id(0) * each; m->step < step_end; m->step++) {
        if (m->step >= next) {
            u32 morsel = find_morsel(m, launch);
            morsel_begin(m, launch, morsel);
            next = morsel + 1 < LAUNCH_MORSELS
                       ? launch->morsel_first[morsel + 1]
                       : NO_STEP;
        }
        m->ahead = m->step + 1 < step_end && m->step + 1 < next;
        step_begin(m, launch, first);
        run_step(m, first, end);
        run_waiting(m, first, end);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    own_end(m, launch);
    count_rows(m);
}

#else

/* Runs one group, which has one step; all its work-items call it. A loop would
 * cost registers (H200: 64 instead of 48). */
static void run_group(struct machine *m, GLOBAL const struct launch_head *launch)
{
    i32 first = (i32)launch->code_first, end = (i32)launch->code_end;
    u32 morsel = group_begin(m, launch);
    if (m->step >= launch->steps)
        return;
    run_constants(m, first, end);
    m->ahead = 0;
    morsel_begin(m, launch, morsel);
    step_begin(m, launch, first);
    run_step(m, first, end);
}

#endif

#else

/* Runs the steps of one group, which is one item. */
static void run_group(struct machine *m, GLOBAL const struct launch_head *launch,
                      u32 group)
{
    i32 first = (i32)launch->code_first, end = (i32)launch->code_end;
    u32 step = group * launch->steps_per_item;
    m->place = step * VDBQ_TILE;
    table_begin(m);
    run_constants(m, first, end);
    for (u32 i = 0; i < launch->steps_per_item; i++) {
        if (step + i >= launch->steps)
            break;
        m->step = step + i;
        morsel_begin(m, launch, find_morsel(m, launch));
        step_begin(m, launch, first);
        run_step(m, first, end);
    }
    table_end(m);
}

#endif

#ifdef __OPENCL_C_VERSION__

#if VDBQ_GROUP == 1
/* The number of an item's group among those with steps; NO_STEP: it has none. A
 * launch may have more items than it needs: those with steps lie evenly among
 * the others, for neighbours are dealt to one core. */
static u32 group_of_item(GLOBAL const struct launch_head *launch)
{
    u64 item = get_group_id(0), items = get_num_groups(0);
    if (launch->steps == 0)
        return NO_STEP;
    u64 groups = (launch->steps + launch->steps_per_item - 1)
                 / launch->steps_per_item;
    u64 group = item * groups / items;
    return item == 0 || (item - 1) * groups / items < group ? (u32)group
                                                            : NO_STEP;
}
#endif

__kernel __attribute__((reqd_work_group_size(VDBQ_GROUP, 1, 1))) void
vdbq_machine(GLOBAL u8 *control, GLOBAL u8 *result, GLOBAL const u8 *build_side,
             GLOBAL const u8 *morsel0, GLOBAL const u8 *morsel1,
             GLOBAL const u8 *morsel2, GLOBAL const u8 *morsel3,
             GLOBAL const u8 *morsel4, GLOBAL const u8 *morsel5,
             GLOBAL const u8 *morsel6, GLOBAL const u8 *morsel7,
             GLOBAL const u8 *morsel8, GLOBAL const u8 *morsel9,
             GLOBAL const u8 *morsel10, GLOBAL const u8 *morsel11,
             GLOBAL const u8 *morsel12, GLOBAL const u8 *morsel13,
             GLOBAL const u8 *morsel14, GLOBAL const u8 *morsel15,
             u64 progress_at)
{
    GLOBAL struct progress *progress =
        (GLOBAL struct progress *)(control + progress_at);
#if VDBQ_GROUP == 1
    u32 group = group_of_item((GLOBAL const struct launch_head *)control);
    if (group == NO_STEP)
        return;
#endif
    struct machine m;
    m.build_side = build_side;
    m.morsels[0] = morsel0;
    m.morsels[1] = morsel1;
    m.morsels[2] = morsel2;
    m.morsels[3] = morsel3;
    m.morsels[4] = morsel4;
    m.morsels[5] = morsel5;
    m.morsels[6] = morsel6;
    m.morsels[7] = morsel7;
    m.morsels[8] = morsel8;
    m.morsels[9] = morsel9;
    m.morsels[10] = morsel10;
    m.morsels[11] = morsel11;
    m.morsels[12] = morsel12;
    m.morsels[13] = morsel13;
    m.morsels[14] = morsel14;
    m.morsels[15] = morsel15;
#if VDBQ_GROUP > 1
    LOCAL struct shared shared;
    m.shared = &shared;
#if defined(VDBQ_SINK_OWN)
    LOCAL u64 own[VDBQ_SINK_BYTES / 8];
    m.own = (LOCAL u8 *)own;
#elif !defined(VDBQ_SINK_COMMON)
    LOCAL i64 packed[VDBQ_GROUP * VDBQ_TILE];
    m.packed = packed;
#endif
#ifdef VDBQ_REFILL
    LOCAL u32 waiting[VDBQ_REFILL * WAITING_ROWS];
    m.waiting = waiting;
#endif
#endif
    m.item = (u32)get_local_id(0);
    machine_open(&m, control, result, progress);
#if VDBQ_GROUP > 1
    run_group(&m, (GLOBAL const struct launch_head *)control);
#else
    run_group(&m, (GLOBAL const struct launch_head *)control, group);
#endif
    if (m.fault != NO_FAULT &&
        atomic_min(&progress->fault, m.fault) > m.fault)
        progress->fault_at = m.fault_at;
}

#endif
