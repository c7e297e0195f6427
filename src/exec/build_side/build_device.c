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

enum vdbq_status build_device_clear(struct device_rows *rows,
                                    struct device_memory *to, uint64_t from,
                                    uint64_t bytes, struct error *error)
{
    assert(bytes % sizeof(u32) == 0);
    return device_call(
        rows->store.device,
        &(struct device_call){ .kernel = KERNEL_INDEX_CLEAR,
                               .memories = { to },
                               .memory_count = 1,
                               .numbers = { from, bytes / sizeof(u32) },
                               .number_count = 2,
                               .items = bytes / sizeof(u32) },
        &rows->times, error);
}

enum vdbq_status build_device_index(struct device_rows *rows, unsigned column,
                                    const struct key_index *index,
                                    struct device_memory *to,
                                    struct error *error)
{
    const struct device_store *store = &rows->store;
    const struct device_place *keys = &store->places[column];
    bool dense = index->kind == INDEX_DENSE;
    assert(store->memory != NULL && column < store->column_count);
    assert(dense || index->kind == INDEX_HASHED);
    struct device_call call = {
        .kernel = dense ? KERNEL_INDEX_DENSE : KERNEL_INDEX_HASHED,
        .memories = { to, store->memory },
        .memory_count = 2,
        .numbers = { keys->values, keys->nulls,
                     store->rows | (uint64_t)keys->width << 32, index->slots,
                     index->count, (uint64_t)index->base, index->filtered },
        .number_count = dense ? 7 : 5,
        .items = store->rows
    };
    if (index->count == 0 || store->rows == 0)
        return VDBQ_OK;
    assert(store->rows <= KEY_ROWS_MAX);
    return device_call(store->device, &call, &rows->times, error);
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
