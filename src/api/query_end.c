/* SPDX-License-Identifier: MIT */
/*
 * The time of a run, and its end: the query lets go its stream, its snapshot, its files and
 * the devices that kept times for it. It can be run again.
 */
#include "api/query.h"

/* Lets go the devices that keep times for the query. */
static void release_times(vdbq_query *query)
{
    struct device **timed = VECTOR_ITEMS(&query->timed, struct device *);
    for (size_t i = 0; i < query->timed.count; i++)
        device_times_release(timed[i]);
    vector_finish(&query->timed);
}

void query_clock_start(vdbq_query *query)
{
    query->counted_ns = os_time_ns();
}

void query_clock_count(vdbq_query *query)
{
    uint64_t now = os_time_ns();
    query->stats.sum.total_ns += now - query->counted_ns;
    query->counted_ns = now;
}

uint64_t query_clock(const vdbq_query *query)
{
    return query->statement != NULL
                   && query->statement->explain == AST_EXPLAIN_ANALYZE
               ? os_time_ns()
               : 0;
}

void query_files_close(vdbq_query *query)
{
    snapshot_close(&query->files);
    snapshot_close(&query->beside);
    catalogue_release(query->joined);
    query->joined = NULL;
}

void query_end(vdbq_query *query)
{
    query_stream_close(query);
    account_close(&query->account);
    release_times(query);
    snapshot_close(&query->snapshot);
    query->snapshot = (struct snapshot){ 0 };
    query_files_close(query);
    query->state = QUERY_ENDED;
}
