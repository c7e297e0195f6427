/* SPDX-License-Identifier: MIT */
/*
 * What a connection knows of its changes: how many rows the last one was about
 * and all of them were, and the key of the row that was inserted last. SQL asks
 * by changes() and its siblings, a program by vdbq_get_changes().
 */
#include "api/query.h"

#include <assert.h>

#include "base/type.h"

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
