/* SPDX-License-Identifier: MIT */
/*
 * Packed columns, PACKED_LANES neighbouring rows at a time: the loops over
 * lanes have a fixed end and one shift for all, so that they become vectors.
 */
#include "data/tablet/encoding.h"

#include <string.h>

#include "base/threads/parallel.h"
#include "base/type.h"

/* The codes of neighbouring rows, one a lane. */
struct lanes {
    uint32_t code[PACKED_LANES];
};

#define EACH_LANE for (unsigned lane = 0; lane < PACKED_LANES; lane++)

static bool packed_fits(const struct encoding_source *source,
                        struct tablet_column *column)
{
    int64_t minimum = source->facts->minimum;
    uint64_t range = (uint64_t)source->facts->maximum - (uint64_t)minimum;
    unsigned bits = 1;

    while (bits < 64 && range >> bits != 0)
        bits++;
    if (type_is_real(source->vector->type) || source->facts->empty
        || bits > PACKED_BITS_MAX)
        return false;
    column->bits = (uint8_t)bits;
    column->base = minimum;
    return true;
}

static uint64_t packed_size(const struct tablet_column *column, uint32_t rows)
{
    return PACKED_SIZE(rows, column->bits);
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

/* A value that is NULL becomes code 0. */
static void packed_write(const struct encoding_source *source,
                         const struct tablet_column *column, void *lines)
{
    struct writing to = { .line = lines };

    for (uint32_t row = 0; row < source->rows; row += PACKED_LANES) {
        uint32_t left = source->rows - row;
        struct lanes lanes =
            encode(source->vector, row,
                   left < PACKED_LANES ? left : PACKED_LANES, column->base);
        add(&to, &lanes, column->bits);
    }
    if (to.shift > 0)
        memcpy(to.line, to.word, PACKED_LINE);
}

/* --------------------------------------------------------------- read -- */

/* The codes of the rows from `row` on, a multiple of PACKED_LANES. */
static inline struct lanes decode(const struct encoded_column *from,
                                  uint32_t row)
{
    const uint32_t *words = (const uint32_t *)(const void *)from->values;
    unsigned bits = from->column->bits;
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

static void packed_read(const struct encoded_column *from, uint32_t first,
                        uint32_t count, void *values)
{
    uint8_t *to = values;

    for (uint32_t at = 0; at < count; at += PACKED_LANES) {
        struct lanes lanes = decode(from, first + at);
        uint32_t left = count - at;
        read_lanes(&lanes, left < PACKED_LANES ? left : PACKED_LANES,
                   from->type, from->column->base, to);
        to += PACKED_LANES * type_width((int)from->type);
    }
}

/* -------------------------------------------------------------- pick -- */

enum { PICKS_AHEAD = 16 }; /* whose words are fetched before they are needed */

/* The word that has the first bit of a row's code. */
static const uint32_t *word_of(const struct encoded_column *from, uint32_t row)
{
    uint32_t at = row / PACKED_LANES * from->column->bits;

    return (const uint32_t *)(const void *)from->values + at / 32 * PACKED_LANES
           + row % PACKED_LANES;
}

static uint32_t pick_code(const struct encoded_column *from, uint32_t row)
{
    unsigned bits = from->column->bits;
    uint32_t shift = row / PACKED_LANES * bits % 32;
    const uint32_t *first = word_of(from, row);
    const uint32_t *last = shift + bits <= 32 ? first : first + PACKED_LANES;

    return packed_code(*first, *last, shift, UINT32_MAX >> (32 - bits));
}

static void packed_pick(const struct encoded_column *from, const uint32_t *rows,
                        uint32_t count, void *values)
{
    int32_t *narrow = from->type == VDBQ_INTEGER ? values : NULL;
    int64_t *wide = values, base = from->column->base;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t code = pick_code(from, rows[i]);
        if (i + PICKS_AHEAD < count)
            __builtin_prefetch(word_of(from, rows[i + PICKS_AHEAD]));
        if (narrow != NULL)
            narrow[i] = (int32_t)((uint32_t)base + code);
        else
            wide[i] = (int64_t)((uint64_t)base + code);
    }
}

/* -------------------------------------------------------------- check -- */

/* What is in lines: of the codes of values that are not NULL. */
struct packed_range {
    uint32_t minimum, maximum;
    uint64_t nulls;
    bool null_not_zero; /* some code of a NULL is not 0 */
};

/* Takes codes in, of which none is NULL. */
static inline void take(const struct lanes *lanes, struct lanes *low,
                        struct lanes *high)
{
    EACH_LANE
    {
        uint32_t code = lanes->code[lane];
        low->code[lane] = code < low->code[lane] ? code : low->code[lane];
        high->code[lane] = code > high->code[lane] ? code : high->code[lane];
    }
}

/* Takes in the first rows, as many as fill lanes, of which none is NULL. A tablet's
 * first load spends most of its time here. */
PARALLEL_CLONES
static void take_whole_lanes(const struct encoded_column *from,
                             struct lanes *low, struct lanes *high)
{
    struct lanes least = *low, most = *high;

    for (uint32_t row = 0; from->rows - row >= PACKED_LANES;
         row += PACKED_LANES) {
        struct lanes lanes = decode(from, row);
        take(&lanes, &least, &most);
    }
    *low = least;
    *high = most;
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

static struct packed_range packed_range(const struct encoded_column *from)
{
    struct packed_range range = { .minimum = UINT32_MAX };
    struct lanes low, high;
    uint32_t row = 0;

    memset(&low, 0xff, sizeof low);
    memset(&high, 0, sizeof high);
    if (from->null_bits == NULL) {
        take_whole_lanes(from, &low, &high);
        row = from->rows / PACKED_LANES * PACKED_LANES;
    }
    for (; row < from->rows; row += PACKED_LANES) {
        struct lanes lanes = decode(from, row);
        uint32_t left = from->rows - row;
        for (uint32_t i = 0; i < PACKED_LANES && i < left; i++)
            take_one(lanes.code[i], null_bit(from->null_bits, row + i), &range);
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

/* Codes are counted anew. With base the minimum and the maximum inside the
 * type, so is every value, and what a NULL's code 0 stands for. */
static const char *packed_fault(const struct encoded_column *from)
{
    const struct tablet_column *column = from->column;
    struct column_facts facts;
    struct packed_range range;

    if (type_is_real(from->type))
        return "a packed column is not of integers";
    if (column->bits == 0)
        return "the codes have no bits";
    if (!facts_from_bits(from->type, from->rows, column->null_count,
                         (const int64_t[2]){ column->minimum, column->maximum },
                         &facts)
        || facts.empty || column->base != column->minimum)
        return "the minimum or maximum is wrong";
    range = packed_range(from);
    if (column->null_count != range.nulls || range.null_not_zero)
        return "the null count is wrong, or a code is not 0 where it is NULL";
    if (range.minimum != 0
        || (uint64_t)column->maximum - (uint64_t)column->minimum
               != range.maximum)
        return "the minimum or maximum is wrong";
    return NULL;
}

/* -------------------------------------------------------------- inputs -- */

/* Codes start a line at every PACKED_ROWSth row, so an input of them starts
 * there and says how many rows to pass over. */
static void packed_slice(struct column_input *input, u64 row)
{
    input->values += row / PACKED_ROWS * input->bits * PACKED_LINE;
    input->row = (u32)(row % PACKED_ROWS);
}

/* The lines of the codes that start one together. */
static struct encoding_part packed_part(const struct encoded_column *from,
                                        uint32_t first, uint32_t count,
                                        unsigned part)
{
    uint64_t bits = from->column->bits, start = first / PACKED_ROWS;
    uint64_t end = ((uint64_t)first + count - 1) / PACKED_ROWS + 1;
    uint64_t all = PACKED_SIZE(from->rows, bits);
    uint64_t offset = start * bits * PACKED_LINE, to = end * bits * PACKED_LINE;

    if (part > 0)
        return (struct encoding_part){ 0, 0 };
    return (struct encoding_part){ offset, (to < all ? to : all) - offset };
}

static u64 packed_bytes(const struct column_input *input, u64 rows)
{
    return PACKED_SIZE(input->row + rows, input->bits);
}

static u64 packed_span(const struct column_input *input, u64 rows)
{
    (void)rows;
    return ((u64)1 << input->bits) - 1;
}

const struct encoding encoding_packed = { .name = "packed",
                                          .format = TABLET_FORMAT_ENCODED,
                                          .bits = PACKED_BITS_MAX,
                                          .fits = packed_fits,
                                          .size = packed_size,
                                          .write = packed_write,
                                          .read = packed_read,
                                          .pick = packed_pick,
                                          .part = packed_part,
                                          .fault = packed_fault,
                                          .slice = packed_slice,
                                          .bytes = packed_bytes,
                                          .span = packed_span };
