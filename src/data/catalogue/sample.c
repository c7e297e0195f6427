/* SPDX-License-Identifier: MIT */
/*
 * Samples: sample.h. Rows stay in the order of their numbers: a new one has the
 * highest.
 */
#include "data/catalogue/sample.h"

#include <assert.h>
#include <string.h>

#include "cl/hash.h"
#include "data/catalogue/catalogue.h"

static bool put_values(struct sample *sample, uint32_t row, unsigned column,
                       const struct vdbq_vector *vector, uint64_t first,
                       uint32_t count);
static void remove_row(struct sample *sample, uint32_t row);

/* Room for a column's values and NULLs. */
static bool make_column(struct sample *sample, unsigned column,
                        enum vdbq_type type)
{
    struct vdbq_vector *vector = &sample->columns[column];

    vector->type = type;
    vector->values =
        arena_alloc(&sample->arena, SAMPLE_ROWS * type_bytes(type));
    vector->nulls = arena_alloc(&sample->arena, SAMPLE_ROWS);
    return vector->values != NULL && vector->nulls != NULL;
}

static struct sample *create(unsigned column_count)
{
    struct sample *sample = memory_zeroed(1, sizeof *sample);

    if (sample == NULL)
        return NULL;
    sample->holders = 1;
    sample->column_count = column_count;
    sample->columns =
        arena_alloc(&sample->arena, column_count * sizeof *sample->columns);
    if (sample->columns != NULL)
        return sample;
    sample_release(sample);
    return NULL;
}

struct sample *sample_create(const struct table *table)
{
    unsigned count = table->column_count < SAMPLE_COLUMNS_MAX
                         ? table->column_count
                         : SAMPLE_COLUMNS_MAX;
    struct sample *sample = create(count);

    for (unsigned i = 0; sample != NULL && i < count; i++)
        if (!make_column(sample, i, table->columns[i].type)) {
            sample_release(sample);
            return NULL;
        }
    return sample;
}

struct sample *sample_place(uint64_t offset, uint64_t size_bytes)
{
    struct sample *sample = create(0);

    if (sample != NULL) {
        sample->offset = offset;
        sample->size_bytes = size_bytes;
    }
    return sample;
}

struct sample *sample_copy(const struct sample *from)
{
    struct sample *copy = create(from->column_count);
    bool room = copy != NULL;

    for (unsigned i = 0; room && i < from->column_count; i++)
        room = make_column(copy, i, from->columns[i].type);
    if (room && sample_add_all(copy, from->rows, from->numbers, from->columns))
        return copy;
    sample_release(copy);
    return NULL;
}

struct sample *sample_hold(struct sample *sample)
{
    if (sample != NULL)
        sample->holders++;
    return sample;
}

void sample_release(struct sample *sample)
{
    if (sample == NULL)
        return;
    assert(sample->holders > 0);
    if (--sample->holders > 0)
        return;
    arena_finish(&sample->arena);
    memory_release(sample);
}

/* ---------------------------------------------------------------- rows -- */

/* The row whose number has the largest hash. */
static uint32_t last_by_hash(const struct sample *sample)
{
    uint32_t last = 0;
    uint64_t most = hash_number(sample->numbers[0]);

    for (uint32_t i = 1; i < sample->rows; i++) {
        uint64_t hash = hash_number(sample->numbers[i]);
        last = hash > most ? i : last;
        most = hash > most ? hash : most;
    }
    return last;
}

uint64_t sample_limit(const struct sample *sample)
{
    if (sample->rows < SAMPLE_ROWS)
        return UINT64_MAX;
    return hash_number(sample->numbers[last_by_hash(sample)]);
}

bool sample_add(struct sample *sample, uint64_t number,
                const struct vdbq_vector *vectors, uint64_t at)
{
    assert(sample->rows == 0 || sample->numbers[sample->rows - 1] < number);
    if (sample->rows == SAMPLE_ROWS)
        remove_row(sample, last_by_hash(sample));
    for (unsigned i = 0; i < sample->column_count; i++)
        if (!put_values(sample, sample->rows, i, &vectors[i], at, 1))
            return false;
    sample->numbers[sample->rows++] = number;
    return true;
}

bool sample_add_all(struct sample *sample, uint32_t rows,
                    const uint64_t *numbers, const struct vdbq_vector *vectors)
{
    assert(sample->rows == 0 && rows <= SAMPLE_ROWS);
    for (unsigned i = 0; i < sample->column_count; i++)
        if (!put_values(sample, 0, i, &vectors[i], 0, rows))
            return false;
    memcpy(sample->numbers, numbers, rows * sizeof *numbers);
    sample->rows = rows;
    return true;
}

static void remove_row(struct sample *sample, uint32_t row)
{
    assert(row < sample->rows);
    uint32_t after = sample->rows - row - 1;

    memmove(&sample->numbers[row], &sample->numbers[row + 1],
            after * sizeof *sample->numbers);
    for (unsigned i = 0; i < sample->column_count; i++) {
        size_t width = type_bytes(sample->columns[i].type);
        char *values = (char *)(uintptr_t)sample->columns[i].values;
        uint8_t *nulls = (uint8_t *)(uintptr_t)sample->columns[i].nulls;
        memmove(values + row * width, values + (row + 1) * width,
                after * width);
        memmove(nulls + row, nulls + row + 1, after);
    }
    sample->rows--;
}

/* Up to the end of the character that reaches over the bound. */
static size_t kept_bytes(struct vdbq_text text)
{
    size_t kept = SAMPLE_TEXT_MAX + 1;

    if (text.length <= SAMPLE_TEXT_MAX)
        return text.length;
    while (kept < text.length
           && ((unsigned char)text.bytes[kept] & 0xc0) == 0x80)
        kept++;
    return kept;
}

bool sample_cuts(struct vdbq_text text)
{
    return text.length > SAMPLE_TEXT_MAX;
}

/* Gives texts bytes of the sample's own, as many as it keeps. */
static bool own_texts(struct sample *sample, struct vdbq_text *texts,
                      const uint8_t *nulls, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (nulls[i] != 0)
            continue;
        texts[i].length = kept_bytes(texts[i]);
        texts[i].bytes =
            arena_copy(&sample->arena, texts[i].bytes, texts[i].length);
        if (texts[i].bytes == NULL)
            return false;
    }
    return true;
}

/* From a row on; what is NULL has the value 0. */
static bool put_values(struct sample *sample, uint32_t row, unsigned column,
                       const struct vdbq_vector *vector, uint64_t first,
                       uint32_t count)
{
    assert(vector->type == sample->columns[column].type);
    assert(row <= SAMPLE_ROWS && count <= SAMPLE_ROWS - row);
    size_t width = type_bytes(vector->type);
    char *values =
        (char *)(uintptr_t)sample->columns[column].values + row * width;
    uint8_t *nulls = (uint8_t *)(uintptr_t)sample->columns[column].nulls + row;

    memcpy(values, (const char *)vector->values + first * width, count * width);
    for (uint32_t i = 0; i < count; i++) {
        nulls[i] = vector_null(vector, first + i);
        if (nulls[i] != 0)
            memset(values + i * width, 0, width);
    }
    return vector->type != VDBQ_TEXT
           || own_texts(sample, (struct vdbq_text *)(void *)values, nulls,
                        count);
}

bool sample_put(struct sample *sample, uint32_t row, unsigned column,
                const struct vdbq_vector *vector, uint64_t at)
{
    assert(row < sample->rows);
    return put_values(sample, row, column, vector, at, 1);
}

/* ------------------------------------------------------------- samplers -- */

/* The limit for the next row. A sample out of which rows have gone, and whose
 * others have moved, takes no more of new rows than about their share: so one
 * that was made of all rows is not touched, whose limit is near half of it. */
static uint64_t limit_at(const struct sample *sample, uint64_t next)
{
    uint64_t limit = sample != NULL ? sample_limit(sample) : UINT64_MAX;
    uint64_t most = next > 2 * SAMPLE_ROWS
                        ? UINT64_MAX / next * (2 * SAMPLE_ROWS)
                        : UINT64_MAX;

    return limit < most ? limit : most;
}

struct sampler sampler_init(const struct table *table)
{
    return (struct sampler){ .sample = sample_hold(table->sample),
                             .lost = table->sample == NULL && table->rows > 0,
                             .next = table->rows,
                             .limit = limit_at(table->sample, table->rows) };
}

void sampler_finish(struct sampler *sampler)
{
    sample_release(sampler->sample);
    *sampler = (struct sampler){ 0 };
}

/* Makes the sample one that may be changed. */
static bool own(struct sampler *sampler, const struct table *table)
{
    struct sample *before = sampler->sample;

    if (sampler->grown)
        return true;
    sampler->sample =
        before != NULL ? sample_copy(before) : sample_create(table);
    sample_release(before);
    sampler->grown = sampler->sample != NULL;
    return sampler->grown;
}

bool sampler_add(struct sampler *sampler, const struct table *table,
                 const struct vdbq_vector *vectors, uint64_t first,
                 uint32_t count)
{
    for (uint32_t i = 0; i < count && !sampler->lost; i++) {
        if (hash_number(sampler->next + i) >= sampler->limit)
            continue;
        if (!own(sampler, table)
            || !sample_add(sampler->sample, sampler->next + i, vectors,
                           first + i))
            return false;
        sampler->limit = limit_at(sampler->sample, sampler->next + i);
    }
    sampler->next += count;
    return true;
}
