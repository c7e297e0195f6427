/* SPDX-License-Identifier: MIT */
/*
 * Build rows on a device: see build_device.h.
 */
#include "exec/build_side/build_device.h"

#include <assert.h>

#include "device/kernel.h"
#include "exec/build_side/key_index.h"

enum vdbq_status build_device_copy(struct device_rows *rows, unsigned column,
                                   uint64_t first, uint64_t count,
                                   struct device_memory *to,
                                   const struct build_input *place,
                                   struct error *error)
{
    return device_store_copy(
        &rows->store, column, first, count, to, place->values,
        place->nulls != 0 ? place->nulls : UINT64_MAX, error);
}

/* Marks all slots of the index as free. */
static enum vdbq_status clear(struct device_rows *rows,
                              const struct key_index *index,
                              struct device_memory *to, struct error *error)
{
    bool dense = index->kind == INDEX_DENSE;
    uint64_t count = index->count * (dense ? 1 : 2);
    if (dense && index->filtered)
        count += DENSE_FILTER_WORDS(index->count);
    return device_call(
        rows->store.device,
        &(struct device_call){ .kernel = KERNEL_INDEX_CLEAR,
                               .memories = { to },
                               .memory_count = 1,
                               .numbers = { index->slots, count },
                               .number_count = 2,
                               .items = count },
        &rows->times, error);
}

enum vdbq_status build_device_index(struct device_rows *rows,
                                    const struct key_index *index,
                                    struct device_memory *to,
                                    const struct build_input *keys,
                                    unsigned width, struct error *error)
{
    assert(rows->store.memory != NULL);
    bool dense = index->kind == INDEX_DENSE;
    assert(dense || index->kind == INDEX_HASHED);
    struct device_call call = {
        .kernel = dense ? KERNEL_INDEX_DENSE : KERNEL_INDEX_HASHED,
        .memories = { to },
        .memory_count = 1,
        .numbers = { keys->values, keys->nulls,
                     rows->store.rows | (uint64_t)width << 32, index->slots,
                     index->count, (uint64_t)index->base, index->filtered },
        .number_count = dense ? 7 : 5,
        .items = rows->store.rows
    };
    if (index->count == 0)
        return VDBQ_OK;
    assert(rows->store.rows <= KEY_ROWS_MAX);
    enum vdbq_status status = clear(rows, index, to, error);
    return status == VDBQ_OK && rows->store.rows > 0
               ? device_call(rows->store.device, &call, &rows->times, error)
               : status;
}

enum vdbq_status build_device_wait(struct device_rows *rows,
                                   struct device_times *times,
                                   struct error *error)
{
    enum vdbq_status status =
        device_calls_wait(rows->store.device, &rows->times, error);
    device_times_add(times, &rows->times);
    rows->times = (struct device_times){ 0 };
    return status;
}
