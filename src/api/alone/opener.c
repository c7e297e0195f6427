/* SPDX-License-Identifier: MIT */
/*
 * The thread owns the device until it has ended. A connection that is closed
 * meanwhile waits for it: a driver cannot be left half open. So does a thread that
 * ends the process without closing its connections, by what the C library calls for
 * a thread before anything of the process is destroyed.
 */
#include "api/alone/opener.h"

#include <assert.h>
#include <stdatomic.h>
#include <time.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"

struct opener {
    struct settings settings;
    struct device_machine_params machine; /* to be loaded */
    pthread_t thread;
    atomic_bool ended;     /* set by the thread when it is done */
    struct device *device; /* NULL: it cannot be used */
};

enum { LOOK_NS = 1000000 /* between looks whether all have ended */ };

/* Openers whose thread has not ended, below the number of the process that has them: one
 * that is forked from it has none. */
enum { PROCESS_SHIFT = 32 };
static _Atomic uint64_t running;

static uint32_t running_here(uint64_t told)
{
    return told >> PROCESS_SHIFT == (uint64_t)os_process() ? (uint32_t)told : 0;
}

/* One more runs, or (`more` is -1) one less. */
static void count(int more)
{
    uint64_t told = atomic_load(&running), next;

    do {
        assert(more > 0 || running_here(told) > 0);
        next = (uint64_t)os_process() << PROCESS_SHIFT
               | (running_here(told) + (uint32_t)more);
    } while (!atomic_compare_exchange_weak(&running, &told, next));
}

static _Thread_local bool guarded;

/* glibc's, for destructors of thread-local objects; with another C library there is
 * none. */
extern int __cxa_thread_atexit_impl(void (*call)(void *), void *object,
                                    void *library) __attribute__((weak));
extern void *__dso_handle;

static void wait_for_all(void *object)
{
    const struct timespec pause = { .tv_nsec = LOOK_NS };

    (void)object;
    while (running_here(atomic_load(&running)) > 0)
        nanosleep(&pause, NULL);
}

void opener_guard(void)
{
    if (guarded || __cxa_thread_atexit_impl == NULL)
        return;
    guarded = __cxa_thread_atexit_impl(wait_for_all, NULL, &__dso_handle) == 0;
}

/* Loads the machine, if that asks no compiler; closes the device if not. */
static void load(struct opener *opener)
{
    struct device_times ignored = { 0 };
    struct device_machine *machine;
    struct error error;

    if (device_machine_is_kept(opener->device, &opener->machine)
        && device_machine(opener->device, &opener->machine, &machine, &ignored,
                          &error)
               == VDBQ_OK)
        return;
    device_close(opener->device);
    opener->device = NULL;
}

static void *open_device(void *context)
{
    struct opener *opener = context;
    const struct device_params params = { .choice = opener->settings.device,
                                          .cores = opener->settings.cores,
                                          .tried_only = true };
    struct error error;

    if (device_open(&params, &opener->device, &error) != VDBQ_OK)
        opener->device = NULL;
    if (opener->device != NULL)
        load(opener);
    atomic_store(&opener->ended, true);
    count(-1);
    return NULL;
}

struct opener *opener_start(const struct settings *settings,
                            const struct device_machine_params *machine)
{
    struct opener *opener = memory_zeroed(1, sizeof *opener);

    if (opener == NULL)
        return NULL;
    opener->settings = *settings;
    opener->machine = *machine;
    opener_guard();
    count(1);
    if (parallel_start(&opener->thread, 1, open_device, opener) == 0) {
        count(-1);
        memory_release(opener);
        return NULL;
    }
    return opener;
}

const struct settings *opener_settings(const struct opener *opener)
{
    return &opener->settings;
}

bool opener_ended(const struct opener *opener)
{
    return atomic_load(&opener->ended);
}

struct device *opener_finish(struct opener *opener)
{
    pthread_join(opener->thread, NULL);
    struct device *device = opener->device;

    memory_release(opener);
    return device;
}
