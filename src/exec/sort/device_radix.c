/* SPDX-License-Identifier: MIT */
/*
 * Radix sort on a device: see device_radix.h and cl/sort.cl.
 */
#include "exec/sort/device_radix.h"

#include <assert.h>

enum { DIGIT_BITS = 4, DIGITS = 1 << DIGIT_BITS, ITEM_ELEMENTS = 8 };

/* Gives each group a span of so many elements. */
static void share_out(struct device_radix *radix, uint64_t count)
{
    uint64_t block =
        (uint64_t)device_group_items(radix->device) * ITEM_ELEMENTS;
    uint64_t most = device_groups_most(radix->device);
    uint64_t blocks = (count + block - 1) / block;
    radix->count = count;
    radix->span = (blocks + most - 1) / most * block;
    radix->spans =
        radix->span > 0 ? (count + radix->span - 1) / radix->span : 0;
    assert(radix->spans <= most);
}

enum vdbq_status device_radix_init(struct device_radix *radix,
                                   struct device *device, uint64_t count,
                                   struct device_times *times,
                                   struct error *error)
{
    /* Fewer elements may have more spans, which are shorter then. */
    uint64_t most = device_groups_most(device);
    enum vdbq_status status;

    *radix = (struct device_radix){ .device = device, .times = times };
    share_out(radix, count);
    if (count == 0)
        return VDBQ_OK;
    status = device_memory_create(device, MEMORY_DEVICE, count * 8,
                                  &radix->elements, error);
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_DEVICE, count * 8,
                                      &radix->other, error);
    if (status == VDBQ_OK)
        status =
            device_memory_create(device, MEMORY_DEVICE, (most + 1) * DIGITS * 4,
                                 &radix->counts, error);
    return status;
}

void device_radix_shrink(struct device_radix *radix, uint64_t count)
{
    assert(count <= radix->count);
    share_out(radix, count);
}

void device_radix_finish(struct device_radix *radix)
{
    device_memory_release(radix->elements);
    device_memory_release(radix->other);
    device_memory_release(radix->counts);
}

/* Sorts by one digit. */
static enum vdbq_status sort_digit(struct device_radix *radix, unsigned shift,
                                   struct error *error)
{
    assert(radix->elements != NULL && radix->spans > 0);
    assert(device_memory_size(radix->counts)
           >= (radix->spans + 1) * DIGITS * sizeof(uint32_t));
    uint64_t items = radix->spans * device_group_items(radix->device);
    struct device_memory *from = radix->elements;
    enum vdbq_status status = device_call(
        radix->device,
        &(struct device_call){ .kernel = KERNEL_SORT_COUNT,
                               .memories = { from, radix->counts },
                               .memory_count = 2,
                               .numbers = { radix->count, radix->span, shift },
                               .number_count = 3,
                               .items = items },
        radix->times, error);
    if (status == VDBQ_OK)
        status = device_call(
            radix->device,
            &(struct device_call){
                .kernel = KERNEL_SORT_SUM,
                .memories = { radix->counts },
                .memory_count = 1,
                .numbers = { radix->spans },
                .number_count = 1,
                .items = DIGITS * device_group_items(radix->device) },
            radix->times, error);
    if (status == VDBQ_OK)
        status =
            device_call(radix->device,
                        &(struct device_call){
                            .kernel = KERNEL_SORT_MOVE,
                            .memories = { from, radix->other, radix->counts },
                            .memory_count = 3,
                            .numbers = { radix->count, radix->span, shift },
                            .number_count = 3,
                            .items = items },
                        radix->times, error);
    radix->elements = radix->other;
    radix->other = from;
    return status;
}

enum vdbq_status device_radix_sort(struct device_radix *radix, unsigned bits,
                                   struct error *error)
{
    assert(bits <= 32);
    enum vdbq_status status = VDBQ_OK;
    for (unsigned at = 0; at < bits && status == VDBQ_OK; at += DIGIT_BITS)
        status = sort_digit(radix, 32 + at, error);
    return status;
}

unsigned device_radix_bits(uint64_t most)
{
    unsigned bits = 0;
    while (bits < 64 && most >> bits != 0)
        bits++;
    return bits;
}
