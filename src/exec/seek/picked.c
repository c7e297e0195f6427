/* SPDX-License-Identifier: MIT */
/*
 * Values of single rows, some of a column at a time.
 */
#include "exec/seek/picked.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/threads/stop.h"
#include "data/tablet/tablet.h"

/* From which on threads sort them. */
enum { MANY_TEXTS = HOSTILE(2, 1 << 12) };

enum { BLOCK_ROWS = 256 }; /* whose values are read together */

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

/* Whether any column is of texts. */
static bool has_texts(const struct picked *picked)
{
    for (unsigned i = 0; i < picked->rows.column_count; i++)
        if (picked->rows.columns[i].type == VDBQ_TEXT)
            return true;
    return false;
}

uint64_t picked_text_bytes(const struct picked *picked)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; has_texts(picked) && i < PARALLEL_THREADS_MAX; i++)
        bytes += arena_bytes(&picked->arenas[i]);
    return bytes;
}

/* Frees what only picking needs. */
static void finish_texts(struct picked *picked)
{
    for (unsigned i = 0; picked->texts && i < picked->rows.column_count; i++) {
        memory_release(picked->texts[i]);
        picked->texts[i] = NULL;
    }
    for (unsigned i = 0; has_texts(picked) && i < PARALLEL_THREADS_MAX; i++)
        arena_finish(&picked->arenas[i]);
    picked->texts_room = 0;
}

void picked_finish(struct picked *picked)
{
    finish_texts(picked);
    memory_release(picked->texts);
    picked->texts = NULL;
    row_set_finish(&picked->rows);
}

void picked_empty(struct picked *picked)
{
    assert(picked->texts != NULL);
    finish_texts(picked);
    for (unsigned i = 0; i < picked->rows.column_count; i++)
        row_set_dictionary(&picked->rows, i, NULL);
    picked->rows.rows = 0;
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

/* What is read of one column of a tablet, by one thread. */
struct reading {
    struct picked *picked;
    unsigned column, number; /* of the rows, of the table */
    const struct tablet *tablet;
    bool nulls;          /* some value of the tablet is NULL */
    struct arena *texts; /* of the thread                    */
};

/* Values of rows, where they go. */
static void put_numbers(const struct reading *reading,
                        const struct picked_row *rows, uint32_t count,
                        const void *values)
{
    const struct row_set_column *column =
        &reading->picked->rows.columns[reading->column];
    uint64_t *wide = column->values;
    uint32_t *narrow = column->values;

    for (uint32_t k = 0; column->width == sizeof *narrow && k < count; k++)
        narrow[rows[k].to] = ((const uint32_t *)values)[k];
    for (uint32_t k = 0; column->width == sizeof *wide && k < count; k++)
        wide[rows[k].to] = ((const uint64_t *)values)[k];
}

/* The texts of rows, whose bytes come into the processor's cache; one that is NULL
 * has none. Returns how many bytes. */
static uint64_t find_texts(const struct reading *reading,
                           const struct picked_row *rows, uint32_t count,
                           const uint32_t *codes, struct vdbq_text *texts)
{
    uint64_t bytes = 0;

    for (uint32_t k = 0; k < count; k++)
        tablet_word_fetch(reading->tablet, reading->number, codes[k]);
    for (uint32_t k = 0; k < count; k++) {
        texts[k] = (struct vdbq_text){ .bytes = NULL };
        if (reading->nulls
            && tablet_null(reading->tablet, reading->number, rows[k].row))
            continue;
        texts[k] = tablet_word(reading->tablet, reading->number, codes[k]);
        __builtin_prefetch(texts[k].bytes);
        bytes += texts[k].length;
    }
    return bytes;
}

/* Copies of them outlive the tablet. */
static bool put_texts(const struct reading *reading,
                      const struct picked_row *rows, uint32_t count,
                      const uint32_t *codes)
{
    struct vdbq_text *to = reading->picked->texts[reading->column];
    struct vdbq_text texts[BLOCK_ROWS];
    uint64_t bytes = find_texts(reading, rows, count, codes, texts);
    char *room = arena_alloc(reading->texts, bytes + 1);

    for (uint32_t k = 0; room != NULL && k < count; k++) {
        to[rows[k].to] = texts[k];
        if (texts[k].bytes == NULL)
            continue;
        memcpy(room, texts[k].bytes, texts[k].length);
        to[rows[k].to].bytes = room;
        room += texts[k].length;
    }
    return room != NULL;
}

static void put_nulls(const struct reading *reading,
                      const struct picked_row *rows, uint64_t count)
{
    uint8_t *nulls = reading->picked->rows.columns[reading->column].nulls;

    assert(nulls != NULL || !reading->nulls);
    for (uint64_t k = 0; nulls != NULL && k < count; k++)
        nulls[rows[k].to] =
            reading->nulls
            && tablet_null(reading->tablet, reading->number, rows[k].row);
}

/* A column of all rows that were found in a tablet. */
static enum vdbq_status put_column(const struct reading *reading,
                                   const struct picked_row *rows,
                                   uint64_t count, struct error *error)
{
    bool text =
        reading->picked->rows.columns[reading->column].type == VDBQ_TEXT;
    uint32_t numbers[BLOCK_ROWS], some;
    uint64_t values[BLOCK_ROWS], since = 0;

    put_nulls(reading, rows, count);
    for (uint64_t at = 0; at < count; at += some) {
        some = count - at < BLOCK_ROWS ? (uint32_t)(count - at) : BLOCK_ROWS;
        for (uint32_t i = 0; i < some; i++)
            numbers[i] = rows[at + i].row;
        tablet_values_pick(reading->tablet, reading->number, numbers, some,
                           values);
        if (!text)
            put_numbers(reading, rows + at, some, values);
        else if (!put_texts(reading, rows + at, some,
                            (const uint32_t *)(const void *)values))
            return error_no_memory(error);
        if (stop_after(&since, some))
            return error_cancelled(error);
    }
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- edits -- */

/* Puts a new value in the place of a row's. */
static bool put_new(const struct reading *reading,
                    const struct edit_column *news, uint32_t at, uint64_t to)
{
    struct row_set_column *column =
        &reading->picked->rows.columns[reading->column];
    const char *values = news->values.values;
    struct vdbq_text *text;

    assert(column->nulls != NULL); /* picked_flags() */
    column->nulls[to] = news->values.nulls[at] != 0;
    if (column->type != VDBQ_TEXT) {
        memcpy((uint8_t *)column->values + to * (size_t)column->width,
               values + at * (size_t)column->width, column->width);
        return true;
    }
    text = &reading->picked->texts[reading->column][to];
    *text = (struct vdbq_text){ .bytes = NULL };
    if (column->nulls[to] != 0)
        return true;
    *text = ((const struct vdbq_text *)(const void *)values)[at];
    text->bytes = arena_copy(reading->texts, text->bytes, text->length);
    return text->bytes != NULL;
}

/* Puts the new values that an edit has for rows of its base. */
static enum vdbq_status put_edit(const struct reading *reading,
                                 const struct edit *edit,
                                 const struct picked_row *rows, uint64_t count,
                                 struct error *error)
{
    const struct edit_column *news = edit_column(edit, reading->number);
    uint32_t at = 0;

    for (uint64_t k = 0; news != NULL && k < count; k++) {
        if (k > 0 && rows[k].row <= rows[k - 1].row)
            at = 0; /* mostly they ascend */
        at = edit_pass(news->places, news->count, at, rows[k].row);
        if (at < news->count && news->places[at] == rows[k].row
            && !put_new(reading, news, at, rows[k].to))
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- rows -- */

/* The numbers of the rows in the table. */
static void put_row_numbers(struct picked *picked, unsigned i,
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

static bool is_row_number(const struct picked *picked, unsigned i)
{
    return number_of(picked, i) == picked->table->column_count;
}

/* Whether values of a column may be NULL. */
static bool has_nulls(const struct picked_from *from, unsigned number)
{
    return tablet_column(from->tablet, number)->null_count > 0
           || (from->over != NULL && edit_column(from->over, number) != NULL);
}

enum vdbq_status picked_flags(struct picked *picked,
                              const struct picked_from *from,
                              struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < picked->rows.column_count && status == VDBQ_OK;
         i++)
        if (!is_row_number(picked, i) && has_nulls(from, number_of(picked, i)))
            status = row_set_flags(&picked->rows, i, error);
    return status;
}

/* One column of rows. */
static enum vdbq_status read_column(struct picked *picked, unsigned i,
                                    unsigned thread,
                                    const struct picked_from *from,
                                    const struct picked_row *rows,
                                    uint64_t count, struct error *error)
{
    unsigned number = number_of(picked, i);
    const struct tablet_column *head = tablet_column(from->tablet, number);
    struct reading reading = { .picked = picked,
                               .column = i,
                               .number = number,
                               .tablet = from->tablet,
                               .nulls = head->null_count > 0,
                               .texts = &picked->arenas[thread] };
    enum vdbq_status status;

    assert(head->width == picked->rows.columns[i].width);
    status = put_column(&reading, rows, count, error);
    return status == VDBQ_OK && from->over != NULL
               ? put_edit(&reading, from->over, rows, count, error)
               : status;
}

enum vdbq_status picked_read_part(struct picked *picked, unsigned thread,
                                  const struct picked_from *from,
                                  const struct picked_row *rows, uint64_t count,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < picked->rows.column_count && status == VDBQ_OK;
         i++)
        if (is_row_number(picked, i))
            put_row_numbers(picked, i, from, rows, count);
        else
            status = read_column(picked, i, thread, from, rows, count, error);
    return status;
}

enum vdbq_status picked_read(struct picked *picked,
                             const struct picked_from *from,
                             const struct picked_row *rows, uint64_t count,
                             struct error *error)
{
    enum vdbq_status status = picked_flags(picked, from, error);

    return status == VDBQ_OK
               ? picked_read_part(picked, 0, from, rows, count, error)
               : status;
}

/* Words of a column's texts, for what is asked of their numbers; so many threads
 * sort many. NULL: no memory, or the thread is to stop. */
static struct dictionary *make_words(const struct vdbq_text *texts,
                                     uint32_t count, enum texts_use use,
                                     unsigned threads, uint32_t *numbers)
{
    struct dictionary *list, *sorted;

    if (use > TEXTS_GIVEN && (threads <= 1 || count < MANY_TEXTS))
        return dictionary_make(texts, count, numbers);
    list = dictionary_list(texts, count);
    if (use > TEXTS_GIVEN) {
        sorted =
            list != NULL ? dictionary_sorted(list, numbers, threads) : NULL;
        dictionary_release(list);
        return sorted;
    }
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    return list;
}

enum vdbq_status picked_end(struct picked *picked, uint64_t rows,
                            const uint8_t *uses, unsigned threads,
                            struct error *error)
{
    assert(rows <= ROW_SET_ROWS_MAX);
    for (unsigned i = 0; i < picked->rows.column_count; i++) {
        struct row_set_column *column = &picked->rows.columns[i];
        if (picked->texts[i] == NULL || rows == 0)
            continue;
        column->dictionary =
            make_words(picked->texts[i], (uint32_t)rows,
                       (enum texts_use)uses[i], threads, column->values);
        if (column->dictionary == NULL)
            return stop_or_no_memory(error);
    }
    finish_texts(picked);
    return VDBQ_OK;
}
