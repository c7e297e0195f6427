/* SPDX-License-Identifier: MIT */
/*
 * Entries in a hash table, each in the list of use, too. One that has no run
 * counts how often its run was wanted.
 */
#include "data/index/run_cache.h"

#include <string.h>

#include "base/account.h"
#include "base/hostile.h"
#include "base/lru.h"
#include "base/memory.h"

enum {
    BUCKETS = 1024,
    ENTRIES_MAX = 1 << 16,
    WANTED_OFTEN = HOSTILE(2, 4), /* so often all values are looked through: it
                                     takes about as long as making the run */
    READ_OFTEN = HOSTILE(2, 32)   /* ... so often, or up to twice, pages of it
                                     are read: not of all tablets at once    */
};

struct entry {
    struct entry *chain;  /* the next in its bucket */
    struct lru_link used; /* ... and in the list    */
    struct identity tablet;
    unsigned count; /* of `columns` */
    unsigned columns[RUN_COLUMNS_MAX];
    unsigned wanted; /* so often, without a run */
    struct run *run; /* NULL: none              */
};

struct run_cache {
    struct entry *buckets[BUCKETS];
    struct lru used; /* all entries */
    size_t entries;
    uint64_t bytes; /* of all runs; the process's account has them, too */
};

struct run_cache *run_cache_create(void)
{
    return memory_zeroed(1, sizeof(struct run_cache));
}

static struct entry **bucket_of(struct run_cache *cache,
                                struct identity identity)
{
    return &cache->buckets[identity_hash(identity) % BUCKETS];
}

static void drop_run(struct run_cache *cache, struct entry *entry)
{
    if (entry->run == NULL)
        return;
    cache->bytes -= entry->run->size_bytes;
    account_process_give(entry->run->size_bytes);
    run_destroy(entry->run);
    entry->run = NULL;
    entry->wanted = 0;
}

static void drop(struct run_cache *cache, struct entry *entry)
{
    struct entry **at = bucket_of(cache, entry->tablet);

    drop_run(cache, entry);
    while (*at != entry)
        at = &(*at)->chain;
    *at = entry->chain;
    lru_remove(&cache->used, &entry->used);
    cache->entries--;
    memory_release(entry);
}

static struct entry *oldest(const struct run_cache *cache)
{
    return lru_item(cache->used.oldest, offsetof(struct entry, used));
}

void run_cache_destroy(struct run_cache *cache)
{
    if (cache == NULL)
        return;
    while (cache->used.oldest != NULL)
        drop(cache, oldest(cache));
    memory_release(cache);
}

/* ------------------------------------------------------------- entries -- */

static struct entry *find(struct run_cache *cache, const struct run_want *want)
{
    struct entry *entry = *bucket_of(cache, want->tablet->identity);

    while (entry != NULL
           && (!identity_equal(entry->tablet, want->tablet->identity)
               || entry->count != want->count
               || memcmp(entry->columns, want->columns,
                         want->count * sizeof *want->columns)
                      != 0))
        entry = entry->chain;
    if (entry != NULL && cache->used.newest != &entry->used) {
        lru_remove(&cache->used, &entry->used);
        lru_add(&cache->used, &entry->used);
    }
    return entry;
}

/* A new entry, or NULL: no memory. */
static struct entry *add(struct run_cache *cache, const struct run_want *want)
{
    struct entry *made = memory_zeroed(1, sizeof *made);
    struct entry **bucket = bucket_of(cache, want->tablet->identity);

    if (made == NULL)
        return NULL;
    if (cache->entries >= ENTRIES_MAX)
        drop(cache, oldest(cache));
    made->tablet = want->tablet->identity;
    made->count = want->count;
    memcpy(made->columns, want->columns, want->count * sizeof *want->columns);
    made->chain = *bucket;
    *bucket = made;
    lru_add(&cache->used, &made->used);
    cache->entries++;
    return made;
}

static struct entry *find_or_add(struct run_cache *cache,
                                 const struct run_want *want)
{
    struct entry *found = find(cache, want);

    return found != NULL ? found : add(cache, want);
}

/* ---------------------------------------------------------------- runs -- */

const struct run *run_cache_find(struct run_cache *cache,
                                 const struct run_want *want)
{
    struct entry *entry = find(cache, want);

    return entry != NULL ? entry->run : NULL;
}

bool run_cache_pays(struct run_cache *cache, const struct run_want *want,
                    bool in_file)
{
    struct entry *entry = find_or_add(cache, want);
    uint64_t hash = identity_hash(want->tablet->identity);
    unsigned often =
        in_file ? READ_OFTEN + (unsigned)(hash % READ_OFTEN) : WANTED_OFTEN;

    return entry != NULL && ++entry->wanted >= often;
}

void run_cache_shrink(struct run_cache *cache, uint64_t most_bytes)
{
    while (cache->bytes > most_bytes)
        drop(cache, oldest(cache));
}

bool run_cache_keep(struct run_cache *cache, const struct run_want *want,
                    struct run *run, uint64_t most_bytes)
{
    struct entry *entry;

    if (run->size_bytes > most_bytes)
        return false;
    run_cache_shrink(cache, most_bytes - run->size_bytes);
    entry = find_or_add(cache, want);
    if (entry == NULL)
        return false;
    drop_run(cache, entry);
    entry->run = run;
    cache->bytes += run->size_bytes;
    account_process_take(run->size_bytes);
    return true;
}

uint64_t run_cache_bytes(const struct run_cache *cache)
{
    return cache->bytes;
}
