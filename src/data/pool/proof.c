/* SPDX-License-Identifier: MIT */
/*
 * Proofs, in chains by a hash of the tablet's name.
 */
#include "data/pool/proof.h"

#include "base/memory.h"
#include "data/tablet/page_sums.h"

/* With the sums that it will have. */
static uint64_t proof_bytes(const struct tablet_ref *tablet, unsigned columns)
{
    return sizeof(struct tablet_proof) + columns * sizeof(struct column_proof)
           + page_sums_count(tablet->size_bytes) * sizeof(uint64_t);
}

void proofs_sweep(struct proofs *proofs,
                  bool (*keeps)(const void *context, struct identity identity),
                  const void *context)
{
    for (unsigned i = 0; i < PROOF_BUCKETS; i++) {
        struct tablet_proof **at = &proofs->buckets[i];
        while (*at != NULL) {
            struct tablet_proof *proof = *at;
            if (proof->users > 0 || keeps(context, proof->identity)) {
                at = &proof->chain;
                continue;
            }
            *at = proof->chain;
            proofs->used_bytes -= proof->bytes;
            memory_release(proof->sums);
            memory_release(proof);
        }
    }
}

static bool keeps_none(const void *context, struct identity identity)
{
    (void)context;
    (void)identity;
    return false;
}

/* Forgets what no load is using. */
static void forget(struct proofs *proofs)
{
    proofs_sweep(proofs, keeps_none, NULL);
}

void proofs_finish(struct proofs *proofs)
{
    forget(proofs);
}

static struct tablet_proof **bucket_of(struct proofs *proofs,
                                       const struct tablet_ref *tablet)
{
    return &proofs->buckets[identity_hash(tablet->identity) % PROOF_BUCKETS];
}

static struct tablet_proof *
add(struct proofs *proofs, const struct tablet_ref *tablet, unsigned columns)
{
    struct tablet_proof *made, **bucket = bucket_of(proofs, tablet);
    uint64_t size = proof_bytes(tablet, columns);

    if (proofs->used_bytes + size > proofs->limit_bytes)
        forget(proofs);
    made = memory_zeroed(1, sizeof *made + columns * sizeof made->column[0]);
    if (made == NULL)
        return NULL;
    made->bytes = size;
    made->identity = tablet->identity;
    made->columns = columns;
    made->chain = *bucket;
    *bucket = made;
    proofs->used_bytes += size;
    return made;
}

/* In its chain. */
static struct tablet_proof *find(struct tablet_proof *proof,
                                 const struct tablet_ref *tablet,
                                 unsigned columns)
{
    while (proof != NULL
           && (!identity_equal(proof->identity, tablet->identity)
               || proof->columns != columns))
        proof = proof->chain;
    return proof;
}

const struct tablet_proof *proofs_known(const struct proofs *proofs,
                                        const struct tablet_ref *tablet,
                                        unsigned columns)
{
    return find(*bucket_of((struct proofs *)proofs, tablet), tablet, columns);
}

struct tablet_proof *proofs_find(struct proofs *proofs,
                                 const struct tablet_ref *tablet,
                                 unsigned columns)
{
    struct tablet_proof *proof =
        find(*bucket_of(proofs, tablet), tablet, columns);

    return proof != NULL ? proof : add(proofs, tablet, columns);
}
