/* SPDX-License-Identifier: MIT */
/*
 * Rows of all rounds of a recursion: those that UNION compares new ones with, and in
 * their order those whose texts are to have the same words. Texts have the numbers in
 * which they came first, whatever words a round has.
 */
#ifndef VDBQ_EXEC_RECURSE_SEEN_H
#define VDBQ_EXEC_RECURSE_SEEN_H

#include "base/account.h"
#include "exec/recurse/recurse_table.h"

struct recurse_seen {
    struct row_set rows;          /* where they are kept                     */
    struct recurse_table table;   /* where they are compared                 */
    bool distinct, keeps;         /* ... they are                            */
    bool *is_new;                 /* of the batch at hand, of UNION          */
    struct vector texts;          /* of struct vdbq_text, by their numbers   */
    struct arena arena;           /* of their bytes                          */
    uint32_t *slots;              /* by the hash: number + 1, or 0           */
    uint32_t slot_count;          /* 0, or a power of two                    */
    struct row_set_column *batch; /* columns of the batch at hand            */
    uint32_t **numbers;           /* ... of texts, their numbers here        */
    uint64_t room;                /* rows that those have room for           */
    struct account_share *memory; /* what is held is counted there           */
    uint64_t counted;             /* bytes of it                             */
};

/* `keeps`: all rows are asked for later. recurse_seen_finish() is due whatever it
 * returns, and accepts a zeroed struct. */
enum vdbq_status recurse_seen_init(struct recurse_seen *seen,
                                   const struct step *step,
                                   struct account_share *memory, bool keeps,
                                   struct error *error);
void recurse_seen_finish(struct recurse_seen *seen);

/* Takes a batch to hand, whose texts are of the dictionaries. */
enum vdbq_status recurse_seen_take(struct recurse_seen *seen,
                                   const struct vdbq_batch *batch,
                                   struct dictionary *const *dictionaries,
                                   struct error *error);
/* Adds row `row` of it; `*is_new` false: it is there already, and rows are
 * compared. */
enum vdbq_status recurse_seen_add(struct recurse_seen *seen, uint64_t row,
                                  bool *is_new, struct error *error);
/* Makes words of the texts: the rows' numbers are theirs then. Nothing is added any
 * more. */
enum vdbq_status recurse_seen_end(struct recurse_seen *seen,
                                  struct error *error);

#endif
