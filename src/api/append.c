/* SPDX-License-Identifier: MIT */
/*
 * Bulk append: a transaction that the caller feeds with vectors, or a part of
 * the one that BEGIN opened.
 */
#include "api/session.h"

struct vdbq_append {
    vdbq *db;
    struct transaction *transaction; /* NULL: ended or failed */
    uint32_t table_id;
};

/* Starts the transaction and finds the table in it. */
static enum vdbq_status begin(vdbq *db, const char *table,
                              struct vdbq_append *append)
{
    enum vdbq_status status = session_enter(db, &append->transaction);
    if (status != VDBQ_OK)
        return status;
    const struct table *found =
        catalogue_table(transaction_catalogue(append->transaction), table);
    if (found == NULL)
        return error_set(&db->error, VDBQ_UNKNOWN, "no table \"%s\"", table);
    append->table_id = found->id;
    return VDBQ_OK;
}

enum vdbq_status vdbq_append_open(vdbq *db, const char *table,
                                  vdbq_append **append)
{
    *append = NULL;
    enum vdbq_status status = session_begin(db);
    if (status == VDBQ_OK && db->append != NULL)
        status = error_set(&db->error, VDBQ_MISUSE,
                           "another append is open on this connection");
    if (status != VDBQ_OK)
        return session_report(db, status, NULL, 0);
    struct vdbq_append *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return session_report(db, error_no_memory(&db->error), NULL, 0);
    made->db = db;
    status = begin(db, table, made);
    db->append = made;
    if (status == VDBQ_OK)
        *append = made;
    else
        vdbq_append_close(made);
    return session_report(db, status, NULL, 0);
}

/* Checks that the vectors are of the table's types. */
static enum vdbq_status check_types(struct vdbq_append *append,
                                    const struct vdbq_vector *vectors)
{
    const struct table *table = catalogue_table_id(
        transaction_catalogue(append->transaction), append->table_id);
    for (unsigned i = 0; i < table->column_count; i++)
        if (vectors[i].type != table->columns[i].type)
            return error_set(&append->db->error, VDBQ_TYPE,
                             "column %s is %s, its vector %s",
                             table->columns[i].name,
                             vdbq_type_name(table->columns[i].type),
                             vdbq_type_name(vectors[i].type));
    return VDBQ_OK;
}

static enum vdbq_status begin_call(struct vdbq_append *append)
{
    error_clear(&append->db->error);
    if (append->transaction == NULL)
        return error_set(&append->db->error, VDBQ_MISUSE,
                         "the append has ended");
    return VDBQ_OK;
}

/* Undoes what was appended. */
static void drop(struct vdbq_append *append)
{
    if (append->transaction != NULL)
        session_leave(append->db, append->transaction, VDBQ_CANCELLED);
    append->transaction = NULL;
}

enum vdbq_status vdbq_append_rows(vdbq_append *append, uint64_t rows,
                                  const struct vdbq_vector *vectors)
{
    enum vdbq_status status = begin_call(append);
    if (status != VDBQ_OK)
        return session_report(append->db, status, NULL, 0);
    status = check_types(append, vectors);
    if (status == VDBQ_OK)
        status = transaction_append(append->transaction, append->table_id,
                                    rows, vectors, &append->db->error);
    if (status != VDBQ_OK)
        drop(append);
    return session_report(append->db, status, NULL, 0);
}

enum vdbq_status vdbq_append_commit(vdbq_append *append)
{
    enum vdbq_status status = begin_call(append);
    if (status == VDBQ_OK) {
        status = session_leave(append->db, append->transaction, VDBQ_OK);
        append->transaction = NULL;
    }
    return session_report(append->db, status, NULL, 0);
}

void vdbq_append_close(vdbq_append *append)
{
    if (append == NULL)
        return;
    drop(append);
    append->db->append = NULL;
    memory_release(append);
}
