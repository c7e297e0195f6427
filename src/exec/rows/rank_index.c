/* SPDX-License-Identifier: MIT */
/*
 * The making of the directory: about as many buckets as there are numbers.
 */
#include "exec/rows/rank_index.h"

#include <assert.h>

#include "base/memory.h"

/* Bits of the distance that say no bucket. */
static unsigned shift_for(uint64_t span, uint32_t count)
{
    unsigned shift = 0;
    while (span >> shift > (uint64_t)count * 2)
        shift++;
    return shift;
}

enum vdbq_status rank_index_init(struct rank_index *ranks, int64_t *sorted,
                                 uint32_t count, struct error *error)
{
    assert(count == 0 || sorted[0] <= sorted[count - 1]);
    uint64_t buckets, bucket = 0, span;
    *ranks = (struct rank_index){ .sorted = sorted, .count = count };
    if (count == 0)
        return VDBQ_OK;
    span = ranks_distance(ranks, sorted[count - 1]);
    ranks->shift = shift_for(span, count);
    buckets = (span >> ranks->shift) + 1;
    ranks->starts = memory_resize(NULL, (buckets + 1) * sizeof *ranks->starts);
    if (ranks->starts == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t of = ranks_distance(ranks, sorted[i]) >> ranks->shift;
        while (bucket <= of)
            ranks->starts[bucket++] = i;
    }
    ranks->starts[buckets] = count;
    return VDBQ_OK;
}

void rank_index_finish(struct rank_index *ranks)
{
    memory_release(ranks->sorted);
    memory_release(ranks->starts);
    *ranks = (struct rank_index){ 0 };
}
