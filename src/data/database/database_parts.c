/* SPDX-License-Identifier: MIT */
/*
 * Tables that lie by hash in part files: what the catalogues of the parts say of
 * their rows becomes one table (table_parts_join()). Numbers of rows are looked at by
 * what is known of tablets: in each part they ascend, and none is one that the table
 * does not have. Whether each tablet's own ascend, and no two are the same, shows
 * where rows are merged by them, or checked.
 */
#include <assert.h>
#include <string.h>

#include "base/os/os.h"
#include "data/database/database_inner.h"
#include "data/file/part_files.h"

/* The parts of a folder while they are joined. */
struct joining {
    struct database *database;
    struct catalogue **parts; /* the state of each, held; NULL: not yet */
    unsigned count;           /* of them                                */
    struct error *error;
};

/* Opens a part, and holds what it has. */
static enum vdbq_status load_part(struct joining *joining, unsigned part)
{
    const struct file *file = &joining->database->file;
    struct database *database = NULL;
    char path[PART_PATH_MAX];
    part_path_of(file->path, part, path);
    enum vdbq_status status =
        database_open(&(struct database_params){ .path = path,
                                                 .flags = VDBQ_OPEN_READ_ONLY,
                                                 .files = &os_files,
                                                 .settings = file->settings },
                      &database, joining->error);
    if (status == VDBQ_OK)
        joining->parts[part] = catalogue_hold(database->current);
    database_close(database);
    return status;
}

static enum vdbq_status damaged(const struct joining *joining, unsigned part,
                                const struct table *table, const char *what)
{
    char path[PART_PATH_MAX];
    part_path_of(joining->database->file.path, part, path);
    error_set(joining->error, VDBQ_CORRUPT, "%s: it is damaged: table %s %s",
              path, table->name, what);
    return error_hint(joining->error, "distribute the database again");
}

/* Whether the columns of a part's table are the table's, and numbers. */
static bool has_columns(const struct table *table, const struct table *there)
{
    const unsigned count = table->column_count;
    bool has = there->column_count == count + 1 && there->key == table->key;
    for (unsigned i = 0; has && i < count; i++)
        has = there->columns[i].type == table->columns[i].type
              && there->columns[i].scale == table->columns[i].scale
              && there->columns[i].collation == table->columns[i].collation;
    return has && there->columns[count].type == VDBQ_BIGINT;
}

/* What is wrong with the numbers of a part's tablets; NULL: nothing is known. */
static const char *wrong_numbers(const struct table *table,
                                 const struct table *there)
{
    int64_t next = 0; /* none is less */
    for (size_t i = 0; i < there->tablet_count; i++) {
        const struct tablet_ref *tablet = &there->tablets[i];
        const struct column_facts *numbers =
            &tablet->facts[table->column_count];
        if (numbers->empty || numbers->null_count > 0)
            return "has rows without numbers";
        if (numbers->minimum < 0 || (uint64_t)numbers->maximum >= table->rows)
            return "has a row with a number that no row has";
        if (numbers->minimum < next
            || (uint64_t)(numbers->maximum - numbers->minimum)
                   < (uint64_t)tablet->rows - 1)
            return "has rows whose numbers do not ascend";
        next = numbers->maximum + 1;
    }
    return NULL;
}

/* The table that a part has of one, once it is what it should be. */
static enum vdbq_status check_part(const struct joining *joining, unsigned part,
                                   const struct table *table,
                                   const struct table **there)
{
    const struct catalogue *catalogue = joining->parts[part];
    *there = catalogue_table_id(catalogue, table->id);
    if (*there == NULL || !has_columns(table, *there))
        return damaged(joining, part, table, "has other columns");
    for (size_t i = 0; i < (*there)->tablet_count; i++) {
        const struct tablet_ref *tablet = &(*there)->tablets[i];
        if (tablet->edit != NULL
            || tablet->offset + tablet->size_bytes > TABLE_PART_BYTES)
            return damaged(joining, part, table, "was changed");
    }
    const char *wrong = wrong_numbers(table, *there);
    return wrong == NULL ? VDBQ_OK : damaged(joining, part, table, wrong);
}

/* Joins what the parts have of a table. */
static enum vdbq_status join_table(const struct joining *joining,
                                   const struct table *table,
                                   struct table_parts *parts)
{
    const struct table **there = memory_zeroed(joining->count, sizeof *there);
    enum vdbq_status status =
        there != NULL ? VDBQ_OK : error_no_memory(joining->error);
    uint64_t rows = 0;
    for (unsigned k = 0; status == VDBQ_OK && k < joining->count; k++) {
        status = check_part(joining, k, table, &there[k]);
        rows += status == VDBQ_OK ? there[k]->rows : 0;
    }
    if (status == VDBQ_OK && rows != table->rows)
        status = damaged(joining, 0, table,
                         "has more rows in all parts, or less, than it has");
    if (status == VDBQ_OK && !table_parts_join(parts, table, there))
        status = error_no_memory(joining->error);
    if (status != VDBQ_OK)
        table_parts_finish(parts);
    memory_release(there);
    return status;
}

static enum vdbq_status join_all(struct joining *joining)
{
    const struct catalogue *catalogue = joining->database->current;
    size_t count;
    struct table_parts *tables =
        part_tables(joining->database->file.os, &count);
    enum vdbq_status status = VDBQ_OK;
    for (unsigned k = 0; status == VDBQ_OK && k < joining->count; k++)
        status = load_part(joining, k);
    for (size_t i = 0; status == VDBQ_OK && i < count; i++) {
        const struct table *table =
            catalogue_table_id(catalogue, tables[i].table);
        if (tables[i].key_count > 0 && tables[i].copy == NULL && table != NULL
            && table->parts == &tables[i] && table_parts_left(table) == NULL)
            status = join_table(joining, table, &tables[i]);
    }
    return status;
}

/* Whether a table lies by hash in the parts. */
static bool any_by_hash(const struct database *database)
{
    size_t count;
    const struct table_parts *tables = part_tables(database->file.os, &count);
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= tables[i].key_count > 0;
    return any;
}

enum vdbq_status database_join_parts(struct database *database,
                                     struct error *error)
{
    uint64_t number;
    struct joining joining = { .database = database,
                               .count = database_parts(database, &number),
                               .error = error };
    if (joining.count == 0 || !any_by_hash(database))
        return VDBQ_OK;
    joining.parts = memory_zeroed(joining.count, sizeof(struct catalogue *));
    enum vdbq_status status =
        joining.parts != NULL ? join_all(&joining) : error_no_memory(error);
    for (unsigned k = 0; joining.parts != NULL && k < joining.count; k++)
        catalogue_release(joining.parts[k]);
    memory_release(joining.parts);
    return status;
}
