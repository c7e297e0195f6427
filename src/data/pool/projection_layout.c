/* SPDX-License-Identifier: MIT */
/*
 * Where the columns of a projection are: in the tablet, by its head, and in the
 * projection.
 */
#include <assert.h>
#include <string.h>

#include "data/database/database_inner.h"
#include "data/pool/projection_inner.h"
#include "data/database/edited.h"
#include "data/tablet/page_sums.h"

bool projection_codes_known(const struct projection *projection)
{
    bool proven = projection_proven(projection), known = true;

    for (unsigned i = 0; i < projection->table->column_count; i++)
        known &= !projection->wanted[i] || !projection_has_words(projection, i)
                 || (proven && projection->proof->column[i].checked)
                 || projection_parts_words(projection, i);
    return known;
}

/* What is wrong with a part is told as damage of the whole tablet, where its
 * checksum is wrong, too. */
static enum vdbq_status tell_damage(const struct projection *projection,
                                    struct error *error)
{
    const struct error of_part = *error;
    enum vdbq_status status = tablet_check_bytes(
        projection->database, projection->table, projection->tablet, error);

    if (status == VDBQ_OK)
        *error = of_part;
    return error->status;
}

enum vdbq_status projection_place_words(const struct projection *projection,
                                        struct error *error)
{
    const struct tablet *head = projection->head;
    uint64_t at = head->variable;

    for (unsigned i = 0; i < projection->table->column_count; i++) {
        uint64_t offset = tablet_words_offset(head, i);
        struct packed_words start;
        enum vdbq_status status = VDBQ_OK;
        if (!projection_has_words(projection, i))
            continue;
        if (offset > 0)
            status =
                file_read(&projection->database->file, &start, sizeof start,
                          projection->tablet->offset + offset, error);
        if (status != VDBQ_OK)
            return status;
        if (offset == 0
            || !tablet_words_place(head, i, &start, &at, &projection->words[i]))
            return error_set(
                error, VDBQ_CORRUPT,
                "table %s, column %s: the words of a tablet do not "
                "lie inside, in order",
                projection->table->name, projection->table->columns[i].name);
    }
    return VDBQ_OK;
}

enum vdbq_status projection_read_head(const struct projection *projection,
                                      struct error *error)
{
    const struct tablet_ref *tablet = projection->tablet;
    enum vdbq_status status;

    if (tablet->size_bytes < projection_head_size(projection))
        return error_set(error, VDBQ_CORRUPT,
                         "%s: table %s: the tablet at "
                         "byte %llu is too small",
                         database_path(projection->database),
                         projection->table->name,
                         (unsigned long long)tablet->offset);
    status = file_read(&projection->database->file, projection->head,
                       projection_head_size(projection), tablet->offset, error);
    if (status != VDBQ_OK)
        return status;
    status =
        tablet_check_head(projection->table, projection->head,
                          page_sums_follow(projection->head, tablet->size_bytes)
                              ? projection->head->size
                              : tablet->size_bytes,
                          tablet->rows, error);
    return status == VDBQ_CORRUPT ? tell_damage(projection, error) : status;
}

/* Makes room for the words that are apart. */
static enum vdbq_status make_rooms(const struct projection *projection,
                                   struct error *error)
{
    for (unsigned i = 0; i < projection->table->column_count; i++) {
        if (!projection_parts_words(projection, i))
            continue;
        assert(projection->dictionaries[i] == NULL);
        projection->dictionaries[i] =
            dictionary_expected(projection->words[i].sizes.memory);
        if (projection->dictionaries[i] == NULL)
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

enum vdbq_status projection_find_words(const struct projection *projection,
                                       struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (projection_wants_words(projection)
        || (projection->counted && projection_wants_texts(projection)))
        status = projection_place_words(projection, error);
    return status == VDBQ_OK ? make_rooms(projection, error) : status;
}

enum vdbq_status projection_bound(const struct projection *base,
                                  const struct edit *edit,
                                  struct projection_bound *bound,
                                  struct error *error)
{
    enum vdbq_status status = projection_read_head(base, error);
    uint64_t words = 0, work = 0;

    if (status == VDBQ_OK)
        status = projection_find_words(base, error);
    if (status != VDBQ_OK)
        return status;
    bound->choice = base->database->file.settings->encoding;
    bound->most = projection_head_size(base);
    for (unsigned i = 0; i < base->table->column_count; i++) {
        struct edited_room room;
        if (!base->wanted[i])
            continue;
        room = tablet_edited_room(
            &(struct edited_column){ .edit = edit,
                                     .stored = tablet_column(base->head, i),
                                     .column = i,
                                     .words = base->words[i].sizes.memory,
                                     .choice = bound->choice });
        bound->most += room.column + room.words;
        words += room.words;
        work = room.work > work ? room.work : work;
    }
    bound->work = projection_lay_out(base) + words + work;
    return VDBQ_OK;
}

bool projection_may_stay(const struct projection *projection)
{
    const struct file *file = &projection->database->file;

    return file_maps(file) && !projection->copied
           && !projection_wants_texts(projection)
           && !file_block_waits(file, projection->tablet->offset);
}

/* Bytes of the pages that an area lies in. */
static uint64_t pages_of(const struct tablet_area *area)
{
    uint64_t first = area->offset / PAGE_BYTES * PAGE_BYTES;

    return page_round(area->offset + area->size) - first;
}

/* Where an area of a wanted column is in the projection, whose areas so far end
 * `*at` bytes behind its start. */
static uint64_t place_area(const struct projection *projection,
                           const struct tablet_area *area, uint64_t *at)
{
    uint64_t place = projection->in_place ? area->offset : *at;

    *at += projection->in_place ? pages_of(area) : area->size;
    return place;
}

/* Says where the words of the wanted columns will be, from `at` on; returns
 * where they end. */
static uint64_t lay_out_words(const struct projection *projection, uint64_t at)
{
    struct tablet *here = projection->here;
    struct tablet_column *columns = (struct tablet_column *)(here + 1);

    here->variable =
        !projection->codes && projection_wants_texts(projection) ? at : 0;
    here->variable_size = 0;
    for (unsigned i = 0; i < projection->table->column_count; i++) {
        columns[i].words = columns[i].words_packed = 0;
        if (!projection_puts_words(projection, i))
            continue;
        columns[i].words = (uint32_t)(here->variable_size / TABLET_ALIGN);
        here->variable_size += projection->words[i].sizes.memory;
    }
    here->format = tablet_format(columns, here->columns);
    return at + here->variable_size;
}

uint64_t projection_lay_out(const struct projection *projection)
{
    uint64_t at = projection_head_size(projection);
    struct tablet_column *columns;

    memcpy(projection->here, projection->head, at);
    columns = (struct tablet_column *)(projection->here + 1);
    for (unsigned i = 0; i < projection->table->column_count; i++) {
        struct tablet_area areas[TABLET_AREAS_MAX];
        unsigned count =
            tablet_areas(&columns[i], projection->tablet->rows, areas);
        for (unsigned k = 0; k < count; k++) {
            uint64_t to = 0;
            if (projection->wanted[i])
                to = place_area(projection, &areas[k], &at);
            if (areas[k].offset == columns[i].nulls)
                columns[i].nulls = to;
            else
                columns[i].values = to;
        }
    }
    at = lay_out_words(projection, at);
    if (!projection->in_place)
        projection->here->size = at;
    return at;
}

enum vdbq_status projection_map(const struct projection *projection,
                                const void **block, struct error *error)
{
    return file_map(&projection->database->file, projection->tablet->offset,
                    projection->tablet->size_bytes, block, error);
}

void projection_unmap(struct database *database, const void *block,
                      uint64_t tablet_bytes)
{
    file_unmap(&database->file, block, tablet_bytes);
}
