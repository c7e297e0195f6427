/* SPDX-License-Identifier: MIT */
/*
 * Where a transaction may write, and how the file becomes shorter. The rules
 * cited are those of file.c.
 */
#include <assert.h>

#include "data/database/states.h"
#include "data/tablet/block.h"
#include "data/transaction/transaction_inner.h"

enum {
    CUT_LEAST = 1 << 20, /* bytes that it pays to give back to the system */
    CUT_SHARE = 8        /* ... and one in so many of the file            */
};

/* Adds what snapshots of this connection read that no head led to. */
static bool add_drafts(const struct database *database, struct vector *extents)
{
    const struct reading *open = database->snapshots.items;
    bool added = true;

    for (size_t i = 0; i < database->snapshots.count && added; i++)
        if (open[i].head.catalogue_size == 0)
            added = extents_add_catalogue(extents, open[i].catalogue);
    return added;
}

/* Adds all that must stay as it is. */
static bool add_all(const struct database *database, struct vector *extents)
{
    const struct file *file = &database->file;
    const struct file_head *head = &file->heads[file->current];

    return extents_add(extents, head->catalogue, database->current_bytes)
           && extents_add(extents, head->copies,
                          head->copies != 0 ? FILE_FIRST : 0)
           && extents_add_catalogue(extents, database->current)
           && states_add_extents(database, extents)
           && add_drafts(database, extents) && file_reserve(file, extents);
}

/* Behind all that there is: where nothing is known of free space, and else at the
 * least. */
static uint64_t find_tail(const struct transaction *transaction)
{
    const struct file *file = &transaction->writer.database->file;
    const uint64_t size = page_round(transaction->size_before);
    const uint64_t reserved = file_reserved_end(file);
    return size > reserved ? size : reserved;
}

enum vdbq_status transaction_find_space(struct transaction *transaction,
                                        struct error *error)
{
    struct database *database = transaction->writer.database;
    struct space *space = &transaction->writer.space;
    struct vector extents = VECTOR(struct extent);
    enum vdbq_status status =
        file_size(&database->file, &transaction->size_before, error);

    *space = space_init(find_tail(transaction));
    transaction->all_known =
        database->file.undisturbed || file_alone(&database->file);
    if (status == VDBQ_OK)
        status = states_find(database, &transaction->all_known, error);
    if (status != VDBQ_OK)
        return status;
    transaction->all_known &= !database->file.uses_older;
    if (!transaction->all_known)
        return VDBQ_OK;
    if (!add_all(database, &extents)
        || !space_fill(space, &extents, FILE_FIRST))
        status = error_no_memory(error);
    vector_finish(&extents);
    return status;
}

/* -------------------------------------------------------------- cutting -- */

/* Where the file may end after a commit, as far as it is known who reads. A
 * head's end is behind all that it leads to. */
static uint64_t find_end(const struct database *database)
{
    const struct file *file = &database->file;
    const struct older_state *older = database->older.items;
    uint64_t end = file->heads[file->current].end;

    for (size_t i = 0; i < database->older.count; i++)
        if (older[i].head.end > end)
            end = older[i].head.end;
    return end;
}

/* Whether snapshots of this connection read what no head led to. */
static bool reads_drafts(const struct database *database)
{
    const struct reading *open = database->snapshots.items;

    for (size_t i = 0; i < database->snapshots.count; i++)
        if (open[i].head.catalogue_size == 0)
            return true;
    return false;
}

/* Whether the end of the file is worth a cut. What the transaction has written
 * is likely to be written again: an UPDATE of all rows goes to and fro. */
static bool pays(uint64_t size, uint64_t end, uint64_t written)
{
    uint64_t free = size > end ? size - end : 0;

    return free >= CUT_LEAST && free >= size / CUT_SHARE && free > 2 * written;
}

/* Cuts the file where nothing follows that anybody reads. */
static void cut(struct database *database, uint64_t end)
{
    struct file *file = &database->file;
    struct error ignored = { 0 };

    if (file->heads[1 - file->current].end <= end
        || file_double_head(file, &ignored) == VDBQ_OK)
        file_cut(file, end);
}

/* Where the file may be cut now; UINT64_MAX: there is no telling. Readers may
 * have come since the transaction began. */
static uint64_t find_cut(struct database *database)
{
    struct error ignored = { 0 };
    bool all = file_alone(&database->file);

    if (reads_drafts(database)
        || states_find(database, &all, &ignored) != VDBQ_OK || !all)
        return UINT64_MAX;
    return find_end(database);
}

bool transaction_may_cut(const struct transaction *transaction,
                         const struct file_head *head)
{
    struct error ignored = { 0 };
    uint64_t size;

    return transaction->all_known
           && file_size(&transaction->writer.database->file, &size, &ignored)
                  == VDBQ_OK
           && pays(size, head->end, transaction->writer.space.taken);
}

void transaction_cut(const struct transaction *transaction)
{
    struct database *database = transaction->writer.database;
    struct error ignored = { 0 };
    uint64_t end = find_cut(database), size;

    if (file_size(&database->file, &size, &ignored) == VDBQ_OK
        && pays(size, end, transaction->writer.space.taken))
        cut(database, end);
}

void transaction_cut_all(struct transaction *transaction)
{
    struct database *database = transaction->writer.database;
    uint64_t end = find_cut(database);

    if (end < page_round(transaction->size_before))
        cut(database, end);
}
