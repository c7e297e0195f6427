/* SPDX-License-Identifier: MIT */
/*
 * Large slabs: see slabs.h. A slab starts at a multiple of a large page,
 * which few addresses of the C library do; the table of all slabs tells.
 * There is room behind what was asked for, which costs nothing until it is
 * written. One lock guards the table, over fork(), too.
 */
#include "base/slabs.h"

#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE_LARGE = 2 << 20, /* bytes of a large page                  */
    SIZE_LEAST = 1 << 20, /* bytes of what becomes a slab           */
    SLABS_MAX = 1024,     /* others are the C library's             */
    ROOM = 2,             /* a slab has so many times what was asked */
    LARGE_KEPT = 16 << 20 /* who keeps less has no memory to spare: the ends
                             of slabs would fill large pages          */
};

struct slab {
    char *memory; /* of `room` bytes of addresses */
    size_t room;
    size_t used;    /* bytes that may have been written */
    bool taken;     /* somebody has it */
    unsigned since; /* when it was given back: the least is the oldest */
};

static struct {
    pthread_mutex_t lock;
    struct slab slabs[SLABS_MAX];
    unsigned count; /* of `slabs` */
    unsigned clock; /* slabs that were given back, ever */
    size_t kept;    /* bytes of slabs that nobody has */
    size_t most;    /* of these; SIZE_MAX: not yet set */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER, .most = SIZE_MAX };

/* ----------------------------------------------------------------- room -- */

/* Whether so many bytes, and what is added to them, can be counted. */
static bool is_countable(size_t size)
{
    return size < SIZE_MAX / (2 * ROOM);
}

/* Room for so many bytes, with some more behind. */
static size_t room_for(size_t size)
{
    assert(is_countable(size));
    return (size * ROOM + PAGE_LARGE - 1) / PAGE_LARGE * PAGE_LARGE;
}

/* ---------------------------------------------------------------- table -- */

static void lock(void)
{
    pthread_mutex_lock(&all.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&all.lock);
}

static void watch_forks(void)
{
    pthread_atfork(lock, unlock, unlock);
}

/* Whether an address may be a slab's. */
static bool is_aligned(const void *memory)
{
    return memory != NULL && (uintptr_t)memory % PAGE_LARGE == 0;
}

/* The slab at an address; NULL: it is the C library's. The lock is held. */
static struct slab *slab_at(const void *memory)
{
    for (unsigned i = 0; i < all.count; i++)
        if (all.slabs[i].memory == memory && all.slabs[i].taken)
            return &all.slabs[i];
    return NULL;
}

/* Whether a slab has more pages than a new one has room for: small memory that
 * stays would keep them all. What grows in its room may come back as it is. */
static bool is_wasted(const struct slab *slab, size_t size)
{
    return slab->used > room_for(size);
}

/* The smallest slab that nobody has, with so much room. */
static struct slab *free_slab(size_t size)
{
    struct slab *best = NULL;
    for (unsigned i = 0; i < all.count; i++) {
        struct slab *slab = &all.slabs[i];
        if (!slab->taken && slab->room >= size && !is_wasted(slab, size)
            && (best == NULL || slab->room < best->room))
            best = slab;
    }
    return best;
}

/* The slab that nobody has had for the longest time; NULL: all are taken. */
static struct slab *oldest_slab(void)
{
    struct slab *oldest = NULL;
    for (unsigned i = 0; i < all.count; i++) {
        struct slab *slab = &all.slabs[i];
        if (!slab->taken && (oldest == NULL || slab->since < oldest->since))
            oldest = slab;
    }
    return oldest;
}

/* Gives a slab that nobody has to the system. */
static void forget(struct slab *slab)
{
    assert(!slab->taken && all.kept >= slab->used);
    all.kept -= slab->used;
    munmap(slab->memory, slab->room);
    *slab = all.slabs[--all.count];
}

static void forget_until(size_t bytes)
{
    for (struct slab *slab = oldest_slab(); slab != NULL && all.kept > bytes;
         slab = oldest_slab())
        forget(slab);
}

/* The default of what is kept. */
static size_t usual_most(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (size_t)pages / 32 * (size_t)bytes : 0;
}

/* ---------------------------------------------------------------- pages -- */

/* New addresses that start at a large page; NULL: there is no memory. */
static char *map_room(size_t room)
{
    size_t size = room + PAGE_LARGE;
    char *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    size_t before = (PAGE_LARGE - (uintptr_t)mapped % PAGE_LARGE) % PAGE_LARGE;
    if (before > 0)
        munmap(mapped, before);
    munmap(mapped + before + room, PAGE_LARGE - before);
#ifdef MADV_HUGEPAGE
    madvise(mapped + before, room,
            all.most < LARGE_KEPT ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
#endif
    return mapped + before;
}

/* Somebody gets a slab that nobody has. */
static struct slab *give(struct slab *slab, size_t size)
{
    all.kept -= slab->used;
    slab->taken = true;
    if (slab->used < size)
        slab->used = size;
    return slab;
}

/* Takes a slab, an old one or a new one; NULL: there is none. */
static struct slab *take(size_t size)
{
    struct slab *slab = free_slab(size);
    if (slab == NULL) {
        if (all.count == SLABS_MAX && oldest_slab() != NULL)
            forget(oldest_slab());
        char *memory = all.count < SLABS_MAX ? map_room(room_for(size)) : NULL;
        if (memory == NULL)
            return NULL;
        slab = &all.slabs[all.count++];
        *slab = (struct slab){ .memory = memory, .room = room_for(size) };
    }
    return give(slab, size);
}

/* Moves a slab's pages to where there is more room. */
static bool move(struct slab *slab, size_t size)
{
    size_t room = is_countable(size) ? room_for(size) : 0;
    char *memory = room > 0 ? map_room(room) : NULL;
    if (memory == NULL)
        return false;
    assert(room > slab->room);
    if (mremap(slab->memory, slab->room, slab->room,
               MREMAP_MAYMOVE | MREMAP_FIXED, memory)
        == MAP_FAILED) {
        munmap(memory, room);
        return false;
    }
    slab->memory = memory;
    slab->room = room;
    return true;
}

/* ---------------------------------------------------------------- calls -- */

/* Makes a slab of memory that the C library has, or of none. */
static void *begin_slab(void *old, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t had = old != NULL ? malloc_usable_size(old) : 0;
    pthread_once(&once, watch_forks);
    lock();
    struct slab *slab = take(size);
    char *memory = slab != NULL ? slab->memory : NULL;
    unlock();
    if (memory == NULL)
        return realloc(old, size);
    if (old != NULL)
        memcpy(memory, old, had < size ? had : size);
    free(old);
    return memory;
}

/* Gives a slab another size, in place if it can; `*found`: it is one. Another
 * one that is kept is better than new pages: then `*copied` bytes of the old one
 * have to be copied there, and that has to be given back. */
static void *resize_slab(void *old, size_t size, bool *found, size_t *copied)
{
    lock();
    struct slab *slab = slab_at(old);
    struct slab *other =
        slab != NULL && size > slab->room ? free_slab(size) : NULL;
    void *memory = NULL;
    *found = slab != NULL;
    if (other != NULL) {
        *copied = slab->used;
        memory = give(other, size)->memory;
    } else if (slab != NULL && (size <= slab->room || move(slab, size))) {
        memory = slab->memory;
        if (slab->used < size)
            slab->used = size;
    }
    unlock();
    return memory;
}

/* Keeps a slab that somebody gives back; false: it is none. */
static bool keep(void *memory)
{
    lock();
    struct slab *slab = slab_at(memory);
    if (slab != NULL) {
        slab->taken = false;
        slab->since = all.clock++;
        all.kept += slab->used;
        if (all.most == SIZE_MAX)
            all.most = usual_most();
        forget_until(all.most);
    }
    unlock();
    return slab != NULL;
}

void *slabs_resize(void *old, size_t size)
{
    bool found = false;
    if (is_aligned(old)) {
        size_t copied = 0;
        void *memory = resize_slab(old, size, &found, &copied);
        if (copied > 0) {
            memcpy(memory, old, copied);
            keep(old);
        }
        if (found)
            return memory;
    }
    return size >= SIZE_LEAST && is_countable(size) ? begin_slab(old, size)
                                                    : realloc(old, size);
}

bool slabs_extend(void *memory, size_t size)
{
    if (!is_aligned(memory))
        return false;
    lock();
    struct slab *slab = slab_at(memory);
    bool has_room = slab != NULL && size <= slab->room;
    if (has_room && slab->used < size)
        slab->used = size;
    unlock();
    return has_room;
}

void slabs_release(void *memory)
{
    if (!is_aligned(memory) || !keep(memory))
        free(memory);
}

void slabs_keep(size_t bytes)
{
    lock();
    all.most = bytes;
    forget_until(bytes);
    unlock();
}

void slabs_forget(void)
{
    lock();
    forget_until(0);
    unlock();
}

size_t slabs_kept(void)
{
    lock();
    size_t kept = all.kept;
    unlock();
    return kept;
}
