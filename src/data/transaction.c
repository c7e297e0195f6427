/* SPDX-License-Identifier: MIT */
/*
 * Transactions: one connection at a time makes the next state of the
 * database. Everything that can fail is done before the head is written.
 * The rules cited are those of file.c.
 */
#include <assert.h>
#include <string.h>

#include "data/catalogue_inner.h"
#include "data/facts.h"
#include "data/gather.h"
#include "data/values.h"

struct transaction {
    struct writer writer;
    struct catalogue *draft; /* the next catalogue, without new rows       */
    struct vector gathers;   /* struct gather: of tables that rows come to */
    uint64_t size_before;    /* of the file                                */
    bool changed;            /* tables were created or dropped             */
    enum vdbq_status failed; /* of an earlier call, or OK                  */
};

static enum vdbq_status begin(struct transaction *transaction,
                              struct error *error);
static enum vdbq_status find_space(struct transaction *transaction,
                                   struct error *error);
static void end(struct transaction *transaction);
static struct gather *find_gather(const struct transaction *transaction,
                                  uint32_t table_id);
static enum vdbq_status check_new_table(const struct transaction *transaction,
                                        const struct table *table,
                                        struct error *error);
static enum vdbq_status flush_all(struct transaction *transaction,
                                  struct error *error);
static struct catalogue *next_catalogue(const struct transaction *transaction);
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
    if (file->read_only)
        return error_set(error, VDBQ_READ_ONLY,
                         "%s: the database is open for reading only",
                         file->path);
    if (file->poisoned) {
        error_set(error, VDBQ_IO, "%s: an earlier write was not confirmed by "
                  "the disk", file->path);
        return error_hint(error, "close the database and open it again");
    }
    if (database->transaction != NULL)
        return error_set(error, VDBQ_BUSY,
                         "%s: this connection is writing to it already",
                         file->path);
    begun = memory_zeroed(1, sizeof *begun);
    if (begun == NULL)
        return error_no_memory(error);
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

    transaction->gathers = VECTOR(struct gather);
    status = database_refresh(database, error);
    if (status != VDBQ_OK)
        return status;
    transaction->draft = catalogue_hold(database->current);
    transaction->writer.generation = file_next_generation(&database->file);
    return find_space(transaction, error);
}

/* File rules 6 and 7. */
static enum vdbq_status find_space(struct transaction *transaction,
                                   struct error *error)
{
    struct database *database = transaction->writer.database;
    struct file *file = &database->file;
    const struct file_head *head = &file->heads[file->current];
    struct catalogue **open = database->snapshots.items;
    size_t count = database->snapshots.count;
    struct vector extents = VECTOR(struct extent);
    bool alone, added;
    enum vdbq_status status =
        file_size(file, &transaction->size_before, error);

    if (status == VDBQ_OK)
        status = file_alone(file, count > 0, &alone, error);
    if (status != VDBQ_OK)
        return status;
    transaction->writer.space =
        space_init(page_round(transaction->size_before));
    if (!alone)
        return VDBQ_OK;
    added = extents_add(&extents, head->catalogue, head->catalogue_size)
         && extents_add_catalogue(&extents, database->current);
    for (size_t i = 0; i < count && added; i++)
        if (open[i] != database->current && (i == 0 || open[i] != open[i - 1]))
            added = extents_add_catalogue(&extents, open[i]);
    if (!added || !space_fill(&transaction->writer.space, &extents,
                              FILE_FIRST))
        status = error_no_memory(error);
    vector_finish(&extents);
    return status;
}

/* Lets the writer's place go and frees the transaction. */
static void end(struct transaction *transaction)
{
    struct database *database = transaction->writer.database;
    struct gather *gather = transaction->gathers.items;

    for (size_t i = 0; i < transaction->gathers.count; i++)
        gather_finish(&gather[i]);
    vector_finish(&transaction->gathers);
    space_finish(&transaction->writer.space);
    catalogue_release(transaction->draft);
    file_unlock_writer(&database->file);
    database->transaction = NULL;
    memory_release(transaction);
}

const struct catalogue *transaction_catalogue(
    const struct transaction *transaction)
{
    return transaction->draft;
}

void transaction_abort(struct transaction *transaction)
{
    if (transaction == NULL)
        return;
    if (transaction->writer.generation > 0)
        file_cut(&transaction->writer.database->file,
                 transaction->size_before);
    end(transaction);
}

/* Notes a failure, so that nothing but an end of the transaction follows. */
static enum vdbq_status note(struct transaction *transaction,
                             enum vdbq_status status)
{
    if (status != VDBQ_OK)
        transaction->failed = status;
    return status;
}

static enum vdbq_status check_failed(const struct transaction *transaction,
                                     struct error *error)
{
    if (transaction->failed == VDBQ_OK)
        return VDBQ_OK;
    return error_set(error, transaction->failed,
                     "an earlier step of this transaction failed");
}

/* ------------------------------------------------------------- tables -- */

enum vdbq_status transaction_create_table(struct transaction *transaction,
                                          const char *name,
                                          const struct column *columns,
                                          unsigned column_count, unsigned key,
                                          struct error *error)
{
    const struct table table = {
        .name = name, .columns = (struct column *)columns,
        .column_count = column_count, .key = key
    };
    struct catalogue *next;
    enum vdbq_status status = check_failed(transaction, error);

    if (status == VDBQ_OK)
        status = check_new_table(transaction, &table, error);
    if (status != VDBQ_OK)
        return status;
    next = catalogue_copy(transaction->draft, 1);
    if (next == NULL || !catalogue_add(next, &table)) {
        catalogue_release(next);
        return error_no_memory(error);
    }
    catalogue_release(transaction->draft);
    transaction->draft = next;
    transaction->changed = true;
    return VDBQ_OK;
}

enum vdbq_status transaction_drop_table(struct transaction *transaction,
                                        uint32_t table_id, struct error *error)
{
    struct gather *gather = find_gather(transaction, table_id);
    struct gather *last;
    struct catalogue *next;
    enum vdbq_status status = check_failed(transaction, error);

    if (status != VDBQ_OK)
        return status;
    if (catalogue_table_id(transaction->draft, table_id) == NULL)
        return error_set(error, VDBQ_UNKNOWN, "there is no table with id %u",
                         (unsigned)table_id);
    next = catalogue_copy(transaction->draft, 0);
    if (next == NULL)
        return error_no_memory(error);
    catalogue_remove(next, table_id);
    catalogue_release(transaction->draft);
    transaction->draft = next;
    transaction->changed = true;
    if (gather != NULL) {
        gather_finish(gather);
        last = vector_at(&transaction->gathers,
                         transaction->gathers.count - 1);
        *gather = *last;
        transaction->gathers.count--;
    }
    return VDBQ_OK;
}

static enum vdbq_status check_name(const char *name, const char *what,
                                   struct error *error)
{
    size_t length = strlen(name);

    if (length > 0 && length <= NAME_BYTES_MAX)
        return VDBQ_OK;
    return error_set(error, VDBQ_LIMIT,
                     "the name of a %s has %zu bytes, it may have 1 to %d",
                     what, length, (int)NAME_BYTES_MAX);
}

static enum vdbq_status check_columns(const struct table *table,
                                      struct error *error)
{
    const char **names = memory_zeroed(table->column_count, sizeof *names);
    const char *twice;
    enum vdbq_status status = VDBQ_OK;

    if (names == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++) {
        names[i] = table->columns[i].name;
        status = check_name(names[i], "column", error);
        if (status == VDBQ_OK && !column_valid(&table->columns[i]))
            status = error_set(error, VDBQ_TYPE,
                               "column %s cannot be stored: its type has no "
                               "place in a table", names[i]);
    }
    twice = status == VDBQ_OK ? names_twice(names, table->column_count) : NULL;
    if (twice != NULL)
        status = error_set(error, VDBQ_EXISTS,
                           "table %s has two columns named %s", table->name,
                           twice);
    memory_release(names);
    return status;
}

static enum vdbq_status check_new_table(const struct transaction *transaction,
                                        const struct table *table,
                                        struct error *error)
{
    const struct catalogue *draft = transaction->draft;
    enum vdbq_status status = check_name(table->name, "table", error);

    if (status != VDBQ_OK)
        return status;
    if (catalogue_table(draft, table->name) != NULL)
        return error_set(error, VDBQ_EXISTS, "there is a table %s already",
                         table->name);
    if (table->column_count == 0 || table->column_count > COLUMNS_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "table %s has %u columns, it may have 1 to %d",
                         table->name, table->column_count, (int)COLUMNS_MAX);
    if (draft->table_count >= TABLES_MAX || draft->next_table_id == UINT32_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "there is no room for table %s: %zu tables are there",
                         table->name, draft->table_count);
    assert(table->key == NO_KEY || table->key < table->column_count);
    return check_columns(table, error);
}

/* ------------------------------------------------------------- append -- */

static struct gather *find_gather(const struct transaction *transaction,
                                  uint32_t table_id)
{
    struct gather *gather = transaction->gathers.items;

    for (size_t i = 0; i < transaction->gathers.count; i++)
        if (gather[i].table_id == table_id)
            return &gather[i];
    return NULL;
}

static struct gather *add_gather(struct transaction *transaction,
                                 const struct table *table)
{
    struct gather *gather = vector_add(&transaction->gathers);

    if (gather == NULL)
        return NULL;
    if (gather_init(gather, table))
        return gather;
    gather_finish(gather);
    transaction->gathers.count--;
    return NULL;
}

static enum vdbq_status check_vectors(const struct table *table,
                                      uint64_t rows,
                                      const struct vdbq_vector *vectors,
                                      struct error *error)
{
    enum vdbq_status status = values_check(table, rows, vectors, error);

    if (status != VDBQ_OK || table->key == NO_KEY)
        return status;
    return key_check_nulls(table, rows, vectors, error);
}

enum vdbq_status transaction_append(struct transaction *transaction,
                                    uint32_t table_id, uint64_t rows,
                                    const struct vdbq_vector *vectors,
                                    struct error *error)
{
    const struct table *table =
        catalogue_table_id(transaction->draft, table_id);
    struct gather *gather = find_gather(transaction, table_id);
    enum vdbq_status status = check_failed(transaction, error);

    if (status != VDBQ_OK)
        return status;
    if (table == NULL)
        return error_set(error, VDBQ_UNKNOWN, "there is no table with id %u",
                         (unsigned)table_id);
    status = check_vectors(table, rows, vectors, error);
    if (status != VDBQ_OK)
        return note(transaction, status);
    if (gather == NULL)
        gather = add_gather(transaction, table);
    if (gather == NULL)
        return note(transaction, error_no_memory(error));
    return note(transaction, gather_add(gather, &transaction->writer, table,
                                        rows, vectors, error));
}

/* ------------------------------------------------------------- commit -- */

enum vdbq_status transaction_commit(struct transaction *transaction,
                                    struct error *error)
{
    struct database *database = transaction->writer.database;
    struct catalogue *next = NULL;
    enum vdbq_status status = check_failed(transaction, error);

    if (status == VDBQ_OK)
        status = flush_all(transaction, error);
    if (status == VDBQ_OK && !transaction->changed) {
        end(transaction);
        return VDBQ_OK;
    }
    if (status == VDBQ_OK) {
        next = next_catalogue(transaction);
        status = next == NULL ? error_no_memory(error)
                              : write_catalogue(transaction, next, error);
    }
    if (status != VDBQ_OK) {
        catalogue_release(next);
        transaction_abort(transaction);
        return status;
    }
    catalogue_release(database->current);
    database->current = next;
    end(transaction);
    return VDBQ_OK;
}

static enum vdbq_status flush_all(struct transaction *transaction,
                                  struct error *error)
{
    struct gather *gather = transaction->gathers.items;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < transaction->gathers.count; i++) {
        const struct table *table =
            catalogue_table_id(transaction->draft, gather[i].table_id);
        transaction->changed |= gather_any(&gather[i]);
        status = gather_flush(&gather[i], &transaction->writer, table, error);
        if (status != VDBQ_OK)
            return status;
    }
    return VDBQ_OK;
}

/* The draft with what was written; NULL: no memory. */
static struct catalogue *next_catalogue(const struct transaction *transaction)
{
    const struct gather *gather = transaction->gathers.items;
    struct catalogue *next = catalogue_copy(transaction->draft, 0);

    if (next == NULL)
        return NULL;
    next->generation = transaction->writer.generation;
    for (size_t i = 0; i < transaction->gathers.count; i++)
        if (gather_any(&gather[i])
            && !catalogue_extend(next, gather[i].table_id, gather[i].kept,
                                 gather[i].written.items,
                                 gather[i].written.count)) {
            catalogue_release(next);
            return NULL;
        }
    return next;
}

/* Where the last block of a catalogue's tablets ends. */
static uint64_t end_of_tablets(const struct catalogue *catalogue)
{
    uint64_t last = FILE_FIRST;

    for (size_t i = 0; i < catalogue->table_count; i++) {
        const struct table *table = &catalogue->tables[i];
        for (size_t k = 0; k < table->tablet_count; k++) {
            uint64_t reach = table->tablets[k].offset
                           + page_round(table->tablets[k].size_bytes);
            last = reach > last ? reach : last;
        }
    }
    return last;
}

/* Writes the catalogue and the head that names it. */
static enum vdbq_status write_catalogue(struct transaction *transaction,
                                        const struct catalogue *next,
                                        struct error *error)
{
    struct file *file = &transaction->writer.database->file;
    struct file_head head = { .generation = next->generation };
    struct text text = { 0 };
    struct block block = { 0 };
    uint64_t reach;
    enum vdbq_status status;

    catalogue_encode(next, &text);
    if (!text.failed)
        block = block_create(text.length);
    if (block.bytes == NULL) {
        text_finish(&text);
        return error_no_memory(error);
    }
    memcpy(block.bytes, text.bytes, text.length);
    text_finish(&text);
    head.catalogue = space_take(&transaction->writer.space,
                                page_round(block.size));
    head.catalogue_size = block.size;
    head.catalogue_checksum = block_checksum(block.bytes, block.size);
    reach = head.catalogue + page_round(block.size);
    head.end = end_of_tablets(next);
    head.end = reach > head.end ? reach : head.end;
    status = file_write_block(file, &block, head.catalogue, error);
    block_destroy(&block);
    return status != VDBQ_OK ? status : file_commit(file, &head, error);
}
