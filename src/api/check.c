/* SPDX-License-Identifier: MIT */
/*
 * Proof of the database's file, for programs to ask for. A connection of its own
 * reads it, for which nothing is known yet; but in a transaction, and in memory,
 * there is but what this one has.
 */
#include "api/query.h"
#include "data/check/check.h"

void session_forget_faults(vdbq *db)
{
    for (size_t i = 0; i < db->faults.count; i++)
        text_finish(vector_at(&db->faults, i));
    db->faults.count = 0;
}

static enum vdbq_status check_own(vdbq *db)
{
    struct snapshot snapshot;
    enum vdbq_status status = session_snapshot(db, false, &snapshot);
    if (status == VDBQ_OK)
        status = check_snapshot(&snapshot, &db->faults, &db->error);
    snapshot_close(&snapshot);
    return status;
}

static enum vdbq_status check(vdbq *db)
{
    const char *path = database_path(db->database);
    struct database_params params =
        session_params(db, path, VDBQ_OPEN_READ_ONLY);
    session_forget_faults(db);
    return db->transaction != NULL || params.files == &os_memory_files
               ? check_own(db)
               : check_file(&params, session_compute_keys, db, &db->faults,
                            &db->error);
}

unsigned vdbq_check(vdbq *db)
{
    enum vdbq_status status = session_begin(db);
    if (db == NULL)
        return 0;
    struct stop_work former = stop_enter(&db->stop);
    session_hear_cancel(db);
    if (status == VDBQ_OK)
        status = check(db);
    status = session_ended_by(db, status);
    stop_leave(former);
    session_report(db, status, NULL, 0);
    return status == VDBQ_OK ? (unsigned)db->faults.count : 0;
}

const char *vdbq_fault(vdbq *db, unsigned number)
{
    if (db == NULL || number >= db->faults.count)
        return NULL;
    return ((const struct text *)vector_at(&db->faults, number))->bytes;
}

enum vdbq_status query_check(vdbq_query *query)
{
    vdbq *db = query->db;
    enum vdbq_status status = check(db);
    text_finish(&query->lines);
    for (size_t i = 0; status == VDBQ_OK && i < db->faults.count; i++)
        text_print(&query->lines, "%s\n", vdbq_fault(db, (unsigned)i));
    if (status == VDBQ_OK && db->faults.count == 0)
        text_print(&query->lines, "ok\n");
    return status == VDBQ_OK ? query_lines_end(query) : status;
}
