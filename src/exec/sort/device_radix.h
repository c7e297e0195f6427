/* SPDX-License-Identifier: MIT */
/*
 * Elements (cl/sort.cl) in the device's memory, and what sorts them: the
 * number of a row each, and above it 32 bits that decide.
 */
#ifndef VDBQ_EXEC_DEVICE_RADIX_H
#define VDBQ_EXEC_DEVICE_RADIX_H

#include "device/kernel.h"

struct device_radix {
    struct device *device;          /* sorts */
    struct device_times *times;     /* added to                 */
    uint64_t count;                 /* of elements */
    uint64_t spans, span;           /* of elements, a group each */
    struct device_memory *elements; /* as they are now           */
    struct device_memory *other;    /* elements of the next pass */
    struct device_memory *counts;   /* of each digit, one list a span */
};

/* Makes room for `count` elements, below 2^32. device_radix_finish() is due
 * whatever it returns. */
enum vdbq_status device_radix_init(struct device_radix *radix,
                                   struct device *device, uint64_t count,
                                   struct device_times *times,
                                   struct error *error);
/* There are fewer elements than there is room for. */
void device_radix_shrink(struct device_radix *radix, uint64_t count);
void device_radix_finish(struct device_radix *radix);
/* Sorts by the lowest `bits` of the 32; what is equal there keeps its order. */
enum vdbq_status device_radix_sort(struct device_radix *radix, unsigned bits,
                                   struct error *error);
/* Bits of numbers up to `most`. */
unsigned device_radix_bits(uint64_t most);

#endif
