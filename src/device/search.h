/* SPDX-License-Identifier: MIT */
/*
 * Looking up many keys at once in a sorted column that lies in a device's
 * memory: one launch of cl/search.cl. Every device can, the host build, too.
 */
#ifndef VDBQ_DEVICE_SEARCH_H
#define VDBQ_DEVICE_SEARCH_H

#include "device/device.h"

enum search_algorithm {
    SEARCH_AUTO,   /* p-ary for few keys, as the device's kind says */
    SEARCH_BINARY, /* a key an item                                 */
    SEARCH_PARY    /* a key for all items of a team                 */
};

/* What is searched. */
enum search_type {
    SEARCH_I64, /* int64_t                                             */
    SEARCH_TEXT /* 16 bytes of a text, as two uint64_t, the first bytes in
                   the highest of the first, 0 behind its end          */
};

struct search_params {
    struct device_memory *sorted; /* the column, held by the device; NULL
                                     where it has no values           */
    uint64_t count; /* of its values, in growing order; below 2^32 - 1  */
    enum search_type type;
    const void *keys; /* of the same type; the fast way: in pinned memory */
    uint64_t key_count;
    enum search_algorithm algorithm;
};

/* What a search took; added to. Times of kernels and transfers are kept between
 * device_times_hold() and device_times_release(). */
struct search_times {
    struct device_times in;     /* the keys' way to the device    */
    struct device_times kernel; /* the launch, and its build      */
    struct device_times out;    /* the answers' way to the host   */
};

/* Bytes of a value. */
uint64_t search_width(enum search_type type);

/* The algorithm that AUTO means for so many keys. */
enum search_algorithm search_choose(const struct device *device,
                                    uint64_t key_count);

/* Gives for each key how many values are less: the place of the first that is
 * not. Fails with DEVICE, NO_MEMORY. */
enum vdbq_status search_keys(struct device *device,
                             const struct search_params *params,
                             uint32_t *places, struct search_times *times,
                             struct error *error);

#endif
