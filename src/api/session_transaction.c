/* SPDX-License-Identifier: MIT */
/*
 * The transaction in which a statement or an append of a connection runs: the
 * one that BEGIN has opened, or one of its own that ends with it.
 */
#include "api/session.h"

enum vdbq_status session_snapshot(vdbq *db, struct snapshot *snapshot)
{
    if (db->transaction != NULL)
        return transaction_snapshot(db->transaction, snapshot, &db->error);
    return snapshot_open(db->database, snapshot, &db->error);
}

enum vdbq_status session_enter(vdbq *db, struct transaction **transaction)
{
    *transaction = db->transaction;
    if (db->transaction != NULL && db->append != NULL) {
        *transaction = NULL;
        return error_set(&db->error, VDBQ_MISUSE,
                         "an append is open on this connection");
    }
    if (db->copying) /* a part of the statement, which is marked */
        return VDBQ_OK;
    enum vdbq_status status = VDBQ_OK;
    if (*transaction == NULL)
        status = transaction_begin(db->database, transaction, &db->error);
    if (status != VDBQ_OK)
        return status;
    status = transaction_mark(*transaction, &db->error);
    if (status != VDBQ_OK) {
        if (*transaction != db->transaction)
            transaction_abort(*transaction);
        *transaction = NULL;
    }
    return status;
}

enum vdbq_status session_leave(vdbq *db, struct transaction *transaction,
                               enum vdbq_status status)
{
    bool own = transaction != db->transaction;
    if (transaction == NULL)
        return status;
    if (status == VDBQ_OK)
        status = own ? transaction_commit(transaction, &db->error)
                     : transaction_settle(transaction, &db->error);
    else if (own)
        transaction_abort(transaction);
    if (status != VDBQ_OK && !own)
        transaction_undo(transaction);
    return status;
}
