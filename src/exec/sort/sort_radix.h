/* SPDX-License-Identifier: MIT */
/*
 * Radix sort of elements: the upper 32 bits decide, and those that are equal
 * there keep their order.
 */
#ifndef VDBQ_EXEC_SORT_RADIX_H
#define VDBQ_EXEC_SORT_RADIX_H

#include <stdint.h>

/* Sorts `count` elements, with as much room at `other`; returns where of the
 * two they are then; NULL: no memory. */
uint64_t *radix_sort(uint64_t *elements, uint64_t *other, uint32_t count,
                     unsigned threads);

#endif
