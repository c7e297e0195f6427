/* SPDX-License-Identifier: MIT */
/*
 * The text of a program that the specialised machine is built from: its code as
 * calls, one an instruction.
 */
#include "cl/tablet.h"
#include "program/program.h"
#include "program/refill.h"

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

/* What the functions that run an opcode have before its name. */
static const char *prefix_of(const struct program_loads *loads, enum opcode op)
{
    static const char *const prefixes[] = { [SINK_RESULT] = "op",
                                            [SINK_OWN] = "sink_own",
                                            [SINK_COMMON] = "sink_common" };
    return prefixes[op_facts(op)->effect == EFFECT_GROUP ? loads->sink
                                                         : SINK_RESULT];
}

static void specialise_call(const struct program_loads *loads,
                            const struct code *code, int pc, i32 d,
                            struct text *text)
{
    enum opcode op = (enum opcode)code->op;
    text_print(text, "    %s_%s(m, %d, %d, %d, %d, %d);\n",
               prefix_of(loads, op), op_facts(op)->enum_name, pc, code->a,
               code->b, code->c, d);
}

/* A probe, of whose rows so much is asked. */
static void specialise_probe(const struct program_loads *loads,
                             const struct code *code, int pc, i32 asked,
                             struct text *text)
{
    struct code probe = *code;
    probe.c = asked;
    specialise_call(loads, &probe, pc, probe.d, text);
}

/* What is run for each tile, from one instruction up to another; `refill`: of the
 * first part of a program that is cut so, else NULL. */
static void specialise_step(const struct program *program,
                            const struct program_pack *pack,
                            const struct program_loads *loads,
                            const struct refill *refill, int first, int end,
                            struct text *text)
{
    bool jumps = false; /* an instruction before this one */
    for (int pc = first; pc < end; pc++) {
        const struct code *code = &pack->code[pc];
        enum opcode op = program_at(program, pc)->op;
        enum op_effect effect = op_facts(op)->effect;
        if (op == OP_GROUP && loads->sink != SINK_RESULT)
            text_print(text, "    if (!some_live(m, %d))\n        return;\n",
                       pc);
        if (op == OP_RESULT && loads->sink == SINK_RESULT)
            specialise_result(program, pack, loads, pc, text);
        else if (refill != NULL && refill_probes(refill, pc))
            specialise_probe(loads, code, pc, PROBE_TESTED, text);
        else if (op != OP_RESULT && effect != EFFECT_CONSTANT)
            specialise_call(loads, code, pc,
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
                                 const struct program_loads *loads,
                                 struct text *text)
{
    struct program_part part = program_part(program);
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct code *code = &pack->code[pc];
        if (op_facts(program_at(program, pc)->op)->effect == EFFECT_CONSTANT)
            specialise_call(loads, code, pc, code->d, text);
    }
}

/* Whether an opcode adds to a record, so that its part is flushed. */
static bool is_flushed(enum opcode op)
{
    return op_facts(op)->effect == EFFECT_GROUP && op != OP_GROUP
           && op != OP_GROUPED && op_facts(op)->form != FORM_KEY;
}

/* What brings a record of a work-group's own table to that of all. */
static void specialise_flush(const struct program *program,
                             const struct program_pack *pack,
                             const struct program_loads *loads,
                             struct text *text)
{
    struct program_part part = program_part(program);
    const struct code *group = &pack->code[program_find(program, OP_GROUP)];
    text_print(text,
               "#define VDBQ_SINK_OWN %d\n"
               "#define VDBQ_SINK_BYTES %u\n"
               "static void run_flush(struct machine *m, u32 at)\n"
               "{\n    if (!flush_head(m, at))\n        return;\n",
               group->b, loads->own_bytes);
    for (int pc = part.first; pc < part.converge; pc++) {
        enum opcode op = program_at(program, pc)->op;
        if (is_flushed(op))
            text_print(text, "    flush_%s(m, at + %d, %d);\n",
                       op_facts(op)->enum_name, pack->code[pc].c,
                       pack->code[pc].d);
    }
    text_print(text, "}\n");
}

static void specialise_head(const char *name, struct text *text)
{
    text_print(text,
               "static void %s(struct machine *m, i32 first, i32 end)\n"
               "{\n    UNUSED(m);\n    UNUSED(first);\n    UNUSED(end);\n",
               name);
}

/* The two parts of a program whose tiles are refilled (cl/sink/refill.cl). */
static void specialise_parts(const struct program *program,
                             const struct program_pack *pack,
                             const struct program_loads *loads,
                             const struct refill *refill, struct text *text)
{
    struct program_part part = program_part(program);
    text_print(text, "#define VDBQ_REFILL %u\n", refill->words);
    specialise_head("run_step", text);
    specialise_step(program, pack, loads, refill, part.first, refill->pc, text);
    refill_print_kept(refill, text);
    text_print(text, "}\n");
    specialise_head("run_rest", text);
    refill_print_taken(refill, text);
    for (unsigned i = 0; i < refill->probe_count; i++)
        specialise_probe(loads, &pack->code[refill->probes[i]], refill->pc, 0,
                         text);
    specialise_step(program, pack, loads, NULL, refill->pc, part.converge,
                    text);
    text_print(text, "}\n");
}

void program_specialise(const struct program *program,
                        const struct program_pack *pack,
                        const struct program_loads *loads, struct text *text)
{
    struct program_part part = program_part(program);
    struct refill refill;
    if (loads->sink == SINK_OWN)
        specialise_flush(program, pack, loads, text);
    if (loads->sink == SINK_COMMON)
        text_print(text, "#define VDBQ_SINK_COMMON\n");
    specialise_head("run_constants", text);
    specialise_constants(program, pack, loads, text);
    text_print(text, "}\n");
    if (loads->sink != SINK_RESULT && loads->few_live
        && refill_find(program, &refill)) {
        specialise_parts(program, pack, loads, &refill, text);
        return;
    }
    specialise_head("run_step", text);
    specialise_step(program, pack, loads, NULL, part.first, part.converge,
                    text);
    text_print(text, "}\n");
}
