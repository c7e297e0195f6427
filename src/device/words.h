/* SPDX-License-Identifier: MIT */
/*
 * Asking many words that lie in a device's memory whether they match a pattern:
 * one launch of cl/words/words.cl for each memory of words.
 */
#ifndef VDBQ_DEVICE_WORDS_H
#define VDBQ_DEVICE_WORDS_H

#include "cl/words/words.h"
#include "device/device.h"

/* Words as they lie on the host: word i ends at ends[i] of the bytes. */
struct words {
    const uint32_t *ends;
    const char *bytes;
    uint32_t count; /* at least 1 */
};

/* Bytes that they take in a device's memory. */
uint64_t words_room(const struct words *words);
/* Copies them to such a memory, which the device holds, and adds to `times`. */
enum vdbq_status words_write(const struct words *words,
                             struct device_memory *memory,
                             struct device_times *times, struct error *error);

/* Words that were written, and the number of the first of them among all. */
struct words_part {
    struct device_memory *memory;
    uint32_t count, first;
};

/* Asks all of the parts; the device has kernels. Bit i of `bits`, for which there
 * are that many words of 32, is set for word i that matches, and no other. Adds to
 * `times`. Fails with DEVICE, NO_MEMORY, CANCELLED. */
enum vdbq_status words_match(struct device *device,
                             const struct words_part *parts, unsigned count,
                             const struct words_pattern *pattern,
                             uint32_t *bits, uint64_t bits_words,
                             struct device_times *times, struct error *error);

#endif
