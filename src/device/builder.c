/* SPDX-License-Identifier: MIT */
/*
 * Builds a machine on another thread. The thread owns what it builds until
 * `done` is set, and touches nothing after that; the device's thread looks at
 * the result only when it has seen `done`, or joined.
 */
#include "device/builder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "device/backend.h"

enum { BUILDERS_MAX = 8 };

struct builder {
    struct builder *next;                /* of the device's */
    struct device *device;               /* that builds */
    struct device_machine_params params; /* the body is ours           */
    char *body;                          /* of the specialised kernel; owned */
    pthread_t thread;                    /* that waits for the compiler */
    atomic_bool done;                    /* set by the thread when it ends */
    struct device_machine *machine;      /* NULL: the build failed     */
    uint64_t build_ns;                   /* that the compiler took */
};

/* The thread: builds, and leaves NULL where the compiler failed. */
static void *build(void *context)
{
    struct builder *builder = context;
    struct error ignored;
    uint64_t start = os_time_ns();

    if (builder->device->backend->machine_build(
            builder->device, &builder->params, &builder->machine, &ignored)
        != VDBQ_OK)
        builder->machine = NULL;
    builder->build_ns = os_time_ns() - start;
    atomic_store(&builder->done, true);
    return NULL;
}

/* Only once the thread has ended. */
static void builder_free(struct builder *builder)
{
    memory_release(builder->body);
    memory_release(builder);
}

/* Whether as many work as leave half of the cores to others. */
static bool are_enough(const struct device *device)
{
    unsigned most = os_cores() / 2, count = 0;

    most = most < BUILDERS_MAX ? most : BUILDERS_MAX;
    for (const struct builder *at = device->builders; at != NULL; at = at->next)
        count++;
    return count >= most;
}

bool builder_start(struct device *device,
                   const struct device_machine_params *params)
{
    struct builder *builder;
    size_t size = strlen(params->body) + 1;

    if (device->builders != NULL && are_enough(device))
        return false;
    builder = memory_zeroed(1, sizeof *builder);
    if (builder == NULL)
        return false;
    builder->device = device;
    builder->params = *params;
    builder->params.body = builder->body = memory_resize(NULL, size);
    if (builder->body != NULL)
        memcpy(builder->body, params->body, size);
    if (builder->body == NULL
        || parallel_start(&builder->thread, 1, build, builder) == 0) {
        builder_free(builder);
        return false;
    }
    builder->next = device->builders;
    device->builders = builder;
    return true;
}

/* A kernel from the cache counts as built, but not as compiled. */
static void count_build(struct device *device, const struct builder *builder,
                        struct device_times *times)
{
    times->builds++;
    times->builds_cached +=
        known_build(device, builder->body, builder->build_ns);
}

/* Takes what a builder made, which has ended or is waited for. */
static void collect(struct device *device, struct builder *builder,
                    struct device_times *times)
{
    struct error ignored;

    pthread_join(builder->thread, NULL);
    times->compile_ns += builder->build_ns;
    if (builder->machine != NULL
        && device->backend->machine_keep(builder->machine, &ignored) == VDBQ_OK)
        count_build(device, builder, times);
    builder_free(builder);
}

void builder_collect(struct device *device, bool wait,
                     struct device_times *times)
{
    struct builder **at = &device->builders;

    while (*at != NULL) {
        struct builder *builder = *at;
        if (!wait && !atomic_load(&builder->done)) {
            at = &builder->next;
            continue;
        }
        *at = builder->next;
        collect(device, builder, times);
    }
}
