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

int program_given_column(const struct program *program, unsigned number)
{
    struct program_result result = program_result(program, number);
    int column = program_loaded_column(program, false, result.register_);
    return result.null_register < 0
                   || program_loaded_column(program, true, result.null_register)
                          == column
               ? column
               : -1;
}

bool program_gives(const struct program *program, unsigned count)
{
    bool gives = program->tables.count == 1 && program_only_loads(program);
    for (unsigned i = 0; i < count && gives; i++)
        gives = program_given_column(program, i) >= 0;
    return gives;
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
