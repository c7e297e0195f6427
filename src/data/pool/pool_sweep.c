/* SPDX-License-Identifier: MIT */
/*
 * What is left of tablets that were replaced: their slots are found by nobody
 * again, and would stay as long as there is room. Looking for them takes a look
 * at all tablets, so it is done when the pool, or what was proven, has grown as much
 * as there are tablets that somebody may ask for. Some memory waits for the next slots:
 * pinning it is slow.
 */
#include "data/pool/pool_inner.h"

#include <stdlib.h>

#include "base/hostile.h"

enum {
    SWEEP_COUNT = HOSTILE(1, 16),       /* slots more, or ...               */
    SWEEP_BYTES = HOSTILE(1, 4 << 20),  /* ... bytes: it is worth a look    */
    SWEEP_PROOFS = HOSTILE(1, 1 << 16), /* ... bytes of what was proven       */
    DEAD_BYTES = HOSTILE(1, 16 << 20)   /* that wait for slots, and one slot  */
};

/* For qsort() and bsearch(). */
static int compare_identities(const void *a, const void *b)
{
    const struct identity *left = a, *right = b;

    if (left->origin != right->origin)
        return left->origin < right->origin ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Whether a tablet is among those. */
static bool is_visible(const void *context, struct identity identity)
{
    const struct vector *visible = context;

    return visible->count > 0
           && bsearch(&identity, visible->items, visible->count, visible->width,
                      compare_identities)
                  != NULL;
}

/* Sees which idle slots are dead, and drops those that were before, and those
 * that are many. Returns the bytes of these that stay, and counts them. */
static uint64_t look_at_all(struct pool *pool, const struct vector *visible,
                            size_t *dead)
{
    struct slot *slot = idle_slot(pool->idle.oldest), *newer;
    uint64_t bytes = 0;

    for (; slot != NULL; slot = newer) {
        newer = idle_slot(slot->idle.newer);
        if (is_visible(visible, slot->identity))
            continue;
        if (slot->dead || slot->mapped != NULL || bytes >= DEAD_BYTES) {
            pool_slot_drop(pool, slot);
            continue;
        }
        slot->dead = true;
        if (slot->load == NULL)
            pool_slot_let_words_go(pool, slot);
        bytes += slot->size_bytes;
        ++*dead;
    }
    return bytes;
}

void pool_sweep(struct pool *pool)
{
    struct vector visible = VECTOR(struct identity);
    size_t count = pool->names.slot_count, dead = 0;
    uint64_t bytes, used = pool->used_bytes + pool->words_bytes;

    if (count < pool->sweep_count + SWEEP_COUNT
        && used < pool->sweep_bytes + SWEEP_BYTES
        && pool->proofs.used_bytes < pool->sweep_proofs + SWEEP_PROOFS)
        return;
    if (!database_visible(pool->database, &visible)) {
        vector_finish(&visible);
        return;
    }
    if (visible.count > 1)
        qsort(visible.items, visible.count, visible.width, compare_identities);
    bytes = look_at_all(pool, &visible, &dead);
    proofs_sweep(&pool->proofs, is_visible, &visible);
    vector_finish(&visible);
    count = pool->names.slot_count;
    pool->sweep_count = 2 * count - dead;
    used = pool->used_bytes + pool->words_bytes;
    pool->sweep_bytes = 2 * used - bytes;
    pool->sweep_proofs = 2 * pool->proofs.used_bytes;
}
