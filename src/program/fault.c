/* SPDX-License-Identifier: MIT */
/*
 * What is told of an instruction that failed for a row, by whatever ran it.
 */
#include "program/program.h"

#include "base/type.h"

enum vdbq_status program_fault(const struct program *program, int pc,
                               struct error *error)
{
    const struct instruction *in = program_at(program, pc);
    const struct op_facts *op = op_facts(in->op);

    if (op->form == FORM_FAIL)
        return error_at(error, VDBQ_RANGE, in->at, "%s", in->name);
    if (in->op == OP_ADD_MONTHS_I32)
        return error_at(error, VDBQ_RANGE, in->at,
                        "a date is outside the years 1 to 9999");
    if (in->op == OP_ABS_I32)
        return error_at(error, VDBQ_RANGE, in->at,
                        "integer overflow: a result does not fit 32 bits");
    if (op->form == FORM_CAST)
        return error_at(error, VDBQ_RANGE, in->at,
                        "a value is out of the range of %s",
                        type_name((enum vdbq_type)op->writes));
    error_at(error, VDBQ_RANGE, in->at,
             "integer overflow: a result does not fit 64 bits");
    return error_hint(error, "compute with DOUBLE: CAST(... AS DOUBLE)");
}
