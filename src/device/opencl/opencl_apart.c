/* SPDX-License-Identifier: MIT */
/*
 * Builds that a statement may stop waiting for: a compiler can take half a
 * minute, and nothing stops it. So it runs on a thread of its own. What was left
 * goes on; who asks for the same again waits for that build, and a device that
 * closes waits for all of them. A thread owns what it builds until `done` is
 * set; all else is the device's thread's.
 */
#include <assert.h>
#include <pthread.h>
#include <time.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "device/opencl/opencl.h"

enum { ASKED_EVERY_NS = 20000000 };

struct apart {
    struct opencl *opencl;
    const struct opencl_building *building;
    void *made; /* what is built */
    pthread_t thread;
    pthread_mutex_t lock; /* of `done` */
    pthread_cond_t ended;
    bool done;
    enum vdbq_status status; /* how it ended, and why */
    struct error error;
};

/* The thread. */
static void *build(void *context)
{
    struct apart *apart = context;

    apart->status =
        apart->building->build(apart->opencl, apart->made, &apart->error);
    pthread_mutex_lock(&apart->lock);
    apart->done = true;
    pthread_cond_signal(&apart->ended);
    pthread_mutex_unlock(&apart->lock);
    return NULL;
}

static void apart_free(struct apart *apart)
{
    pthread_cond_destroy(&apart->ended);
    pthread_mutex_destroy(&apart->lock);
    memory_release(apart);
}

static void locks_init(struct apart *apart)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&apart->lock, NULL);
    pthread_cond_init(&apart->ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Starts the thread and notes its build; NULL: there is no memory or thread. */
static struct apart *apart_start(struct opencl *opencl,
                                 const struct opencl_building *building,
                                 void *made)
{
    struct apart *apart = memory_zeroed(1, sizeof *apart);

    if (apart == NULL)
        return NULL;
    apart->opencl = opencl;
    apart->building = building;
    apart->made = made;
    locks_init(apart);
    if (!vector_append(&opencl->apart, &apart, 1)) {
        apart_free(apart);
        return NULL;
    }
    if (parallel_start(&apart->thread, 1, build, apart) == 1)
        return apart;
    opencl->apart.count--;
    apart_free(apart);
    return NULL;
}

/* The build under way, or left, of what equals `made`; NULL: there is none. */
static struct apart *apart_find(struct opencl *opencl,
                                const struct opencl_building *building,
                                const void *made)
{
    struct apart **all = VECTOR_ITEMS(&opencl->apart, struct apart *);

    for (size_t i = 0; i < opencl->apart.count; i++)
        if (all[i]->building == building
            && building->is_same(all[i]->made, made))
            return all[i];
    return NULL;
}

/* Waits for its end; false: the statement is to stop first. */
static bool wait_for(struct apart *apart)
{
    struct timespec until;
    bool stops = false;

    pthread_mutex_lock(&apart->lock);
    while (!apart->done && !(stops = stop_asked())) {
        until = os_time_after(CLOCK_MONOTONIC, ASKED_EVERY_NS);
        pthread_cond_timedwait(&apart->ended, &apart->lock, &until);
    }
    pthread_mutex_unlock(&apart->lock);
    return !stops;
}

/* Joins the thread, forgets the build and hands out how it ended. */
static enum vdbq_status take(struct opencl *opencl, struct apart *apart,
                             void **made, struct error *error)
{
    struct apart **all = VECTOR_ITEMS(&opencl->apart, struct apart *);
    enum vdbq_status status;
    size_t at = 0;

    pthread_join(apart->thread, NULL);
    while (all[at] != apart)
        at++;
    assert(at < opencl->apart.count && apart->done);
    all[at] = all[--opencl->apart.count];
    status = apart->status;
    *made = apart->made;
    if (status != VDBQ_OK) {
        *error = apart->error;
        apart->building->drop(apart->made);
        *made = NULL;
    }
    apart_free(apart);
    return status;
}

/* Builds on this thread, for who cannot be stopped. */
static enum vdbq_status build_here(struct opencl *opencl,
                                   const struct opencl_building *building,
                                   void **made, struct error *error)
{
    enum vdbq_status status = building->build(opencl, *made, error);

    if (status == VDBQ_OK)
        return VDBQ_OK;
    building->drop(*made);
    *made = NULL;
    return status;
}

enum vdbq_status opencl_build_apart(struct opencl *opencl,
                                    const struct opencl_building *building,
                                    void **made, struct error *error)
{
    struct apart *apart;
    bool ended;

    assert(*made != NULL);
    if (stop_current() == NULL)
        return build_here(opencl, building, made, error);
    apart = apart_find(opencl, building, *made);
    if (apart != NULL)
        building->drop(*made);
    else
        apart = apart_start(opencl, building, *made);
    if (apart == NULL)
        return build_here(opencl, building, made, error);
    *made = NULL;
    stop_waits("compiling kernels for the device, which keeps them");
    ended = wait_for(apart);
    stop_waits(NULL);
    return ended ? take(opencl, apart, made, error) : error_cancelled(error);
}

void opencl_apart_finish(struct opencl *opencl)
{
    struct apart **all = VECTOR_ITEMS(&opencl->apart, struct apart *);
    struct error ignored;

    while (opencl->apart.count > 0) {
        struct apart *apart = all[0];
        const struct opencl_building *building = apart->building;
        void *made;
        if (take(opencl, apart, &made, &ignored) == VDBQ_OK)
            building->drop(made);
    }
    vector_finish(&opencl->apart);
}
