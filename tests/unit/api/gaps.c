/* SPDX-License-Identifier: MIT */
/*
 * Statements of every kind ask often enough whether to stop, and end when they
 * are asked to at any moment: the same statement then gives what it gives, a
 * change has changed nothing, and no file is left. Moments are counted in asks
 * and gaps in the processor's time, so that nothing depends on other work of
 * the machine.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/vdbq.h"
#include "base/threads/stop.h"
#include "fixtures/chance.h"
#include "fixtures/files.h"

/* What watches memory makes all work slower. */
enum { GAP_MS_MAX = SANITIZED ? 1000 : 100, TRIES = 3, MOMENTS = 3 };

static char spill_path[128];

/* A statement, and what takes back what it changed. */
struct statement {
    const char *sql, *undo;
};

static const struct statement reads[] = {
    { "select b, sum(a), min(c) from t group by b", NULL },
    { "select a, b, count(*) from t group by a, b", NULL },
    { "select c, count(distinct b), sum(distinct a) from t group by c", NULL },
    { "select x, count(*) from u group by x", NULL },
    { "select distinct x, y from u", NULL },
    { "select a from t order by b, a desc", NULL },
    { "select x, a from u order by y desc, x", NULL },
    { "select a, x from u order by x limit 1000", NULL },
    { "select a, sum(b) over (partition by c order by a) from t", NULL },
    { "select a, rank() over (order by b), lag(a) over (order by b) from t",
      NULL },
    { "select a, count(distinct b) over (partition by c order by a) from t",
      NULL },
    { "select a from t union select b from t", NULL },
    { "select a from t except select b from t", NULL },
    { "select count(*) from t x join t y on x.b = y.b", NULL },
    { "select count(*) from t x left join t y on x.b = y.a and x.c > y.c",
      NULL },
    { "select count(*) from t x full join t y on x.b = y.a + 100000", NULL },
    { "select count(*) from t x join t y on x.b between y.a and y.a + 1",
      NULL },
    { "select count(*) from u p join u q on p.x = q.x", NULL },
    { "select count(*) from (select x from u union all select y from u) p "
      "join u q on p.x = q.y where q.a < 50",
      NULL },
    { "select upper(x) || y from u", NULL },
    { "select count(*) from u where lower(x) like '%9 of%' or y = 'k7'", NULL },
    { "select a, (select max(b) from t y where y.a = t.c) from t", NULL },
    { "select count(*) from t where b not in (select a from t where c < 500)",
      NULL },
};

static const struct statement changes[] = {
    { "insert into k select b * 10 + a % 10, a from t", "delete from k" },
    { "insert or ignore into k select b, a from t", "delete from k" },
    { "insert into v select a, x from u", "delete from v" },
    { "update t set b = b + 1 where c < 900", "update t set b = b - 1 where "
                                              "c < 900" },
    { "delete from u where a % 3 = 0", "insert into u select a, x, y from s "
                                       "where a % 3 = 0" },
    { "create table w as select a, x || 'w' as x, b from u join t using (a)",
      "drop table w" },
    { "create unique index xi on s (x)", "drop index xi" },
};

static void run(vdbq *db, const char *sql)
{
    enum vdbq_status status = vdbq_execute(db, sql);
    if (status != VDBQ_OK)
        print_error("%s: %s\n", sql, vdbq_error(db)->message);
    assert_int_equal(status, VDBQ_OK);
}

/* Runs a statement to its end; adds up what it gives. */
static enum vdbq_status run_all(vdbq *db, const char *sql, uint64_t *sum)
{
    struct vdbq_batch batch = { .rows = 1 };
    vdbq_query *query;
    enum vdbq_status status = vdbq_prepare(db, sql, -1, &query, NULL);
    *sum = 0;
    while (status == VDBQ_OK && batch.rows > 0) {
        status = vdbq_query_batch(query, &batch);
        if (status != VDBQ_OK || batch.rows == 0 || batch.columns == 0)
            continue;
        if (batch.column[0].type == VDBQ_INTEGER)
            for (uint64_t i = 0; i < batch.rows; i++)
                *sum += (uint64_t)((const int32_t *)batch.column[0].values)[i];
        *sum = *sum * 31 + batch.rows;
    }
    vdbq_query_close(query);
    return status;
}

/* What the tables have, as one number. */
static uint64_t state_of(vdbq *db)
{
    static const char *const tables[] = {
        "select count(*), sum(a), sum(b) from t",
        "select count(*), sum(a) from u",
        "select count(*), sum(a) from k",
        "select count(*), sum(a) from v",
    };
    uint64_t state = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        vdbq_query *query;
        assert_int_equal(vdbq_prepare(db, tables[i], -1, &query, NULL),
                         VDBQ_OK);
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        for (unsigned c = 0; c < vdbq_query_columns(query); c++)
            state = state * 1000003 + (uint64_t)vdbq_query_int64(query, c);
        vdbq_query_close(query);
    }
    return state;
}

static void no_file_is_left(void)
{
    DIR *folder = opendir(spill_path);
    struct dirent *entry;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        assert_int_equal(entry->d_name[0], '.');
    closedir(folder);
}

/* Runs it to its end, watched; how often it asked, and its widest gap. */
static uint64_t run_watched(vdbq *db, const struct statement *statement,
                            uint64_t *sum, uint64_t *gap_ns)
{
    stop_watch(true);
    enum vdbq_status status = run_all(db, statement->sql, sum);
    uint64_t asks = stop_asks();
    *gap_ns = stop_widest_ns();
    stop_watch(false);
    if (status != VDBQ_OK)
        fail_msg("%s: %s", statement->sql, vdbq_error(db)->message);
    if (statement->undo != NULL)
        run(db, statement->undo);
    return asks;
}

/* Cancels it with an ask; whether it had not ended before that. */
static bool cancel_at(vdbq *db, const struct statement *statement, uint64_t ask)
{
    uint64_t sum, before = statement->undo != NULL ? state_of(db) : 0;
    stop_watch(true);
    stop_cancel_at(ask);
    enum vdbq_status status = run_all(db, statement->sql, &sum);
    bool late = stop_asks() < ask;
    stop_watch(false);
    no_file_is_left();
    if (status == VDBQ_OK && statement->undo != NULL)
        run(db, statement->undo);
    if (status != VDBQ_OK && status != VDBQ_CANCELLED)
        fail_msg("%s: %s", statement->sql, vdbq_error(db)->message);
    if (statement->undo != NULL && state_of(db) != before)
        fail_msg("%s: cancelled, but not as before", statement->sql);
    return status == VDBQ_CANCELLED || late;
}

/* One statement: its gaps, moments of a cancel, and what it gives after. */
static void check(vdbq *db, const struct statement *statement)
{
    uint64_t sum, again, gap_ns = UINT64_MAX, ns, heard = 0;
    uint64_t asks = run_watched(db, statement, &sum, &gap_ns);
    for (uint64_t i = 0; i < MOMENTS; i++)
        heard +=
            cancel_at(db, statement, 1 + asks * (2 * i + 1) / (2 * MOMENTS));
    assert_true(heard >= MOMENTS - 1); /* what was done is not cancelled */
    for (int i = 0; i < TRIES && (i == 0 || gap_ns > GAP_MS_MAX * 1000000u);
         i++) {
        run_watched(db, statement, &again, &ns);
        gap_ns = ns < gap_ns ? ns : gap_ns;
        assert_int_equal(again, sum);
    }
    print_message("%7.1f ms of %6llu asks: %s\n", (double)gap_ns * 1e-6,
                  (unsigned long long)asks, statement->sql);
    if (gap_ns > GAP_MS_MAX * 1000000u)
        fail_msg("%s: %.1f ms between two asks", statement->sql,
                 (double)gap_ns * 1e-6);
}

static int make_tables(void **state)
{
    make_folder(state);
    snprintf(spill_path, sizeof spill_path, "%.*s/spill",
             (int)(strrchr(test_path, '/') - test_path), test_path);
    mkdir(spill_path, 0700);
    setenv("TMPDIR", spill_path, 1);
    return 0;
}

static int remove_tables(void **state)
{
    rmdir(spill_path);
    return remove_folder(state);
}

/* A database of a million rows and of 300,000 texts. */
static vdbq *open_tables(const char *memory)
{
    vdbq *db;
    assert_int_equal(
        vdbq_open(test_path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &db),
        VDBQ_OK);
    vdbq_set(db, "device", "host");
    vdbq_set(db, "memory", memory);
    run(db, "create table if not exists d (a integer)");
    run(db, "insert into d values (0), (1), (2), (3), (4), (5), (6), (7), (8), "
            "(9); create table t as select a, a * 7919 % 999983 as b, a % 1000 "
            "as c from (select x.a + 10 * y.a + 100 * z.a + 1000 * v.a + 10000 "
            "* w.a + 100000 * d.a as a from d x, d y, d z, d v, d w, d) n");
    run(db, "create table u as select a, 'text ' || cast(b as text) || ' of ' "
            "|| cast(a as text) as x, 'k' || cast(b % 20011 as text) as y from "
            "t where a < 300000; create table s as select * from u; create "
            "table k (a integer primary key, b integer); create table v (a "
            "integer, x text unique)");
    return db;
}

static void check_all(const struct statement *statements, size_t count,
                      const char *memory)
{
    static uint64_t cases; /* so that each call takes others of a list */
    vdbq *db = open_tables(memory);
    for (size_t i = 0; i < count; i++)
        if (is_taken(cases++))
            check(db, &statements[i]);
    vdbq_close(db);
    no_file_is_left();
}

static void queries_ask(void **state)
{
    (void)state;
    check_all(reads, sizeof reads / sizeof *reads, "0");
}

/* Groups, sorts, windows and joins that go to files. */
static void queries_larger_than_memory_ask(void **state)
{
    (void)state;
    check_all(reads, sizeof reads / sizeof *reads, "16M");
}

static void changes_ask(void **state)
{
    (void)state;
    check_all(changes, sizeof changes / sizeof *changes, "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(queries_ask, make_tables,
                                        remove_tables),
        cmocka_unit_test_setup_teardown(queries_larger_than_memory_ask,
                                        make_tables, remove_tables),
        cmocka_unit_test_setup_teardown(changes_ask, make_tables,
                                        remove_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
