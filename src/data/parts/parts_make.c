/* SPDX-License-Identifier: MIT */
/*
 * Makes part files: see parts_make.h. While the writer's place is taken the file
 * stays as it is. `whole` and each part are copies of it with holes where the
 * tablets of others are; in a part a commit then leaves the rows that it has. Where
 * tables lie by hash the parts are made of a copy with their rows in the order of
 * parts, in which all other tablets are where they were. Where the database is one of
 * part files itself, all is made of a copy without what is needed no more.
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
#include "data/transaction/transaction.h"
#include "data/transaction/vacuum.h"

enum { COPY_BYTES = 1 << 20, WHOLE = PARTS_MAX, NOBODY };

/* Of what files are copied. */
struct copied {
    struct database *source;
    uint64_t size;             /* of its file                               */
    struct part_range *ranges; /* bytes that not all have, by their offsets;
                                  of NOBODY: none has                       */
    size_t range_count;
};

struct making {
    const struct parts_params *params;
    const struct catalogue *catalogue; /* the state that is copied */
    struct part_layout layout;
    size_t **first; /* by table of the layout, of one that lies by hash: of
                       each part, its first tablet in `ordered`             */
    struct database *shrunk;  /* of part files, the copy without what is
                                 needed no more; NULL: they are none        */
    struct database *ordered; /* the copy with rows in the order of parts; NULL:
                                 no table lies by hash                      */
    struct copied whole;      /* of what `whole` is a copy, */
    struct copied parts;      /* ... and parts are          */
    uint8_t *room;            /* COPY_BYTES */
    struct error *error;
};

/* --------------------------------------------------------------- layout -- */

/* How a table lies in the parts, where not by runs of its rows; NULL: so. */
static const struct table_parts *parts_of(const struct making *making,
                                          uint32_t table)
{
    for (size_t i = 0; i < making->layout.table_count; i++)
        if (making->layout.tables[i].table == table)
            return &making->layout.tables[i];
    return NULL;
}

static bool is_by_hash(const struct making *making, const struct table *table)
{
    const struct table_parts *parts = parts_of(making, table->id);
    return parts != NULL && parts->key_count > 0;
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
    if (!column_has_hash(&table->columns[column])) {
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
                                   .parts = making->params->parts,
                                   .state = table->state };
    for (unsigned i = 0; status == VDBQ_OK && i < named->key_count; i++)
        status = name_key(making, table, named->keys[i], parts);
    return status;
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
        return making->first[parts - making->layout.tables][part];
    return part < making->params->parts ? table_share(table, (uint32_t)share)
                                        : table->tablet_count;
}

static void add_tablets(struct copied *copied, const struct table *table,
                        size_t first, size_t end, unsigned part)
{
    for (size_t i = first; i < end; i++)
        copied->ranges[copied->range_count++] =
            (struct part_range){ table->tablets[i].offset,
                                 page_round(table->tablets[i].size_bytes),
                                 part };
}

/* Adds the tablets of a table that is shared out, in the state that is copied. */
static void add_shared(const struct making *making, struct copied *copied,
                       const struct table *table)
{
    for (unsigned k = 0; k < making->params->parts; k++)
        add_tablets(copied, table, first_of(making, table, k),
                    first_of(making, table, k + 1), k);
}

static int by_offset(const void *a, const void *b)
{
    const struct part_range *one = a, *other = b;
    return (one->offset > other->offset) - (one->offset < other->offset);
}

static size_t count_tablets(const struct catalogue *catalogue)
{
    size_t tablets = 0;
    for (size_t i = 0; i < catalogue->table_count; i++)
        tablets += catalogue->tables[i].tablet_count;
    return tablets;
}

/* Lists what not all files have. Where a table lies by hash `whole` has its tablets,
 * and the parts have those of the copy. */
static enum vdbq_status list_ranges(struct making *making,
                                    struct copied *copied)
{
    const struct catalogue *catalogue = making->catalogue;
    const bool of_parts = copied == &making->parts && making->ordered != NULL;
    size_t most = count_tablets(catalogue);
    if (of_parts)
        most += count_tablets(making->ordered->current);
    copied->ranges = memory_zeroed(most + 1, sizeof *copied->ranges);
    if (copied->ranges == NULL)
        return error_no_memory(making->error);
    for (size_t i = 0; i < catalogue->table_count; i++) {
        const struct table *table = &catalogue->tables[i];
        if (is_whole(making, table))
            add_tablets(copied, table, 0, table->tablet_count,
                        making->params->parts);
        else if (!is_by_hash(making, table))
            add_shared(making, copied, table);
        else if (of_parts) {
            add_tablets(copied, table, 0, table->tablet_count, NOBODY);
            add_shared(making, copied,
                       catalogue_table_id(making->ordered->current, table->id));
        }
    }
    qsort(copied->ranges, copied->range_count, sizeof *copied->ranges,
          by_offset);
    return file_size(&copied->source->file, &copied->size, making->error);
}

static enum vdbq_status make_layout(struct making *making)
{
    struct part_layout *layout = &making->layout;
    layout->parts = making->params->parts;
    layout->state = making->catalogue->generation;
    layout->heads = memory_zeroed(layout->parts, sizeof *layout->heads);
    if (layout->heads == NULL)
        return error_no_memory(making->error);
    layout->ranges = making->whole.ranges;
    layout->range_count = making->whole.range_count;
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

/* Copies bytes to their place in a file. */
static enum vdbq_status copy(const struct making *making,
                             struct database *source, struct os_file *to,
                             const char *path, uint64_t offset, uint64_t end)
{
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && offset < end) {
        const uint64_t left = end - offset;
        const size_t size = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
        if (stop_asked())
            return error_cancelled(making->error);
        status =
            file_read(&source->file, making->room, size, offset, making->error);
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
                                 const struct copied *copied,
                                 struct os_file *to, const char *path,
                                 unsigned part)
{
    struct database *source = copied->source;
    enum vdbq_status status = VDBQ_OK;
    uint64_t at = 0;
    for (size_t i = 0; status == VDBQ_OK && i < copied->range_count; i++) {
        const struct part_range *range = &copied->ranges[i];
        if (range->part == part || range->part == making->params->parts)
            continue;
        status = copy(making, source, to, path, at, range->offset);
        at = range->offset + range->size;
    }
    return status == VDBQ_OK ? copy(making, source, to, path, at, copied->size)
                             : status;
}

/* Makes `whole`, or the copy that becomes a part. */
static enum vdbq_status make_copy(const struct making *making,
                                  const struct copied *copied, const char *path,
                                  unsigned part)
{
    struct os_file *file = NULL;
    enum vdbq_status status = VDBQ_OK;
    int failure = os_files.open(path, OS_OPEN_CREATE, &file);
    if (failure == 0)
        failure = os_files.truncate(file, copied->size);
    if (failure == 0)
        status = copy_all(making, copied, file, path, part);
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
    enum vdbq_status status = make_copy(making, &making->parts, path, part);
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
    if (status == VDBQ_OK)
        status = database_join_parts(database, making->error);
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

/* Puts rows of the copy in the order of parts. No space is made free: all other
 * tablets are to stay where they are. */
static enum vdbq_status order_rows(struct making *making)
{
    const struct part_layout *layout = &making->layout;
    const size_t places = (size_t)making->params->parts + 1;
    struct transaction *transaction;
    enum vdbq_status status =
        transaction_begin(making->ordered, &transaction, making->error);
    if (status != VDBQ_OK)
        return status;
    for (size_t i = 0; status == VDBQ_OK && i < layout->table_count; i++) {
        if (layout->tables[i].key_count == 0)
            continue;
        making->first[i] = memory_zeroed(places, sizeof **making->first);
        status = making->first[i] == NULL
                     ? error_no_memory(making->error)
                     : parts_order(transaction, &layout->tables[i],
                                   making->first[i], making->error);
    }
    if (status == VDBQ_OK)
        return transaction_commit(transaction, making->error);
    transaction_abort(transaction);
    return status;
}

/* Opens a copy of all of a database, which has no name any more. */
static enum vdbq_status copy_source(const struct making *making,
                                    struct database *source, const char *name,
                                    struct database **database)
{
    struct copied all = { .source = source };
    char path[PART_PATH_MAX];
    part_path(making->params->folder, name, path);
    enum vdbq_status status =
        file_size(&source->file, &all.size, making->error);
    if (status == VDBQ_OK)
        status = make_copy(making, &all, path, WHOLE);
    if (status == VDBQ_OK)
        status = open_copy(making, path, database);
    unlink(path);
    return status;
}

/* Has parts be made of a copy with rows in the order of parts. */
static enum vdbq_status order_source(struct making *making)
{
    making->first =
        memory_zeroed(making->layout.table_count, sizeof *making->first);
    if (making->first == NULL)
        return error_no_memory(making->error);
    enum vdbq_status status =
        copy_source(making, making->whole.source, "ordered", &making->ordered);
    if (status == VDBQ_OK)
        status = order_rows(making);
    making->parts.source = making->ordered;
    return status;
}

/* Of part files makes the copy of which all is made; its edits are folded into its
 * tablets, so that tables have other states. */
static enum vdbq_status take_source(struct making *making)
{
    struct part_layout *layout = &making->layout;
    struct vacuum vacuum;
    uint64_t number;
    making->whole.source = making->params->database;
    if (database_parts(making->params->database, &number) == 0)
        return VDBQ_OK;
    enum vdbq_status status = copy_source(making, making->params->database,
                                          "shrunk", &making->shrunk);
    if (status == VDBQ_OK)
        status = database_vacuum(making->shrunk, &vacuum, making->error);
    if (status != VDBQ_OK)
        return status;
    making->whole.source = making->shrunk;
    making->catalogue = making->shrunk->current;
    for (size_t i = 0; i < layout->table_count; i++)
        layout->tables[i].state =
            catalogue_table_id(making->catalogue, layout->tables[i].table)
                ->state;
    return VDBQ_OK;
}

/* ------------------------------------------------------------------ make -- */

static enum vdbq_status make_files(struct making *making)
{
    char path[PART_PATH_MAX];
    enum vdbq_status status = take_source(making);
    making->parts.source = making->whole.source;
    if (status == VDBQ_OK && any_hash(making))
        status = order_source(making);
    if (status == VDBQ_OK)
        status = list_ranges(making, &making->whole);
    if (status == VDBQ_OK)
        status = list_ranges(making, &making->parts);
    if (status == VDBQ_OK)
        status = make_layout(making);
    part_path(making->params->folder, "whole", path);
    if (status == VDBQ_OK)
        status = make_copy(making, &making->whole, path, WHOLE);
    for (unsigned k = 0; status == VDBQ_OK && k < making->params->parts; k++)
        status = make_part(making, k);
    if (status == VDBQ_OK)
        status = write_layout(making);
    return status == VDBQ_OK ? check_state(making) : status;
}

/* Lets go what was needed. The layout's ranges are those of `whole`. */
static void finish(struct making *making)
{
    for (size_t i = 0; making->first != NULL && i < making->layout.table_count;
         i++)
        memory_release(making->first[i]);
    memory_release(making->first);
    if (making->layout.ranges == NULL)
        memory_release(making->whole.ranges);
    memory_release(making->parts.ranges);
    memory_release(making->room);
    part_layout_finish(&making->layout);
    database_close(making->ordered);
    database_close(making->shrunk);
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
    finish(&making);
    transaction_abort(transaction);
    return status;
}
