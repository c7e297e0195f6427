/* SPDX-License-Identifier: MIT */
/*
 * Plans may hope that no value fails (plan.h): subqueries are then computed for
 * values that no row may come to. All of that comes before the first row. Where
 * one fails, the run starts again with a plan that does not hope; what fails then
 * does so in the serial order.
 */
#include "api/query.h"

bool query_hoped(const vdbq_query *query, enum vdbq_status status)
{
    return query->planned && query->plan.hopes && !query->careful
           && query->stats.sum.rows_returned == 0
           && (status == VDBQ_RANGE || status == VDBQ_TYPE);
}

void query_be_careful(vdbq_query *query)
{
    error_clear(&query->db->error);
    query->careful = true;
    query->replan = true;
    query->now = query->plan.now;
}

enum vdbq_status query_stream_carefully(vdbq_query *query)
{
    enum vdbq_status status;

    stream_close(query->stream);
    query->stream = NULL;
    catalogue_release(query->joined);
    query->joined = NULL;
    query_be_careful(query);
    status = query_plan(query, query->snapshot.catalogue);
    return status == VDBQ_OK ? query_stream(query) : status;
}

void query_hope_again(vdbq_query *query)
{
    query->replan |= query->careful;
    query->careful = false;
    query->now = 0;
}
