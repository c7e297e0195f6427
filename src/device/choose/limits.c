/* SPDX-License-Identifier: MIT */
/*
 * Measures what no query can outrun: how fast the device reads its memory,
 * how fast bytes get there and back, how fast the cores of this machine read
 * theirs. Each is the best of a few runs: a limit is not an average.
 */
#include <pthread.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "device/backend.h"

enum {
    RUNS = 7,
    MEMORY_SHARE = 16, /* of the device's memory that is used at most */
    HOST_PASSES = 4,   /* over the block: threads need time to start  */
    HOST_RUNS = 3,
    THREADS_MAX = 256
};

/* Longer than caches are, short enough to be there; in bytes. */
#define DEVICE_BLOCK (1ull << 30)
#define SHARED_BLOCK (256ull << 20)
#define BLOCK_ALIGN  (1ull << 20)

/* The two blocks that bytes go between. */
struct blocks {
    struct device_memory *device; /* read by the device alone */
    struct device_memory *pinned; /* copied to and from */
};

static enum vdbq_status measure(const struct blocks *blocks,
                                struct vdbq_limits *limits,
                                struct error *error);
static double host_read(const void *bytes, uint64_t size);

/* A block of about `wanted` bytes that the device has room for. */
static uint64_t block_size(const struct device_facts *facts, uint64_t wanted)
{
    if (wanted > facts->memory_bytes / MEMORY_SHARE)
        wanted = facts->memory_bytes / MEMORY_SHARE;
    if (wanted > facts->buffer_max_bytes)
        wanted = facts->buffer_max_bytes;
    return wanted < BLOCK_ALIGN ? BLOCK_ALIGN
                                : wanted / BLOCK_ALIGN * BLOCK_ALIGN;
}

enum vdbq_status device_limits_measure(struct device *device,
                                       struct error *error)
{
    const struct device_facts *facts = &device->facts;
    struct vdbq_limits limits = { .shares_memory = facts->shares_memory };
    struct blocks blocks = { 0 };
    uint64_t pinned = block_size(facts, SHARED_BLOCK);
    uint64_t own =
        facts->shares_memory ? pinned : block_size(facts, DEVICE_BLOCK);
    enum vdbq_status status =
        device_memory_create(device, MEMORY_DEVICE, own, &blocks.device, error);

    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_PINNED, pinned,
                                      &blocks.pinned, error);
    if (status == VDBQ_OK)
        status = measure(&blocks, &limits, error);
    if (status == VDBQ_OK)
        device->known.tuning.limits = limits;
    device_memory_destroy(blocks.device);
    device_memory_destroy(blocks.pinned);
    return status;
}

/* Keeps the better rate; bytes a nanosecond are GB a second. */
static void keep(double *rate, uint64_t bytes, uint64_t ns)
{
    double found = ns == 0 ? 0 : (double)bytes / (double)ns;

    if (found > *rate)
        *rate = found;
}

/* How fast the device reads its own memory. */
static enum vdbq_status measure_memory(const struct blocks *blocks,
                                       struct vdbq_limits *limits,
                                       struct error *error)
{
    uint64_t best_ns = 0;
    enum vdbq_status status = blocks->device->device->backend->sweep(
        blocks->device, RUNS, &best_ns, error);

    keep(&limits->memory_read, blocks->device->size_bytes, best_ns);
    return status;
}

/* Half of the pinned block goes there, the other half comes back. */
static enum vdbq_status measure_copies(const struct blocks *blocks,
                                       struct vdbq_limits *limits,
                                       struct error *error)
{
    const struct device_backend *backend = blocks->device->device->backend;
    const uint64_t half = blocks->pinned->size_bytes / 2;
    char *bytes = blocks->pinned->host;
    enum vdbq_status status = VDBQ_OK;

    for (int i = 0; i < RUNS && status == VDBQ_OK; i++) {
        struct device_times in = { 0 }, out = { 0 };
        uint64_t both_ns = 0;
        status = backend->write(blocks->device, 0, bytes, half, &in, error);
        if (status == VDBQ_OK)
            status = backend->read(blocks->device, half, bytes + half, half,
                                   &out, error);
        if (status == VDBQ_OK)
            status =
                backend->exchange(blocks->device, bytes, half, &both_ns, error);
        keep(&limits->copy_in, half, in.transfer_ns);
        keep(&limits->copy_out, half, out.transfer_ns);
        keep(&limits->copy_both, 2 * half, both_ns);
    }
    return status;
}

/* Memory first, then copies in both directions. */
static enum vdbq_status measure_device(const struct blocks *blocks,
                                       struct vdbq_limits *limits,
                                       struct error *error)
{
    struct device *device = blocks->device->device;
    enum vdbq_status status = device_times_hold(device, error);

    if (status != VDBQ_OK)
        return status;
    status = measure_memory(blocks, limits, error);
    if (status == VDBQ_OK)
        status = measure_copies(blocks, limits, error);
    device_times_release(device);
    return status;
}

/* The host's own rate is the best of several. */
static enum vdbq_status measure(const struct blocks *blocks,
                                struct vdbq_limits *limits, struct error *error)
{
    enum vdbq_status status = measure_device(blocks, limits, error);

    for (int i = 0; i < HOST_RUNS && status == VDBQ_OK; i++) {
        double rate =
            host_read(blocks->pinned->host, blocks->pinned->size_bytes);
        if (rate > limits->host_read)
            limits->host_read = rate;
    }
    return status;
}

/* ---------------------------------------------------------------- host -- */

/* A thread's part of the block. */
struct part {
    pthread_t thread;      /* that reads */
    const uint64_t *words; /* to read */
    uint64_t count;        /* of `words` */
    volatile uint64_t sum; /* so that nobody leaves the reading out */
};

/* Adds the words up, so that the reading is not left out. */
static void *part_read(void *context)
{
    struct part *part = context;

    for (int pass = 0; pass < HOST_PASSES; pass++) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < part->count; i++)
            sum += part->words[i];
        part->sum = sum;
    }
    return NULL;
}

/* GB a second that all cores together read; 0: no thread could be started. */
static double host_read(const void *bytes, uint64_t size)
{
    struct part parts[THREADS_MAX];
    unsigned cores = os_cores(), started = 0;
    uint64_t start = os_time_ns(), count;

    if (cores > THREADS_MAX)
        cores = THREADS_MAX;
    count = size / sizeof(uint64_t) / cores;
    for (unsigned i = 0; i < cores; i++) {
        parts[started] =
            (struct part){ .words = (const uint64_t *)bytes + i * count,
                           .count = count };
        started += pthread_create(&parts[started].thread, NULL, part_read,
                                  &parts[started])
                   == 0;
    }
    for (unsigned i = 0; i < started; i++)
        pthread_join(parts[i].thread, NULL);
    return (double)(started * count * sizeof(uint64_t) * HOST_PASSES)
           / (double)(os_time_ns() - start);
}
