/* SPDX-License-Identifier: MIT */
/*
 * Transactions of a connection, as SQL alone cannot tell them: what other
 * connections see, what becomes of queries that are open, of prepared
 * statements and of appends, and how many rows changed.
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
#include "base/hostile.h"

static char path[] = "/tmp/vdbq-change-XXXXXX";

static vdbq *open_file(void)
{
    vdbq *db;

    assert_int_equal(vdbq_open(path, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    return db;
}

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

    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    return query;
}

/* The one number that a query gives. */
static int64_t number(vdbq *db, const char *sql)
{
    vdbq_query *query = prepare(db, sql);
    int64_t value;

    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    value = vdbq_query_int64(query, 0);
    vdbq_query_close(query);
    return value;
}

static int64_t count(vdbq *db)
{
    return number(db, "select count(*) from t");
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
    run(db, "create table t (a integer primary key, b text);"
            "insert into t values (1, 'one'), (2, 'two'), (3, 'three')");
    vdbq_close(db);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void others_see_what_is_committed(void **state)
{
    vdbq *writer = open_file(), *reader = open_file();

    (void)state;
    run(writer, "begin; insert into t values (4, 'four'); delete from t "
                "where a = 1; create table u (x integer)");
    assert_int_equal(count(writer), 3);
    assert_int_equal(count(reader), 3);
    assert_int_equal(number(reader, "select min(a) from t"), 1);
    assert_int_equal(vdbq_tables(writer), 2);
    assert_int_equal(vdbq_tables(reader), 1);
    assert_int_equal(vdbq_set(reader, "timeout", "0"), VDBQ_OK);
    assert_int_equal(vdbq_execute(reader, "delete from t"), VDBQ_BUSY);
    run(writer, "commit");
    assert_int_equal(number(reader, "select min(a) from t"), 2);
    run(reader, "delete from t");
    assert_int_equal(count(writer), 0);
    vdbq_close(reader);
    vdbq_close(writer);
}

static void closing_rolls_back(void **state)
{
    vdbq *db = open_file();

    (void)state;
    run(db, "begin; delete from t; drop table t");
    vdbq_close(db);
    db = open_file();
    assert_int_equal(count(db), 3);
    vdbq_close(db);
}

/* A query that is open goes on with the rows it began with, also those of a
 * transaction that is gone. */
static void open_queries_go_on(void **state)
{
    vdbq *db = open_file();
    vdbq_query *query;

    (void)state;
    run(db, "begin; insert into t values (4, 'four'), (5, 'five')");
    query = prepare(db, "select a, b from t");
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    run(db, "update t set b = 'other'; rollback");
    for (int i = 2; i <= 5; i++) {
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        assert_int_equal(vdbq_query_int64(query, 0), i);
    }
    assert_string_equal(vdbq_query_text(query, 1), "five");
    run(db, "insert into t values (7, 'seven')");
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), 7);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* What was planned for one state is planned anew for another. */
static void prepared_changes_run_again(void **state)
{
    vdbq *db = open_file();
    vdbq_query *update = prepare(db, "update t set a = a + 10 where a < 3");
    struct vdbq_stats stats;

    (void)state;
    assert_int_equal(vdbq_query_run(update), VDBQ_OK);
    vdbq_query_stats(update, &stats);
    assert_int_equal(stats.rows_changed, 2);
    run(db, "begin; drop table t; create table t (b text, a bigint);"
            "insert into t values ('x', 1), ('y', 5)");
    assert_int_equal(vdbq_query_run(update), VDBQ_OK);
    vdbq_query_stats(update, &stats);
    assert_int_equal(stats.rows_changed, 1);
    assert_int_equal(number(db, "select sum(a) from t"), 16);
    run(db, "rollback");
    assert_int_equal(vdbq_query_run(update), VDBQ_OK);
    vdbq_query_stats(update, &stats);
    assert_int_equal(stats.rows_changed, 0);
    assert_int_equal(number(db, "select sum(a) from t"), 11 + 12 + 3);
    vdbq_query_close(update);
    vdbq_close(db);
}

static uint64_t changed(vdbq *db, const char *sql)
{
    vdbq_query *query = prepare(db, sql);
    struct vdbq_stats stats;

    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_query_stats(query, &stats);
    vdbq_query_close(query);
    return stats.rows_changed;
}

static void changed_rows_are_counted(void **state)
{
    vdbq *db = open_file();

    (void)state;
    assert_int_equal(changed(db, "insert into t values (4, 'x'), (5, 'y')"), 2);
    assert_int_equal(changed(db, "insert or ignore into t values (4, 'x'), "
                                 "(6, 'y')"),
                     1);
    assert_int_equal(changed(db, "replace into t values (4, 'x'), (7, 'y')"),
                     2);
    assert_int_equal(changed(db, "insert into t select a + 100, b from t"), 7);
    assert_int_equal(changed(db, "update t set b = a"), 14);
    assert_int_equal(changed(db, "update t set b = b where a > 100"), 7);
    assert_int_equal(changed(db, "delete from t where a <= 2"), 2);
    assert_int_equal(changed(db, "delete from t"), 12);
    assert_int_equal(changed(db, "delete from t"), 0);
    vdbq_close(db);
}

/* An append is a part of the transaction that is open. */
/* What the connection knows of its changes, and a prepared query asks anew. */
static void the_connection_counts_changes(void **state)
{
    vdbq *db = open_file(), *other = open_file();
    vdbq_query *insert = prepare(db, "insert into t values (?, 'x')");
    vdbq_query *asked = prepare(db, "select last_insert_rowid()");
    struct vdbq_changes changes;

    (void)state;
    run(db, "begin");
    for (int64_t key = 10; key < 13; key++) {
        assert_int_equal(vdbq_bind_int64(insert, 1, key), VDBQ_OK);
        assert_int_equal(vdbq_query_run(insert), VDBQ_OK);
        assert_int_equal(vdbq_query_run(asked), VDBQ_OK);
        assert_int_equal(vdbq_query_row(asked), VDBQ_ROW);
        assert_int_equal(vdbq_query_int64(asked, 0), key);
    }
    run(db, "commit; update t set b = 'y' where a > 2");
    vdbq_get_changes(db, &changes);
    assert_int_equal(changes.rows, 4);
    assert_int_equal(changes.total, 7);
    assert_int_equal(changes.key, 12);
    vdbq_get_changes(other, &changes);
    assert_int_equal(changes.total, 0);
    vdbq_get_changes(NULL, &changes);
    assert_int_equal(changes.total, 0);
    vdbq_get_changes(db, NULL);
    vdbq_query_close(insert);
    vdbq_query_close(asked);
    vdbq_close(other);
    vdbq_close(db);
}

/* A statement that SQL names is the connection's; its values are EXECUTE's. */
static void names_of_statements_are_the_connections(void **state)
{
    vdbq *db = open_file(), *other = open_file();
    vdbq_query *query;

    (void)state;
    run(db,
        "prepare p as select b from t where a = $1 and b <> @no or a = @no");
    query = prepare(db, "execute p(2, 'x')");
    assert_int_equal(vdbq_query_parameters(query), 0);
    assert_int_equal(vdbq_bind_int64(query, 1, 3), VDBQ_RANGE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        assert_string_equal(vdbq_query_text(query, 0), "two");
    }
    run(db, "deallocate p"); /* the query has the statement itself */
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    vdbq_query_close(query);
    run(db, "prepare p as select 1; prepare q as select 2");
    assert_int_equal(vdbq_execute(other, "execute p"), VDBQ_UNKNOWN);
    vdbq_close(other);
    vdbq_close(db);
}

static void appends_belong_to_the_transaction(void **state)
{
    const int32_t keys[] = { 10, 11 };
    const struct vdbq_text texts[] = { { "ten", 3 }, { "eleven", 6 } };
    const struct vdbq_vector vectors[] = { { VDBQ_INTEGER, keys, NULL },
                                           { VDBQ_TEXT, texts, NULL } };
    vdbq *db = open_file();
    vdbq_append *append;

    (void)state;
    run(db, "begin; delete from t where a = 1");
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, 2, vectors), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, "delete from t"), VDBQ_MISUSE);
    assert_int_equal(vdbq_execute(db, "commit"), VDBQ_MISUSE);
    assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
    vdbq_append_close(append);
    assert_int_equal(count(db), 4);
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, 2, vectors), VDBQ_CONSTRAINT);
    vdbq_append_close(append);
    assert_int_equal(count(db), 4);
    run(db, "commit");
    assert_int_equal(count(db), 4);
    vdbq_close(db);
}

static long file_bytes(void)
{
    FILE *file = fopen(path, "rb");
    long bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    bytes = ftell(file);
    fclose(file);
    return bytes;
}

/* Thousands of statements of one transaction do not let the file grow by a
 * page each; where tablets have 3 rows, each takes one, and its run another one. */
static void a_transaction_uses_its_space_again(void **state)
{
    enum { MOST_BYTES = HOSTILE(6000, 1000) * 1000 };
    vdbq *db = open_file();
    char sql[64];

    (void)state;
    run(db, "begin");
    for (int i = 10; i < 2000; i++) {
        snprintf(sql, sizeof sql, "insert into t values (%d, 'row')", i);
        run(db, sql);
    }
    run(db, "commit");
    assert_int_equal(count(db), 1993);
    vdbq_close(db);
    assert_true(file_bytes() < MOST_BYTES);
}

/* Nor do savepoints, whether they are released or gone back to; what the one
 * around them has stays. */
static void savepoints_use_space_again(void **state)
{
    vdbq *db = open_file();

    (void)state;
    run(db, "savepoint outer");
    for (int i = 0; i < 1000; i++) {
        run(db, "savepoint inner; update t set b = b || ''; savepoint inner; "
                "update t set b = b || ''");
        run(db, i % 2 == 0 ? "rollback to inner; release inner; release inner"
                           : "release inner; rollback to inner; release inner");
    }
    run(db, "delete from t; rollback to outer");
    assert_int_equal(count(db), 3);
    run(db, "update t set a = a + 10; release outer");
    assert_int_equal(count(db), 3);
    vdbq_close(db);
    assert_true(file_bytes() < 500 * 1000);
}

/* A row that is returned, and that it is the last one. */
static void expect_returned(vdbq_query *query, int64_t a, const char *b)
{
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), a);
    assert_string_equal(vdbq_query_text(query, 1), b);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
}

static void changes_return_rows(void **state)
{
    vdbq *db = open_file();
    struct vdbq_stats stats;
    vdbq_query *query =
        prepare(db, "insert into t values (?, ?) on conflict (a) do update "
                    "set b = t.b || excluded.b returning a * 2 as twice, b");

    (void)state;
    assert_int_equal(vdbq_query_columns(query), 2);
    assert_string_equal(vdbq_query_column_name(query, 0), "twice");
    assert_int_equal(vdbq_query_column_type(query, 1), VDBQ_TEXT);
    for (int64_t a = 3; a <= 4; a++) {
        assert_int_equal(vdbq_bind_int64(query, 1, a), VDBQ_OK);
        assert_int_equal(vdbq_bind_text(query, 2, "!", -1), VDBQ_OK);
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
        assert_int_equal(count(db), a); /* it is done before it is read */
        expect_returned(query, 2 * a, a == 3 ? "three!" : "!");
        vdbq_query_stats(query, &stats);
        assert_int_equal(stats.rows_changed, 1);
        assert_int_equal(stats.rows_returned, 1);
    }
    vdbq_query_close(query);
    assert_int_equal(count(db), 4);
    vdbq_close(db);
}

static void rows_that_are_returned_come_as_a_batch(void **state)
{
    vdbq *db = open_file();
    vdbq_query *query = prepare(db, "delete from t where a > 1 returning b, a");
    struct vdbq_batch batch;

    (void)state;
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_OK);
    assert_int_equal(batch.rows, 2);
    assert_int_equal(batch.columns, 2);
    assert_int_equal(((const int32_t *)batch.column[1].values)[1], 3);
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_OK);
    assert_int_equal(batch.rows, 0);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_OK);
    assert_int_equal(batch.rows, 0); /* they are gone */
    vdbq_query_close(query);
    query = prepare(db, "insert into t values (8, 'x'), (9, 'y') "
                        "returning a + 9223372036854775807");
    assert_int_not_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_not_equal(vdbq_query_row(query), VDBQ_ROW);
    vdbq_query_close(query);
    assert_int_equal(count(db), 1); /* a failure leaves nothing changed */
    vdbq_close(db);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(others_see_what_is_committed),
        TEST(closing_rolls_back),
        TEST(open_queries_go_on),
        TEST(prepared_changes_run_again),
        TEST(changed_rows_are_counted),
        TEST(the_connection_counts_changes),
        TEST(names_of_statements_are_the_connections),
        TEST(appends_belong_to_the_transaction),
        TEST(a_transaction_uses_its_space_again),
        TEST(savepoints_use_space_again),
        TEST(changes_return_rows),
        TEST(rows_that_are_returned_come_as_a_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
