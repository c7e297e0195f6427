/* SPDX-License-Identifier: MIT */
/*
 * VDBQ_MEMORY, through the door: statements that hold more rows than it lets
 * them give the same rows in the same order, say what went to files, and the
 * process stays small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "api/vdbq.h"
#include "base/account.h"

enum {
    MEBIBYTE = 1 << 20,
    MEMORY_MIB = 8,
/* of a process that may hold so much, and has the table in memory, too:
     * 63 MiB, and without a limit 144. Sanitizers have memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    PEAK_MIB = 4000
#else
    PEAK_MIB = 110
#endif
};

/* Half a million rows: without a limit each statement holds some 20 MiB. */
static const char make[] =
    "create table d as select column1 as i from (values (0), (1), (2), (3), "
    "(4), (5), (6), (7), (8), (9)) v;"
    "create table t as select cast(n as integer) as id, "
    "cast(n * 7919 % 1000003 as integer) as b, "
    "cast(n % 1000 as double) / 8 as x from "
    "(select ((((a.i * 10 + b.i) * 10 + c.i) * 10 + e.i) * 10 + f.i) * 10 "
    "+ g.i as n from d a, d b, d c, d d, d e, d f, d g where d.i = 0 "
    "and a.i < 5) s";

static const char *const statements[] = {
    "select id, b, x from t order by x desc, b",
    "select b, count(*), sum(x), min(id), max(x) from t group by b",
    "select b % 300007, avg(x), sum(id) from t group by 1",
    "select distinct b from t",
    "select count(distinct b), sum(distinct id), count(distinct x) from t",
    "select x, count(distinct b) from t group by x",
    "select id from t union select b from t",
    "select case when id % 2 = 0 then 7 else b end, count(*) from t group by 1",
    ("select id, row_number() over (order by b), "
     "sum(x) over (partition by x order by id) from t"),
    "select u.id, v.x from t u join t v on u.id = v.b",
    "select u.id, v.x from t u left join t v on u.b = v.id where u.x > 5",
    ("with w as (select id, b, row_number() over (order by b) as n from t) "
     "select u.n, v.b from w u join w v on u.id = v.n"),
};
enum { STATEMENTS = sizeof statements / sizeof statements[0] };

static void run(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s", vdbq_error(db)->message);
}

/* All rows, as a number that their order is part of. */
static uint64_t answer(vdbq *db, const char *sql)
{
    uint64_t hash = 0;
    vdbq_query *query;
    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    while (vdbq_query_row(query) == VDBQ_ROW)
        for (unsigned i = 0; i < vdbq_query_columns(query); i++)
            for (const char *c = vdbq_query_text(query, i); c && *c; c++)
                hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    assert_int_equal(vdbq_error(db)->status, VDBQ_OK);
    vdbq_query_close(query);
    return hash;
}

/* Whether EXPLAIN ANALYZE tells of files. */
static bool tells_of_files(vdbq *db, const char *sql)
{
    char text[512];
    bool tells = false;
    vdbq_query *query;
    snprintf(text, sizeof text, "explain analyze %s", sql);
    assert_int_equal(vdbq_prepare(db, text, -1, &query, NULL), VDBQ_OK);
    while (vdbq_query_row(query) == VDBQ_ROW)
        tells |= strstr(vdbq_query_text(query, 0), " MiB to files") != NULL;
    vdbq_query_close(query);
    return tells;
}

/* The most memory that the process had so far. */
static uint64_t peak_bytes(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void little_memory_is_enough(void **state)
{
    uint64_t answers[STATEMENTS];
    char size[16];
    vdbq *db;
    (void)state;
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    run(db, make);
    snprintf(size, sizeof size, "%uM", MEMORY_MIB);
    assert_int_equal(vdbq_set(db, "memory", size), VDBQ_OK);
    for (unsigned i = 0; i < STATEMENTS; i++) {
        answers[i] = answer(db, statements[i]);
        assert_true(tells_of_files(db, statements[i]));
        assert_int_equal(*account_process_bytes(), 0);
    }
    assert_true(peak_bytes() < (uint64_t)PEAK_MIB * MEBIBYTE);
    assert_int_equal(vdbq_set(db, "memory", "0"), VDBQ_OK);
    for (unsigned i = 0; i < STATEMENTS; i++)
        if (answer(db, statements[i]) != answers[i])
            fail_msg("other rows: %s", statements[i]);
    vdbq_close(db);
}

/* Whether the host is where a query over all rows runs. */
static bool runs_on_host(vdbq *db)
{
    struct vdbq_stats stats;
    vdbq_query *query;
    assert_int_equal(
        vdbq_prepare(db, "select sum(id) from t", -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    vdbq_query_stats(query, &stats);
    bool host = strcmp(stats.device, "host") == 0;
    vdbq_query_close(query);
    return host;
}

/* With little memory no device is opened that nobody asked for; one is for what
 * only a device does. */
static void little_memory_has_no_compiler(void **state)
{
    (void)state;
    vdbq *db;
    assert_int_equal(vdbq_open(NULL, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "memory", "64M"), VDBQ_OK);
    run(db, make);
    assert_true(runs_on_host(db));
    assert_int_equal(vdbq_set(db, "steps", "device"), VDBQ_OK);
    assert_false(runs_on_host(db));
    vdbq_close(db);
}

enum { TOGETHER = 6, TOGETHER_ROWS = 500000 };

/* Queries of one connection that are read in turns: each has launches in flight
 * while the others need room for a tablet. The last one fails at a row. */
static void queries_share_little_memory(void **state)
{
    static const char *const modes[] = { "serial", "streamed", "mapped",
                                         "cached" };
    (void)state;
    for (unsigned m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        vdbq_query *queries[TOGETHER], *failing;
        enum vdbq_status status = VDBQ_ROW;
        vdbq *db;
        assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
        assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
        assert_int_equal(vdbq_set(db, "mode", modes[m]), VDBQ_OK);
        assert_int_equal(vdbq_set(db, "tablet_rows", "20000"), VDBQ_OK);
        run(db, make);
        assert_int_equal(vdbq_set(db, "memory", "400K"), VDBQ_OK);
        assert_int_equal(vdbq_set(db, "device_memory", "400K"), VDBQ_OK);
        for (unsigned i = 0; i < TOGETHER; i++)
            assert_int_equal(vdbq_prepare(db, "select id, b, x from t", -1,
                                          &queries[i], NULL),
                             VDBQ_OK);
        assert_int_equal(vdbq_prepare(db,
                                      "select id + 9223372036854705808 from t",
                                      -1, &failing, NULL),
                         VDBQ_OK);
        for (int row = 0; row < TOGETHER_ROWS; row++) {
            for (unsigned i = 0; i < TOGETHER; i++) {
                if (vdbq_query_row(queries[i]) != VDBQ_ROW)
                    fail_msg("%s: %s", modes[m], vdbq_error(db)->message);
                assert_int_equal(vdbq_query_int64(queries[i], 0), row);
            }
            if (status == VDBQ_ROW) {
                status = vdbq_query_row(failing);
                assert_true(status == VDBQ_ROW || row == 70000);
            }
        }
        assert_int_equal(status, VDBQ_RANGE);
        for (unsigned i = 0; i < TOGETHER; i++) {
            assert_int_equal(vdbq_query_row(queries[i]), VDBQ_DONE);
            vdbq_query_close(queries[i]);
        }
        vdbq_query_close(failing);
        vdbq_close(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_memory_is_enough),
        cmocka_unit_test(little_memory_has_no_compiler),
        cmocka_unit_test(queries_share_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
