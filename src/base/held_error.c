/* SPDX-License-Identifier: MIT */
/*
 * Failures that wait: see held_error.h.
 */
#include "base/held_error.h"

#include <assert.h>
#include <stddef.h>

#include "base/memory.h"

void held_error_set(struct held_error *held, const struct error *error)
{
    assert(error->status != VDBQ_OK);
    if (held->error == NULL)
        held->error = memory_resize(NULL, sizeof *held->error);
    if (held->error != NULL)
        *held->error = *error;
    held->status = held->error != NULL ? error->status : VDBQ_NO_MEMORY;
}

enum vdbq_status held_error_tell(const struct held_error *held,
                                 struct error *error)
{
    if (held->status == VDBQ_OK)
        return VDBQ_OK;
    if (held->error == NULL)
        return error_no_memory(error);
    assert(held->error->status == held->status);
    *error = *held->error;
    return held->status;
}

void held_error_finish(struct held_error *held)
{
    memory_release(held->error);
    *held = (struct held_error){ 0 };
}
