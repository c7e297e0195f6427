/* SPDX-License-Identifier: MIT */
/*
 * What a tablet, and the state of a table's rows, are known by for ever.
 * Whoever remembers anything of a tablet or of a table's rows knows it by its
 * identity and by nothing else: places in the file, generations and ids of
 * tables are given again after a ROLLBACK, and inside a transaction.
 *
 * Identity rules, cited by their numbers:
 *  1. The identity of a tablet is given by identity_give() alone: a number of
 *     the transaction that writes it, and how many that one has given before.
 *     A connection draws the number of its first transaction at random, of 64
 *     bits, and counts on. So none is given twice: not after a ROLLBACK, not
 *     where space is used again, not by two processes that start from one
 *     head.
 *  2. Numbers of transactions have their highest bit set. Tablets of files whose
 *     catalogue holds no identities have those of identity_of_place(), without
 *     that bit: none of these meets one that was given.
 *  3. The state of a table's rows is the hash of the types of its columns and
 *     of the identities of its tablets, in their order. Where two states are
 *     the same, so are the rows.
 */
#ifndef VDBQ_DATA_IDENTITY_H
#define VDBQ_DATA_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct identity {
    uint64_t origin; /* the transaction; or see identity_of_place() */
    uint64_t number; /* how many were given before                 */
};

/* Gives the identities of one transaction's tablets. */
struct identity_source {
    uint64_t origin; /* the transaction */
    uint64_t given;  /* how many */
};

/* Of the transaction of that number. */
struct identity_source identity_source_init(uint64_t number);
struct identity identity_give(struct identity_source *source);
/* Whether the source has given it. */
bool identity_is_of(struct identity identity,
                    const struct identity_source *source);

/* Of a tablet in a file that holds no identities: after the commit that wrote
 * it, its place and its checksum. */
struct identity identity_of_place(uint64_t generation, uint64_t offset,
                                  uint64_t checksum);

bool identity_equal(struct identity a, struct identity b);
/* Whether two of them are equal. May sort. */
bool identities_twice(struct identity *identities, size_t count);
/* For hash tables. */
uint64_t identity_hash(struct identity identity);
/* A state that is all that the bytes say. */
struct identity identity_of_bytes(const void *bytes, size_t size);

#endif
