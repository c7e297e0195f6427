/* SPDX-License-Identifier: MIT */
/*
 * One launch of the host machine: a control block, and the columns behind one
 * another in one memory, plain.
 */
#include "plan/code/host_run.h"

#include <assert.h>
#include <string.h>

#include "cl/tablet.h"
#include "device/host/host_machine.h"
#include "program/program.h"

/* The control block of a launch, and all it points to. */
struct control {
    struct launch_head launch;
    struct output output;
    /* inputs, code, constants and the columns' values follow */
};

/* Bytes of a column in the memory of all. */
enum { COLUMN_BYTES = HOST_RUN_ROWS * 9 };

static struct control *control_block(const struct program *program,
                                     const struct program_pack *pack,
                                     uint32_t rows, struct arena *arena);
static u8 *put_columns(const struct program_pack *pack,
                       const struct host_rows *rows, struct control *control,
                       struct arena *arena);

enum vdbq_status host_run(struct machine **machine, struct program *program,
                          const struct host_rows *rows,
                          struct host_result *result, struct error *error)
{
    assert(rows->count > 0 && rows->count <= HOST_RUN_ROWS);
    struct host_machine_arguments arguments = { 0 };
    struct program_pack pack;
    struct control *control;

    if (*machine == NULL)
        *machine = host_machine_create();
    if (*machine == NULL)
        return error_no_memory(error);
    if (program_pack(program, &program->arena, &pack, error) != VDBQ_OK)
        return error->status;
    control = control_block(program, &pack, rows->count, &program->arena);
    if (control != NULL)
        arguments.morsels[0] =
            put_columns(&pack, rows, control, &program->arena);
    if (arguments.morsels[0] == NULL)
        return error_no_memory(error);
    result->progress = (struct progress){ .fault = NO_FAULT };
    memset(result->nulls, 0, sizeof result->nulls);
    arguments.control = (const u8 *)control;
    arguments.result = (u8 *)result;
    arguments.progress = &result->progress;
    host_machine_run(*machine, &arguments, 0, 1);
    host_machine_report(*machine, &result->progress);
    if (result->progress.fault != NO_FAULT)
        return program_fault(program, (int)result->progress.fault_at, error);
    return VDBQ_OK;
}

static struct control *control_block(const struct program *program,
                                     const struct program_pack *pack,
                                     uint32_t rows, struct arena *arena)
{
    struct program_part part = program_part(program);
    struct program_result result = program_result(program, 0);
    size_t inputs_size = pack->input_count * sizeof(struct column_input);
    size_t code_size = program->code.count * sizeof *pack->code;
    size_t constants_size = pack->constant_count * sizeof *pack->constants;
    struct control *control = arena_alloc(
        arena, sizeof *control + inputs_size + code_size + constants_size);
    unsigned step_rows = host_machine_step_rows();
    u32 steps = (rows + step_rows - 1) / step_rows;

    if (control == NULL)
        return NULL;
    control->launch =
        (struct launch_head){ .morsel_first = ONE_MORSEL,
                              .morsel_rows = { rows },
                              .inputs = sizeof *control,
                              .code = sizeof *control + inputs_size,
                              .constants =
                                  sizeof *control + inputs_size + code_size,
                              .outputs = offsetof(struct control, output),
                              .code_first = (u32)part.first,
                              .code_end = (u32)part.converge,
                              .input_count = pack->input_count,
                              .output_count = 1,
                              .steps = steps,
                              .steps_per_item = steps };
    control->output =
        (struct output){ .values = offsetof(struct host_result, values),
                         .nulls = offsetof(struct host_result, nulls),
                         .register_ = result.register_,
                         .null_register = result.null_register,
                         .width = type_width(result.type) };
    memcpy((char *)control + control->launch.code, pack->code, code_size);
    memcpy((char *)control + control->launch.constants, pack->constants,
           constants_size);
    return control;
}

/* Copies the columns that the program reads, and says where they are. NULL: no
 * memory. */
static u8 *put_columns(const struct program_pack *pack,
                       const struct host_rows *rows, struct control *control,
                       struct arena *arena)
{
    u8 *memory =
        arena_alloc(arena, (size_t)COLUMN_BYTES * (pack->input_count + 1));
    struct column_input *inputs =
        (struct column_input *)(void *)((char *)control
                                        + control->launch.inputs);

    for (unsigned i = 0; memory != NULL && i < pack->input_count; i++) {
        const struct vdbq_vector *column =
            &rows->columns[pack->inputs[i].column];
        u32 width = (u32)type_bytes(column->type);
        u64 at = (u64)COLUMN_BYTES * i;
        memcpy(memory + at, column->values, (size_t)width * rows->count);
        inputs[i] = (struct column_input){
            .values = at, .width = width, .encoding = ENCODING_PLAIN, .bits = 8
        };
        if (column->nulls == NULL)
            continue;
        inputs[i].nulls = at + (u64)HOST_RUN_ROWS * 8;
        memcpy(memory + inputs[i].nulls, column->nulls, rows->count);
    }
    return memory;
}
