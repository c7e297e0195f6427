/* SPDX-License-Identifier: MIT */
/*
 * vdbq as an engine of the benchmarks. Relies on vdbq.h alone.
 */
#include <stdlib.h>

#include "engine.h"
#include <vdbq.h>

/* A prepared statement. */
struct statement {
    vdbq *db;
    vdbq_query *query;
    bool runs; /* its rows are being read */
};

static _Noreturn void fail(vdbq *db)
{
    stop_with("vdbq: %s", vdbq_error(db)->message);
}

/* BUSY is an answer, other failures are not. */
static enum outcome outcome_of(vdbq *db, enum vdbq_status status)
{
    if (status == VDBQ_OK || status == VDBQ_DONE)
        return DONE;
    if (status == VDBQ_ROW)
        return ROW;
    if (status != VDBQ_BUSY)
        fail(db);
    return BUSY;
}

static void *open_database(const char *path)
{
    vdbq *db;

    if (vdbq_open(path, VDBQ_OPEN_CREATE, &db) != VDBQ_OK)
        fail(db);
    return db;
}

static void close_database(void *db)
{
    vdbq_close(db);
}

static enum outcome run(void *db, const char *sql)
{
    return outcome_of(db, vdbq_execute(db, sql));
}

static void *prepare(void *db, const char *sql)
{
    struct statement *statement = calloc(1, sizeof *statement);

    if (statement == NULL)
        stop_with("out of memory");
    statement->db = db;
    if (vdbq_prepare(db, sql, -1, &statement->query, NULL) != VDBQ_OK)
        fail(db);
    return statement;
}

static void finish(void *of)
{
    struct statement *statement = of;

    vdbq_query_close(statement->query);
    free(statement);
}

static void bind_integer(void *of, unsigned parameter, int64_t value)
{
    struct statement *statement = of;

    if (vdbq_bind_int64(statement->query, parameter, value) != VDBQ_OK)
        fail(statement->db);
}

static void bind_text(void *of, unsigned parameter, const char *text)
{
    struct statement *statement = of;

    if (vdbq_bind_text(statement->query, parameter, text, -1) != VDBQ_OK)
        fail(statement->db);
}

static enum outcome change(void *of)
{
    struct statement *statement = of;

    return outcome_of(statement->db, vdbq_query_run(statement->query));
}

static enum outcome row(void *of)
{
    struct statement *statement = of;
    enum vdbq_status status = VDBQ_OK;

    if (!statement->runs)
        status = vdbq_query_run(statement->query);
    if (status == VDBQ_OK)
        status = vdbq_query_row(statement->query);
    statement->runs = status == VDBQ_ROW;
    return outcome_of(statement->db, status);
}

static int64_t integer(void *of, unsigned column)
{
    const struct statement *statement = of;

    return vdbq_query_int64(statement->query, column);
}

/* Rows are read to the end, so that the query lets its state go. */
static void end(void *of)
{
    struct statement *statement = of;

    while (statement->runs)
        row(statement);
}

const struct engine engine_vdbq = {
    .name = "vdbq",
    .begin = "BEGIN",
    .open = open_database,
    .close = close_database,
    .run = run,
    .prepare = prepare,
    .finish = finish,
    .bind_integer = bind_integer,
    .bind_text = bind_text,
    .change = change,
    .row = row,
    .integer = integer,
    .end = end,
};
