/* SPDX-License-Identifier: MIT */
/*
 * The kernels of cl/search.cl as host C, the same text that devices compile: an
 * item is a thread, and no group has more than one.
 */
#include <assert.h>

#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "cl/types.h"
#include "device/backend.h"
#include "device/host/host.h"

/* Where this thread's item stands among all. */
static _Thread_local u64 item_number, item_count;

#define GLOBAL
#define KERNEL                     static
#define get_global_id(dimension)   item_number
#define get_global_size(dimension) item_count
#include "cl/search.cl"

/* A call whose items are shared out. */
struct share {
    enum device_kernel kernel;
    const void *sorted;
    const void *keys;
    u32 *places;
    u64 count;     /* of `sorted` */
    u64 key_count; /* of `keys` */
    unsigned threads;
};

static void run_item(void *context, unsigned i)
{
    const struct share *share = context;
    item_number = i;
    item_count = share->threads;
    switch (share->kernel) {
    case KERNEL_SEARCH_BINARY_I64:
        vdbq_search_binary_I64(share->sorted, share->keys, share->places,
                               share->count, share->key_count);
        break;
    case KERNEL_SEARCH_BINARY_TEXT:
        vdbq_search_binary_TEXT(share->sorted, share->keys, share->places,
                                share->count, share->key_count);
        break;
    case KERNEL_SEARCH_PARY_I64:
        vdbq_search_pary_I64(share->sorted, share->keys, share->places,
                             share->count, share->key_count);
        break;
    default:
        assert(share->kernel == KERNEL_SEARCH_PARY_TEXT);
        vdbq_search_pary_TEXT(share->sorted, share->keys, share->places,
                              share->count, share->key_count);
    }
}

/* A key waits for memory about as long as so many rows of a scan take. */
enum { KEY_ROWS = 64 };

enum vdbq_status host_call(struct device *device,
                           const struct device_call *call,
                           struct device_times *times, struct error *error)
{
    assert(call->memory_count == 3 && call->number_count == 2);
    struct share share = {
        .kernel = call->kernel,
        .sorted = host_memory_bytes(call->memories[0]),
        .keys = host_memory_bytes(call->memories[1]),
        .places = host_memory_bytes(call->memories[2]),
        .count = call->numbers[0],
        .key_count = call->numbers[1],
        .threads = parallel_threads(device_facts(device)->cores,
                                    call->numbers[1] * KEY_ROWS),
    };
    uint64_t start = os_time_ns();
    (void)error;
    parallel_run(share.threads, run_item, &share);
    times->kernel_ns += os_time_ns() - start;
    times->launches++;
    return VDBQ_OK;
}
