/* SPDX-License-Identifier: MIT */
/*
 * What was proven of tablets since the pool was made: the sums of their pages
 * (page_sums.h), with which each page is compared whenever it is read, so that
 * bytes from a file are as little trusted as the first time; and which columns'
 * values are what the tablet's head says of them. What is known takes some 8 bytes
 * a page, under a limit; behind it all is forgotten, and proven anew where it is
 * read again. What is known of tablets that were replaced is forgotten as their
 * slots are (pool_sweep.c).
 */
#ifndef VDBQ_DATA_PROOF_H
#define VDBQ_DATA_PROOF_H

#include "data/catalogue/catalogue.h"

struct column_proof {
    bool checked; /* its values are what the head says of them */
};

struct tablet_proof {
    struct identity identity; /* of the tablet                        */
    unsigned columns;
    uint64_t *sums;  /* of its pages, which are proven; NULL: not known yet */
    uint64_t bytes;  /* that count for the limit                    */
    uint64_t head;   /* XXH3 of its head, ...                    */
    bool head_known; /* ... which was compared with its pages   */
    uint64_t few_bytes; /* that few rows took as long as (few_rows.h) */
    unsigned users;     /* loads that are under way                 */
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

/* What is known of it, if anything is. */
const struct tablet_proof *proofs_known(const struct proofs *proofs,
                                        const struct tablet_ref *tablet,
                                        unsigned columns);
/* What is known of a tablet of so many columns; NULL: no memory. It lives
 * as long as it has users, at least until the next call. */
struct tablet_proof *proofs_find(struct proofs *proofs,
                                 const struct tablet_ref *tablet,
                                 unsigned columns);

#endif
