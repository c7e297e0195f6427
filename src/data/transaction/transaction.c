/* SPDX-License-Identifier: MIT */
/*
 * Transactions: one connection at a time makes the next state of the
 * database, in one step or in several that can be undone one by one.
 * Everything that can fail is done before the head is written. The rules
 * cited are those of file.c.
 */
#include <assert.h>
#include <string.h>

#include "data/transaction/transaction_inner.h"
#include "base/threads/stop.h"
#include "data/database/edits.h"
#include "data/database/run_list.h"
#include "data/database/samples.h"
#include "data/database/states.h"
#include "data/rule/unique.h"
#include "data/tablet/tablet_pack.h"

static enum vdbq_status begin(struct transaction *transaction,
                              struct error *error);
static void end(struct transaction *transaction);
static enum vdbq_status write_catalogue(struct transaction *transaction,
                                        const struct catalogue *next,
                                        struct error *error);

enum vdbq_status transaction_begin(struct database *database,
                                   struct transaction **transaction,
                                   struct error *error)
{
    struct file *file = &database->file;
    struct transaction *begun;
    enum vdbq_status status;

    *transaction = NULL;
    if (file_check_open(file, error) != VDBQ_OK)
        return error->status;
    if (file->poisoned) {
        error_set(error, VDBQ_IO,
                  "%s: an earlier write was not confirmed by "
                  "the disk",
                  file->path);
        return error_hint(error, "close the database and open it again");
    }
    if (database->transaction != NULL)
        return error_set(error, VDBQ_BUSY,
                         "%s: this connection is writing to it already",
                         file->path);
    begun = memory_zeroed(1, sizeof *begun);
    if (begun == NULL)
        return error_no_memory(error);
    file->unfounded = false;
    status = file_lock_writer(file, error);
    if (status != VDBQ_OK) {
        memory_release(begun);
        return status;
    }
    begun->writer.database = database;
    database->transaction = begun;
    status = begin(begun, error);
    if (status != VDBQ_OK)
        end(begun);
    else
        *transaction = begun;
    return status;
}

/* As the writer, but nothing else yet. */
static enum vdbq_status begin(struct transaction *transaction,
                              struct error *error)
{
    struct database *database = transaction->writer.database;
    enum vdbq_status status;

    transaction->new_rows = VECTOR(struct new_rows);
    transaction->savepoints = VECTOR(struct savepoint);
    status = database_refresh(database, error);
    if (status == VDBQ_OK)
        status = file_check_writable(&database->file, error);
    if (status != VDBQ_OK)
        return status;
    transaction->draft = catalogue_hold(database->current);
    transaction->generation = file_next_generation(&database->file);
    status = file_draw_identities(&database->file,
                                  &transaction->writer.identities, error);
    if (status != VDBQ_OK)
        return status;
    return transaction_find_space(transaction, error);
}

void transaction_forget_rows(struct transaction *transaction)
{
    struct new_rows *new_rows = transaction->new_rows.items;

    for (size_t i = 0; i < transaction->new_rows.count; i++)
        new_rows_finish(&new_rows[i]);
    transaction->new_rows.count = 0;
    transaction->waiting = false;
}

/* Blocks that nobody reads are not written; those that snapshots read are, as long
 * as this is the writer: who comes next is to find them in the file. */
static void end_blocks(struct transaction *transaction)
{
    struct file *file = &transaction->writer.database->file;
    struct error ignored = { 0 };

    if (transaction->generation > 0 && !transaction->passed_on
        && transaction_is_read(transaction))
        file_write_waiting(file, &ignored);
    file_forget_blocks(file);
}

/* Lets the writer's place go and frees the transaction. */
static void end(struct transaction *transaction)
{
    struct database *database = transaction->writer.database;

    end_blocks(transaction);
    transaction_forget_rows(transaction);
    unique_sets_settle(database, NULL);
    vector_finish(&transaction->new_rows);
    space_finish(&transaction->writer.space);
    catalogue_release(transaction->marked);
    catalogue_release(transaction->draft);
    savepoints_finish(&transaction->savepoints);
    database->transaction = NULL;
    database_unlock_reader(database);
    if (!transaction->passed_on)
        file_unlock_writer(&database->file);
    memory_release(transaction);
}

const struct catalogue *
transaction_catalogue(const struct transaction *transaction)
{
    return transaction->draft;
}

bool transaction_is_read(const struct transaction *transaction)
{
    const struct database *database = transaction->writer.database;
    const struct reading *open = database->snapshots.items;

    for (size_t i = 0; i < database->snapshots.count; i++)
        if (open[i].catalogue->origin == transaction->writer.identities.origin)
            return true;
    return false;
}

void transaction_abort(struct transaction *transaction)
{
    if (transaction == NULL)
        return;
    if (transaction->prepared)
        file_unlock_unconfirmed(&transaction->writer.database->file);
    if (transaction->generation > 0 && !transaction->passed_on
        && !transaction_is_read(transaction))
        file_cut(&transaction->writer.database->file, transaction->size_before);
    end(transaction);
}

enum vdbq_status transaction_note(struct transaction *transaction,
                                  enum vdbq_status status)
{
    if (status != VDBQ_OK)
        transaction->failed = status;
    return status;
}

enum vdbq_status transaction_check(const struct transaction *transaction,
                                   struct error *error)
{
    if (transaction->failed == VDBQ_OK)
        return VDBQ_OK;
    return error_set(error, transaction->failed,
                     "an earlier step of this transaction failed");
}

struct catalogue *transaction_next(const struct transaction *transaction,
                                   size_t room)
{
    struct catalogue *next = catalogue_copy(transaction->draft, room);

    if (next != NULL)
        next->generation = transaction->generation;
    if (next != NULL)
        next->origin = transaction->writer.identities.origin;
    return next;
}

void transaction_take(struct transaction *transaction, struct catalogue *next)
{
    struct new_rows *new_rows = transaction->new_rows.items;

    for (size_t i = 0; i < transaction->new_rows.count; i++)
        new_rows_wait(&new_rows[i]);
    catalogue_release(transaction->draft);
    transaction->draft = next;
}

/* --------------------------------------------------- states in between -- */

/* Writes the new rows. */
static enum vdbq_status flush_all(struct transaction *transaction, bool *any,
                                  struct error *error)
{
    struct new_rows *new_rows = transaction->new_rows.items;
    enum vdbq_status status = VDBQ_OK;

    *any = false;
    for (size_t i = 0; i < transaction->new_rows.count; i++) {
        const struct table *table =
            catalogue_table_id(transaction->draft, new_rows[i].table_id);
        *any |= new_rows_any(&new_rows[i]);
        status =
            new_rows_flush(&new_rows[i], &transaction->writer, table, error);
        if (status != VDBQ_OK)
            return status;
    }
    return VDBQ_OK;
}

/* Adds the tablets of new rows to their table; its sample is copied, so that
 * it keeps no texts of rows that others have driven out. False: no memory. */
static bool take_rows(struct catalogue *next, const struct new_rows *new_rows)
{
    const struct sampler *sampler = &new_rows->sampler;
    struct sample *sample;

    if (!catalogue_extend(next, new_rows->table_id, new_rows->kept,
                          new_rows->written.items, new_rows->written.count))
        return false;
    if (!sampler->grown)
        return true;
    sample = sample_copy(sampler->sample);
    if (sample == NULL)
        return false;
    catalogue_sample(next, new_rows->table_id, sample);
    sample_release(sample);
    return true;
}

/* Adds what was written to the draft; false: no memory. */
static bool take_written(struct transaction *transaction)
{
    const struct new_rows *new_rows = transaction->new_rows.items;
    struct catalogue *next = transaction_next(transaction, 0);

    if (next == NULL)
        return false;
    for (size_t i = 0; i < transaction->new_rows.count; i++)
        if (new_rows_any(&new_rows[i]) && !take_rows(next, &new_rows[i])) {
            catalogue_release(next);
            return false;
        }
    transaction_take(transaction, next);
    return true;
}

static enum vdbq_status settle(struct transaction *transaction,
                               struct error *error)
{
    bool any = false;
    enum vdbq_status status = flush_all(transaction, &any, error);

    if (status == VDBQ_OK && any && !take_written(transaction))
        status = error_no_memory(error);
    if (status != VDBQ_OK)
        return status;
    transaction_forget_rows(transaction);
    unique_sets_settle(transaction->writer.database, transaction->draft);
    return VDBQ_OK;
}

/* Rows of statements that are done are kept whatever stops this one, or fails: they
 * wait on then. */
static enum vdbq_status settle_surely(struct transaction *transaction,
                                      struct error *error)
{
    struct stop_work former = stop_help(&stop_never);
    enum vdbq_status status = settle(transaction, error);
    stop_leave(former);
    return status;
}

enum vdbq_status transaction_settle(struct transaction *transaction,
                                    struct error *error)
{
    enum vdbq_status status = transaction_check(transaction, error);

    if (status != VDBQ_OK || transaction->apart)
        return status;
    return transaction->waiting
               ? settle_surely(transaction, error)
               : transaction_note(transaction, settle(transaction, error));
}

enum vdbq_status transaction_snapshot(struct transaction *transaction,
                                      struct snapshot *snapshot,
                                      struct error *error)
{
    enum vdbq_status status = transaction_settle(transaction, error);

    *snapshot = (struct snapshot){ 0 };
    if (status != VDBQ_OK)
        return status;
    return snapshot_take(transaction->writer.database, transaction->draft,
                         snapshot, error);
}

/* ------------------------------------------------------------- commit -- */

/* What was committed is the connection's current state. */
static void take_state(const struct transaction *transaction)
{
    struct database *database = transaction->writer.database;

    states_pass(database, database->current);
    catalogue_release(database->current);
    database->current = catalogue_hold(transaction->draft);
    database->current_bytes = transaction->catalogue_bytes;
    database->listed.count = 0; /* they are among the older ones */
    database_place(database);
}

/* Lets the next one become the writer. */
static void pass_on(struct transaction *transaction)
{
    assert(!transaction->passed_on);
    transaction->passed_on = true;
    database_pass_reader(transaction->writer.database);
    file_unlock_writer(&transaction->writer.database->file);
}

/* Makes all that was written durable, and the head lead to it. Meanwhile the next
 * one may become the writer, unless this one is to cut the file, or nobody waited
 * when it began: who comes now has to wait for the disk in any case. */
static enum vdbq_status confirm(struct transaction *transaction,
                                struct error *error)
{
    struct file *file = &transaction->writer.database->file;
    bool may_cut = transaction_may_cut(transaction, &file->unconfirmed);
    bool early = !may_cut && !file->undisturbed;
    bool ahead = early && file_may_announce(file);
    enum vdbq_status status = ahead ? file_announce(file, error) : VDBQ_OK;

    if (status == VDBQ_OK && ahead)
        pass_on(transaction);
    if (status == VDBQ_OK)
        status = file_write_head(file, error);
    if (status == VDBQ_OK && early && !ahead)
        pass_on(transaction);
    if (status == VDBQ_OK)
        status = file_confirm(file, error);
    if (status == VDBQ_OK)
        take_state(transaction);
    if (status == VDBQ_OK && may_cut)
        transaction_cut(transaction);
    return status;
}

/* Nobody stops it: who does is told that it is done. */
static enum vdbq_status write_surely(struct transaction *transaction,
                                     struct error *error)
{
    struct stop_work former = stop_help(&stop_never);
    enum vdbq_status status =
        write_catalogue(transaction, transaction->draft, error);
    stop_leave(former);
    transaction->prepared = status == VDBQ_OK;
    return status;
}

/* Nor this. */
static enum vdbq_status confirm_surely(struct transaction *transaction,
                                       struct error *error)
{
    struct stop_work former = stop_help(&stop_never);
    enum vdbq_status status = confirm(transaction, error);
    stop_leave(former);
    transaction->prepared = false;
    return status;
}

static uint64_t later(uint64_t last, uint64_t offset, uint64_t size)
{
    uint64_t reach = offset + page_round(size);

    return reach > last ? reach : last;
}

/* Where the last block of a catalogue's tablets and samples ends, or what has to be
 * there in any case: places that are in part files, too, so that the file never is
 * cut before them. */
static uint64_t end_of_tables(const struct catalogue *catalogue,
                              const struct file *file)
{
    const uint64_t copies = file->copies + FILE_FIRST;
    const uint64_t reserved = file_reserved_end(file);
    uint64_t last = copies > reserved ? copies : reserved;

    for (size_t i = 0; i < catalogue->table_count; i++) {
        const struct table *table = &catalogue->tables[i];
        for (size_t k = 0; k < table->tablet_count; k++) {
            const struct edit *edit = table->tablets[k].edit;
            last = later(last, table->tablets[k].offset,
                         table->tablets[k].size_bytes);
            if (edit != NULL)
                last = later(last, edit->offset, edit->size_bytes);
        }
        if (table->sample != NULL)
            last =
                later(last, table->sample->offset, table->sample->size_bytes);
    }
    return last;
}

/* The same, and that of its runs. */
static uint64_t end_of_blocks(const struct catalogue *catalogue,
                              const struct file *file)
{
    uint64_t last = end_of_tables(catalogue, file);

    for (size_t i = 0; i < catalogue->run_count; i++)
        last = later(last, catalogue->runs[i].offset,
                     catalogue->runs[i].size_bytes);
    return last;
}

enum vdbq_status transaction_prepare(struct transaction *transaction,
                                     struct error *error)
{
    struct database *database = transaction->writer.database;
    enum vdbq_status status;

    /* Runs of what is gone are still in the draft. */
    space_near(&transaction->writer.space,
               end_of_tables(transaction->draft, &database->file));
    status = transaction_settle(transaction, error);
    if (status != VDBQ_OK || transaction->draft == database->current)
        return status;
    status = transaction_write_runs(transaction, error);
    if (status == VDBQ_OK)
        status = stop_pause(error);
    if (status != VDBQ_OK)
        return status;
    file_call_next(&database->file);
    return write_surely(transaction, error);
}

enum vdbq_status transaction_commit(struct transaction *transaction,
                                    struct error *error)
{
    enum vdbq_status status = transaction->prepared
                                  ? VDBQ_OK
                                  : transaction_prepare(transaction, error);

    if (status == VDBQ_OK && transaction->prepared)
        status = confirm_surely(transaction, error);
    if (status == VDBQ_OK)
        end(transaction);
    else
        transaction_abort(transaction);
    return status;
}

/* Finds room for second copies of the heads where there are none, in a file
 * of format 1. It stays in use whatever becomes of the commit. */
static enum vdbq_status upgrade(struct transaction *transaction,
                                struct error *error)
{
    struct file *file = &transaction->writer.database->file;
    uint64_t copies;
    enum vdbq_status status;

    if (!file_is_first_format(file))
        return VDBQ_OK;
    copies = space_take(&transaction->writer.space, FILE_FIRST);
    status = file_upgrade(file, copies, error);
    if (status == VDBQ_OK && transaction->size_before < copies + FILE_FIRST)
        transaction->size_before = copies + FILE_FIRST;
    return status;
}

/* The catalogue and the lists behind it as a block; without bytes, there is no
 * memory. The head gets what it says of them. */
static struct block encode(const struct database *database,
                           const struct catalogue *catalogue,
                           struct file_head *head)
{
    struct text text = { 0 };

    text_expect(&text, (size_t)database->current_bytes); /* of the one before */
    catalogue_encode(catalogue, &text);
    head->catalogue_size = text.length;
    if (!text.failed)
        head->catalogue_checksum = block_checksum(text.bytes, text.length);
    head->features = samples_list(catalogue, &text);
    head->features |= run_list_add(catalogue, &text);
    head->features |= states_list(database, &text);
    return block_of_text(&text);
}

/* Writes the catalogue and the head that names it. */
static enum vdbq_status write_catalogue(struct transaction *transaction,
                                        const struct catalogue *next,
                                        struct error *error)
{
    struct database *database = transaction->writer.database;
    struct file *file = &database->file;
    struct file_head head = { .generation = next->generation };
    struct space *space = &transaction->writer.space;
    struct block block = { 0 };
    enum vdbq_status status = upgrade(transaction, error);

    if (status == VDBQ_OK)
        status = samples_write(file, space, next, error);
    if (status == VDBQ_OK)
        status = edits_write(file, space, next, error);
    if (status != VDBQ_OK)
        return status;
    block = encode(database, next, &head);
    if (block.bytes == NULL)
        return error_no_memory(error);
    head.features_read =
        (file->heads[file->current].features_read & tablet_features())
        | transaction->writer.features | catalogue_features(next);
    transaction->catalogue_bytes = block.size;
    head.catalogue = space_take(space, page_round(block.size));
    head.end = later(end_of_blocks(next, file), head.catalogue, block.size);
    status = file_write_block(file, &block, head.catalogue, error);
    block_destroy(&block);
    if (status == VDBQ_OK)
        status = file_commit(file, &head, error);
    return status;
}
