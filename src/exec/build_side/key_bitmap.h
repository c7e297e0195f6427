/* SPDX-License-Identifier: MIT */
/*
 * Bitmap indexes (INDEX_BITMAP in cl/launch.h): a bit for each key that there
 * could be, and before how many others it comes. They are small, so that
 * looking keys up stays in the caches, and keys that come in order are looked
 * up one beside the other. After Jacobson, "Space-efficient static trees and
 * graphs" (1989), whose rank() this is.
 */
#ifndef VDBQ_EXEC_KEY_BITMAP_H
#define VDBQ_EXEC_KEY_BITMAP_H

#include "exec/build_side/key_index.h"

/* Bits of an index at most: ranks are counted in 31 bits. */
#define BITMAP_MAX (UINT64_C(1) << 31)

/* Whether every row has a key, greater than the one of the row before; looked
 * at by so many threads. */
bool key_bitmap_in_order(const struct key_column *column, unsigned threads);
/* Bytes of the bits and of what lies behind them. */
uint64_t key_bitmap_bytes(const struct key_index *index,
                          const struct key_column *column);
/* Writes them, with so many threads: of equal keys the first row counts. */
void key_bitmap_fill(const struct key_index *index,
                     const struct key_column *column, unsigned threads,
                     void *slots);

#endif
