/* SPDX-License-Identifier: MIT */
/*
 * Packed keys: see group_pack.h.
 */
#include "exec/group/group_pack.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "cl/bits.h"
#include "cl/types.h"

/* Bits of floats, the same for equal ones. */
static uint32_t bits_f32(float value)
{
    value += 0.0f;
    return value != value ? 0x7fc00000u : bits_of_f32(value);
}

/* As bits_f32(). */
static uint64_t bits_f64(double value)
{
    value += 0.0;
    return value != value ? UINT64_C(0x7ff8) << 48 : bits_of_f64(value);
}

/* Units have 4 bytes: 8-byte values need not be aligned. */
static void put_wide(pack_unit *unit, uint64_t value)
{
    memcpy(unit, &value, sizeof value);
}

/* Copies the values; those of NULLs are cleared later. */
static void pack_values(const void *values, uint64_t start, unsigned count,
                        const struct pack_place *place, pack_unit *units)
{
    const pack_unit *i32 = (const pack_unit *)values + start;
    const int64_t *i64 = (const int64_t *)values + start;
    const float *f32 = (const float *)values + start;
    const double *f64 = (const double *)values + start;
    pack_unit *unit = units + place->unit;
    size_t step = place->units;

    if (place->type == TYPE_I64)
        for (unsigned i = 0; i < count; i++)
            put_wide(unit + i * step, (uint64_t)i64[i]);
    else if (place->type == TYPE_F32)
        for (unsigned i = 0; i < count; i++)
            unit[i * step] = bits_f32(f32[i]);
    else if (place->type == TYPE_F64)
        for (unsigned i = 0; i < count; i++)
            put_wide(unit + i * step, bits_f64(f64[i]));
    else if (step == 2)
        for (unsigned i = 0; i < count; i++)
            unit[2 * i] = i32[i];
    else
        for (unsigned i = 0; i < count; i++)
            unit[i * step] = i32[i];
}

void pack_column(const struct vdbq_vector *column, uint64_t start,
                 unsigned count, const struct pack_place *place,
                 pack_unit *units)
{
    assert(place->null > place->unit);
    assert(place->unit < place->units && place->null < place->units
           && place->bit < 32);
    bool wide = place->type == TYPE_I64 || place->type == TYPE_F64;

    pack_values(column->values, start, count, place, units);
    for (unsigned i = 0; column->nulls != NULL && i < count; i++) {
        pack_unit *row = units + (size_t)i * place->units;
        if (column->nulls[start + i] == 0)
            continue;
        row[place->unit] = 0;
        if (wide)
            row[place->unit + 1] = 0;
        row[place->null] |= 1u << place->bit;
    }
}

PARALLEL_CLONES
void pack_range(const uint64_t *packed, unsigned count, int64_t *low,
                int64_t *high)
{
    int32_t least = INT32_MAX, most = INT32_MIN;

    for (unsigned i = 0; i < count; i++) {
        uint64_t null = packed[i] >> 32;
        int32_t value = (int32_t)(uint32_t)packed[i];
        int32_t if_least = null ? INT32_MAX : value;
        int32_t if_most = null ? INT32_MIN : value;
        least = if_least < least ? if_least : least;
        most = if_most > most ? if_most : most;
    }
    if (least > most)
        return;
    assert(least <= most);
    *low = least < *low ? least : *low;
    *high = most > *high ? most : *high;
}
