/* SPDX-License-Identifier: MIT */
/*
 * Files in FROM. They are tables of a second database, in memory, that hangs
 * on the connection; the caller's reader makes them. A query that names files
 * sees one catalogue of both databases: tables of files are told by their
 * ids, and are scanned from the second database's pools. And files of COPY
 * FROM, which the caller's reader appends to a table.
 */
#include "api/query.h"

#include <string.h>

void vdbq_on_file(vdbq *db, vdbq_file_reader reader, void *context)
{
    if (db == NULL)
        return;
    db->file_reader = reader;
    db->file_context = context;
}

enum vdbq_status vdbq_fail(vdbq *db, enum vdbq_status status,
                           const char *message, const char *hint)
{
    if (db == NULL)
        return status;
    error_set(&db->error, status, "%s", message ? message : "");
    if (hint != NULL && *hint != '\0')
        error_hint(&db->error, "%s", hint);
    return session_report(db, status, NULL, 0);
}

void vdbq_on_copy(vdbq *db, vdbq_copy_reader reader, void *context)
{
    if (db == NULL)
        return;
    db->copy_reader = reader;
    db->copy_context = context;
}

bool vdbq_progressed(vdbq *db, uint64_t done, uint64_t all)
{
    if (db == NULL || session_is_inherited(db))
        return false;
    struct stop_work former = stop_enter(&db->stop);
    if (all > 0)
        stop_tell(done, all);
    bool asked = stop_asked();
    stop_leave(former);
    return !asked;
}

/* ------------------------------------------------------------ COPY FROM -- */

static enum vdbq_status fail_unread(vdbq *db)
{
    error_set(&db->error, VDBQ_UNKNOWN, "COPY cannot read files from here");
    return error_hint(&db->error,
                      "the shell reads them; a program that uses the library "
                      "gives it a reader with vdbq_on_copy()");
}

/* Has the reader append to the table: what it opens is a part of the
 * statement's transaction. */
static enum vdbq_status read_copy(vdbq_query *query,
                                  struct transaction *transaction)
{
    vdbq *db = query->db;
    struct transaction **place = session_place(db, query->home_temporary);
    struct transaction *open = *place;
    bool executing = db->executing;
    *place = transaction;
    db->copies_temporary = query->home_temporary;
    db->copying = db->executing = true;
    enum vdbq_status status =
        db->copy_reader(db->copy_context, db, &query->statement->copy.said);
    vdbq_append_close(db->append);
    db->copying = false;
    db->executing = executing;
    *place = open;
    if (status == VDBQ_OK)
        return VDBQ_OK;
    if (db->error.status != status)
        error_set(&db->error, status, "the file could not be read");
    db->error.line = query->statement->copy.at.line;
    db->error.column = query->statement->copy.at.column;
    return status;
}

enum vdbq_status query_copy_from(vdbq_query *query,
                                 struct transaction *transaction)
{
    vdbq *db = query->db;
    uint32_t id = query->plan.copy.table_id;
    uint64_t before =
        catalogue_table_id(transaction_catalogue(transaction), id)->rows;
    if (db->copy_reader == NULL)
        return fail_unread(db);
    enum vdbq_status status = read_copy(query, transaction);
    if (status == VDBQ_OK)
        status = transaction_settle(transaction, &db->error);
    if (status == VDBQ_OK)
        query->stats.sum.rows_changed =
            catalogue_table_id(transaction_catalogue(transaction), id)->rows
            - before;
    return status;
}

/* -------------------------------------------------------------- reading -- */

static enum vdbq_status open_files(vdbq *db)
{
    if (db->files != NULL)
        return VDBQ_OK;
    enum vdbq_status status = vdbq_open(NULL, 0, &db->files);
    if (status == VDBQ_OK)
        return VDBQ_OK;
    vdbq_close(db->files);
    db->files = NULL;
    return error_set(&db->error, status,
                     "no database in memory could be made for the file");
}

/* Has the reader make the table of one file. */
static enum vdbq_status read_file(vdbq *db, const struct ast_from *from)
{
    enum vdbq_status status =
        db->file_reader(db->file_context, db->files, from->file);
    if (status == VDBQ_OK)
        return VDBQ_OK;
    const struct vdbq_error *error = vdbq_error(db->files);
    bool told = error->status == status;
    error_at(&db->error, status, from->at, "%s",
             told ? error->message : "the file could not be read");
    if (told && error->hint[0] != '\0')
        error_hint(&db->error, "%s", error->hint);
    return status;
}

enum vdbq_status query_files_open(vdbq_query *query)
{
    vdbq *db = query->db;
    const struct ast_from *from =
        query->statement ? query->statement->files : NULL;
    if (from == NULL || db->file_reader == NULL
        || query->statement->kind == AST_CREATE_VIEW)
        return VDBQ_OK;
    uint64_t start = os_time_ns();
    enum vdbq_status status = open_files(db);
    if (status == VDBQ_OK)
        db->files->options = db->options;
    for (; from != NULL && status == VDBQ_OK; from = from->next_file)
        status = read_file(db, from);
    query->times.files_ns += os_time_ns() - start;
    query_files_close(query);
    if (status == VDBQ_OK)
        status = snapshot_open(db->files->database, &query->files, &db->error);
    return status;
}
