/* SPDX-License-Identifier: MIT */
/*
 * Tablets in host memory: build one from vectors, check one that came from a
 * file, find things in it. The layout is in cl/tablet.h.
 */
#ifndef VDBQ_DATA_TABLET_H
#define VDBQ_DATA_TABLET_H

#include "data/catalogue/catalogue.h"
#include "data/tablet/dictionary.h"
#include "data/tablet/encoding.h"

/* What a tablet is made of: one vector for each column of the table, of its
 * type; but values of a text column are int32_t, the numbers of its texts
 * among `words` of that column. A NaN is a NULL. */
struct tablet_source {
    const struct table *table;
    uint32_t rows; /* at least 1 */
    const struct vdbq_vector *vectors;
    struct dictionary *const *dictionaries; /* NULL: there is no text column */
    enum encoding_choice choice;
};

/* Describes the tablet's columns and finds out the facts of their values; one
 * item a column. Returns the bytes of the block that it needs. */
uint64_t tablet_describe(const struct tablet_source *source,
                         struct tablet_column *columns,
                         struct column_facts *facts);

/* Writes the tablet so described into `block` (64-byte aligned). */
void tablet_build(const struct tablet_source *source,
                  const struct tablet_column *columns, void *block);

/*
 * Proves that a block of `size_bytes` is a tablet of this table with
 * `rows` rows, whose every offset stays inside and whose areas do not
 * overlap the head. Nothing else may read a block that came from a file
 * before this returned VDBQ_OK. Fails with CORRUPT.
 */
enum vdbq_status tablet_check(const struct table *table, const void *block,
                              uint64_t size_bytes, uint32_t rows,
                              struct error *error);

/* The description of a column. */
const struct tablet_column *tablet_column(const void *block, unsigned column);
/* The words of a text column. */
const struct tablet_words *tablet_words(const void *block, unsigned column);
/* The word of a code; it lives as long as the tablet. */
struct vdbq_text tablet_word(const void *block, unsigned column, uint32_t code);
/* Has what tells where it is brought into the processor's cache. */
void tablet_word_fetch(const void *block, unsigned column, uint32_t code);

/* Whether a value of the tablet is NULL. */
bool tablet_null(const void *block, unsigned column, uint32_t row);
/* Writes values of `count` rows from `first` on, a multiple of 64, as a plain
 * array, whatever their encoding; those of a text column are codes. */
void tablet_values_of(const void *block, unsigned column, uint32_t first,
                      uint32_t count, void *values);
/* Writes values of `count` rows, whose numbers ascend, likewise. */
void tablet_values_pick(const void *block, unsigned column,
                        const uint32_t *rows, uint32_t count, void *values);

#endif
