/* SPDX-License-Identifier: MIT */
/*
 * Gathering rows. Room is taken for all columns alike; a column gets bytes
 * for NULLs when its first NULL comes.
 */
#include "data/database/rows.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "data/tablet/block.h"
#include "data/catalogue/facts.h"
#include "data/tablet/tablet_inner.h"

enum { ROWS_FIRST = 16 }; /* that room is taken for */

static bool add_nulls(struct rows *rows, unsigned column,
                      const struct vdbq_vector *vector, uint64_t first,
                      uint32_t count);
static bool mark_null(struct rows *rows, unsigned column, uint32_t row);
static bool own_texts(struct rows *rows, unsigned column, uint32_t count);

bool rows_init(struct rows *rows, const struct table *table)
{
    *rows = (struct rows){ .column_count = table->column_count };
    rows->columns = memory_zeroed(table->column_count, sizeof *rows->columns);
    if (rows->columns == NULL)
        return false;
    for (unsigned i = 0; i < table->column_count; i++)
        rows->columns[i].type = table->columns[i].type;
    return true;
}

void rows_finish(struct rows *rows)
{
    for (unsigned i = 0; rows->columns != NULL && i < rows->column_count; i++) {
        memory_release(rows->columns[i].values);
        memory_release(rows->columns[i].nulls);
        arena_finish(&rows->columns[i].texts);
    }
    memory_release(rows->columns);
    *rows = (struct rows){ 0 };
}

void rows_clear(struct rows *rows)
{
    rows->count = 0;
    for (unsigned i = 0; i < rows->column_count; i++) {
        memory_release(rows->columns[i].nulls);
        rows->columns[i].nulls = NULL;
        rows->columns[i].text_bytes = 0;
        arena_finish(&rows->columns[i].texts);
    }
}

uint64_t rows_text_bytes(const struct rows *rows)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < rows->column_count; i++)
        bytes += rows->columns[i].text_bytes;
    return bytes;
}

uint64_t rows_bytes(const struct rows *rows)
{
    uint64_t bytes = rows_text_bytes(rows);

    for (unsigned i = 0; i < rows->column_count; i++)
        bytes += (uint64_t)rows->count * type_bytes(rows->columns[i].type);
    return bytes;
}

bool rows_reserve(struct rows *rows, uint32_t count)
{
    uint64_t capacity = rows->capacity > 0 ? rows->capacity : ROWS_FIRST;

    if (count <= rows->capacity)
        return true;
    while (capacity < count)
        capacity *= 2;
    capacity = capacity > UINT32_MAX ? UINT32_MAX : capacity;
    for (unsigned i = 0; i < rows->column_count; i++) {
        struct rows_column *column = &rows->columns[i];
        size_t width = type_bytes(column->type);
        void *values = memory_resize(column->values, capacity * width);
        if (values == NULL)
            return false;
        column->values = values;
        if (column->nulls != NULL) {
            uint8_t *nulls = memory_resize(column->nulls, capacity);
            if (nulls == NULL)
                return false;
            memset(nulls + rows->capacity, 0, capacity - rows->capacity);
            column->nulls = nulls;
        }
    }
    rows->capacity = (uint32_t)capacity;
    return true;
}

/* No row behind the last is NULL. */
static void forget_nulls(struct rows *rows, uint32_t count)
{
    for (unsigned i = 0; i < rows->column_count; i++)
        if (rows->columns[i].nulls != NULL)
            memset(rows->columns[i].nulls + rows->count, 0, count);
}

void rows_take_back(struct rows *rows, uint32_t count)
{
    assert(count <= rows->count);
    rows->count -= count;
    forget_nulls(rows, count);
}

/* Rows that are added behind the last, for which there is room. */
struct adding {
    struct rows *rows;
    const struct vdbq_vector *vectors;
    const void *block; /* or this tablet, from its first row on */
    uint64_t first;
    uint32_t count;
    atomic_bool failed; /* of some column */
};

/* Adds the values of a column. */
static void add_column(void *context, unsigned i)
{
    struct adding *adding = context;
    struct rows_column *column = &adding->rows->columns[i];
    const struct vdbq_vector *vector = &adding->vectors[i];
    size_t width = type_bytes(column->type);
    char *to = (char *)column->values + adding->rows->count * width;
    uint32_t count = adding->count;

    memcpy(to, (const char *)vector->values + adding->first * width,
           count * width);
    if (!add_nulls(adding->rows, i, vector, adding->first, count)
        || (vector->type == VDBQ_TEXT && !own_texts(adding->rows, i, count)))
        atomic_store(&adding->failed, true);
}

/* Adds all columns; what is left of rows that it could not add is behind the last. */
static bool add_columns(struct adding *adding,
                        void (*add)(void *context, unsigned column))
{
    parallel_run_rows(adding->rows->column_count, adding->count, add, adding);
    return !atomic_load(&adding->failed);
}

bool rows_add(struct rows *rows, const struct vdbq_vector *vectors,
              uint64_t first, uint32_t count)
{
    assert(count <= UINT32_MAX - rows->count);
    struct adding adding = {
        .rows = rows, .vectors = vectors, .first = first, .count = count
    };
    if (!rows_reserve(rows, rows->count + count))
        return false;
    if (!add_columns(&adding, add_column)) {
        forget_nulls(rows, count);
        return false;
    }
    rows->count += count;
    return true;
}

/* How many bytes texts have, of which some may be NULL. */
static size_t texts_size(const struct vdbq_text *texts, const uint8_t *nulls,
                         uint32_t count)
{
    size_t size = 0;

    for (uint32_t i = 0; i < count; i++)
        size += nulls != NULL && nulls[i] != 0 ? 0 : texts[i].length;
    return size;
}

/* Copies the bytes of texts that were added behind the last row: into one
 * piece of memory, since most texts are far shorter than a piece's head. */
static bool own_texts(struct rows *rows, unsigned column, uint32_t count)
{
    assert(rows->columns[column].type == VDBQ_TEXT
           && rows->count + count <= rows->capacity);
    struct rows_column *place = &rows->columns[column];
    struct vdbq_text *texts = (struct vdbq_text *)place->values + rows->count;
    const uint8_t *nulls =
        place->nulls != NULL ? place->nulls + rows->count : NULL;
    size_t size = texts_size(texts, nulls, count);
    char *to = arena_room(&place->texts, size);

    if (to == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (nulls != NULL && nulls[i] != 0) {
            texts[i] = (struct vdbq_text){ 0 };
            continue;
        }
        if (texts[i].length > 0)
            memcpy(to, texts[i].bytes, texts[i].length);
        texts[i].bytes = to;
        to += texts[i].length;
    }
    place->text_bytes += size;
    return true;
}

/* Adds a tablet's texts. */
static bool add_tablet_texts(struct rows *rows, const void *block,
                             unsigned column, uint32_t count)
{
    assert(rows->columns[column].type == VDBQ_TEXT
           && rows->count + count <= rows->capacity);
    struct rows_column *place = &rows->columns[column];
    struct vdbq_text *texts = (struct vdbq_text *)place->values + rows->count;
    struct dictionary *dictionary = dictionary_of_tablet(block, column);
    int32_t *codes = memory_zeroed(count, sizeof *codes);
    bool room = dictionary != NULL && codes != NULL;

    if (room)
        tablet_values(block, column, codes);
    for (uint32_t i = 0; room && i < count && !stop_at(i); i++) {
        texts[i] = (struct vdbq_text){ 0 };
        if (tablet_null(block, column, i))
            continue;
        texts[i] = dictionary_text(dictionary, (uint32_t)codes[i]);
        texts[i].bytes =
            arena_copy(&place->texts, texts[i].bytes, texts[i].length);
        place->text_bytes += texts[i].length;
        room = texts[i].bytes != NULL;
    }
    memory_release(codes);
    dictionary_release(dictionary);
    return room && !stop_asked();
}

/* Adds a tablet's values of a column. */
static void add_tablet_column(void *context, unsigned i)
{
    struct adding *adding = context;
    struct rows *rows = adding->rows;
    struct rows_column *column = &rows->columns[i];
    char *to = (char *)column->values + rows->count * type_bytes(column->type);
    bool nulls = tablet_column(adding->block, i)->null_count > 0, room = true;

    if (column->type != VDBQ_TEXT)
        tablet_values(adding->block, i, to);
    else
        room = add_tablet_texts(rows, adding->block, i, adding->count);
    for (uint32_t k = 0; nulls && room && k < adding->count; k++)
        if (tablet_null(adding->block, i, k))
            room = mark_null(rows, i, rows->count + k);
    if (!room)
        atomic_store(&adding->failed, true);
}

bool rows_add_tablet(struct rows *rows, const void *block)
{
    const struct tablet *head = block;
    uint32_t count = (uint32_t)head->rows;
    struct adding adding = { .rows = rows, .block = block, .count = count };

    if (!rows_reserve(rows, rows->count + count))
        return false;
    if (!add_columns(&adding, add_tablet_column))
        return false;
    rows->count += count;
    return true;
}

enum vdbq_status rows_add_ref(struct rows *rows, struct database *database,
                              const struct table *table,
                              const struct tablet_ref *tablet,
                              struct error *error)
{
    struct block block;
    enum vdbq_status status =
        tablet_load(database, table, tablet, &block, error);

    if (status == VDBQ_OK && !rows_add_tablet(rows, block.bytes))
        status = stop_or_no_memory(error);
    block_destroy(&block);
    return status;
}

enum vdbq_status rows_load(struct rows *rows, struct database *database,
                           const struct table *table,
                           const struct tablet_ref *tablet, struct error *error)
{
    if (!rows_init(rows, table))
        return error_no_memory(error);
    return rows_add_ref(rows, database, table, tablet, error);
}

void rows_vectors(const struct rows *rows, struct vdbq_vector *vectors)
{
    assert(rows->count <= rows->capacity);
    for (unsigned i = 0; i < rows->column_count; i++) {
        const struct rows_column *column = &rows->columns[i];
        vectors[i] =
            (struct vdbq_vector){ column->type, column->values, column->nulls };
    }
}

struct vdbq_vector vector_behind(const struct vdbq_vector *vector,
                                 uint64_t first)
{
    return (struct vdbq_vector){
        vector->type,
        (const char *)vector->values + first * type_bytes(vector->type),
        vector->nulls != NULL ? vector->nulls + first : NULL
    };
}

/* Marks what is NULL in the vector, said or as a NaN. */
static bool add_nulls(struct rows *rows, unsigned column,
                      const struct vdbq_vector *vector, uint64_t first,
                      uint32_t count)
{
    const float *narrow = vector->type == VDBQ_FLOAT ? vector->values : NULL;
    const double *wide = vector->type == VDBQ_DOUBLE ? vector->values : NULL;

    if (vector->nulls == NULL && narrow == NULL && wide == NULL)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t from = first + i;
        bool null = vector->nulls != NULL && vector->nulls[from] != 0;
        null |= narrow != NULL && isnan(narrow[from]);
        null |= wide != NULL && isnan(wide[from]);
        if (null && !mark_null(rows, column, rows->count + i))
            return false;
    }
    return true;
}

/* The first NULL of a column makes its flags. */
static bool mark_null(struct rows *rows, unsigned column, uint32_t row)
{
    assert(column < rows->column_count && row < rows->capacity);
    struct rows_column *place = &rows->columns[column];

    if (place->nulls == NULL)
        place->nulls = memory_zeroed(rows->capacity, 1);
    if (place->nulls == NULL)
        return false;
    place->nulls[row] = 1;
    return true;
}
