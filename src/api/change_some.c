/* SPDX-License-Identifier: MIT */
/*
 * UPDATE and DELETE of some rows: the plan's steps give the ids of these rows,
 * and their new values. All are gathered before the first one changes.
 */
#include "api/query.h"

#include "data/database/rows.h"

/* Room for rows like those of the batch. */
static enum vdbq_status gather_first(struct rows *rows,
                                     const struct vdbq_batch *batch,
                                     struct error *error)
{
    struct column *columns = memory_zeroed(batch->columns, sizeof *columns);
    struct table like = { .column_count = batch->columns, .columns = columns };
    bool room = columns != NULL;

    for (unsigned i = 0; room && i < batch->columns; i++)
        columns[i].type = batch->column[i].type;
    room = room && rows_init(rows, &like);
    memory_release(columns);
    return room ? VDBQ_OK : error_no_memory(error);
}

static enum vdbq_status gather_batch(struct rows *rows,
                                     const struct vdbq_batch *batch,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (rows->columns == NULL)
        status = gather_first(rows, batch, error);
    if (status == VDBQ_OK && batch->rows > UINT32_MAX - rows->count)
        return error_set(error, VDBQ_LIMIT,
                         "one statement changes at most %u rows", UINT32_MAX);
    if (status == VDBQ_OK
        && !rows_add(rows, batch->column, 0, (uint32_t)batch->rows))
        status = error_no_memory(error);
    return status;
}

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
            status = gather_batch(rows, batch, error);
    }
    *batch = (struct vdbq_batch){ 0 };
    return status;
}

/* Changes the rows that were gathered. */
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
                               .ids = vectors,
                               .numbered = true,
                               .column_count = plan->column_count,
                               .columns = plan->columns,
                               .vectors = vectors + 1 },
        &query->db->error);
    memory_release(vectors);
    return status;
}

enum vdbq_status query_change_some(vdbq_query *query,
                                   struct transaction *transaction)
{
    struct rows rows = { 0 };
    enum vdbq_status status = gather(query, &rows);

    query->stats.sum.rows_changed = rows.count;
    if (status == VDBQ_OK && rows.count > 0)
        status = change_gathered(query, transaction, &rows);
    rows_finish(&rows);
    return status;
}
