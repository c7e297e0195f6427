/* SPDX-License-Identifier: MIT */
/*
 * Orders of rows on a device: see device_order.h. Each key's bits are sorted 32
 * at a time, the last key first, and of a key that may be NULL then whether it
 * is.
 */
#include "exec/sort/device_order.h"

#include <assert.h>

#include "cl/order.h"
#include "exec/sort/sort.h"

enum vdbq_status device_order_init(struct device_order *order,
                                   const struct device_store *store,
                                   uint64_t rows, struct device_times *times,
                                   struct error *error)
{
    assert(rows <= store->rows);
    *order =
        (struct device_order){ .store = store, .fresh = true, .times = times };
    return device_radix_init(&order->radix, store->device, rows, times, error);
}

void device_order_finish(struct device_order *order)
{
    device_radix_finish(&order->radix);
    *order = (struct device_order){ 0 };
}

/* Sorts by so many bits of what `how` names of a key. */
static enum vdbq_status sort_bits(struct device_order *order,
                                  const struct device_place *stored,
                                  unsigned how, uint64_t base, unsigned bits,
                                  struct error *error)
{
    assert(bits <= 32);
    struct device_radix *radix = &order->radix;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    enum vdbq_status status;
    if (order->fresh)
        how |= CODE_FIRST;
    status =
        device_call(radix->device,
                    &(struct device_call){
                        .kernel = KERNEL_SORT_CODES,
                        .memories = { order->store->memory, radix->elements },
                        .memory_count = 2,
                        .numbers = { stored->values, stored->nulls, how, base,
                                     mask, radix->count },
                        .number_count = 6,
                        .items = radix->count },
                    order->times, error);
    order->fresh = false;
    return status == VDBQ_OK ? device_radix_sort(radix, bits, error) : status;
}

unsigned device_order_bits(const struct device_column *column, uint64_t *base)
{
    int type = sort_type(column->type);
    bool real = type == TYPE_F32 || type == TYPE_F64;
    int64_t low = INT32_MIN, high = INT32_MAX;
    *base = 0;
    if (type == TYPE_F64 || (type == TYPE_I64 && !column->ranged))
        return 64;
    if (column->ranged && !real) {
        low = type == TYPE_I64 || column->low > low ? column->low : low;
        high = type == TYPE_I64 || column->high < high ? column->high : high;
    }
    *base = order_code(low);
    return low < high ? device_radix_bits((uint64_t)high - (uint64_t)low) : 1;
}

/* Sorts by one key; keys of 64 bits take two sorts. */
static enum vdbq_status sort_key(struct device_order *order,
                                 const struct step_key *key,
                                 struct error *error)
{
    assert((unsigned)key->column < order->store->column_count);
    const struct device_column *column = &order->store->columns[key->column];
    const struct device_place *stored = &order->store->places[key->column];
    unsigned how = (unsigned)sort_type(column->type);
    uint64_t base;
    unsigned bits = device_order_bits(column, &base);
    enum vdbq_status status;
    if (key->descending)
        how |= CODE_DESCENDING;
    status = sort_bits(order, stored, how, base, bits < 32 ? bits : 32, error);
    if (status == VDBQ_OK && bits > 32)
        status =
            sort_bits(order, stored, how | CODE_HIGH, base, bits - 32, error);
    if (status == VDBQ_OK && column->nullable)
        status =
            sort_bits(order, stored,
                      how | CODE_NULL | (key->nulls_last ? CODE_NULLS_LAST : 0),
                      0, 1, error);
    return status;
}

enum vdbq_status device_order_by(struct device_order *order,
                                 const struct step_key *keys, size_t count,
                                 struct error *error)
{
    const struct device_place none = { .nulls = UINT64_MAX };
    enum vdbq_status status = VDBQ_OK;
    if (count == 0 && order->fresh)
        return sort_bits(order, &none, CODE_NULL, 0, 0, error);
    for (size_t i = count; i-- > 0 && status == VDBQ_OK;)
        status = sort_key(order, &keys[i], error);
    return status;
}
