/* SPDX-License-Identifier: MIT */
/*
 * Cuts a program in two for tiles that are refilled; refill.h has the rule.
 */
#include "program/refill.h"

#include "cl/opcodes.h"

/* Whether rows for which an instruction says so are live no more. */
static bool takes_rows(const struct instruction *in)
{
    enum op_effect effect = op_facts(in->op)->effect;
    return effect == EFFECT_VALIDITY || (effect == EFFECT_JUMP && in->d == 0);
}

/* Whether a row may jump from before `pc` to behind it. */
static bool jumps_over(const struct program *program, int pc)
{
    for (int i = program_part(program).first; i < pc; i++) {
        const struct instruction *in = program_at(program, i);
        if (op_facts(in->op)->effect == EFFECT_JUMP && in->d != 0 && in->c > pc)
            return true;
    }
    return false;
}

static bool reads_column(const struct instruction *in)
{
    enum op_form form = op_facts(in->op)->form;
    return form == FORM_COLUMN || form == FORM_ROWID || form == FORM_PROBE
           || form == FORM_COLUMN_AT;
}

/* The register that an instruction writes for each row; -1: none. */
static int written(const struct instruction *in)
{
    return op_facts(in->op)->effect != EFFECT_CONSTANT ? instruction_writes(in)
                                                       : -1;
}

/* Keeps a register, once; false: there is no room. */
static bool keep(struct refill *refill, int register_, int type)
{
    unsigned words = TYPE_IS_WIDE(type) ? 2 : 1;
    for (unsigned i = 0; i < refill->count; i++)
        if (refill->kept[i].register_ == register_)
            return true;
    if (refill->words + words > REFILL_WORDS_MAX)
        return false;
    refill->kept[refill->count++] = (struct refill_kept){
        .register_ = register_, .wide = words == 2, .word = refill->words
    };
    refill->words += words;
    return true;
}

/* Whether the rest finds a row that the first part only tests: of what that takes
 * most is done for rows that do not wait. */
static bool finds_later(const struct program *program,
                        const struct refill *refill, int pc)
{
    const struct instruction *in = program_at(program, pc);
    bool found = false; /* the key's writer, among what is run for each row */
    if (op_facts(in->op)->form != FORM_PROBE
        || !program_only_tests(program, in->a, refill->pc))
        return false;
    for (int i = program_part(program).first; i < pc; i++)
        found |= written(program_at(program, i)) == in->b;
    return found;
}

/* Keeps what the rest needs of the register that an instruction of the first part
 * writes, which it reads; false: there is no room. */
static bool keep_written(const struct program *program, int pc,
                         struct refill *refill)
{
    const struct instruction *in = program_at(program, pc);
    const struct op_facts *facts = op_facts(in->op);
    if (!finds_later(program, refill, pc))
        return keep(refill, written(in), facts->writes);
    if (refill->probe_count == REFILL_WORDS_MAX)
        return false;
    refill->probes[refill->probe_count++] = pc;
    return keep(refill, in->b, facts->reads);
}

/* Keeps what the first part writes and the rest reads; false: there is no room. */
static bool keep_all(const struct program *program, struct refill *refill)
{
    struct program_part part = program_part(program);
    for (int i = part.first; i < refill->pc; i++) {
        int register_ = written(program_at(program, i));
        bool read = false;
        for (int pc = refill->pc; pc < part.converge && register_ >= 0; pc++)
            read |= instruction_reads(program_at(program, pc), register_);
        if (read && !keep_written(program, i, refill))
            return false;
    }
    return true;
}

/* Tries to cut before an instruction. */
static bool cut(const struct program *program, int pc, struct refill *refill)
{
    bool reads = false;
    *refill = (struct refill){ .pc = pc, .words = 1 };
    for (int i = pc; i < program_part(program).converge; i++)
        reads |= reads_column(program_at(program, i));
    return reads && !jumps_over(program, pc) && keep_all(program, refill);
}

/* Behind what takes rows away by their own columns alone, from an instruction on. */
static int behind_columns(const struct program *program, int pc, int group)
{
    for (int i = pc; i < group; i++) {
        enum op_form form = op_facts(program_at(program, i)->op)->form;
        if (form == FORM_PROBE || form == FORM_COLUMN_AT)
            break;
        pc = takes_rows(program_at(program, i)) ? i + 1 : pc;
    }
    return pc;
}

bool refill_find(const struct program *program, struct refill *refill)
{
    struct program_part part = program_part(program);
    int group = program_find(program, OP_GROUP);
    unsigned all = 0, before = 0;
    int pc = part.first;
    if (program_axes(program) != 1)
        return false;
    for (int i = part.first; i < group; i++)
        all += takes_rows(program_at(program, i));
    for (; pc < group && before < (all + 1) / 2; pc++)
        before += takes_rows(program_at(program, pc));
    return all > 0 && cut(program, behind_columns(program, pc, group), refill);
}

bool refill_probes(const struct refill *refill, int pc)
{
    for (unsigned i = 0; i < refill->probe_count; i++)
        if (refill->probes[i] == pc)
            return true;
    return false;
}

void refill_print_kept(const struct refill *refill, struct text *text)
{
    text_print(text, "    wait_begin(m, %d);\n    wait_number(m, %d);\n",
               refill->pc, refill->pc);
    for (unsigned i = 0; i < refill->count; i++) {
        const struct refill_kept *kept = &refill->kept[i];
        text_print(text, "    wait_%d(m, %d, %d, %u);\n", kept->wide ? 64 : 32,
                   refill->pc, kept->register_, kept->word);
    }
}

void refill_print_taken(const struct refill *refill, struct text *text)
{
    for (unsigned i = 0; i < refill->count; i++) {
        const struct refill_kept *kept = &refill->kept[i];
        text_print(text, "    take_%d(m, %d, %u);\n", kept->wide ? 64 : 32,
                   kept->register_, kept->word);
    }
}
