/* SPDX-License-Identifier: MIT */
/*
 * Temporary tables, views and indexes: they are in a second database, in a file without a
 * name, that hangs on the connection and is gone with it. Ids tell whose a table is
 * (database_of()), so that plans, pools and caches see one catalogue of both. A statement
 * changes one of the two databases, its home, and reads both.
 */
#include "api/query.h"
#include "parser/ast.h"

/* Within a transaction the second database is from its beginning as it is now: empty. */
static enum vdbq_status join_transaction(vdbq *db)
{
    struct transaction **begun = &db->temporary_transaction;
    if (db->transaction == NULL)
        return VDBQ_OK;
    enum vdbq_status status =
        transaction_begin(db->temporary, begun, &db->error);
    if (status == VDBQ_OK)
        status = transaction_save_as(*begun, db->transaction, &db->error);
    return status;
}

enum vdbq_status session_temporary_open(vdbq *db)
{
    if (db->temporary != NULL)
        return VDBQ_OK;
    const struct database_params params = session_params(db, NULL, 0);
    enum vdbq_status status = database_open_temporary(
        db->database, params.settings, params.parse_default, &db->temporary,
        &db->error);
    if (status == VDBQ_IO)
        error_hint(&db->error, "they are in a file without a name in the "
                               "folder TMPDIR; without it, /tmp");
    if (status == VDBQ_OK)
        status = join_transaction(db);
    if (status != VDBQ_OK)
        session_temporary_close(db);
    return status;
}

static void forget_whole(struct session_whole *whole)
{
    catalogue_release(whole->catalogue);
    catalogue_release(whole->temporary);
    catalogue_release(whole->whole);
    *whole = (struct session_whole){ 0 };
}

void session_temporary_close(vdbq *db)
{
    transaction_abort(db->temporary_transaction);
    db->temporary_transaction = NULL;
    forget_whole(&db->whole);
    database_close_temporary(db->database);
    db->temporary = NULL;
}

const struct catalogue *session_temporary(const vdbq *db)
{
    const struct transaction *within = db->temporary_transaction;
    if (db->temporary == NULL)
        return NULL;
    return within != NULL ? transaction_catalogue(within)
                          : database_state(db->temporary);
}

bool session_is_temporary(const vdbq *db, const char *table)
{
    const struct catalogue *temporary = session_temporary(db);
    return temporary != NULL && catalogue_table(temporary, table) != NULL;
}

static bool is_empty(const struct catalogue *temporary)
{
    return temporary == NULL
           || (temporary->table_count == 0 && temporary->view_count == 0);
}

/* Holds what was asked for, and keeps it for who asks again. */
static enum vdbq_status make_whole(vdbq *db, const struct catalogue *catalogue,
                                   const struct catalogue *temporary)
{
    struct session_whole *whole = &db->whole;
    forget_whole(whole);
    whole->whole = catalogue_join(catalogue, temporary, NULL);
    if (whole->whole == NULL)
        return error_no_memory(&db->error);
    whole->catalogue = catalogue_hold((struct catalogue *)catalogue);
    whole->temporary = catalogue_hold((struct catalogue *)temporary);
    return VDBQ_OK;
}

enum vdbq_status session_join(vdbq *db, const struct catalogue *catalogue,
                              const struct catalogue *temporary,
                              struct catalogue **whole)
{
    *whole = NULL;
    if (is_empty(temporary)) {
        *whole = catalogue_hold((struct catalogue *)catalogue);
        return VDBQ_OK;
    }
    bool made =
        db->whole.catalogue == catalogue && db->whole.temporary == temporary;
    enum vdbq_status status =
        made ? VDBQ_OK : make_whole(db, catalogue, temporary);
    if (status == VDBQ_OK)
        *whole = catalogue_hold(db->whole.whole);
    return status;
}

/* ---------------------------------------------------------------- queries -- */

enum vdbq_status query_find_home(vdbq_query *query)
{
    query->home_temporary =
        query->statement != NULL
        && plan_is_temporary(query->statement, session_temporary(query->db));
    return query->home_temporary ? session_temporary_open(query->db) : VDBQ_OK;
}

enum vdbq_status query_beside_open(vdbq_query *query)
{
    enum vdbq_status status = query_find_home(query);
    snapshot_close(&query->beside);
    if (status != VDBQ_OK
        || (!query->home_temporary && is_empty(session_temporary(query->db))))
        return status;
    return session_snapshot(query->db, !query->home_temporary, &query->beside);
}

/* The state that the query sees of the database that is not its home; NULL: there is
 * none. */
static const struct catalogue *state_beside(const vdbq_query *query)
{
    if (query->beside.database != NULL)
        return query->beside.catalogue;
    return query->home_temporary ? transaction_catalogue(query->db->transaction)
                                 : session_temporary(query->db);
}

enum vdbq_status query_join(vdbq_query *query, const struct catalogue *home,
                            struct catalogue **joined)
{
    const struct catalogue *beside = state_beside(query);
    bool swapped = query->home_temporary;
    struct catalogue *whole;
    enum vdbq_status status = session_join(query->db, swapped ? beside : home,
                                           swapped ? home : beside, &whole);
    if (status != VDBQ_OK || query->files.database == NULL) {
        *joined = whole;
        return status;
    }
    *joined = catalogue_join(whole, NULL, query->files.catalogue);
    catalogue_release(whole);
    return *joined ? VDBQ_OK : error_no_memory(&query->db->error);
}
