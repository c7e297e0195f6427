/* SPDX-License-Identifier: MIT */
/*
 * Where the rows are that change: their numbers, which a query gives in the
 * order of the table, become places in tablets.
 */
#ifndef VDBQ_DATA_ROW_NUMBERS_H
#define VDBQ_DATA_ROW_NUMBERS_H

#include "base/vector.h"
#include "data/transaction/transaction.h"

struct row_numbers {
    struct vector numbers; /* of uint64_t: the caller's, ascending         */
    size_t found;          /* of these, the first ones, in tablets so far  */
};

struct row_numbers row_numbers_init(const struct row_changes *changes);

/* Finds the next rows, as many as the tablet holds: `places` (of uint32_t) gets
 * their places in it. Numbers that do not ascend end it: they will be missed.
 * False: no memory. */
bool row_numbers_find(struct row_numbers *numbers,
                      const struct tablet_ref *tablet, struct vector *places);

/* How many of a table's tablets from one on, side by side, hold none of the next
 * rows. */
size_t row_numbers_without(const struct row_numbers *numbers,
                           const struct table *table, size_t tablet);

/* How many of the rows come before a row; `*found`: it is one. */
size_t row_numbers_place(const struct row_numbers *numbers, uint64_t number,
                         bool *found);

#endif
