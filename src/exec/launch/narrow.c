/* SPDX-License-Identifier: MIT */
/*
 * Narrow result columns: how narrow they are, and the way back.
 */
#include "exec/launch/narrow.h"

#include <assert.h>

#include "base/threads/parallel.h"
#include "data/tablet/encoding.h"

/* ------------------------------------------------------------- widths -- */

/* Values from `low` on, so many after it at most. */
struct bounds {
    i64 low;  /* least value */
    u64 span; /* greatest less least */
};

/* The values that an input of so many rows has; false: these are not known. */
static bool input_bounds(const struct column_input *input, uint64_t rows,
                         struct bounds *bounds)
{
    const struct encoding *encoding = encoding_at(input->encoding);

    if (encoding->span == NULL)
        return false;
    *bounds = (struct bounds){ input->base, encoding->span(input, rows) };
    return bounds->span <= (u64)INT64_MAX - (u64)input->base;
}

/* The values that input `place` has in a morsel. Codes of words are looked up:
 * nothing is known of what comes of them. */
static bool morsel_bounds(const struct launcher_morsel *morsel, unsigned place,
                          struct bounds *bounds)
{
    bool dictionary = morsel->order_codes != NULL
                      && (morsel->order_codes[place].count > 0
                          || morsel->order_codes[place].before > 0);
    return !dictionary
           && input_bounds(&morsel->inputs[place], morsel->rows, bounds);
}

/* The values that input `place` has in any of the morsels. */
static bool launch_bounds(const struct launcher_request *request,
                          unsigned place, struct bounds *all)
{
    i64 low = INT64_MAX, high = INT64_MIN;
    for (unsigned i = 0; i < request->count; i++) {
        struct bounds bounds;
        if (!morsel_bounds(&request->morsels[i], place, &bounds))
            return false;
        i64 last = (i64)((u64)bounds.low + bounds.span);
        low = bounds.low < low ? bounds.low : low;
        high = last > high ? last : high;
    }
    *all = (struct bounds){ .low = low, .span = (u64)high - (u64)low };
    return request->count > 0;
}

/* Bytes that are enough for numbers up to that. */
static u32 width_of(u64 most)
{
    return most <= UINT8_MAX    ? 1
           : most <= UINT16_MAX ? 2
           : most <= UINT32_MAX ? 4
                                : 8;
}

bool narrow_outputs(const struct program_pack *pack,
                    const struct launcher_request *request,
                    struct output *outputs)
{
    bool any = false;
    for (unsigned i = 0; i < pack->result_count; i++) {
        struct output *output = &outputs[i];
        int place = pack->result_inputs[i];
        struct bounds bounds;
        output->narrow = 0;
        if (place < 0 || !launch_bounds(request, (unsigned)place, &bounds)
            || width_of(bounds.span) >= output->width)
            continue;
        output->narrow = width_of(bounds.span);
        output->base = bounds.low;
        any = true;
    }
    return any;
}

/* -------------------------------------------------------------- widen -- */

#define WIDEN(wide, narrow)                                                    \
    PARALLEL_CLONES                                                            \
    static void widen_##wide##_##narrow(                                       \
        wide *restrict to, const narrow *restrict from, i64 base, u64 rows)    \
    {                                                                          \
        for (u64 i = 0; i < rows; i++)                                         \
            to[i] = (wide)base + from[i];                                      \
    }
WIDEN(u32, u8)
WIDEN(u32, u16)
WIDEN(u64, u8)
WIDEN(u64, u16)
WIDEN(u64, u32)

void narrow_widen(const struct output *output, const void *from, void *to,
                  uint64_t rows)
{
    assert(output->narrow > 0 && output->narrow < output->width);
    if (output->width == 4 && output->narrow == 1)
        widen_u32_u8(to, from, output->base, rows);
    else if (output->width == 4)
        widen_u32_u16(to, from, output->base, rows);
    else if (output->narrow == 1)
        widen_u64_u8(to, from, output->base, rows);
    else if (output->narrow == 2)
        widen_u64_u16(to, from, output->base, rows);
    else
        widen_u64_u32(to, from, output->base, rows);
}
