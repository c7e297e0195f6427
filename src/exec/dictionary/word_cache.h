/* SPDX-License-Identifier: MIT */
/*
 * Dictionaries of tables, kept for the next query that reads the same columns
 * of the same state of a table. Goes with a pool: one thread at a time.
 */
#ifndef VDBQ_EXEC_WORD_CACHE_H
#define VDBQ_EXEC_WORD_CACHE_H

#include "data/pool/pool.h"
#include "exec/dictionary/word_table.h"

struct word_cache;

struct word_cache *word_cache_create(void);        /* NULL: no memory */
void word_cache_destroy(struct word_cache *cache); /* accepts NULL */

struct word_cache_params {
    struct word_cache *cache; /* NULL: nothing is kept         */
    struct pool *pool;
    const struct table *table;
    const struct program_pack *pack; /* the columns that are read     */
    struct device_times *times;      /* added to                      */
};

/* The words of the text columns that a program reads: chunk i is tablet i.
 * The caller releases them. Reads tablets where they are not kept: fails as
 * pool_pin() does. */
enum vdbq_status word_cache_base(const struct word_cache_params *params,
                                 struct word_base **base, struct error *error);

#endif
