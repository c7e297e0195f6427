/* SPDX-License-Identifier: MIT */
/*
 * Calls of vdbq_keep: see keeping.h.
 */
#include "exec/launch/keeping.h"

#include <assert.h>

#include "device/kernel.h"

VDBQ_ASSERT_LAYOUT(keep, sizeof(struct keep) <= 512);

enum vdbq_status keeping_send(struct keeping *keeping, struct error *error)
{
    const struct keep *keep = &keeping->keep;
    enum vdbq_status status = VDBQ_OK;
    assert(keeping->from != NULL && keeping->to != NULL);
    if (keep->columns > 0 && keep->count > 0)
        status = device_call(
            keeping->device,
            &(struct device_call){ .kernel = KERNEL_KEEP,
                                   .memories = { keeping->from, keeping->to },
                                   .memory_count = 2,
                                   .value = keep,
                                   .value_bytes = sizeof *keep,
                                   .items = keep->count },
            keeping->times, error);
    keeping->keep.columns = 0;
    return status;
}

enum vdbq_status keeping_add(struct keeping *keeping,
                             const struct keep_column *column,
                             struct error *error)
{
    struct keep *keep = &keeping->keep;
    assert(column->width == 1 || column->width == 4 || column->width == 8);
    enum vdbq_status status =
        keep->columns == KEEP_COLUMNS ? keeping_send(keeping, error) : VDBQ_OK;
    keep->column[keep->columns++] = *column;
    return status;
}

enum vdbq_status keeping_add_with_nulls(struct keeping *keeping,
                                        const struct keep_column *values,
                                        u64 nulls_from, u64 nulls_to,
                                        struct error *error)
{
    enum vdbq_status status = keeping_add(keeping, values, error);
    return status != VDBQ_OK || nulls_to == KEEP_NOWHERE
               ? status
               : keeping_add(keeping,
                             &(struct keep_column){ .from = nulls_from,
                                                    .to = nulls_to,
                                                    .width = 1 },
                             error);
}
