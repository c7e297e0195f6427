/* SPDX-License-Identifier: MIT */
/*
 * Plans may hope that no value fails (plan.h): subqueries are then computed for
 * values that no row may come to. Where one fails, the run goes on with a plan
 * that does not hope, behind the rows that it has given, for both plans give the
 * same rows in the same order (estimate rule 5). What fails then does so in the
 * serial order.
 *
 * Or they hope that few rows are found (struct stream_hope). Where that was in vain
 * more of them are asked for, if that may do; else the next runs do not hope either:
 * one of them, and twice as many each time that it is in vain again.
 */
#include "api/query.h"

enum { MORE_TIMES = 8, WARY_MAX = 63 };

bool query_hoped(const vdbq_query *query, enum vdbq_status status)
{
    bool failed =
        query->plan.hopes && (status == VDBQ_RANGE || status == VDBQ_TYPE);
    bool many = status == VDBQ_LIMIT && query->hope.vain;
    return query->planned && !query->careful && (failed || many);
}

/* Closes what a run has opened for its plan. */
static void let_stream_go(vdbq_query *query)
{
    query_stream_close(query);
    catalogue_release(query->joined);
    query->joined = NULL;
}

bool query_hopes_more(vdbq_query *query, enum vdbq_status status)
{
    struct stream_hope *hope = &query->hope;
    if (!query_hoped(query, status) || !hope->vain || !hope->too_few)
        return false;
    error_clear(&query->db->error);
    let_stream_go(query);
    *hope = (struct stream_hope){ .times = MORE_TIMES * hope->times };
    return true;
}

/* Puts off hoping for few rows. */
static void be_wary(vdbq_query *query)
{
    query->vain = query->vain < WARY_MAX ? 2 * query->vain + 1 : WARY_MAX;
    query->wary = query->vain;
}

void query_be_careful(vdbq_query *query)
{
    error_clear(&query->db->error);
    if (query->hope.vain)
        be_wary(query);
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
    let_stream_go(query);
    query_be_careful(query);
    query->given = query->stats.sum.rows_returned;
    if (query->given > 0)
        keep_plan(query);
    status = query_plan(query, query->snapshot.catalogue);
    return status == VDBQ_OK ? query_stream(query) : status;
}

/* Whether the next run keeps the careful plan, which gives all rows. */
static bool stays_careful(vdbq_query *query)
{
    bool stays = query->careful && query->given == 0 && query->wary > 0;
    query->wary -= stays;
    return stays;
}

void query_hope_again(vdbq_query *query)
{
    bool stays = stays_careful(query);
    plan_finish(&query->former);
    arena_finish(&query->former_arena);
    if (!query->careful)
        query->vain = 0;
    query->replan |= query->careful && !stays;
    query->careful = stays;
    query->given = 0;
    query->now = 0;
    query->hope = (struct stream_hope){ .times = 1 };
}
