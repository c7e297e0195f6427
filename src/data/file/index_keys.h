/* SPDX-License-Identifier: MIT */
/*
 * What an index of expressions or of some rows is, as bytes of the catalogue:
 *
 *   the keys            8  origin
 *                       4  how many columns of the table it reads; then 4 for
 *                          the number of each, ascending
 *                       4  how many keys, at least 1
 *                       .  of each key: type (4); precision, scale, 0 and
 *                          collation (1 each); its SQL
 *                       .  the condition's SQL; empty: it is of all rows
 *
 * in the place of an index's numbers of columns. SQL is its length (4 bytes) and
 * its bytes.
 */
#ifndef VDBQ_DATA_INDEX_KEYS_FILE_H
#define VDBQ_DATA_INDEX_KEYS_FILE_H

#include "base/text.h"
#include "data/file/decoder.h"

void index_keys_encode(const struct index *index, struct text *text);
/* Reads them into an index of that table. What is wrong fails the decoder: also
 * SQL that is no expression. */
void index_keys_decode(struct decoder *decoder, const struct table *table,
                       struct index *index);
/* Proves that a text of the file is an expression; whether its names are the
 * table's the planner sees. */
void decoder_prove_sql(struct decoder *decoder, const char *sql);
/* Reads how many columns of a table something reads, one at least, and their numbers,
 * ascending, which live in the catalogue. */
unsigned *decoder_reads(struct decoder *decoder, const struct table *table,
                        unsigned *count);

#endif
