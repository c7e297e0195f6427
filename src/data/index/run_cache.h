/* SPDX-License-Identifier: MIT */
/*
 * Runs that are kept in memory, by the tablets that they belong to, of which
 * none ever has the name of another (identity rule 1): what is kept is never
 * stale. Those that were not used for longest leave. One thread at a time.
 */
#ifndef VDBQ_DATA_RUN_CACHE_H
#define VDBQ_DATA_RUN_CACHE_H

#include "base/hostile.h"
#include "data/index/run.h"

struct run_cache;

struct run_cache *run_cache_create(void);        /* NULL: no memory */
void run_cache_destroy(struct run_cache *cache); /* accepts NULL */

/* Which run. */
struct run_want {
    const struct tablet_ref *tablet; /* that it belongs to      */
    const unsigned *columns;         /* of the table, in order  */
    unsigned count;                  /* of these                */
};

/* The run, which stays until the next call that keeps one; NULL: it is not
 * kept. */
const struct run *run_cache_find(struct run_cache *cache,
                                 const struct run_want *want);
/* A run that is not kept is wanted once more: whether that has been so often
 * that it pays to make it, or (`in_file`) to read all of it. */
bool run_cache_pays(struct run_cache *cache, const struct run_want *want,
                    bool in_file);
/* Keeps a run, which is the cache's from then on, if all runs together take no
 * more than `most_bytes`. False: it was not kept, and is still the caller's. */
bool run_cache_keep(struct run_cache *cache, const struct run_want *want,
                    struct run *run, uint64_t most_bytes);
/*
 * Sieves: of runs that were often searched in vain, what may be in their first
 * column, so that a look-up passes over most of many tablets. Values are known by
 * hashes.
 */
enum {
    RUN_ASKED_MOST = 16,
    RUN_SIEVED_TABLETS = HOSTILE(1, 8) /* of fewer tablets nobody need ask */
};

/* Asks for values, RUN_ASKED_MOST at most, and gives the look-up's number: not 0. */
uint64_t run_cache_ask(struct run_cache *cache, const uint64_t *hashes,
                       unsigned count);
/* Whether a run has none of these for certain. It may have them where somebody asked
 * for others since. */
bool run_cache_lacks(struct run_cache *cache, const struct run_want *want,
                     uint64_t asked);
/* The hash of a value of a run's first column; false: the thread is to stop. */
typedef bool run_hash(void *context, uint64_t value, uint64_t *hash);
run_hash run_hash_number; /* of one that is no text's code; without a context */
/* A run that is kept was searched in vain once more. Where that has been so often that
 * it pays, and there is room, its values are put into a sieve. */
void run_cache_vain(struct run_cache *cache, const struct run_want *want,
                    uint64_t most_bytes, run_hash *hash, void *context);

/* Lets runs go until they take no more than that. */
void run_cache_shrink(struct run_cache *cache, uint64_t most_bytes);
/* What they and their sieves take. */
uint64_t run_cache_bytes(const struct run_cache *cache);

#endif
