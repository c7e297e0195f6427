/* SPDX-License-Identifier: MIT */
/*
 * Lays out control blocks: struct launch_head, inputs, outputs and places of
 * lookup tables first, then code, constants, what is known of build rows, and
 * lookup tables; order codes come last, with the tables of own words.
 */
#include "exec/launch/control.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "cl/tablet.h"

/* Bytes of a lookup table of `count` values. */
static u64 table_size(unsigned width, u32 count)
{
    return TABLET_ALIGNED(sizeof(struct lookup) + (u64)width * count);
}

u64 own_table_size(unsigned width, u32 count)
{
    return table_size(width, count);
}

/* Bytes of the lookup tables that are the same for all launches. */
static u64 tables_size(const struct program_pack *pack,
                       const struct run_values *values)
{
    u64 size = 0;
    for (unsigned i = 0; i < pack->lookup_count; i++)
        size += values->lookups[i].own > 0
                    ? 0
                    : table_size(values->lookups[i].width,
                                 values->lookups[i].count);
    return size;
}

/* Where the lookup tables themselves are; the order codes of build rows
 * follow. */
static u64 tables_at(const struct launch_head *launch,
                     const struct program_pack *pack)
{
    return TABLET_ALIGNED(launch->indexes
                          + pack->index_count * sizeof(struct key_index));
}

/* Bytes of the order codes of build rows. */
static u64 build_order_codes_size(const struct program_pack *pack,
                                  const struct run_build_side *build_side)
{
    u64 size = 0;
    for (unsigned i = 0;
         i < pack->build_count && build_side->order_codes != NULL; i++)
        size += order_codes_size(&build_side->order_codes[i]);
    return size;
}

/* Where the parts start. */
static struct launch_head layout(const struct program *program,
                                 const struct program_pack *pack,
                                 const struct run_values *values,
                                 const struct run_build_side *build_side,
                                 struct control *control)
{
    struct program_part part = program_part(program);
    struct launch_head launch = {
        .code_first = (u32)part.first,
        .code_end = (u32)part.converge,
        .input_count = pack->input_count,
        .output_count = program_results(program),
    };
    launch.inputs = TABLET_ALIGNED(sizeof launch);
    launch.outputs = TABLET_ALIGNED(launch.inputs
                                    + (u64)LAUNCH_MORSELS * pack->input_count
                                          * sizeof(struct column_input));
    launch.lookups = TABLET_ALIGNED(
        launch.outputs + launch.output_count * sizeof(struct output));
    launch.code =
        TABLET_ALIGNED(launch.lookups + pack->lookup_count * sizeof(u64));
    launch.constants =
        TABLET_ALIGNED(launch.code + program->code.count * sizeof(struct code));
    launch.build_inputs =
        TABLET_ALIGNED(launch.constants + pack->constant_count * sizeof(i64));
    launch.indexes = TABLET_ALIGNED(
        launch.build_inputs + pack->build_count * sizeof(struct build_input));
    control->head_size = launch.code;
    control->fixed_size = tables_at(&launch, pack) + tables_size(pack, values)
                          + build_order_codes_size(pack, build_side);
    control->order_codes_size = values->order_codes_bytes;
    control->lookups = values->lookups;
    control->lookup_count = pack->lookup_count;
    return launch;
}

/* Writes a lookup table; gives the place behind it. */
static u64 put_table(u8 *block, u64 at, const void *table, unsigned width,
                     u32 count)
{
    struct lookup head = { .count = count, .flags = width == 1 };
    memcpy(block + at, &head, sizeof head);
    parallel_copy(block + at + sizeof head, table, (size_t)width * count);
    return at + table_size(width, count);
}

/* Fills in what the program leaves open; gives the place behind. */
static u64 put_values(u8 *block, const struct program *program,
                      const struct program_pack *pack,
                      const struct run_values *values)
{
    struct launch_head *launch = control_head(block);
    i64 *constants = (i64 *)(void *)(block + launch->constants);
    u64 *places = control_lookups(block);
    u64 at = tables_at(launch, pack);
    for (unsigned i = 0; i < pack->slot_count; i++) {
        const struct program_slot *slot = &pack->slots[i];
        enum opcode op = program_at(program, slot->pc)->op;
        if (op_facts(op)->form != FORM_LOOKUP)
            constants[slot->place] = values->slots[i];
    }
    for (unsigned i = 0; i < pack->lookup_count; i++) {
        const struct run_lookup *lookup = &values->lookups[i];
        if (lookup->own > 0)
            continue;
        places[i] = at;
        at = put_table(block, at, lookup->values, lookup->width, lookup->count);
    }
    return at;
}

/* Describes the build rows; their order codes go to `at`. */
static void put_build(u8 *block, u64 at, const struct program_pack *pack,
                      const struct run_build_side *build_side)
{
    struct launch_head *launch = control_head(block);
    struct build_input *inputs =
        (struct build_input *)(void *)(block + launch->build_inputs);
    if (pack->index_count > 0)
        memcpy(block + launch->indexes, build_side->indexes,
               pack->index_count * sizeof *build_side->indexes);
    for (unsigned i = 0; i < pack->build_count; i++) {
        inputs[i] = build_side->inputs[i];
        inputs[i].order_codes = 0;
        if (build_side->order_codes == NULL
            || build_side->order_codes[i].order_codes == NULL)
            continue;
        inputs[i].order_codes = at;
        at = put_table(block, at, build_side->order_codes[i].order_codes,
                       sizeof(i32), build_side->order_codes[i].count);
    }
}

enum vdbq_status control_init(struct control *control,
                              const struct program *program,
                              const struct program_pack *pack,
                              const struct run_values *values,
                              const struct run_build_side *build_side,
                              struct arena *arena, struct error *error)
{
    struct launch_head launch =
        layout(program, pack, values, build_side, control);
    assert(control->head_size <= control->fixed_size);
    assert(launch.outputs <= control->head_size);
    u8 *bytes = arena_alloc(arena, control->fixed_size);
    control->bytes = bytes;
    if (bytes == NULL)
        return error_no_memory(error);
    memcpy(bytes, &launch, sizeof launch);
    memcpy(bytes + launch.code, pack->code,
           program->code.count * sizeof(struct code));
    memcpy(bytes + launch.constants, pack->constants,
           pack->constant_count * sizeof(i64));
    put_build(bytes, put_values(bytes, program, pack, values), pack,
              build_side);
    return VDBQ_OK;
}

void control_values(struct control *control, const struct program *program,
                    const struct program_pack *pack,
                    const struct run_values *values)
{
    assert(pack->lookup_count == 0 && control->lookup_count == 0);
    put_values(control->bytes, program, pack, values);
}

u64 order_codes_size(const struct order_codes *order_codes)
{
    return order_codes->order_codes == NULL
               ? 0
               : table_size(sizeof(i32), order_codes->count);
}

u64 control_order_codes(u8 *block, u64 at,
                        const struct order_codes *order_codes, u32 before,
                        struct column_input *input)
{
    if (order_codes->count == 0)
        before = order_codes->before;
    if (order_codes->order_codes == NULL && before > 0)
        input->order_codes = ORDER_CODES_ADD | before;
    if (order_codes->order_codes == NULL)
        return at;
    input->order_codes = at;
    return put_table(block, at, order_codes->order_codes, sizeof(i32),
                     order_codes->count);
}

/* Writes the values of a table that the morsels' own words have. */
static u64 put_own_table(const struct run_lookup *lookup, u8 *block, u64 at,
                         const struct order_codes *const *order_codes)
{
    struct lookup *head = (struct lookup *)(void *)(block + at);
    u8 *to = block + at + sizeof *head;
    *head = (struct lookup){ .flags = lookup->width == 1 };
    for (unsigned i = 0; i < LAUNCH_MORSELS && order_codes[i] != NULL; i++) {
        const struct order_codes *words = &order_codes[i][lookup->own - 1];
        u64 size = (u64)lookup->width * words->count;
        assert(words->before + words->count <= lookup->count);
        parallel_copy(
            to, (const u8 *)lookup->values + (u64)lookup->width * words->before,
            size);
        to += size;
        head->count += words->count;
    }
    return at + table_size(lookup->width, head->count);
}

u64 control_own_tables(const struct control *control, u8 *block, u64 at,
                       const struct order_codes *const *order_codes, u8 *head)
{
    for (unsigned i = 0; i < control->lookup_count; i++)
        if (control->lookups[i].own > 0) {
            control_lookups(head)[i] = at;
            at = put_own_table(&control->lookups[i], block, at, order_codes);
        }
    return at;
}

struct launch_head *control_head(u8 *block)
{
    assert((uintptr_t)block % _Alignof(struct launch_head) == 0);
    return (struct launch_head *)(void *)block;
}

struct column_input *control_inputs(u8 *block, unsigned morsel)
{
    assert(morsel < LAUNCH_MORSELS);
    const struct launch_head *launch = control_head(block);
    assert(launch->inputs % _Alignof(struct column_input) == 0);
    return (struct column_input *)(void *)(block + launch->inputs)
           + morsel * launch->input_count;
}

struct output *control_outputs(u8 *block)
{
    return (struct output *)(void *)(block + control_head(block)->outputs);
}

u64 *control_lookups(u8 *block)
{
    return (u64 *)(void *)(block + control_head(block)->lookups);
}
