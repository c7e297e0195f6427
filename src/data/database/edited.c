/* SPDX-License-Identifier: MIT */
/*
 * Edits over tablets. A column that has no new values stays as it is stored
 * where no rows are gone. Any other is read, changed and encoded anew; of a
 * text column the words are those that the rows still have.
 */
#include "data/database/edited.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/tablet_inner.h"

/* A column on its way. */
struct column_edit {
    bool made;                 /* anew; else it stays as it is stored      */
    uint8_t *values, *nulls;   /* of all places, then of all rows; NULL bytes
                                  are NULL without NULLs                 */
    struct dictionary words;   /* of a text column as it is stored         */
    struct dictionary *merged; /* ... and made anew; NULL: it has those    */
};

struct editing {
    const struct table *table;
    const struct edit *edit;
    const void *base;
    const bool *wanted;          /* NULL: all                             */
    uint32_t rows;               /* that are left                         */
    struct tablet_column *heads; /* one a column, as they will be         */
    struct column_edit *columns; /* likewise                              */
};

static bool is_wanted(const struct editing *editing, unsigned column)
{
    return editing->wanted == NULL || editing->wanted[column];
}

static bool is_text(const struct editing *editing, unsigned column)
{
    return editing->table->columns[column].type == VDBQ_TEXT;
}

static size_t width_of(const struct editing *editing, unsigned column)
{
    return tablet_column(editing->base, column)->width;
}

/* ----------------------------------------------------------------- words -- */

/* The words of a text column of the base, where they lie. */
static struct dictionary words_of(const struct editing *editing,
                                  unsigned column)
{
    const struct tablet_words *words = tablet_words(editing->base, column);
    const uint32_t *ends = (const uint32_t *)(words + 1);

    return (struct dictionary){ .holders = 1,
                                .count = words->count,
                                .ends = ends,
                                .bytes = (const char *)(ends + words->count) };
}

/* Gives the new texts of a column their codes, among all words together. */
static bool put_texts(struct editing *editing, unsigned column,
                      const struct edit_column *news)
{
    struct column_edit *edited = &editing->columns[column];
    uint32_t *codes = (uint32_t *)(void *)edited->values;
    uint32_t *numbers = memory_zeroed(news->count, sizeof *numbers);
    struct dictionary *texts =
        numbers != NULL
            ? dictionary_make(news->values.values, news->count, numbers)
            : NULL;
    uint32_t *maps[2] = { memory_zeroed(edited->words.count + 1, 4),
                          memory_zeroed(news->count + 1, 4) };
    struct dictionary *parts[2] = { &edited->words, texts };
    bool room = texts != NULL && maps[0] != NULL && maps[1] != NULL;

    if (room)
        edited->merged = dictionary_join(parts, 2, maps, 0);
    room = room && edited->merged != NULL;
    for (uint32_t i = 0; room && i < editing->edit->rows; i++)
        codes[i] = codes[i] < edited->words.count ? maps[0][codes[i]] : 0;
    for (uint32_t i = 0; room && i < news->count; i++)
        codes[news->places[i]] =
            news->values.nulls[i] != 0 ? 0 : maps[1][numbers[i]];
    dictionary_release(texts);
    memory_release(numbers);
    memory_release(maps[0]);
    memory_release(maps[1]);
    return room;
}

/* Which of the words rows have: 1, else 0; then, in place, their numbers among
 * these, which it counts with their bytes. */
static uint32_t number_used(const struct editing *editing, unsigned column,
                            const struct dictionary *words, uint32_t *numbers,
                            uint64_t *bytes)
{
    const struct column_edit *edited = &editing->columns[column];
    const uint32_t *codes = (const uint32_t *)(const void *)edited->values;
    uint32_t used = 0;

    for (uint32_t i = 0; i < editing->rows; i++)
        if (edited->nulls == NULL || edited->nulls[i] == 0)
            numbers[codes[i]] = 1;
    for (uint32_t i = 0; i < words->count; i++) {
        bool is_used = numbers[i] != 0;
        numbers[i] = is_used ? used : DICTIONARY_NONE;
        used += is_used;
        *bytes += is_used ? dictionary_text(words, i).length : 0;
    }
    return used;
}

/* The words that have numbers. */
static struct dictionary *take_used(const struct dictionary *words,
                                    const uint32_t *numbers, uint32_t count,
                                    uint64_t bytes)
{
    struct dictionary *used = dictionary_room(count, bytes);
    uint32_t end = 0;

    for (uint32_t i = 0; used != NULL && i < words->count; i++)
        if (numbers[i] != DICTIONARY_NONE)
            end = dictionary_put(used, numbers[i], end,
                                 dictionary_text(words, i));
    return used;
}

/* Leaves words out that no row has any more. */
static bool drop_words(struct editing *editing, unsigned column)
{
    struct column_edit *edited = &editing->columns[column];
    const struct dictionary *words =
        edited->merged != NULL ? edited->merged : &edited->words;
    uint32_t *numbers = memory_zeroed(words->count + 1, sizeof *numbers);
    uint32_t *codes = (uint32_t *)(void *)edited->values;
    uint64_t bytes = 0;
    struct dictionary *used;
    uint32_t count;

    if (numbers == NULL)
        return false;
    count = number_used(editing, column, words, numbers, &bytes);
    if (count == words->count) {
        memory_release(numbers);
        return true;
    }
    used = take_used(words, numbers, count, bytes);
    for (uint32_t i = 0; i < editing->rows; i++)
        codes[i] = edited->nulls == NULL || edited->nulls[i] == 0
                       ? numbers[codes[i]]
                       : 0;
    memory_release(numbers);
    dictionary_release(edited->merged);
    edited->merged = used;
    return used != NULL;
}

/* ---------------------------------------------------------------- values -- */

/* Reads a column of the base. */
static bool read_column(struct editing *editing, unsigned column)
{
    const struct edit_column *news = edit_column(editing->edit, column);
    struct column_edit *edited = &editing->columns[column];
    uint32_t rows = editing->edit->rows;
    bool nulls = tablet_column(editing->base, column)->null_count > 0;

    for (uint32_t i = 0; news != NULL && !nulls && i < news->count; i++)
        nulls = news->values.nulls[i] != 0;
    edited->values = memory_resize(NULL, rows * width_of(editing, column));
    edited->nulls = nulls ? memory_resize(NULL, rows) : NULL;
    if (edited->values == NULL || (nulls && edited->nulls == NULL))
        return false;
    tablet_values(editing->base, column, edited->values);
    for (uint32_t i = 0; nulls && i < rows; i++)
        edited->nulls[i] = tablet_null(editing->base, column, i);
    return true;
}

/* Puts the new values of a column, but texts, where they belong. */
static void put_values(struct editing *editing, unsigned column,
                       const struct edit_column *news)
{
    struct column_edit *edited = &editing->columns[column];
    size_t width = width_of(editing, column);

    for (uint32_t i = 0; i < news->count; i++)
        memcpy(edited->values + news->places[i] * width,
               (const char *)news->values.values + i * width, width);
}

static void put_nulls(struct column_edit *edited,
                      const struct edit_column *news)
{
    for (uint32_t i = 0; edited->nulls != NULL && i < news->count; i++)
        edited->nulls[news->places[i]] = news->values.nulls[i];
}

/* Closes the gaps of rows that are gone in items of a width. */
static void close_gaps(const struct edit *edit, uint8_t *items, size_t width)
{
    uint32_t to = edit->gone_count > 0 ? edit->gone[0] : 0;

    for (uint32_t i = 0; i < edit->gone_count; i++) {
        uint32_t from = edit->gone[i] + 1;
        uint32_t end =
            i + 1 < edit->gone_count ? edit->gone[i + 1] : edit->rows;
        memmove(items + to * width, items + from * width, (end - from) * width);
        to += end - from;
    }
}

/* Whether a column of the tablet has to be made anew. */
static bool is_changed(const struct editing *editing, unsigned column)
{
    return editing->edit->gone_count > 0
           || edit_column(editing->edit, column) != NULL;
}

/* The values of a column as they are from now on. */
static bool make_values(struct editing *editing, unsigned column)
{
    const struct edit_column *news = edit_column(editing->edit, column);
    struct column_edit *edited = &editing->columns[column];

    edited->made = true;
    if (!read_column(editing, column))
        return false;
    if (news != NULL && !is_text(editing, column))
        put_values(editing, column, news);
    else if (news != NULL && !put_texts(editing, column, news))
        return false;
    if (news != NULL)
        put_nulls(edited, news);
    close_gaps(editing->edit, edited->values, width_of(editing, column));
    if (edited->nulls != NULL)
        close_gaps(editing->edit, edited->nulls, 1);
    return !is_text(editing, column) || drop_words(editing, column);
}

/* ----------------------------------------------------------------- block -- */

/* The column as a vector of stored values. */
static struct vdbq_vector vector_of(const struct editing *editing,
                                    unsigned column)
{
    const struct column_edit *edited = &editing->columns[column];

    return (
        struct vdbq_vector){ stored_type(editing->table->columns[column].type),
                             edited->values, edited->nulls };
}

/* Describes a column as it will be stored, but for its places. */
static void describe(struct editing *editing, unsigned column)
{
    const struct tablet_column *from = tablet_column(editing->base, column);
    struct tablet_column *to = &editing->heads[column];
    struct vdbq_vector vector = vector_of(editing, column);
    struct column_facts facts;

    if (!is_wanted(editing, column)) { /* as if all were NULL */
        *to = (struct tablet_column){ .type = from->type,
                                      .width = from->width,
                                      .encoding = ENCODING_CONSTANT,
                                      .null_count = editing->rows };
    } else if (editing->columns[column].made) {
        tablet_describe_column(
            &(struct encoding_source){ .vector = &vector,
                                       .rows = editing->rows,
                                       .choice = CHOOSE_AUTO },
            editing->table->columns[column].type, to, &facts);
    } else {
        *to = *from;
        to->values = to->nulls = 0;
        to->words = to->words_packed = 0;
    }
}

static const struct dictionary *words_now(const struct editing *editing,
                                          unsigned column)
{
    const struct column_edit *edited = &editing->columns[column];

    return edited->merged != NULL ? edited->merged : &edited->words;
}

/* Writes a column's areas, where its head says. */
static void write_column(const struct editing *editing, unsigned column,
                         uint8_t *block)
{
    const struct tablet_column *from = tablet_column(editing->base, column);
    const struct tablet_column *to = &editing->heads[column];
    struct vdbq_vector vector = vector_of(editing, column);

    if (editing->columns[column].made) {
        tablet_build_column(&vector, editing->rows, to, block);
        return;
    }
    if (to->values != 0)
        memcpy(block + to->values, (const char *)editing->base + from->values,
               encoding_size(to, editing->rows));
    if (to->nulls != 0)
        memcpy(block + to->nulls, (const char *)editing->base + from->nulls,
               tablet_nulls_size(editing->rows));
}

/* Where all of it will be; returns the bytes of the tablet. */
static uint64_t lay_out(struct editing *editing, uint64_t *words)
{
    unsigned count = editing->table->column_count;
    uint64_t at = tablet_head_size(count);

    *words = 0;
    for (unsigned i = 0; i < count; i++) {
        describe(editing, i);
        at = tablet_place_column(&editing->heads[i], editing->rows, at);
    }
    for (unsigned i = 0; i < count; i++)
        if (is_text(editing, i) && is_wanted(editing, i)) {
            editing->heads[i].words = (uint32_t)(*words / TABLET_ALIGN);
            *words += tablet_dictionary_size(words_now(editing, i));
        }
    return at;
}

static struct block build(struct editing *editing)
{
    const struct tablet *base = editing->base;
    unsigned count = editing->table->column_count;
    uint64_t words, size = lay_out(editing, &words);
    struct block block = block_create(size + words);
    struct tablet *head = block.bytes;

    if (head == NULL)
        return block;
    *head = (struct tablet){ .magic = TABLET_MAGIC,
                             .format = tablet_format(editing->heads, count),
                             .columns = count,
                             .rows = editing->rows,
                             .size = size,
                             .key = base->key };
    memcpy(head + 1, editing->heads, count * sizeof *editing->heads);
    for (unsigned i = 0; i < count; i++)
        if (is_wanted(editing, i))
            write_column(editing, i, block.bytes);
    for (unsigned i = 0; i < count; i++)
        if (is_text(editing, i) && is_wanted(editing, i))
            tablet_add_dictionary(words_now(editing, i), head);
    return block;
}

static void finish(struct editing *editing)
{
    for (unsigned i = 0;
         editing->columns != NULL && i < editing->table->column_count; i++) {
        memory_release(editing->columns[i].values);
        memory_release(editing->columns[i].nulls);
        dictionary_release(editing->columns[i].merged);
    }
    memory_release(editing->columns);
    memory_release(editing->heads);
}

struct block tablet_edited(const struct table *table, const struct edit *edit,
                           const void *base, const bool *wanted)
{
    unsigned count = table->column_count;
    struct editing editing = {
        .table = table,
        .edit = edit,
        .base = base,
        .wanted = wanted,
        .rows = edit->rows - edit->gone_count,
        .heads = memory_zeroed(count, sizeof *editing.heads),
        .columns = memory_zeroed(count, sizeof *editing.columns)
    };
    bool done = editing.heads != NULL && editing.columns != NULL;
    struct block block = { 0 };

    for (unsigned i = 0; i < count && done; i++) {
        if (!is_wanted(&editing, i))
            continue;
        if (is_text(&editing, i))
            editing.columns[i].words = words_of(&editing, i);
        if (is_changed(&editing, i))
            done = make_values(&editing, i);
        done = done && !stop_asked();
    }
    if (done)
        block = build(&editing);
    finish(&editing);
    return block;
}
