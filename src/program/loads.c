/* SPDX-License-Identifier: MIT */
/*
 * Reads what the instructions of the rows' part load.
 */
#include "program/loads.h"

int program_loaded_column(const struct program *program, bool null, int to)
{
    struct program_part part = program_part(program);
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct instruction *in = program_at(program, pc);
        if (op_facts(in->op)->form == FORM_COLUMN && in->a == to
            && (in->op == OP_COLUMN_NULL) == null)
            return in->b;
    }
    return -1;
}

bool program_only_loads(const struct program *program)
{
    struct program_part part = program_part(program);
    for (int pc = part.first; pc < part.converge; pc++) {
        enum opcode op = program_at(program, pc)->op;
        if (op_facts(op)->form != FORM_COLUMN && op != OP_INTEGER_I32
            && op != OP_RESULT)
            return false;
    }
    return true;
}
