/* SPDX-License-Identifier: MIT */
/*
 * Dictionaries of tables, kept for the next query that reads the same columns
 * of the same state of a table. Goes with a pool: one thread at a time.
 */
#ifndef VDBQ_EXEC_DICTIONARY_CACHE_H
#define VDBQ_EXEC_DICTIONARY_CACHE_H

#include "data/pool/pool.h"
#include "exec/dictionary/run_dictionary.h"
#include "exec/launch/run_place.h"

struct dictionary_cache;

struct dictionary_cache *dictionary_cache_create(void); /* NULL: no memory */
/* Accepts NULL. */
void dictionary_cache_destroy(struct dictionary_cache *cache);

struct dictionary_cache_params {
    const struct run_place *place;   /* whose pool loads the dictionaries, and
                                       whose cache keeps them, if it has one */
    const struct table *table;       /* of the program's first cursor */
    const struct program_pack *pack; /* the columns that are read     */
    const enum words_use *uses; /* of their words: dictionary_base_uses() */
    /* of each tablet, whether none of its rows is read: its words need not be
     * there; NULL: all are read */
    const bool *unread;
    unsigned threads; /* that work at most; 0: one     */
};

/* Whether words of all tablets are kept for these columns, whatever is read, or none
 * of them has words. */
bool dictionary_cache_has(const struct dictionary_cache_params *params);

/* The words of the text columns that a program reads: morsel i is tablet i.
 * The caller releases them. Reads tablets where they are not kept: fails as
 * pool_pin() does. */
enum vdbq_status
dictionary_cache_base(const struct dictionary_cache_params *params,
                      struct dictionary_base **base, struct error *error);

#endif
