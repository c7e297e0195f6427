/* SPDX-License-Identifier: MIT */
/*
 * Tablets of the file, read and proven as wholes; and what is said where one is
 * not what the catalogue says of it.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/database/database_inner.h"
#include "data/database/edited.h"
#include "data/database/tablet_pages.h"
#include "data/tablet/page_sums.h"
#include "data/tablet/tablet_inner.h"
#include "data/tablet/tablet_pack.h"

enum vdbq_status tablet_check_block(const struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    const struct block *block, uint64_t *size,
                                    struct error *error)
{
    const struct tablet *head = block->bytes;
    enum vdbq_status status = tablet_check_sum(
        database, table, tablet, page_sums_checksum(block), error);
    bool follow =
        block->size >= sizeof *head && page_sums_follow(head, block->size);

    *size = follow ? head->size : block->size;
    if (status != VDBQ_OK || !follow)
        return status;
    return tablet_pages_compare(
        &(struct tablet_pages){
            database, table, tablet, head->size,
            (const uint64_t *)(const void *)((const char *)head + head->size) },
        head, error);
}

/* Reads the bytes of a tablet, whose checksum is right, without the sums of its
 * pages. */
static enum vdbq_status read_bytes(const struct database *database,
                                   const struct table *table,
                                   const struct tablet_ref *tablet,
                                   struct block *block, struct error *error)
{
    *block = block_to_read(tablet->size_bytes);
    if (block->bytes == NULL)
        return error_no_memory(error);
    enum vdbq_status status = file_read(&database->file, block->bytes,
                                        block->size, tablet->offset, error);
    uint64_t size = block->size;
    if (status == VDBQ_OK)
        status =
            tablet_check_block(database, table, tablet, block, &size, error);
    block->size = (size_t)size;
    return status;
}

enum vdbq_status tablet_words_told(const struct database *database,
                                   const struct table *table,
                                   const struct tablet_ref *tablet,
                                   unsigned column, uint64_t *bytes,
                                   struct error *error)
{
    size_t size = (size_t)tablet_head_size(table->column_count);
    struct tablet *head = memory_zeroed(1, size);
    enum vdbq_status status = VDBQ_OK;
    struct packed_words start;
    struct words_sizes sizes;
    uint64_t at = 0;

    *bytes = UINT64_MAX;
    if (head == NULL)
        return error_no_memory(error);
    if (tablet->size_bytes >= size)
        status = file_read(&database->file, head, size, tablet->offset, error);
    if (status == VDBQ_OK && head->columns == table->column_count)
        at = tablet_words_offset(head, column);
    if (at >= size && at < tablet->size_bytes
        && tablet->size_bytes - at >= sizeof start) {
        status = file_read(&database->file, &start, sizeof start,
                           tablet->offset + at, error);
        if (status == VDBQ_OK
            && words_sizes(
                &start, tablet_column(head, column)->words_packed != 0, &sizes))
            *bytes = sizes.memory;
    }
    memory_release(head);
    return status;
}

/* Unpacks a tablet of a file that has packed words, which goes to `packed`. */
static enum vdbq_status unpack(const struct table *table,
                               const struct tablet_ref *tablet,
                               struct block *block, struct block *packed,
                               struct error *error)
{
    const struct tablet *head = block->bytes;
    if (block->size < tablet_head_size(table->column_count)
        || head->columns != table->column_count || !tablet_is_packed(head))
        return VDBQ_OK; /* what else is wrong is told by the check */
    enum vdbq_status status =
        tablet_check_head(table, head, block->size, tablet->rows, error);
    return status == VDBQ_OK ? tablet_unpack(block, packed, error) : status;
}

/* The most bytes of the tablet that is made. */
static uint64_t edited_most(const struct tablet_editing *editing)
{
    const struct table *table = editing->table;
    uint64_t most = tablet_head_size(table->column_count);

    for (unsigned i = 0; i < table->column_count; i++) {
        const struct tablet_words *words = tablet_words(editing->base, i);
        struct edited_column what = { .edit = editing->edit,
                                      .stored = tablet_column(editing->base, i),
                                      .column = i,
                                      .choice = editing->choice };
        struct edited_room room;
        if (table->columns[i].type == VDBQ_TEXT)
            what.words = TABLET_WORDS_SIZE(words->count, words->bytes);
        room = tablet_edited_room(&what);
        most += room.column + room.words;
    }
    return most;
}

struct block tablet_block_edited(const struct tablet_editing *editing)
{
    uint64_t most = edited_most(editing);
    struct block block = block_create(most + page_sums_bytes(most));

    if (block.bytes == NULL)
        return block;
    block.size = tablet_edited(editing, block.bytes);
    assert(block.size <= most);
    if (block.size == 0)
        block_destroy(&block);
    else
        memset((char *)block.bytes + block.size, 0,
               page_round(block.size) - block.size);
    return block;
}

/* Reads a tablet that has an edit: its base, and that over it. */
static enum vdbq_status load_edited(struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    struct block *block, struct error *error)
{
    const struct tablet_ref base = tablet_base(tablet);
    struct block before = { 0 };
    enum vdbq_status status = edit_check(tablet->edit, error);

    *block = (struct block){ 0 };
    if (status == VDBQ_OK)
        status = tablet_load(database, table, &base, &before, error);
    if (status == VDBQ_OK)
        *block = tablet_block_edited(&(struct tablet_editing){
            .table = table,
            .edit = tablet->edit,
            .base = before.bytes,
            .choice = database->file.settings->encoding });
    if (status == VDBQ_OK && block->bytes == NULL)
        status = stop_or_no_memory(error);
    block_destroy(&before);
    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++)
        status =
            tablet_check_facts(database, table, tablet, block->bytes, i, error);
    return status;
}

enum vdbq_status tablet_load_stored(const struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    struct block *block, struct block *packed,
                                    struct error *error)
{
    assert(tablet->edit == NULL);
    enum vdbq_status status = read_bytes(database, table, tablet, block, error);

    if (status == VDBQ_OK)
        status = unpack(table, tablet, block, packed, error);
    if (status == VDBQ_OK)
        status =
            tablet_check(table, block->bytes, block->size, tablet->rows, error);
    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++)
        status =
            tablet_check_facts(database, table, tablet, block->bytes, i, error);
    return status;
}

enum vdbq_status tablet_load(struct database *database,
                             const struct table *table,
                             const struct tablet_ref *tablet,
                             struct block *block, struct error *error)
{
    return tablet->edit != NULL
               ? load_edited(database, table, tablet, block, error)
               : tablet_load_stored(database, table, tablet, block, NULL,
                                    error);
}

enum vdbq_status tablet_check_bytes(const struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    struct error *error)
{
    struct block block;
    enum vdbq_status status =
        read_bytes(database, table, tablet, &block, error);

    block_destroy(&block);
    return status;
}

enum vdbq_status tablet_check_facts(const struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    const void *head, unsigned column,
                                    struct error *error)
{
    assert(column < table->column_count);
    enum vdbq_type type = table->columns[column].type;
    struct column_facts facts;

    if (tablet->facts == NULL) /* what it is over is compared */
        return VDBQ_OK;
    tablet_facts(head, column, &facts);
    if (tablet->edit != NULL
            ? facts_within(type, &facts, &tablet->facts[column])
            : facts_equal(type, &facts, &tablet->facts[column]))
        return VDBQ_OK;
    return error_set(error, VDBQ_CORRUPT,
                     "%s: table %s, column %s: the catalogue and the tablet "
                     "at byte %llu disagree about the values",
                     database->file.path, table->name,
                     table->columns[column].name,
                     (unsigned long long)tablet->offset);
}
