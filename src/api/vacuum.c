/* SPDX-License-Identifier: MIT */
/*
 * VACUUM, as a statement and as a call that tells what became of it.
 */
#include "api/query.h"
#include "data/transaction/vacuum.h"

enum vdbq_status session_vacuum(vdbq *db, struct vacuum *done)
{
    struct vacuum ignored;
    if (db->transaction != NULL || db->append != NULL) {
        error_set(&db->error, VDBQ_MISUSE, "VACUUM inside a transaction");
        return error_hint(&db->error,
                          "VACUUM makes commits of its own: COMMIT or ROLLBACK "
                          "comes before it");
    }
    return database_vacuum(db->database, done ? done : &ignored, &db->error);
}

enum vdbq_status vdbq_vacuum(vdbq *db, struct vdbq_vacuum *done)
{
    struct vacuum vacuum = { 0 };
    if (done == NULL)
        return session_misuse(db, "the place for the sizes");
    *done = (struct vdbq_vacuum){ 0 };
    enum vdbq_status status = session_begin(db);
    if (db == NULL)
        return status;
    struct stop_work former = stop_enter(&db->stop);
    session_hear_cancel(db);
    if (status == VDBQ_OK)
        status = session_vacuum(db, &vacuum);
    status = session_ended_by(db, status);
    stop_leave(former);
    *done = (struct vdbq_vacuum){ .before_bytes = vacuum.before,
                                  .after_bytes = vacuum.after,
                                  .read_bytes = vacuum.read };
    return session_report(db, status, NULL, 0);
}
