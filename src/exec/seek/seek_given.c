/* SPDX-License-Identifier: MIT */
/*
 * A list is copied for each run that has parameters in it: the step is the plan's,
 * and others may run it.
 */
#include "exec/seek/seek_given.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/type.h"

/* Writes a parameter's value, of the column's type, which is no FLOAT: those are in
 * no list. */
static void put(struct vdbq_vector *list, void *values, uint64_t at,
                const struct parameter *parameter)
{
    if (list->type == VDBQ_TEXT) {
        ((struct vdbq_text *)values)[at] = parameter->text;
        return;
    }
    switch (step_machine_type(list->type)) {
    case TYPE_I32:
        ((int32_t *)values)[at] = (int32_t)parameter->integer;
        break;
    case TYPE_I64:
        ((int64_t *)values)[at] = parameter->integer;
        break;
    default:
        assert(list->type == VDBQ_DOUBLE);
        ((double *)values)[at] = parameter->real;
        break;
    }
}

bool seek_given_column(const struct step_seek *step, unsigned i,
                       const struct parameter *parameters,
                       struct vdbq_vector *list, void **made)
{
    const int *given = step->given[i];
    uint64_t rows = step->list_count;

    *list = step->list[i];
    if (given == NULL)
        return true;
    size_t size = (size_t)rows * type_bytes(list->type);
    uint8_t *values = memory_zeroed(size + (size_t)rows, 1);
    if (values == NULL)
        return false;
    uint8_t *nulls = values + size;
    memcpy(values, list->values, size);
    for (uint64_t at = 0; at < rows; at++) {
        if (given[at] < 0)
            continue;
        const struct parameter *parameter = &parameters[given[at]];
        nulls[at] = parameter->null;
        if (!parameter->null)
            put(list, values, at, parameter);
    }
    list->values = values;
    list->nulls = nulls;
    *made = values;
    return true;
}
