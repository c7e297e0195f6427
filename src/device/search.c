/* SPDX-License-Identifier: MIT */
/*
 * Searches: see search.h and cl/search.cl.
 */
#include "device/search.h"

#include <assert.h>
#include <string.h>

#include "device/kernel.h"
#include "device/kind.h"

/* As cl/search.cl has them where a group has several items. */
enum { TEAM_ITEMS = 32 };

uint64_t search_width(enum search_type type)
{
    return type == SEARCH_TEXT ? 2 * sizeof(uint64_t) : sizeof(int64_t);
}

enum search_algorithm search_choose(const struct device *device,
                                    uint64_t key_count)
{
    const struct device_kind *kind = device_facts(device)->kind;
    return key_count <= kind->pary_keys_max ? SEARCH_PARY : SEARCH_BINARY;
}

/* One launch over keys that are there. */
static enum vdbq_status launch(struct device *device,
                               const struct search_params *params,
                               struct device_memory *keys,
                               struct device_memory *places,
                               struct device_times *times, struct error *error)
{
    static const enum device_kernel kernels[][2] = {
        [SEARCH_BINARY] = { KERNEL_SEARCH_BINARY_I64,
                            KERNEL_SEARCH_BINARY_TEXT },
        [SEARCH_PARY] = { KERNEL_SEARCH_PARY_I64, KERNEL_SEARCH_PARY_TEXT },
    };
    enum search_algorithm algorithm = params->algorithm;
    if (algorithm == SEARCH_AUTO)
        algorithm = search_choose(device, params->key_count);
    enum vdbq_status status = device_call(
        device,
        &(struct device_call){
            .kernel = kernels[algorithm][params->type],
            .memories = { params->sorted, keys, places },
            .memory_count = 3,
            .numbers = { params->count, params->key_count },
            .number_count = 2,
            .items = params->key_count
                     * (algorithm == SEARCH_PARY ? TEAM_ITEMS : 1) },
        times, error);
    return status == VDBQ_OK ? device_calls_wait(device, times, error) : status;
}

/* The keys' way in, the launch, the answers' way out. */
static enum vdbq_status run(struct device *device,
                            const struct search_params *params,
                            struct device_memory *keys,
                            struct device_memory *answers, uint32_t *places,
                            struct search_times *times, struct error *error)
{
    enum vdbq_status status = device_write(
        keys, 0, params->keys, params->key_count * search_width(params->type),
        &times->in, error);
    if (status == VDBQ_OK)
        status = launch(device, params, keys, answers, &times->kernel, error);
    if (status == VDBQ_OK)
        status =
            device_read(answers, 0, places, params->key_count * sizeof *places,
                        &times->out, error);
    return status;
}

enum vdbq_status search_keys(struct device *device,
                             const struct search_params *params,
                             uint32_t *places, struct search_times *times,
                             struct error *error)
{
    assert(params->count < UINT32_MAX);
    struct device_memory *keys = NULL, *answers = NULL;
    if (params->key_count == 0)
        return VDBQ_OK;
    if (params->count == 0) {
        memset(places, 0, params->key_count * sizeof *places);
        return VDBQ_OK;
    }
    assert(params->sorted != NULL);
    enum vdbq_status status = device_memory_create(
        device, MEMORY_DEVICE, params->key_count * search_width(params->type),
        &keys, error);
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_DEVICE,
                                      params->key_count * sizeof *places,
                                      &answers, error);
    if (status == VDBQ_OK)
        status = run(device, params, keys, answers, places, times, error);
    device_memory_release(keys);
    device_memory_release(answers);
    return status;
}
