/* SPDX-License-Identifier: MIT */
/*
 * What the files of the join share: join.c makes rows, join_pairs.c finds
 * candidates, in the order of the left rows.
 */
#ifndef VDBQ_EXEC_JOIN_H
#define VDBQ_EXEC_JOIN_H

#include "exec/join_band.h"
#include "exec/row_index.h"
#include "exec/stream_inner.h"

enum {
    LEFT_ROWS_MAX = 1 << 16, /* rows of the left input that are joined at once */
    PAIRS_FIRST = 1 << 10,   /* candidates of the first round ...              */
    PAIRS_MAX = 1 << 16      /* ... and of any                                 */
};

/* Candidates of one round: pairs of rows, and after those of a left row, for
 * kinds that ask what became of it, (row, RELATION_NO_ROW). */
struct join_pairs {
    uint32_t *left, *right;
    uint8_t *kept;
    uint64_t count, room;
};

/* Where the search is. */
struct join_search {
    const struct step_join *step;
    bool ends;   /* left rows are to end with a mark of their own */
    bool once;   /* one candidate decides about a left row        */
    struct row_index index;          /* of the right rows; with keys    */
    struct relation_column *right_keys;
    struct relation_column *left_keys; /* of the rows at hand           */
    uint32_t **texts;      /* a key: the number of the right side's word
                              for each of the left's; NULL: the same    */
    uint32_t **numbers;    /* a key: those of the left rows at hand     */
    uint64_t right_rows;
    uint64_t left_rows;    /* of those at hand                          */
    uint32_t left;         /* the row that candidates are sought for    */
    uint32_t right;        /* its last one                              */
    uint64_t hash;         /* of its keys                               */
    bool started;          /* it has been looked up                     */
    struct join_band band; /* with a band:                              */
    const struct relation *rows;  /* those at hand                      */
    uint32_t *starts, *counts;    /* what each of them finds            */
    uint32_t given;        /* candidates of `left`, so far              */
};

/* Looks at the right rows, which stay as they are. join_search_finish() is due
 * whatever it returns, and accepts a zeroed struct. */
enum vdbq_status join_search_init(struct join_search *search,
                                  const struct step_join *step,
                                  const struct relation *right,
                                  const struct stream *left,
                                  unsigned threads, struct error *error);
void join_search_finish(struct join_search *search);

/* Starts on other left rows. */
enum vdbq_status join_search_begin(struct join_search *search,
                                   const struct relation *left,
                                   struct error *error);
/* The next candidates, as many as there is room for; none: all are found. */
void join_search_next(struct join_search *search, struct join_pairs *pairs);

enum vdbq_status join_pairs_room(struct join_pairs *pairs, uint64_t room,
                                 struct error *error);
void join_pairs_finish(struct join_pairs *pairs);

#endif
