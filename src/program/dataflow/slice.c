/* SPDX-License-Identifier: MIT */
/*
 * Slices a program by one of its cursors.
 *
 * The rows' part falls into sections: a section ends where no jump leads over,
 * but for those that take a row's validity and go straight to Result. Every
 * row that is still valid runs through all sections, so that a section in
 * which all jumps depend on one cursor alone is a condition on its rows. What
 * can fail is never part of a slice: the whole program may not get so far.
 */
#include "program/dataflow/slice.h"

#include <string.h>

struct slicing {
    const struct program *program; /* that is sliced */
    struct program *slice;         /* that is made */
    int cursor;                    /* whose part is taken */
    int first, result; /* program counters in the whole program          */
    bool *other;       /* of each instruction: its value depends on
                           another cursor, or it may fail                 */
    bool *wanted;      /* ... is part of the slice                       */
    int *places;       /* ... and where it is there                      */
    int *writers;      /* of each register, the instruction              */
    int *registers;    /* of each register, its number in the slice      */
    const struct program_input *inputs; /* of the cursor                    */
    unsigned input_count;               /* column inputs of the slice */
};

const struct program_input *program_axis_inputs(const struct program_pack *pack,
                                                int cursor, unsigned *count)
{
    const struct program_input *inputs =
        cursor == 0 ? pack->inputs : pack->build_inputs;
    const struct program_input *end =
        inputs + (cursor == 0 ? pack->input_count : pack->build_count);
    while (inputs < end && inputs->cursor != cursor)
        inputs++;
    *count = 0;
    while (inputs + *count < end && inputs[*count].cursor == cursor)
        ++*count;
    return inputs;
}

/* ---------------------------------------------------------------- what -- */

/* The operands of an instruction, by the letters of its form. */
static int *operand(struct instruction *in, int i)
{
    int *const operands[] = { &in->a, &in->b, &in->c, &in->d };
    return operands[i];
}

/* Whether the operand of this letter is a register that is read. */
static bool is_read(char letter)
{
    return letter == 'r' || letter == 'x';
}

/* Whether the instruction needs a value of another cursor. */
static bool depends_on_other(const struct slicing *slicing, int pc)
{
    struct instruction in = *program_at(slicing->program, pc);
    const char *letters = op_operands(in.op);
    const struct op_facts *facts = op_facts(in.op);
    bool other = facts->effect == EFFECT_FAULT;
    for (int i = 0; i < 4; i++) {
        int value = *operand(&in, i);
        if (letters[i] == 'k')
            other |= value != slicing->cursor;
        if (is_read(letters[i]))
            other |= slicing->other[slicing->writers[value]];
    }
    return other;
}

/* Finds what depends on other cursors, and who writes registers. */
static void find_others(struct slicing *slicing)
{
    for (int pc = slicing->first; pc < slicing->result; pc++) {
        struct instruction in = *program_at(slicing->program, pc);
        const char *letters = op_operands(in.op);
        slicing->other[pc] = depends_on_other(slicing, pc);
        for (int i = 0; i < 4; i++)
            if (letters[i] == 'w')
                slicing->writers[*operand(&in, i)] = pc;
    }
}

/* Takes an instruction and what its operands come from. */
static void want(struct slicing *slicing, int pc)
{
    struct instruction in = *program_at(slicing->program, pc);
    const char *letters = op_operands(in.op);
    slicing->wanted[pc] = true;
    for (int i = 0; i < 4; i++) {
        int writer =
            is_read(letters[i]) ? slicing->writers[*operand(&in, i)] : -1;
        if (writer >= 0 && !slicing->wanted[writer])
            want(slicing, writer);
    }
}

/* Whether the instruction says which rows stay. */
static bool decides(enum op_effect effect)
{
    return effect == EFFECT_JUMP || effect == EFFECT_VALIDITY;
}

/* Takes a section, if it is a condition on the cursor's rows. */
static void want_section(struct slicing *slicing, int start, int end)
{
    bool drops = false;
    for (int pc = start; pc < end; pc++) {
        const struct instruction *in = program_at(slicing->program, pc);
        enum op_effect effect = op_facts(in->op)->effect;
        if (effect == EFFECT_FAULT || (decides(effect) && slicing->other[pc]))
            return;
        drops |=
            effect == EFFECT_VALIDITY || (effect == EFFECT_JUMP && in->d == 0);
    }
    for (int pc = start; pc < end && drops; pc++)
        if (decides(op_facts(program_at(slicing->program, pc)->op)->effect))
            want(slicing, pc);
}

static unsigned number_registers(struct slicing *slicing);

/* Goes through the sections. */
static void want_sections(struct slicing *slicing)
{
    int start = slicing->first, reach = start;
    for (int pc = start; pc < slicing->result; pc++) {
        const struct instruction *in = program_at(slicing->program, pc);
        bool jumps = op_facts(in->op)->effect == EFFECT_JUMP;
        if (jumps && (in->c != slicing->result || in->d != 0) && in->c > reach)
            reach = in->c;
        if (reach > pc + 1)
            continue;
        want_section(slicing, start, pc + 1);
        start = pc + 1;
    }
}

/* Finds the conditions on the cursor's rows; where there are not enough
 * registers, none. */
static void want_conditions(struct slicing *slicing)
{
    find_others(slicing);
    want_sections(slicing);
    if (number_registers(slicing) > VDBQ_REGISTERS_MAX)
        memset(slicing->wanted, 0,
               slicing->program->code.count * sizeof *slicing->wanted);
}

/* ---------------------------------------------------------------- make -- */

/* Whether the whole program asks for a column's NULLs. */
static bool asks_nulls(const struct slicing *slicing, int column)
{
    for (int pc = slicing->first; pc < slicing->result; pc++) {
        const struct instruction *in = program_at(slicing->program, pc);
        if (in->op == OP_COLUMN_NULL && in->c == slicing->cursor
            && in->b == column)
            return true;
    }
    return false;
}

/* Numbers the registers of the slice behind those of the results: at most two
 * a result. Gives 1 + the highest. */
static unsigned number_registers(struct slicing *slicing)
{
    unsigned next = 2 * slicing->input_count + 1;
    for (int pc = slicing->first; pc < slicing->result; pc++) {
        struct instruction in = *program_at(slicing->program, pc);
        const char *letters = op_operands(in.op);
        for (int i = 0; i < 4 && slicing->wanted[pc]; i++)
            if (letters[i] == 'w')
                slicing->registers[*operand(&in, i)] = (int)next++;
    }
    return next;
}

/* Gives each instruction its place, those that are left out that of the next
 * one, and Result that of the results' values, which is given back. */
static int number_places(struct slicing *slicing, int place)
{
    for (int pc = slicing->first; pc < slicing->result; pc++) {
        slicing->places[pc] = place;
        place += slicing->wanted[pc];
    }
    slicing->places[slicing->result] = place;
    return place;
}

/* Appends an instruction to the slice; false: no memory. */
static bool add(struct slicing *slicing, const struct instruction *in)
{
    return program_add(slicing->slice, in) >= 0;
}

/* Takes an instruction's name, where it has one, to the slice's arena. */
static bool keep_name(struct slicing *slicing, struct instruction *in)
{
    if (in->name == NULL)
        return true;
    in->name = arena_copy(&slicing->slice->arena, in->name, strlen(in->name));
    return in->name != NULL;
}

/* Copies an instruction; jumps to Result lead to `result`. */
static bool add_wanted(struct slicing *slicing, int pc, int result)
{
    struct instruction in = *program_at(slicing->program, pc);
    const char *letters = op_operands(in.op);
    in.comment = NULL;
    for (int i = 0; i < 4; i++) {
        int *value = operand(&in, i);
        if (letters[i] == 'w' || is_read(letters[i]))
            *value = slicing->registers[*value];
        else if (letters[i] == 'k')
            *value = 0;
        else if (letters[i] == 'j')
            *value = *value == slicing->result && in.d == 0
                         ? result
                         : slicing->places[*value];
    }
    return keep_name(slicing, &in) && add(slicing, &in);
}

/* TYPE_... of an input, with texts as such. */
static int type_of(const struct slicing *slicing, unsigned input)
{
    const struct program_table *table =
        vector_at(&slicing->program->tables, (size_t)slicing->cursor);
    int column = slicing->inputs[input].column;
    return column < 0 ? table->key_type : table->column_types[column];
}

/* The opcode of a family for this type. */
static enum opcode typed(enum opcode op, int type)
{
    static const enum opcode columns[] = { [TYPE_I32] = OP_COLUMN_I32,
                                           [TYPE_I64] = OP_COLUMN_I64,
                                           [TYPE_F32] = OP_COLUMN_F32,
                                           [TYPE_F64] = OP_COLUMN_F64,
                                           [TYPE_WORD] = OP_COLUMN_WORD };
    static const enum opcode keys[] = { [TYPE_I32] = OP_ROWID_I32,
                                        [TYPE_I64] = OP_ROWID_I64,
                                        [TYPE_F32] = OP_ROWID_F32,
                                        [TYPE_F64] = OP_ROWID_F64,
                                        [TYPE_WORD] = OP_ROWID_WORD };
    return op == OP_ROWID_I32 ? keys[type] : columns[type];
}

/* Result column `input`; `null`: where its flags are, or -1. */
static bool add_result_column(struct slicing *slicing, unsigned input, int null)
{
    int type = type_of(slicing, input);
    return add(slicing,
               &(struct instruction){ .op = OP_RESULT_COLUMN,
                                      .a = type == TYPE_WORD ? TYPE_I32 : type,
                                      .b = null >= 0,
                                      .c = null >= 0 ? null : 0,
                                      .name = "" });
}

/* Gives one column that the rest of the program reads. */
static bool add_value(struct slicing *slicing, unsigned input, int null)
{
    int column = slicing->inputs[input].column;
    bool made =
        add(slicing, &(struct instruction){
                         .op = typed(column < 0 ? OP_ROWID_I32 : OP_COLUMN_I32,
                                     type_of(slicing, input)),
                         .a = (int)input,
                         .b = column < 0 ? 0 : column });
    if (made && null >= 0)
        made = add(slicing, &(struct instruction){
                                .op = OP_COLUMN_NULL, .a = null, .b = column });
    return made;
}

/* Where the NULL flags of a result are, -1: it needs none. */
static int null_register(const struct slicing *slicing, unsigned input)
{
    int column = slicing->inputs[input].column;
    return column >= 0 && asks_nulls(slicing, column)
               ? (int)(slicing->input_count + input)
               : -1;
}

/* Table, ResultColumns, Parallel. */
static bool add_head(struct slicing *slicing, int finish)
{
    const struct program_table *from =
        vector_at(&slicing->program->tables, (size_t)slicing->cursor);
    struct program_table *table = vector_add(&slicing->slice->tables);
    if (table == NULL)
        return false;
    *table = *from;
    table->name =
        arena_copy(&slicing->slice->arena, from->name, strlen(from->name));
    bool made = table->name != NULL
                && add(slicing, &(struct instruction){ .op = OP_TABLE,
                                                       .name = table->name });
    for (unsigned i = 0; i < slicing->input_count && made; i++)
        made = add_result_column(slicing, i, null_register(slicing, i));
    if (made && slicing->input_count == 0)
        made = add(slicing, &(struct instruction){ .op = OP_RESULT_COLUMN,
                                                   .a = TYPE_I32,
                                                   .name = "" });
    return made
           && add(slicing,
                  &(struct instruction){ .op = OP_PARALLEL, .c = finish });
}

/* Instructions that give the results. */
static unsigned value_count(const struct slicing *slicing)
{
    unsigned count = slicing->input_count;
    for (unsigned i = 0; i < slicing->input_count; i++)
        count += null_register(slicing, i) >= 0;
    return count > 0 ? count : 1;
}

/* Gives all columns that the rest of the program reads. */
static bool add_values(struct slicing *slicing)
{
    bool made = true;
    for (unsigned i = 0; i < slicing->input_count && made; i++)
        made = add_value(slicing, i, null_register(slicing, i));
    if (made && slicing->input_count == 0)
        made = add(slicing, &(struct instruction){ .op = OP_INTEGER_I32 });
    return made;
}

/* Copies every instruction that is wanted. */
static bool add_all(struct slicing *slicing)
{
    unsigned results = slicing->input_count > 0 ? slicing->input_count : 1;
    int values = number_places(slicing, (int)results + 2);
    int result = values + (int)value_count(slicing);
    bool made = add_head(slicing, result + 2);
    for (int pc = slicing->first; pc < slicing->result && made; pc++)
        if (slicing->wanted[pc])
            made = add_wanted(slicing, pc, result);
    return made && add_values(slicing)
           && add(slicing,
                  &(struct instruction){ .op = OP_RESULT, .b = (int)results })
           && add(slicing, &(struct instruction){ .op = OP_CONVERGE })
           && add(slicing, &(struct instruction){ .op = OP_FINISH });
}

/* Makes room; false: no memory. */
static bool start(struct slicing *slicing, struct arena *arena)
{
    size_t count = slicing->program->code.count;
    struct program_part part = program_part(slicing->program);
    slicing->first = slicing->result = part.first;
    while (program_at(slicing->program, slicing->result)->op != OP_RESULT)
        slicing->result++;
    slicing->other = arena_alloc(arena, count * sizeof *slicing->other);
    slicing->wanted = arena_alloc(arena, count * sizeof *slicing->wanted);
    slicing->places = arena_alloc(arena, count * sizeof *slicing->places);
    slicing->writers = arena_alloc(arena, (slicing->program->registers + 1)
                                              * sizeof *slicing->writers);
    slicing->registers = arena_alloc(arena, (slicing->program->registers + 1)
                                                * sizeof *slicing->registers);
    return slicing->other != NULL && slicing->wanted != NULL
           && slicing->places != NULL && slicing->writers != NULL
           && slicing->registers != NULL;
}

enum vdbq_status program_slice(const struct program *program,
                               const struct program_pack *pack, int cursor,
                               struct program *slice, struct error *error)
{
    struct slicing slicing = { .program = program,
                               .slice = slice,
                               .cursor = cursor };
    struct arena arena = { 0 };
    slicing.inputs = program_axis_inputs(pack, cursor, &slicing.input_count);
    bool made = start(&slicing, &arena);
    if (made) {
        want_conditions(&slicing);
        made = add_all(&slicing);
    }
    arena_finish(&arena);
    return made ? program_check(slice, error) : error_no_memory(error);
}

/* ---------------------------------------------------------------- rest -- */

/* Notes the jumps that the slices of all axes have made. */
static void find_done(struct slicing *slicing, const struct program_pack *pack,
                      bool *done)
{
    unsigned axes = program_axes(slicing->program);
    size_t count = slicing->program->code.count;
    find_others(slicing); /* who writes what, even if there is no slice */
    for (unsigned i = 0; i < axes; i++) {
        const struct program_table *table =
            vector_at(&slicing->program->tables, i);
        if (table->input > 0)
            continue;
        slicing->cursor = (int)i;
        slicing->inputs =
            program_axis_inputs(pack, (int)i, &slicing->input_count);
        memset(slicing->wanted, 0, count * sizeof *slicing->wanted);
        want_conditions(slicing);
        for (int pc = slicing->first; pc < slicing->result; pc++)
            done[pc] |=
                slicing->wanted[pc]
                && decides(
                    op_facts(program_at(slicing->program, pc)->op)->effect);
    }
}

/* Wants what wrote a register. */
static void want_writer(struct slicing *slicing, int register_)
{
    int writer = register_ < 0 ? 0 : slicing->writers[register_];
    if (writer >= slicing->first && !slicing->wanted[writer])
        want(slicing, writer);
}

/* Takes what is left: other jumps, what may fail, and the results. */
static void want_rest(struct slicing *slicing, const bool *done)
{
    const struct program *program = slicing->program;
    memset(slicing->wanted, 0, program->code.count * sizeof *slicing->wanted);
    for (int pc = slicing->first; pc < slicing->result; pc++) {
        enum op_effect effect = op_facts(program_at(program, pc)->op)->effect;
        if ((decides(effect) && !done[pc]) || effect == EFFECT_FAULT)
            want(slicing, pc);
    }
    for (unsigned i = 0; i < program_results(program); i++) {
        want_writer(slicing, program_result(program, i).register_);
        want_writer(slicing, program_result(program, i).null_register);
    }
    for (int pc = 0; pc < (int)program->code.count; pc++)
        slicing->wanted[pc] |= pc < slicing->first || pc >= slicing->result;
}

/* Copies what is wanted, registers as they are. */
static bool add_rest(struct slicing *slicing)
{
    int count = (int)slicing->program->code.count, place = 0;
    bool made =
        vector_append(&slicing->slice->tables, slicing->program->tables.items,
                      slicing->program->tables.count);
    for (int pc = 0; pc < count; pc++) {
        slicing->places[pc] = place;
        place += slicing->wanted[pc];
    }
    for (int pc = 0; pc < count && made; pc++) {
        struct instruction in = *program_at(slicing->program, pc);
        const char *letters = op_operands(in.op);
        in.comment = NULL;
        for (int i = 0; i < 4; i++)
            if (letters[i] == 'j')
                *operand(&in, i) = slicing->places[*operand(&in, i)];
        made = !slicing->wanted[pc]
               || (keep_name(slicing, &in) && add(slicing, &in));
    }
    return made;
}

enum vdbq_status program_rest(const struct program *program,
                              const struct program_pack *pack,
                              struct program *rest, struct error *error)
{
    struct slicing slicing = { .program = program, .slice = rest };
    struct arena arena = { 0 };
    bool *done = arena_alloc(&arena, program->code.count + 1);
    bool made = done != NULL && start(&slicing, &arena);
    if (made) {
        find_done(&slicing, pack, done);
        want_rest(&slicing, done);
        made = add_rest(&slicing);
    }
    arena_finish(&arena);
    return made ? program_check(rest, error) : error_no_memory(error);
}
