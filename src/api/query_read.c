/* SPDX-License-Identifier: MIT */
/*
 * The rows of a query are read: batch by batch, row by row, or by
 * vdbq_execute(), which forgets them.
 */
#include "api/query.h"

/* Whether the query has read a state for longer than it may, which is kept for
 * those alone who read it (EXPIRED). It lets it go then. */
static enum vdbq_status check_age(vdbq_query *query)
{
    struct error *error = &query->db->error;
    uint64_t limit_ms = query->settings.read_timeout_ms;
    uint64_t age_ns = query->counted_ns - query->opened_ns;
    bool old;
    if (limit_ms == 0 || query->snapshot.database == NULL
        || age_ns < limit_ms * 1000000)
        return VDBQ_OK;
    enum vdbq_status status = snapshot_is_old(&query->snapshot, &old, error);
    if (status != VDBQ_OK || !old)
        return status;
    error_set(error, VDBQ_EXPIRED,
              "the query has read a state of the database for %.1f s that is "
              "no longer the newest",
              (double)age_ns / 1e9);
    error_hint(error,
               "run it again to read the newest one; the option read_timeout "
               "(VDBQ_READ_TIMEOUT), %llu ms, sets how long it may take",
               (unsigned long long)limit_ms);
    query_end(query);
    return VDBQ_EXPIRED;
}

/* The next batch of a running query. */
static enum vdbq_status next_batch(vdbq_query *query)
{
    struct vdbq_batch *batch = &query->batch;
    *batch = (struct vdbq_batch){ .columns = vdbq_query_columns(query) };
    if (query->failed)
        return error_set(&query->db->error, VDBQ_MISUSE,
                         "the query has failed: only a new run gives rows");
    if (query->state == QUERY_ENDED)
        return VDBQ_OK;
    if (query_has_lines(query)) {
        *batch = (struct vdbq_batch){ .rows = query->line_texts.count,
                                      .columns = 1,
                                      .column = &query->line_vector };
        query_end(query);
        return VDBQ_OK;
    }
    if (query_returns(query)) {
        query_returned_batch(query);
        return VDBQ_OK;
    }
    query_clock_start(query);
    enum vdbq_status status = check_age(query);
    if (status != VDBQ_OK)
        return status;
    status = stream_batch(query->stream, batch, &query->db->error);
    if (query_hoped(query, status)) {
        status = query_stream_carefully(query);
        if (status == VDBQ_OK)
            status = stream_batch(query->stream, batch, &query->db->error);
    }
    if (status == VDBQ_OK && batch->rows > 0)
        status = query_texts_make(query);
    query_clock_count(query);
    if (status != VDBQ_OK)
        batch->rows = 0;
    query->stats.sum.rows_returned += batch->rows;
    if (batch->rows == 0)
        query_end(query);
    return status;
}

/* Starts the query if need be and notes how it is read. */
static enum vdbq_status begin_reading(vdbq_query *query,
                                      enum query_reading reading)
{
    enum vdbq_status status = VDBQ_OK;
    if (query->state == QUERY_READY)
        status = vdbq_query_run(query);
    if (status != VDBQ_OK)
        return status;
    if (query->reading != READING_NOT && query->reading != reading)
        return session_report(query->db,
                              error_set(&query->db->error, VDBQ_MISUSE,
                                        "rows and batches of one run must not "
                                        "be mixed"),
                              NULL, 0);
    query->reading = reading;
    return VDBQ_OK;
}

/* Fetches the next batch, reporting a failure. */
static enum vdbq_status fetch(vdbq_query *query, enum query_reading reading)
{
    enum vdbq_status status = begin_reading(query, reading);
    if (status != VDBQ_OK)
        return status;
    status = session_begin(query->db);
    struct stop_work former = stop_enter(&query->db->stop);
    if (status == VDBQ_OK)
        status = session_ended_by(query->db, next_batch(query));
    stop_leave(former);
    query->failed = status != VDBQ_OK;
    return session_report(query->db, status, query->text, query->length);
}

enum vdbq_status vdbq_query_batch(vdbq_query *query, struct vdbq_batch *batch)
{
    if (query == NULL || batch == NULL)
        return session_misuse(query ? query->db : NULL,
                              "the place for the batch");
    enum vdbq_status status = fetch(query, READING_BATCHES);
    *batch = query->batch;
    if (status != VDBQ_OK)
        batch->rows = 0;
    return status;
}

enum vdbq_status vdbq_query_row(vdbq_query *query)
{
    if (query == NULL)
        return VDBQ_MISUSE;
    if (query->reading == READING_ROWS && query->row + 1 < query->batch.rows) {
        query->row++;
        return VDBQ_ROW;
    }
    enum vdbq_status status = fetch(query, READING_ROWS);
    query->row = 0;
    if (status != VDBQ_OK)
        return status;
    return query->batch.rows > 0 ? VDBQ_ROW : VDBQ_DONE;
}

/* ------------------------------------------------------------- execute -- */

/* Rows of COPY TO are for who writes the file. */
static enum vdbq_status refuse_copy(vdbq_query *query)
{
    struct error *error = &query->db->error;
    error_set(error, VDBQ_MISUSE, "COPY TO writes no file from here");
    error_hint(error, "the shell writes it; a program prepares the statement "
                      "and writes its rows");
    return session_report(query->db, VDBQ_MISUSE, NULL, 0);
}

/* Runs the first statement of what is left of the text. */
static enum vdbq_status execute_next(vdbq *db, const char *sql,
                                     const char **rest)
{
    vdbq_query *query;
    const char *start = *rest;
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = vdbq_prepare(db, start, -1, &query, rest);
    if (status == VDBQ_OK && query != NULL
        && vdbq_query_copy_file(query) != NULL)
        status = refuse_copy(query);
    while (status == VDBQ_OK && query != NULL && batch.rows > 0)
        status = vdbq_query_batch(query, &batch);
    session_move(db, sql, start);
    vdbq_query_close(query);
    return status;
}

enum vdbq_status vdbq_execute(vdbq *db, const char *sql)
{
    if (db == NULL || sql == NULL)
        return session_misuse(db, "the SQL text");
    enum vdbq_status status = session_report(db, session_begin(db), NULL, 0);
    const char *rest = sql;
    struct stop_work former = stop_enter(&db->stop);
    session_hear_cancel(db);
    db->executing = true;
    while (status == VDBQ_OK && *rest != '\0') {
        status = session_report(db, stop_pause(&db->error), NULL, 0);
        if (status == VDBQ_OK)
            status = execute_next(db, sql, &rest);
    }
    db->executing = false;
    stop_leave(former);
    return status;
}
