/* SPDX-License-Identifier: MIT */
/*
 * Chunks looked at in threads and taken in order. One lock guards the state;
 * chunk n is always in slot n % slots, and is begun only once the chunk that
 * had the slot before it has been taken.
 */
#include "io/import_inner.h"

#include <pthread.h>
#include <unistd.h>

struct state {
    const struct import_work *work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned next;                /* the chunk that will be begun next       */
    unsigned taken;               /* chunks taken                            */
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
    return threads < import->chunks ? threads : import->chunks;
}

/* The next chunk to look at; false when there is none left. */
static bool begin(struct state *state, unsigned *chunk)
{
    const struct import_work *work = state->work;
    while (!state->stop && state->next < work->chunks
           && state->next >= state->taken + work->slots)
        pthread_cond_wait(&state->changed, &state->lock);
    if (state->stop || state->next == work->chunks)
        return false;
    *chunk = state->next++;
    return true;
}

static void *look_at_chunks(void *context)
{
    struct state *state = context;
    const struct import_work *work = state->work;
    unsigned chunk;
    pthread_mutex_lock(&state->lock);
    while (begin(state, &chunk)) {
        pthread_mutex_unlock(&state->lock);
        work->look(work->context, chunk, chunk % work->slots);
        pthread_mutex_lock(&state->lock);
        state->ready[chunk % work->slots] = true;
        pthread_cond_broadcast(&state->changed);
    }
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

static void take_chunks(struct state *state)
{
    const struct import_work *work = state->work;
    bool more = true;
    pthread_mutex_lock(&state->lock);
    for (unsigned chunk = 0; more && chunk < work->chunks; chunk++) {
        unsigned slot = chunk % work->slots;
        while (!state->ready[slot])
            pthread_cond_wait(&state->changed, &state->lock);
        pthread_mutex_unlock(&state->lock);
        more = work->take(work->context, chunk, slot);
        pthread_mutex_lock(&state->lock);
        state->ready[slot] = false;
        state->taken = chunk + 1;
        pthread_cond_broadcast(&state->changed);
    }
    state->stop = true;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
}

/* Where no thread can be had. */
static void work_alone(const struct import_work *work)
{
    for (unsigned chunk = 0; chunk < work->chunks; chunk++) {
        work->look(work->context, chunk, 0);
        if (!work->take(work->context, chunk, 0))
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
           && !pthread_create(&threads[started], NULL, look_at_chunks, &state))
        started++;
    if (started)
        take_chunks(&state);
    else
        work_alone(work);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&state.changed);
    pthread_mutex_destroy(&state.lock);
}
