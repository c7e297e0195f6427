/* SPDX-License-Identifier: MIT */
/*
 * Rows become a tablet.
 */
#ifndef VDBQ_DATA_ROWS_BLOCK_H
#define VDBQ_DATA_ROWS_BLOCK_H

#include "data/database/rows.h"
#include "data/tablet/block.h"
#include "data/tablet/encoding.h"

/* How a tablet is to be stored. */
struct rows_form {
    enum encoding_choice choice;
    bool packs; /* words, where that pays, and has sums of pages: for a file */
};

/* A block with the tablet of all rows, of which there is one, and the facts of
 * the table's columns; `*features` gets those that its encodings need. Without
 * bytes, there is no memory. */
struct block rows_block(const struct rows *rows, const struct table *table,
                        struct rows_form form, struct column_facts *facts,
                        uint64_t *features);
/* Likewise with the tablet that a checked one is with an edit; `packed`: the checked
 * one where the file has its words packed, or NULL. */
struct block edited_block(const void *base, const void *packed,
                          const struct edit *edit, const struct table *table,
                          struct rows_form form, struct column_facts *facts,
                          uint64_t *features);

#endif
