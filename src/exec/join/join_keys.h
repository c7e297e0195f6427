/* SPDX-License-Identifier: MIT */
/*
 * Keys of a join as tags: a number of 32 bits for each row. Where the indexed
 * side's integers and words span few enough values, tags stand for keys
 * exactly: they count the values, of several keys their combinations. Else
 * they are hashes, and rows of equal tags are compared.
 */
#ifndef VDBQ_EXEC_JOIN_KEYS_H
#define VDBQ_EXEC_JOIN_KEYS_H

#include "exec/stream/stream_inner.h"

/* The tag of a row that equals none. */
#define JOIN_NO_TAG 0xffffffffu

enum { JOIN_BLOCK = 1 << 10 }; /* rows whose tags are computed at once */

/* Values of a key, on the indexed side. */
struct join_range {
    int64_t low;     /* least value */
    uint64_t values; /* from `low` on; the next one stands for NULL */
    uint64_t codes;  /* the values, and NULL where that matches     */
};

struct join_keys {
    unsigned count;                 /* of keys */
    bool nulls_match;               /* NULL equals NULL */
    bool exact;                     /* equal tags are equal keys     */
    uint64_t tags;                  /* ... and all are less than this */
    struct join_range *ranges;      /* ... one a key                 */
    struct row_set_column *indexed; /* columns of the indexed side   */
    struct row_set_column *asking;  /* ... and of the rows at hand of
                                        the other one                 */
    const int *asking_columns;      /* which those are               */
    uint32_t **texts;     /* a key: the number of the indexed side's word
                           for each of the other's; NULL: the same    */
    bool lent;            /* others have those                        */
    const void **sources; /* a key: numbers of the rows at hand ...   */
    uint32_t **numbers;   /* ... and what they become, where they do  */
    uint64_t room;        /* rows that `numbers` have room for          */
};

struct join_keys_params {
    /* NULL: they are looked for in `indexed`; else the only key's, of integers,
     * where NULL matches none and the rows are not there */
    const struct join_range *range;
    const struct row_set *indexed;     /* stays as it is             */
    const struct vector *indexed_keys; /* of int: its columns        */
    const struct stream *asking;       /* the other side             */
    const struct vector *asking_keys;  /* columns of the side that asks */
    uint32_t *const
        *texts;       /* of each key, what translates the other side's words,
                               as in join_keys, which outlives it; NULL: it is to
                               be made                                   */
    bool nulls_match; /* NULL equals NULL */
    unsigned threads; /* to look at the values with */
};
/* join_keys_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status join_keys_init(struct join_keys *keys,
                                const struct join_keys_params *params,
                                struct error *error);
void join_keys_finish(struct join_keys *keys);

/* Takes other rows of the asking side to hand, whose columns stay until the
 * next call. */
enum vdbq_status join_keys_begin(struct join_keys *keys,
                                 const struct row_set *rows,
                                 struct error *error);
/* The tags of the first rows of [first, end) of the indexed side, which are not
 * none: JOIN_BLOCK at most, and how many. */
unsigned join_tags_indexed(const struct join_keys *keys, uint64_t first,
                           uint64_t end, uint32_t *tags);
/* The tags of rows [first, first + count) of the asking side, JOIN_BLOCK at
 * most; each thread must ask for rows of its own. */
void join_tags_asking(const struct join_keys *keys, uint64_t first,
                      unsigned count, uint32_t *tags);

/* Whether two rows of equal tags are equal. */
bool join_keys_same(const struct join_keys *keys, uint64_t indexed,
                    const struct row_set_column *columns, uint64_t row);

#endif
