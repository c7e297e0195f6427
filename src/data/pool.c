/* SPDX-License-Identifier: MIT */
/*
 * The pool of pinned slots.
 *
 * Every slot holds one tablet and is in the chain of its hash; a slot that
 * nobody uses is also in the list of idle slots, oldest first, from which
 * room is taken. A slot's name is its tablet's place, generation and
 * checksum: bytes that replace a commit which was lost are never taken for
 * its own. Pinning memory is slow, so a slot whose size is right changes its
 * tablet and keeps its memory. The sizes of all slots together never exceed
 * the budget.
 */
#include "data/pool.h"

#include <assert.h>
#include <string.h>

#include "base/os.h"
#include "data/block.h"
#include "data/tablet.h"

enum {
    BUCKETS_FIRST = 64,
    LOOK_MAX = 16 /* idle slots that are looked at for the right size */
};

struct slot {
    struct pool_slot shown; /* first: what callers hold              */
    uint64_t offset;        /* these three name the tablet           */
    uint64_t generation;
    uint64_t checksum;
    uint64_t size_bytes;    /* of its memory                         */
    unsigned pins;
    struct slot *chain;     /* the next in its bucket                */
    struct slot *older, *newer; /* among idle ones                   */
};

struct pool {
    struct database *database;
    struct device *device;
    uint64_t budget_bytes;
    uint64_t used_bytes;
    uint64_t load_ns;
    struct slot **buckets;  /* a power of two of them */
    size_t bucket_count;
    size_t slot_count;
    struct slot *oldest, *newest; /* of the idle slots */
};

static struct slot *find(const struct pool *pool,
                         const struct tablet_ref *tablet);
static enum vdbq_status make_room(struct pool *pool, uint64_t size,
                                  struct slot **slot, struct error *error);
static enum vdbq_status fill(struct pool *pool, struct slot *slot,
                             const struct table *table,
                             const struct tablet_ref *tablet,
                             struct error *error);
static void add_slot(struct pool *pool, struct slot *slot);
static void remove_slot(struct pool *pool, struct slot *slot);
static void idle_remove(struct pool *pool, struct slot *slot);
static void idle_add(struct pool *pool, struct slot *slot);
static void slot_destroy(struct pool *pool, struct slot *slot);

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
    made->bucket_count = BUCKETS_FIRST;
    made->buckets = memory_zeroed(BUCKETS_FIRST, sizeof *made->buckets);
    if (made->buckets == NULL) {
        memory_release(made);
        return error_no_memory(error);
    }
    *pool = made;
    return VDBQ_OK;
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    while (pool->oldest != NULL) {
        struct slot *slot = pool->oldest;
        idle_remove(pool, slot);
        remove_slot(pool, slot);
        slot_destroy(pool, slot);
    }
    assert(pool->slot_count == 0);
    memory_release(pool->buckets);
    memory_release(pool);
}

enum vdbq_status pool_pin(struct pool *pool, const struct table *table,
                          const struct tablet_ref *tablet,
                          struct pool_slot **slot, struct error *error)
{
    struct slot *found = find(pool, tablet);
    enum vdbq_status status;

    *slot = NULL;
    if (found == NULL) {
        status = make_room(pool, page_round(tablet->size_bytes), &found,
                           error);
        if (status != VDBQ_OK)
            return status;
        status = fill(pool, found, table, tablet, error);
        if (status != VDBQ_OK) {
            slot_destroy(pool, found);
            return status;
        }
        add_slot(pool, found);
    } else if (found->pins == 0) {
        idle_remove(pool, found);
    }
    found->pins++;
    *slot = &found->shown;
    return VDBQ_OK;
}

void pool_release(struct pool *pool, struct pool_slot *slot)
{
    struct slot *released = (struct slot *)slot;

    if (slot == NULL)
        return;
    assert(released->pins > 0);
    if (--released->pins == 0)
        idle_add(pool, released);
}

uint64_t pool_load_ns(const struct pool *pool)
{
    return pool->load_ns;
}

uint64_t pool_bytes(const struct pool *pool)
{
    return pool->used_bytes;
}

/* -------------------------------------------------------------- slots -- */

/* A slot without a tablet, with memory of its own. */
static enum vdbq_status slot_create(struct pool *pool, uint64_t size,
                                    struct slot **slot, struct error *error)
{
    struct slot *made = memory_zeroed(1, sizeof *made);
    enum vdbq_status status;

    if (made == NULL)
        return error_no_memory(error);
    status = device_memory_create(pool->device, MEMORY_PINNED, size,
                                  &made->shown.memory, error);
    if (status != VDBQ_OK) {
        memory_release(made);
        return status;
    }
    made->size_bytes = size;
    pool->used_bytes += size;
    *slot = made;
    return VDBQ_OK;
}

static void slot_destroy(struct pool *pool, struct slot *slot)
{
    pool->used_bytes -= slot->size_bytes;
    device_memory_destroy(slot->shown.memory);
    memory_release((void *)slot->shown.tablet);
    memory_release(slot);
}

/* An idle slot of that size, among the oldest; NULL: there is none. */
static struct slot *idle_of_size(const struct pool *pool, uint64_t size)
{
    struct slot *slot = pool->oldest;

    for (unsigned i = 0; i < LOOK_MAX && slot != NULL; i++) {
        if (slot->size_bytes == size)
            return slot;
        slot = slot->newer;
    }
    return NULL;
}

/* Says that the budget is too small. */
static enum vdbq_status no_room(const struct pool *pool, uint64_t size,
                                struct error *error)
{
    error_set(error, VDBQ_LIMIT,
              "a tablet of %llu bytes does not fit: %llu of %llu bytes for "
              "tablets are in use", (unsigned long long)size,
              (unsigned long long)pool->used_bytes,
              (unsigned long long)pool->budget_bytes);
    return error_hint(error, "give more memory: set VDBQ_MEMORY, for "
                      "instance to %lluM",
                      (unsigned long long)((pool->used_bytes + 2 * size)
                                           >> 20) + 1);
}

/* A slot of that size that is in no list: new, or one that was idle. */
static enum vdbq_status make_room(struct pool *pool, uint64_t size,
                                  struct slot **slot, struct error *error)
{
    struct slot *idle;

    if (size > pool->budget_bytes)
        return no_room(pool, size, error);
    if (pool->used_bytes <= pool->budget_bytes - size)
        return slot_create(pool, size, slot, error);
    idle = idle_of_size(pool, size);
    if (idle != NULL) {
        idle_remove(pool, idle);
        remove_slot(pool, idle);
        *slot = idle;
        return VDBQ_OK;
    }
    while (pool->used_bytes > pool->budget_bytes - size) {
        idle = pool->oldest;
        if (idle == NULL)
            return no_room(pool, size, error);
        idle_remove(pool, idle);
        remove_slot(pool, idle);
        slot_destroy(pool, idle);
    }
    return slot_create(pool, size, slot, error);
}

/* Keeps the tablet's head with the descriptions of its columns readable. */
static enum vdbq_status copy_head(struct slot *slot, const void *block,
                                  struct error *error)
{
    const struct tablet *head = block;
    size_t size = sizeof *head
                + head->columns * sizeof(struct tablet_column);
    void *copy = memory_resize((void *)slot->shown.tablet, size);

    if (copy == NULL)
        return error_no_memory(error);
    memcpy(copy, block, size);
    slot->shown.tablet = copy;
    return VDBQ_OK;
}

/* Loads a tablet into a slot. */
static enum vdbq_status fill(struct pool *pool, struct slot *slot,
                             const struct table *table,
                             const struct tablet_ref *tablet,
                             struct error *error)
{
    struct device_times times = { 0 };
    uint64_t start = os_time_ns();
    enum vdbq_status status =
        device_memory_take(slot->shown.memory, &times, error);
    void *block;

    if (status != VDBQ_OK)
        return status;
    block = device_memory_host(slot->shown.memory);
    status = tablet_load(pool->database, table, tablet, block, error);
    if (status == VDBQ_OK)
        status = copy_head(slot, block, error);
    pool->load_ns += os_time_ns() - start;
    slot->offset = tablet->offset;
    slot->generation = tablet->generation;
    slot->checksum = tablet->checksum;
    return status;
}

/* -------------------------------------------------------------- names -- */

static struct slot **bucket_of(const struct pool *pool, uint64_t offset,
                               uint64_t checksum)
{
    uint64_t hash = (offset / PAGE_BYTES ^ checksum)
                  * UINT64_C(0x9e3779b97f4a7c15);

    return &pool->buckets[hash >> 32 & (pool->bucket_count - 1)];
}

static struct slot *find(const struct pool *pool,
                         const struct tablet_ref *tablet)
{
    struct slot *slot = *bucket_of(pool, tablet->offset, tablet->checksum);

    while (slot != NULL && (slot->offset != tablet->offset
                            || slot->generation != tablet->generation
                            || slot->checksum != tablet->checksum))
        slot = slot->chain;
    return slot;
}

static void link_slot(struct pool *pool, struct slot *slot)
{
    struct slot **bucket = bucket_of(pool, slot->offset, slot->checksum);

    slot->chain = *bucket;
    *bucket = slot;
}

/* Twice as many buckets; without memory for them it stays as it is. */
static void grow(struct pool *pool)
{
    struct slot **old = pool->buckets;
    size_t count = pool->bucket_count;
    struct slot **buckets = memory_zeroed(count * 2, sizeof *buckets);

    if (buckets == NULL)
        return;
    pool->buckets = buckets;
    pool->bucket_count = count * 2;
    for (size_t i = 0; i < count; i++)
        for (struct slot *slot = old[i], *next; slot != NULL; slot = next) {
            next = slot->chain;
            link_slot(pool, slot);
        }
    memory_release(old);
}

static void add_slot(struct pool *pool, struct slot *slot)
{
    if (pool->slot_count >= pool->bucket_count)
        grow(pool);
    link_slot(pool, slot);
    pool->slot_count++;
}

/* Takes a slot out of its chain. */
static void remove_slot(struct pool *pool, struct slot *slot)
{
    struct slot **at = bucket_of(pool, slot->offset, slot->checksum);

    while (*at != slot)
        at = &(*at)->chain;
    *at = slot->chain;
    pool->slot_count--;
}

/* --------------------------------------------------------------- idle -- */

static void idle_add(struct pool *pool, struct slot *slot)
{
    slot->older = pool->newest;
    slot->newer = NULL;
    if (pool->newest != NULL)
        pool->newest->newer = slot;
    else
        pool->oldest = slot;
    pool->newest = slot;
}

static void idle_remove(struct pool *pool, struct slot *slot)
{
    if (slot->older != NULL)
        slot->older->newer = slot->newer;
    else
        pool->oldest = slot->newer;
    if (slot->newer != NULL)
        slot->newer->older = slot->older;
    else
        pool->newest = slot->older;
}
