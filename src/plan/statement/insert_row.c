/* SPDX-License-Identifier: MIT */
/*
 * INSERT of one row whose values are parameters: planned once for any values
 * that go into their columns as they are. All else is left to the planner,
 * which knows every conversion and how to refuse one.
 */
#include <string.h>

#include "plan/plan.h"
#include "plan/statement/statement.h"
#include "program/parameter.h"

bool insert_takes_parameters(enum vdbq_type type)
{
    return type == VDBQ_INTEGER || type == VDBQ_BIGINT || type == VDBQ_DOUBLE
           || type == VDBQ_TEXT;
}

/* Puts a whole number into its column; false: it does not fit as it is. */
static bool fill_integer(struct plan_parameter *to, enum vdbq_type type,
                         int64_t value)
{
    int32_t narrow = (int32_t)value;

    if (type == VDBQ_INTEGER)
        memcpy(&to->value, &narrow, sizeof narrow);
    else
        memcpy(&to->value, &value, sizeof value);
    return type == VDBQ_BIGINT || (type == VDBQ_INTEGER && narrow == value);
}

/* Puts the value of a parameter into its column, if it is of that kind. */
static bool fill(struct plan_parameter *to, struct vdbq_vector *vector,
                 const struct parameter *from)
{
    to->null = from->null;
    vector->nulls = from->null ? &to->null : NULL;
    if (from->null) {
        memset(&to->value, 0, sizeof to->value);
        return to->nullable;
    }
    if (from->type == VDBQ_BIGINT)
        return fill_integer(to, vector->type, from->integer);
    if (from->type != vector->type)
        return false;
    if (from->type == VDBQ_TEXT)
        to->value.text = from->text;
    else
        to->value.real = from->real;
    return true;
}

bool plan_insert_fill(struct plan_insert *insert,
                      const struct parameter *parameters)
{
    for (unsigned i = 0; i < insert->parameter_count; i++) {
        struct plan_parameter *to = &insert->parameters[i];
        if (!fill(to, &insert->vectors[to->column], &parameters[to->number]))
            return false;
    }
    return true;
}
