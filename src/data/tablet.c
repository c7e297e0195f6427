/* SPDX-License-Identifier: MIT */
/*
 * Tablets on the host: laid out, built, read. Areas come in the order of the
 * columns, each column's values before its NULL bits, without anything in
 * between; every byte of the block is written.
 */
#include "data/tablet.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/facts.h"
#include "data/tablet_inner.h"

_Static_assert((int)TYPE_I32 == (int)VDBQ_INTEGER
                   && (int)TYPE_I64 == (int)VDBQ_BIGINT
                   && (int)TYPE_F32 == (int)VDBQ_FLOAT
                   && (int)TYPE_F64 == (int)VDBQ_DOUBLE,
               "types of columns and registers have the same numbers");

static void build_column(const struct vdbq_vector *vector, uint32_t rows,
                         uint8_t *values, uint8_t *bits);
static void copy_reals(const struct vdbq_vector *vector, uint32_t rows,
                       uint8_t *values, uint8_t *bits);
static void describe(struct tablet_column *column, enum vdbq_type type,
                     const struct column_facts *facts);

/* Bytes of the areas of a column. */
static uint64_t values_size(enum vdbq_type type, uint32_t rows)
{
    return tablet_round((uint64_t)rows * type_width(type));
}

static uint64_t nulls_size(uint32_t rows)
{
    return tablet_round(((uint64_t)rows + 7) / 8);
}

uint64_t tablet_size(const struct table *table, uint32_t rows,
                     const bool *nullable)
{
    uint64_t size = sizeof(struct tablet)
                  + table->column_count * sizeof(struct tablet_column);

    for (unsigned i = 0; i < table->column_count; i++) {
        size += values_size(table->columns[i].type, rows);
        if (nullable == NULL || nullable[i])
            size += nulls_size(rows);
    }
    return size;
}

void tablet_build(const struct table *table, uint32_t rows,
                  const struct vdbq_vector *vectors, const bool *nullable,
                  void *block, struct column_facts *facts)
{
    struct tablet *head = block;
    struct tablet_column *column = (struct tablet_column *)(head + 1);
    uint64_t at = sizeof *head + table->column_count * sizeof *column;

    assert(rows > 0 && (uintptr_t)block % TABLET_ALIGN == 0);
    *head = (struct tablet){
        .magic = TABLET_MAGIC, .format = TABLET_FORMAT,
        .columns = table->column_count, .rows = rows,
        .size = tablet_size(table, rows, nullable), .key = table->key
    };
    for (unsigned i = 0; i < table->column_count; i++) {
        enum vdbq_type type = table->columns[i].type;
        uint8_t *values = (uint8_t *)block + at, *bits = NULL;
        bool sound;
        column[i] = (struct tablet_column){ .values = at };
        at += values_size(type, rows);
        if (nullable == NULL || nullable[i]) {
            bits = (uint8_t *)block + at;
            column[i].nulls = at;
            at += nulls_size(rows);
        }
        assert(vectors[i].type == type);
        build_column(&vectors[i], rows, values, bits);
        sound = facts_count(type, values, bits, rows, &facts[i]);
        assert(sound);
        (void)sound;
        describe(&column[i], type, &facts[i]);
    }
    assert(at == head->size);
}

const struct tablet_column *tablet_column(const void *block, unsigned column)
{
    const struct tablet *head = block;

    return (const struct tablet_column *)(head + 1) + column;
}

const uint8_t *tablet_nulls(const void *block, unsigned column)
{
    uint64_t nulls = tablet_column(block, column)->nulls;

    return nulls == 0 ? NULL : (const uint8_t *)block + nulls;
}

void tablet_values(const void *block, unsigned column, void *values)
{
    const struct tablet *head = block;
    const struct tablet_column *from = tablet_column(block, column);

    if (from->encoding == ENCODING_PLAIN) {
        memcpy(values, (const uint8_t *)block + from->values,
               head->rows * from->width);
        return;
    }
    for (uint64_t i = 0; i < head->rows; i++) {
        int64_t value = from->base + (int64_t)i;
        if (from->type == TYPE_I32)
            ((int32_t *)values)[i] = (int32_t)value;
        else
            ((int64_t *)values)[i] = value;
    }
}

void tablet_facts(const void *block, unsigned column,
                  struct column_facts *facts)
{
    const struct tablet *head = block;
    const struct tablet_column *from = tablet_column(block, column);

    facts_from_bits((enum vdbq_type)from->type, (uint32_t)head->rows,
                    from->null_count,
                    (const int64_t[2]){ from->minimum, from->maximum },
                    facts);
}

/* -------------------------------------------------------------- build -- */

static void build_column(const struct vdbq_vector *vector, uint32_t rows,
                         uint8_t *values, uint8_t *bits)
{
    unsigned width = type_width(vector->type);
    uint64_t used = (uint64_t)rows * width;

    if (bits != NULL)
        memset(bits, 0, nulls_size(rows));
    memset(values + used, 0, values_size(vector->type, rows) - used);
    if (type_is_real(vector->type)) {
        copy_reals(vector, rows, values, bits);
    } else {
        memcpy(values, vector->values, used);
        for (uint32_t i = 0; vector->nulls != NULL && i < rows; i++)
            if (vector->nulls[i] != 0) {
                assert(bits != NULL);
                bits[i / 8] |= (uint8_t)(1u << (i % 8));
                memset(values + (size_t)i * width, 0, width);
            }
    }
}

/* A NaN is a NULL, too. */
static void copy_reals(const struct vdbq_vector *vector, uint32_t rows,
                       uint8_t *values, uint8_t *bits)
{
    unsigned width = type_width(vector->type);

    memcpy(values, vector->values, (size_t)rows * width);
    for (uint32_t i = 0; i < rows; i++) {
        bool null = width == 4 ? isnan(((const float *)vector->values)[i])
                               : isnan(((const double *)vector->values)[i]);
        null |= vector->nulls != NULL && vector->nulls[i] != 0;
        if (null) {
            assert(bits != NULL);
            bits[i / 8] |= (uint8_t)(1u << (i % 8));
            memset(values + (size_t)i * width, 0, width);
        }
    }
}

/* Everything but the places of the areas; where there are no NULLs, their
 * area stays unused. */
static void describe(struct tablet_column *column, enum vdbq_type type,
                     const struct column_facts *facts)
{
    column->type = (uint32_t)type;
    column->encoding = ENCODING_PLAIN;
    column->width = type_width(type);
    column->null_count = facts->null_count;
    if (facts->null_count == 0)
        column->nulls = 0;
    if (!facts->empty) {
        column->minimum = facts_minimum_bits(type, facts);
        column->maximum = facts_maximum_bits(type, facts);
    }
}
