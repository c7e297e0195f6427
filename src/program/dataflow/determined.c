/* SPDX-License-Identifier: MIT */
/*
 * What follows from result columns: see determined.h. A register, which one
 * instruction alone writes, is known where that reads known registers and
 * nothing of a row of the first cursor: rows of the others are found by numbers,
 * the same one for the same key.
 */
#include "program/dataflow/determined.h"

#include "base/memory.h"

struct knowing {
    const struct program *program;
    bool given[VDBQ_REGISTERS_MAX]; /* rows have it in common          */
    bool known[VDBQ_REGISTERS_MAX]; /* ... and this follows            */
};

/* The operands of an instruction, by the letters of its form. */
static int operand(const struct instruction *in, int i)
{
    const int operands[] = { in->a, in->b, in->c, in->d };
    return operands[i];
}

/* Whether all that an instruction reads is known. */
static bool reads_known(const struct knowing *knowing,
                        const struct instruction *in)
{
    const char *letters = op_operands(in->op);
    bool good = true;
    for (int i = 0; i < 4; i++) {
        int value = operand(in, i);
        if (letters[i] == 'k')
            good &= value > 0;
        if (letters[i] == 'r' || letters[i] == 'x')
            good &= knowing->known[value];
    }
    return good;
}

/* Finds all that is known, given what rows have in common. */
static void find_known(struct knowing *knowing)
{
    struct program_part part = program_part(knowing->program);
    for (int i = 0; i < VDBQ_REGISTERS_MAX; i++)
        knowing->known[i] = false;
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct instruction *in = program_at(knowing->program, pc);
        int to = instruction_writes(in);
        if (to >= 0)
            knowing->known[to] = knowing->given[to] || reads_known(knowing, in);
    }
}

/* Gives what rows have in common but for column `without`: of integers that are
 * not NULL, unless they follow themselves. */
static void give(struct knowing *knowing, unsigned count, const bool *follows,
                 unsigned without)
{
    const struct program *program = knowing->program;
    for (int i = 0; i < VDBQ_REGISTERS_MAX; i++)
        knowing->given[i] = false;
    for (unsigned i = 0; i < count; i++) {
        struct program_result result = program_result(program, i);
        bool real = result.type == TYPE_F32 || result.type == TYPE_F64;
        if (i != without && !follows[i] && !real && result.null_register < 0)
            knowing->given[result.register_] = true;
    }
}

/* Whether a column follows from the others that do not. */
static bool column_follows(struct knowing *knowing, unsigned count,
                           const bool *follows, unsigned number)
{
    struct program_result result = program_result(knowing->program, number);
    give(knowing, count, follows, number);
    find_known(knowing);
    return knowing->known[result.register_]
           && (result.null_register < 0
               || knowing->known[result.null_register]);
}

void program_determined(const struct program *program, unsigned count,
                        bool *follows)
{
    struct knowing *knowing = memory_zeroed(1, sizeof *knowing);
    for (unsigned i = 0; i < count; i++)
        follows[i] = false;
    if (knowing == NULL || program_axes(program) != 1) {
        memory_release(knowing);
        return;
    }
    knowing->program = program;
    for (unsigned i = count; i-- > 0;)
        follows[i] = column_follows(knowing, count, follows, i);
    memory_release(knowing);
}
