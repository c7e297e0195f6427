/* SPDX-License-Identifier: MIT */
/*
 * Radix sort, the lowest digit first. Each thread counts the digits of its
 * part of the elements; these counts give each thread its places in each
 * digit's bucket, so that equal ones keep their order. Digits that are the
 * same in all elements are passed over.
 */
#include "exec/sort/sort_radix.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"

enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS };

struct radix {
    const uint64_t *from; /* elements to sort */
    uint64_t *to;         /* where they go */
    uint32_t count;       /* of elements */
    unsigned threads;     /* that share the elements */
    unsigned shift;       /* of the digit */
    /* of each thread: where its next element of a bucket goes */
    uint32_t (*places)[BUCKETS];
};

/* The first element of a thread's share. */
static uint32_t first_of(const struct radix *radix, unsigned share)
{
    return (uint32_t)((uint64_t)radix->count * share / radix->threads);
}

/* One thread's share: counts its elements by bucket. */
static void count_digits(void *context, unsigned share)
{
    struct radix *radix = context;
    uint32_t *counts = radix->places[share], end = first_of(radix, share + 1);

    memset(counts, 0, BUCKETS * sizeof *counts);
    for (uint32_t i = first_of(radix, share); i < end && !stop_at(i); i++)
        counts[radix->from[i] >> radix->shift & (BUCKETS - 1)]++;
}

/* Counts become places; false: one bucket has all. */
static bool place_buckets(struct radix *radix)
{
    uint32_t place = 0;

    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        uint32_t first = place;
        for (unsigned share = 0; share < radix->threads; share++) {
            uint32_t count = radix->places[share][bucket];
            assert(place + count <= radix->count);
            radix->places[share][bucket] = place;
            place += count;
        }
        if (place - first == radix->count)
            return false;
    }
    return true;
}

/* One thread's share: moves its elements; their order stays in a bucket. */
static void move(void *context, unsigned share)
{
    struct radix *radix = context;
    uint32_t *places = radix->places[share], end = first_of(radix, share + 1);

    for (uint32_t i = first_of(radix, share); i < end && !stop_at(i); i++) {
        uint64_t element = radix->from[i];
        radix->to[places[element >> radix->shift & (BUCKETS - 1)]++] = element;
    }
}

uint64_t *radix_sort(uint64_t *elements, uint64_t *other, uint32_t count,
                     unsigned threads)
{
    struct radix radix = { .count = count, .threads = threads };

    assert(threads > 0 && threads <= PARALLEL_THREADS_MAX);
    radix.places = memory_resize(NULL, threads * sizeof *radix.places);
    if (radix.places == NULL)
        return NULL;
    for (radix.shift = 32; radix.shift < 64; radix.shift += DIGIT_BITS) {
        radix.from = elements;
        radix.to = other;
        parallel_run(radix.threads, count_digits, &radix);
        if (stop_asked())
            break; /* not all were counted: there is no place */
        if (!place_buckets(&radix))
            continue;
        parallel_run(radix.threads, move, &radix);
        other = elements;
        elements = radix.to;
    }
    memory_release(radix.places);
    return elements;
}
