/* SPDX-License-Identifier: MIT */
/*
 * Plans may hope that no value fails (plan.h): subqueries are then computed for
 * values that no row may come to. Where one fails, the run goes on with a plan
 * that does not hope, behind the rows that it has given, for both plans give the
 * same rows in the same order (estimate rule 5). What fails then does so in the
 * serial order.
 */
#include "api/query.h"

bool query_hoped(const vdbq_query *query, enum vdbq_status status)
{
    return query->planned && query->plan.hopes && !query->careful
           && (status == VDBQ_RANGE || status == VDBQ_TYPE);
}

void query_be_careful(vdbq_query *query)
{
    error_clear(&query->db->error);
    query->careful = true;
    query->replan = true;
    query->now = query->plan.now;
}

/* Keeps the plan that gave rows: a program may hold its names of columns. */
static void keep_plan(vdbq_query *query)
{
    query_stream_forget(query);
    query->former = query->plan;
    query->former_arena = query->plan_arena;
    query->plan = (struct plan){ 0 };
    query->plan_arena = (struct arena){ 0 };
    query->planned = false;
}

enum vdbq_status query_stream_carefully(vdbq_query *query)
{
    enum vdbq_status status;
    query_stream_close(query);
    catalogue_release(query->joined);
    query->joined = NULL;
    query_be_careful(query);
    query->given = query->stats.sum.rows_returned;
    if (query->given > 0)
        keep_plan(query);
    status = query_plan(query, query->snapshot.catalogue);
    return status == VDBQ_OK ? query_stream(query) : status;
}

void query_hope_again(vdbq_query *query)
{
    plan_finish(&query->former);
    arena_finish(&query->former_arena);
    query->replan |= query->careful;
    query->careful = false;
    query->given = 0;
    query->now = 0;
}
