/* SPDX-License-Identifier: MIT */
/*
 * Prepared statements that keep what they opened for the next execution: rows that
 * are found by a key go through a program. Each execution has values of its own,
 * and follows one that found other rows, failed, or was not read to its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "api/vdbq.h"
#include "fixtures/answer.h"

enum {
    ROWS = 3000, /* more than a statement that rests has room for */
    ROUNDS = 200
};

static vdbq *db;
static int64_t model[ROWS]; /* x of each id */

static void do_sql(const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

static int open_table(void **state)
{
    (void)state;
    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "host");
    do_sql("create table t (id integer primary key, x bigint, s text);"
           "insert into t (id) values (0)");
    for (int rows = 1; rows < ROWS; rows *= 2) {
        char sql[100];
        snprintf(sql, sizeof sql,
                 "insert into t (id) select id + %d from t where id + %d < %d",
                 rows, rows, ROWS);
        do_sql(sql);
    }
    do_sql("update t set x = id, s = 'row ' || id");
    for (int i = 0; i < ROWS; i++)
        model[i] = i;
    return 0;
}

static int close_table(void **state)
{
    (void)state;
    vdbq_close(db);
    return 0;
}

static vdbq_query *prepare(const char *sql)
{
    vdbq_query *query;

    if (vdbq_prepare(db, sql, -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    return query;
}

/* Binds the first two parameters and runs the query. */
static enum vdbq_status run(vdbq_query *query, int64_t first, int64_t second)
{
    assert_int_equal(vdbq_bind_int64(query, 1, first), VDBQ_OK);
    assert_int_equal(vdbq_bind_int64(query, 2, second), VDBQ_OK);
    return vdbq_query_run(query);
}

/* The next row of ids in order: id and x + `more`. */
static void expect_row(vdbq_query *query, int64_t id, int64_t more)
{
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), id);
    assert_int_equal(vdbq_query_int64(query, 1), model[id] + more);
}

/* Rows [first, first + count) through a program with a value of its own. */
static void expect_rows(vdbq_query *query, int64_t first, int64_t count,
                        int64_t more)
{
    assert_int_equal(vdbq_bind_int64(query, 3, more), VDBQ_OK);
    assert_int_equal(run(query, first, first + count), VDBQ_OK);
    for (int64_t id = first; id < first + count && id < ROWS; id++)
        expect_row(query, id, more);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
}

static const char range[] =
    "select id, x + ?3 from t where id >= ?1 and id < ?2";

/* ---------------------------------------------------------------- queries -- */

static void test_ranges(void **state)
{
    static const int counts[] = { 1, 0, 3, 700, 2, ROWS, 1, 5 };
    vdbq_query *query = prepare(range);

    (void)state;
    for (int64_t i = 0; i < ROUNDS; i++)
        expect_rows(query, i * 7919 % ROWS, counts[i % 8], i * 1000003);
    expect_rows(query, ROWS + 5, 4, 1);
    vdbq_query_close(query);
}

static void test_one_row(void **state)
{
    vdbq_query *query = prepare("select id, x * 2 + ?2 from t where id = ?1");

    (void)state;
    for (int64_t i = 0; i < ROUNDS; i++) {
        int64_t id = i * 7919 % (ROWS + ROWS / 4);
        assert_int_equal(run(query, id, i), VDBQ_OK);
        if (id < ROWS)
            expect_row(query, id, model[id] + i);
        assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    }
    vdbq_query_close(query);
}

/* What is not read to its end is no longer asked for. */
static void test_left_early(void **state)
{
    vdbq_query *query = prepare(range);

    (void)state;
    for (int64_t i = 0; i < ROUNDS; i++) {
        assert_int_equal(vdbq_bind_int64(query, 3, i), VDBQ_OK);
        assert_int_equal(run(query, i, i + 40), VDBQ_OK);
        if (i % 3 > 0)
            expect_row(query, i, i);
        expect_rows(query, i * 13, 2, i);
    }
    vdbq_query_close(query);
}

/* Texts, which a program knows by numbers of this execution. */
static void test_texts(void **state)
{
    vdbq_query *query =
        prepare("select id, s || ?3, s = ?3 from t where id >= ?1 and id < ?2");

    (void)state;
    for (int64_t i = 0; i < ROUNDS; i++) {
        char more[32], wanted[64];
        snprintf(more, sizeof more, "row %d", (int)(i * 7));
        assert_int_equal(vdbq_bind_text(query, 3, more, -1), VDBQ_OK);
        assert_int_equal(run(query, i * 7, i * 7 + 2), VDBQ_OK);
        for (int64_t k = i * 7; k < i * 7 + 2; k++) {
            snprintf(wanted, sizeof wanted, "row %d%s", (int)k, more);
            assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
            assert_string_equal(vdbq_query_text(query, 1), wanted);
            assert_int_equal(vdbq_query_int64(query, 2), k == i * 7);
        }
        assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    }
    vdbq_query_close(query);
}

/* It opens elsewhere, and otherwise, what rested there. */
static void test_settings(void **state)
{
    static const char *const modes[] = { "mapped", "streamed", "serial",
                                         "auto" };
    vdbq_query *query = prepare(range);

    (void)state;
    for (unsigned i = 0; i < 2 * ROUNDS; i++) {
        if (i % 5 == 0)
            set_option(db, "mode", modes[i / 5 % 4]);
        expect_rows(query, i, i % 4, i);
    }
    set_option(db, "mode", "auto");
    vdbq_query_close(query);
}

/* ---------------------------------------------------------------- changes -- */

static void test_update(void **state)
{
    vdbq_query *update = prepare("update t set x = x + ?2 where id = ?1");
    vdbq_query *query = prepare(range);

    (void)state;
    for (int64_t i = 0; i < ROUNDS; i++) {
        int64_t id = i * 7919 % (ROWS + ROWS / 4);
        if (i % 10 == 0)
            do_sql("begin");
        assert_int_equal(run(update, id, i), VDBQ_OK);
        if (id < ROWS)
            model[id] += i;
        expect_rows(query, id, 3, i);
        if (i % 10 == 9)
            do_sql("commit");
    }
    vdbq_query_close(update);
    vdbq_query_close(query);
}

/* One that fails changes nothing, and the next one does what it is to do. */
static void test_fails(void **state)
{
    vdbq_query *update =
        prepare("update t set x = x + ?3 where id >= ?1 and id < ?2");

    (void)state;
    for (int64_t i = 1; i < ROUNDS; i++) {
        assert_int_equal(vdbq_bind_int64(update, 3, INT64_MAX), VDBQ_OK);
        assert_int_equal(run(update, i, i + 9), VDBQ_RANGE);
        assert_int_equal(vdbq_bind_int64(update, 3, 1), VDBQ_OK);
        assert_int_equal(run(update, i, i + 2), VDBQ_OK);
        model[i]++;
        model[i + 1]++;
    }
    vdbq_query_close(update);
    update = prepare(range);
    expect_rows(update, 0, ROWS, 0);
    vdbq_query_close(update);
}

/* ------------------------------------------------------------------ tables -- */

/* Rows of a table without an index: so many of ids [0, rows) as are at least `from`,
 * of which each is the one before and 1 more. */
static void expect_scan(vdbq_query *query, int64_t from, int64_t more,
                        int64_t rows)
{
    assert_int_equal(run(query, from, more), VDBQ_OK);
    for (int64_t id = from; id < rows; id++) {
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        assert_int_equal(vdbq_query_int64(query, 0), id + more);
    }
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
}

/* A table of few rows, whose row is found by its key while others change, go and
 * come: no more of them are read. */
static void test_few(void **state)
{
    enum { FEW = 40 };
    int64_t values[FEW] = { 0 };
    vdbq_query *query, *update;
    struct vdbq_stats stats;

    (void)state;
    do_sql("create table little (id integer primary key, x bigint);"
           "insert into little select id, 0 from t where id < 40");
    query = prepare("select x + ?2 from little where id = ?1");
    update = prepare("update little set x = ?2 where id = ?1");
    for (int64_t i = 0; i < 3 * ROUNDS; i++) {
        int64_t id = i * 7 % FEW;
        assert_int_equal(run(update, id, i), VDBQ_OK);
        values[id] = i;
        if (i % 50 == 0)
            do_sql("delete from little where id = 3;"
                   "insert into little values (3, 99)");
        values[3] = i % 50 == 0 ? 99 : values[3];
        assert_int_equal(run(query, id * 3 % FEW, i), VDBQ_OK);
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        assert_int_equal(vdbq_query_int64(query, 0), values[id * 3 % FEW] + i);
        assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
        vdbq_query_stats(query, &stats);
        assert_in_range(stats.rows_read, 0, 1);
    }
    vdbq_query_close(query);
    vdbq_query_close(update);
}

/* A table that is read whole, and grows to more rows than a scan that rests may
 * have; others run on the same tablets meanwhile. */
static void test_scan(void **state)
{
    vdbq_query *query, *update, *insert;

    (void)state;
    do_sql("create table few (id integer, x bigint)");
    query = prepare("select id + ?2 from few where id >= ?1");
    update = prepare("update few set x = x + ?2 where id = ?1");
    insert = prepare("insert into few values (?1, ?2)");
    for (int64_t rows = 0; rows < ROWS / 2; rows++) {
        assert_int_equal(run(insert, rows, 0), VDBQ_OK);
        if (rows % 16 > 3 && rows != 1030)
            continue;
        expect_scan(query, rows - rows % 16, rows, rows + 1);
        expect_scan(query, rows + 1, 1, rows + 1);
        assert_int_equal(run(update, rows, rows), VDBQ_OK);
        assert_int_equal(run(update, rows, INT64_MAX),
                         rows > 0 ? VDBQ_RANGE : VDBQ_OK);
    }
    do_sql("delete from few where id > 5");
    expect_scan(query, 0, 7, 6);
    do_sql("begin; update few set id = id + 1; delete from few where id = 6");
    expect_scan(query, 1, 7, 6);
    do_sql("rollback");
    expect_scan(query, 2, 8, 6);
    vdbq_query_close(query);
    vdbq_query_close(update);
    vdbq_query_close(insert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),     cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_left_early), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_settings),   cmocka_unit_test(test_update),
        cmocka_unit_test(test_fails),      cmocka_unit_test(test_scan),
        cmocka_unit_test(test_few),
    };

    return cmocka_run_group_tests(tests, open_table, close_table);
}
