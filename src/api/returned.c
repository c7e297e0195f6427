/* SPDX-License-Identifier: MIT */
/*
 * RETURNING: what a change returns is kept until the change is done, and is then
 * read like the rows of a query. And what a connection knows of its changes, for
 * which SQL asks by changes() and its siblings.
 */
#include "api/query.h"

#include <assert.h>

#include "base/type.h"
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

/* --------------------------------------------------- what has changed -- */

void query_note_inserted(vdbq_query *query, const struct vdbq_vector *columns,
                         uint64_t row)
{
    const struct plan_insert *insert = &query->plan.insert;

    if (query->plan.kind != PLAN_INSERT || insert->integer_key == NO_KEY)
        return;
    const struct vdbq_vector *keys = &columns[insert->integer_key];
    bool wide = type_machine(keys->type) == TYPE_I64;
    assert(keys->nulls == NULL || !keys->nulls[row]);
    query->inserted = (struct inserted_key){
        .known = true,
        .key = wide ? ((const int64_t *)keys->values)[row]
                    : ((const int32_t *)keys->values)[row]
    };
}

/* Whether the statement is one of those that count. */
static bool counts(const vdbq_query *query)
{
    switch (query->statement->kind) {
    case AST_INSERT:
    case AST_UPDATE:
    case AST_DELETE:
    case AST_COPY_FROM:
        return true;
    default:
        return false;
    }
}

void query_count_changes(vdbq_query *query, enum vdbq_status status)
{
    struct vdbq_changes *changes = &query->db->changes;
    struct inserted_key inserted = query->inserted;

    query->inserted = (struct inserted_key){ 0 };
    if (!counts(query))
        return;
    changes->rows = status == VDBQ_OK ? query->stats.sum.rows_changed : 0;
    changes->total += changes->rows;
    if (status == VDBQ_OK && inserted.known)
        changes->key = inserted.key;
}

void vdbq_get_changes(const vdbq *db, struct vdbq_changes *changes)
{
    if (changes != NULL)
        *changes = db != NULL ? db->changes : (struct vdbq_changes){ 0 };
}
