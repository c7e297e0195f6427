/* SPDX-License-Identifier: MIT */
/*
 * Of a table of which a sort asks for the first rows, the scan gives few rows more
 * than those of its first launch; all of them where the sort asks for all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/vdbq.h"
#include "fixtures/answer.h"

enum { ROWS = 1 << 19, FEW = ROWS / 3 };

static vdbq *make(void)
{
    char sql[100];
    vdbq *db;
    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "host");
    assert_int_equal(
        vdbq_execute(db, "create table t (id integer, k integer, x double,"
                         " n integer, s text); insert into t values"
                         " (0, 0, 0, 0, 'a')"),
        VDBQ_OK);
    for (int rows = 1; rows < ROWS; rows *= 2) {
        snprintf(sql, sizeof sql,
                 "insert into t select id + %d, k, x, n, s from t", rows);
        assert_int_equal(vdbq_execute(db, sql), VDBQ_OK);
    }
    assert_int_equal(
        vdbq_execute(db, "update t set k = id * 7919 % 5003, x = -id / 8.0,"
                         " n = case when id % 2 = 0 then id end"),
        VDBQ_OK);
    return db;
}

/* The rows that the first step gives, of its line in an EXPLAIN ANALYZE. */
static uint64_t rows_of_line(const char *line)
{
    uint64_t rows = 0;
    const char *at = strstr(line, " rows; ");
    assert_non_null(at);
    for (at += strlen(" rows; "); isdigit((unsigned char)*at) || *at == ',';
         at++)
        if (*at != ',')
            rows = rows * 10 + (uint64_t)(*at - '0');
    return rows;
}

/* The rows that come out of the scan of a query. */
static uint64_t scanned(vdbq *db, const char *sql)
{
    char text[200];
    uint64_t rows = UINT64_MAX;
    vdbq_query *query;
    snprintf(text, sizeof text, "explain analyze %s", sql);
    assert_int_equal(vdbq_prepare(db, text, -1, &query, NULL), VDBQ_OK);
    while (vdbq_query_row(query) == VDBQ_ROW)
        if (strncmp(vdbq_query_text(query, 0), "; step 0: ", 10) == 0)
            rows = rows_of_line(vdbq_query_text(query, 0));
    vdbq_query_close(query);
    return rows;
}

/* Sorts, and the most rows that come for them: with those of the first launch
 * some of each that starts before they were looked at. */
static void few_rows_come(void **state)
{
    static const struct {
        const char *sql;
        uint64_t most;
    } sorts[] = {
        { "select id from t order by k limit 10", FEW },
        { "select id from t order by k desc limit 10", FEW },
        { "select id from t order by k, id desc limit 10", FEW },
        { "select id from t order by id, k desc limit 1000", FEW },
        { "select id from t order by x desc limit 20 offset 7", FEW },
        { "select id from t where k > 4000 order by k limit 9", FEW },
        { "select id, k - 1 from t order by k - 1 limit 5", FEW },
        { "select id from t order by n nulls last limit 3", FEW + ROWS / 2 },
        { "select id from t order by s limit 10", FEW },
        { "select id from t order by id limit 10 offset 70000", ROWS * 3 / 4 },
    };
    vdbq *db = make();
    (void)state;
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        uint64_t rows = scanned(db, sorts[i].sql);
        if (rows > sorts[i].most)
            fail_msg("%s: %llu rows come", sorts[i].sql,
                     (unsigned long long)rows);
    }
    vdbq_close(db);
}

static void all_rows_come(void **state)
{
    static const char *const queries[] = {
        "select id from t order by k",
        "select id from t order by k limit 200000",
        "select id from t order by n limit 3", /* NULLs */
    };
    vdbq *db = make();
    (void)state;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        assert_int_equal(scanned(db, queries[i]), ROWS);
    vdbq_close(db);
}

/* The next page of a list: an index of its columns gives its rows alone. */
static void pages_come_by_index(void **state)
{
    static const char *const queries[] = {
        "select id from t where (k, id) > (100, 5000) order by k, id limit 9",
        "select id from t where (k, id) <= (4000, 9) order by k desc, id desc"
        " limit 9",
        "select id from t where k > 70 or k = 70 and id > 900 order by k, id"
        " limit 9",
    };
    vdbq *db = make();
    (void)state;
    assert_int_equal(vdbq_execute(db, "create index i on t (k, id)"), VDBQ_OK);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        uint64_t rows = scanned(db, queries[i]);
        if (rows > 9 * 8) /* of each tablet */
            fail_msg("%s: %llu rows come", queries[i],
                     (unsigned long long)rows);
    }
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_come),
        cmocka_unit_test(all_rows_come),
        cmocka_unit_test(pages_come_by_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
