/* SPDX-License-Identifier: MIT */
/*
 * The calls of kernel.h: checks what every kind of device would check, and
 * hands on to the kind's own function.
 */
#include "device/kernel.h"

#include <assert.h>

#include "device/backend.h"

bool device_has_kernels(const struct device *device)
{
    return device->backend->fill != NULL;
}

unsigned device_group_items(const struct device *device)
{
    return device->facts.kind->group_items;
}

unsigned device_groups_most(const struct device *device)
{
    return device->facts.cores * device->facts.kind->groups_per_core;
}

enum vdbq_status device_call(struct device *device,
                             const struct device_call *call,
                             struct device_times *times, struct error *error)
{
    assert(call->memory_count > 0 && call->memories[0] != NULL);
    assert(call->memory_count <= CALL_MEMORIES_MAX);
    assert(call->number_count <= CALL_NUMBERS_MAX);
    for (unsigned i = 0; i < call->memory_count; i++)
        assert(call->memories[i] == NULL || call->memories[i]->host == NULL
               || call->memories[i]->place == MEMORY_ZERO_COPY);
    if (call->items == 0)
        return VDBQ_OK;
    return device->backend->call(device, call, times, error);
}

enum vdbq_status device_put(struct device_memory *memory, const void *bytes,
                            uint64_t size, struct device_times *times,
                            struct error *error)
{
    assert(memory->host == NULL && size <= memory->size_bytes);
    return memory->device->backend->put(memory, bytes, size, times, error);
}

enum vdbq_status device_fill(struct device_memory *memory, uint64_t size,
                             uint8_t byte, struct error *error)
{
    assert(memory->host == NULL && size <= memory->size_bytes);
    if (size == 0)
        return VDBQ_OK;
    return memory->device->backend->fill(memory, size, byte, error);
}

enum vdbq_status device_calls_follow(struct device *device, struct error *error)
{
    return device->backend->calls_follow != NULL
               ? device->backend->calls_follow(device, error)
               : VDBQ_OK;
}

enum vdbq_status device_calls_wait(struct device *device,
                                   struct device_times *times,
                                   struct error *error)
{
    return device->backend->calls_wait(device, times, error);
}
