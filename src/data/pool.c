/* SPDX-License-Identifier: MIT */
/*
 * The pool of pinned slots.
 *
 * Every slot holds a portion of one tablet and is in the chain of its hash; a
 * slot that nobody uses is also in the list of idle slots, oldest first, from
 * which room is taken. A slot's name is its tablet's place, generation and
 * checksum: bytes that replace a commit which was lost are never taken for
 * its own. Pinning memory is slow, so memory whose size is right goes from
 * slot to slot. The sizes of all slots together never exceed the budget.
 *
 * The memory of a slot in place is its tablet in the file, mapped for as long
 * as the slot is there. Its pages come as the device touches them: to have the
 * crew touch them first takes as long (8M rows, POCL on two cores).
 *
 * A slot whose load is under way is idle. The crew's threads fill its memory;
 * all else of it, and the pool, is touched by the pool's own thread alone.
 */
#include "data/pool.h"

#include <assert.h>
#include <string.h>

#include "base/lru.h"
#include "base/os.h"
#include "data/block.h"
#include "data/load.h"
#include "data/tablet_inner.h"

enum {
    BUCKETS_FIRST = 64,
    LOOK_MAX = 16,    /* idle slots that are looked at for the right size */
    THREADS_MAX = 8,  /* that load; they are not more than the cores      */
    PROOFS_SHARE = 64 /* of the budget, at most, goes to what is proven   */
};
#define PROOFS_LEAST (UINT64_C(1) << 16)

struct slot {
    struct pool_slot shown; /* first: what callers hold              */
    uint64_t offset;        /* these three name the tablet           */
    uint64_t generation;
    uint64_t checksum;
    uint64_t size_bytes;    /* that its memory takes                 */
    const void *mapped;     /* the tablet where its memory lies in the
                               file; NULL: it lies elsewhere         */
    uint64_t mapped_bytes;
    unsigned pins;
    bool ahead;             /* pool_ahead() made it, nobody had it   */
    struct load *load;      /* NULL: none is under way               */
    bool *wanted;           /* one a column; lies behind this struct */
    struct tablet *head, *here; /* likewise: see struct portion      */
    struct slot *chain;     /* the next in its bucket                */
    struct lru_link idle;   /* among those that nobody uses          */
};

/* A tablet that is unmapped on another thread, so that nobody waits for it. */
struct leaving {
    struct crew_job job; /* first */
    struct database *database;
    const void *mapped;  /* NULL: none is under way */
    uint64_t bytes;
};

struct pool {
    struct database *database;
    struct device *device;
    uint64_t budget_bytes;
    uint64_t used_bytes;
    const uint64_t *others; /* bytes of the budget; NULL: there are none */
    uint64_t load_ns;
    bool maps;
    struct proofs proofs;
    struct crew *crew;      /* NULL: not yet, or there are no threads */
    unsigned threads;       /* of it                                  */
    struct leaving leaving;
    unsigned ahead_count;   /* slots that are                         */
    struct slot **buckets;  /* a power of two of them */
    size_t bucket_count;
    size_t slot_count;
    struct lru idle;        /* slots that nobody uses */
};

static struct slot *find(const struct pool *pool,
                         const struct pool_want *want);
static enum vdbq_status slot_start(struct pool *pool,
                                   const struct pool_want *want, bool ahead,
                                   struct slot **slot, struct error *error);
static enum vdbq_status slot_arrive(struct pool *pool, struct slot *slot,
                                    struct error *error);
static void slot_drop(struct pool *pool, struct slot *slot);
static struct slot *find_idle(const struct pool *pool,
                              const struct pool_want *want, bool loading);
static void finish_leaving(struct pool *pool);
static void link_slot(struct pool *pool, struct slot *slot);
static void unlink_slot(struct pool *pool, struct slot *slot);
static void grow(struct pool *pool);
static struct slot *idle_slot(struct lru_link *link);

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
    made->bucket_count = BUCKETS_FIRST;
    made->buckets = memory_zeroed(BUCKETS_FIRST, sizeof *made->buckets);
    if (made->buckets == NULL) {
        memory_release(made);
        return error_no_memory(error);
    }
    *pool = made;
    return VDBQ_OK;
}

void pool_share(struct pool *pool, const uint64_t *used_bytes)
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

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    while (pool->idle.oldest != NULL)
        slot_drop(pool, idle_slot(pool->idle.oldest));
    assert(pool->slot_count == 0);
    finish_leaving(pool);
    crew_destroy(pool->crew);
    proofs_finish(&pool->proofs);
    memory_release(pool->buckets);
    memory_release(pool);
}

enum vdbq_status pool_pin(struct pool *pool, const struct pool_want *want,
                          struct pool_slot **slot, struct error *error)
{
    struct slot *found = find(pool, want);
    enum vdbq_status status = VDBQ_OK;

    *slot = NULL;
    if (found == NULL)
        status = slot_start(pool, want, false, &found, error);
    if (status == VDBQ_OK)
        status = slot_arrive(pool, found, error);
    if (status != VDBQ_OK)
        return status;
    if (found->pins == 0)
        lru_remove(&pool->idle, &found->idle);
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
        lru_add(&pool->idle, &released->idle);
}

uint64_t pool_load_ns(const struct pool *pool)
{
    return pool->load_ns;
}

uint64_t pool_bytes(const struct pool *pool)
{
    return pool->used_bytes;
}

static struct slot *idle_slot(struct lru_link *link)
{
    return lru_item(link, offsetof(struct slot, idle));
}

/* -------------------------------------------------------------- ahead -- */

/* Hires the crew where the file can be read on its threads. */
static bool has_crew(struct pool *pool)
{
    unsigned cores = os_cores();

    if (pool->crew == NULL && database_reads_anywhere(pool->database)) {
        pool->threads = cores < THREADS_MAX ? cores : THREADS_MAX;
        pool->crew = crew_create(pool->threads);
    }
    return pool->crew != NULL;
}

bool pool_ahead(struct pool *pool, const struct pool_want *want)
{
    struct slot *slot;
    struct error ignored;

    if (find(pool, want) != NULL)
        return true;
    if (!has_crew(pool) || pool->ahead_count > pool->threads
        || slot_start(pool, want, true, &slot, &ignored) != VDBQ_OK)
        return false;
    slot->ahead = true;
    pool->ahead_count++;
    return true;
}

/* Somebody has come for it, or nobody will. */
static void not_ahead(struct pool *pool, struct slot *slot)
{
    pool->ahead_count -= slot->ahead;
    slot->ahead = false;
}

/* -------------------------------------------------------------- loads -- */

/* Waits for the load of a slot and takes note of its end. */
static enum vdbq_status finish(struct pool *pool, struct slot *slot,
                               struct error *error)
{
    struct load *load = slot->load;

    if (load == NULL)
        return VDBQ_OK;
    slot->load = NULL;
    return load_finish(load, &pool->load_ns, error);
}

/* Makes the slot's tablet ready to be used; a slot that fails is gone. */
static enum vdbq_status slot_arrive(struct pool *pool, struct slot *slot,
                                    struct error *error)
{
    enum vdbq_status status = finish(pool, slot, error);

    not_ahead(pool, slot);
    if (status != VDBQ_OK)
        slot_drop(pool, slot);
    return status;
}

void pool_settle(struct pool *pool)
{
    struct slot *slot = idle_slot(pool->idle.oldest), *newer;
    struct error ignored;

    for (; slot != NULL && pool->ahead_count > 0; slot = newer) {
        newer = idle_slot(slot->idle.newer);
        if (slot->ahead)
            slot_arrive(pool, slot, &ignored);
    }
}

/* Starts the load of a slot that has its memory. */
static enum vdbq_status start_load(struct pool *pool, struct slot *slot,
                                   struct portion *portion,
                                   struct error *error)
{
    struct device_times times = { 0 };
    enum vdbq_status status = VDBQ_OK;
    uint8_t *block = (uint8_t *)slot->mapped;

    if (!portion->in_place) {
        status = device_memory_take(slot->shown.memory, &times, error);
        block = device_memory_host(slot->shown.memory);
    }
    if (status != VDBQ_OK)
        return status;
    portion->proof = proofs_find(&pool->proofs, portion->tablet,
                                 portion->table->column_count);
    if (portion->proof == NULL)
        return error_no_memory(error);
    return load_start(pool->crew, portion, block, &slot->load, error);
}

/* --------------------------------------------------------------- room -- */

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

/* Whether memory is large enough, and not wasted. */
static bool size_fits(uint64_t size, uint64_t wanted)
{
    return size >= wanted && size - wanted <= size / 4;
}

/* An idle slot, among the oldest, whose memory fits; NULL: there is none. */
static struct slot *idle_that_fits(const struct pool *pool, uint64_t size,
                                   bool ahead)
{
    struct slot *slot = idle_slot(pool->idle.oldest);

    for (unsigned i = 0; i < LOOK_MAX && slot != NULL; i++) {
        if (slot->mapped == NULL && size_fits(slot->size_bytes, size)
            && !(ahead && slot->ahead))
            return slot;
        slot = idle_slot(slot->idle.newer);
    }
    return NULL;
}

/* What slots may take of the budget beside others, and at least `size`. */
static uint64_t own_budget(const struct pool *pool, uint64_t size)
{
    uint64_t others = pool->others != NULL ? *pool->others : 0;

    return others < pool->budget_bytes - size ? pool->budget_bytes - others
                                              : size;
}

/* Lets idle slots go that are more than that, oldest first. */
static void shrink(struct pool *pool, uint64_t most)
{
    struct slot *idle = idle_slot(pool->idle.oldest);

    while (idle != NULL && !idle->ahead && pool->used_bytes > most) {
        slot_drop(pool, idle);
        idle = idle_slot(pool->idle.oldest);
    }
}

/* Lets idle slots go until `size` bytes more are within the budget. `ahead`:
 * none of those that wait for a pin. */
static enum vdbq_status make_room(struct pool *pool, uint64_t size, bool ahead,
                                  struct error *error)
{
    uint64_t most = own_budget(pool, size);

    while (pool->used_bytes > most - size) {
        struct slot *idle = idle_slot(pool->idle.oldest);
        if (idle == NULL || (ahead && idle->ahead)) {
            if (!ahead && pool->used_bytes <= pool->budget_bytes - size)
                break; /* what is needed now comes before others */
            return no_room(pool, size, error);
        }
        slot_drop(pool, idle);
    }
    return VDBQ_OK;
}

/* The memory of an idle slot, which goes. */
static void take_memory(struct pool *pool, struct slot *idle,
                        struct slot *slot)
{
    slot->size_bytes = idle->size_bytes;
    slot->shown.memory = idle->shown.memory;
    idle->shown.memory = NULL;
    slot_drop(pool, idle);
}

/* The memory of a slot that has room: new, or the tablet in the file. */
static enum vdbq_status make_memory(struct pool *pool,
                                    const struct portion *portion,
                                    uint64_t size, struct slot *slot,
                                    struct error *error)
{
    enum vdbq_status status;

    if (!portion->in_place)
        return device_memory_create(pool->device, MEMORY_PINNED, size,
                                    &slot->shown.memory, error);
    status = portion_map(portion, &slot->mapped, error);
    slot->mapped_bytes = portion->tablet->size_bytes;
    slot->shown.in_place = true;
    return status == VDBQ_OK
               ? device_memory_wrap(pool->device, slot->mapped,
                                    slot->mapped_bytes, &slot->shown.memory,
                                    error)
               : status;
}

/* Gives a slot memory: its own, or that of an idle one. `ahead`: none of those
 * that wait for a pin. */
static enum vdbq_status give_memory(struct pool *pool,
                                    const struct portion *portion,
                                    uint64_t size, bool ahead,
                                    struct slot *slot, struct error *error)
{
    struct slot *idle;
    enum vdbq_status status;

    if (size > pool->budget_bytes)
        return no_room(pool, size, error);
    shrink(pool, own_budget(pool, size));
    idle = portion->in_place ? NULL : idle_that_fits(pool, size, ahead);
    if (pool->used_bytes > own_budget(pool, size) - size && idle != NULL) {
        take_memory(pool, idle, slot);
        return VDBQ_OK;
    }
    status = make_room(pool, size, ahead, error);
    if (status == VDBQ_OK)
        status = make_memory(pool, portion, size, slot, error);
    if (status != VDBQ_OK)
        return status;
    slot->size_bytes = size;
    pool->used_bytes += size;
    return VDBQ_OK;
}

/* -------------------------------------------------------------- slots -- */

/* A slot of a tablet, without memory, in no list. */
static struct slot *slot_create(const struct pool_want *want)
{
    unsigned columns = want->table->column_count;
    size_t head = tablet_head_size(columns);
    struct slot *made =
        memory_zeroed(1, sizeof *made + 2 * head
                             + columns * sizeof made->wanted[0]);

    if (made == NULL)
        return NULL;
    made->head = (struct tablet *)(void *)(made + 1);
    made->here = (struct tablet *)(void *)((char *)made->head + head);
    made->wanted = (bool *)((char *)made->here + head);
    made->shown.tablet = made->here;
    made->shown.whole = made->head;
    made->offset = want->tablet->offset;
    made->generation = want->tablet->generation;
    made->checksum = want->tablet->checksum;
    for (unsigned i = 0; i < want->column_count; i++)
        made->wanted[want->columns[i]] = true;
    for (unsigned i = 0; want->columns == NULL && i < columns; i++)
        made->wanted[i] = true;
    return made;
}

/* On whatever thread. */
static void unmap(struct crew_job *job)
{
    const struct leaving *leaving = (const struct leaving *)job;

    portion_unmap(leaving->database, leaving->mapped, leaving->bytes);
}

static void finish_leaving(struct pool *pool)
{
    if (pool->leaving.mapped != NULL)
        crew_finish(pool->crew, &pool->leaving.job);
    pool->leaving.mapped = NULL;
}

/* Has a slot's tablet unmapped. No other is on its way out then, so that no
 * more than one is in memory beside what the budget allows, for a moment. */
static void leave(struct pool *pool, const struct slot *slot)
{
    finish_leaving(pool);
    pool->leaving = (struct leaving){ .job = { .run = unmap },
                                      .database = pool->database,
                                      .mapped = slot->mapped,
                                      .bytes = slot->mapped_bytes };
    if (pool->crew != NULL)
        crew_start(pool->crew, &pool->leaving.job);
    else
        finish_leaving(pool);
}

static void slot_destroy(struct pool *pool, struct slot *slot)
{
    if (slot->shown.memory != NULL)
        pool->used_bytes -= slot->size_bytes;
    device_memory_destroy(slot->shown.memory);
    if (slot->mapped != NULL)
        leave(pool, slot);
    memory_release(slot);
}

/* Takes an idle slot out of the pool. */
static void slot_drop(struct pool *pool, struct slot *slot)
{
    struct error ignored;

    finish(pool, slot, &ignored);
    not_ahead(pool, slot);
    lru_remove(&pool->idle, &slot->idle);
    unlink_slot(pool, slot);
    pool->slot_count--;
    slot_destroy(pool, slot);
}

/* While there is room for both, the columns that another slot of the tablet
 * has are wanted, too, and that slot leaves: a table that fits comes together
 * column by column. */
static void take_over(struct pool *pool, const struct pool_want *want,
                      struct portion *portion)
{
    struct slot *other = find_idle(pool, want, false);
    uint64_t most = pool->used_bytes + page_round(want->tablet->size_bytes);

    if (other == NULL || most > pool->budget_bytes)
        return;
    for (unsigned i = 0; i < want->table->column_count; i++)
        portion->wanted[i] |= other->wanted[i];
    slot_drop(pool, other);
}

/* Whether the columns stay in the file: the device reaches the whole tablet. */
static bool stays(const struct pool *pool, const struct portion *portion)
{
    return pool->maps && portion_may_stay(portion)
        && portion->tablet->size_bytes
               <= device_facts(pool->device)->buffer_max_bytes;
}

/* Finds out what a new slot takes, gives it memory and starts its load. */
static enum vdbq_status slot_prepare(struct pool *pool,
                                     const struct pool_want *want, bool ahead,
                                     struct slot *slot, struct error *error)
{
    struct portion portion = {
        .database = pool->database, .table = want->table,
        .tablet = want->tablet, .wanted = slot->wanted, .head = slot->head,
        .here = slot->here
    };
    enum vdbq_status status = portion_read_head(&portion, error);
    uint64_t size;

    if (status != VDBQ_OK)
        return status;
    take_over(pool, want, &portion);
    portion.in_place = stays(pool, &portion);
    size = page_round(portion_lay_out(&portion));
    status = give_memory(pool, &portion, size, ahead, slot, error);
    return status == VDBQ_OK ? start_load(pool, slot, &portion, error)
                             : status;
}

/* Makes an idle slot whose load has been started. */
static enum vdbq_status slot_start(struct pool *pool,
                                   const struct pool_want *want, bool ahead,
                                   struct slot **slot, struct error *error)
{
    struct slot *loading = find_idle(pool, want, true);
    struct slot *made;
    struct error ignored;
    enum vdbq_status status;

    if (loading != NULL)
        slot_arrive(pool, loading, &ignored);
    made = slot_create(want);
    if (made == NULL)
        return error_no_memory(error);
    status = slot_prepare(pool, want, ahead, made, error);
    if (status != VDBQ_OK) {
        slot_destroy(pool, made);
        return status;
    }
    if (pool->slot_count >= pool->bucket_count)
        grow(pool);
    link_slot(pool, made);
    pool->slot_count++;
    lru_add(&pool->idle, &made->idle);
    *slot = made;
    return VDBQ_OK;
}

/* -------------------------------------------------------------- names -- */

static struct slot **bucket_of(const struct pool *pool, uint64_t offset,
                               uint64_t checksum)
{
    uint64_t hash = (offset / PAGE_BYTES ^ checksum)
                  * UINT64_C(0x9e3779b97f4a7c15);

    return &pool->buckets[hash >> 32 & (pool->bucket_count - 1)];
}

/* The first slot in a chain that is of the tablet, with as many columns. */
static struct slot *of_tablet(struct slot *slot, const struct pool_want *want)
{
    const struct tablet_ref *tablet = want->tablet;

    while (slot != NULL
           && (slot->offset != tablet->offset
               || slot->generation != tablet->generation
               || slot->checksum != tablet->checksum
               || slot->head->columns != want->table->column_count))
        slot = slot->chain;
    return slot;
}

static struct slot *first_of_tablet(const struct pool *pool,
                                    const struct pool_want *want)
{
    return of_tablet(*bucket_of(pool, want->tablet->offset,
                                want->tablet->checksum), want);
}

/* Whether a slot of the tablet has every column that is wanted. */
static bool has_all(const struct slot *slot, const struct pool_want *want)
{
    bool all = true;

    for (unsigned i = 0; i < want->column_count; i++)
        all &= slot->wanted[want->columns[i]];
    for (unsigned i = 0;
         want->columns == NULL && i < want->table->column_count; i++)
        all &= slot->wanted[i];
    return all;
}

static struct slot *find(const struct pool *pool,
                         const struct pool_want *want)
{
    struct slot *slot = first_of_tablet(pool, want);

    while (slot != NULL && !has_all(slot, want))
        slot = of_tablet(slot->chain, want);
    return slot;
}

/* An idle slot of that tablet; NULL: there is none. `loading`: of those whose
 * load is under way, of which there is one at most. */
static struct slot *find_idle(const struct pool *pool,
                              const struct pool_want *want, bool loading)
{
    struct slot *slot = first_of_tablet(pool, want);

    while (slot != NULL
           && (slot->pins > 0 || (loading && slot->load == NULL)))
        slot = of_tablet(slot->chain, want);
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

/* Takes a slot out of its chain. */
static void unlink_slot(struct pool *pool, struct slot *slot)
{
    struct slot **at = bucket_of(pool, slot->offset, slot->checksum);

    while (*at != slot)
        at = &(*at)->chain;
    *at = slot->chain;
}
