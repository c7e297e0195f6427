/* SPDX-License-Identifier: MIT */
/*
 * Entries in a hash table, each in the list of use, too. One that has no run
 * counts how often its run was wanted. Runs of 64 entries share a pane of sieves,
 * which goes when the last of these entries does.
 */
#include "data/index/run_cache.h"

#include <assert.h>
#include <string.h>

#include "base/account.h"
#include "base/lru.h"
#include "base/memory.h"
#include "base/sieve.h"
#include "base/threads/stop.h"
#include "cl/hash.h"

enum {
    BUCKETS = 1024,
    ENTRIES_MAX = 1 << 16,
    WANTED_OFTEN = HOSTILE(2, 4), /* so often all values are looked through: it
                                     takes about as long as making the run */
    READ_OFTEN = HOSTILE(2, 32),  /* ... so often, or up to twice, pages of it
                                     are read: not of all tablets at once    */
    /* to sieve so many values takes as long as a search */
    VAIN_PART = HOSTILE(1 << 30, 48),
    VALUES_UNLIKE = 4 /* a pane may have room for so many times the values  */
};

/* A set for each of some entries. */
struct pane {
    struct pane *next;
    struct sieve sieve;
    uint64_t bytes;   /* of it                                        */
    uint32_t values;  /* that it has room for, of each entry          */
    unsigned taken;   /* sets that some entry had or has              */
    unsigned entries; /* that have one                                */
    uint64_t asked;   /* the number of the look-up that `may` is of   */
    uint64_t may;     /* sets that may have what is looked up         */
};

struct entry {
    struct entry *chain;  /* the next in its bucket */
    struct lru_link used; /* ... and in the list    */
    struct identity tablet;
    unsigned count; /* of `columns` */
    unsigned columns[RUN_COLUMNS_MAX];
    unsigned wanted;   /* so often, without a run */
    unsigned vain;     /* searches that found nothing, without a sieve */
    struct run *run;   /* NULL: none              */
    struct pane *pane; /* with its sieve; NULL: none */
    unsigned set;      /* ... which is this one      */
};

struct run_cache {
    struct entry *buckets[BUCKETS];
    struct lru used; /* all entries */
    size_t entries;
    struct pane *panes;
    uint64_t bytes; /* of runs and panes; the process's account has them, too */
    uint64_t hashes[RUN_ASKED_MOST]; /* of what is looked up    */
    unsigned hash_count;
    uint64_t asked; /* how often something was                 */
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

static void drop_pane(struct run_cache *cache, struct pane *pane)
{
    struct pane **at = &cache->panes;

    while (*at != pane)
        at = &(*at)->next;
    *at = pane->next;
    cache->bytes -= pane->bytes;
    account_process_give(pane->bytes);
    sieve_finish(&pane->sieve);
    memory_release(pane);
}

static void leave_pane(struct run_cache *cache, struct entry *entry)
{
    if (entry->pane != NULL && --entry->pane->entries == 0)
        drop_pane(cache, entry->pane);
    entry->pane = NULL;
}

static void drop(struct run_cache *cache, struct entry *entry)
{
    struct entry **at = bucket_of(cache, entry->tablet);

    drop_run(cache, entry);
    leave_pane(cache, entry);
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

/* -------------------------------------------------------------- sieves -- */

uint64_t run_cache_ask(struct run_cache *cache, const uint64_t *hashes,
                       unsigned count)
{
    assert(count > 0 && count <= RUN_ASKED_MOST);
    memcpy(cache->hashes, hashes, count * sizeof *hashes);
    cache->hash_count = count;
    return ++cache->asked;
}

static uint64_t sets_that_may(const struct run_cache *cache, struct pane *pane)
{
    if (pane->asked != cache->asked) {
        pane->asked = cache->asked;
        pane->may = 0;
        for (unsigned i = 0; i < cache->hash_count; i++)
            pane->may |= sieve_sets(&pane->sieve, cache->hashes[i]);
    }
    return pane->may;
}

bool run_cache_lacks(struct run_cache *cache, const struct run_want *want,
                     uint64_t asked)
{
    struct entry *entry = NULL;

    if (asked == cache->asked && cache->panes != NULL)
        entry = find(cache, want);
    return entry != NULL && entry->pane != NULL
           && (sets_that_may(cache, entry->pane) >> entry->set & 1) == 0;
}

/* A pane with a free set for so many values, which is not far too large for them. */
static struct pane *find_pane(const struct run_cache *cache, uint32_t values)
{
    struct pane *pane = cache->panes;

    while (pane != NULL
           && (pane->taken == SIEVE_SETS || pane->values < values
               || pane->values / VALUES_UNLIKE > values))
        pane = pane->next;
    return pane;
}

static struct pane *add_pane(struct run_cache *cache, uint32_t values,
                             uint64_t most_bytes)
{
    uint64_t bytes = sieve_bytes(values);
    bool room =
        cache->bytes <= most_bytes && bytes <= most_bytes - cache->bytes;
    struct pane *made = room ? memory_zeroed(1, sizeof *made) : NULL;

    if (made == NULL || !sieve_init(&made->sieve, values)) {
        memory_release(made);
        return NULL;
    }
    made->bytes = bytes;
    made->values = (uint32_t)(bytes / sizeof(uint64_t) / SIEVE_WORDS);
    made->next = cache->panes;
    cache->panes = made;
    cache->bytes += bytes;
    account_process_take(bytes);
    return made;
}

bool run_hash_number(void *context, uint64_t value, uint64_t *hash)
{
    (void)context;
    *hash = hash_number(value);
    return true;
}

/* Puts each value of a run's first column into a set; false: the thread is to stop. */
static bool put_values(const struct run *run, struct sieve *sieve, unsigned set,
                       run_hash *hash, void *context)
{
    unsigned behind = run->key_bits - run->columns[0].bits;
    uint64_t last = 0, number; /* a code: NULL's, which equals nothing */

    for (uint32_t place = 0; place < run->rows; place++) {
        uint64_t code = run_key(run, place) >> behind;
        if (code == last)
            continue;
        if (stop_at(place)
            || !hash(context, run_value_of(&run->columns[0], code), &number))
            return false;
        sieve_add(sieve, set, number);
        last = code;
    }
    return true;
}

/* Makes the sieve of an entry's run: nobody asks a set that was left half done. */
static void sieve_run(struct run_cache *cache, struct entry *entry,
                      uint64_t most_bytes, run_hash *hash, void *context)
{
    struct pane *pane = find_pane(cache, entry->run->rows);
    unsigned set;

    if (pane == NULL)
        pane = add_pane(cache, entry->run->rows, most_bytes);
    if (pane == NULL)
        return;
    set = pane->taken++;
    if (put_values(entry->run, &pane->sieve, set, hash, context)) {
        entry->pane = pane;
        entry->set = set;
        pane->entries++;
    } else if (pane->entries == 0)
        drop_pane(cache, pane);
}

void run_cache_vain(struct run_cache *cache, const struct run_want *want,
                    uint64_t most_bytes, run_hash *hash, void *context)
{
    struct entry *entry = find(cache, want);

    if (entry == NULL || entry->run == NULL || entry->pane != NULL
        || entry->run->keys == NULL || entry->run->columns[0].bits == 0
        || ++entry->vain < entry->run->rows / VAIN_PART)
        return;
    entry->vain = 0; /* where it fails it is tried again as much later */
    sieve_run(cache, entry, most_bytes, hash, context);
}

uint64_t run_cache_bytes(const struct run_cache *cache)
{
    return cache->bytes;
}
