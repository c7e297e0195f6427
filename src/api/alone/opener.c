/* SPDX-License-Identifier: MIT */
/*
 * The thread owns the device until it has ended. A connection that is closed
 * meanwhile waits for it: a driver cannot be left half open. So does a thread that
 * ends the process without closing its connections, by what the C library calls for
 * a thread before anything of the process is destroyed.
 */
#include "api/alone/opener.h"

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

/* Openers whose thread has not ended, and the process that has them: one that is forked
 * from it has none. */
static atomic_uint running;
static atomic_int running_in;

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
    while (atomic_load(&running) > 0
           && atomic_load(&running_in) == os_process())
        nanosleep(&pause, NULL);
}

void opener_guard(void)
{
    if (guarded || __cxa_thread_atexit_impl == NULL)
        return;
    guarded = __cxa_thread_atexit_impl(wait_for_all, NULL, &__dso_handle) == 0;
}

/* One more is about to run. */
static void count(void)
{
    if (atomic_exchange(&running_in, os_process()) != os_process())
        atomic_store(&running, 0);
    atomic_fetch_add(&running, 1);
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
    atomic_fetch_sub(&running, 1);
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
    count();
    if (parallel_start(&opener->thread, 1, open_device, opener) == 0) {
        atomic_fetch_sub(&running, 1);
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
