/* SPDX-License-Identifier: MIT */
/*
 * Measures searches: see tune_search.h. Medians of the kernels' own times count.
 */
#include "trial/tune_search.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "device/search.h"

enum {
    VALUES = 1 << 23, /* more than a cache holds */
    KEYS_LEAST = 16,
    KEYS_MOST = 1 << 18,
    KEYS_FACTOR = 4, /* from one batch to the next */
    RUNS = 15        /* of a batch                 */
};

struct searching {
    const struct tune_params *params;
    struct device_memory *sorted; /* VALUES integers: multiples of STRIDE */
    int64_t *values;              /* ... the same on the host             */
    int64_t *keys;                /* KEYS_MOST                            */
    uint32_t *places;
    uint64_t state; /* of numbers that look random */
    struct error *error;
};

enum { STRIDE = 1000 };

static void draw_keys(struct searching *searching, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        searching->state = searching->state * 6364136223846793005u + 1;
        searching->keys[k] =
            (int64_t)((searching->state >> 33) % ((uint64_t)VALUES * STRIDE));
    }
}

static enum vdbq_status make_column(struct searching *searching)
{
    struct device *device = searching->params->device;
    struct device_times ignored = { 0 };
    int64_t *values = memory_zeroed(VALUES, sizeof *values);
    searching->values = values;
    if (values == NULL)
        return error_no_memory(searching->error);
    for (int64_t i = 0; i < VALUES; i++)
        values[i] = i * STRIDE;
    enum vdbq_status status =
        device_memory_create(device, MEMORY_DEVICE, VALUES * sizeof *values,
                             &searching->sorted, searching->error);
    if (status == VDBQ_OK)
        status =
            device_write(searching->sorted, 0, values, VALUES * sizeof *values,
                         &ignored, searching->error);
    return status;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* What a kernel takes for so many keys, other ones each time. */
static enum vdbq_status measure(struct searching *searching, unsigned count,
                                enum search_algorithm algorithm,
                                uint64_t *median_ns)
{
    uint64_t ns[RUNS];
    enum vdbq_status status = stop_pause(searching->error);
    for (int run = -1; run < RUNS && status == VDBQ_OK; run++) {
        struct search_times times = { 0 };
        draw_keys(searching, count);
        status =
            search_keys(searching->params->device,
                        &(struct search_params){ .sorted = searching->sorted,
                                                 .count = VALUES,
                                                 .type = SEARCH_I64,
                                                 .keys = searching->keys,
                                                 .key_count = count,
                                                 .algorithm = algorithm },
                        searching->places, &times, searching->error);
        if (run >= 0) /* the first one warms up */
            ns[run] = times.kernel.kernel_ns;
    }
    if (status != VDBQ_OK)
        return status;
    qsort(ns, RUNS, sizeof *ns, compare);
    *median_ns = ns[RUNS / 2];
    return VDBQ_OK;
}

/* All batches; p-ary search wins up to the first one where it does not. */
static enum vdbq_status measure_all(struct searching *searching,
                                    uint64_t *pary_keys_max)
{
    const struct tune_params *params = searching->params;
    enum vdbq_status status = VDBQ_OK;
    bool wins = true;
    *pary_keys_max = 0;
    params->report(params->context, "  keys looked up   binary us    p-ary us");
    for (unsigned count = KEYS_LEAST; count <= KEYS_MOST && status == VDBQ_OK;
         count *= KEYS_FACTOR) {
        char line[64];
        uint64_t binary_ns, pary_ns;
        status = measure(searching, count, SEARCH_BINARY, &binary_ns);
        if (status == VDBQ_OK)
            status = measure(searching, count, SEARCH_PARY, &pary_ns);
        if (status != VDBQ_OK)
            return status;
        snprintf(line, sizeof line, "%16u %11.1f %11.1f", count,
                 (double)binary_ns / 1e3, (double)pary_ns / 1e3);
        params->report(params->context, line);
        wins = wins && pary_ns < binary_ns;
        if (wins)
            *pary_keys_max = count;
    }
    return status;
}

/* ------------------------------------------------------ device or host -- */

/* Keys in order, shared out to threads of the host. */
struct sharing {
    const struct searching *searching;
    unsigned keys, threads;
};

static void search_share(void *context, unsigned number)
{
    const struct sharing *sharing = context;
    const struct searching *searching = sharing->searching;
    unsigned first = sharing->keys / sharing->threads * number;
    unsigned end = number + 1 == sharing->threads
                       ? sharing->keys
                       : first + sharing->keys / sharing->threads;

    search_here(&(struct search_here){ .type = SEARCH_I64,
                                       .sorted = searching->values,
                                       .count = VALUES,
                                       .keys = searching->keys + first,
                                       .key_count = end - first },
                searching->places + first);
}

static int compare_keys(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* What so many keys take the device, from the host and back, or the host. */
static enum vdbq_status measure_whole(struct searching *searching,
                                      unsigned count, bool on_device,
                                      uint64_t *median_ns)
{
    struct sharing sharing = { searching, count,
                               parallel_threads(os_cores(), VALUES) };
    uint64_t ns[RUNS];
    enum vdbq_status status = stop_pause(searching->error);
    for (int run = -1; run < RUNS && status == VDBQ_OK; run++) {
        struct search_times times = { 0 };
        draw_keys(searching, count);
        qsort(searching->keys, count, sizeof *searching->keys, compare_keys);
        uint64_t start = os_time_ns();
        if (!on_device)
            parallel_run(sharing.threads, search_share, &sharing);
        else
            status = search_keys(
                searching->params->device,
                &(struct search_params){ .sorted = searching->sorted,
                                         .count = VALUES,
                                         .type = SEARCH_I64,
                                         .keys = searching->keys,
                                         .key_count = count,
                                         .ascending = true },
                searching->places, &times, searching->error);
        if (run >= 0)
            ns[run] = os_time_ns() - start;
    }
    if (status != VDBQ_OK)
        return status;
    qsort(ns, RUNS, sizeof *ns, compare);
    *median_ns = ns[RUNS / 2];
    return VDBQ_OK;
}

/* The device wins from the first batch on behind the last one where it does
 * not. */
static enum vdbq_status compare_host(struct searching *searching,
                                     uint64_t *look_ups_min)
{
    const struct tune_params *params = searching->params;
    enum vdbq_status status = VDBQ_OK;
    *look_ups_min = LOOK_UPS_NEVER;
    params->report(params->context, "  keys looked up     host us   device us");
    for (unsigned count = KEYS_LEAST; count <= KEYS_MOST && status == VDBQ_OK;
         count *= KEYS_FACTOR) {
        char line[64];
        uint64_t host_ns, device_ns;
        status = measure_whole(searching, count, false, &host_ns);
        if (status == VDBQ_OK)
            status = measure_whole(searching, count, true, &device_ns);
        if (status != VDBQ_OK)
            return status;
        snprintf(line, sizeof line, "%16u %11.1f %11.1f", count,
                 (double)host_ns / 1e3, (double)device_ns / 1e3);
        params->report(params->context, line);
        if (device_ns >= host_ns)
            *look_ups_min = LOOK_UPS_NEVER;
        else if (*look_ups_min == LOOK_UPS_NEVER)
            *look_ups_min = count;
    }
    return status;
}

enum vdbq_status tune_search(const struct tune_params *params,
                             struct device_tuning *best, struct error *error)
{
    struct searching searching = { .params = params, .error = error };
    enum vdbq_status status = device_times_hold(params->device, error);
    if (status != VDBQ_OK)
        return status;
    searching.keys = memory_zeroed(KEYS_MOST, sizeof *searching.keys);
    searching.places = memory_zeroed(KEYS_MOST, sizeof *searching.places);
    status = searching.keys != NULL && searching.places != NULL
                 ? make_column(&searching)
                 : error_no_memory(error);
    if (status == VDBQ_OK)
        status = measure_all(&searching, &best->pary_keys_max);
    if (status == VDBQ_OK && !device_facts(params->device)->shares_memory)
        status = compare_host(&searching, &best->look_ups_min);
    device_memory_destroy(searching.sorted);
    memory_release(searching.values);
    memory_release(searching.keys);
    memory_release(searching.places);
    device_times_release(params->device);
    return status;
}
