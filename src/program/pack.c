/* SPDX-License-Identifier: MIT */
/*
 * Programs as the machine reads them: numbers only. Constants get places of
 * their own, columns become inputs.
 */
#include "program/program.h"

#include <assert.h>
#include <string.h>

#include "cl/bits.h"
#include "cl/tablet.h"
#include "program/pack_words.h"

/* The bits by which a device knows a constant. */
static int64_t constant_bits(const struct instruction *in)
{
    bool real = in->op == OP_FLOAT_F32 || in->op == OP_FLOAT_F64;
    return real ? (int64_t)bits_of_f64(in->real) : in->integer;
}

/* A list of columns in the order of cursors and columns, so that what lies
 * side by side in a tablet is moved in one piece. */
struct input_list {
    struct program_input *inputs;
    unsigned *count;
};

/* Where a column is, or is to be. */
static unsigned input_place(struct input_list list, int cursor, int column)
{
    unsigned i = 0;
    while (i < *list.count
           && (list.inputs[i].cursor < cursor
               || (list.inputs[i].cursor == cursor
                   && list.inputs[i].column < column)))
        i++;
    return i;
}

/* Adds a column, if that is new. */
static void add_input(struct input_list list, int cursor, int column)
{
    unsigned i = input_place(list, cursor, column);
    struct program_input *at = &list.inputs[i];
    if (i < *list.count && at->cursor == cursor && at->column == column)
        return;
    memmove(at + 1, at, (*list.count - i) * sizeof *at);
    *at = (struct program_input){ .cursor = cursor, .column = column };
    ++*list.count;
}

/* The list that the column an instruction reads belongs to, and the column;
 * false: it reads none. */
static bool find_list(struct program_pack *pack, const struct instruction *in,
                      struct input_list *list, int *column)
{
    enum op_form form = op_facts(in->op)->form;
    *column = form == FORM_ROWID ? -1 : form == FORM_PROBE ? in->d : in->b;
    if (form == FORM_PROBE)
        *list = (struct input_list){ pack->indexes, &pack->index_count };
    else if (in->c > 0)
        *list = (struct input_list){ pack->build_inputs, &pack->build_count };
    else
        *list = (struct input_list){ pack->inputs, &pack->input_count };
    return form == FORM_PROBE || form == FORM_COLUMN_AT || form == FORM_COLUMN
           || form == FORM_ROWID;
}

static void add_slot(struct program_pack *pack, int pc, unsigned place)
{
    pack->slots[pack->slot_count++] =
        (struct program_slot){ .pc = pc, .place = place };
}

/* A constant whose value a run knows. */
static i32 open_constant(struct program_pack *pack, int pc)
{
    pack->constants[pack->constant_count] = 0;
    add_slot(pack, pc, pack->constant_count);
    return (i32)pack->constant_count++;
}

/* The number of the table that an instruction looks up. */
static i32 lookup_number(const struct program *program,
                         struct program_pack *pack, int pc)
{
    const struct instruction *in = program_at(program, pc);
    int words = pack_words_column(program, in->b);
    for (unsigned i = 0; i < pack->slot_count; i++) {
        const struct instruction *other =
            program_at(program, pack->slots[i].pc);
        if (other->op == in->op && pack->slots[i].words == words
            && strcmp(other->name, in->name) == 0)
            return (i32)pack->slots[i].place;
    }
    add_slot(pack, pc, pack->lookup_count);
    pack->slots[pack->slot_count - 1].words = words;
    return (i32)pack->lookup_count++;
}

static bool is_result(const struct program *program, int register_)
{
    for (unsigned i = 0; i < program_results(program); i++) {
        struct program_result result = program_result(program, i);
        if (result.register_ == register_ || result.null_register == register_)
            return true;
    }
    return false;
}

/* Whether a register is always 0. */
static bool is_zero(const struct program *program, int register_)
{
    for (size_t pc = 0; pc < program->code.count; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        if (in->op == OP_INTEGER_I32 && in->a == register_)
            return in->integer == 0;
    }
    return false;
}

bool program_only_tests(const struct program *program, int register_, int end)
{
    for (int pc = 0; pc < end; pc++) {
        const struct instruction *in = program_at(program, pc);
        if (instruction_reads(in, register_)
            && (in->op != OP_LT_I32 || in->a != register_
                || !is_zero(program, in->b)))
            return false;
    }
    return true;
}

static bool only_tested(const struct program *program, int register_)
{
    return program_only_tests(program, register_, (int)program->code.count)
           && !is_result(program, register_);
}

static void pack_instruction(const struct program *program, int pc,
                             struct program_pack *pack)
{
    const struct instruction *in = program_at(program, pc);
    struct code *code = &pack->code[pc];
    struct input_list list;
    int column;
    *code = (struct code){
        .op = (i32)in->op, .a = in->a, .b = in->b, .c = in->c, .d = in->d
    };
    if (find_list(pack, in, &list, &column)) {
        i32 place = (i32)input_place(list, in->c, column);
        *(op_facts(in->op)->form == FORM_PROBE ? &code->d : &code->b) = place;
    }
    switch (op_facts(in->op)->form) {
    case FORM_CONSTANT:
        code->b = (i32)pack->constant_count;
        pack->constants[pack->constant_count++] = constant_bits(in);
        break;
    case FORM_TEXT:
    case FORM_PARAMETER:
        code->b = open_constant(pack, pc);
        break;
    case FORM_LOOKUP:
        code->c = lookup_number(program, pack, pc);
        break;
    case FORM_PROBE:
        code->c = only_tested(program, in->a) ? PROBE_TESTED : 0;
        break;
    default:
        break;
    }
}

/* --------------------------------------------------------------- jumps -- */

/* The opcode that jumps where `op` does not; OPCODES: there is none. Of numbers
 * that are none both may be false. */
static enum opcode opposite(enum opcode op)
{
    switch (op) {
#define PAIR(one, other)                                                       \
    case OP_##one:                                                             \
        return OP_##other;                                                     \
    case OP_##other:                                                           \
        return OP_##one;
        PAIR(EQ_I32, NEQ_I32)
        PAIR(EQ_I64, NEQ_I64)
        PAIR(EQ_F32, NEQ_F32)
        PAIR(EQ_F64, NEQ_F64)
        PAIR(LT_I32, GE_I32)
        PAIR(LT_I64, GE_I64)
        PAIR(LE_I32, GT_I32)
        PAIR(LE_I64, GT_I64)
#undef PAIR
    default:
        return OPCODES;
    }
}

/* Turns a jump over Invalid into the opposite one, which makes rows invalid
 * itself: one step for each tile, and nobody sleeps. False: no memory. */
static bool turn_jumps(const struct program *program, struct arena *arena,
                       struct program_pack *pack)
{
    int count = (int)program->code.count;
    bool *landed = arena_alloc(arena, (size_t)count + 1); /* on, by jumps */
    if (landed == NULL)
        return false;
    memset(landed, 0, (size_t)count + 1);
    for (int pc = 0; pc + 1 < count; pc++) {
        struct code *code = &pack->code[pc];
        enum opcode turned = opposite((enum opcode)code->op);
        if (op_facts((enum opcode)code->op)->effect == EFFECT_JUMP)
            landed[code->c] = true;
        if (turned == OPCODES || code->d != 1 || code->c != pc + 2
            || code[1].op != OP_INVALID || landed[pc + 1])
            continue;
        code->op = (i32)turned;
        code->d = 0;
        code[1].op = OP_CONVERGE; /* does nothing */
    }
    return true;
}

static bool loads_integers(enum opcode op)
{
    return op == OP_COLUMN_I32 || op == OP_COLUMN_I64 || op == OP_ROWID_I32
           || op == OP_ROWID_I64;
}

/* Finds the results that are integers as a column of the only axis has them.
 * Their registers are neighbours; the first load into one counts. */
static void find_result_inputs(const struct program *program,
                               struct program_pack *pack)
{
    int first = program_result(program, 0).register_;
    for (unsigned i = 0; i < pack->result_count; i++)
        pack->result_inputs[i] = -1;
    if (program_axes(program) != 1)
        return;
    for (size_t pc = 0; pc < program->code.count; pc++) {
        const struct code *code = &pack->code[pc];
        unsigned result = (unsigned)code->a - (unsigned)first;
        if (loads_integers((enum opcode)code->op) && result < pack->result_count
            && pack->result_inputs[result] < 0)
            pack->result_inputs[result] = code->b;
    }
}

static enum vdbq_status make_pack(const struct program *program,
                                  struct arena *arena,
                                  struct program_pack *pack,
                                  struct error *error)
{
    size_t count = program->code.count;
    *pack = (struct program_pack){
        .code = arena_alloc(arena, count * sizeof *pack->code),
        .constants = arena_alloc(arena, count * sizeof *pack->constants),
        .inputs = arena_alloc(arena, count * sizeof *pack->inputs),
        .uses = arena_alloc(arena, count * sizeof *pack->uses),
        .build_inputs = arena_alloc(arena, count * sizeof *pack->inputs),
        .indexes = arena_alloc(arena, count * sizeof *pack->inputs),
        .slots = arena_alloc(arena, count * sizeof *pack->slots),
        .result_inputs = arena_alloc(arena, program_results(program)
                                                * sizeof *pack->result_inputs),
        .shown_inputs = arena_alloc(arena, program_results(program)
                                               * sizeof *pack->shown_inputs),
        .result_count = program_results(program),
    };
    if (!pack->code || !pack->constants || !pack->inputs || !pack->uses
        || !pack->build_inputs || !pack->indexes || !pack->slots
        || !pack->result_inputs || !pack->shown_inputs)
        return error_no_memory(error);
    for (size_t pc = 0; pc < count; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        struct input_list list;
        int column;
        if (find_list(pack, in, &list, &column))
            add_input(list, in->c, column);
    }
    for (size_t pc = 0; pc < count; pc++)
        pack_instruction(program, (int)pc, pack);
    if (pack->result_count > 0)
        find_result_inputs(program, pack);
    return turn_jumps(program, arena, pack)
                   && pack_word_uses(program, arena, pack)
               ? VDBQ_OK
               : error_no_memory(error);
}

enum vdbq_status program_pack(const struct program *program,
                              struct arena *arena, struct program_pack *pack,
                              struct error *error)
{
    if (program->packed == NULL)
        return make_pack(program, arena, pack, error);
    *pack = *program->packed;
    return VDBQ_OK;
}

enum vdbq_status program_keep_pack(struct program *program, struct error *error)
{
    if (program->packed != NULL)
        return VDBQ_OK;
    struct program_pack *pack = arena_alloc(&program->arena, sizeof *pack);
    if (pack == NULL)
        return error_no_memory(error);
    enum vdbq_status status = make_pack(program, &program->arena, pack, error);
    if (status == VDBQ_OK)
        program->packed = pack;
    return status;
}
