/* SPDX-License-Identifier: MIT */
/*
 * Makes the filter, and lists what passes it: see join_sieve.h.
 */
#include "exec/join/join_sieve.h"

#include <assert.h>

#include "base/memory.h"

enum {
    BITS_ROW = 16, /* for each row: of other tags one in sixteen passes */
    WORD_BITS = 64
};

enum vdbq_status join_sieve_init(struct join_sieve *sieve, uint64_t rows,
                                 struct error *error)
{
    uint64_t bits = WORD_BITS;
    while (bits < rows * BITS_ROW && bits <= UINT32_MAX / 2)
        bits *= 2;
    *sieve = (struct join_sieve){ .bits = memory_zeroed(bits / WORD_BITS,
                                                        sizeof *sieve->bits),
                                  .mask = (uint32_t)(bits - 1) };
    return sieve->bits != NULL ? VDBQ_OK : error_no_memory(error);
}

void join_sieve_finish(struct join_sieve *sieve)
{
    memory_release(sieve->bits);
    *sieve = (struct join_sieve){ 0 };
}

unsigned join_sieve_keep(const struct join_sieve *sieve, const uint32_t *tags,
                         unsigned count, uint16_t *kept)
{
    assert(count <= UINT16_MAX + 1u);
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t bit = tags[i] & sieve->mask;
        uint64_t word = atomic_load_explicit(&sieve->bits[bit / WORD_BITS],
                                             memory_order_relaxed);
        kept[n] = (uint16_t)i;
        n += word >> bit % WORD_BITS & 1;
    }
    return n;
}
