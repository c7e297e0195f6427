/* SPDX-License-Identifier: MIT */
/*
 * Packed columns on the host: written and read as cl/tablet.h draws them.
 */
#ifndef VDBQ_DATA_PACKED_H
#define VDBQ_DATA_PACKED_H

#include "data/catalogue/catalogue.h"

/* Bits of the codes of integers from `minimum` to `maximum`; more than
 * PACKED_BITS_MAX: they cannot be packed. */
unsigned packed_bits(int64_t minimum, int64_t maximum);

/* Writes the lines of a vector of integers: PACKED_SIZE(rows, bits) bytes. A
 * value that is NULL becomes code 0. */
void packed_write(const struct vdbq_vector *vector, uint32_t rows, int64_t base,
                  unsigned bits, void *lines);

/* Reads values of type INTEGER or BIGINT. */
void packed_read(const void *lines, uint32_t rows, enum vdbq_type type,
                 int64_t base, unsigned bits, void *values);

/* What is in lines: of the codes of values that are not NULL. */
struct packed_range {
    uint32_t minimum, maximum;
    uint64_t nulls;
    bool null_not_zero; /* some code of a NULL is not 0 */
};
struct packed_range packed_range(const void *lines, uint32_t rows,
                                 unsigned bits, const uint8_t *null_bits);

#endif
