/* SPDX-License-Identifier: MIT */
/*
 * Constant folding. An expression of constants is made a program of its own
 * and run by the machine, so that its value is what the machine would give
 * for a row: every operator has one meaning.
 */
#include "plan/make/fold.h"

#include <assert.h>
#include <string.h>

#include "device/host/host_machine.h"
#include "plan/code/codegen.h"
#include "plan/tree/binder.h"
#include "plan/tree/expression.h"
#include "plan/tree/range.h"

/* The control block of a launch over one row, and all it points to. */
struct control {
    struct launch_head launch;
    struct output output;
    /* the code and the constants follow */
};

/* Where the machine writes. */
struct outcome {
    union {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } value;
    uint8_t null[8];
    struct progress progress;
    struct descriptor descriptor; /* follows */
};

static enum vdbq_status run(struct binder *binder, struct program *program,
                            struct outcome *outcome);
static struct control *control_block(const struct program *program,
                                     const struct program_pack *pack,
                                     struct arena *arena);
static void become(struct expression *expression,
                   const struct outcome *outcome);

enum vdbq_status fold(struct binder *binder, struct expression *expression)
{
    struct codegen_result result = { .name = "", .expression = expression };
    struct codegen_source nowhere = { 0 };
    struct outcome outcome;
    struct program program;
    enum vdbq_status status = binder->error->status;

    assert(expression->kind > EXPRESSION_PARAMETER
           && expression->kind <= EXPRESSION_CHECK);
    if (status != VDBQ_OK) /* checking a program would forget it */
        return status;
    program_init(&program);
    status = codegen_select(binder, &nowhere, NULL, &result, 1, &program);
    if (status == VDBQ_OK)
        status = program_check(&program, binder->error);
    if (status == VDBQ_OK)
        status = run(binder, &program, &outcome);
    if (status == VDBQ_OK)
        become(expression, &outcome);
    program_finish(&program);
    return status;
}

void fold_finish(struct binder *binder)
{
    if (binder->machine != NULL)
        host_machine_destroy(binder->machine);
    binder->machine = NULL;
}

static enum vdbq_status run(struct binder *binder, struct program *program,
                            struct outcome *outcome)
{
    static const u8 *const no_morsels[LAUNCH_MORSELS];
    struct program_pack pack;
    struct control *control;

    if (binder->machine == NULL)
        binder->machine = host_machine_create();
    if (binder->machine == NULL)
        return error_no_memory(binder->error);
    if (program_pack(program, &program->arena, &pack, binder->error) != VDBQ_OK)
        return binder->error->status;
    control = control_block(program, &pack, &program->arena);
    if (control == NULL)
        return error_no_memory(binder->error);
    *outcome = (struct outcome){ .progress.fault = NO_FAULT };
    host_machine_run(binder->machine, (const u8 *)control, (u8 *)outcome,
                     &outcome->progress, NULL, no_morsels, 1);
    if (outcome->progress.fault != NO_FAULT)
        return program_fault(program, (int)outcome->progress.fault_at,
                             binder->error);
    return VDBQ_OK;
}

static struct control *control_block(const struct program *program,
                                     const struct program_pack *pack,
                                     struct arena *arena)
{
    struct program_part part = program_part(program);
    struct program_result result = program_result(program, 0);
    size_t code_size = program->code.count * sizeof *pack->code;
    size_t constants_size = pack->constant_count * sizeof *pack->constants;
    struct control *control =
        arena_alloc(arena, sizeof *control + code_size + constants_size);

    if (control == NULL)
        return NULL;
    control->launch =
        (struct launch_head){ .morsel_first = ONE_MORSEL,
                              .morsel_rows = { 1 },
                              .code = sizeof *control,
                              .constants = sizeof *control + code_size,
                              .outputs = offsetof(struct control, output),
                              .code_first = (u32)part.first,
                              .code_end = (u32)part.converge,
                              .output_count = 1,
                              .steps = 1,
                              .steps_per_item = 1 };
    control->output =
        (struct output){ .values = offsetof(struct outcome, value),
                         .nulls = offsetof(struct outcome, null),
                         .register_ = result.register_,
                         .null_register = result.null_register,
                         .width = type_width(result.type) };
    memcpy(control + 1, pack->code, code_size);
    memcpy((char *)(control + 1) + code_size, pack->constants, constants_size);
    return control;
}

/* Makes the expression the constant that was computed. */
static void become(struct expression *expression, const struct outcome *outcome)
{
    assert(expression->kind >= EXPRESSION_OPERATOR
           && expression->kind <= EXPRESSION_CHECK);
    expression->kind = EXPRESSION_CONSTANT;
    memset(&expression->constant, 0, sizeof expression->constant);
    expression->constant.null = outcome->null[0] != 0;
    expression->left = expression->right = expression->condition = NULL;
    expression->size = 1;
    expression->null_at_zero = expression->null_at_nan = false;
    expression->checked = expression->faults = false;
    memset(&expression->range, 0, sizeof expression->range);
    switch (type_machine((enum vdbq_type)expression->type)) {
    case TYPE_I32:
        expression->constant.integer = outcome->value.i32;
        break;
    case TYPE_F32:
        expression->constant.real = (double)outcome->value.f32;
        break;
    case TYPE_F64:
        expression->constant.real = outcome->value.f64;
        break;
    default:
        expression->constant.integer = outcome->value.i64;
        break;
    }
    range_constant(expression);
}
