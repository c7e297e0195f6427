/* SPDX-License-Identifier: MIT */
/*
 * The memory of tables of groups: how many there are, a word of flags for each, and
 * the tables.
 */
#include "exec/launch/launch_tables.h"

#include <string.h>

#include "base/memory.h"
#include "cl/tablet.h"

/* Each core has one. */
static unsigned tables_of(const struct device *device)
{
    unsigned cores = device_facts(device)->cores;
    return cores > 0 ? cores : 1;
}

/* Where the first of so many is. */
static u64 first_at(unsigned count)
{
    return TABLET_ALIGNED((1 + (u64)count) * sizeof(u32));
}

u64 launch_tables_at(const struct device *device)
{
    return first_at(tables_of(device));
}

/* Hands tables to the device, of which none is used. */
static enum vdbq_status give_empty(struct device_memory *memory, unsigned count,
                                   struct device_times *times,
                                   struct error *error)
{
    u32 *words = device_memory_host(memory);
    assert(words != NULL && count > 0);
    memset(words, 0, first_at(count));
    words[0] = count;
    return device_memory_give(memory, times, error);
}

enum vdbq_status launch_tables_make(const struct launch_tables *tables,
                                    struct device *device,
                                    struct device_memory **memory,
                                    struct device_times *times,
                                    struct error *error)
{
    unsigned count = tables_of(device);
    u64 size = first_at(count) + (u64)count * tables->bytes;
    assert(tables->bytes % sizeof(u64) == 0);
    enum vdbq_status status =
        device_memory_create(device, MEMORY_PINNED, size, memory, error);
    return status == VDBQ_OK ? give_empty(*memory, count, times, error)
                             : status;
}

/* Lists the tables that were used; how many. */
static unsigned list_used(const struct launch_tables *tables, u8 *bytes,
                          u8 **used)
{
    const u32 *words = (const void *)bytes;
    unsigned count = 0;
    for (u32 i = 0; i < words[0]; i++) {
        assert((words[1 + i] & TABLE_TAKEN) == 0);
        if (words[1 + i] == TABLE_USED)
            used[count++] =
                bytes + first_at(words[0]) + (size_t)i * tables->bytes;
    }
    return count;
}

enum vdbq_status launch_tables_take(struct launch_tables *tables,
                                    struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error)
{
    enum vdbq_status status = device_memory_take(memory, times, error);
    if (status != VDBQ_OK)
        return status;
    u8 *bytes = device_memory_host(memory);
    u32 count = *(const u32 *)(const void *)bytes;
    u8 **used = memory_zeroed(count, sizeof *used);
    if (used == NULL)
        return error_no_memory(error);
    tables->take(tables, used, list_used(tables, bytes, used));
    memory_release(used);
    tables->waiting = 0;
    return give_empty(memory, count, times, error);
}
