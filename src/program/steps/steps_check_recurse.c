/* SPDX-License-Identifier: MIT */
/*
 * Whether the rows of a recursive query, of its first query, of its term, and what
 * the term reads of the round before are of the same columns.
 */
#include "program/steps/steps_check.h"

/* Whether the step's columns have the types of another one's. */
static enum vdbq_status check_like(const struct checking *check,
                                   const struct step *other)
{
    const struct step *step = check->step;

    if (step->column_count != other->column_count)
        return steps_refuse(check, "it has %u columns, and not %u",
                            step->column_count, other->column_count);
    for (unsigned i = 0; i < step->column_count; i++)
        if (step->columns[i].type != other->columns[i].type
            || step->columns[i].scale != other->columns[i].scale)
            return steps_refuse(check, "column %u is of another type", i);
    return VDBQ_OK;
}

enum vdbq_status steps_check_recurse(const struct checking *check)
{
    struct steps *term = check->step->recurse.term;
    enum vdbq_status status = check_like(check, steps_input(check, 0));

    if (status == VDBQ_OK && (term == NULL || term->steps.count == 0))
        status = steps_refuse(check, "it has no term");
    if (status == VDBQ_OK)
        status = check_like(check, steps_last(term));
    return status == VDBQ_OK ? steps_check_in(term, check->step, check->error)
                             : status;
}

enum vdbq_status steps_check_working(const struct checking *check)
{
    return check->recurse != NULL
               ? check_like(check, check->recurse)
               : steps_refuse(check, "it is in no recursion's term");
}
