/* SPDX-License-Identifier: MIT */
/*
 * What the files of the pool share; the rules that they keep are in pool.c.
 *
 *     pool.c          the calls of pool.h
 *     pool_slot.c     slots: how they come, are loaded, and go
 *     pool_memory.c   what memory a slot gets, within the budget
 *     pool_names.c    slots by the tablets that they hold
 *     pool_sweep.c    slots whose tablets are no more
 *
 * All that is declared here is called on the pool's own thread (pool rule 6).
 */
#ifndef VDBQ_DATA_POOL_INNER_H
#define VDBQ_DATA_POOL_INNER_H

#include "base/threads/thread_pool.h"
#include "base/lru.h"
#include "data/pool/load.h"
#include "data/pool/pool.h"

struct slot {
    struct pool_slot shown;     /* first: what callers hold              */
    struct identity identity;   /* of the tablet                      */
    uint64_t size_bytes;        /* that its memory takes                 */
    uint64_t words_bytes;       /* of `dictionaries` that have arrived   */
    const void *mapped;         /* the tablet where its memory lies in the
                               file; NULL: it lies elsewhere         */
    uint64_t mapped_bytes;      /* of `mapped` */
    struct database *mapped_in; /* ... whose file that is */
    unsigned pins;              /* users; 0: it stands in the idle list */
    bool ahead;                 /* pool_ahead() made it, nobody had it   */
    bool moved;                 /* all who pinned it did, to move it     */
    bool dead;                  /* nobody is likely to ask for its tablet
                                 again                                 */
    struct load *load;          /* NULL: none is under way               */
    unsigned column_count;      /* of the tablet                         */
    bool *wanted;               /* one a column; lies behind this struct */
    bool plain;                 /* the device does not reach its memory  */
    bool codes;                 /* of texts, without their words there   */
    bool *apart;                /* see struct projection; likewise       */
    struct dictionary **dictionaries; /* likewise; held                  */
    struct tablet *head, *here;       /* likewise: see struct projection   */
    struct words_place *words;        /* likewise                            */
    struct slot *chain;   /* the next in its bucket                */
    struct lru_link idle; /* among those that nobody uses          */
};

/* The slots of a pool by their tablets; pool_names.c alone changes it. */
struct pool_names {
    struct slot **buckets; /* a power of two of them; each a chain */
    size_t bucket_count;   /* a power of two */
    size_t slot_count;     /* in all buckets */
};

/* A tablet that is unmapped on another thread, so that nobody waits for it. */
struct pool_leaving {
    struct thread_pool_job job; /* first */
    struct database *database;  /* whose file is mapped */
    const void *mapped;         /* NULL: none is under way */
    uint64_t bytes;             /* of `mapped` */
};

struct pool {
    struct database *database; /* tablets are loaded from it */
    struct device *device;     /* owns the memory */
    /* used_bytes passes it only while tablets are pinned */
    uint64_t budget_bytes;
    uint64_t used_bytes;  /* by slots; pool_memory.c counts them   */
    uint64_t words_bytes; /* of all slots; pool_slot.c counts them */
    /* bytes of the budget that others use; NULL: there are none */
    const atomic_uint_fast64_t *others;
    uint64_t load_ns;            /* of all loads that have ended          */
    bool maps;                   /* see pool_map()                        */
    struct proofs proofs;        /* tablets whose checksums were right */
    struct thread_pool *workers; /* NULL: not yet, or there are no threads */
    unsigned threads;            /* of it                                 */
    struct pool_leaving leaving; /* a mapping that a thread gives back */
    unsigned ahead_count;        /* slots that are; pool_slot.c counts    */
    struct pool_names names;     /* finds slots */
    size_t sweep_count;          /* slots at which pool_sweep() looks, ... */
    uint64_t sweep_bytes;        /* ... and bytes; 0: it has not yet; ...  */
    uint64_t sweep_proofs;       /* ... and bytes of proofs                */
    struct lru idle;             /* slots that nobody uses                */
    struct pool_holder *holders; /* that may let go of others             */
};

/* --------------------------------------------------------------- slots -- */

/* Makes an idle slot of a tablet, of which no slot has all that is wanted, and
 * starts its load. `ahead`: it is for a pool_pin() to come, and takes no room
 * from others that are. Idle slots may leave for it, with what they hold. The
 * slot is the pool's. Fails as pool_pin() does; there is no slot then. */
enum vdbq_status pool_slot_start(struct pool *pool,
                                 const struct pool_want *want, bool ahead,
                                 struct slot **slot, struct error *error);
/* Waits for the load of a slot, if one is under way: then its tablet may be
 * used, and it is not ahead any more. Fails as load_finish() does; the slot is
 * gone then. */
enum vdbq_status pool_slot_arrive(struct pool *pool, struct slot *slot,
                                  struct error *error);
/* Takes an idle slot out of the pool, once its load has ended, and frees it. */
void pool_slot_drop(struct pool *pool, struct slot *slot);
/* Lets go of the words that a slot has apart; no load of it is under way. */
void pool_slot_let_words_go(struct pool *pool, struct slot *slot);

/* Finds what was proven of a projection's tablet as it was written, by which no
 * load goes at the moment. Fails with NO_MEMORY. */
enum vdbq_status pool_find_proof(struct pool *pool,
                                 struct projection *projection,
                                 struct error *error);

/* --------------------------------------------------------------- sweep -- */

/* Looks, where the pool has grown since the last time, for idle slots of
 * tablets that nobody can ask for any more: the memory of these goes to the
 * next slots, and what is left of it the next time is let go. */
void pool_sweep(struct pool *pool);

/* The slot whose link among the idle ones that is; NULL for NULL. */
static inline struct slot *idle_slot(struct lru_link *link)
{
    return lru_item(link, offsetof(struct slot, idle));
}

/* -------------------------------------------------------------- memory -- */

/* Says whether a projection whose head was read is in place, lays it out, and
 * gives its slot memory: the tablet in the file, that of an idle slot, or new
 * one. Idle slots leave where there is no room for it; if the slot is ahead,
 * none that are as well. The memory is the slot's until pool_memory_release(),
 * which follows a failure, too. Fails with LIMIT (as pool_pin() says), IO,
 * DEVICE, NO_MEMORY. */
enum vdbq_status pool_memory_give(struct pool *pool, struct slot *slot,
                                  struct projection *projection,
                                  struct error *error);
/* Likewise for so many bytes that are copied into it. */
enum vdbq_status pool_memory_copied(struct pool *pool, struct slot *slot,
                                    uint64_t size, struct error *error);
/* Takes back what memory a slot has; no launch may read it. A tablet in place
 * is unmapped by the thread pool, where there is one. */
void pool_memory_release(struct pool *pool, struct slot *slot);
/* Waits until no tablet is being unmapped. */
void pool_memory_settle(struct pool *pool);

/* --------------------------------------------------------------- names -- */

/* No slots. False: no memory; there is nothing to finish then. */
bool pool_names_init(struct pool_names *names);
/* Every slot must have been removed. */
void pool_names_finish(struct pool_names *names);

/* A slot of that tablet with every column that is wanted, loaded or not; NULL:
 * there is none. */
struct slot *pool_names_find(const struct pool_names *names,
                             const struct pool_want *want);
/* An idle slot of that tablet, whatever columns it has; NULL: there is none.
 * `loading`: of those whose load is under way, of which there is one at
 * most. */
struct slot *pool_names_find_idle(const struct pool_names *names,
                                  const struct pool_want *want, bool loading);

/* Adds a slot, whose tablet stays the same. */
void pool_names_add(struct pool_names *names, struct slot *slot);
/* Takes it out. */
void pool_names_remove(struct pool_names *names, struct slot *slot);

#endif
