/* SPDX-License-Identifier: MIT */
/*
 * The steps of a planned query are opened: where each of them runs, what they
 * may hold, and which devices keep times for them.
 */
#include "api/query.h"

#include "exec/operator/kinds.h"

vdbq *session_of(vdbq *db, const struct table *table)
{
    bool of_file = table != NULL && table->id >= CATALOGUE_FILES;
    return of_file ? db->files : db;
}

static bool wants_times(const vdbq_query *query)
{
    return query->plan.explain == AST_EXPLAIN_ANALYZE
           || query->settings.profiling;
}

/* Has a device that the query runs on keep times, where they are wanted. */
static enum vdbq_status hold_times(vdbq_query *query, struct device *device,
                                   struct error *error)
{
    struct device **timed = VECTOR_ITEMS(&query->timed, struct device *);
    if (!wants_times(query))
        return VDBQ_OK;
    for (size_t i = 0; i < query->timed.count; i++)
        if (timed[i] == device)
            return VDBQ_OK;
    if (!vector_append(&query->timed, &device, 1))
        return error_no_memory(error);
    enum vdbq_status status = device_times_hold(device, error);
    query->timed.count -= status != VDBQ_OK;
    return status;
}

/* Chooses where and how a scan runs; for stream_params. */
static enum vdbq_status choose_place(void *context, const struct table *table,
                                     const struct program *program,
                                     uint64_t rows, struct run_place *place,
                                     struct error *error)
{
    vdbq_query *query = context;
    vdbq *home = session_of(query->db, table);
    enum vdbq_status status =
        place_choose(home, &query->settings, table, program, rows, place);
    if (status != VDBQ_OK && error != &home->error)
        *error = home->error;
    if (status == VDBQ_OK)
        status = hold_times(query, place->device, error);
    if (status != VDBQ_OK)
        return status;
    if (place->stands_in > query->stands_in)
        query->stands_in = place->stands_in;
    if (table != NULL || query->device == NULL)
        query->device = place->device;
    stream_list(device_facts(place->device)->name, query->device_text,
                sizeof query->device_text);
    stream_list(run_mode_name(place->mode), query->mode_text,
                sizeof query->mode_text);
    return VDBQ_OK;
}

/* Bytes of the statement's tree and of its plan. */
static uint64_t plan_bytes(const vdbq_query *query)
{
    return arena_bytes(&query->arena) + arena_bytes(&query->tree)
           + arena_bytes(&query->plan_arena)
           + arena_bytes(&query->plan.steps.arena);
}

/* The step whose rows this process makes: other ranks but the first one have
 * those below STEP_GATHER alone. */
static int root_step(const vdbq_query *query)
{
    const struct ranks *ranks = query->params.ranks;
    return ranks != NULL && ranks->rank > 0
               ? query->division.gather
               : (int)query->plan.steps.steps.count - 1;
}

void query_stream_forget(vdbq_query *query)
{
    stream_close(query->resting);
    query->resting = NULL;
}

/* Only where this process makes all rows the stream is that of the last step. */
void query_stream_close(vdbq_query *query)
{
    struct stream *stream = query->stream;
    bool rests =
        stream != NULL && query->division.gather < 0 && stream_rest(stream);
    query->stream = NULL;
    if (rests) {
        query_stream_forget(query);
        query->resting = stream;
    } else {
        stream_close(stream);
    }
    if (query->cluster != NULL)
        query->cluster->end(query);
}

/* Opens the plan's stream: that of the last run once more, if it rests. */
static enum vdbq_status open_stream(vdbq_query *query)
{
    struct stream *resting = query->resting;
    if (resting == NULL)
        return stream_open_at(&query->params, &query->plan.steps, TEXTS_PASSING,
                              root_step(query), &query->stream,
                              &query->db->error);
    query->resting = NULL;
    enum vdbq_status status = stream_again(resting, &query->db->error);
    query->stream = status == VDBQ_OK ? resting : NULL;
    return status;
}

enum vdbq_status query_stream(vdbq_query *query)
{
    vdbq *db = query->db;
    const struct steps *steps = &query->plan.steps;
    enum vdbq_status status = VDBQ_OK;
    query->params.ranks = NULL;
    if (query->division.gather >= 0)
        status = query->cluster->begin(query);
    if (status == VDBQ_OK)
        status = query_join(query, query->snapshot.catalogue, &query->joined);
    if (status != VDBQ_OK)
        return status;
    query->seen = (struct snapshot){ db->database, query->joined };
    account_close(&query->account);
    account_open(&query->account, steps_memory(&query->settings),
                 plan_bytes(query));
    query->params = (struct stream_params){
        .snapshot = &query->seen,
        .choose = choose_place,
        .choose_context = query,
        .choose_kind = operator_kind,
        .threads = host_threads(db, &query->settings),
        .parameters = query->parameters,
        .parameter_count = query_parameter_count(query),
        .stats = &query->stats,
        .account = &query->account,
        .hope = &query->hope,
        .ranks = query->params.ranks,
    };
    if (query->plan.explain == AST_EXPLAIN_ANALYZE)
        query->stats.counts = &query->counts;
    stop_begin(steps->steps.count + (query->plan.kind != PLAN_SELECT));
    return open_stream(query);
}
