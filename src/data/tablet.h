/* SPDX-License-Identifier: MIT */
/*
 * Tablets in host memory: build one from vectors, check one that came from a
 * file, find things in it. The layout is in cl/tablet.h.
 */
#ifndef VDBQ_DATA_TABLET_H
#define VDBQ_DATA_TABLET_H

#include "data/catalogue.h"

/* Bytes of the block that `rows` rows need, with room for NULL bits of the
 * columns marked in `nullable` (one bool a column; NULL: all). */
uint64_t tablet_size(const struct table *table, uint32_t rows,
                     const bool *nullable);

/* Writes a tablet of `rows` rows into `block` (tablet_size() bytes, 64-byte
 * aligned) and the facts of its columns into `facts`. NaN becomes NULL. */
void tablet_build(const struct table *table, uint32_t rows,
                  const struct vdbq_vector *vectors, const bool *nullable,
                  void *block, struct column_facts *facts);

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

#endif
