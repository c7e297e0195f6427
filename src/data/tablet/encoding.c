/* SPDX-License-Identifier: MIT */
/*
 * The table of encodings, and the three that store values as they are or not
 * at all: plain, a sequence of neighbouring integers, a constant.
 */
#include "data/tablet/encoding.h"

#include <assert.h>
#include <string.h>

#include "base/type.h"
#include "cl/bits.h"
#include "data/tablet/tablet_inner.h"

#define ENCODING_ENTRY(NAME, name, number) [ENCODING_##NAME] = &encoding_##name,
static const struct encoding *const encodings[] = { VDBQ_ENCODINGS(
    ENCODING_ENTRY) };

_Static_assert(ENCODINGS < LOAD_ENCODING, "1 + an encoding fits an operand");

const struct encoding *encoding_find(uint32_t number)
{
    return number < ENCODINGS ? encodings[number] : NULL;
}

const struct encoding *encoding_at(uint32_t number)
{
    assert(number < ENCODINGS);
    return encodings[number];
}

uint64_t encoding_features(void)
{
    uint64_t features = 0;

    for (unsigned i = 0; i < ENCODINGS; i++)
        features |= encodings[i]->feature;
    return features;
}

uint32_t encoding_version(uint64_t features)
{
    uint32_t version = 0;

    for (unsigned i = 0; i < ENCODINGS; i++)
        if ((encodings[i]->feature & features) != 0
            && encodings[i]->version > version)
            version = encodings[i]->version;
    return version;
}

uint64_t encoding_size(const struct tablet_column *column, uint32_t rows)
{
    const struct encoding *encoding = encoding_find(column->encoding);

    return encoding != NULL && encoding->size != NULL
               ? encoding->size(column, rows)
               : 0;
}

/* What is not plain has its price when values are read, so it must save a
 * fifth of what is best so far. */
static bool saves(const struct encoding_source *source, uint64_t size,
                  uint64_t best)
{
    return source->choice == CHOOSE_PACKED
               ? best > 0
               : size < best && size * 5 <= best * 4;
}

void encoding_choose(const struct encoding_source *source,
                     struct tablet_column *column)
{
    struct tablet_column best = *column;
    uint64_t best_size;

    best.encoding = ENCODING_PLAIN;
    best_size = encoding_size(&best, source->rows);
    for (uint8_t i = 0; i < ENCODINGS && source->choice != CHOOSE_PLAIN; i++) {
        struct tablet_column with = *column;
        uint64_t size;
        with.encoding = i;
        if (encodings[i]->fits == NULL || !encodings[i]->fits(source, &with))
            continue;
        size = encoding_size(&with, source->rows);
        if (!saves(source, size, best_size))
            continue;
        best = with;
        best_size = size;
    }
    *column = best;
}

const char *encoding_facts_fault(const struct encoded_column *from,
                                 const struct column_facts *facts)
{
    const struct tablet_column *column = from->column;

    if (column->null_count != facts->null_count)
        return "the null count is wrong";
    if (column->minimum != facts_minimum_bits(from->type, facts)
        || column->maximum != facts_maximum_bits(from->type, facts))
        return "the minimum or maximum is wrong";
    return NULL;
}

/* -------------------------------------------------------------- plain -- */

static uint64_t plain_size(const struct tablet_column *column, uint32_t rows)
{
    return TABLET_ALIGNED((uint64_t)rows * column->width);
}

static void plain_write(const struct encoding_source *source,
                        const struct tablet_column *column, void *values)
{
    uint64_t used = (uint64_t)source->rows * column->width;

    vector_copy(source->vector, 0, source->rows, column->null_count > 0,
                values);
    memset((uint8_t *)values + used, 0, TABLET_ALIGNED(used) - used);
}

static void plain_read(const struct encoded_column *from, uint32_t first,
                       uint32_t count, void *values)
{
    size_t width = from->column->width;

    memcpy(values, from->values + first * width, count * width);
}

static void plain_pick(const struct encoded_column *from, const uint32_t *rows,
                       uint32_t count, void *values)
{
    size_t width = from->column->width;
    const uint32_t *narrow = (const uint32_t *)(const void *)from->values;
    const uint64_t *wide = (const uint64_t *)(const void *)from->values;

    for (uint32_t i = 0; width == sizeof *narrow && i < count; i++)
        ((uint32_t *)values)[i] = narrow[rows[i]];
    for (uint32_t i = 0; width == sizeof *wide && i < count; i++)
        ((uint64_t *)values)[i] = wide[rows[i]];
}

static const char *plain_fault(const struct encoded_column *from)
{
    const struct tablet_column *column = from->column;
    struct column_facts facts;

    if (column->base != 0)
        return "a plain column has a base";
    if (!facts_count(from->type, from->values, from->null_bits, from->rows,
                     &facts))
        return "a value is NaN, or not 0 where it is NULL";
    return encoding_facts_fault(from, &facts);
}

static struct encoding_part plain_part(const struct encoded_column *from,
                                       uint32_t first, uint32_t count,
                                       unsigned part)
{
    uint64_t width = from->column->width;

    return part == 0 ? (struct encoding_part){ first * width, count * width }
                     : (struct encoding_part){ 0, 0 };
}

static void plain_slice(struct column_input *input, u64 row)
{
    input->values += row * input->width;
}

static u64 plain_bytes(const struct column_input *input, u64 rows)
{
    return rows * input->width;
}

const struct encoding encoding_plain = { .name = "plain",
                                         .format = TABLET_FORMAT_FIRST,
                                         .size = plain_size,
                                         .write = plain_write,
                                         .read = plain_read,
                                         .pick = plain_pick,
                                         .part = plain_part,
                                         .fault = plain_fault,
                                         .slice = plain_slice,
                                         .bytes = plain_bytes };

/* ----------------------------------------------------- stored nowhere -- */

/* Values base, base + step ... of rows: the bits of a constant, or a
 * sequence. */
static void count_up(const struct encoded_column *from, int64_t step,
                     uint32_t first, uint32_t count, void *values)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = from->column->base + step * (int64_t)(first + i);
        if (from->column->width == sizeof(int32_t))
            ((int32_t *)values)[i] = (int32_t)value;
        else
            ((int64_t *)values)[i] = value;
    }
}

static int64_t integer_at(const struct vdbq_vector *vector, uint32_t i)
{
    return vector->type == VDBQ_INTEGER ? ((const int32_t *)vector->values)[i]
                                        : ((const int64_t *)vector->values)[i];
}

/* Whether integers from `minimum` to `maximum` are neighbours in order. */
static bool sequence_fits(const struct encoding_source *source,
                          struct tablet_column *column)
{
    const struct column_facts *facts = source->facts;
    uint64_t range = (uint64_t)facts->maximum - (uint64_t)facts->minimum;

    if (type_is_real(source->vector->type) || facts->null_count > 0
        || source->rows == 1 || range != source->rows - 1u)
        return false;
    for (uint32_t i = 0; i < source->rows; i++)
        if (integer_at(source->vector, i) != facts->minimum + (int64_t)i)
            return false;
    column->base = facts->minimum;
    return true;
}

static void sequence_read(const struct encoded_column *from, uint32_t first,
                          uint32_t count, void *values)
{
    count_up(from, 1, first, count, values);
}

static void sequence_pick(const struct encoded_column *from,
                          const uint32_t *rows, uint32_t count, void *values)
{
    int64_t base = from->column->base;

    for (uint32_t i = 0; from->type == VDBQ_INTEGER && i < count; i++)
        ((int32_t *)values)[i] = (int32_t)((uint32_t)base + rows[i]);
    for (uint32_t i = 0; from->type != VDBQ_INTEGER && i < count; i++)
        ((int64_t *)values)[i] = (int64_t)((uint64_t)base + rows[i]);
}

static const char *sequence_fault(const struct encoded_column *from)
{
    const struct tablet_column *column = from->column;
    bool narrow = from->type == VDBQ_INTEGER;
    int64_t limit = narrow ? INT32_MAX : INT64_MAX;
    int64_t least = narrow ? INT32_MIN : INT64_MIN;
    int64_t last = (int64_t)from->rows - 1;

    if (type_is_real(from->type))
        return "a sequence is not of integers";
    if (column->null_count != 0)
        return "a sequence has NULLs";
    if (column->base < least || column->base > limit - last)
        return "a sequence leaves its type";
    if (column->minimum != column->base
        || column->maximum != column->base + last)
        return "the minimum or maximum is wrong";
    return NULL;
}

static void sequence_slice(struct column_input *input, u64 row)
{
    input->base += (i64)row;
}

static u64 sequence_span(const struct column_input *input, u64 rows)
{
    (void)input;
    return rows - 1;
}

const struct encoding encoding_sequence = { .name = "sequence",
                                            .format = TABLET_FORMAT_FIRST,
                                            .fits = sequence_fits,
                                            .read = sequence_read,
                                            .pick = sequence_pick,
                                            .fault = sequence_fault,
                                            .slice = sequence_slice,
                                            .span = sequence_span };

/* The base of a constant column of which that is the minimum. */
static int64_t constant_base(enum vdbq_type type, int64_t minimum)
{
    if (type != VDBQ_FLOAT)
        return minimum;
    return bits_of_f32((float)f64_of_bits((u64)minimum));
}

static bool constant_fits(const struct encoding_source *source,
                          struct tablet_column *column)
{
    if (column->minimum != column->maximum) /* both 0 if all are NULL */
        return false;
    column->base = constant_base(source->vector->type, column->minimum);
    return true;
}

static void constant_read(const struct encoded_column *from, uint32_t first,
                          uint32_t count, void *values)
{
    count_up(from, 0, first, count, values);
}

static uint64_t bits_set(const uint8_t *bits, uint32_t rows)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < rows; i++)
        count += null_bit(bits, i);
    return count;
}

/* Where all values are NULL there are no bits that say so. */
static const char *constant_fault(const struct encoded_column *from)
{
    const struct tablet_column *column = from->column;
    const int64_t range[2] = { column->minimum, column->maximum };
    struct column_facts facts;

    if (!facts_from_bits(from->type, from->rows, column->null_count, range,
                         &facts)
        || column->minimum != column->maximum)
        return "the minimum or maximum is wrong";
    if (from->null_bits != NULL
        && bits_set(from->null_bits, from->rows) != column->null_count)
        return "the null count is wrong";
    if (column->base != constant_base(from->type, column->minimum))
        return "a constant is not its minimum";
    return NULL;
}

static u64 constant_span(const struct column_input *input, u64 rows)
{
    (void)input;
    (void)rows;
    return 0;
}

const struct encoding encoding_constant = { .name = "constant",
                                            .format = TABLET_FORMAT_ENCODED,
                                            .fits = constant_fits,
                                            .read = constant_read,
                                            .fault = constant_fault,
                                            .span = constant_span };
