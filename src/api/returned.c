/* SPDX-License-Identifier: MIT */
/*
 * RETURNING: what a change returns is kept until the change is done, and is then
 * read like the rows of a query.
 */
#include "api/query.h"

#include "data/database/rows_gather.h"

bool query_returns(const vdbq_query *query)
{
    return query->planned && query->plan.explain == AST_RUN
           && query->plan.returned.count > 0;
}

enum vdbq_status query_returned_add(vdbq_query *query,
                                    const struct vdbq_vector *columns,
                                    uint64_t first, uint64_t count)
{
    const struct plan_returned *plan = &query->plan.returned;

    if (!query_returns(query) || count == 0)
        return VDBQ_OK;
    return rows_gather(&query->returned, columns + plan->first, plan->count,
                       first, count, &query->db->error);
}

enum vdbq_status query_returned_end(vdbq_query *query)
{
    const struct rows *rows = &query->returned;
    struct vdbq_vector *vectors;

    if (!query_returns(query) || rows->count == 0)
        return VDBQ_OK;
    vectors = memory_zeroed(rows->column_count, sizeof *vectors);
    if (vectors == NULL)
        return error_no_memory(&query->db->error);
    rows_vectors(rows, vectors);
    memory_release(query->returned_vectors);
    query->returned_vectors = vectors;
    return VDBQ_OK;
}

void query_returned_batch(vdbq_query *query)
{
    struct vdbq_batch *batch = &query->batch;

    batch->rows = query->returned.count;
    batch->column = query->returned_vectors;
    query->stats.sum.rows_returned += batch->rows;
    query_end(query);
}

void query_returned_forget(vdbq_query *query)
{
    rows_finish(&query->returned);
    query->returned = (struct rows){ 0 };
    memory_release(query->returned_vectors);
    query->returned_vectors = NULL;
}
