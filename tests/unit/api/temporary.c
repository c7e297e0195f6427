/* SPDX-License-Identifier: MIT */
/*
 * Temporary tables, as SQL alone cannot tell them: what other connections see, that the
 * file is neither written nor locked for them, and what becomes of open queries.
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

enum { FILE_MOST = 1 << 20 };

static char path[] = "/tmp/vdbq-temporary-XXXXXX";

static vdbq *open_with(const char *name, unsigned flags)
{
    vdbq *db;

    assert_int_equal(vdbq_open(name, flags, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "timeout", "0"), VDBQ_OK);
    return db;
}

static vdbq *open_file(void)
{
    return open_with(path, VDBQ_OPEN_CREATE);
}

static void run(vdbq *db, const char *sql)
{
    enum vdbq_status status = vdbq_execute(db, sql);

    if (status != VDBQ_OK)
        print_error("%s: %s\n", sql, vdbq_error(db)->message);
    assert_int_equal(status, VDBQ_OK);
}

/* The one number that a query gives. */
static int64_t number(vdbq *db, const char *sql)
{
    vdbq_query *query;
    int64_t value;

    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    value = vdbq_query_int64(query, 0);
    vdbq_query_close(query);
    return value;
}

/* All bytes of the file, and how many. */
static size_t bytes_of_file(char *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t size;

    assert_non_null(file);
    size = fread(bytes, 1, FILE_MOST, file);
    fclose(file);
    assert_in_range(size, 1, FILE_MOST - 1);
    return size;
}

/* A file of its own with a table of three rows. */
static int make_file(void **state)
{
    vdbq *db;
    int file;

    (void)state;
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    db = open_file();
    run(db, "create table t (a integer); insert into t values (1), (2), (3)");
    vdbq_close(db);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* Every kind of change of what is temporary, and of nothing else. */
static const char changes[] =
    "create temp table u as select a, a + 10 as b from t;"
    "create unique index ua on u (a);"
    "insert into u values (4, 14), (5, 15); insert into u values (6, 16);"
    "insert into u values (6, 0) on conflict (a) do update set b = b + 1;"
    "update u set b = 0 where a = 1; delete from u where a = 2;"
    "alter table u add column c text default 'c'; reindex u;"
    "create temp view v as select sum(a) as s from u;";

static void they_are_the_connections_own(void **state)
{
    vdbq *own = open_file(), *other = open_file();

    (void)state;
    run(own, changes);
    assert_int_equal(vdbq_tables(own), 2);
    assert_false(vdbq_table_is_temporary(own, 0));
    assert_true(vdbq_table_is_temporary(own, 1));
    assert_int_equal(vdbq_views(own), 1);
    assert_true(vdbq_view_is_temporary(own, 0));
    assert_int_equal(number(own, "select s from v"), 1 + 3 + 4 + 5 + 6);
    assert_int_equal(vdbq_tables(other), 1);
    assert_int_equal(vdbq_execute(other, "select * from u"), VDBQ_UNKNOWN);
    run(other, "create temp table u (x text); create temp table t (x text)");
    assert_int_equal(number(other, "select count(*) from t"), 0);
    assert_int_equal(number(own, "select count(*) from t"), 3);
    vdbq_close(own);
    own = open_file();
    assert_int_equal(vdbq_tables(own), 1);
    vdbq_close(own);
    vdbq_close(other);
}

/* Another connection writes all the time, and the file stays what it was. */
static void the_file_has_no_part_in_it(void **state)
{
    char *before = malloc(FILE_MOST), *after = malloc(FILE_MOST);
    vdbq *own, *writer = open_file();
    size_t size;

    (void)state;
    assert_non_null(before);
    assert_non_null(after);
    run(writer, "begin; delete from t where a = 1");
    size = bytes_of_file(before);
    own = open_file();
    run(own, changes);
    assert_int_equal(number(own, "select count(*) from u join t using (a)"), 2);
    assert_int_equal(vdbq_execute(own, "insert into t values (9)"), VDBQ_BUSY);
    run(own, "insert into u (a) select a + 100 from t");
    vdbq_close(own);
    assert_int_equal(bytes_of_file(after), size);
    assert_memory_equal(before, after, size);
    run(writer, "commit");
    vdbq_close(writer);
    free(before);
    free(after);
}

/* The commit of another connection is seen by the next statement, and by no statement
 * that has begun. */
static void the_file_is_read_as_it_is(void **state)
{
    vdbq *own = open_file(), *writer = open_file();

    (void)state;
    run(own, changes);
    run(writer, "insert into t values (100)");
    run(own, "insert into u (a) select a from t where a = 100");
    assert_int_equal(number(own, "select max(a) from u"), 100);
    run(own, "begin; delete from u; delete from t");
    assert_int_equal(number(own, "select count(*) from u, t"), 0);
    assert_int_equal(vdbq_execute(writer, "delete from t"), VDBQ_BUSY);
    run(own, "commit");
    assert_int_equal(number(writer, "select count(*) from t"), 0);
    vdbq_close(writer);
    vdbq_close(own);
}

static void a_file_for_reading_has_them(void **state)
{
    vdbq *db = open_with(path, VDBQ_OPEN_READ_ONLY);

    (void)state;
    run(db, changes);
    assert_int_equal(number(db, "select s from v"), 1 + 3 + 4 + 5 + 6);
    assert_int_equal(vdbq_execute(db, "create table w (a integer)"),
                     VDBQ_READ_ONLY);
    vdbq_close(db);
    db = open_with(":memory:", 0);
    run(db, "create table t (a integer); insert into t values (1), (2), (3)");
    run(db, changes);
    assert_int_equal(number(db, "select s from v"), 1 + 3 + 4 + 5 + 6);
    vdbq_close(db);
}

/* A query goes on with the rows that it began with. */
static void open_queries_go_on(void **state)
{
    vdbq *db = open_file();
    vdbq_query *query;

    (void)state;
    run(db, changes);
    assert_int_equal(
        vdbq_prepare(db, "select u.a, t.a from u, t", -1, &query, NULL),
        VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    run(db, "delete from u; delete from t; drop view v; drop table u;"
            "create temp table u (z text)");
    for (int row = 1; row < 5 * 3; row++)
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    vdbq_query_close(query);
    vdbq_close(db);
}

static void appends_and_queries_by_name_mean_them(void **state)
{
    const int32_t values[] = { 7, 8 };
    const struct vdbq_vector vector = { VDBQ_INTEGER, values, NULL };
    vdbq *db = open_file();
    vdbq_append *append;

    (void)state;
    run(db, "create temp table t (a integer)");
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, 2, &vector), VDBQ_OK);
    assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
    vdbq_append_close(append);
    run(db, "begin");
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, 2, &vector), VDBQ_OK);
    vdbq_append_close(append);
    run(db, "commit");
    assert_int_equal(number(db, "select sum(a) from t"), 7 + 8);
    assert_int_equal(number(db, "select sum(a) from main.t"), 1 + 2 + 3);
    vdbq_close(db);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_are_the_connections_own),
        TEST(the_file_has_no_part_in_it),
        TEST(the_file_is_read_as_it_is),
        TEST(a_file_for_reading_has_them),
        TEST(open_queries_go_on),
        TEST(appends_and_queries_by_name_mean_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
