/* SPDX-License-Identifier: MIT */
/*
 * Values of a column on their way to a temporary file: each is its distance from
 * the least of them, in as many whole bytes as the greatest distance takes.
 *
 *     offset  size           what
 *     0       8              the least value
 *     8       bytes * rows   distances, padded to 8 bytes
 */
#ifndef VDBQ_EXEC_SPILL_PACK_H
#define VDBQ_EXEC_SPILL_PACK_H

#include <stdint.h>

/* What is written or read reaches so far behind the last value. */
enum { SPILL_PACK_SLACK = 8 };

/* Bytes of so many values that take `bytes` each. */
static inline uint64_t spill_pack_size(unsigned bytes, uint64_t rows)
{
    return sizeof(uint64_t) + (bytes * rows + 7) / 8 * 8;
}

/* Packs values of `width` bytes, 4 or 8, at least one; how many bytes each takes,
 * `width` at most. */
unsigned spill_pack(const void *values, unsigned width, uint64_t rows,
                    uint8_t *to);
/* The way back. `to` may lie in front of `from`, and the values may reach over
 * what was unpacked already. */
void spill_unpack(const uint8_t *from, unsigned bytes, unsigned width,
                  uint64_t rows, void *to);

#endif
