/* SPDX-License-Identifier: MIT */
/*
 * What a thread works for is the thread's own variable, so that any floor may
 * ask without being handed anything.
 */
#include "base/threads/stop.h"

#include <assert.h>
#include <sys/resource.h>

#include "base/os/os.h"
#include "base/paged.h"

static const uint64_t tell_every_ns = 20000000;

static _Thread_local struct stop_work working;
struct stop stop_never;

/* --------------------------------------------------------------- watch -- */

static atomic_bool watched;
static atomic_uint_fast64_t widest_ns, asks, cancelled_at;
static _Thread_local uint64_t asked_ns; /* of the thread's processor time */

/* Without what the system does for the thread: how long it takes to hand out
 * pages depends on the machine's other work. */
static uint64_t processor_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_utime.tv_sec * 1000000000
           + (uint64_t)usage.ru_utime.tv_usec * 1000;
}

/* What a program's cancel would be for. */
static void cancel_outermost(struct stop *stop)
{
    while (stop->outer != NULL)
        stop = stop->outer;
    atomic_store(&stop->cancelled, true);
}

/* An ask: a gap ends, where the thread worked for something, and one begins. */
static void note_ask(bool ends)
{
    if (!atomic_load_explicit(&watched, memory_order_relaxed))
        return;
    uint64_t now = processor_ns(), gap = now - asked_ns;
    uint_fast64_t widest = atomic_load(&widest_ns);
    while (ends && gap > widest
           && !atomic_compare_exchange_weak(&widest_ns, &widest, gap))
        continue;
    asked_ns = now;
    if (ends && working.stop != &stop_never
        && atomic_fetch_add(&asks, 1) + 1 == atomic_load(&cancelled_at))
        cancel_outermost(working.stop);
}

void stop_watch(bool on)
{
    atomic_store(&widest_ns, 0);
    atomic_store(&asks, 0);
    atomic_store(&cancelled_at, 0);
    asked_ns = processor_ns();
    atomic_store(&watched, on);
}

uint64_t stop_widest_ns(void)
{
    return atomic_load(&widest_ns);
}

uint64_t stop_asks(void)
{
    return atomic_load(&asks);
}

void stop_cancel_at(uint64_t ask)
{
    atomic_store(&cancelled_at, ask);
}

/* ---------------------------------------------------------------- work -- */

static struct stop_work work_for(struct stop *stop, bool owner)
{
    struct stop_work former = working;
    note_ask(former.stop != NULL);
    working = (struct stop_work){ .stop = stop, .owner = owner };
    return former;
}

struct stop_work stop_enter(struct stop *stop)
{
    assert(stop != NULL);
    /* Others may look up while nothing changes. */
    if (working.stop != stop && stop->outer != working.stop)
        stop->outer = working.stop;
    return work_for(stop, true);
}

void stop_leave(struct stop_work former)
{
    assert(working.stop != NULL || former.stop == NULL);
    note_ask(working.stop != NULL);
    if (working.owner && working.stop != former.stop
        && working.stop->outer != NULL)
        working.stop->outer = NULL;
    working = former;
}

struct stop *stop_current(void)
{
    return working.stop;
}

struct stop_work stop_help(struct stop *stop)
{
    return work_for(stop, working.owner && stop == working.stop);
}

/* ------------------------------------------------------------ progress -- */

/* The share of a statement's work that is done, as far as one can tell: steps
 * count alike. */
static double share_done(const struct stop *stop)
{
    double steps = stop->steps > 0 ? (double)stop->steps : 1;
    double before = (double)stop->steps_done;
    double within = stop->all > 0 ? (double)stop->done / (double)stop->all : 0;
    if (before > steps - 1)
        before = steps - 1;
    return (before + (within < 1 ? within : 1)) / steps;
}

/* Calls `progress`; the share never gets less. */
static void tell(struct stop *stop, uint64_t now)
{
    uint64_t rows = stop->all > 0 ? stop->all : 1;
    uint64_t all = rows * (stop->steps > 0 ? stop->steps : 1);
    double share = share_done(stop);
    stop->told = share > stop->told ? share : stop->told;
    stop->told_ns = now;
    uint64_t done = (uint64_t)(stop->told * (double)all + 0.5);
    if (!stop->progress(stop->progress_context, done < all ? done : all, all))
        atomic_store(&stop->cancelled, true);
}

static bool tells(const struct stop *stop)
{
    return stop != NULL && working.owner && stop->progress != NULL
           && !atomic_load(&stop->cancelled);
}

void stop_begin(uint64_t steps)
{
    struct stop *stop = working.stop;
    if (stop == NULL || !working.owner)
        return;
    stop->steps = steps;
    stop->steps_done = stop->done = stop->all = 0;
    stop->told = 0;
    stop->told_ns = os_time_ns();
}

void stop_step(void)
{
    struct stop *stop = working.stop;
    if (stop == NULL || !working.owner)
        return;
    stop->steps_done++;
    stop->done = stop->all = 0;
}

void stop_tell(uint64_t done, uint64_t all)
{
    struct stop *stop = working.stop;
    if (stop == NULL || !working.owner)
        return;
    stop->done = done;
    stop->all = all;
    if (tells(stop))
        tell(stop, os_time_ns());
}

void stop_waits(const char *what)
{
    if (working.stop != NULL && working.owner)
        working.stop->waits = what;
}

/* ----------------------------------------------------------------- ask -- */

bool stop_asked(void)
{
    struct stop *stop = working.stop;
    note_ask(stop != NULL);
    paged_put_away();
    if (tells(stop)) {
        uint64_t now = os_time_ns();
        if (now - stop->told_ns >= tell_every_ns)
            tell(stop, now);
    }
    for (; stop != NULL; stop = stop->outer)
        if (atomic_load_explicit(&stop->cancelled, memory_order_relaxed))
            return true;
    return false;
}

enum vdbq_status stop_pause(struct error *error)
{
    return stop_asked() ? error_cancelled(error) : VDBQ_OK;
}

enum vdbq_status stop_or_no_memory(struct error *error)
{
    return stop_asked() ? error_cancelled(error) : error_no_memory(error);
}
