/* SPDX-License-Identifier: MIT */
/*
 * What stops a statement, and what its time went to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "api/vdbq.h"

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

/* A cancel between prepare and run is for that run, and for no other. */
static void test_cancel_before_run(void **state)
{
    static const char *const statements[] = {
        "select a from t", "insert into t values (2)", "begin",
        "explain analyze update t set a = 3", "create index i on t (a)"
    };
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table t (a integer); insert into t values (1)");
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        vdbq_cancel(db);
        vdbq_query *other = prepare(db, "select 1");
        vdbq_query *query = prepare(db, statements[i]);
        vdbq_cancel(db);
        assert_int_equal(vdbq_query_run(query), VDBQ_CANCELLED);
        assert_int_equal(vdbq_query_run(other), VDBQ_OK);
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
        vdbq_query_close(query);
        vdbq_query_close(other);
    }
    vdbq_close(db);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The time in all is that of the call, once, and EXPLAIN ANALYZE tells it. */
static void check_total(vdbq *db, const char *sql)
{
    struct vdbq_stats stats;
    double told_ms = 0;
    vdbq_query *query = prepare(db, sql);
    uint64_t start = now_ns();
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    uint64_t took_ns = now_ns() - start;
    vdbq_query_stats(query, &stats);
    assert_true(stats.total_ns > 0 && stats.total_ns <= took_ns);
    while (vdbq_query_row(query) == VDBQ_ROW)
        sscanf(vdbq_query_text(query, 0), "; total %lf ms", &told_ms);
    assert_true(told_ms > 0);
    assert_true(told_ms * 1e6 <= (double)stats.total_ns + 1000);
    vdbq_query_close(query);
}

static void test_total(void **state)
{
    (void)state;
    vdbq *db = open_memory();
    run(db, "create table d (a integer); insert into d values (1), (2), (3), "
            "(4), (5), (6), (7), (8), (9), (10); create table t as "
            "select x.a from d x, d, d z, d w");
    check_total(db, "explain analyze select a, count(*) from t group by a");
    check_total(db, "explain analyze insert into t select a from t");
    check_total(db, "explain analyze update t set a = a + 1");
    check_total(db, "explain analyze create index i on t (a)");
    check_total(db, "explain analyze create table u as select * from t");
    check_total(db, "explain analyze drop table u");
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel_before_run),
        cmocka_unit_test(test_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
