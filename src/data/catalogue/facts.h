/* SPDX-License-Identifier: MIT */
/*
 * What is known of a column's values: counted from the values themselves,
 * when a tablet is built and again when one was read.
 */
#ifndef VDBQ_DATA_FACTS_H
#define VDBQ_DATA_FACTS_H

#include "cl/bits.h"
#include "data/catalogue/catalogue.h"
#include "program/program.h"

static inline bool type_is_real(enum vdbq_type type)
{
    return type == VDBQ_FLOAT || type == VDBQ_DOUBLE;
}

/* Whether value i is NULL in a tablet's bits; `bits` NULL: none is. */
static inline bool null_bit(const uint8_t *bits, size_t i)
{
    return bits != NULL && (bits[i / 8] >> (i % 8) & 1) != 0;
}

/* Counts the facts of stored values. False where one of them is a NaN, or
 * one that is NULL is not 0. */
bool facts_count(enum vdbq_type type, const void *values,
                 const uint8_t *null_bits, uint32_t rows,
                 struct column_facts *facts);

/* Takes the facts of more rows of the column into `facts`. */
void facts_join(struct column_facts *facts, const struct column_facts *more);

/* The facts as a tablet and the catalogue keep them: an integer, or the bits
 * of a double; and back. */
static inline int64_t facts_minimum_bits(enum vdbq_type type,
                                         const struct column_facts *facts)
{
    return type_is_real(type) ? (int64_t)bits_of_f64(facts->minimum_real)
                              : facts->minimum;
}

static inline int64_t facts_maximum_bits(enum vdbq_type type,
                                         const struct column_facts *facts)
{
    return type_is_real(type) ? (int64_t)bits_of_f64(facts->maximum_real)
                              : facts->maximum;
}

/* False where no column of that type with so many rows has such facts. */
bool facts_from_bits(enum vdbq_type type, uint32_t rows, uint64_t null_count,
                     const int64_t bits[2], struct column_facts *facts);
/* What is kept of a text column, whose codes have such facts: no minimum, and
 * as the maximum how many words there are. */
struct column_facts facts_of_text(const struct column_facts *codes);
/* A number of words that is 0 is one that nobody counted. */
bool facts_equal(enum vdbq_type type, const struct column_facts *a,
                 const struct column_facts *b);
/* Whether values that have some facts are within bounds that were told. */
bool facts_within(enum vdbq_type type, const struct column_facts *facts,
                  const struct column_facts *bounds);

#endif
