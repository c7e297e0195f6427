/* SPDX-License-Identifier: MIT */
/*
 * Words on a device: see words.h and cl/words/words.cl.
 */
#include "device/words.h"

#include <assert.h>
#include <string.h>

#include "device/kernel.h"

static uint64_t bytes_of(const struct words *words)
{
    return words->ends[words->count - 1];
}

/* Something is behind the last word, so that one without bytes has a place. */
uint64_t words_room(const struct words *words)
{
    assert(words->count > 0);
    return WORDS_BYTES_AT(words->count) + bytes_of(words) + 1;
}

enum vdbq_status words_write(const struct words *words,
                             struct device_memory *memory,
                             struct device_times *times, struct error *error)
{
    enum vdbq_status status =
        device_write(memory, 0, words->ends, words->count * sizeof *words->ends,
                     times, error);

    return status == VDBQ_OK
               ? device_write(memory, WORDS_BYTES_AT(words->count),
                              words->bytes, bytes_of(words), times, error)
               : status;
}

/* A launch for each part; they set bits of one memory. */
static enum vdbq_status
launch_all(struct device *device, const struct words_part *parts,
           unsigned count, const struct words_pattern *pattern,
           struct device_memory *bits, struct device_times *times,
           struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < count && status == VDBQ_OK; i++)
        status = device_call(device,
                             &(struct device_call){
                                 .kernel = KERNEL_WORDS_MATCH,
                                 .memories = { parts[i].memory, bits },
                                 .memory_count = 2,
                                 .numbers = { parts[i].count, parts[i].first },
                                 .number_count = 2,
                                 .value = pattern,
                                 .value_bytes = sizeof *pattern,
                                 .items = parts[i].count },
                             times, error);
    return status;
}

enum vdbq_status words_match(struct device *device,
                             const struct words_part *parts, unsigned count,
                             const struct words_pattern *pattern,
                             uint32_t *bits, uint64_t bits_words,
                             struct device_times *times, struct error *error)
{
    uint64_t size = bits_words * sizeof *bits;
    struct device_memory *found;
    struct error ignored;
    enum vdbq_status status =
        device_memory_create(device, MEMORY_DEVICE, size, &found, error);

    if (status != VDBQ_OK)
        return status;
    assert(pattern->count <= WORDS_LITERALS_MAX);
    status = device_fill(found, size, 0, error);
    if (status == VDBQ_OK)
        status = launch_all(device, parts, count, pattern, found, times, error);
    if (status == VDBQ_OK)
        status = device_read(found, 0, bits, size, times, error);
    if (status == VDBQ_OK)
        status = device_calls_wait(device, times, error);
    else
        device_calls_wait(device, times, &ignored);
    device_memory_release(found);
    return status;
}
