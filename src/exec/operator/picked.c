/* SPDX-License-Identifier: MIT */
/*
 * Values of single rows: those of neighbouring rows are decoded together.
 */
#include "exec/operator/picked.h"

#include <assert.h>
#include <string.h>

#include "base/threads/stop.h"
#include "data/tablet/tablet.h"

enum { BLOCK_ROWS = 64 };

static unsigned number_of(const struct picked *picked, unsigned i)
{
    return (unsigned)VECTOR_ITEMS(picked->numbers, int)[i];
}

/* ---------------------------------------------------------------- room -- */

enum vdbq_status picked_init(struct picked *picked, const struct table *table,
                             const struct vector *numbers,
                             const struct step_column *columns,
                             struct error *error)
{
    unsigned count = (unsigned)numbers->count;
    enum vdbq_status status;

    *picked = (struct picked){ .table = table, .numbers = numbers };
    status = row_set_init(&picked->rows, columns, count, error);
    picked->texts = memory_zeroed(count, sizeof *picked->texts);
    if (status == VDBQ_OK && picked->texts == NULL)
        status = error_no_memory(error);
    return status;
}

/* Frees what only picking needs. */
static void finish_texts(struct picked *picked)
{
    for (unsigned i = 0; picked->texts && i < picked->rows.column_count; i++)
        memory_release(picked->texts[i]);
    memory_release(picked->texts);
    arena_finish(&picked->arena);
    picked->texts = NULL;
}

void picked_finish(struct picked *picked)
{
    finish_texts(picked);
    row_set_finish(&picked->rows);
}

/* Room for the texts of a column; those that are new are none. */
static bool texts_room(struct picked *picked, unsigned column)
{
    uint64_t before = picked->texts_room, room = picked->rows.rows_room;
    struct vdbq_text *texts =
        memory_resize(picked->texts[column], (room + 1) * sizeof *texts);

    if (texts == NULL)
        return false;
    memset(texts + before, 0, (room + 1 - before) * sizeof *texts);
    picked->texts[column] = texts;
    return true;
}

enum vdbq_status picked_room(struct picked *picked, uint64_t rows,
                             struct error *error)
{
    enum vdbq_status status = row_set_room(&picked->rows, rows, error);

    for (unsigned i = 0; i < picked->rows.column_count && status == VDBQ_OK;
         i++)
        if (picked->rows.columns[i].type == VDBQ_TEXT
            && (picked->texts[i] == NULL
                || picked->texts_room < picked->rows.rows_room)
            && !texts_room(picked, i))
            status = error_no_memory(error);
    if (status == VDBQ_OK)
        picked->texts_room = picked->rows.rows_room;
    return status;
}

/* -------------------------------------------------------------- values -- */

/* Column `i` of a row that was found; `block`: values of rows around it. */
static enum vdbq_status put_value(struct picked *picked, unsigned i,
                                  const struct tablet *tablet,
                                  const struct picked_row *found,
                                  const uint8_t *block, struct error *error)
{
    struct row_set_column *column = &picked->rows.columns[i];
    unsigned number = number_of(picked, i);
    const uint8_t *value = block + found->row % BLOCK_ROWS * column->width;
    struct vdbq_text *text;
    bool null = tablet_null(tablet, number, found->row);
    uint32_t code;

    if (null && row_set_flags(&picked->rows, i, error) != VDBQ_OK)
        return error->status;
    if (column->nulls != NULL)
        column->nulls[found->to] = null;
    if (column->type != VDBQ_TEXT) {
        memcpy((uint8_t *)column->values + found->to * (size_t)column->width,
               value, column->width);
        return VDBQ_OK;
    }
    if (null)
        return VDBQ_OK;
    memcpy(&code, value, sizeof code);
    text = &picked->texts[i][found->to];
    *text = tablet_word(tablet, number, code);
    text->bytes = arena_copy(&picked->arena, text->bytes, text->length);
    return text->bytes != NULL ? VDBQ_OK : error_no_memory(error);
}

/* How many rows of a block are decoded for one: all where more may follow. */
static uint32_t rows_decoded(const struct tablet *tablet, uint32_t first,
                             uint32_t place, bool more)
{
    uint32_t left = (uint32_t)tablet->rows - first;

    if (!more)
        return place + 1;
    return left < BLOCK_ROWS ? left : BLOCK_ROWS;
}

/* Column `i` of all rows that were found in a tablet. */
static enum vdbq_status put_column(struct picked *picked, unsigned i,
                                   const struct tablet *tablet,
                                   const struct picked_row *rows,
                                   uint64_t count, struct error *error)
{
    unsigned number = number_of(picked, i);
    uint32_t block_first = 1; /* no block begins there */
    uint32_t decoded = 0;     /* rows of it            */
    uint64_t block[BLOCK_ROWS];
    enum vdbq_status status = VDBQ_OK;

    assert(tablet_column(tablet, number)->width
           == picked->rows.columns[i].width);
    for (uint64_t k = 0; k < count && status == VDBQ_OK; k++) {
        uint32_t first = rows[k].row / BLOCK_ROWS * BLOCK_ROWS;
        uint32_t place = rows[k].row - first;
        if (first != block_first || place >= decoded) {
            decoded = rows_decoded(tablet, first, place, k + 1 < count);
            tablet_values_of(tablet, number, first, decoded, block);
            block_first = first;
        }
        status = put_value(picked, i, tablet, &rows[k], (const uint8_t *)block,
                           error);
        if (status == VDBQ_OK && stop_at(k))
            status = error_cancelled(error);
    }
    return status;
}

/* Puts a new value of column `i` in the place of a row's. */
static enum vdbq_status put_new(struct picked *picked, unsigned i,
                                const struct edit_column *news, uint32_t at,
                                uint64_t to, struct error *error)
{
    struct row_set_column *column = &picked->rows.columns[i];
    const char *values = news->values.values;
    bool null = news->values.nulls[at] != 0;

    if (null && row_set_flags(&picked->rows, i, error) != VDBQ_OK)
        return error->status;
    if (column->nulls != NULL)
        column->nulls[to] = null;
    if (column->type != VDBQ_TEXT) {
        memcpy((uint8_t *)column->values + to * (size_t)column->width,
               values + at * (size_t)column->width, column->width);
        return VDBQ_OK;
    }
    struct vdbq_text *text = &picked->texts[i][to];
    *text = ((const struct vdbq_text *)(const void *)values)[at];
    if (null)
        return VDBQ_OK;
    text->bytes = arena_copy(&picked->arena, text->bytes, text->length);
    return text->bytes != NULL ? VDBQ_OK : error_no_memory(error);
}

/* Puts the new values that an edit has for rows of its base. */
static enum vdbq_status put_edit(struct picked *picked, unsigned i,
                                 const struct edit *edit,
                                 const struct picked_row *rows, uint64_t count,
                                 struct error *error)
{
    const struct edit_column *news = edit_column(edit, number_of(picked, i));
    enum vdbq_status status = VDBQ_OK;
    uint32_t at;

    for (uint64_t k = 0; news != NULL && k < count && status == VDBQ_OK; k++)
        if (edit_find(news, rows[k].row, &at))
            status = put_new(picked, i, news, at, rows[k].to, error);
    return status;
}

/* The numbers of the rows in the table. */
static void put_numbers(struct picked *picked, unsigned i,
                        const struct picked_from *from,
                        const struct picked_row *rows, uint64_t count)
{
    int64_t *numbers = picked->rows.columns[i].values;
    bool gone;

    assert(picked->rows.columns[i].width == sizeof *numbers);
    for (uint64_t k = 0; k < count; k++)
        numbers[rows[k].to] =
            (int64_t)(from->ref->row_first + rows[k].row
                      - (from->over != NULL
                             ? edit_gone_before(from->over, rows[k].row, &gone)
                             : 0));
}

enum vdbq_status picked_read(struct picked *picked,
                             const struct picked_from *from,
                             const struct picked_row *rows, uint64_t count,
                             struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < picked->rows.column_count && status == VDBQ_OK;
         i++) {
        if (number_of(picked, i) == picked->table->column_count) {
            put_numbers(picked, i, from, rows, count);
            continue;
        }
        status = put_column(picked, i, from->tablet, rows, count, error);
        if (status == VDBQ_OK && from->over != NULL)
            status = put_edit(picked, i, from->over, rows, count, error);
    }
    return status;
}

enum vdbq_status picked_end(struct picked *picked, uint64_t rows,
                            struct error *error)
{
    for (unsigned i = 0; i < picked->rows.column_count; i++) {
        struct row_set_column *column = &picked->rows.columns[i];
        if (picked->texts[i] == NULL || rows == 0)
            continue;
        column->dictionary =
            dictionary_make(picked->texts[i], rows, column->values);
        if (column->dictionary == NULL)
            return stop_or_no_memory(error);
    }
    finish_texts(picked);
    return VDBQ_OK;
}
