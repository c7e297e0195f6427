/* SPDX-License-Identifier: MIT */
/*
 * The schema as the caller asks for it: table by table, from one catalogue that
 * vdbq_tables() holds. Nothing of the file is held for it.
 */
#include "api/session.h"

/* COPY is told of its own database alone, so that its table is the one of that name. */
static enum vdbq_status take_schema(vdbq *db)
{
    bool temporary = db->copying && db->copies_temporary;
    struct snapshot snapshot = { 0 };
    enum vdbq_status status = session_snapshot(db, temporary, &snapshot);
    if (status == VDBQ_OK)
        status = session_join(db, snapshot.catalogue,
                              db->copying ? NULL : session_temporary(db),
                              &db->schema);
    snapshot_close(&snapshot);
    return status;
}

unsigned vdbq_tables(vdbq *db)
{
    enum vdbq_status status = session_begin(db);
    if (db == NULL || session_is_inherited(db)) {
        session_report(db, status, NULL, 0);
        return 0;
    }
    catalogue_release(db->schema);
    db->schema = NULL;
    if (status == VDBQ_OK)
        status = take_schema(db);
    session_report(db, status, NULL, 0);
    return status == VDBQ_OK ? (unsigned)db->schema->table_count : 0;
}

/* Of the last vdbq_tables(); NULL: there is none. */
static const struct catalogue *schema_of(const vdbq *db)
{
    return db ? db->schema : NULL;
}

/* Table number `table` of it; NULL: there is none. */
static const struct table *table_at(const vdbq *db, unsigned table)
{
    const struct catalogue *catalogue = schema_of(db);
    return catalogue && table < catalogue->table_count
               ? &catalogue->tables[table]
               : NULL;
}

const char *vdbq_table_name(vdbq *db, unsigned table)
{
    const struct table *found = table_at(db, table);
    return found ? found->name : "";
}

bool vdbq_table_is_temporary(vdbq *db, unsigned table)
{
    const struct table *found = table_at(db, table);
    return found && table_is_temporary(found->id);
}

uint64_t vdbq_table_rows(vdbq *db, unsigned table)
{
    const struct table *found = table_at(db, table);
    return found ? found->rows : 0;
}

uint64_t vdbq_table_tablets(vdbq *db, unsigned table)
{
    const struct table *found = table_at(db, table);
    return found ? found->tablet_count : 0;
}

uint64_t vdbq_table_sample_rows(vdbq *db, unsigned table)
{
    const struct table *found = table_at(db, table);
    return found && found->sample ? found->sample->rows : 0;
}

uint64_t vdbq_table_edits(vdbq *db, unsigned table)
{
    const struct table *found = table_at(db, table);
    uint64_t edits = 0;

    for (size_t i = 0; found && i < found->tablet_count; i++)
        if (found->tablets[i].edit)
            edits += edit_size(found->tablets[i].edit);
    return edits;
}

uint64_t vdbq_table_runs(vdbq *db, unsigned table)
{
    const struct catalogue *catalogue = schema_of(db);
    const struct table *found = table_at(db, table);
    uint64_t runs = 0;
    size_t first;

    for (size_t i = 0; found && i < found->tablet_count; i++)
        runs += catalogue_runs_of(catalogue, tablet_written(&found->tablets[i]),
                                  &first);
    return runs;
}

const char *vdbq_table_sql(vdbq *db, unsigned table)
{
    const struct table *found = table_at(db, table);
    if (!found)
        return "";
    text_finish(&db->schema_text);
    table_sql(found, &db->schema_text);
    return db->schema_text.bytes && !db->schema_text.failed
               ? db->schema_text.bytes
               : "";
}

unsigned vdbq_table_columns(vdbq *db, unsigned table)
{
    const struct table *found = table_at(db, table);
    return found ? found->column_count : 0;
}

/* A column of such a table; NULL: there is none. */
static const struct column *column_at(const vdbq *db, unsigned table,
                                      unsigned column)
{
    const struct table *found = table_at(db, table);
    return found && column < found->column_count ? &found->columns[column]
                                                 : NULL;
}

const char *vdbq_table_column_name(vdbq *db, unsigned table, unsigned column)
{
    const struct column *found = column_at(db, table, column);
    return found ? found->name : "";
}

enum vdbq_type vdbq_table_column_type(vdbq *db, unsigned table, unsigned column)
{
    const struct column *found = column_at(db, table, column);
    return found ? found->type : VDBQ_TYPE_NONE;
}

unsigned vdbq_table_column_precision(vdbq *db, unsigned table, unsigned column)
{
    const struct column *found = column_at(db, table, column);
    return found ? found->precision : 0;
}

unsigned vdbq_table_column_scale(vdbq *db, unsigned table, unsigned column)
{
    const struct column *found = column_at(db, table, column);
    return found ? found->scale : 0;
}

/* ------------------------------------------------------ views, indexes -- */

unsigned vdbq_views(vdbq *db)
{
    const struct catalogue *catalogue = schema_of(db);
    return catalogue ? (unsigned)catalogue->view_count : 0;
}

const char *vdbq_view_name(vdbq *db, unsigned view)
{
    return view < vdbq_views(db) ? db->schema->views[view].name : "";
}

bool vdbq_view_is_temporary(vdbq *db, unsigned view)
{
    return view < vdbq_views(db) && db->schema->views[view].temporary;
}

const char *vdbq_view_sql(vdbq *db, unsigned view)
{
    return view < vdbq_views(db) ? db->schema->views[view].sql : "";
}

unsigned vdbq_indexes(vdbq *db)
{
    const struct catalogue *catalogue = schema_of(db);
    return catalogue ? (unsigned)catalogue->index_count : 0;
}

static const struct index *index_at(const vdbq *db, unsigned index)
{
    const struct catalogue *catalogue = schema_of(db);
    return catalogue && index < catalogue->index_count
               ? &catalogue->indexes[index]
               : NULL;
}

const char *vdbq_index_name(vdbq *db, unsigned index)
{
    const struct index *found = index_at(db, index);
    return found ? found->name : "";
}

const char *vdbq_index_table(vdbq *db, unsigned index)
{
    const struct index *found = index_at(db, index);
    return found ? catalogue_table_id(db->schema, found->table_id)->name : "";
}

const char *vdbq_index_sql(vdbq *db, unsigned index)
{
    const struct index *found = index_at(db, index);
    if (!found)
        return "";
    text_finish(&db->schema_text);
    index_sql(db->schema, found, &db->schema_text);
    return db->schema_text.bytes && !db->schema_text.failed
               ? db->schema_text.bytes
               : "";
}
