/* SPDX-License-Identifier: MIT */
/*
 * Proofs, in chains by a hash of the tablet's name.
 */
#include "data/pool/proof.h"

/* Forgets what no load is using. */
static void forget(struct proofs *proofs)
{
    proofs->used_bytes = 0;
    for (unsigned i = 0; i < PROOF_BUCKETS; i++) {
        struct tablet_proof **at = &proofs->buckets[i];
        while (*at != NULL) {
            struct tablet_proof *proof = *at;
            if (proof->users > 0) {
                at = &proof->chain;
            } else {
                *at = proof->chain;
                memory_release(proof);
            }
        }
    }
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
    uint64_t size = sizeof *made + columns * sizeof made->column[0];

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
