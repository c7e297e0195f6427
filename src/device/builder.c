/* SPDX-License-Identifier: MIT */
/*
 * Builds a machine on another thread. The thread owns what it builds until
 * `done` is set, and touches nothing after that; the device's thread looks at
 * the result only when it has seen `done`, or joined.
 */
#include "device/builder.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "device/backend.h"
#include "device/tuning.h"

enum { BUILDERS_MAX = 8, WAITING_MAX = 64 };

/* How often one that waits for the build process looks, and for how long it does:
 * a compiler that crashed never ends. */
static const uint64_t looked_every_ns = 50000000, order_wait_ns = 300000000000;

/* Where builders wait for orders. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* one became unwanted */
} waiting = { .lock = PTHREAD_MUTEX_INITIALIZER,
              .changed = PTHREAD_COND_INITIALIZER };

struct builder {
    struct builder *next;                /* of the device's */
    struct device *device;               /* that builds */
    struct device_machine_params params; /* the body is ours           */
    char *body;                          /* of the specialised kernel; owned;
                                            NULL: it is the interpreted one */
    bool ordered;                        /* the build process builds it first */
    bool unwanted;                       /* guarded by waiting.lock */
    pthread_t thread;                    /* that waits for the compiler */
    atomic_bool done;                    /* set by the thread when it ends */
    struct device_machine *machine;      /* NULL: the build failed     */
    uint64_t build_ns;                   /* that the compiler took */
};

/* Until the build process notes that it has built it; false: it does not come,
 * or nobody wants it any more. */
static bool wait_for_order(struct builder *builder)
{
    const uint64_t last = os_time_ns() + order_wait_ns;
    bool built = false;

    pthread_mutex_lock(&waiting.lock);
    while (!builder->unwanted && os_time_ns() < last
           && !(built = known_tells(&builder->device->known, builder->body))) {
        const struct timespec until =
            os_time_after(CLOCK_REALTIME, looked_every_ns);
        pthread_cond_timedwait(&waiting.changed, &waiting.lock, &until);
    }
    pthread_mutex_unlock(&waiting.lock);
    return built;
}

/* The thread: builds, and leaves NULL where the compiler failed. */
static void *build(void *context)
{
    struct builder *builder = context;
    struct error ignored;

    if (!builder->ordered || wait_for_order(builder)) {
        uint64_t start = os_time_ns();
        if (builder->device->backend->machine_build(
                builder->device, &builder->params, &builder->machine, &ignored)
            != VDBQ_OK)
            builder->machine = NULL;
        builder->build_ns = os_time_ns() - start;
    }
    atomic_store(&builder->done, true);
    return NULL;
}

/* Only once the thread has ended. */
static void builder_free(struct builder *builder)
{
    memory_release(builder->body);
    memory_release(builder);
}

/* How many there are that wait for the build process, or that do not. */
static unsigned count_of(const struct device *device, bool ordered)
{
    unsigned count = 0;

    for (const struct builder *at = device->builders; at != NULL; at = at->next)
        count += at->ordered == ordered;
    return count;
}

bool builders_are_enough(const struct device *device)
{
    unsigned most = os_cores() / 2, count = count_of(device, false);

    most = most < BUILDERS_MAX ? most : BUILDERS_MAX;
    if (device->facts.kind->interpreted_is_far)
        most /= device_build_lanes(); /* each is a process that has so many */
    return count > 0 && count >= most;
}

/* Copies the text; false: no memory. */
static bool take_body(struct builder *builder, const char *body)
{
    if (body == NULL)
        return true;
    size_t size = strlen(body) + 1;
    builder->params.body = builder->body = memory_resize(NULL, size);
    if (builder->body != NULL)
        memcpy(builder->body, body, size);
    return builder->body != NULL;
}

bool builder_start(struct device *device,
                   const struct device_machine_params *params, bool ordered)
{
    struct builder *builder;

    assert(!ordered || params->build == BUILD_SPECIALISED);
    if (ordered ? count_of(device, true) >= WAITING_MAX
                : builders_are_enough(device))
        return false;
    builder = memory_zeroed(1, sizeof *builder);
    if (builder == NULL)
        return false;
    builder->device = device;
    builder->ordered = ordered;
    builder->params = *params;
    if (!take_body(builder, params->body)
        || parallel_start(&builder->thread, 1, build, builder) == 0) {
        builder_free(builder);
        return false;
    }
    builder->next = device->builders;
    device->builders = builder;
    return true;
}

/* Takes what a builder made, which has ended or is waited for. */
static void collect(struct device *device, struct builder *builder,
                    struct device_times *times)
{
    struct error ignored;

    pthread_join(builder->thread, NULL);
    times->compile_ns += builder->build_ns;
    if (builder->ordered)
        known_refresh(&device->known); /* that another process built it */
    if (builder->machine != NULL
        && device->backend->machine_keep(builder->machine, &ignored) == VDBQ_OK)
        device_count_build(builder->machine, &builder->params,
                           builder->build_ns, times);
    builder_free(builder);
}

/* Those that wait for the build process stop doing so. */
static void give_up_orders(struct device *device)
{
    pthread_mutex_lock(&waiting.lock);
    for (struct builder *at = device->builders; at != NULL; at = at->next)
        at->unwanted = true;
    pthread_cond_broadcast(&waiting.changed);
    pthread_mutex_unlock(&waiting.lock);
}

void builder_collect(struct device *device, bool wait,
                     struct device_times *times)
{
    struct builder **at = &device->builders;

    if (wait && *at != NULL)
        give_up_orders(device);
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
