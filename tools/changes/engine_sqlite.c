/* SPDX-License-Identifier: MIT */
/*
 * SQLite as an engine of the benchmarks.
 */
#include <sqlite3.h>
#include <stddef.h>

#include "engine.h"

enum { WAIT_MS = 5000 }; /* as vdbq waits */

static _Noreturn void fail(sqlite3 *db)
{
    stop_with("sqlite3: %s", sqlite3_errmsg(db));
}

static enum outcome outcome_of(sqlite3 *db, int code)
{
    if (code == SQLITE_OK || code == SQLITE_DONE)
        return DONE;
    if (code == SQLITE_ROW)
        return ROW;
    if ((code & 0xff) != SQLITE_BUSY)
        fail(db);
    return BUSY;
}

static enum outcome run(void *db, const char *sql)
{
    return outcome_of(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static void *open_database(const char *path)
{
    sqlite3 *db;

    if (sqlite3_open(path, &db) != SQLITE_OK)
        fail(db);
    sqlite3_busy_timeout(db, WAIT_MS);
    engine_must(&engine_sqlite, db,
                "pragma journal_mode = wal; pragma synchronous = full");
    return db;
}

static void close_database(void *db)
{
    sqlite3_close(db);
}

static void *prepare(void *db, const char *sql)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(db);
    return statement;
}

static void finish(void *statement)
{
    sqlite3_finalize(statement);
}

static void bind_integer(void *statement, unsigned parameter, int64_t value)
{
    if (sqlite3_bind_int64(statement, (int)parameter, value) != SQLITE_OK)
        fail(sqlite3_db_handle(statement));
}

/* As with vdbq, the text is copied. */
static void bind_text(void *statement, unsigned parameter, const char *text)
{
    if (sqlite3_bind_text(statement, (int)parameter, text, -1, SQLITE_TRANSIENT)
        != SQLITE_OK)
        fail(sqlite3_db_handle(statement));
}

static enum outcome row(void *statement)
{
    int code = sqlite3_step(statement);

    if (code != SQLITE_ROW)
        sqlite3_reset(statement);
    return outcome_of(sqlite3_db_handle(statement), code);
}

static int64_t integer(void *statement, unsigned column)
{
    return sqlite3_column_int64(statement, (int)column);
}

static void end(void *statement)
{
    sqlite3_reset(statement);
}

const struct engine engine_sqlite = {
    .name = "sqlite3",
    .begin = "BEGIN IMMEDIATE",
    .open = open_database,
    .close = close_database,
    .run = run,
    .prepare = prepare,
    .finish = finish,
    .bind_integer = bind_integer,
    .bind_text = bind_text,
    .change = row,
    .row = row,
    .integer = integer,
    .end = end,
};
