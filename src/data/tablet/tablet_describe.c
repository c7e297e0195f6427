/* SPDX-License-Identifier: MIT */
/*
 * Describes a tablet that is to be built: the facts of its columns' values, how
 * these are stored (encoding.h), and where.
 */
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "data/catalogue/facts.h"
#include "data/tablet/tablet_inner.h"

_Static_assert((int)TYPE_I32 == (int)VDBQ_INTEGER
                   && (int)TYPE_I64 == (int)VDBQ_BIGINT
                   && (int)TYPE_F32 == (int)VDBQ_FLOAT
                   && (int)TYPE_F64 == (int)VDBQ_DOUBLE
                   && (int)TYPE_WORD == (int)VDBQ_TEXT,
               "type_machine() gives the machine's numbers");

/* Rows whose facts are counted at once where there are NULLs. */
enum { CHUNK_ROWS = 1024 };

static uint64_t place_dictionary(const struct tablet_source *source,
                                 struct tablet_column *columns);

uint64_t tablet_nulls_size(uint32_t rows)
{
    return TABLET_ALIGNED(((uint64_t)rows + 7) / 8);
}

struct vdbq_vector stored_vector(const struct vdbq_vector *vector)
{
    struct vdbq_vector stored = *vector;

    stored.type = stored_type(vector->type);
    return stored;
}

enum vdbq_type stored_type(enum vdbq_type type)
{
    int machine = type_machine(type);

    return machine == TYPE_WORD ? VDBQ_INTEGER : (enum vdbq_type)machine;
}

uint64_t tablet_head_size(unsigned columns)
{
    return sizeof(struct tablet) + columns * sizeof(struct tablet_column);
}

unsigned tablet_areas(const struct tablet_column *column, uint32_t rows,
                      struct tablet_area areas[TABLET_AREAS_MAX])
{
    uint64_t size = encoding_size(column, rows);
    unsigned count = 0;

    if (size > 0)
        areas[count++] = (struct tablet_area){ column->values, size };
    if (column->nulls != 0)
        areas[count++] =
            (struct tablet_area){ column->nulls, tablet_nulls_size(rows) };
    return count;
}

bool tablet_all_null(const struct tablet_column *column, uint32_t rows)
{
    return column->encoding == ENCODING_CONSTANT && column->null_count == rows;
}

uint64_t tablet_place_column(struct tablet_column *column, uint32_t rows,
                             uint64_t at)
{
    uint64_t size = encoding_size(column, rows);

    column->values = size > 0 ? at : 0;
    at += size;
    column->nulls = 0;
    if (column->null_count == 0 || tablet_all_null(column, rows))
        return at;
    column->nulls = at;
    return at + tablet_nulls_size(rows);
}

void tablet_describe_column(const struct encoding_source *source,
                            enum vdbq_type type, struct tablet_column *column,
                            struct column_facts *facts)
{
    struct encoding_source told = *source;

    vector_facts(source->vector, source->rows, facts);
    told.facts = facts;
    *column = (struct tablet_column){ .type = (uint32_t)type_machine(type),
                                      .width = type_width(type_machine(type)),
                                      .null_count = facts->null_count };
    if (!facts->empty) {
        column->minimum = facts_minimum_bits(type, facts);
        column->maximum = facts_maximum_bits(type, facts);
    }
    encoding_choose(&told, column);
    if (type == VDBQ_TEXT)
        *facts = facts_of_text(facts);
}

/* All columns, which are described apart. */
struct describing {
    const struct tablet_source *source;
    struct tablet_column *columns;
    struct column_facts *facts;
};

static void describe(void *context, unsigned i)
{
    const struct describing *describing = context;
    const struct tablet_source *source = describing->source;
    struct vdbq_vector vector = stored_vector(&source->vectors[i]);

    if (!stop_asked())
        tablet_describe_column(
            &(struct encoding_source){ .vector = &vector,
                                       .rows = source->rows,
                                       .choice = source->choice },
            source->table->columns[i].type, &describing->columns[i],
            &describing->facts[i]);
}

uint64_t tablet_describe(const struct tablet_source *source,
                         struct tablet_column *columns,
                         struct column_facts *facts)
{
    unsigned count = source->table->column_count;
    uint64_t at = sizeof(struct tablet) + count * sizeof *columns;

    parallel_run_rows(count, source->rows, describe,
                      &(struct describing){ source, columns, facts });
    for (unsigned i = 0; i < count && !stop_asked(); i++)
        at = tablet_place_column(&columns[i], source->rows, at);
    return at + place_dictionary(source, columns);
}

uint64_t tablet_dictionary_size(const struct dictionary *dictionary)
{
    uint32_t bytes =
        dictionary->count > 0 ? dictionary->ends[dictionary->count - 1] : 0;

    return TABLET_WORDS_SIZE(dictionary->count, bytes);
}

/* Gives text columns their words; returns the bytes of all of them. */
static uint64_t place_dictionary(const struct tablet_source *source,
                                 struct tablet_column *columns)
{
    uint64_t at = 0;

    for (unsigned i = 0; i < source->table->column_count; i++) {
        if (columns[i].type != TYPE_WORD)
            continue;
        columns[i].words = (uint32_t)(at / TABLET_ALIGN);
        at += tablet_dictionary_size(source->dictionaries[i]);
    }
    return at;
}

/* -------------------------------------------------------------- facts -- */

void vector_copy(const struct vdbq_vector *vector, uint32_t first,
                 uint32_t count, bool nullable, void *values)
{
    size_t width = type_width((int)vector->type);
    uint8_t *to = values;

    memcpy(to, (const uint8_t *)vector->values + first * width, count * width);
    for (uint32_t i = 0; nullable && i < count; i++)
        if (vector_null(vector, first + i))
            memset(to + i * width, 0, width);
}

void vector_null_bits(const struct vdbq_vector *vector, uint32_t first,
                      uint32_t count, uint8_t *bits)
{
    memset(bits, 0, ((size_t)count + 7) / 8);
    for (uint32_t i = 0; i < count; i++)
        bits[i / 8] |= (uint8_t)(vector_null(vector, first + i) << (i % 8));
}

/* Where there are no NULLs one pass over the values will do. */
void vector_facts(const struct vdbq_vector *vector, uint32_t rows,
                  struct column_facts *facts)
{
    uint8_t bits[CHUNK_ROWS / 8];
    uint64_t values[CHUNK_ROWS];

    if (vector->nulls == NULL
        && facts_count(vector->type, vector->values, NULL, rows, facts))
        return;
    *facts = (struct column_facts){ .empty = true };
    for (uint32_t row = 0; row < rows; row += CHUNK_ROWS) {
        uint32_t count = rows - row < CHUNK_ROWS ? rows - row : CHUNK_ROWS;
        struct column_facts more;
        vector_copy(vector, row, count, true, values);
        vector_null_bits(vector, row, count, bits);
        facts_count(vector->type, values, bits, count, &more);
        facts_join(facts, &more);
    }
}
