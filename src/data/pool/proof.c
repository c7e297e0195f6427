/* SPDX-License-Identifier: MIT */
/*
 * Proofs, in chains by a hash of the tablet's name.
 */
#include "data/pool/proof.h"

static uint64_t proof_bytes(unsigned columns)
{
    return sizeof(struct tablet_proof) + columns * sizeof(struct column_proof);
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
            proofs->used_bytes -= proof_bytes(proof->columns);
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
    uint64_t size = proof_bytes(columns);

    if (proofs->used_bytes + size > proofs->limit_bytes)
        forget(proofs);
    made = memory_zeroed(1, size);
    if (made == NULL)
        return NULL;
    made->identity = tablet->identity;
    made->columns = columns;
    made->chain = *bucket;
    *bucket = made;
    proofs->used_bytes += size;
    return made;
}

struct tablet_proof *proofs_find(struct proofs *proofs,
                                 const struct tablet_ref *tablet,
                                 unsigned columns)
{
    struct tablet_proof *proof = *bucket_of(proofs, tablet);

    while (proof != NULL
           && (!identity_equal(proof->identity, tablet->identity)
               || proof->columns != columns))
        proof = proof->chain;
    return proof != NULL ? proof : add(proofs, tablet, columns);
}
