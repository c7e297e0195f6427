/* SPDX-License-Identifier: MIT */
/*
 * The pool of pinned slots: the calls of pool.h.
 *
 * Rules of all its files, which pool_inner.h lists, cited by their numbers:
 *  1. Every slot holds a projection of one tablet, by whose identity it is found.
 *     No two tablets ever have the same (identity rule 1), whatever becomes of
 *     their place in the file.
 *  2. A slot that nobody uses is in the list of idle slots, oldest first, from
 *     which room is taken. Pinning memory is slow, so memory whose size is
 *     right goes from slot to slot, at once where the former is dead: its tablet
 *     is in no state that anybody may ask for, or was moved to the device.
 *  3. The sizes of all slots together never exceed the budget.
 *  4. The memory of a slot in place is its tablet in the file, mapped for as
 *     long as the slot is there. Its pages come as the device touches them: to
 *     have the thread pool touch them first takes as long (8M rows, POCL on two
 *     cores).
 *  5. Who pins a slot and waits for others to pin theirs is a holder: where there
 *     is no room it lets go of what it can. So whoever pins needs no more room
 *     than for what it cannot do without itself.
 *  6. A slot whose load is under way is idle. The thread pool's threads fill its
 *     memory, and unmap tablets that have left; all else of a slot, and the
 *     pool, is touched by the pool's own thread alone.
 */
#include "data/pool/pool.h"

#include <assert.h>

#include "base/os/os.h"
#include "data/pool/pool_inner.h"

enum {
    THREADS_MAX = 32, /* that load; they are not more than the cores      */
    PROOFS_SHARE = 64 /* of the budget, at most, goes to what is proven   */
};
#define PROOFS_LEAST (UINT64_C(1) << 16)

enum vdbq_status pool_create(struct database *database, struct device *device,
                             uint64_t budget_bytes, struct pool **pool,
                             struct error *error)
{
    struct pool *made = memory_zeroed(1, sizeof *made);

    *pool = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->database = database;
    made->device = device;
    made->budget_bytes = budget_bytes;
    made->proofs.limit_bytes = budget_bytes / PROOFS_SHARE + PROOFS_LEAST;
    if (!pool_names_init(&made->names)) {
        memory_release(made);
        return error_no_memory(error);
    }
    *pool = made;
    return VDBQ_OK;
}

const struct database *pool_database(const struct pool *pool)
{
    return pool->database;
}

void pool_share(struct pool *pool, const atomic_uint_fast64_t *used_bytes)
{
    pool->others = used_bytes;
}

void pool_map(struct pool *pool)
{
    pool->maps = true;
}

bool pool_maps(const struct pool *pool)
{
    return pool->maps;
}

void pool_empty(struct pool *pool)
{
    while (pool->idle.oldest != NULL)
        pool_slot_drop(pool, idle_slot(pool->idle.oldest));
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    pool_empty(pool);
    pool_memory_settle(pool);
    thread_pool_destroy(pool->workers);
    proofs_finish(&pool->proofs);
    pool_names_finish(&pool->names);
    memory_release(pool);
}

/* Whether nobody works on any tablet. */
static bool is_idle(const struct pool *pool)
{
    size_t count = 0;

    for (const struct lru_link *at = pool->idle.oldest; at != NULL;
         at = at->newer)
        count++;
    return count == pool->names.slot_count;
}

/* Whether the device can go on with a slot that nobody uses. */
static bool slot_moves(struct slot *slot, struct device *device)
{
    struct device_times times = { 0 };
    struct error ignored;

    return slot->mapped == NULL
           && device_memory_take(slot->shown.memory, &times, &ignored)
                  == VDBQ_OK
           && device_memory_move(device, &slot->shown.memory, &ignored)
                  == VDBQ_OK;
}

bool pool_move(struct pool *pool, struct device *device, uint64_t budget_bytes)
{
    struct slot *slot = idle_slot(pool->idle.oldest), *newer;
    struct error ignored;

    if (!is_idle(pool))
        return false;
    pool->device = device;
    pool->budget_bytes = budget_bytes;
    for (; slot != NULL; slot = newer) {
        newer = idle_slot(slot->idle.newer);
        if (pool_slot_arrive(pool, slot, &ignored) == VDBQ_OK
            && (pool->used_bytes > budget_bytes || !slot_moves(slot, device)))
            pool_slot_drop(pool, slot);
    }
    return true;
}

uint64_t pool_load_ns(const struct pool *pool)
{
    return pool->load_ns;
}

uint64_t pool_bytes(const struct pool *pool)
{
    return pool->used_bytes;
}

/* ------------------------------------------------------------- holders -- */

void pool_join(struct pool *pool, struct pool_holder *holder)
{
    holder->next = pool->holders;
    pool->holders = holder;
}

void pool_leave(struct pool *pool, struct pool_holder *holder)
{
    struct pool_holder **at = &pool->holders;

    while (*at != NULL && *at != holder)
        at = &(*at)->next;
    if (*at != NULL)
        *at = holder->next;
}

enum vdbq_status pool_ask(struct pool *pool, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (struct pool_holder *at = pool->holders;
         at != NULL && status == VDBQ_OK; at = at->next)
        status = at->let_go(at, error);
    return status;
}

/* ---------------------------------------------------------------- pins -- */

/* Makes the slot that is wanted, where there is no room once holders have let
 * go of others. */
static enum vdbq_status start(struct pool *pool, const struct pool_want *want,
                              struct slot **slot, struct error *error)
{
    struct error refused;
    enum vdbq_status status =
        pool_slot_start(pool, want, false, slot, &refused);

    if (status == VDBQ_LIMIT && !want->yields && pool->holders != NULL) {
        status = pool_ask(pool, error);
        return status == VDBQ_OK
                   ? pool_slot_start(pool, want, false, slot, error)
                   : status;
    }
    if (status != VDBQ_OK)
        *error = refused;
    return status;
}

enum vdbq_status pool_pin(struct pool *pool, const struct pool_want *want,
                          struct pool_slot **slot, struct error *error)
{
    struct slot *found = pool_names_find(&pool->names, want);
    enum vdbq_status status = VDBQ_OK;

    *slot = NULL;
    if (found == NULL)
        status = start(pool, want, &found, error);
    if (status == VDBQ_OK)
        status = pool_slot_arrive(pool, found, error);
    if (status != VDBQ_OK)
        return status;
    if (found->pins == 0)
        lru_remove(&pool->idle, &found->idle);
    found->pins++;
    found->dead = false;
    found->moved &= want->moved;
    *slot = &found->shown;
    return VDBQ_OK;
}

void pool_release(struct pool *pool, struct pool_slot *slot)
{
    struct slot *released = (struct slot *)slot;

    if (slot == NULL)
        return;
    assert(released->pins > 0);
    if (--released->pins > 0)
        return;
    released->dead = released->moved;
    if (released->dead)
        lru_add_oldest(&pool->idle, &released->idle);
    else
        lru_add(&pool->idle, &released->idle);
}

/* --------------------------------------------------------------- ahead -- */

/* Hires the thread pool where the file can be read on its threads. */
static bool has_workers(struct pool *pool)
{
    if (pool->workers == NULL && database_reads_anywhere(pool->database)) {
        unsigned cores = os_cores(); /* which reads files of the system */
        pool->threads = cores < THREADS_MAX ? cores : THREADS_MAX;
        pool->workers = thread_pool_create(pool->threads);
    }
    return pool->workers != NULL;
}

bool pool_ahead(struct pool *pool, const struct pool_want *want)
{
    struct slot *slot;
    struct error ignored;

    if (pool_names_find(&pool->names, want) != NULL)
        return true;
    return has_workers(pool) && pool->ahead_count <= pool->threads
           && pool_slot_start(pool, want, true, &slot, &ignored) == VDBQ_OK;
}

void pool_settle(struct pool *pool)
{
    struct slot *slot = idle_slot(pool->idle.oldest), *newer;
    struct error ignored;

    for (; slot != NULL && pool->ahead_count > 0; slot = newer) {
        newer = idle_slot(slot->idle.newer);
        if (slot->ahead)
            pool_slot_arrive(pool, slot, &ignored);
    }
}
