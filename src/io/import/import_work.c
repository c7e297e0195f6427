/* SPDX-License-Identifier: MIT */
/*
 * Parts looked at in threads and taken in order. One lock guards the state;
 * part n is always in slot n % slots, and is begun only once the part that
 * had the slot before it has been taken. One thread at a time cuts the next
 * part, with the lock open: a packed text is unpacked then.
 */
#include "io/import/import_inner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const long asked_every_ns = 20000000;

/* A part on its way. */
struct slot {
    struct import_part part;
    uint64_t lines; /* that end in it            */
    bool ready;     /* looked at, and not taken  */
};

struct state {
    const struct import_work *work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned next;  /* the part that will be begun next        */
    unsigned taken; /* parts taken                             */
    bool cutting;   /* a thread cuts the next part             */
    bool ended;     /* there are no more                       */
    bool stop;      /* begin no more                           */
    uint64_t file;  /* bytes of the file that were taken       */
    uint64_t rows;  /* in parts that were taken                */
    struct slot slot[IMPORT_SLOTS_MAX];
};

unsigned import_threads(const struct import *import)
{
    const struct import_text *text = &import->text;
    long cores = import->params->threads ? (long)import->params->threads
                                         : sysconf(_SC_NPROCESSORS_ONLN);
    long most = IMPORT_SLOTS_MAX - 2;
    bool more = text->map ? text->at < text->map_end
                          : !text->ended || text->rest_length;
    if (!more || cores < 1)
        return 1;
    return (unsigned)(cores > most ? most : cores);
}

/* The part behind the header, and those that follow. */
static bool cut(struct import *import, unsigned number,
                struct import_part *part)
{
    const struct import_part *first = &import->text.first;
    if (number > 0)
        return import_text_next(import, part);
    *part = (struct import_part){ .start = import->body,
                                  .end = first->end,
                                  .taken = first->taken };
    return true;
}

/* Cuts the next part into its slot; false when there is none left. */
static bool begin(struct state *state, unsigned *number)
{
    const struct import_work *work = state->work;
    while (!state->stop && !state->ended
           && (state->cutting || state->next >= state->taken + work->slots))
        pthread_cond_wait(&state->changed, &state->lock);
    if (state->stop || state->ended)
        return false;
    *number = state->next;
    state->cutting = true;
    pthread_mutex_unlock(&state->lock);
    struct slot *slot = &state->slot[*number % work->slots];
    bool found = cut(work->import, *number, &slot->part);
    pthread_mutex_lock(&state->lock);
    state->cutting = false;
    state->next += found;
    state->ended = !found || slot->part.failed;
    pthread_cond_broadcast(&state->changed);
    return found;
}

static uint64_t count_lines(const char *at, const char *end)
{
    uint64_t lines = 0;
    for (; at < end; at++)
        lines += *at == '\n';
    return lines;
}

static void look(const struct import_work *work, struct slot *slot,
                 unsigned number)
{
    if (slot->part.failed)
        return;
    work->look(work->context, &slot->part, number % work->slots);
    if (!work->import->text.map)
        slot->lines = count_lines(slot->part.start, slot->part.end);
}

static void *look_at_parts(void *context)
{
    struct state *state = context;
    const struct import_work *work = state->work;
    unsigned number;
    pthread_mutex_lock(&state->lock);
    while (begin(state, &number)) {
        struct slot *slot = &state->slot[number % work->slots];
        pthread_mutex_unlock(&state->lock);
        look(work, slot, number);
        pthread_mutex_lock(&state->lock);
        slot->ready = true;
        pthread_cond_broadcast(&state->changed);
    }
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

/* Takes a part; the lock is open. Places are counted from the start of the text
 * where that is mapped or at hand, else from the part's. */
static enum vdbq_status take(struct state *state, unsigned number)
{
    const struct import_work *work = state->work;
    struct import *import = work->import;
    struct slot *slot = &state->slot[number % work->slots];
    const struct import_part *part = &slot->part;
    const struct import_failure *failure = &import->text.failure;
    if (part->failed)
        return failure->status == VDBQ_CANCELLED
                   ? import_fail_stopped(import)
                   : import_fail(import, failure->status, failure->hint, "%s",
                                 failure->message);
    if (part->room)
        import->counted = part->start;
    if (!import_goes_on(import, part->taken, state->rows))
        return import_fail_stopped(import);
    enum vdbq_status status =
        work->take(work->context, number % work->slots, &state->rows);
    state->file = part->taken;
    import->lines += slot->lines;
    if (number == 0 && !import->text.map)
        import->lines += count_lines(import->text.first.room, import->body);
    import_text_leave(import, part);
    free(slot->part.room);
    slot->part.room = NULL;
    return status;
}

/* Waits until a part was looked at, or there is none; whoever asks may stop it
 * meanwhile. */
static enum vdbq_status wait_for(struct state *state, unsigned number)
{
    const struct import_work *work = state->work;
    const struct slot *slot = &state->slot[number % work->slots];
    while (!slot->ready && !(state->ended && state->next <= number)) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += asked_every_ns;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&state->changed, &state->lock, &until) != 0
            && !import_goes_on(work->import, state->file, state->rows))
            return import_fail_stopped(work->import);
    }
    return VDBQ_OK;
}

static enum vdbq_status take_parts(struct state *state)
{
    const struct import_work *work = state->work;
    enum vdbq_status status = VDBQ_OK;
    pthread_mutex_lock(&state->lock);
    for (unsigned number = 0; status == VDBQ_OK; number++) {
        struct slot *slot = &state->slot[number % work->slots];
        status = wait_for(state, number);
        if (status != VDBQ_OK || !slot->ready)
            break;
        pthread_mutex_unlock(&state->lock);
        status = take(state, number);
        pthread_mutex_lock(&state->lock);
        slot->ready = false;
        slot->lines = 0;
        state->taken = number + 1;
        pthread_cond_broadcast(&state->changed);
    }
    state->stop = true;
    atomic_store(&work->import->text.stop, true);
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
    return status;
}

/* Where no thread can be had. */
static enum vdbq_status work_alone(struct state *state)
{
    const struct import_work *work = state->work;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned number = 0; status == VDBQ_OK; number++) {
        struct slot *slot = &state->slot[number % work->slots];
        *slot = (struct slot){ 0 };
        if (!cut(work->import, number, &slot->part))
            break;
        look(work, slot, number);
        status = take(state, number);
    }
    return status;
}

static void state_open(struct state *state)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&state->lock, NULL);
    pthread_cond_init(&state->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void state_close(struct state *state)
{
    for (unsigned i = 0; i < IMPORT_SLOTS_MAX; i++)
        free(state->slot[i].part.room);
    pthread_cond_destroy(&state->changed);
    pthread_mutex_destroy(&state->lock);
}

enum vdbq_status import_work(const struct import_work *work)
{
    struct state state = { .work = work };
    pthread_t threads[IMPORT_SLOTS_MAX];
    unsigned started = 0;
    state_open(&state);
    atomic_store(&work->import->text.stop, false);
    work->import->text.shared = true;
    while (started < work->threads
           && !pthread_create(&threads[started], NULL, look_at_parts, &state))
        started++;
    if (!started)
        work->import->text.shared = false;
    enum vdbq_status status = started ? take_parts(&state) : work_alone(&state);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    work->import->text.shared = false;
    state_close(&state);
    return status;
}
