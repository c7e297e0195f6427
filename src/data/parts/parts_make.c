/* SPDX-License-Identifier: MIT */
/*
 * Makes part files: see parts_make.h. While the writer's place is taken the file
 * stays as it is. `whole` and each part are copies of it with holes where the
 * tablets of others are; in a part a commit then leaves the rows that it has.
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
#include "data/transaction/transaction.h"

enum { COPY_BYTES = 1 << 20, WHOLE = PARTS_MAX };

struct making {
    const struct parts_params *params;
    const struct catalogue *catalogue;
    struct part_layout layout;
    uint64_t size; /* of the database's file */
    uint8_t *room; /* COPY_BYTES */
    struct error *error;
};

/* --------------------------------------------------------------- layout -- */

static bool is_shared(const struct making *making, const struct table *table)
{
    for (unsigned i = 0; i < making->params->whole_count; i++)
        if (catalogue_table(making->catalogue, making->params->whole[i])
            == table)
            return false;
    return true;
}

static enum vdbq_status check_names(const struct making *making)
{
    for (unsigned i = 0; i < making->params->whole_count; i++)
        if (catalogue_table(making->catalogue, making->params->whole[i])
            == NULL)
            return error_set(making->error, VDBQ_UNKNOWN, "no table %s",
                             making->params->whole[i]);
    return VDBQ_OK;
}

/* Of a table, the first tablet of a part: a rank's share, where all are equal. */
static size_t first_of(const struct making *making, const struct table *table,
                       unsigned part)
{
    const uint64_t share =
        (uint64_t)TABLE_SHARE_ALL * part / making->params->parts;
    return part < making->params->parts ? table_share(table, (uint32_t)share)
                                        : table->tablet_count;
}

static void add_table(struct making *making, const struct table *table)
{
    for (unsigned k = 0; k < making->params->parts; k++)
        for (size_t i = first_of(making, table, k),
                    end = first_of(making, table, k + 1);
             i < end; i++)
            making->layout.ranges[making->layout.range_count++] =
                (struct part_range){ table->tablets[i].offset,
                                     page_round(table->tablets[i].size_bytes),
                                     k };
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
        if (is_shared(making, &catalogue->tables[i]))
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
        status = file_read(&making->params->database->file, making->room, size,
                           offset, making->error);
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
        if (range->part == part)
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
        if (is_shared(making, table))
            status = transaction_keep(
                transaction, table->id, first_of(making, table, part),
                first_of(making, table, part + 1), making->error);
    }
    if (status == VDBQ_OK)
        return transaction_commit(transaction, making->error);
    transaction_abort(transaction);
    return status;
}

/* Commits them, and notes the heads of the part. */
static enum vdbq_status make_part(struct making *making, unsigned part)
{
    const struct database *source = making->params->database;
    struct database *database = NULL;
    char path[PART_PATH_MAX];
    part_path_of(making->params->folder, part, path);
    enum vdbq_status status = make_copy(making, path, part);
    if (status == VDBQ_OK)
        status = database_open(
            &(struct database_params){ .path = path,
                                       .files = &os_files,
                                       .settings = source->file.settings },
            &database, making->error);
    if (status != VDBQ_OK)
        return status;
    database_use_computer(database, source->compute, source->compute_context);
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

/* ------------------------------------------------------------------ make -- */

static enum vdbq_status make_files(struct making *making)
{
    char path[PART_PATH_MAX];
    enum vdbq_status status = make_layout(making);
    part_path(making->params->folder, "whole", path);
    if (status == VDBQ_OK)
        status = make_copy(making, path, WHOLE);
    for (unsigned k = 0; status == VDBQ_OK && k < making->params->parts; k++)
        status = make_part(making, k);
    if (status == VDBQ_OK)
        status = write_layout(making);
    return status == VDBQ_OK ? check_state(making) : status;
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
    enum vdbq_status status = check_names(making);
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
    struct making making = { .params = params, .error = error };
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
