/* SPDX-License-Identifier: MIT */
/*
 * What was proven of tablets since the pool was made. A tablet that was read
 * as a whole once, and had its checksum, may be read again in projections: each
 * column's bytes are compared with the sum that was taken of them then, so
 * bytes from a file are as little trusted as the first time. What is known
 * takes some 24 bytes a column, under a limit; behind it all is forgotten,
 * and proven anew where it is read again. What is known of tablets that were
 * replaced is forgotten as their slots are (pool_sweep.c).
 */
#ifndef VDBQ_DATA_PROOF_H
#define VDBQ_DATA_PROOF_H

#include "data/catalogue/catalogue.h"

struct column_proof {
    uint64_t sum;   /* XXH3 of its areas, one after the other         */
    uint64_t words; /* XXH3 of its words as the file has them         */
    bool checked;   /* its values are what the head says of them        */
};

struct tablet_proof {
    struct identity identity; /* of the tablet                        */
    unsigned columns;
    bool whole;     /* the checksum was right; the sums are set */
    uint64_t head;  /* XXH3 of its head                         */
    unsigned users; /* loads that are under way                 */
    struct tablet_proof *chain;
    struct column_proof column[];
};

enum { PROOF_BUCKETS = 1024 };

struct proofs {
    uint64_t limit_bytes;
    uint64_t used_bytes;
    struct tablet_proof *buckets[PROOF_BUCKETS];
};

/* Accepts a zeroed one; no load may be under way. */
void proofs_finish(struct proofs *proofs);

/* Forgets what is known of all tablets that are not kept. */
void proofs_sweep(struct proofs *proofs,
                  bool (*keeps)(const void *context, struct identity identity),
                  const void *context);

/* What is known of a tablet of so many columns; NULL: no memory. It lives
 * as long as it has users, at least until the next call. */
struct tablet_proof *proofs_find(struct proofs *proofs,
                                 const struct tablet_ref *tablet,
                                 unsigned columns);

#endif
