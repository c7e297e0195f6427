/* SPDX-License-Identifier: MIT */
/*
 * Packed columns, PACKED_LANES neighbouring rows at a time: the loops over
 * lanes have a fixed end and one shift for all, so that they become vectors.
 */
#include "data/tablet/packed.h"

#include <string.h>

#include "data/catalogue/facts.h"

/* The codes of neighbouring rows, one a lane. */
struct lanes {
    uint32_t code[PACKED_LANES];
};

#define EACH_LANE for (unsigned lane = 0; lane < PACKED_LANES; lane++)

unsigned packed_bits(int64_t minimum, int64_t maximum)
{
    uint64_t range = (uint64_t)maximum - (uint64_t)minimum;
    unsigned bits = 1;

    while (bits < 64 && range >> bits != 0)
        bits++;
    return bits;
}

/* -------------------------------------------------------------- write -- */

/* A line on its way out. */
struct writing {
    uint32_t *line;
    uint32_t word[PACKED_LANES]; /* of each lane, filled up to `shift` */
    unsigned shift;
};

/* Codes of the rows from `first` on, of which `count` exist. */
static struct lanes encode(const struct vdbq_vector *vector, uint32_t first,
                           uint32_t count, int64_t base)
{
    struct lanes lanes = { { 0 } };
    const int32_t *narrow = (const int32_t *)vector->values + first;
    const int64_t *wide = (const int64_t *)vector->values + first;
    const uint8_t *nulls = vector->nulls ? vector->nulls + first : NULL;

    if (vector->type == VDBQ_INTEGER && count == PACKED_LANES)
        EACH_LANE lanes.code[lane] = (uint32_t)narrow[lane] - (uint32_t)base;
    else if (count == PACKED_LANES)
        EACH_LANE lanes.code[lane] = (uint32_t)wide[lane] - (uint32_t)base;
    else
        for (unsigned lane = 0; lane < count; lane++)
            lanes.code[lane] =
                (uint32_t)(vector->type == VDBQ_INTEGER ? narrow[lane]
                                                        : wide[lane])
                - (uint32_t)base;
    for (unsigned lane = 0; nulls != NULL && lane < count; lane++)
        lanes.code[lane] = nulls[lane] != 0 ? 0 : lanes.code[lane];
    return lanes;
}

/* Adds codes of `bits` bits; writes the line that they fill. */
static void add(struct writing *to, const struct lanes *lanes, unsigned bits)
{
    unsigned shift = to->shift, left = 32 - shift;

    EACH_LANE to->word[lane] |= lanes->code[lane] << shift;
    to->shift += bits;
    if (to->shift < 32)
        return;
    memcpy(to->line, to->word, PACKED_LINE);
    to->line += PACKED_LANES;
    to->shift -= 32;
    EACH_LANE to->word[lane] = left < 32 ? lanes->code[lane] >> left : 0;
}

void packed_write(const struct vdbq_vector *vector, uint32_t rows, int64_t base,
                  unsigned bits, void *lines)
{
    struct writing to = { .line = lines };

    for (uint32_t row = 0; row < rows; row += PACKED_LANES) {
        uint32_t left = rows - row;
        struct lanes lanes = encode(
            vector, row, left < PACKED_LANES ? left : PACKED_LANES, base);
        add(&to, &lanes, bits);
    }
    if (to.shift > 0)
        memcpy(to.line, to.word, PACKED_LINE);
}

/* --------------------------------------------------------------- read -- */

/* The codes of the rows from `row` on, a multiple of PACKED_LANES. */
static struct lanes decode(const uint32_t *words, uint32_t row, unsigned bits)
{
    uint32_t at = row / PACKED_LANES * bits;
    uint32_t shift = at % 32, mask = UINT32_MAX >> (32 - bits);
    const uint32_t *first = words + at / 32 * PACKED_LANES;
    const uint32_t *last = words + (at + bits - 1) / 32 * PACKED_LANES;
    struct lanes lanes;

    EACH_LANE lanes.code[lane] =
        packed_code(first[lane], last[lane], shift, mask);
    return lanes;
}

static void read_lanes(const struct lanes *lanes, uint32_t count,
                       enum vdbq_type type, int64_t base, void *values)
{
    int32_t *narrow = values;
    int64_t *wide = values;

    for (uint32_t i = 0; type == VDBQ_INTEGER && i < count; i++)
        narrow[i] = (int32_t)((uint32_t)base + lanes->code[i]);
    for (uint32_t i = 0; type == VDBQ_BIGINT && i < count; i++)
        wide[i] = (int64_t)((uint64_t)base + lanes->code[i]);
}

void packed_read(const void *lines, uint32_t rows, enum vdbq_type type,
                 int64_t base, unsigned bits, void *values)
{
    uint8_t *to = values;

    for (uint32_t row = 0; row < rows; row += PACKED_LANES) {
        struct lanes lanes = decode(lines, row, bits);
        uint32_t left = rows - row;
        read_lanes(&lanes, left < PACKED_LANES ? left : PACKED_LANES, type,
                   base, to);
        to += PACKED_LANES * type_width((int)type);
    }
}

/* -------------------------------------------------------------- range -- */

/* Takes codes in, of which none is NULL. */
static void take(const struct lanes *lanes, struct lanes *low,
                 struct lanes *high)
{
    EACH_LANE
    {
        uint32_t code = lanes->code[lane];
        low->code[lane] = code < low->code[lane] ? code : low->code[lane];
        high->code[lane] = code > high->code[lane] ? code : high->code[lane];
    }
}

/* Takes in one row, NULL or not. */
static void take_one(uint32_t code, bool null, struct packed_range *range)
{
    if (null) {
        range->nulls++;
        range->null_not_zero |= code != 0;
        return;
    }
    range->minimum = code < range->minimum ? code : range->minimum;
    range->maximum = code > range->maximum ? code : range->maximum;
}

struct packed_range packed_range(const void *lines, uint32_t rows,
                                 unsigned bits, const uint8_t *null_bits)
{
    struct packed_range range = { .minimum = UINT32_MAX };
    struct lanes low, high;

    memset(&low, 0xff, sizeof low);
    memset(&high, 0, sizeof high);
    for (uint32_t row = 0; row < rows; row += PACKED_LANES) {
        struct lanes lanes = decode(lines, row, bits);
        uint32_t left = rows - row;
        if (null_bits == NULL && left >= PACKED_LANES)
            take(&lanes, &low, &high);
        else
            for (uint32_t i = 0; i < PACKED_LANES && i < left; i++)
                take_one(lanes.code[i], null_bit(null_bits, row + i), &range);
    }
    EACH_LANE
    {
        if (low.code[lane] < range.minimum)
            range.minimum = low.code[lane];
        if (high.code[lane] > range.maximum)
            range.maximum = high.code[lane];
    }
    return range;
}
