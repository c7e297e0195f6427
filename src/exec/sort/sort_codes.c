/* SPDX-License-Identifier: MIT */
/*
 * Numbers of rows: see sort_codes.h.
 */
#include "exec/sort/sort_codes.h"

#include <assert.h>

#include "base/memory.h"

enum { NUMBER_BITS = 64 };

/* Bits that a value takes. */
static unsigned bits_of(uint64_t value)
{
    unsigned bits = 0;
    for (; value > 0; value >>= 1)
        bits++;
    return bits;
}

/* Adds bits below the `*used` ones; they are not there where none is left. */
static void add_code(struct sort_codes *codes, const struct sort_code *code,
                     unsigned bits, unsigned *used)
{
    if (bits == 0 || *used >= NUMBER_BITS) {
        codes->exact &= bits == 0;
        return;
    }
    struct sort_code *added = &codes->codes[codes->count++];
    *added = *code;
    added->shift = NUMBER_BITS - (int)*used - (int)bits;
    codes->exact &= added->shift >= 0;
    *used += bits;
    assert(added->shift > -NUMBER_BITS && added->shift < NUMBER_BITS);
}

enum vdbq_status
sort_codes_init(struct sort_codes *codes, const struct step_column *columns,
                const struct step_key *keys, unsigned key_count,
                const struct sort_extent *extents, struct error *error)
{
    unsigned used = 0;
    *codes =
        (struct sort_codes){ .codes = memory_zeroed(2 * (size_t)key_count + 1,
                                                    sizeof *codes->codes),
                             .exact = true };
    if (codes->codes == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < key_count; i++) {
        const struct sort_extent *extent = &extents[i];
        struct sort_code code = { .column = keys[i].column,
                                  .type =
                                      sort_type(columns[keys[i].column].type),
                                  .nulls_last = keys[i].nulls_last,
                                  .descending = keys[i].descending };
        bool any = extent->least <= extent->most;
        code.null = true;
        add_code(codes, &code, extent->nulls, &used);
        code.null = false;
        code.from = code.descending ? extent->most : extent->least;
        add_code(codes, &code, any ? bits_of(extent->most - extent->least) : 0,
                 &used);
    }
    return VDBQ_OK;
}

void sort_codes_finish(struct sort_codes *codes)
{
    memory_release(codes->codes);
    *codes = (struct sort_codes){ 0 };
}
