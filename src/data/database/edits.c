/* SPDX-License-Identifier: MIT */
/*
 * Edits as blocks: edits.h. Of a block that was read nothing is believed: what
 * it says of rows and columns must fit the tablet.
 */
#include "data/database/edits.h"

#include <string.h>

#include "base/type.h"
#include "data/database/database_inner.h"
#include "data/tablet/block.h"
#include "data/tablet/values.h"

enum { MAGIC_BYTES = 8, VALUE_BYTES = 16 };

/* -------------------------------------------------------------- writing -- */

static void put(struct text *text, const void *bytes, size_t size)
{
    text_add(text, bytes, size);
}

static void put_32(struct text *text, uint32_t value)
{
    put(text, &value, sizeof value);
}

/* The lengths of texts, then their bytes. */
static void put_texts(struct text *text, const struct edit_column *column)
{
    const struct vdbq_text *texts = column->values.values;

    for (uint32_t i = 0; i < column->count; i++)
        put_32(text, (uint32_t)texts[i].length);
    for (uint32_t i = 0; i < column->count; i++)
        if (texts[i].length > 0)
            put(text, texts[i].bytes, texts[i].length);
}

static void put_column(struct text *text, const struct edit_column *column)
{
    uint32_t count = column->count;

    put_32(text, column->column);
    put_32(text, count);
    put(text, column->places, count * sizeof *column->places);
    put(text, column->values.nulls, count);
    if (column->values.type == VDBQ_TEXT)
        put_texts(text, column);
    else
        put(text, column->values.values,
            count * type_bytes(column->values.type));
}

/* The block of an edit; without bytes, there is no memory. */
static struct block encode(const struct edit *edit)
{
    struct text text = { 0 };

    text_expect(&text, edit_size(edit) * VALUE_BYTES);
    put(&text, EDIT_MAGIC, MAGIC_BYTES);
    put(&text, &edit->base, sizeof edit->base);
    put_32(&text, edit->rows);
    put_32(&text, edit->gone_count);
    put_32(&text, edit->column_count);
    put_32(&text, 0);
    put(&text, edit->gone, edit->gone_count * sizeof *edit->gone);
    for (unsigned i = 0; i < edit->column_count; i++)
        put_column(&text, &edit->columns[i]);
    return block_of_text(&text);
}

static enum vdbq_status write_edit(struct file *file, struct space *space,
                                   struct edit *edit, struct error *error)
{
    struct block block = encode(edit);
    enum vdbq_status status;

    if (block.bytes == NULL)
        return error_no_memory(error);
    edit->offset = space_take(space, page_round(block.size));
    edit->size_bytes = block.size;
    edit->checksum = block_checksum(block.bytes, block.size);
    status = file_write_block(file, &block, edit->offset, error);
    block_destroy(&block);
    return status;
}

enum vdbq_status edits_write(struct file *file, struct space *space,
                             const struct catalogue *catalogue,
                             struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < catalogue->table_count; i++) {
        const struct table *table = &catalogue->tables[i];
        for (size_t k = 0; k < table->tablet_count && status == VDBQ_OK; k++) {
            struct edit *edit = table->tablets[k].edit;
            if (edit != NULL && edit->offset == 0)
                status = write_edit(file, space, edit, error);
        }
    }
    return status;
}

/* -------------------------------------------------------------- reading -- */

/* A block that is read; `bad` once anything is wrong: then nothing is got. */
struct reading_edit {
    const struct table *table;
    const struct tablet_ref *tablet;
    struct edit *edit;
    const char *at, *end; /* next byte, and the one behind the last */
    bool bad, no_memory;
};

/* The next bytes, or NULL. */
static const void *take(struct reading_edit *reading, uint64_t size)
{
    const char *at = reading->at;

    reading->bad |= size > (uint64_t)(reading->end - at);
    if (reading->bad)
        return NULL;
    reading->at += size;
    return at;
}

static uint32_t take_32(struct reading_edit *reading)
{
    const void *bytes = take(reading, sizeof(uint32_t));
    uint32_t value = 0;

    if (bytes != NULL)
        memcpy(&value, bytes, sizeof value);
    return value;
}

/* A copy of items, which must follow; `width` is not 0. */
static void *copy(struct reading_edit *reading, uint32_t count, size_t width)
{
    const void *bytes = take(reading, (uint64_t)count * width);
    void *made = bytes != NULL
                     ? arena_alloc(&reading->edit->arena, count * width)
                     : NULL;

    if (made != NULL && count > 0)
        memcpy(made, bytes, count * width);
    reading->no_memory |= bytes != NULL && made == NULL;
    reading->bad |= made == NULL;
    return made;
}

/* Places of rows of the base, each above the one before. */
static uint32_t *take_places(struct reading_edit *reading, uint32_t count)
{
    uint32_t *places = copy(reading, count, sizeof *places);

    for (uint32_t i = 0; !reading->bad && i < count; i++)
        reading->bad = places[i] >= reading->edit->rows
                       || (i > 0 && places[i] <= places[i - 1]);
    return places;
}

/* Texts, which must be UTF-8 as all are; of NULLs there are no bytes. */
static void take_texts(struct reading_edit *reading, struct edit_column *column)
{
    const uint32_t *lengths = copy(reading, column->count, sizeof *lengths);
    struct vdbq_text *texts =
        arena_alloc(&reading->edit->arena, column->count * sizeof *texts);

    reading->no_memory |= texts == NULL;
    reading->bad |= texts == NULL;
    for (uint32_t i = 0; !reading->bad && i < column->count; i++) {
        const char *bytes = take(reading, lengths[i]);
        bool null = column->values.nulls[i] != 0;
        reading->bad |= bytes == NULL || lengths[i] > TEXT_BYTES_MAX
                        || (null && lengths[i] > 0)
                        || !text_is_utf8(bytes, lengths[i]);
        if (reading->bad || null)
            continue;
        texts[i].length = lengths[i];
        texts[i].bytes = arena_copy(&reading->edit->arena, bytes, lengths[i]);
        reading->no_memory |= texts[i].bytes == NULL;
        reading->bad |= texts[i].bytes == NULL;
    }
    column->values.values = texts;
}

/* Whether no value is NULL that must not be, or is one and not 0. */
static bool values_are_sound(const struct reading_edit *reading,
                             const struct edit_column *column)
{
    size_t width = type_bytes(column->values.type);
    static const char zeros[sizeof(struct vdbq_text)] = { 0 };

    for (uint32_t i = 0; i < column->count; i++) {
        uint8_t null = column->values.nulls[i];
        const char *value = (const char *)column->values.values + i * width;
        if (null > 1
            || (null == 1
                && (reading->table->columns[column->column].not_null
                    || column->column == reading->table->key
                    || memcmp(value, zeros, width) != 0)))
            return false;
    }
    return true;
}

/* Whether none of the places is gone. */
static bool places_are_left(const struct edit *edit,
                            const struct edit_column *column)
{
    bool gone = false;

    for (uint32_t i = 0; i < column->count && edit->gone_count > 0 && !gone;
         i++)
        edit_gone_before(edit, column->places[i], &gone);
    return !gone;
}

static void take_column(struct reading_edit *reading)
{
    struct edit *edit = reading->edit;
    struct edit_column *column = &edit->columns[edit->column_count];
    struct error ignored;
    enum vdbq_type type;

    column->column = take_32(reading);
    column->count = take_32(reading);
    reading->bad |=
        column->count == 0 || column->column >= reading->table->column_count
        || (edit->column_count > 0 && column->column <= column[-1].column);
    if (reading->bad)
        return;
    type = reading->table->columns[column->column].type;
    column->places = take_places(reading, column->count);
    column->values.nulls = copy(reading, column->count, 1);
    column->values.type = type;
    if (reading->bad)
        return;
    if (type == VDBQ_TEXT)
        take_texts(reading, column);
    else
        column->values.values = copy(reading, column->count, type_bytes(type));
    reading->bad =
        reading->bad || !values_are_sound(reading, column)
        || !places_are_left(edit, column)
        || values_check_column(reading->table, column->column, column->count,
                               &column->values, &ignored)
               != VDBQ_OK;
    edit->column_count++;
}

/* Takes a block apart that has its checksum. */
static void decode(struct reading_edit *reading)
{
    struct edit *edit = reading->edit;
    const void *magic = take(reading, MAGIC_BYTES);
    const void *base = take(reading, sizeof edit->base);
    uint32_t columns;

    edit->rows = take_32(reading);
    edit->gone_count = take_32(reading);
    columns = take_32(reading);
    reading->bad |= take_32(reading) != 0;
    if (reading->bad || memcmp(magic, EDIT_MAGIC, MAGIC_BYTES) != 0
        || edit->rows > TABLET_ROWS_MAX || edit->gone_count >= edit->rows
        || edit->rows - edit->gone_count != reading->tablet->rows
        || columns > reading->table->column_count) {
        reading->bad = true;
        return;
    }
    memcpy(&edit->base, base, sizeof edit->base);
    edit->gone = take_places(reading, edit->gone_count);
    edit->columns =
        arena_alloc(&edit->arena, (columns + 1) * sizeof *edit->columns);
    reading->no_memory |= edit->columns == NULL;
    reading->bad |= edit->columns == NULL;
    for (uint32_t i = 0; i < columns && !reading->bad; i++)
        take_column(reading);
    reading->bad |= reading->at != reading->end;
}

static enum vdbq_status load(const struct database *database,
                             const struct table *table,
                             struct tablet_ref *tablet, struct error *error)
{
    struct edit *edit = tablet->edit;
    struct block block = block_to_read(edit->size_bytes);
    struct reading_edit reading = {
        .table = table, .tablet = tablet, .edit = edit, .at = block.bytes
    };
    enum vdbq_status status;

    if (block.bytes == NULL)
        return error_no_memory(error);
    reading.end = reading.at + block.size;
    status = file_read(&database->file, block.bytes, block.size, edit->offset,
                       error);
    if (status == VDBQ_OK
        && block_checksum(block.bytes, block.size) != edit->checksum)
        status = error_set(error, VDBQ_CORRUPT,
                           "%s: table %s: the edit at byte %llu is damaged: "
                           "its checksum is wrong",
                           database->file.path, table->name,
                           (unsigned long long)edit->offset);
    if (status == VDBQ_OK)
        decode(&reading);
    block_destroy(&block);
    if (reading.no_memory)
        return error_no_memory(error);
    if (status == VDBQ_OK && reading.bad)
        status = error_set(error, VDBQ_CORRUPT,
                           "%s: table %s: the edit at byte %llu is damaged: "
                           "it does not fit its tablet",
                           database->file.path, table->name,
                           (unsigned long long)edit->offset);
    return status;
}

/* The table as the current catalogue has it; NULL: it has none. */
static const struct table *table_before(const struct database *database,
                                        const struct table *table)
{
    return database->current != NULL
               ? catalogue_table_id(database->current, table->id)
               : NULL;
}

/* The edit that the current catalogue has of the same tablet, in the same place;
 * NULL: none. */
static struct edit *find_loaded(const struct database *database,
                                const struct table *table,
                                const struct tablet_ref *tablet, size_t near)
{
    const struct table *before = table_before(database, table);
    const struct tablet_ref *found = NULL;

    if (before == NULL || before->column_count != table->column_count)
        return NULL;
    for (size_t i = 0; i < before->tablet_count && found == NULL; i++) {
        const struct tablet_ref *other =
            &before->tablets[(near + i) % before->tablet_count];
        if (identity_equal(other->identity, tablet->identity))
            found = other;
    }
    return found != NULL && found->edit != NULL
                   && found->edit->status == VDBQ_OK
                   && found->edit->offset == tablet->edit->offset
                   && found->edit->checksum == tablet->edit->checksum
               ? found->edit
               : NULL;
}

/* The edit that the current catalogue has of the same base; NULL: none. */
static struct edit *find_before(const struct database *database,
                                const struct table *table,
                                const struct edit *edit, size_t near)
{
    const struct table *before = table_before(database, table);
    struct edit *found = NULL;

    for (size_t i = 0;
         before != NULL && i < before->tablet_count && found == NULL; i++) {
        struct edit *other =
            before->tablets[(near + i) % before->tablet_count].edit;
        if (other != NULL && other->status == VDBQ_OK
            && identity_equal(other->base, edit->base))
            found = other;
    }
    return found;
}

/* Reads an edit. One that cannot be read keeps that for who reads its tablet. */
static enum vdbq_status load_or_fail(const struct database *database,
                                     const struct table *table,
                                     struct tablet_ref *tablet, size_t near,
                                     struct error *error)
{
    struct error why;
    enum vdbq_status status = load(database, table, tablet, &why);
    struct edit *before;

    tablet->edit->name = tablet->identity;
    if (status == VDBQ_OK) {
        before = find_before(database, table, tablet->edit, near);
        return before == NULL || edit_follow(tablet->edit, before)
                   ? VDBQ_OK
                   : error_no_memory(error);
    }
    if (status != VDBQ_CORRUPT && status != VDBQ_IO) {
        *error = why;
        return status;
    }
    return edit_fail(tablet->edit, tablet->identity, tablet->rows, &why)
               ? VDBQ_OK
               : error_no_memory(error);
}

/* Adds the identities of a table's tablets, and of the bases of edits. */
static bool add_identities(const struct table *table, struct vector *all,
                           bool *any)
{
    bool added = true;

    for (size_t i = 0; i < table->tablet_count && added; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        added = vector_append(all, &tablet->identity, 1)
                && (tablet->edit == NULL || tablet->edit->status != VDBQ_OK
                    || vector_append(all, &tablet->edit->base, 1));
        *any |= tablet->edit != NULL;
    }
    return added;
}

/* A base that had the identity of a tablet would be taken for it. */
static enum vdbq_status check_identities(const struct database *database,
                                         const struct catalogue *catalogue,
                                         struct error *error)
{
    struct vector all = VECTOR(struct identity);
    enum vdbq_status status = VDBQ_OK;
    bool any = false;

    for (size_t i = 0; i < catalogue->table_count && status == VDBQ_OK; i++)
        if (!add_identities(&catalogue->tables[i], &all, &any))
            status = error_no_memory(error);
    if (status == VDBQ_OK && any && identities_twice(all.items, all.count))
        status = error_set(error, VDBQ_CORRUPT,
                           "%s: the catalogue is damaged: two tablets of one "
                           "identity",
                           database->file.path);
    vector_finish(&all);
    return status;
}

enum vdbq_status edits_load(const struct database *database,
                            struct catalogue *catalogue, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < catalogue->table_count; i++) {
        struct table *table = &catalogue->tables[i];
        for (size_t k = 0; k < table->tablet_count && status == VDBQ_OK; k++) {
            struct tablet_ref *tablet = &table->tablets[k];
            struct edit *loaded;
            if (tablet->edit == NULL)
                continue;
            loaded = find_loaded(database, table, tablet, k);
            if (loaded == NULL) {
                status = load_or_fail(database, table, tablet, k, error);
                continue;
            }
            edit_release(tablet->edit);
            tablet->edit = edit_hold(loaded);
        }
    }
    return status == VDBQ_OK ? check_identities(database, catalogue, error)
                             : status;
}
