/* SPDX-License-Identifier: MIT */
/*
 * Makes part files: see parts_make.h. While the writer's place is taken the file
 * stays as it is. `whole` and each part are copies of it with holes where the
 * tablets of others are; in a part a commit then leaves the rows that it has. Where
 * tables lie by hash all that is made of a copy with their rows in the order of
 * parts.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/threads/stop.h"
#include "data/database/database_inner.h"
#include "data/file/part_files.h"
#include "data/parts/parts_make.h"
#include "data/parts/parts_order.h"
#include "data/transaction/vacuum.h"

enum { COPY_BYTES = 1 << 20, WHOLE = PARTS_MAX };

struct making {
    const struct parts_params *params;
    struct database *source; /* that is copied: the database, or its copy with
                                rows in the order of parts                  */
    const struct catalogue *catalogue; /* its state */
    struct part_layout layout;
    uint64_t size; /* of the source's file */
    uint8_t *room; /* COPY_BYTES */
    struct error *error;
};

/* --------------------------------------------------------------- layout -- */

/* How a table lies in the parts, where not by runs of its rows; NULL: so. */
static struct table_parts *parts_of(const struct making *making, uint32_t table)
{
    for (size_t i = 0; i < making->layout.table_count; i++)
        if (making->layout.tables[i].table == table)
            return &making->layout.tables[i];
    return NULL;
}

static bool is_whole(const struct making *making, const struct table *table)
{
    const struct table_parts *parts = parts_of(making, table->id);
    return parts != NULL && parts->key_count == 0;
}

/* Notes a key of a table that lies by hash. */
static enum vdbq_status name_key(const struct making *making,
                                 const struct table *table, const char *name,
                                 struct table_parts *parts)
{
    const unsigned column = table_column(table, name);
    if (column == table->column_count)
        return error_set(making->error, VDBQ_UNKNOWN,
                         "no column %s in table %s", name, table->name);
    if (parts->key_count == PART_KEYS_MAX)
        return error_set(making->error, VDBQ_LIMIT,
                         "a hash is of %d columns at most", PART_KEYS_MAX);
    if (!parts_hashable(&table->columns[column])) {
        error_set(making->error, VDBQ_TYPE,
                  "column %s of table %s has no hash: its values can be equal "
                  "and have other bytes",
                  name, table->name);
        return error_hint(making->error, "a hash is of integers, dates, "
                                         "decimals, and texts without COLLATE");
    }
    parts->keys[parts->key_count++] = column;
    return VDBQ_OK;
}

/* Notes how a table lies. */
static enum vdbq_status name_table(struct making *making,
                                   const struct parts_table *named)
{
    const struct table *table = catalogue_table(making->catalogue, named->name);
    struct part_layout *layout = &making->layout;
    enum vdbq_status status = VDBQ_OK;
    if (table == NULL)
        return error_set(making->error, VDBQ_UNKNOWN, "no table %s",
                         named->name);
    if (parts_of(making, table->id) != NULL)
        return error_set(making->error, VDBQ_EXISTS, "table %s is named twice",
                         named->name);
    struct table_parts *parts = &layout->tables[layout->table_count++];
    *parts = (struct table_parts){ .table = table->id,
                                   .parts = making->params->parts };
    for (unsigned i = 0; status == VDBQ_OK && i < named->key_count; i++)
        status = name_key(making, table, named->keys[i], parts);
    if (status != VDBQ_OK || parts->key_count == 0)
        return status;
    parts->first =
        memory_zeroed((size_t)parts->parts + 1, sizeof *parts->first);
    return parts->first != NULL ? VDBQ_OK : error_no_memory(making->error);
}

static enum vdbq_status name_tables(struct making *making)
{
    const struct parts_params *params = making->params;
    enum vdbq_status status = VDBQ_OK;
    making->layout.tables = memory_zeroed((size_t)params->table_count + 1,
                                          sizeof *making->layout.tables);
    if (making->layout.tables == NULL)
        return error_no_memory(making->error);
    for (unsigned i = 0; status == VDBQ_OK && i < params->table_count; i++)
        status = name_table(making, &params->tables[i]);
    return status;
}

/* Of a table that is shared out, the first tablet of a part: by hash, or a rank's
 * share, where all are equal. */
static size_t first_of(const struct making *making, const struct table *table,
                       unsigned part)
{
    const struct table_parts *parts = parts_of(making, table->id);
    const uint64_t share =
        (uint64_t)TABLE_SHARE_ALL * part / making->params->parts;
    if (parts != NULL)
        return parts->first[part];
    return part < making->params->parts ? table_share(table, (uint32_t)share)
                                        : table->tablet_count;
}

static void add_tablets(struct making *making, const struct table *table,
                        size_t first, size_t end, unsigned part)
{
    for (size_t i = first; i < end; i++)
        making->layout.ranges[making->layout.range_count++] =
            (struct part_range){ table->tablets[i].offset,
                                 page_round(table->tablets[i].size_bytes),
                                 part };
}

static void add_table(struct making *making, const struct table *table)
{
    const unsigned parts = making->params->parts;
    if (is_whole(making, table)) {
        add_tablets(making, table, 0, table->tablet_count, parts);
        return;
    }
    for (unsigned k = 0; k < parts; k++)
        add_tablets(making, table, first_of(making, table, k),
                    first_of(making, table, k + 1), k);
}

static int by_offset(const void *a, const void *b)
{
    const struct part_range *one = a, *other = b;
    return (one->offset > other->offset) - (one->offset < other->offset);
}

static enum vdbq_status make_layout(struct making *making)
{
    const struct catalogue *catalogue = making->catalogue;
    struct part_layout *layout = &making->layout;
    size_t tablets = 0;
    for (size_t i = 0; i < catalogue->table_count; i++)
        tablets += catalogue->tables[i].tablet_count;
    layout->parts = making->params->parts;
    layout->heads = memory_zeroed(layout->parts, sizeof *layout->heads);
    layout->ranges = memory_zeroed(tablets + 1, sizeof *layout->ranges);
    if (layout->heads == NULL || layout->ranges == NULL)
        return error_no_memory(making->error);
    for (size_t i = 0; i < catalogue->table_count; i++)
        add_table(making, &catalogue->tables[i]);
    qsort(layout->ranges, layout->range_count, sizeof *layout->ranges,
          by_offset);
    return os_random(&layout->database) == 0
               ? VDBQ_OK
               : error_set(making->error, VDBQ_IO, "%s",
                           "cannot draw a random number");
}

/* ----------------------------------------------------------------- copy -- */

static enum vdbq_status failed(const struct making *making, const char *path,
                               int failure)
{
    if (failure == ENOMEM)
        return error_no_memory(making->error);
    return error_set(making->error, VDBQ_IO, "%s: cannot make it: %s", path,
                     strerror(failure));
}

/* Copies bytes of the database to their place in a file. */
static enum vdbq_status copy(const struct making *making, struct os_file *to,
                             const char *path, uint64_t offset, uint64_t end)
{
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && offset < end) {
        const uint64_t left = end - offset;
        const size_t size = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
        if (stop_asked())
            return error_cancelled(making->error);
        status = file_read(&making->source->file, making->room, size, offset,
                           making->error);
        int failure = status == VDBQ_OK
                          ? os_files.write(to, making->room, size, offset)
                          : 0;
        if (failure != 0)
            status = failed(making, path, failure);
        offset += size;
    }
    return status;
}

/* Copies all but what is in parts other than `part`. */
static enum vdbq_status copy_all(const struct making *making,
                                 struct os_file *to, const char *path,
                                 unsigned part)
{
    const struct part_layout *layout = &making->layout;
    enum vdbq_status status = VDBQ_OK;
    uint64_t at = 0;
    for (size_t i = 0; status == VDBQ_OK && i < layout->range_count; i++) {
        const struct part_range *range = &layout->ranges[i];
        if (range->part == part || range->part == layout->parts)
            continue;
        status = copy(making, to, path, at, range->offset);
        at = range->offset + range->size;
    }
    return status == VDBQ_OK ? copy(making, to, path, at, making->size)
                             : status;
}

/* Makes `whole`, or the copy that becomes a part. */
static enum vdbq_status make_copy(const struct making *making, const char *path,
                                  unsigned part)
{
    struct os_file *file = NULL;
    enum vdbq_status status = VDBQ_OK;
    int failure = os_files.open(path, OS_OPEN_CREATE, &file);
    if (failure == 0)
        failure = os_files.truncate(file, making->size);
    if (failure == 0)
        status = copy_all(making, file, path, part);
    if (failure == 0 && status == VDBQ_OK)
        failure = os_files.sync(file);
    os_files.close(file);
    return failure == 0 ? status : failed(making, path, failure);
}

/* ----------------------------------------------------------------- parts -- */

/* Leaves the part's rows in its tables. */
static enum vdbq_status keep_rows(const struct making *making,
                                  struct database *database, unsigned part)
{
    const struct catalogue *catalogue = making->catalogue;
    struct transaction *transaction;
    enum vdbq_status status =
        transaction_begin(database, &transaction, making->error);
    if (status != VDBQ_OK)
        return status;
    for (size_t i = 0; status == VDBQ_OK && i < catalogue->table_count; i++) {
        const struct table *table = &catalogue->tables[i];
        if (!is_whole(making, table))
            status = transaction_keep(
                transaction, table->id, first_of(making, table, part),
                first_of(making, table, part + 1), making->error);
    }
    if (status == VDBQ_OK)
        return transaction_commit(transaction, making->error);
    transaction_abort(transaction);
    return status;
}

/* Opens a copy of the database, to change it. */
static enum vdbq_status open_copy(const struct making *making, const char *path,
                                  struct database **database)
{
    const struct database *source = making->params->database;
    enum vdbq_status status = database_open(
        &(struct database_params){ .path = path,
                                   .files = &os_files,
                                   .settings = source->file.settings },
        database, making->error);
    if (status == VDBQ_OK)
        database_use_computer(*database, source->compute,
                              source->compute_context);
    return status;
}

/* Commits them, and notes the heads of the part. */
static enum vdbq_status make_part(struct making *making, unsigned part)
{
    struct database *database = NULL;
    char path[PART_PATH_MAX];
    part_path_of(making->params->folder, part, path);
    enum vdbq_status status = make_copy(making, path, part);
    if (status == VDBQ_OK)
        status = open_copy(making, path, &database);
    if (status != VDBQ_OK)
        return status;
    status = keep_rows(making, database, part);
    int failure = status == VDBQ_OK ? part_heads(database->file.os,
                                                 &making->layout.heads[part])
                                    : 0;
    database_close(database);
    return failure == 0 ? status : failed(making, path, failure);
}

/* Reads what was made, as the state that was copied. */
static enum vdbq_status check_state(const struct making *making)
{
    struct database *database = NULL;
    enum vdbq_status status = database_open(
        &(struct database_params){
            .path = making->params->folder,
            .flags = VDBQ_OPEN_READ_ONLY,
            .files = &part_files,
            .settings = making->params->database->file.settings },
        &database, making->error);
    assert(status != VDBQ_OK
           || database->current->generation == making->catalogue->generation);
    database_close(database);
    return status;
}

static enum vdbq_status write_layout(const struct making *making)
{
    char path[PART_PATH_MAX];
    struct os_file *file = NULL;
    struct text text = { 0 };
    part_path(making->params->folder, "layout", path);
    part_layout_print(&making->layout, &text);
    int failure =
        text.failed ? ENOMEM : os_files.open(path, OS_OPEN_CREATE, &file);
    if (failure == 0)
        failure = os_files.write(file, text.bytes, text.length, 0);
    if (failure == 0)
        failure = os_files.sync(file);
    os_files.close(file);
    text_finish(&text);
    return failure == 0 ? VDBQ_OK : failed(making, path, failure);
}

/* ----------------------------------------------------------------- order -- */

/* Whether a table lies by hash. */
static bool any_hash(const struct making *making)
{
    bool any = false;
    for (size_t i = 0; i < making->layout.table_count; i++)
        any |= making->layout.tables[i].key_count > 0;
    return any;
}

/* Puts rows of a copy in the order of parts. */
static enum vdbq_status order_rows(const struct making *making,
                                   struct database *database)
{
    const struct part_layout *layout = &making->layout;
    struct transaction *transaction;
    struct vacuum vacuum;
    enum vdbq_status status =
        transaction_begin(database, &transaction, making->error);
    if (status != VDBQ_OK)
        return status;
    for (size_t i = 0; status == VDBQ_OK && i < layout->table_count; i++)
        if (layout->tables[i].key_count > 0)
            status =
                parts_order(transaction, &layout->tables[i], making->error);
    if (status != VDBQ_OK) {
        transaction_abort(transaction);
        return status;
    }
    status = transaction_commit(transaction, making->error);
    return status == VDBQ_OK ? database_vacuum(database, &vacuum, making->error)
                             : status;
}

/* Has all be made of a copy with rows in the order of parts, which the caller
 * closes; it has no name any more. */
static enum vdbq_status order_source(struct making *making,
                                     struct database **ordered)
{
    char path[PART_PATH_MAX];
    part_path(making->params->folder, "ordered", path);
    enum vdbq_status status = make_copy(making, path, WHOLE);
    if (status == VDBQ_OK)
        status = open_copy(making, path, ordered);
    if (status == VDBQ_OK)
        status = order_rows(making, *ordered);
    unlink(path);
    if (status != VDBQ_OK)
        return status;
    making->source = *ordered;
    making->catalogue = (*ordered)->current;
    return file_size(&making->source->file, &making->size, making->error);
}

/* ------------------------------------------------------------------ make -- */

static enum vdbq_status make_files(struct making *making)
{
    char path[PART_PATH_MAX];
    struct database *ordered = NULL;
    enum vdbq_status status =
        any_hash(making) ? order_source(making, &ordered) : VDBQ_OK;
    if (status == VDBQ_OK)
        status = make_layout(making);
    part_path(making->params->folder, "whole", path);
    if (status == VDBQ_OK)
        status = make_copy(making, path, WHOLE);
    for (unsigned k = 0; status == VDBQ_OK && k < making->params->parts; k++)
        status = make_part(making, k);
    if (status == VDBQ_OK)
        status = write_layout(making);
    if (status == VDBQ_OK)
        status = check_state(making);
    database_close(ordered);
    return status;
}

static void remove_files(const struct making *making)
{
    char path[PART_PATH_MAX];
    part_path(making->params->folder, "layout", path);
    unlink(path);
    part_path(making->params->folder, "whole", path);
    unlink(path);
    for (unsigned k = 0; k < making->params->parts; k++) {
        part_path_of(making->params->folder, k, path);
        unlink(path);
    }
    rmdir(making->params->folder);
}

/* Whether the newest commit is in its place in the file, and not announced alone
 * (file rule 16). */
static enum vdbq_status check_written(const struct making *making)
{
    const struct file *file = &making->params->database->file;
    if (!file->follows)
        return VDBQ_OK;
    error_set(making->error, VDBQ_BUSY,
              "%s: another connection has not ended its commit", file->path);
    return error_hint(making->error, "try again");
}

static enum vdbq_status make_folder(struct making *making)
{
    enum vdbq_status status = name_tables(making);
    if (status == VDBQ_OK)
        status = check_written(making);
    if (status == VDBQ_OK)
        status = file_size(&making->params->database->file, &making->size,
                           making->error);
    if (status != VDBQ_OK)
        return status;
    if (mkdir(making->params->folder, 0777) != 0)
        return failed(making, making->params->folder, errno);
    status = make_files(making);
    if (status != VDBQ_OK)
        remove_files(making);
    return status;
}

enum vdbq_status parts_make(const struct parts_params *params,
                            struct error *error)
{
    struct making making = { .params = params,
                             .source = params->database,
                             .error = error };
    struct transaction *transaction;
    assert(params->parts > 0 && params->parts <= PARTS_MAX);
    enum vdbq_status status =
        transaction_begin(params->database, &transaction, error);
    if (status != VDBQ_OK)
        return status;
    making.catalogue = transaction_catalogue(transaction);
    making.room = memory_zeroed(COPY_BYTES, 1);
    status =
        making.room == NULL ? error_no_memory(error) : make_folder(&making);
    memory_release(making.room);
    part_layout_finish(&making.layout);
    transaction_abort(transaction);
    return status;
}
