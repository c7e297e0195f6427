/* SPDX-License-Identifier: MIT */
/*
 * Where the rows are that change: their ids, which a query gives in the order
 * of the table, become places in tablets.
 */
#ifndef VDBQ_DATA_ROW_NUMBERS_H
#define VDBQ_DATA_ROW_NUMBERS_H

#include "base/vector.h"
#include "data/transaction/transaction.h"

struct row_numbers {
    const struct table *table;
    const struct vdbq_vector *ids; /* the caller's                      */
    bool numbered;                 /* they are numbers, else keys       */
    uint64_t count;                /* of them                           */
    struct vector found;           /* uint64_t: numbers in the table of the
                                      rows that were found, ascending    */
};

/* Of changes whose ids have their type. */
struct row_numbers row_numbers_init(const struct table *table,
                                    const struct row_changes *changes);
void row_numbers_finish(struct row_numbers *numbers); /* accepts zeroed ones */

/* Whether the tablet may hold the next row. */
bool row_numbers_may_hold(const struct row_numbers *numbers,
                          const struct tablet_ref *tablet);
/* Finds the next rows, as many as the tablet holds: `places` (of uint32_t) gets
 * their places in it. Where ids are keys, `block` is the tablet, checked. False:
 * no memory, or it is to end. */
bool row_numbers_find(struct row_numbers *numbers,
                      const struct tablet_ref *tablet, const void *block,
                      struct vector *places);

/* How many of the found rows come before a row; `*found`: it is one. */
size_t row_numbers_place(const struct row_numbers *numbers, uint64_t number,
                         bool *found);

#endif
