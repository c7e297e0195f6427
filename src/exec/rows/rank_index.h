/* SPDX-License-Identifier: MIT */
/*
 * Sorted numbers, and how many of them are less than one: a directory by the
 * numbers' high bits says where to look, and a binary search does the rest.
 */
#ifndef VDBQ_EXEC_RANK_INDEX_H
#define VDBQ_EXEC_RANK_INDEX_H

#include <assert.h>
#include <stdint.h>

#include "base/error.h"

struct rank_index {
    int64_t *sorted;  /* owned                                          */
    uint32_t count;   /* of `sorted` */
    uint32_t *starts; /* of each bucket, and the end of the last one    */
    unsigned shift;   /* bucket: the distance from the first, shifted   */
};

/* Takes over `sorted`, which has ascending numbers. rank_index_finish() is due
 * whatever it returns, and accepts a zeroed struct. */
enum vdbq_status rank_index_init(struct rank_index *ranks, int64_t *sorted,
                                 uint32_t count, struct error *error);
void rank_index_finish(struct rank_index *ranks);

static inline uint64_t ranks_distance(const struct rank_index *ranks,
                                      int64_t value)
{
    assert(value >= ranks->sorted[0]);
    return (uint64_t)value - (uint64_t)ranks->sorted[0];
}

/* How many of the numbers are less than `value`. */
static inline uint32_t rank_index_below(const struct rank_index *ranks,
                                        int64_t value)
{
    uint32_t first, count;
    uint64_t bucket;
    if (ranks->count == 0 || value <= ranks->sorted[0])
        return 0;
    if (value > ranks->sorted[ranks->count - 1])
        return ranks->count;
    bucket = ranks_distance(ranks, value) >> ranks->shift;
    first = ranks->starts[bucket];
    count = ranks->starts[bucket + 1] - first;
    while (count > 0) {
        uint32_t half = count / 2;
        uint32_t step = ranks->sorted[first + half] < value ? half + 1 : 0;
        first += step;
        count = step > 0 ? count - step : half;
    }
    return first;
}

/* How many are not greater. */
static inline uint32_t rank_index_up_to(const struct rank_index *ranks,
                                        int64_t value)
{
    return value == INT64_MAX ? ranks->count
                              : rank_index_below(ranks, value + 1);
}

#endif
