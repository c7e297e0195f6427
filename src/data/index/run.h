/* SPDX-License-Identifier: MIT */
/*
 * Runs: the rows of one tablet in the order of the first columns of an index,
 * so that those with certain values are found by a search. A run belongs to
 * one tablet, which never changes; so it never does either.
 *
 * The columns of a row make one key, an integer: of each column a code, that
 * of the first one in the highest bits. A code is 0 for NULL; else it counts
 * from 1 on, from the least value of the tablet on, or, where that would take
 * too many bits, through the different values of the tablet. So NULLs come
 * first, and keys compare like the columns that they are made of.
 */
#ifndef VDBQ_DATA_RUN_H
#define VDBQ_DATA_RUN_H

#include "base/error.h"
#include "data/catalogue/identity.h"
#include "data/tablet/block.h"
#include "data/tablet/tablet.h"
#include "device/search.h"

enum {
    /* codes of RUN_COLUMNS_MAX columns fit one key in any case */
    RUN_KEY_BITS = 64,
    RUN_STEP = 8 /* words between two that a search begins with         */
};

/* A value of a column as an integer without a sign that orders like it: of a
 * text its code in the tablet. */
struct run_value {
    uint64_t value;
    bool exact; /* else: the next one that is more than what was meant */
};
struct run_value run_value_integer(int64_t value);
struct run_value run_value_real(double value); /* not NaN */
/* A column's part of a key. */
struct run_column {
    unsigned column;     /* of the table                                     */
    unsigned bits;       /* that its codes take                              */
    uint64_t base;       /* the least value; its code is 1                   */
    uint64_t span;       /* what the greatest one is above it                */
    uint64_t *ranked;    /* the different values, in order; NULL: codes count
                         from `base` on                                   */
    uint32_t count;      /* of `ranked`                                      */
    uint64_t *heads;     /* of a column of many texts: the first bytes of each
                         word whose number is a multiple of RUN_STEP; else
                         NULL: a search begins with them                  */
    uint32_t head_count; /* of `heads`                                    */
};

/* Of a text column of a checked tablet; `of`: the column in the tablet's run,
 * or NULL. */
struct run_value run_value_text(const void *block, unsigned column,
                                struct vdbq_text text,
                                const struct run_column *of);

/* The same of several, in order. */
void run_value_texts(const void *block, unsigned column,
                     const struct vdbq_text *texts, uint32_t count,
                     const struct run_column *of, struct run_value *values);

struct run {
    uint32_t rows;        /* that it has: of one that was read in part, or is of
                          some rows, fewer than the tablet               */
    uint32_t tablet_rows; /* all numbers of rows are less                    */
    unsigned column_count;
    struct run_column columns[RUN_COLUMNS_MAX];
    unsigned key_bits; /* of all columns; at most 32: keys are uint32_t, else
                          uint64_t                                        */
    void *keys;      /* ascending; NULL: 1, 2, ..., of a sequence             */
    void *steps;     /* the last of each SEARCH_STEP of many keys, for these to
                    stay in the processor's cache; NULL: there are none   */
    uint32_t *order; /* numbers of their rows, ascending where keys are
                          equal; NULL: rows are in order as they are       */
    /* of rows with new keys (edited_run.h): the edit that it is of, and a tablet
       that has its texts as columns from 0 on, owned; without bytes: none */
    struct identity edit;
    struct block words;
    uint64_t size_bytes; /* of all of it                                  */
};
/* Machine values of a column's type, in place, as integers that order like
 * them; there is room for these. */
void run_order_values(uint64_t *values, uint32_t rows, uint32_t type);

/* Makes the run of a checked tablet, in which the columns, RUN_COLUMNS_MAX at
 * most, are there; words of texts need not be. NULL: no memory, or the thread is to stop. */
struct run *run_make(const void *block, const unsigned *columns,
                     unsigned count);
/* A run by so many columns, without a row. NULL: no memory. */
struct run *run_make_empty(unsigned count, uint32_t tablet_rows);
/* Whether that costs next to nothing: it is a sequence. */
bool run_is_cheap(const void *block, const unsigned *columns, unsigned count);
/* The run takes over keys, of 64 bits, which ascend; its columns and `order` are
 * there. */
void run_take_keys(struct run *run, uint64_t *keys);
/* Has searches for texts begin with some words of a tablet in which these columns
 * are. Without words or memory they begin with none. */
void run_add_heads(struct run *run, const void *block);
/* Has rows be numbers of another tablet: of row i that is numbers[i], and these
 * ascend. False: no memory. */
bool run_name_rows(struct run *run, const uint32_t *numbers,
                   uint32_t tablet_rows);
/* Bits that a number takes. */
unsigned run_bits(uint64_t number);
void run_destroy(struct run *run); /* accepts NULL */

/* Keys from `first` to `last`; none where first > last. */
struct run_keys {
    uint64_t first, last;
};
/* All keys whose first columns have no more than what is said of them so
 * far: NULLs, too. */
struct run_keys run_keys_all(const struct run *run);
/* Of those, of whose first `column` columns each is one value: the keys whose
 * next column has ... */
struct run_keys run_keys_equal(const struct run *run, struct run_keys keys,
                               unsigned column, struct run_value value);
/* ... NULL */
struct run_keys run_keys_null(const struct run *run, struct run_keys keys,
                              unsigned column);
/* ... a value that is not NULL from `low` to `high`, where these are not NULL;
 * `open`: without the bound itself. */
struct run_bound {
    struct run_value value;
    bool open;
};
struct run_keys run_keys_between(const struct run *run, struct run_keys keys,
                                 unsigned column, const struct run_bound *low,
                                 const struct run_bound *high);

/* How many keys are less than `key`. */
uint32_t run_search(const struct run *run, uint64_t key);
/* The places of such keys: from `*begin` to before what it returns. So many
 * keys, `from`, are less for certain. */
uint32_t run_find(const struct run *run, struct run_keys keys, uint32_t from,
                  uint32_t *begin);
/* Ranges of keys that are looked for together: numbers of the type of the run's
 * keys, of each range the first and the last one. */
enum search_type run_key_type(const struct run *run);
void run_put_range(const struct run *run, void *ranges, uint32_t number,
                   struct run_keys keys);
/* The places of each: from one to before the other. */
void run_find_ranges(const struct run *run, const void *ranges, uint32_t count,
                     uint32_t *places);
/* How many of the ranked values of a column are less. */
uint32_t run_rank(const struct run_column *column, uint64_t value);
/* The value of a code of a column, which is not 0; of one that is more than it has,
 * its greatest. */
uint64_t run_value_of(const struct run_column *column, uint64_t code);
/* The least and the greatest value that a column has in the tablet; false: it
 * has none. */
bool run_extremes(const struct run_column *column, uint64_t *least,
                  uint64_t *greatest);

/* The key at a place. */
static inline uint64_t run_key(const struct run *run, uint32_t place)
{
    if (run->keys == NULL)
        return place + UINT64_C(1); /* a sequence */
    return run->key_bits <= 32 ? ((const uint32_t *)run->keys)[place]
                               : ((const uint64_t *)run->keys)[place];
}

/* The number of the row at a place. */
static inline uint32_t run_row(const struct run *run, uint32_t place)
{
    return run->order != NULL ? run->order[place] : place;
}

#endif
