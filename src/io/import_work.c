/* SPDX-License-Identifier: MIT */
/*
 * Parts looked at in threads and taken in order. One lock guards the state;
 * part n is always in slot n % slots, and is begun only once the part that
 * had the slot before it has been taken.
 */
#include "io/import_inner.h"

#include <pthread.h>
#include <unistd.h>

struct state {
    const struct import_work *work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned next;                /* the part that will be begun next        */
    unsigned taken;               /* parts taken                             */
    bool stop;                    /* begin no more                           */
    bool ready[IMPORT_SLOTS_MAX]; /* looked at, and not taken  */
};

unsigned import_threads(const struct import *import)
{
    long cores = import->params->threads ? (long)import->params->threads
                                         : sysconf(_SC_NPROCESSORS_ONLN);
    unsigned most = IMPORT_SLOTS_MAX - 2;
    unsigned threads = cores < 1            ? 1
                       : cores > (long)most ? most
                                            : (unsigned)cores;
    return threads < import->parts ? threads : import->parts;
}

/* The next part to look at; false when there is none left. */
static bool begin(struct state *state, unsigned *part)
{
    const struct import_work *work = state->work;
    while (!state->stop && state->next < work->parts
           && state->next >= state->taken + work->slots)
        pthread_cond_wait(&state->changed, &state->lock);
    if (state->stop || state->next == work->parts)
        return false;
    *part = state->next++;
    return true;
}

static void *look_at_parts(void *context)
{
    struct state *state = context;
    const struct import_work *work = state->work;
    unsigned part;
    pthread_mutex_lock(&state->lock);
    while (begin(state, &part)) {
        pthread_mutex_unlock(&state->lock);
        work->look(work->context, part, part % work->slots);
        pthread_mutex_lock(&state->lock);
        state->ready[part % work->slots] = true;
        pthread_cond_broadcast(&state->changed);
    }
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

static void take_parts(struct state *state)
{
    const struct import_work *work = state->work;
    bool more = true;
    pthread_mutex_lock(&state->lock);
    for (unsigned part = 0; more && part < work->parts; part++) {
        unsigned slot = part % work->slots;
        while (!state->ready[slot])
            pthread_cond_wait(&state->changed, &state->lock);
        pthread_mutex_unlock(&state->lock);
        more = work->take(work->context, part, slot);
        pthread_mutex_lock(&state->lock);
        state->ready[slot] = false;
        state->taken = part + 1;
        pthread_cond_broadcast(&state->changed);
    }
    state->stop = true;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
}

/* Where no thread can be had. */
static void work_alone(const struct import_work *work)
{
    for (unsigned part = 0; part < work->parts; part++) {
        work->look(work->context, part, 0);
        if (!work->take(work->context, part, 0))
            return;
    }
}

void import_work(const struct import_work *work)
{
    struct state state = { .work = work };
    pthread_t threads[IMPORT_SLOTS_MAX];
    unsigned started = 0;
    pthread_mutex_init(&state.lock, NULL);
    pthread_cond_init(&state.changed, NULL);
    while (started < work->threads
           && !pthread_create(&threads[started], NULL, look_at_parts, &state))
        started++;
    if (started)
        take_parts(&state);
    else
        work_alone(work);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&state.changed);
    pthread_mutex_destroy(&state.lock);
}
