/* SPDX-License-Identifier: MIT */
/*
 * Measures searches: see tune_search.h. Medians count.
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
    KEYS_FACTOR = 4, /* from one batch to the next */
    BATCHES = 8,
    KEYS_MOST = 1 << 18, /* of the last one           */
    KERNEL_BATCHES = 7,  /* in which kernels are told apart */
    RUNS = 15            /* of a batch                 */
};

_Static_assert(KEYS_LEAST *(1 << 2 * (BATCHES - 1)) == KEYS_MOST, "batches");

struct searching {
    const struct tune_params *params;
    struct device_memory *sorted; /* VALUES integers, multiples of STRIDE, and
                                     their directory                      */
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
    enum vdbq_status status = device_memory_create(
        device, MEMORY_DEVICE, search_directory_size(SEARCH_I64, 0, VALUES),
        &searching->sorted, searching->error);
    if (status == VDBQ_OK)
        status =
            device_write(searching->sorted, 0, values, VALUES * sizeof *values,
                         &ignored, searching->error);
    if (status == VDBQ_OK)
        status = search_directory_make(
            device,
            &(struct search_params){ .sorted = searching->sorted,
                                     .count = VALUES,
                                     .type = SEARCH_I64 },
            &ignored, searching->error);
    return status;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* ---------------------------------------------------------------- ways -- */

/* How keys are looked up, and what of it is measured: of the first two the kernel,
 * of the others all from keys to places in the host's memory, for keys in order. */
enum way { TREE_KERNEL, PARY_KERNEL, HOST, DEVICE };

/* Keys that are shared out to threads of the host. */
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

static void search_on_host(const struct searching *searching, unsigned count)
{
    struct sharing sharing = { searching, count,
                               parallel_threads(os_cores(), VALUES) };

    parallel_run(sharing.threads, search_share, &sharing);
}

static enum vdbq_status search_on_device(const struct searching *searching,
                                         unsigned count, enum way way,
                                         struct search_times *times)
{
    return search_keys(searching->params->device,
                       &(struct search_params){
                           .sorted = searching->sorted,
                           .directory = true,
                           .count = VALUES,
                           .type = SEARCH_I64,
                           .keys = searching->keys,
                           .key_count = count,
                           .ascending = way == DEVICE,
                           .algorithm = way == DEVICE        ? SEARCH_AUTO
                                        : way == PARY_KERNEL ? SEARCH_PARY
                                                             : SEARCH_TREE },
                       searching->places, times, searching->error);
}

static int compare_keys(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* What one way takes for so many keys, other ones each time. */
static enum vdbq_status measure(struct searching *searching, unsigned count,
                                enum way way, uint64_t *median_ns)
{
    uint64_t ns[RUNS];
    enum vdbq_status status = stop_pause(searching->error);
    for (int run = -1; run < RUNS && status == VDBQ_OK; run++) {
        struct search_times times = { 0 };
        draw_keys(searching, count);
        if (way >= HOST)
            qsort(searching->keys, count, sizeof *searching->keys,
                  compare_keys);
        uint64_t start = os_time_ns();
        if (way == HOST)
            search_on_host(searching, count);
        else
            status = search_on_device(searching, count, way, &times);
        if (run >= 0) /* the first one warms up */
            ns[run] =
                way >= HOST ? os_time_ns() - start : times.kernel.kernel_ns;
    }
    if (status != VDBQ_OK)
        return status;
    qsort(ns, RUNS, sizeof *ns, compare);
    *median_ns = ns[RUNS / 2];
    return VDBQ_OK;
}

/* ------------------------------------------------------------- batches -- */

/* Measures the first batches both ways; `wins`: where the second one takes less. */
static enum vdbq_status compare_ways(struct searching *searching,
                                     const char *title, const enum way ways[2],
                                     unsigned batches, bool wins[BATCHES])
{
    const struct tune_params *params = searching->params;
    enum vdbq_status status = VDBQ_OK;
    unsigned count = KEYS_LEAST;
    params->report(params->context, title);
    for (unsigned i = 0; i < batches && status == VDBQ_OK;
         i++, count *= KEYS_FACTOR) {
        char line[64];
        uint64_t ns[2];
        status = measure(searching, count, ways[0], &ns[0]);
        if (status == VDBQ_OK)
            status = measure(searching, count, ways[1], &ns[1]);
        if (status != VDBQ_OK)
            return status;
        snprintf(line, sizeof line, "%16u %11.1f %11.1f", count,
                 (double)ns[0] / 1e3, (double)ns[1] / 1e3);
        params->report(params->context, line);
        wins[i] = ns[1] < ns[0];
    }
    return status;
}

/* P-ary search is for batches up to the last one where it takes less: among small
 * ones that is chance, since both wait for the same memory. */
static enum vdbq_status compare_kernels(struct searching *searching,
                                        uint64_t *pary_keys_max)
{
    const enum way ways[2] = { TREE_KERNEL, PARY_KERNEL };
    bool wins[BATCHES];
    enum vdbq_status status =
        compare_ways(searching, "  keys looked up     tree us    p-ary us",
                     ways, KERNEL_BATCHES, wins);
    uint64_t count = KEYS_LEAST;
    *pary_keys_max = 0;
    for (unsigned i = 0; status == VDBQ_OK && i < KERNEL_BATCHES; i++) {
        if (wins[i])
            *pary_keys_max = count;
        count *= KEYS_FACTOR;
    }
    return status;
}

/* The device wins from the first batch on behind the last one where it does
 * not. */
static enum vdbq_status compare_host(struct searching *searching,
                                     uint64_t *look_ups_min)
{
    const enum way ways[2] = { HOST, DEVICE };
    bool wins[BATCHES];
    enum vdbq_status status =
        compare_ways(searching, "  keys looked up     host us   device us",
                     ways, BATCHES, wins);
    uint64_t count = KEYS_MOST;
    *look_ups_min = LOOK_UPS_NEVER;
    for (unsigned i = BATCHES; status == VDBQ_OK && i-- > 0 && wins[i];) {
        *look_ups_min = count;
        count /= KEYS_FACTOR;
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
        status = compare_kernels(&searching, &best->pary_keys_max);
    if (status == VDBQ_OK && !device_facts(params->device)->shares_memory)
        status = compare_host(&searching, &best->look_ups_min);
    device_memory_destroy(searching.sorted);
    memory_release(searching.values);
    memory_release(searching.keys);
    memory_release(searching.places);
    device_times_release(params->device);
    return status;
}
