/* SPDX-License-Identifier: MIT */
/*
 * The text of a program that the specialised machine is built from: its code as
 * calls, one an instruction.
 */
#include "cl/tablet.h"
#include "program/program.h"

/* Whether a result column may be written narrow: it has the integers of an
 * input that is not known to be plain. */
static bool may_narrow(const struct program_pack *pack,
                       const struct program_loads *loads, unsigned result)
{
    int input = pack->result_inputs[result];
    return input >= 0
           && (loads->encodings == NULL
               || loads->encodings[input] != 1 + ENCODING_PLAIN);
}

/* Result, column by column, so that every register's number is known. */
static void specialise_result(const struct program *program,
                              const struct program_pack *pack,
                              const struct program_loads *loads, int pc,
                              struct text *text)
{
    text_print(text, "    result_begin(m, %d);\n", pc);
    for (unsigned i = 0; i < program_results(program); i++) {
        struct program_result column = program_result(program, i);
        text_print(text,
                   "    result_values(m, %d, %d, %u, %d, m->outputs + %u);\n",
                   pc, column.register_, type_width(column.type),
                   may_narrow(pack, loads, i), i);
        if (column.null_register >= 0)
            text_print(text, "    result_nulls(m, %d, %d, m->outputs + %u);\n",
                       pc, column.null_register, i);
    }
    text_print(text, "    result_end(m);\n");
}

/* Operand d of a call that loads a column of the only axis' rows. */
static i32 load_form(const struct code *code, bool jumps,
                     const struct program_loads *loads)
{
    i32 form = loads->encodings != NULL ? loads->encodings[code->b] : 0;
    if (loads->eager == EAGER_ALL || (loads->eager == EAGER_FIRST && !jumps))
        form |= LOAD_EAGER;
    return form;
}

static bool loads_column(const struct program *program, enum opcode op)
{
    enum op_form form = op_facts(op)->form;
    return program_axes(program) == 1
           && (form == FORM_COLUMN || form == FORM_ROWID);
}

static void specialise_call(const struct code *code, int pc, i32 d,
                            struct text *text)
{
    text_print(text, "    op_%s(m, %d, %d, %d, %d, %d);\n",
               op_facts((enum opcode)code->op)->enum_name, pc, code->a, code->b,
               code->c, d);
}

/* Everything that is run for each tile. */
static void specialise_step(const struct program *program,
                            const struct program_pack *pack,
                            const struct program_loads *loads,
                            struct text *text)
{
    struct program_part part = program_part(program);
    bool jumps = false; /* an instruction before this one */
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct code *code = &pack->code[pc];
        enum opcode op = program_at(program, pc)->op;
        enum op_effect effect = op_facts(op)->effect;
        if (op == OP_RESULT)
            specialise_result(program, pack, loads, pc, text);
        else if (effect != EFFECT_CONSTANT)
            specialise_call(code, pc,
                            loads_column(program, op)
                                ? load_form(code, jumps, loads)
                                : code->d,
                            text);
        jumps |= effect == EFFECT_JUMP;
    }
}

/* What is run once, before. */
static void specialise_constants(const struct program *program,
                                 const struct program_pack *pack,
                                 struct text *text)
{
    struct program_part part = program_part(program);
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct code *code = &pack->code[pc];
        if (op_facts(program_at(program, pc)->op)->effect == EFFECT_CONSTANT)
            specialise_call(code, pc, code->d, text);
    }
}

static void specialise_head(const char *name, struct text *text)
{
    text_print(text,
               "static void %s(struct machine *m, i32 first, i32 end)\n"
               "{\n    UNUSED(m);\n    UNUSED(first);\n    UNUSED(end);\n",
               name);
}

void program_specialise(const struct program *program,
                        const struct program_pack *pack,
                        const struct program_loads *loads, struct text *text)
{
    specialise_head("run_constants", text);
    specialise_constants(program, pack, text);
    text_print(text, "}\n");
    specialise_head("run_step", text);
    specialise_step(program, pack, loads, text);
    text_print(text, "}\n");
}
