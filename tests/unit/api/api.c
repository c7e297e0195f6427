/* SPDX-License-Identifier: MIT */
/*
 * The public interface, as vdbq.h promises it, on the host device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/vdbq.h"
#include "cl/tablet.h"

static vdbq *open_memory(void)
{
    vdbq *db;
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    return db;
}

/* Runs SQL that must work. */
static void run(vdbq *db, const char *sql)
{
    enum vdbq_status status = vdbq_execute(db, sql);
    if (status != VDBQ_OK)
        print_error("%s: %s\n", sql, vdbq_error(db)->message);
    assert_int_equal(status, VDBQ_OK);
}

static vdbq_query *prepare(vdbq *db, const char *sql)
{
    vdbq_query *query;
    enum vdbq_status status = vdbq_prepare(db, sql, -1, &query, NULL);
    if (status != VDBQ_OK)
        print_error("%s: %s\n", sql, vdbq_error(db)->message);
    assert_int_equal(status, VDBQ_OK);
    return query;
}

/* Every row comes, the last one too, and an answer without rows has none. */
static void test_rows(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (id integer primary key, x float);"
            "insert into t values (1, 0.5), (2, 1.5), (3, null)");
    vdbq_query *query = prepare(db, "select id, x from t");
    assert_int_equal(vdbq_query_columns(query), 2);
    assert_string_equal(vdbq_query_column_name(query, 1), "x");
    assert_int_equal(vdbq_query_column_type(query, 1), VDBQ_FLOAT);
    for (int id = 1; id <= 3; id++) {
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        assert_int_equal(vdbq_query_int64(query, 0), id);
    }
    assert_true(vdbq_query_is_null(query, 1));
    assert_string_equal(vdbq_query_text(query, 1), "");
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    vdbq_query_close(query);
    query = prepare(db, "select id from t where id > 99");
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    vdbq_query_close(query);
    vdbq_close(db);
}

static void test_batches(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    struct vdbq_batch batch;
    run(db, "create table t (a bigint, b double);"
            "insert into t values (1, 0.5), (2, null), (9000000000, -1.0)");
    vdbq_query *query = prepare(db, "select a, b from t");
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_OK);
    assert_int_equal(batch.rows, 3);
    assert_int_equal(batch.columns, 2);
    assert_int_equal(((const int64_t *)batch.column[0].values)[2], 9000000000);
    assert_true(((const double *)batch.column[1].values)[0] == 0.5);
    assert_non_null(batch.column[1].nulls);
    assert_int_equal(batch.column[1].nulls[1], 1);
    assert_int_equal(batch.column[1].nulls[2], 0);
    assert_int_equal(vdbq_query_row(query), VDBQ_MISUSE);
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_OK);
    assert_int_equal(batch.rows, 0);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* A failure tells where in the text it is. */
static void test_positions(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    vdbq_query *query;
    const char *tail;
    run(db, "create table t (a integer)");
    const char *sql = "select a\nfrom t\nwhere  b > 1; select a from t";
    assert_int_equal(vdbq_prepare(db, sql, -1, &query, &tail), VDBQ_UNKNOWN);
    assert_null(query);
    assert_int_equal(vdbq_error(db)->line, 3);
    assert_int_equal(vdbq_error(db)->column, 8);
    assert_string_equal(vdbq_error(db)->source, "where  b > 1;");
    assert_string_equal(tail, " select a from t");
    assert_int_equal(vdbq_execute(db, "select 1;\n select 2; selekt 3"),
                     VDBQ_SYNTAX);
    assert_int_equal(vdbq_error(db)->line, 2);
    assert_int_equal(vdbq_error(db)->column, 12);
    assert_int_equal(vdbq_prepare(db, " -- nothing\n ;", -1, &query, &tail),
                     VDBQ_OK);
    assert_null(query);
    assert_int_equal(vdbq_error(db)->status, VDBQ_OK);
    vdbq_close(db);
}

/* What fails while it runs has its place, too. */
static void test_run_failure(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (a bigint);"
            "insert into t values (1), (9223372036854775807)");
    vdbq_query *query = prepare(db, "select a + 1 from t");
    struct vdbq_batch batch;
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_OK);
    assert_int_equal(batch.rows, 1); /* before the one that fails */
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_RANGE);
    assert_int_equal(batch.rows, 0);
    assert_int_equal(vdbq_error(db)->line, 1);
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_MISUSE);
    assert_int_equal(batch.rows, 0);
    vdbq_query_close(query);
    query = prepare(db, "select a + 1 from t where a < 5");
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), 2);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* A text asked for as a number is what CAST makes of it. */
static void test_texts_as_numbers(void **state)
{
    static const char *const texts[] = {
        "12", "  -7.9kg", "1e3", "x", "", "99999999999999999999", "+.5e1",
    };
    (void)state;
    vdbq *db = open_memory();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "select s, cast(s as bigint), "
                 "cast(s as double) from (select '%s' as s)",
                 texts[i]);
        vdbq_query *query = prepare(db, sql);
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        assert_int_equal(vdbq_query_column_type(query, 0), VDBQ_TEXT);
        assert_int_equal(vdbq_query_int64(query, 0),
                         vdbq_query_int64(query, 1));
        assert_true(vdbq_query_double(query, 0) == vdbq_query_double(query, 2));
        if (i == 1)
            assert_int_equal(vdbq_query_int64(query, 0), -7);
        vdbq_query_close(query);
    }
    vdbq_close(db);
}

/* A prepared query follows the table: values that no longer fit 32 bits,
 * and a table that was made anew. */
static void test_plan_again(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (a integer); insert into t values (1)");
    vdbq_query *query = prepare(db, "select a + a from t");
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), 2);
    run(db, "insert into t values (2000000000)");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), 4000000000);
    run(db, "drop table t");
    assert_int_equal(vdbq_query_run(query), VDBQ_UNKNOWN);
    run(db, "create table t (a double); insert into t values (0.25)");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_true(vdbq_query_double(query, 0) == 0.5);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* The time of day is that of the run, not of its plan. */
static void test_now_again(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    vdbq_query *query = prepare(db, "select now(), now()");
    int64_t last = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        int64_t now = vdbq_query_int64(query, 0);
        assert_int_equal(vdbq_query_int64(query, 1), now);
        assert_true(now > 0 && now != last);
        last = now;
    }
    vdbq_query_close(query);
    vdbq_close(db);
}

/* A query may have more columns when it runs again, or no plan at all. */
static void test_columns_change(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (a integer); insert into t values (1)");
    vdbq_query *query = prepare(db, "select * from t");
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_string_equal(vdbq_query_text(query, 0), "1");
    run(db, "drop table t; create table t (a integer, b integer, c float,"
            " d integer); insert into t values (1, 2, 3.5, 4)");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_columns(query), 4);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_string_equal(vdbq_query_text(query, 3), "4");
    assert_string_equal(vdbq_query_text(query, 2), "3.5");
    run(db, "drop table t");
    assert_int_equal(vdbq_query_run(query), VDBQ_UNKNOWN);
    assert_int_equal(vdbq_query_columns(query), 0);
    assert_string_equal(vdbq_query_text(query, 3), "");
    vdbq_query_close(query);
    vdbq_close(db);
}

/* A program that is refused has no columns to ask for. */
static void test_refused_program(void **state)
{
    static const char *const texts[] = { "", "Finish", "Invalid\nFinish",
                                         "ResultColumn 1 0 0 0 \"x\"" };
    (void)state;
    vdbq *db = open_memory();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vdbq_query *query;
        assert_int_equal(vdbq_prepare_program(db, texts[i], &query),
                         VDBQ_PROGRAM);
        assert_null(query);
    }
    vdbq_close(db);
}

/* An open query keeps the state it started with. */
static void test_snapshot(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (a integer); insert into t values (1), (2)");
    vdbq_query *query = prepare(db, "select a from t");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    run(db, "insert into t values (3); drop table t;"
            "create table t (a integer); insert into t values (7)");
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), 1);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    vdbq_query_close(query);
    vdbq_close(db);
}

static void test_append(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    vdbq_append *append, *second;
    int32_t ids[] = { 1, 2, 3 };
    double values[] = { 0.5, 1.5, 2.5 };
    uint8_t nulls[] = { 0, 1, 0 };
    struct vdbq_vector vectors[] = { { VDBQ_INTEGER, ids, NULL },
                                     { VDBQ_DOUBLE, values, nulls } };
    run(db, "create table t (id integer primary key, x double)");
    assert_int_equal(vdbq_append_open(db, "u", &append), VDBQ_UNKNOWN);
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    assert_int_equal(vdbq_append_open(db, "t", &second), VDBQ_MISUSE);
    assert_int_equal(vdbq_append_rows(append, 3, vectors), VDBQ_OK);
    vdbq_tables(db);
    assert_int_equal(vdbq_table_rows(db, 0), 0);
    assert_int_equal(vdbq_table_tablets(db, 0), 0);
    assert_int_equal(vdbq_table_sample_rows(db, 0), 0);
    assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, 3, vectors), VDBQ_MISUSE);
    vdbq_append_close(append);
    vdbq_tables(db);
    assert_int_equal(vdbq_table_rows(db, 0), 3);
    assert_int_equal(vdbq_table_tablets(db, 0), 1);
    assert_int_equal(vdbq_table_sample_rows(db, 0), 3);
    assert_int_equal(vdbq_table_sample_rows(db, 1), 0);
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    vectors[0].type = VDBQ_BIGINT;
    assert_int_equal(vdbq_append_rows(append, 3, vectors), VDBQ_TYPE);
    vdbq_append_close(append);
    vectors[0].type = VDBQ_INTEGER;
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    enum vdbq_status status = vdbq_append_rows(append, 3, vectors);
    if (status == VDBQ_OK)
        status = vdbq_append_commit(append);
    assert_int_equal(status, VDBQ_CONSTRAINT);
    vdbq_append_close(append);
    vdbq_tables(db);
    assert_int_equal(vdbq_table_rows(db, 0), 3);
    vdbq_close(db);
}

/* Tablets become smaller while an append holds more rows than such a tablet
 * has: they fill one, and none gets more rows than a file may have in one. */
static void test_smaller_tablets(void **state)
{
    enum { ROWS = TABLET_ROWS_MAX / 2 + 1 };
    char path[] = "/tmp/vdbq-api-XXXXXX";
    vdbq *db;
    vdbq_append *append;
    int32_t *values = calloc(ROWS, sizeof *values);
    const struct vdbq_vector vector = { VDBQ_INTEGER, values, NULL };
    (void)state;
    assert_non_null(values);
    close(mkstemp(path));
    assert_int_equal(vdbq_open(path, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    run(db, "create table t (a integer)");
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, ROWS, &vector), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "tablet_rows", "100000"), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, ROWS, &vector), VDBQ_OK);
    assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
    vdbq_append_close(append);
    vdbq_close(db);
    assert_int_equal(vdbq_open(path, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    vdbq_query *query = prepare(db, "select count(*) from t where a = 0");
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), 2 * ROWS);
    vdbq_query_close(query);
    vdbq_close(db);
    unlink(path);
    free(values);
}

static void test_options(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    assert_int_equal(vdbq_set(db, "mode", "sideways"), VDBQ_RANGE);
    assert_non_null(strstr(vdbq_error(db)->hint, "serial"));
    assert_string_equal(vdbq_get(db, "mode"), "auto");
    assert_int_equal(vdbq_set(db, "nonsense", "1"), VDBQ_UNKNOWN);
    assert_null(vdbq_get(db, "nonsense"));
    assert_int_equal(vdbq_set(db, "memory", "64M"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "no such device"), VDBQ_OK);
    assert_int_equal(vdbq_device_open(db), VDBQ_DEVICE);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "build", "specialised"), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, "select 1"), VDBQ_DEVICE);
    vdbq_close(db);
}

/* Each option can be got and set by the name that it is listed with. */
static void test_option_list(void **state)
{
    const struct vdbq_option *option;
    unsigned count = 0;
    (void)state;
    vdbq *db = open_memory();
    for (; (option = vdbq_option(count)) != NULL; count++) {
        assert_non_null(vdbq_get(db, option->name));
        assert_int_equal(vdbq_set(db, option->name, option->value), VDBQ_OK);
        assert_string_equal(vdbq_get(db, option->name), option->value);
        assert_true(option->help[0] != '\0' && option->variable[0] != '\0');
    }
    assert_true(count > 0);
    assert_null(vdbq_option(UINT32_MAX));
    vdbq_close(db);
}

static bool stop(void *context, uint64_t done, uint64_t all)
{
    (void)done;
    (void)all;
    ++*(int *)context;
    return false;
}

static void test_cancel(void **state)
{
    (void)state;
    int calls = 0;
    vdbq *db = open_memory();
    run(db, "create table t (a integer); insert into t values (1)");
    vdbq_on_progress(db, stop, &calls);
    assert_int_equal(vdbq_execute(db, "select a from t"), VDBQ_CANCELLED);
    assert_int_equal(calls, 1);
    vdbq_on_progress(db, NULL, NULL);
    vdbq_query *query = prepare(db, "select a from t");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_cancel(db);
    assert_int_equal(vdbq_query_row(query), VDBQ_CANCELLED);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* An option takes a value, or keeps the one it has. */
static void test_options_refuse(void **state)
{
    static const char *const refused[][2] = {
        { "mode", "sideways" }, { "build", "x" },
        { "memory", "-1" },     { "device_memory", "much" },
        { "cores", "-1" },      { "cores", "70000" },
        { "encoding", "zip" },  { "skip", "perhaps" },
        { "steps", "x" },       { "tablet_rows", "2000000" },
        { "map", "" },          { "profiling", "1" },
        { "timeout", "-1" },    { "timeout", "4294967296" },
    };
    char before[64];
    (void)state;
    vdbq *db = open_memory();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *name = refused[i][0];
        snprintf(before, sizeof before, "%s", vdbq_get(db, name));
        assert_int_equal(vdbq_set(db, name, refused[i][1]), VDBQ_RANGE);
        assert_string_equal(vdbq_get(db, name), before);
        run(db, "select 1");
    }
    assert_int_equal(vdbq_set(db, "no such option", "1"), VDBQ_UNKNOWN);
    vdbq_close(db);
}

/* Cancels while the file is being read, which the next statement waits for. */
static enum vdbq_status cancel_reading(void *context, vdbq *files,
                                       const char *name)
{
    (void)name;
    vdbq_cancel(context);
    return vdbq_execute(files, "create table if not exists \"file\" "
                               "(a integer)");
}

/* A cancel between two statements of a text is not lost, and stays with it. */
static void test_cancel_between(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (a integer)");
    vdbq_on_file(db, cancel_reading, db);
    assert_int_equal(vdbq_execute(db, "insert into t values (1); insert into "
                                      "t select a from 'file'; insert into t "
                                      "values (2)"),
                     VDBQ_CANCELLED);
    assert_string_equal(vdbq_error(db)->message, "interrupted: nothing was "
                                                 "changed");
    assert_int_equal(vdbq_execute(db, "insert into t select a from 'file' "
                                      "limit 0; insert into t values (2)"),
                     VDBQ_CANCELLED);
    vdbq_on_file(db, NULL, NULL);
    vdbq_query *query = prepare(db, "select sum(a) from t");
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), 1);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* The next row's first value; the query ends after it. */
static int64_t only_number(vdbq_query *query)
{
    enum vdbq_status status = vdbq_query_row(query);
    assert_int_equal(status, VDBQ_ROW);
    int64_t number = vdbq_query_int64(query, 0);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    return number;
}

static void test_parameters(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (id integer primary key, a text, d date);"
            "insert into t values (1, 'one', '2024-01-01'),"
            " (2, 'two', '2024-02-01'), (3, null, null)");
    vdbq_query *query = prepare(
        db, "select count(*) from t where id = ? or a = :name or d > ?4");
    assert_int_equal(vdbq_query_parameters(query), 4);
    assert_string_equal(vdbq_query_parameter_name(query, 2), "name");
    assert_string_equal(vdbq_query_parameter_name(query, 1), "");
    assert_int_equal(vdbq_query_parameter_index(query, ":name"), 2);
    assert_int_equal(vdbq_query_parameter_index(query, "$name"), 2);
    assert_int_equal(vdbq_query_parameter_index(query, "names"), 0);
    assert_int_equal(only_number(query), 0);
    assert_int_equal(vdbq_bind_int64(query, 1, 3), VDBQ_OK);
    assert_int_equal(only_number(query), 1);
    assert_int_equal(vdbq_bind_text(query, 2, "one...", 3), VDBQ_OK);
    assert_int_equal(only_number(query), 2);
    assert_int_equal(vdbq_bind_text(query, 4, "2024-01-15", -1), VDBQ_OK);
    assert_int_equal(only_number(query), 3);
    assert_int_equal(vdbq_bind_text(query, 4, "2024-02-15", -1), VDBQ_OK);
    assert_int_equal(only_number(query), 2);
    assert_int_equal(vdbq_bind_double(query, 1, 1.5), VDBQ_OK);
    assert_int_equal(only_number(query), 1);
    vdbq_bind_clear(query);
    assert_int_equal(only_number(query), 0);
    assert_int_equal(vdbq_bind_int64(query, 5, 1), VDBQ_RANGE);
    assert_int_equal(vdbq_bind_int64(query, 0, 1), VDBQ_RANGE);
    assert_int_equal(vdbq_bind_text(query, 1, "\xff", 1), VDBQ_RANGE);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* Where a plan is made for values, others make it again. */
static void test_parameter_values(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (id integer not null unique, a text)");
    vdbq_query *query = prepare(db, "insert into t values (?, ?)");
    assert_int_equal(vdbq_query_run(query), VDBQ_CONSTRAINT);
    for (int i = 1; i <= 5; i++) {
        assert_int_equal(vdbq_bind_int64(query, 1, i), VDBQ_OK);
        assert_int_equal(vdbq_bind_text(query, 2, "abcde", i), VDBQ_OK);
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    }
    assert_int_equal(vdbq_bind_int64(query, 1, 1ll << 40), VDBQ_OK);
    assert_int_equal(vdbq_query_run(query), VDBQ_RANGE);
    vdbq_query_close(query);
    query = prepare(db, "select id from t order by id limit ? offset ?");
    assert_int_equal(vdbq_bind_int64(query, 1, 1), VDBQ_OK);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(vdbq_bind_int64(query, 2, i), VDBQ_OK);
        assert_int_equal(only_number(query), i + 1);
    }
    vdbq_query_close(query);
    query = prepare(db, "update t set a = :a where length(a) > :n");
    assert_int_equal(vdbq_bind_int64(query, 2, 3), VDBQ_OK);
    assert_int_equal(vdbq_bind_text(query, 1, "it's", -1), VDBQ_OK);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_query_close(query);
    query = prepare(db, "select count(*) from t where a like ?");
    assert_int_equal(vdbq_bind_text(query, 1, "%'s", -1), VDBQ_OK);
    assert_int_equal(only_number(query), 2);
    vdbq_query_close(query);
    query = prepare(db, "select ?");
    assert_int_equal(vdbq_bind_text(query, 1, "text", -1), VDBQ_OK);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_column_type(query, 0), VDBQ_TEXT);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_string_equal(vdbq_query_text(query, 0), "text");
    vdbq_query_close(query);
    assert_int_equal(
        vdbq_prepare(db, "create view v as select ?", -1, &query, NULL),
        VDBQ_SYNTAX);
    vdbq_close(db);
}

/* Makes a table of a file: its number of rows is the length of its name. */
static enum vdbq_status read_file(void *context, vdbq *files, const char *file)
{
    char sql[200];
    ++*(int *)context;
    if (strcmp(file, "none") == 0)
        return vdbq_fail(files, VDBQ_IO, "no file none", "make one");
    snprintf(sql, sizeof sql, "create table if not exists \"%s\" (n integer)",
             file);
    enum vdbq_status status = vdbq_execute(files, sql);
    snprintf(sql, sizeof sql, "insert into \"%s\" values (%d)", file,
             *(int *)context);
    return status == VDBQ_OK ? vdbq_execute(files, sql) : status;
}

static void test_files(void **state)
{
    (void)state;
    int calls = 0;
    vdbq *db = open_memory();
    vdbq_query *query;
    run(db, "create table t (n integer); insert into t values (2), (5)");
    assert_int_equal(vdbq_execute(db, "select * from 'a.x'"), VDBQ_UNKNOWN);
    vdbq_on_file(db, read_file, &calls);
    query = prepare(db, "select count(*) from 'f/a.x' where a.n < 10");
    assert_int_equal(calls, 1);
    assert_int_equal(only_number(query), 2);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(only_number(query), 3);
    vdbq_query_close(query);
    query = prepare(db, "select sum(t.n) from t join 'b' on b.n = t.n");
    assert_int_equal(only_number(query), 5);
    vdbq_query_close(query);
    run(db, "insert into t select n from 'f/a.x'; begin;"
            "create table u as select n from 'f/a.x'; rollback");
    vdbq_tables(db);
    assert_int_equal(vdbq_table_rows(db, 0), 7);
    assert_int_equal(vdbq_execute(db, "select 1 from t, 'none'"), VDBQ_IO);
    assert_string_equal(vdbq_error(db)->message, "no file none");
    assert_string_equal(vdbq_error(db)->hint, "make one");
    assert_int_equal(vdbq_error(db)->column, 18);
    assert_int_equal(vdbq_execute(db, "select n from \"f/a.x\""), VDBQ_UNKNOWN);
    assert_int_equal(vdbq_execute(db, "copy t to 'c'"), VDBQ_MISUSE);
    query = prepare(db, "copy t to 'c'");
    assert_string_equal(vdbq_query_copy_file(query), "c");
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* EXPLAIN's text is a program that gives the same rows. */
static void test_explain_and_back(void **state)
{
    (void)state;
    char text[8192] = "";
    vdbq *db = open_memory();
    run(db, "create table t (id integer primary key, a integer, b double);"
            "insert into t values (1, 5, 0.5), (2, -5, null), (3, 6, 2.5)");
    vdbq_query *query =
        prepare(db, "explain select id, b * 2 as \"a \"\"b\"\"\" from t "
                    "where a > 0 or b is null");
    assert_string_equal(vdbq_query_column_name(query, 0), "program");
    while (vdbq_query_row(query) == VDBQ_ROW) {
        strcat(text, vdbq_query_text(query, 0));
        strcat(text, "\n");
    }
    vdbq_query_close(query);
    if (vdbq_prepare_program(db, text, &query) != VDBQ_OK)
        print_error("%s\n%s", vdbq_error(db)->message, text);
    assert_non_null(query);
    assert_string_equal(vdbq_query_column_name(query, 1), "a \"b\"");
    for (int id = 1; id <= 3; id++) {
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        assert_int_equal(vdbq_query_int64(query, 0), id);
        assert_int_equal(vdbq_query_is_null(query, 1), id == 2);
    }
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    vdbq_query_close(query);
    assert_int_equal(
        vdbq_prepare_program(db, "Table 0 0 0 0 \"t\"\nJump 1", &query),
        VDBQ_PROGRAM);
    assert_int_equal(vdbq_error(db)->line, 2);
    vdbq_close(db);
}

/* All that a statement, an EXPLAIN ANALYZE, says. */
static const char *analyze(vdbq *db, const char *sql)
{
    static char text[8192];
    vdbq_query *query = prepare(db, sql);
    text[0] = '\0';
    while (vdbq_query_row(query) == VDBQ_ROW) {
        strcat(text, vdbq_query_text(query, 0));
        strcat(text, "\n");
    }
    vdbq_query_close(query);
    return text;
}

/* Of each step: what was expected, what came, and how far off that was. */
static void test_estimates_are_judged(void **state)
{
    const char *text;
    vdbq *db = open_memory();
    (void)state;
    run(db, "create table t (a integer); create table u (a integer);"
            "insert into t values (1), (4), (4), (4)");
    text = analyze(db, "explain analyze select x.a from t x join t y "
                       "on x.a = y.a");
    assert_non_null(strstr(text, "(~4 rows; 10 rows in "));
    assert_non_null(strstr(text, "ms; factor 2.5)\n"));
    assert_non_null(strstr(text, "; plan      "));
    text = analyze(db, "explain analyze select a, count(*) from t group by a");
    assert_non_null(strstr(text, "(~4 rows; 2 rows in "));
    assert_non_null(strstr(text, "ms; factor 0.5)\n"));
    text = analyze(db, "explain analyze select a from u");
    assert_non_null(strstr(text, "ms; factor 1)\n"));
    vdbq_close(db);
}

/* What a run cost is compared with the limits once they were measured. */
static void test_explain_analyze(void **state)
{
    (void)state;
    static const char one_table[] = "explain analyze select a from t";
    static const char grid[] =
        "explain analyze select t.a from t, t u where t.a <> u.a";
    struct vdbq_limits limits;
    vdbq *db = open_memory();
    assert_int_equal(vdbq_set(db, "encoding", "plain"), VDBQ_OK);
    run(db, "create table t (a integer); insert into t values (1), (2)");
    assert_non_null(strstr(analyze(db, one_table), "limits    not measured"));
    assert_null(strstr(analyze(db, one_table), "of the limit measured"));
    assert_non_null(strstr(analyze(db, one_table), "ms, nothing to build"));
    assert_null(strstr(analyze(db, one_table), "; cells"));
    assert_non_null(strstr(analyze(db, grid), "; cells     4\n"));
    assert_int_equal(vdbq_measure_limits(db, &limits), VDBQ_OK);
    assert_true(limits.memory_read > 0 && limits.shares_memory);
    assert_non_null(strstr(analyze(db, one_table), "limits    memory "));
    assert_non_null(strstr(analyze(db, one_table), " % of the limit measured"));
    vdbq_close(db);
}

static void count_line(void *context, const char *line)
{
    assert_non_null(strstr(line, "ok"));
    ++*(int *)context;
}

static void test_selftest_of_host(void **state)
{
    (void)state;
    int lines = 0;
    vdbq *db = open_memory();
    assert_int_equal(vdbq_selftest(db, count_line, &lines), VDBQ_OK);
    assert_int_equal(lines, 8 + 1); /* ways to run programs, and searches */
    vdbq_close(db);
}

static void test_stats(void **state)
{
    (void)state;
    struct vdbq_stats stats;
    vdbq *db = open_memory();
    run(db, "create table t (a integer); insert into t values (1), (2), (3)");
    vdbq_query *query = prepare(db, "select a from t where a > 1");
    while (vdbq_query_row(query) == VDBQ_ROW)
        continue;
    vdbq_query_stats(query, &stats);
    assert_string_equal(stats.device, "host");
    assert_int_equal(stats.rows_read, 3);
    assert_int_equal(stats.rows_returned, 2);
    assert_int_equal(stats.launches, 1);
    assert_true(stats.total_ns >= stats.kernel_ns);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* A database that could not be opened says why and can only be closed. */
static void test_open_failure(void **state)
{
    (void)state;
    vdbq *db;
    assert_int_equal(
        vdbq_open("/nonexistent/folder/x.vdb", VDBQ_OPEN_CREATE, &db), VDBQ_IO);
    assert_non_null(strstr(vdbq_error(db)->message, "/nonexistent"));
    assert_int_equal(vdbq_execute(db, "select 1"), VDBQ_MISUSE);
    assert_int_equal(vdbq_tables(db), 0);
    vdbq_close(db);
    vdbq_close(NULL);
    assert_int_equal(vdbq_error(NULL)->status, VDBQ_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_run_failure),
        cmocka_unit_test(test_texts_as_numbers),
        cmocka_unit_test(test_plan_again),
        cmocka_unit_test(test_now_again),
        cmocka_unit_test(test_columns_change),
        cmocka_unit_test(test_refused_program),
        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_smaller_tablets),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_option_list),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_between),
        cmocka_unit_test(test_options_refuse),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_parameter_values),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_explain_and_back),
        cmocka_unit_test(test_explain_analyze),
        cmocka_unit_test(test_estimates_are_judged),
        cmocka_unit_test(test_selftest_of_host),
        cmocka_unit_test(test_stats),
        cmocka_unit_test(test_open_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
