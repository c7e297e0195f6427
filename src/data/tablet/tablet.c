/* SPDX-License-Identifier: MIT */
/*
 * Tablets on the host: laid out, built, read. Areas come in the order of the
 * columns, each column's values before its NULL bits, without anything in
 * between; every byte of the block is written.
 */
#include "data/tablet/tablet.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/catalogue/facts.h"
#include "data/tablet/tablet_inner.h"

uint32_t tablet_format(const struct tablet_column *columns, unsigned count)
{
    uint32_t format = TABLET_FORMAT_FIRST;

    for (unsigned i = 0; i < count; i++) {
        const struct encoding *encoding = encoding_find(columns[i].encoding);
        if (columns[i].type == TYPE_WORD && format < TABLET_FORMAT_WORDS)
            format = TABLET_FORMAT_WORDS;
        if (encoding != NULL && encoding->format > format)
            format = encoding->format;
        if (columns[i].words_packed != 0)
            format = TABLET_FORMAT;
    }
    return format;
}

/* Where the last area of values ends. */
static uint64_t size_of(const struct tablet_column *columns, unsigned count,
                        uint32_t rows)
{
    uint64_t size = sizeof(struct tablet) + count * sizeof *columns;

    for (unsigned i = 0; i < count; i++) {
        size += encoding_size(&columns[i], rows);
        size += columns[i].nulls != 0 ? tablet_nulls_size(rows) : 0;
    }
    return size;
}

/* A tablet whose columns are written apart. */
struct building {
    const struct tablet_source *source;
    const struct tablet_column *columns;
    uint8_t *block;
};

static void build_column(void *context, unsigned i)
{
    const struct building *building = context;
    const struct tablet_source *source = building->source;
    struct vdbq_vector vector = stored_vector(&source->vectors[i]);

    assert(source->vectors[i].type == source->table->columns[i].type);
    if (!stop_asked())
        tablet_build_column(&vector, source->rows, &building->columns[i],
                            building->block);
}

void tablet_build(const struct tablet_source *source,
                  const struct tablet_column *columns, void *block)
{
    struct tablet *head = block;
    unsigned count = source->table->column_count;

    assert(source->rows > 0 && (uintptr_t)block % TABLET_ALIGN == 0);
    *head = (struct tablet){ .magic = TABLET_MAGIC,
                             .format = tablet_format(columns, count),
                             .columns = count,
                             .rows = source->rows,
                             .size = size_of(columns, count, source->rows),
                             .key = source->table->key };
    memcpy(head + 1, columns, count * sizeof *columns);
    parallel_run_rows(count, source->rows, build_column,
                      &(struct building){ source, columns, block });
    for (unsigned i = 0; i < count; i++)
        if (columns[i].type == TYPE_WORD)
            tablet_add_dictionary(source->dictionaries[i], block);
}

const struct tablet_column *tablet_column(const void *block, unsigned column)
{
    const struct tablet *head = block;

    return (const struct tablet_column *)(head + 1) + column;
}

const struct tablet_words *tablet_words(const void *block, unsigned column)
{
    const struct tablet *head = block;
    uint64_t lines = tablet_column(block, column)->words;

    return (const struct tablet_words *)((const uint8_t *)block + head->variable
                                         + lines * TABLET_ALIGN);
}

struct vdbq_text tablet_word(const void *block, unsigned column, uint32_t code)
{
    const struct tablet_words *words = tablet_words(block, column);
    const uint32_t *ends = (const uint32_t *)(words + 1);
    uint32_t begin = code > 0 && code < words->count ? ends[code - 1] : 0;

    if (code >= words->count)
        return (struct vdbq_text){ .bytes = "" };
    return (struct vdbq_text){ .bytes =
                                   (const char *)(ends + words->count) + begin,
                               .length = ends[code] - begin };
}

void tablet_word_fetch(const void *block, unsigned column, uint32_t code)
{
    const uint32_t *ends = (const uint32_t *)(tablet_words(block, column) + 1);

    __builtin_prefetch(ends + code);
}

const uint8_t *tablet_nulls(const void *block, unsigned column)
{
    uint64_t nulls = tablet_column(block, column)->nulls;

    return nulls == 0 ? NULL : (const uint8_t *)block + nulls;
}

bool tablet_null(const void *block, unsigned column, uint32_t row)
{
    const struct tablet_column *from = tablet_column(block, column);

    return from->nulls == 0 ? from->null_count > 0
                            : null_bit(tablet_nulls(block, column), row);
}

void tablet_values(const void *block, unsigned column, void *values)
{
    const struct tablet *head = block;

    tablet_values_of(block, column, 0, (uint32_t)head->rows, values);
}

static struct encoded_column encoded(const void *block, unsigned column)
{
    const struct tablet_column *from = tablet_column(block, column);

    return (struct encoded_column){
        .column = from,
        .type = stored_type((enum vdbq_type)from->type),
        .rows = (uint32_t)((const struct tablet *)block)->rows,
        .values = (const uint8_t *)block + from->values,
        .null_bits = tablet_nulls(block, column)
    };
}

void tablet_values_of(const void *block, unsigned column, uint32_t first,
                      uint32_t count, void *values)
{
    const struct encoded_column from = encoded(block, column);

    assert(first % 64 == 0 && first + count <= from.rows);
    encoding_at(from.column->encoding)->read(&from, first, count, values);
}

enum { NEAR_ROWS = 64 }; /* that are read together */

/* Reads the rows near the first one; how many of those that are wanted these
 * are. */
static uint32_t pick_near(const struct encoded_column *from,
                          const uint32_t *rows, uint32_t count, uint8_t *values)
{
    size_t width = from->column->width;
    uint32_t first = rows[0] / NEAR_ROWS * NEAR_ROWS, near = 1;
    uint64_t block[NEAR_ROWS];

    while (near < count && rows[near] / NEAR_ROWS == rows[0] / NEAR_ROWS)
        near++;
    encoding_at(from->column->encoding)
        ->read(from, first, rows[near - 1] - first + 1, block);
    for (uint32_t i = 0; i < near; i++)
        memcpy(values + i * width, (uint8_t *)block + (rows[i] - first) * width,
               width);
    return near;
}

void tablet_values_pick(const void *block, unsigned column,
                        const uint32_t *rows, uint32_t count, void *values)
{
    const struct encoded_column from = encoded(block, column);
    const struct encoding *encoding = encoding_at(from.column->encoding);

    if (encoding->pick != NULL) {
        encoding->pick(&from, rows, count, values);
        return;
    }
    for (uint32_t i = 0; i < count;)
        i += pick_near(&from, rows + i, count - i,
                       (uint8_t *)values + i * from.column->width);
}

void tablet_facts(const void *block, unsigned column,
                  struct column_facts *facts)
{
    const struct tablet *head = block;
    const struct tablet_column *from = tablet_column(block, column);

    facts_from_bits(stored_type((enum vdbq_type)from->type),
                    (uint32_t)head->rows, from->null_count,
                    (const int64_t[2]){ from->minimum, from->maximum }, facts);
    if (from->type == TYPE_WORD)
        *facts = facts_of_text(facts);
}

/* -------------------------------------------------------------- build -- */

void tablet_build_column(const struct vdbq_vector *vector, uint32_t rows,
                         const struct tablet_column *column, uint8_t *block)
{
    const struct encoding *encoding = encoding_at(column->encoding);
    const struct encoding_source source = { .vector = vector, .rows = rows };
    uint8_t *bits = block + column->nulls;

    if (encoding->write != NULL)
        encoding->write(&source, column, block + column->values);
    if (column->nulls != 0) {
        memset(bits, 0, tablet_nulls_size(rows));
        vector_null_bits(vector, 0, rows, bits);
    }
}

void tablet_add_dictionary(const struct dictionary *dictionary,
                           struct tablet *head)
{
    uint32_t bytes =
        dictionary->count > 0 ? dictionary->ends[dictionary->count - 1] : 0;
    size_t ends = dictionary->count * sizeof(uint32_t);
    uint8_t *to = (uint8_t *)head + head->size;
    uint64_t size = tablet_dictionary_size(dictionary);
    size_t used = sizeof(struct tablet_words) + ends + bytes;

    *(struct tablet_words *)to =
        (struct tablet_words){ .count = dictionary->count, .bytes = bytes };
    memcpy(to + sizeof(struct tablet_words), dictionary->ends, ends);
    memcpy(to + sizeof(struct tablet_words) + ends, dictionary->bytes, bytes);
    memset(to + used, 0, size - used);
    if (head->variable == 0)
        head->variable = head->size;
    head->variable_size += size;
    head->size += size;
}
