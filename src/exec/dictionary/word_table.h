/* SPDX-License-Identifier: MIT */
/*
 * The words of a run. A program computes with numbers of words; here they are
 * collected: those of the columns that it reads, of its constants and
 * parameters, and of its lookups' results, in the order of its instructions.
 * From them come the values of constants and parameters, the lookup tables,
 * and the ranks: which number each code of a column stands for.
 *
 * Dictionaries come from where rows come from: a table's tablets, the chunks
 * of another step's rows, inner rows. Where a run adds no word to those of one
 * dictionary, its codes are the numbers and nothing is computed.
 */
#ifndef VDBQ_EXEC_WORD_TABLE_H
#define VDBQ_EXEC_WORD_TABLE_H

#include "data/tablet/words.h"
#include "exec/launch/control.h"
#include "program/parameter.h"

/* Words of all dictionaries together. Never changes; shared by counting. */
struct word_base {
    unsigned holders;
    struct words *words;
    unsigned feeds;
    size_t chunks;
    bool *is_text;           /* whether feed f has words                   */
    struct run_ranks *ranks; /* of feed f in chunk c: [c * feeds + f]      */
    uint32_t *counts;        /* words of the dictionaries: likewise        */
    struct arena arena;
};

/* `dictionaries[c * feeds + f]`: the words of feed f in chunk c; NULL where
 * it is no text. They may be released afterwards. NULL: no memory. */
struct word_base *word_base_make(struct words *const *dictionaries,
                                 size_t chunks, unsigned feeds);
struct word_base *word_base_hold(struct word_base *base);
void word_base_release(struct word_base *base); /* accepts NULL */

struct word_table {
    struct words *words;      /* of the run: what Result's texts are        */
    struct run_values values; /* for launcher_params                        */
    struct run_ranks *ranks;  /* as those of word_base                      */
    struct run_ranks *inner_ranks; /* one a column of inner rows            */
    struct word_base *base;
    struct arena arena;
};

/* Whether a program leaves anything open, so that a run needs a word table:
 * texts, parameters, lookups, or columns of words. */
bool word_table_needed(const struct program *program);

struct word_table_params {
    const struct program *program; /* checked                           */
    struct word_base *base;        /* held while the table lives        */
    struct words *const *inner;    /* of columns of inner rows; NULL: one
                                           that is no text                   */
    unsigned inner_count;
    const struct parameter *parameters;
    unsigned parameter_count; /* those behind are NULL             */
};
/* Fails with PROGRAM (a call that is none), NO_MEMORY. word_table_finish() is
 * due whatever it returns. */
enum vdbq_status word_table_init(struct word_table *table,
                                 const struct word_table_params *params,
                                 struct error *error);
void word_table_finish(struct word_table *table); /* accepts a zeroed one */

/* The least and the greatest number of the words that a feed has in a chunk;
 * unchanged where it has none. */
void word_table_range(const struct word_table *table, size_t chunk,
                      unsigned feed, int64_t *low, int64_t *high);

/* The ranks of the feeds in a chunk, for launcher_input. */
const struct run_ranks *word_table_ranks(const struct word_table *table,
                                         size_t chunk);

#endif
