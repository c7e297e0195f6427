/* SPDX-License-Identifier: MIT */
/*
 * The memory of slots: pinned or plain memory that the columns are copied to, or
 * their tablet where it lies in the file (pool rule 4). Room for it is taken from
 * idle slots, oldest first, and never from one in use (pool rules 2 and 3).
 */
#include "data/pool/pool_inner.h"

#include <assert.h>
#include <limits.h>

#include "base/hostile.h"
#include "data/tablet/block.h"

enum {
    LOOK_MAX = 16,                  /* idle slots that are looked at for the
                                       right size                         */
    SLOTS_MAX = HOSTILE(2, INT_MAX) /* tablets at once                    */
};

static bool stays(const struct pool *pool, const struct projection *projection);
static bool is_too_far_ahead(const struct pool *pool, const struct slot *slot,
                             uint64_t size);
static enum vdbq_status give(struct pool *pool, struct slot *slot,
                             const struct projection *projection, uint64_t size,
                             struct error *error);
static uint64_t own_budget(const struct pool *pool, uint64_t size);
static bool has_room(const struct pool *pool, uint64_t most, uint64_t size);
static void shrink(struct pool *pool, uint64_t most);
static struct slot *idle_that_fits(const struct pool *pool,
                                   const struct slot *wanted, uint64_t size);
static void take_memory(struct pool *pool, struct slot *idle,
                        struct slot *slot);
static enum vdbq_status make_room(struct pool *pool, uint64_t size, bool ahead,
                                  struct error *error);
static enum vdbq_status make_memory(struct pool *pool,
                                    const struct projection *projection,
                                    uint64_t size, struct slot *slot,
                                    struct error *error);
static enum vdbq_status no_room(const struct pool *pool, uint64_t size,
                                struct error *error);

enum vdbq_status pool_memory_give(struct pool *pool, struct slot *slot,
                                  struct projection *projection,
                                  struct error *error)
{
    projection->in_place = stays(pool, projection);
    return give(pool, slot, projection,
                page_round(projection_lay_out(projection)), error);
}

enum vdbq_status pool_memory_copied(struct pool *pool, struct slot *slot,
                                    uint64_t size, struct error *error)
{
    return give(pool, slot, &(struct projection){ .in_place = false },
                page_round(size), error);
}

/* Gives a slot memory of that size for a projection. */
static enum vdbq_status give(struct pool *pool, struct slot *slot,
                             const struct projection *projection, uint64_t size,
                             struct error *error)
{
    struct slot *idle;
    enum vdbq_status status;

    if (size > pool->budget_bytes || is_too_far_ahead(pool, slot, size))
        return no_room(pool, size, error);
    shrink(pool, own_budget(pool, size));
    idle = projection->in_place ? NULL : idle_that_fits(pool, slot, size);
    if (idle != NULL
        && (idle->dead || !has_room(pool, own_budget(pool, size), size))) {
        take_memory(pool, idle, slot);
        return VDBQ_OK;
    }
    status = make_room(pool, size, slot->ahead, error);
    if (status == VDBQ_OK)
        status = make_memory(pool, projection, size, slot, error);
    if (status != VDBQ_OK)
        return status;
    slot->size_bytes = size;
    pool->used_bytes += size;
    return VDBQ_OK;
}

/* Whether tablets like this one, those that come ahead and one that is used,
 * would take more of the budget than all leave who need it beside the pool. */
static bool is_too_far_ahead(const struct pool *pool, const struct slot *slot,
                             uint64_t size)
{
    return slot->ahead
           && size > pool->budget_bytes / 2 / (pool->ahead_count + 2);
}

/* Whether the columns stay in the file: the device reaches the whole tablet. */
static bool stays(const struct pool *pool, const struct projection *projection)
{
    return pool->maps && projection_may_stay(projection)
           && projection->tablet->size_bytes
                  <= device_facts(pool->device)->buffer_max_bytes;
}

/* --------------------------------------------------------------- room -- */

/* What slots may take of the budget beside others, and at least `size`. */
static uint64_t own_budget(const struct pool *pool, uint64_t size)
{
    assert(size <= pool->budget_bytes);
    uint64_t others = pool->others != NULL ? *pool->others : 0;

    return others < pool->budget_bytes - size ? pool->budget_bytes - others
                                              : size;
}

/* Whether one of `size` bytes more is no more than `most` of all. */
static bool has_room(const struct pool *pool, uint64_t most, uint64_t size)
{
    return pool->used_bytes <= most - size
           && pool->names.slot_count < SLOTS_MAX;
}

/* Lets idle slots go that are more than that, oldest first. */
static void shrink(struct pool *pool, uint64_t most)
{
    struct slot *idle = idle_slot(pool->idle.oldest);

    while (idle != NULL && !idle->ahead && pool->used_bytes > most) {
        pool_slot_drop(pool, idle);
        idle = idle_slot(pool->idle.oldest);
    }
}

/* Lets idle slots go until `size` bytes more are within the budget. `ahead`:
 * none of those that wait for a pin. */
static enum vdbq_status make_room(struct pool *pool, uint64_t size, bool ahead,
                                  struct error *error)
{
    uint64_t most = own_budget(pool, size);

    while (!has_room(pool, most, size)) {
        struct slot *idle = idle_slot(pool->idle.oldest);
        if (idle == NULL || (ahead && idle->ahead)) {
            if (!ahead && has_room(pool, pool->budget_bytes, size))
                break; /* what is needed now comes before others */
            return no_room(pool, size, error);
        }
        pool_slot_drop(pool, idle);
    }
    return VDBQ_OK;
}

enum vdbq_status pool_no_room(const struct pool_shortage *shortage,
                              struct error *error)
{
    uint64_t enough = shortage->used_bytes + 2 * shortage->size_bytes;
    error_set(error, VDBQ_LIMIT,
              "a tablet of %llu bytes does not fit: %llu of %llu bytes%s for "
              "tablets are in use",
              (unsigned long long)shortage->size_bytes,
              (unsigned long long)shortage->used_bytes,
              (unsigned long long)shortage->budget_bytes, shortage->whose);
    return error_hint(error,
                      "%sgive more memory: set %s, for instance to "
                      "%lluM",
                      shortage->instead, shortage->variable,
                      (unsigned long long)(enough >> 20) + 1);
}

/* Says how much was wanted, and which setting gives more. */
static enum vdbq_status no_room(const struct pool *pool, uint64_t size,
                                struct error *error)
{
    return pool_no_room(
        &(struct pool_shortage){ .size_bytes = size,
                                 .used_bytes = pool->used_bytes,
                                 .budget_bytes = pool->budget_bytes,
                                 .whose = "",
                                 .instead = "",
                                 .variable = "VDBQ_MEMORY" },
        error);
}

/* ------------------------------------------------------------- memory -- */

/* Whether memory is large enough, and not wasted. */
static bool size_fits(uint64_t size, uint64_t wanted)
{
    return size >= wanted && size - wanted <= size / 4;
}

/* Whether the memory of an idle slot may become that of another one: what is
 * ahead leaves those alone that wait for a pin. */
static bool may_serve(const struct slot *idle, const struct slot *wanted,
                      uint64_t size)
{
    return idle->mapped == NULL && size_fits(idle->size_bytes, size)
           && idle->plain == wanted->plain && !(wanted->ahead && idle->ahead);
}

/* An idle slot, among the oldest, whose memory fits, a dead one if there is
 * such; NULL: there is none. */
static struct slot *idle_that_fits(const struct pool *pool,
                                   const struct slot *wanted, uint64_t size)
{
    struct slot *slot = idle_slot(pool->idle.oldest), *fits = NULL;

    for (unsigned i = 0; i < LOOK_MAX && slot != NULL; i++) {
        if (may_serve(slot, wanted, size) && (fits == NULL || slot->dead))
            fits = slot;
        if (fits != NULL && fits->dead)
            break;
        slot = idle_slot(slot->idle.newer);
    }
    return fits;
}

/* The memory of an idle slot, which goes. */
static void take_memory(struct pool *pool, struct slot *idle, struct slot *slot)
{
    assert(idle->pins == 0 && slot->shown.memory == NULL);
    slot->size_bytes = idle->size_bytes;
    slot->shown.memory = idle->shown.memory;
    idle->shown.memory = NULL;
    pool_slot_drop(pool, idle);
}

/* The memory of a slot that has room: new, or the tablet in the file. */
static enum vdbq_status make_memory(struct pool *pool,
                                    const struct projection *projection,
                                    uint64_t size, struct slot *slot,
                                    struct error *error)
{
    enum vdbq_status status;

    if (!projection->in_place)
        return device_memory_create(pool->device,
                                    slot->plain ? MEMORY_PLAIN : MEMORY_PINNED,
                                    size, &slot->shown.memory, error);
    status = projection_map(projection, &slot->mapped, error);
    slot->mapped_bytes = projection->tablet->size_bytes;
    slot->mapped_in = projection->database;
    slot->shown.in_place = true;
    return status == VDBQ_OK ? device_memory_wrap(pool->device, slot->mapped,
                                                  slot->mapped_bytes,
                                                  &slot->shown.memory, error)
                             : status;
}

/* ------------------------------------------------------------- leaving -- */

/* On whatever thread. */
static void unmap(struct thread_pool_job *job)
{
    const struct pool_leaving *leaving = (const struct pool_leaving *)job;

    projection_unmap(leaving->database, leaving->mapped, leaving->bytes);
}

/* Has a slot's tablet unmapped. No other is on its way out then, so that no
 * more than one is in memory beside what the budget allows, for a moment. */
static void leave(struct pool *pool, const struct slot *slot)
{
    assert(slot->mapped != NULL);
    pool_memory_settle(pool);
    pool->leaving = (struct pool_leaving){ .job = { .run = unmap },
                                           .database = slot->mapped_in,
                                           .mapped = slot->mapped,
                                           .bytes = slot->mapped_bytes };
    if (pool->workers != NULL)
        thread_pool_start(pool->workers, &pool->leaving.job);
    else
        pool_memory_settle(pool);
}

void pool_memory_release(struct pool *pool, struct slot *slot)
{
    assert(slot->shown.memory == NULL || pool->used_bytes >= slot->size_bytes);
    if (slot->shown.memory != NULL)
        pool->used_bytes -= slot->size_bytes;
    device_memory_destroy(slot->shown.memory);
    if (slot->mapped != NULL)
        leave(pool, slot);
    slot->shown.memory = NULL;
    slot->mapped = NULL;
}

void pool_memory_settle(struct pool *pool)
{
    if (pool->leaving.mapped != NULL)
        thread_pool_finish(pool->workers, &pool->leaving.job);
    pool->leaving.mapped = NULL;
}
