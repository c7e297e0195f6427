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
    if (append == NULL)
        return session_misuse(db, "the place for the append");
    *append = NULL;
    if (table == NULL)
        return session_misuse(db, "the table's name");
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
    session_hear_cancel(db);
    struct stop_work former = stop_enter(&db->stop);
    status = begin(db, table, made);
    stop_leave(former);
    db->append = made;
    if (status == VDBQ_OK)
        *append = made;
    else
        vdbq_append_close(made);
    return session_report(db, status, NULL, 0);
}

/* Checks that the vector is of its column's type, and there. */
static enum vdbq_status check_vector(const struct column *column,
                                     const struct vdbq_vector *vector,
                                     uint64_t rows, struct error *error)
{
    if (vector->type != column->type)
        return error_set(error, VDBQ_TYPE, "column %s is %s, its vector %s",
                         column->name, vdbq_type_name(column->type),
                         vdbq_type_name(vector->type));
    if (rows > 0 && vector->values == NULL)
        return error_set(error, VDBQ_MISUSE, "the values of column %s are NULL",
                         column->name);
    return VDBQ_OK;
}

static enum vdbq_status check_vectors(struct vdbq_append *append, uint64_t rows,
                                      const struct vdbq_vector *vectors)
{
    const struct table *table = catalogue_table_id(
        transaction_catalogue(append->transaction), append->table_id);
    struct error *error = &append->db->error;
    enum vdbq_status status = VDBQ_OK;
    if (vectors == NULL)
        return error_set(error, VDBQ_MISUSE, "the vectors are NULL");
    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++)
        status = check_vector(&table->columns[i], &vectors[i], rows, error);
    return status;
}

static enum vdbq_status begin_call(struct vdbq_append *append)
{
    enum vdbq_status status = session_begin(append->db);
    if (status != VDBQ_OK)
        return status;
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
    if (append == NULL)
        return VDBQ_MISUSE;
    enum vdbq_status status = begin_call(append);
    if (status != VDBQ_OK)
        return session_report(append->db, status, NULL, 0);
    struct stop_work former = stop_enter(&append->db->stop);
    status = check_vectors(append, rows, vectors);
    if (status == VDBQ_OK)
        status = transaction_append(append->transaction, append->table_id, rows,
                                    vectors, &append->db->error);
    if (status != VDBQ_OK)
        drop(append);
    stop_leave(former);
    return session_report(append->db, status, NULL, 0);
}

enum vdbq_status vdbq_append_commit(vdbq_append *append)
{
    if (append == NULL)
        return VDBQ_MISUSE;
    struct stop_work former = stop_enter(&append->db->stop);
    enum vdbq_status status = begin_call(append);
    if (status == VDBQ_OK) {
        status = session_leave(append->db, append->transaction, VDBQ_OK);
        append->transaction = NULL;
    }
    stop_leave(former);
    return session_report(append->db, status, NULL, 0);
}

void vdbq_append_close(vdbq_append *append)
{
    if (append == NULL || session_is_inherited(append->db))
        return;
    drop(append);
    append->db->append = NULL;
    memory_release(append);
}
