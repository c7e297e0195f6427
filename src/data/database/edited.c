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
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/catalogue/facts.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/tablet_inner.h"

/* A column on its way. */
struct column_edit {
    uint8_t *values, *nulls;   /* of all places, then of all rows, until it is
                                  written; NULL bytes are NULL without NULLs */
    struct dictionary words;   /* of a text column as it is stored         */
    struct dictionary *merged; /* ... and made anew; NULL: it has those    */
};

struct editing {
    const struct table *table;
    const struct edit *edit;
    const void *base;
    const struct tablet_editing *params;
    uint32_t rows;               /* that are left                         */
    struct tablet_column *heads; /* one a column, in the block            */
    struct column_edit *columns; /* one a column                          */
};

static bool is_wanted(const struct editing *editing, unsigned column)
{
    return editing->params->wanted == NULL || editing->params->wanted[column];
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
            ? dictionary_make_shared(news->values.values, news->count, numbers)
            : NULL;
    uint32_t *maps[2] = { memory_zeroed(edited->words.count + 1, 4),
                          memory_zeroed(news->count + 1, 4) };
    struct dictionary *parts[2] = { &edited->words, texts };
    bool room = texts != NULL && maps[0] != NULL && maps[1] != NULL;

    if (room)
        edited->merged =
            dictionary_join(parts, 2, maps, parallel_workers() + 1);
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

/* The values of a column as they are from now on. */
static bool make_values(struct editing *editing, unsigned column)
{
    const struct edit_column *news = edit_column(editing->edit, column);
    struct column_edit *edited = &editing->columns[column];

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

/* Bytes of an area of so many values that are not encoded. */
static uint64_t edited_plain_size(uint32_t rows, unsigned width)
{
    return TABLET_ALIGNED((uint64_t)rows * width);
}

/* The column as a vector of stored values. */
static struct vdbq_vector vector_of(const struct editing *editing,
                                    unsigned column)
{
    const struct column_edit *edited = &editing->columns[column];

    return (
        struct vdbq_vector){ stored_type(editing->table->columns[column].type),
                             edited->values, edited->nulls };
}

/* Describes a column that is made anew, but for its places. Where that is how
 * it is to be, it would be stored in more bytes than there is room for: then it
 * is plain. */
static void describe_made(const struct editing *editing, unsigned column)
{
    struct tablet_column *to = &editing->heads[column];
    enum vdbq_type type = editing->table->columns[column].type;
    struct vdbq_vector vector = vector_of(editing, column);
    struct encoding_source source = { .vector = &vector,
                                      .rows = editing->rows,
                                      .choice = editing->params->choice };
    struct column_facts facts;

    tablet_describe_column(&source, type, to, &facts);
    if (encoding_size(to, editing->rows)
        <= edited_plain_size(editing->rows, to->width))
        return;
    source.choice = CHOOSE_PLAIN;
    tablet_describe_column(&source, type, to, &facts);
}

/* Describes a column as it will be stored, but for its places. */
static void describe(const struct editing *editing, unsigned column)
{
    const struct tablet_column *from = tablet_column(editing->base, column);
    struct tablet_column *to = &editing->heads[column];

    if (!is_wanted(editing, column)) { /* as if all were NULL */
        *to = (struct tablet_column){ .type = from->type,
                                      .width = from->width,
                                      .encoding = ENCODING_CONSTANT,
                                      .null_count = editing->rows };
    } else if (edit_changes(editing->edit, column)) {
        describe_made(editing, column);
    } else {
        *to = *from;
        to->values = to->nulls = 0;
        to->words = to->words_packed = 0;
    }
}

/* Writes a column's areas, where its head says. */
static void write_column(const struct editing *editing, unsigned column,
                         uint8_t *block)
{
    const struct tablet_column *from = tablet_column(editing->base, column);
    const struct tablet_column *to = &editing->heads[column];
    struct vdbq_vector vector = vector_of(editing, column);

    if (edit_changes(editing->edit, column)) {
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

/* The values of a column are written, or not needed any more. */
static void let_values_go(struct column_edit *edited)
{
    memory_release(edited->values);
    memory_release(edited->nulls);
    edited->values = edited->nulls = NULL;
}

/* Adds a column to the block, whose areas so far end `*at` bytes behind its
 * start. False: no memory, or the thread was asked to stop. */
static bool add_column(struct editing *editing, unsigned column, uint64_t *at,
                       uint8_t *block)
{
    struct column_edit *edited = &editing->columns[column];
    bool wanted = is_wanted(editing, column), done = true;

    if (wanted && is_text(editing, column))
        edited->words = words_of(editing, column);
    if (wanted && edit_changes(editing->edit, column))
        done = make_values(editing, column) && !stop_asked();
    if (done) {
        describe(editing, column);
        *at = tablet_place_column(&editing->heads[column], editing->rows, *at);
    }
    if (done && wanted)
        write_column(editing, column, block);
    let_values_go(edited);
    return done && !stop_asked();
}

/* Adds the words of all columns behind them. */
static void add_words(struct editing *editing, struct tablet *head)
{
    for (unsigned i = 0; i < editing->table->column_count; i++) {
        const struct column_edit *edited = &editing->columns[i];
        if (!is_text(editing, i) || !is_wanted(editing, i))
            continue;
        editing->heads[i].words =
            (uint32_t)(head->variable_size / TABLET_ALIGN);
        tablet_add_dictionary(
            edited->merged != NULL ? edited->merged : &edited->words, head);
    }
}

static void finish(struct editing *editing)
{
    for (unsigned i = 0;
         editing->columns != NULL && i < editing->table->column_count; i++) {
        let_values_go(&editing->columns[i]);
        dictionary_release(editing->columns[i].merged);
    }
    memory_release(editing->columns);
}

uint64_t tablet_edited(const struct tablet_editing *params, void *block)
{
    unsigned count = params->table->column_count;
    struct tablet *head = block;
    struct editing editing = {
        .table = params->table,
        .edit = params->edit,
        .base = params->base,
        .params = params,
        .rows = params->edit->rows - params->edit->gone_count,
        .heads = (struct tablet_column *)(head + 1),
        .columns = memory_zeroed(count, sizeof *editing.columns)
    };
    uint64_t at = tablet_head_size(count);
    bool done = editing.columns != NULL;

    for (unsigned i = 0; i < count && done; i++)
        done = add_column(&editing, i, &at, block);
    if (done) {
        *head =
            (struct tablet){ .magic = TABLET_MAGIC,
                             .columns = count,
                             .rows = editing.rows,
                             .size = at,
                             .key =
                                 ((const struct tablet *)params->base)->key };
        add_words(&editing, head);
        head->format = tablet_format(editing.heads, count);
    }
    finish(&editing);
    return done ? head->size : 0;
}

/* ------------------------------------------------------------------ room -- */

/* Between what the values of a column lie, with the new ones. False: its head
 * says what cannot be. */
static bool facts_of(const struct edited_column *what,
                     struct column_facts *facts)
{
    const struct tablet_column *stored = what->stored;
    const struct edit_column *news = edit_column(what->edit, what->column);
    const int64_t bounds[2] = { stored->minimum, stored->maximum };
    struct column_facts more;

    if (stored->type == TYPE_WORD) { /* none has less than 4 bytes */
        *facts =
            (struct column_facts){ .maximum =
                                       (int64_t)(what->words / sizeof(uint32_t))
                                       + (news != NULL ? news->count : 0) };
        return true;
    }
    if (!facts_from_bits((enum vdbq_type)stored->type, what->edit->rows,
                         stored->null_count, bounds, facts))
        return false;
    if (news == NULL)
        return true;
    struct vdbq_vector values = stored_vector(&news->values);
    vector_facts(&values, news->count, &more);
    facts_join(facts, &more);
    return true;
}

/* Bytes of values that are made anew, at most. Where the best encoding is
 * chosen, it takes less than five quarters of any that fits. */
static uint64_t made_most(const struct edited_column *what)
{
    const struct encoding *encoding = encoding_at(ENCODING_PACKED);
    uint64_t plain = edited_plain_size(what->edit->rows, what->stored->width);
    struct vdbq_vector vector = { .type = stored_type(
                                      (enum vdbq_type)what->stored->type) };
    struct tablet_column packed = *what->stored;
    struct column_facts facts;
    struct encoding_source source = { .vector = &vector, .facts = &facts };
    uint64_t most;

    if (what->choice != CHOOSE_AUTO || !facts_of(what, &facts)
        || !encoding->fits(&source, &packed))
        return plain;
    most = encoding->size(&packed, what->edit->rows) / 4 * 5 + TABLET_ALIGN;
    return most < plain ? most : plain;
}

/* Bytes of a text column's words, at most. */
static uint64_t words_most(const struct edited_column *what)
{
    const struct edit_column *news = edit_column(what->edit, what->column);
    uint64_t most = what->words + TABLET_ALIGN;

    for (uint32_t i = 0; news != NULL && i < news->count; i++)
        most += sizeof(uint32_t)
                + ((const struct vdbq_text *)news->values.values)[i].length;
    return most;
}

struct edited_room tablet_edited_room(const struct edited_column *what)
{
    const struct edit *edit = what->edit;
    uint64_t values = encoding_size(what->stored, edit->rows);
    bool made = edit_changes(edit, what->column);
    struct edited_room room = { 0 };

    if (made) {
        uint64_t most = made_most(what);
        values = most > values ? most : values;
        room.work =
            edited_plain_size(edit->rows, what->stored->width) + edit->rows;
    }
    room.column = values + tablet_nulls_size(edit->rows);
    if (what->stored->type == TYPE_WORD)
        room.words = words_most(what);
    return room;
}
