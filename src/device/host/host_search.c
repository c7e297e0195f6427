/* SPDX-License-Identifier: MIT */
/*
 * The kernels of cl/search/search.cl as host C, the same text that devices
 * compile: an item is a thread, and no group has more than one.
 */
#include <assert.h>
#include <string.h>

#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "cl/types.h"
#include "device/backend.h"
#include "device/host/host.h"
#include "device/search.h"

/* Where this thread's item stands among all. */
static _Thread_local u64 item_number, item_count;

#define GLOBAL
#define KERNEL                     static
#define get_global_id(dimension)   item_number
#define get_global_size(dimension) item_count
#include "cl/search/search.cl"

/* By their numbers from the first one on. */
typedef void search_kernel(SEARCH_ARGUMENTS);
static search_kernel *const kernels[] = {
#define BINARY_KERNEL(T) vdbq_search_binary_##T,
    SEARCH_TYPES(BINARY_KERNEL)
#undef BINARY_KERNEL
#define PARY_KERNEL(T) vdbq_search_pary_##T,
        SEARCH_TYPES(PARY_KERNEL)
#undef PARY_KERNEL
#define TREE_KERNEL(T) vdbq_search_tree_##T,
            SEARCH_TYPES(TREE_KERNEL)
#undef TREE_KERNEL
#define DIRECTORY_KERNEL(T) vdbq_search_directory_##T,
                SEARCH_TYPES(DIRECTORY_KERNEL)
#undef DIRECTORY_KERNEL
};

/* A call whose items are shared out. */
struct share {
    const struct device_call *call;
    unsigned threads;
};

static void run_item(void *context, unsigned i)
{
    const struct share *share = context;
    const struct device_call *call = share->call;
    const uint64_t *numbers = call->numbers;
    void *bytes[CALL_MEMORIES_MAX];

    item_number = i;
    item_count = share->threads;
    for (unsigned m = 0; m < call->memory_count; m++)
        bytes[m] = host_memory_bytes(call->memories[m]);
    kernels[call->kernel - KERNEL_SEARCH_BINARY_I32](
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6],
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
        numbers[6], numbers[7]);
}

/* A key waits for memory about as long as so many rows of a scan take. */
enum { KEY_ROWS = 64 };

enum vdbq_status host_call(struct device *device,
                           const struct device_call *call,
                           struct device_times *times, struct error *error)
{
    struct share share = {
        .call = call,
        .threads = parallel_threads(device_facts(device)->cores,
                                    call->numbers[1] * KEY_ROWS),
    };
    uint64_t start = os_time_ns();

    assert(call->memory_count == 7 && call->number_count == 8);
    assert(call->kernel >= KERNEL_SEARCH_BINARY_I32
           && call->kernel <= KERNEL_SEARCH_DIRECTORY_ROWS
           && call->value == NULL);
    (void)error;
    parallel_run(share.threads, run_item, &share);
    times->kernel_ns += os_time_ns() - start;
    times->launches++;
    return VDBQ_OK;
}

/* Binary search by types. */
typedef void look_up(const struct search *s, u64 from, u64 to, u32 *places);
static look_up *const look_ups[] = {
#define LOOK_UP(T) looked_up_##T,
    SEARCH_TYPES(LOOK_UP)
#undef LOOK_UP
};

void search_here(const struct search_here *search, uint32_t *places)
{
    const struct search made = { .sorted = search->sorted,
                                 .keys = search->keys,
                                 .count = search->count,
                                 .searches = search->key_count,
                                 .flags = SEARCH_ASCENDING,
                                 .width = search_width(search->type, 0),
                                 .steps = search->steps };

    if (search->count > 0)
        look_ups[search->type](&made, 0, search->key_count, places);
    else
        memset(places, 0, search->key_count * sizeof *places);
}
