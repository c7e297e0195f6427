/* SPDX-License-Identifier: MIT */
/*
 * Part files of a connection's database: data/parts/parts_make.h.
 */
#include "api/session.h"
#include "cluster/vdbq_cluster.h"
#include "data/file/part_files.h"
#include "data/parts/parts_make.h"

static enum vdbq_status distribute(vdbq *db, const struct parts_params *params)
{
    if (db->transaction != NULL || db->append != NULL)
        return error_set(&db->error, VDBQ_MISUSE, "%s",
                         "part files are not made inside a transaction");
    return parts_make(params, &db->error);
}

enum vdbq_status vdbq_cluster_distribute(vdbq *db, const char *folder,
                                         unsigned parts,
                                         const char *const *whole,
                                         unsigned whole_count)
{
    if (folder == NULL || parts == 0 || parts > PARTS_MAX
        || (whole == NULL && whole_count > 0))
        return session_misuse(db, "a folder and 1 to 4096 parts");
    enum vdbq_status status = session_begin(db);
    if (db == NULL)
        return status;
    struct stop_work former = stop_enter(&db->stop);
    session_hear_cancel(db);
    if (status == VDBQ_OK)
        status =
            distribute(db, &(struct parts_params){ db->database, folder, parts,
                                                   whole, whole_count });
    status = session_ended_by(db, status);
    stop_leave(former);
    return session_report(db, status, NULL, 0);
}
