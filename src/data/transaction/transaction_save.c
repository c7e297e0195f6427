/* SPDX-License-Identifier: MIT */
/*
 * States of a transaction that can be gone back to: the one before the
 * statement that runs, and savepoints. A state is a catalogue, which is held;
 * the tablets that it names stay in the file as long as it is. Tablets that no
 * state has any more leave their space to others (file rule 6).
 *
 * What is always true: a tablet is given back once. Each step compares a state
 * that goes with all that stay, and marks the draft before it, so that the
 * marked state names nothing that the draft does not.
 */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "data/rule/unique.h"
#include "data/transaction/transaction_inner.h"

/* Adds where the tablets are that this transaction has written. */
static bool add_own(const struct transaction *transaction,
                    const struct catalogue *catalogue, struct vector *extents)
{
    for (size_t i = 0; i < catalogue->table_count; i++) {
        const struct table *table = &catalogue->tables[i];
        for (size_t k = 0; k < table->tablet_count; k++)
            if (identity_is_of(tablet_written(&table->tablets[k]),
                               &transaction->writer.identities)
                && !extents_add(extents, table->tablets[k].offset,
                                table->tablets[k].size_bytes))
                return false;
    }
    return true;
}

/* The same of all states that stay: the draft and the savepoints. */
static bool add_kept(const struct transaction *transaction,
                     struct vector *extents)
{
    const struct savepoint *savepoints = transaction->savepoints.items;
    bool added = add_own(transaction, transaction->draft, extents);

    for (size_t i = 0; i < transaction->savepoints.count && added; i++)
        added = add_own(transaction, savepoints[i].state, extents);
    return added;
}

/* Gives back what of `old` is not in `now`; both are sorted. */
static void give_apart(struct writer *writer, const struct vector *old,
                       const struct vector *now)
{
    const struct extent *gone = old->items, *kept = now->items;
    size_t k = 0;

    for (size_t i = 0; i < old->count; i++) {
        while (k < now->count && kept[k].offset < gone[i].offset)
            k++;
        if (k < now->count && kept[k].offset == gone[i].offset)
            continue;
        file_forget_block(&writer->database->file, gone[i].offset,
                          gone[i].size);
        if (!space_give(&writer->space, gone[i].offset, gone[i].size))
            return;
    }
}

/* File rule 6: lets the space be used again of tablets that this transaction
 * has written, that `old` has, and that neither a state that stays nor a
 * snapshot has any more. Without memory, and where a snapshot is open, it is
 * not used again before the commit. */
static void give_back(struct transaction *transaction,
                      const struct catalogue *old)
{
    struct vector before = VECTOR(struct extent);
    struct vector now = VECTOR(struct extent);

    if (old == transaction->draft || transaction_is_read(transaction))
        return;
    if (add_own(transaction, old, &before) && before.count > 0
        && add_kept(transaction, &now)) {
        extents_sort(&before);
        extents_sort(&now);
        give_apart(&transaction->writer, &before, &now);
    }
    vector_finish(&before);
    vector_finish(&now);
}

static void mark(struct transaction *transaction)
{
    if (transaction->marked != NULL)
        give_back(transaction, transaction->marked);
    catalogue_release(transaction->marked);
    transaction->marked = catalogue_hold(transaction->draft);
}

enum vdbq_status transaction_mark(struct transaction *transaction,
                                  struct error *error)
{
    enum vdbq_status status = transaction_settle(transaction, error);

    if (status == VDBQ_OK)
        mark(transaction);
    return status;
}

/* Forgets the rows that are not in the draft, unless they wait apart, and why they
 * are not. */
static void forget_failure(struct transaction *transaction)
{
    if (!transaction->apart) {
        transaction_forget_rows(transaction);
        unique_sets_settle(transaction->writer.database, NULL);
    }
    transaction->failed = VDBQ_OK;
}

void transaction_undo(struct transaction *transaction)
{
    assert(transaction->marked != NULL);
    forget_failure(transaction);
    transaction_take(transaction, catalogue_hold(transaction->marked));
}

/* --------------------------------------------------------- savepoints -- */

static void savepoint_finish(struct savepoint *savepoint)
{
    memory_release(savepoint->name);
    catalogue_release(savepoint->state);
}

void savepoints_finish(struct vector *savepoints)
{
    struct savepoint *items = savepoints->items;

    for (size_t i = 0; i < savepoints->count; i++)
        savepoint_finish(&items[i]);
    vector_finish(savepoints);
}

enum vdbq_status transaction_save(struct transaction *transaction,
                                  const char *name, struct error *error)
{
    enum vdbq_status status = transaction_mark(transaction, error);
    struct savepoint savepoint = { 0 };

    if (status != VDBQ_OK)
        return status;
    savepoint.name = memory_resize(NULL, strlen(name) + 1);
    if (savepoint.name == NULL)
        return error_no_memory(error);
    strcpy(savepoint.name, name);
    savepoint.state = catalogue_hold(transaction->draft);
    if (vector_append(&transaction->savepoints, &savepoint, 1))
        return VDBQ_OK;
    savepoint_finish(&savepoint);
    return error_no_memory(error);
}

enum vdbq_status transaction_save_as(struct transaction *transaction,
                                     const struct transaction *other,
                                     struct error *error)
{
    const struct savepoint *savepoints = other->savepoints.items;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < other->savepoints.count && status == VDBQ_OK; i++)
        status = transaction_save(transaction, savepoints[i].name, error);
    return status;
}

long transaction_savepoint(const struct transaction *transaction,
                           const char *name)
{
    const struct savepoint *savepoints = transaction->savepoints.items;

    for (size_t i = transaction->savepoints.count; i > 0; i--)
        if (name_equal(savepoints[i - 1].name, name))
            return (long)i - 1;
    return -1;
}

/* Forgets all savepoints but the first `count`. */
static void drop_to(struct transaction *transaction, size_t count)
{
    struct vector *savepoints = &transaction->savepoints;
    struct savepoint *items = savepoints->items;

    while (savepoints->count > count) {
        struct savepoint *last = &items[--savepoints->count];
        give_back(transaction, last->state);
        savepoint_finish(last);
    }
}

enum vdbq_status transaction_release(struct transaction *transaction,
                                     size_t savepoint, struct error *error)
{
    enum vdbq_status status = transaction_mark(transaction, error);

    assert(savepoint < transaction->savepoints.count);
    if (status == VDBQ_OK)
        drop_to(transaction, savepoint);
    return status;
}

enum vdbq_status transaction_return(struct transaction *transaction,
                                    size_t savepoint, struct error *error)
{
    const struct savepoint *savepoints = transaction->savepoints.items;
    enum vdbq_status status;

    assert(savepoint < transaction->savepoints.count);
    if (transaction->failed != VDBQ_OK || transaction->waiting)
        forget_failure(transaction); /* which came after all savepoints */
    status = transaction_mark(transaction, error);
    if (status != VDBQ_OK)
        return status;
    drop_to(transaction, savepoint + 1);
    transaction_take(transaction, catalogue_hold(savepoints[savepoint].state));
    unique_sets_settle(transaction->writer.database, NULL);
    mark(transaction);
    return VDBQ_OK;
}
