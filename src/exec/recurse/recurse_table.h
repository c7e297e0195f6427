/* SPDX-License-Identifier: MIT */
/*
 * The different rows of all rounds of a recursion, which each new one is compared
 * with: a hash table whose slots have the rows themselves, in the order of their hashes.
 * Beyond the limit it lies in a temporary file (base/paged.h). Rows of a batch are looked
 * for in that order, too, so that they come to few pages, one after the other.
 *
 * A slot has of each column a byte, which says what the value is, and the lower bytes of
 * the value's code (exec/rows/order.h). Two rows are the same if these bytes are.
 */
#ifndef VDBQ_EXEC_RECURSE_TABLE_H
#define VDBQ_EXEC_RECURSE_TABLE_H

#include "exec/rows/row_set.h"

struct recurse_table {
    const struct row_set_column
        *columns;          /* of the batch at hand; the caller's */
    unsigned column_count; /* of `columns` */
    size_t slot_bytes;     /* of a row */
    uint8_t *slots;        /* 1 << bits of them; paged        */
    unsigned bits;         /* 0: there are none */
    uint64_t rows;         /* that it has                     */
    uint64_t together;     /* rows that are looked for together, at most */
    /* Of the rows that are looked for together, of which there is room for so many: */
    uint32_t room;
    uint8_t *packed;  /* as in a slot                        */
    uint64_t *hashes; /* of these                            */
    uint32_t *order;  /* by the first bits of their hashes   */
    uint32_t *places; /* where the next of each of these goes in `order` */
};

/* The columns' types and widths stay as they are. `bytes`: that each thing of a step may
 * take, as account_least() says. recurse_table_finish() accepts a zeroed one. */
void recurse_table_init(struct recurse_table *table,
                        const struct row_set_column *columns, unsigned count,
                        uint64_t bytes);
void recurse_table_finish(struct recurse_table *table);

/* Whether it lies in a file: rows are looked for faster if they are many at once. */
bool recurse_table_in_file(const struct recurse_table *table);

/* Adds those of the columns' rows that it does not have; `is_new` tells of each row
 * whether it did. Of rows that are equal the first one is new. False: no memory, or
 * the thread was asked to stop. */
bool recurse_table_add(struct recurse_table *table, uint64_t rows,
                       bool *is_new);

#endif
