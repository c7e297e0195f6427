/* SPDX-License-Identifier: MIT */
/*
 * The transaction in which a statement or an append of a connection runs: the
 * one that BEGIN or SAVEPOINT has opened, or one of its own that ends with it;
 * and the statements that open and end transactions and savepoints; VACUUM,
 * which makes transactions of its own.
 */
#include "api/session.h"
#include "data/transaction/vacuum.h"

struct transaction **session_place(vdbq *db, bool temporary)
{
    return temporary ? &db->temporary_transaction : &db->transaction;
}

static struct database *database_at(const vdbq *db, bool temporary)
{
    return temporary ? db->temporary : db->database;
}

enum vdbq_status session_snapshot(vdbq *db, bool temporary,
                                  struct snapshot *snapshot)
{
    struct transaction *within = *session_place(db, temporary);
    if (within != NULL)
        return transaction_snapshot(within, snapshot, &db->error);
    return snapshot_open(database_at(db, temporary), snapshot, &db->error);
}

enum vdbq_status session_enter(vdbq *db, bool temporary,
                               struct transaction **transaction)
{
    struct transaction *open = *transaction = *session_place(db, temporary);
    if (open != NULL && db->append != NULL) {
        *transaction = NULL;
        return error_set(&db->error, VDBQ_MISUSE,
                         "an append is open on this connection");
    }
    if (db->copying) /* a part of the statement, which is marked */
        return VDBQ_OK;
    enum vdbq_status status = VDBQ_OK;
    process_memory(&db->options.settings);
    if (open == NULL)
        status = transaction_begin(database_at(db, temporary), transaction,
                                   &db->error);
    if (status != VDBQ_OK)
        return status;
    status = transaction_mark(*transaction, &db->error);
    if (status != VDBQ_OK) {
        if (open == NULL)
            transaction_abort(*transaction);
        *transaction = NULL;
    }
    return status;
}

enum vdbq_status session_leave(vdbq *db, struct transaction *transaction,
                               enum vdbq_status status)
{
    bool own = transaction != db->transaction
               && transaction != db->temporary_transaction;
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

/* --------------------------------------------------------- transactions -- */

/* Gives up what BEGIN has opened. */
static void abandon(vdbq *db)
{
    transaction_abort(db->transaction);
    transaction_abort(db->temporary_transaction);
    db->transaction = db->temporary_transaction = NULL;
}

enum vdbq_status session_open(vdbq *db)
{
    if (db->transaction != NULL) {
        error_set(&db->error, VDBQ_MISUSE, "a transaction is open already");
        return error_hint(&db->error,
                          db->saved_first
                              ? "a SAVEPOINT opened it: COMMIT keeps what it "
                                "did, ROLLBACK undoes it"
                              : "COMMIT keeps what it did, ROLLBACK undoes it");
    }
    db->saved_first = false;
    enum vdbq_status status =
        transaction_begin(db->database, &db->transaction, &db->error);
    if (status == VDBQ_OK && db->temporary != NULL)
        status = transaction_begin(db->temporary, &db->temporary_transaction,
                                   &db->error);
    if (status != VDBQ_OK)
        abandon(db);
    return status;
}

/* An append writes to the transaction. */
static enum vdbq_status check_appends(vdbq *db)
{
    return db->append == NULL
               ? VDBQ_OK
               : error_set(&db->error, VDBQ_MISUSE,
                           "an append is open on this connection");
}

/* The file's commit decides. What is temporary is written before it, but for the head of
 * its own file. */
static enum vdbq_status commit_both(vdbq *db)
{
    struct transaction *transaction = db->transaction,
                       *temporary = db->temporary_transaction;
    enum vdbq_status status = temporary != NULL
                                  ? transaction_prepare(temporary, &db->error)
                                  : VDBQ_OK;
    if (status != VDBQ_OK) {
        abandon(db);
        return status;
    }
    db->transaction = db->temporary_transaction = NULL;
    status = transaction_commit(transaction, &db->error);
    if (status != VDBQ_OK)
        transaction_abort(temporary);
    else if (temporary != NULL
             && (status = transaction_commit(temporary, &db->error)) != VDBQ_OK)
        error_hint(&db->error, "the temporary tables are as they were; what "
                               "the transaction did in the file is kept");
    return status;
}

enum vdbq_status session_end(vdbq *db, bool commit)
{
    if (db->transaction == NULL) {
        error_set(&db->error, VDBQ_MISUSE, "no transaction is open");
        return error_hint(&db->error, "BEGIN opens one; without it every "
                                      "statement is kept when it is done");
    }
    enum vdbq_status status = check_appends(db);
    if (status != VDBQ_OK)
        return status;
    if (commit)
        return commit_both(db);
    abandon(db);
    return VDBQ_OK;
}

/* ----------------------------------------------------------- savepoints -- */

/* Both transactions have the same savepoints. */
static enum vdbq_status save_both(vdbq *db, const char *name)
{
    struct transaction *temporary = db->temporary_transaction;
    struct error ignored;
    enum vdbq_status status =
        temporary != NULL ? transaction_save(temporary, name, &db->error)
                          : VDBQ_OK;
    if (status != VDBQ_OK)
        return status;
    status = transaction_save(db->transaction, name, &db->error);
    if (status != VDBQ_OK && temporary != NULL)
        transaction_release(temporary,
                            (size_t)transaction_savepoint(temporary, name),
                            &ignored);
    return status;
}

/* Goes back to a savepoint, or (`released`) forgets it. */
static enum vdbq_status to_savepoint(vdbq *db, size_t savepoint, bool released)
{
    struct transaction *const both[] = { db->transaction,
                                         db->temporary_transaction };
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < 2 && status == VDBQ_OK; i++)
        if (both[i] != NULL)
            status = released
                         ? transaction_release(both[i], savepoint, &db->error)
                         : transaction_return(both[i], savepoint, &db->error);
    return status;
}

/* Opens a savepoint, and a transaction for it where none is open. */
static enum vdbq_status save(vdbq *db, const struct ast_name *name)
{
    bool first = db->transaction == NULL;
    enum vdbq_status status = first ? session_open(db) : VDBQ_OK;
    if (status == VDBQ_OK)
        status = save_both(db, name->text);
    if (first && status == VDBQ_OK)
        db->saved_first = true;
    if (first && status != VDBQ_OK)
        abandon(db);
    return status;
}

static enum vdbq_status no_savepoint(vdbq *db, const struct ast_name *name)
{
    error_at(&db->error, VDBQ_UNKNOWN, name->at, "no such savepoint: %s",
             name->text);
    return error_hint(&db->error, "SAVEPOINT opens one; RELEASE, ROLLBACK TO "
                                  "an older one and the end of the transaction "
                                  "end it");
}

enum vdbq_status session_savepoint(vdbq *db, enum ast_statement_kind kind,
                                   const struct ast_name *name)
{
    enum vdbq_status status = check_appends(db);
    if (status != VDBQ_OK)
        return status;
    if (kind == AST_SAVEPOINT)
        return save(db, name);
    long found = db->transaction == NULL
                     ? -1
                     : transaction_savepoint(db->transaction, name->text);
    if (found < 0)
        return no_savepoint(db, name);
    if (kind == AST_ROLLBACK_TO)
        return to_savepoint(db, (size_t)found, false);
    return found == 0 && db->saved_first
               ? session_end(db, true)
               : to_savepoint(db, (size_t)found, true);
}

/* ------------------------------------------------------------- VACUUM -- */

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
