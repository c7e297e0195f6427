/* SPDX-License-Identifier: MIT */
/*
 * The table of kinds. Built-in tuning was measured on the devices that we
 * build for (POCL on Xeon, H200).
 */
#include "device/kind.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <assert.h>
#include <strings.h>

/* On a CPU the registers of a tile are to stay in the first cache, specialised or
 * not: an opcode is dispatched once a tile, as one call (seven of the ten queries
 * over 8M rows, interpreted, two cores: 256 rows take 0.75 of the processor's time
 * of 2,048, and 512 rows 0.82). */
#define CPU_TUNING                                                             \
    {                                                                          \
        .tile = 256, .tile_specialised = 256, .group = 1,                      \
        .item_rows = 1 << 16, .gain = 1.5, .compile_ns = 500000000,            \
        .cached_ns = 30000000, .launch_ns = 100000, .host_rows_max = 1 << 18   \
    }

/* An H100 looks up 4,096 keys in 36 million in 8.0 us p-ary and in 10.1 by tree,
 * 16,384 keys in 10.6 and 10.1. */
#define GPU_PARY_KEYS 4096
/* An H100 looks up 65,536 keys in 8 million in 0.22 ms with the ways there and back,
 * 16 cores of its host in 0.75; from 4,096 keys on it takes less. More runs have more
 * launches, and their keys come to the device first. */
#define GPU_LOOK_UPS (1 << 16)

/* On the GPU ten queries over 8M rows, specialised, take 0.056 ms with 8 rows
 * and groups of 128 or 256; what --tune runs takes 0.039 ms interpreted with 8
 * rows, 0.056 with 4, 0.072 with 2, and 0.011, 0.013 and 0.018 specialised. */
#define GPU_TUNING                                                             \
    {                                                                          \
        .tile = 8, .tile_specialised = 8, .group = 128, .item_rows = 4,        \
        .gain = 3.7, .compile_ns = 120000000, .cached_ns = 4000000,            \
        .launch_ns = 80000, .host_rows_max = 1 << 18,                          \
        .pary_keys_max = GPU_PARY_KEYS, .look_ups_min = GPU_LOOK_UPS           \
    }
#define GPU_BOUNDS                                                             \
    {                                                                          \
        .tile_min = 1, .tile_max = 16, .group_min = 32, .group_max = 1024      \
    }
/* An H100's context takes 0.5 s, a specialised machine 1 to 2; who asks a query for
 * the second time often asks another one next. */
#define MORE_ORDERS_NS 5000000000
#define GPU_READING                                                            \
    {                                                                          \
        .type = "ulong2", .width = 16, .reads = 16, .group = 256               \
    }

/* A device of OpenCL is of the first kind that has its type. */
static const struct device_kind kinds[] = {
    /* Of no type of OpenCL: this process. */
    {
        .name = "host",
        .is_choice = true,
        .shares_memory = true,
        .kernels_use_held = true,
        .launch_factor = 1,
    },
    {
        .name = "cpu",
        .opencl_type = CL_DEVICE_TYPE_CPU,
        .is_choice = true,
        .first_is_meant = true,
        .is_default = true,
        .shares_memory = true,
        .specialises = true,
        .runs_beside = true,
        .tile_fits_cache = true,
        .group_items = 1,
        .groups_per_core = 4,
        .reading = { .type = "ulong8",
                     .width = 64,
                     .reads = 1 << 14,
                     .group = 1 },
        .tuning = CPU_TUNING,
        .bounds = { .tile_min = 128,
                    .tile_max = 8192,
                    .group_min = 1,
                    .group_max = 1 },
        .host_is_quick = true,
        .launch_factor = 1,
    },
    {
        .name = "gpu",
        .opencl_type = CL_DEVICE_TYPE_GPU,
        .is_choice = true,
        .is_best = true,
        .specialises = true,
        .interpreted_is_far = true,
        .more_orders_ns = MORE_ORDERS_NS,
        .runs_beside = true,
        .group_items = 256,
        .groups_per_core = 8,
        .reading = GPU_READING,
        .tuning = GPU_TUNING,
        .bounds = GPU_BOUNDS,
        .launch_factor = 32,
        .groups_rows = true,
        .dense_indexes = true,
        .own_fifths = 4,
    },
    /* Accelerators, and what else there may be: as a GPU, with less trust. */
    {
        .name = "other",
        .opencl_type = CL_DEVICE_TYPE_ALL,
        .specialises = true,
        .interpreted_is_far = true,
        .more_orders_ns = MORE_ORDERS_NS,
        .group_items = 256,
        .groups_per_core = 8,
        .reading = GPU_READING,
        .tuning = GPU_TUNING,
        .bounds = GPU_BOUNDS,
        .launch_factor = 1,
    },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The last kind has all types. */
const struct device_kind *kind_of_type(uint64_t opencl_type)
{
    const struct device_kind *kind = kinds;

    while (kind < kinds + KINDS - 1 && (kind->opencl_type & opencl_type) == 0)
        kind++;
    assert(kind->opencl_type != 0);
    return kind;
}

const struct device_kind *kind_of_choice(const char *choice)
{
    for (unsigned i = 0; i < KINDS; i++)
        if (kinds[i].is_choice && strcasecmp(kinds[i].name, choice) == 0)
            return &kinds[i];
    return NULL;
}

const struct device_kind *kind_default(void)
{
    const struct device_kind *kind = kinds;

    while (!kind->is_default)
        kind++;
    return kind;
}
