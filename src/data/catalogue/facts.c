/* SPDX-License-Identifier: MIT */
/*
 * Facts of columns. Minimum and maximum of floating-point values are taken
 * of their bits, mapped to whole numbers in the same order: the loops then
 * vectorise, -0.0 comes before 0.0 whatever the order of the rows, and a NaN
 * shows as a number beyond the infinities.
 */
#include "data/catalogue/facts.h"

#include "base/type.h"
#include "cl/bits.h"
#include "cl/order.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* Values of either kind, read as their bits. */
typedef int32_t value_32 __attribute__((may_alias));
typedef int64_t value_64 __attribute__((may_alias));

/* What a pass over values finds: of their ordered numbers. */
struct range {
    int64_t minimum, maximum; /* orders or integers, see order.h */
    uint64_t nulls;           /* rows that are NULL */
    bool null_not_zero;       /* a NULL has other bits than 0 */
};

static struct range range_of_32(const value_32 *values, const uint8_t *bits,
                                uint32_t rows, bool real);
static struct range range_of_64(const value_64 *values, const uint8_t *bits,
                                uint32_t rows, bool real);
static double real_of(int64_t ordered, bool wide);
static bool real_facts(const struct range *range, bool wide,
                       struct column_facts *facts);

bool facts_count(enum vdbq_type type, const void *values,
                 const uint8_t *null_bits, uint32_t rows,
                 struct column_facts *facts)
{
    assert(rows > 0);
    bool wide = type_width(type_machine(type)) == 8;
    bool real = type_is_real(type);
    struct range range = wide ? range_of_64(values, null_bits, rows, real)
                              : range_of_32(values, null_bits, rows, real);

    *facts = (struct column_facts){ .null_count = range.nulls };
    if (range.null_not_zero)
        return false;
    facts->empty = range.nulls == rows;
    if (facts->empty)
        return true;
    if (real)
        return real_facts(&range, wide, facts);
    facts->minimum = range.minimum;
    facts->maximum = range.maximum;
    return true;
}

struct column_facts facts_of_text(const struct column_facts *codes)
{
    return (struct column_facts){ .null_count = codes->null_count,
                                  .empty = codes->empty,
                                  .maximum =
                                      codes->empty ? 0 : codes->maximum + 1 };
}

bool facts_equal(enum vdbq_type type, const struct column_facts *a,
                 const struct column_facts *b)
{
    if (type == VDBQ_TEXT && (a->maximum == 0 || b->maximum == 0))
        return a->null_count == b->null_count && a->empty == b->empty;
    return a->null_count == b->null_count && a->empty == b->empty
           && facts_minimum_bits(type, a) == facts_minimum_bits(type, b)
           && facts_maximum_bits(type, a) == facts_maximum_bits(type, b);
}

bool facts_within(enum vdbq_type type, const struct column_facts *facts,
                  const struct column_facts *bounds)
{
    if (facts->null_count > bounds->null_count
        || (bounds->empty && !facts->empty))
        return false;
    if (facts->empty || type == VDBQ_TEXT)
        return true;
    if (type_is_real(type))
        return facts->minimum_real >= bounds->minimum_real
               && facts->maximum_real <= bounds->maximum_real;
    return facts->minimum >= bounds->minimum
           && facts->maximum <= bounds->maximum;
}

/* Whether a column of that type can hold both values. */
static bool facts_fit(enum vdbq_type type, const struct column_facts *facts)
{
    double low = facts->minimum_real, high = facts->maximum_real;

    if (type_is_integer(type)) {
        int64_t least, greatest;
        type_limits(type, &least, &greatest);
        return facts->minimum >= least && facts->maximum <= greatest
               && facts->minimum <= facts->maximum;
    }
    switch (type) {
    case VDBQ_TEXT:
        return facts->minimum == 0 && facts->maximum >= 0
               && facts->maximum <= (int64_t)INT32_MAX + 1;
    case VDBQ_DOUBLE:
        return low <= high;
    case VDBQ_FLOAT:
        return low <= high && (isinf(low) || fabs(low) <= (double)FLT_MAX)
               && (isinf(high) || fabs(high) <= (double)FLT_MAX)
               && (double)(float)low == low && (double)(float)high == high;
    default:
        return false;
    }
}

bool facts_from_bits(enum vdbq_type type, uint32_t rows, uint64_t null_count,
                     const int64_t bits[2], struct column_facts *facts)
{
    *facts = (struct column_facts){ .null_count = null_count };
    if (null_count > rows)
        return false;
    facts->empty = null_count == rows;
    if (facts->empty)
        return bits[0] == 0 && bits[1] == 0;
    if (type_is_real(type)) {
        facts->minimum_real = f64_of_bits((u64)bits[0]);
        facts->maximum_real = f64_of_bits((u64)bits[1]);
    } else {
        facts->minimum = bits[0];
        facts->maximum = bits[1];
    }
    return facts_fit(type, facts);
}

void facts_join(struct column_facts *facts, const struct column_facts *more)
{
    uint64_t nulls = facts->null_count + more->null_count;

    if (facts->empty)
        *facts = *more;
    else if (!more->empty) {
        /* -0.0 is the lesser zero. */
        if (more->minimum < facts->minimum)
            facts->minimum = more->minimum;
        if (more->maximum > facts->maximum)
            facts->maximum = more->maximum;
        if (more->minimum_real < facts->minimum_real
            || (more->minimum_real == facts->minimum_real
                && signbit(more->minimum_real)))
            facts->minimum_real = more->minimum_real;
        if (more->maximum_real > facts->maximum_real
            || (more->maximum_real == facts->maximum_real
                && !signbit(more->maximum_real)))
            facts->maximum_real = more->maximum_real;
    }
    facts->null_count = nulls;
}

/* ------------------------------------------------------------- passes -- */

/* Makes range_of_<bits>(): the loop over values of which none is NULL is
 * apart, for it vectorises. */
#define RANGE_OF(bits, type, order_flip)                                       \
    static struct range range_of_##bits(const type *values,                    \
                                        const uint8_t *null_bits,              \
                                        uint32_t rows, bool real)              \
    {                                                                          \
        struct range range = { 0 };                                            \
        int##bits##_t low = INT##bits##_MAX, high = INT##bits##_MIN;           \
                                                                               \
        for (uint32_t i = 0; null_bits == NULL && i < rows; i++) {             \
            int##bits##_t value = real ? order_flip(values[i]) : values[i];    \
            low = value < low ? value : low;                                   \
            high = value > high ? value : high;                                \
        }                                                                      \
        for (uint32_t i = 0; null_bits != NULL && i < rows; i++) {             \
            int##bits##_t value = real ? order_flip(values[i]) : values[i];    \
            bool null = null_bit(null_bits, i);                                \
            range.nulls += null;                                               \
            range.null_not_zero |= null && values[i] != 0;                     \
            low = !null && value < low ? value : low;                          \
            high = !null && value > high ? value : high;                       \
        }                                                                      \
        range.minimum = low;                                                   \
        range.maximum = high;                                                  \
        return range;                                                          \
    }

RANGE_OF(32, value_32, order_flip_32)
RANGE_OF(64, value_64, order_flip_64)

/* The float whose order this is. */
static double real_of(int64_t order, bool wide)
{
    return wide ? order_to_f64(order) : (double)order_to_f32((int32_t)order);
}

/* Turns orders into floats; false: a NaN is among them, which is no value. */
static bool real_facts(const struct range *range, bool wide,
                       struct column_facts *facts)
{
    facts->minimum_real = real_of(range->minimum, wide);
    facts->maximum_real = real_of(range->maximum, wide);
    return !isnan(facts->minimum_real) && !isnan(facts->maximum_real);
}
