/* SPDX-License-Identifier: MIT */
/*
 * UPDATE and DELETE of some rows: the plan's steps give the ids of these rows,
 * and their new values. All are gathered before the first one changes.
 */
#include "api/query.h"

#include "data/database/rows_gather.h"
#include "data/transaction/match.h"

/* Reads all rows of the query's stream. */
static enum vdbq_status gather(vdbq_query *query, struct rows *rows)
{
    struct error *error = &query->db->error;
    struct vdbq_batch *batch = &query->batch;
    enum vdbq_status status = VDBQ_OK;

    *batch = (struct vdbq_batch){ .rows = 1 };
    while (status == VDBQ_OK && batch->rows > 0) {
        status = query_change_batch(query);
        if (status == VDBQ_OK && batch->rows > 0)
            status = rows_gather(rows, batch->column, batch->columns, 0,
                                 batch->rows, error);
    }
    *batch = (struct vdbq_batch){ 0 };
    return status;
}

/* Changes the rows that were gathered, and keeps what is returned of them. */
static enum vdbq_status change_gathered(vdbq_query *query,
                                        struct transaction *transaction,
                                        const struct rows *rows)
{
    const struct plan_change *plan = &query->plan.change;
    struct vdbq_vector *vectors =
        memory_zeroed(rows->column_count, sizeof *vectors);
    enum vdbq_status status;

    if (vectors == NULL)
        return error_no_memory(&query->db->error);
    rows_vectors(rows, vectors);
    status = transaction_change(
        transaction, plan->table_id,
        &(struct row_changes){ .count = rows->count,
                               .numbers = vectors,
                               .column_count = plan->column_count,
                               .columns = plan->columns,
                               .vectors = vectors + 1 },
        &query->db->error);
    if (status == VDBQ_OK)
        status = query_returned_add(query, vectors, 0, rows->count);
    memory_release(vectors);
    return status;
}

enum vdbq_status query_change_some(vdbq_query *query,
                                   struct transaction *transaction)
{
    const struct plan_change *plan = &query->plan.change;
    struct rows rows = { 0 };
    enum vdbq_status status = gather(query, &rows);

    if (status == VDBQ_OK && rows.count > 0 && plan->joined)
        status = match_rows(&rows, plan->column_count, &query->db->error);
    query->stats.sum.rows_changed = rows.count;
    if (status == VDBQ_OK && rows.count > 0)
        status = change_gathered(query, transaction, &rows);
    rows_finish(&rows);
    return status;
}
