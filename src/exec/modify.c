/* SPDX-License-Identifier: MIT */
/*
 * One statement, one transaction. What a statement promises ("if exists") is
 * decided under the writer's lock, from the newest commit.
 */
#include "exec/modify.h"

/* Commits if all went well, else leaves no trace. */
static enum vdbq_status finish(struct transaction *transaction,
                               enum vdbq_status status, struct error *error)
{
    if (status == VDBQ_OK)
        return transaction_commit(transaction, error);
    transaction_abort(transaction);
    return status;
}

enum vdbq_status modify_create(struct database *database, const char *name,
                               const struct column *columns,
                               unsigned column_count, unsigned key,
                               bool if_not_exists, struct error *error)
{
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, error);
    if (status != VDBQ_OK)
        return status;
    const struct catalogue *now = transaction_catalogue(transaction);
    if (if_not_exists && catalogue_table(now, name) != NULL) {
        transaction_abort(transaction);
        return VDBQ_OK;
    }
    status = transaction_create_table(transaction, name, columns, column_count,
                                      key, error);
    return finish(transaction, status, error);
}

enum vdbq_status modify_drop(struct database *database, const char *name,
                             bool if_exists, struct error *error)
{
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, error);
    if (status != VDBQ_OK)
        return status;
    const struct table *table =
        catalogue_table(transaction_catalogue(transaction), name);
    if (table == NULL) {
        transaction_abort(transaction);
        return if_exists ? VDBQ_OK
                         : error_set(error, VDBQ_UNKNOWN,
                                     "no table \"%s\"", name);
    }
    status = transaction_drop_table(transaction, table->id, error);
    return finish(transaction, status, error);
}

enum vdbq_status modify_insert(struct database *database, uint32_t table_id,
                               uint64_t rows,
                               const struct vdbq_vector *vectors,
                               struct error *error)
{
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, error);
    if (status != VDBQ_OK)
        return status;
    status = transaction_append(transaction, table_id, rows, vectors, error);
    return finish(transaction, status, error);
}
