/* SPDX-License-Identifier: MIT */
/*
 * Plans of prepared statements that are kept while rows change: they give what a
 * statement gives that is prepared anew, rows and failures, whatever comes in
 * between; and they are kept.
 *
 * VDBQ_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "api/vdbq.h"
#include "base/hostile.h"
#include "base/text.h"
#include "fixtures/answer.h"
#include "fixtures/chance.h"
#include "fixtures/failing_memory.h"
#include "fixtures/files.h"

enum { STEPS = 600 / FEWER, PARAMETERS = 2 };

static const char *const texts[] = {
    "select * from t where id = ?1",
    "select c, b, id from t where id in (?1, ?2, 4)",
    "select id, a + ?1, b - ?2 from t where id >= ?1",
    "select id, a * a from t",
    "select id from t where a < ?1 and c is not null",
    "select count(*), count(c), min(a), max(b) from t",
    "select sum(b), count(*) from t where b > ?1",
    "select c, count(*), max(a) from t group by c order by c",
    "select t.id, u.id from t join u on t.a = u.id order by 1, 2",
    "select * from v where a = ?1",
    "select distinct a from t order by a limit 5",
    "select max(id) from t where a = ?1",
    "select id, length(c), c like 'a%' from t where id < ?1",
    "select id, a from t where id between ?1 - 2 and ?1 + 3",
    "select id, c from t where id = ?2 - 1 or id = ?1",
    "select a from t where id > 3 and id < ?2 * 1000000000000000000",
    "delete from t where id = ?2 * 1000000000000000000 returning id",
    "update t set a = a + ?1 where id = ?2 returning *",
    "update t set b = b + a where a > ?1 returning id, b",
    "update t set c = null where a = ?1 returning id, c",
    "delete from t where a = ?1 returning id",
    "insert into t (id, a, b, c) values (?2, ?1, 3, 'u') on conflict (id) do "
    "update set a = a + excluded.a, c = c || excluded.c",
    "insert into t (id, b, a) values (?2, ?1 * 2, ?1) on conflict (id) do "
    "update set b = b * 3 + ?1 - excluded.b where a is not null",
    "insert into t (id, c) values (?2 % 3, 'w'), (?2, 'x'), (?1, 'y') on "
    "conflict (id) do update set a = id + ?2, c = excluded.c returning *",
    "insert into t (id, a) values (?2, ?1) on conflict (id) do nothing",
    "insert into t (id, b) values (?2, ?1) on conflict (id) do update set id = "
    "id + ?1, b = (select max(a) from t)",
    "insert or ignore into t (id, a) values (?2, ?1)",
    "insert or ignore into t (id, a) values (?2, ?1) returning id, a",
    "insert into t (id, a, c) values (?2, ?1, 'z') returning id + a * 2, c",
    "insert into t (id, b) values (?2, ?1) on conflict (id) do update set b = "
    "excluded.b + 1 returning b + id, (select count(*) from t)",
    "insert into t (id, a, b) select ?1 * 7 + id, a, b * 2 from t where id = "
    "?2 returning *",
    "insert into t (id, a) select ?2, sum(a) from t where id > ?1",
    "replace into t (id, a, b) values (?2, ?1, ?1)",
};
enum { STATEMENTS = sizeof texts / sizeof *texts };

static vdbq *here, *there;
static vdbq_query *kept[STATEMENTS];

static vdbq *connect(void)
{
    vdbq *db;

    if (vdbq_open(test_path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &db)
        != VDBQ_OK)
        fail_msg("%s", vdbq_error(db)->message);
    set_option(db, "device", "host");
    return db;
}

static void must(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

static int start(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    here = connect();
    there = connect();
    must(here, "create table t (id integer primary key, a integer, b bigint, c "
               "text); create table u (id integer primary key, x integer); "
               "create view v as select id, a from t where b is not null; "
               "insert into u values (1, 1), (2, 2), (3, 3)");
    for (unsigned i = 0; i < STATEMENTS; i++)
        assert_int_equal(vdbq_prepare(here, texts[i], -1, &kept[i], NULL),
                         VDBQ_OK);
    return 0;
}

static int stop(void **state)
{
    for (unsigned i = 0; i < STATEMENTS; i++)
        vdbq_query_close(kept[i]);
    vdbq_close(here);
    vdbq_close(there);
    return remove_folder(state);
}

/* ------------------------------------------------------------- what comes -- */

/* A value as SQL: mostly small, some at the ends of a type, some NULL. */
static const char *draw(bool wide)
{
    static const char *const ends[] = { "2147483647",  "-2147483648", "65536",
                                        "-2147483647", "null",        "46341" };
    static char numbers[4][32];
    static unsigned next;
    char *number = numbers[next++ % 4];

    if (wide && chance_below(6) == 0)
        return chance_below(2) == 0 ? "9223372036854775807"
                                    : "-9223372036854775807";
    if (chance_below(6) == 0)
        return ends[chance_below(sizeof ends / sizeof *ends)];
    snprintf(number, sizeof numbers[0], "%d", (int)chance_below(5));
    return number;
}

static void make_change(vdbq *db)
{
    static const char *const others[] = {
        "delete from t",
        "insert into u select max(id) + 1, 0 from u",
        "delete from u where id > 3",
        "create index i on t (a)",
        "drop index if exists i",
        "drop view v; create view v as select id, a from t where b is null",
        "drop view v; create view v as select id, a from t where b is not null",
        "drop table t; create table t (id integer primary key, a bigint, b "
        "bigint, c text)",
        "drop table t; create table t (id integer primary key, a integer, b "
        "bigint, c text)",
        "vacuum",
        "alter table t add column d integer default 7",
        "alter table t drop column d",
        "alter table t drop column c; alter table t add column c text",
        "alter table t rename to w",
        "alter table w rename to t",
        "drop view v; alter table t rename a to d; alter table t rename b to "
        "a; alter table t rename d to b; create view v as select id, a from t",
        "alter table u rename x to y",
        "alter table u rename y to x",
    };
    int id = (int)chance_below(30);
    char sql[200];

    switch (chance_below(10)) {
    default:
        snprintf(sql, sizeof sql,
                 "insert or replace into t values (%d, %s, %s, '%c')", id,
                 draw(false), draw(true), (char)('a' + chance_below(3)));
        break;
    case 4:
    case 5:
        snprintf(sql, sizeof sql, "update t set a = %s where id = %d",
                 draw(false), id);
        break;
    case 6:
        snprintf(sql, sizeof sql, "update t set b = %s, c = 'd' where id < %d",
                 draw(true), id);
        break;
    case 7:
        snprintf(sql, sizeof sql, "delete from t where id = %d", id);
        break;
    case 8:
        snprintf(sql, sizeof sql, "%s",
                 others[chance_below(sizeof others / sizeof *others)]);
        break;
    }
    vdbq_execute(db, sql); /* it may fail */
}

/* ---------------------------------------------------------------- answers -- */

/* Rows of a statement in a text, or how it fails. */
static struct text answer_of(vdbq_query *query, const int64_t *values)
{
    struct text text = { 0 };
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < vdbq_query_parameters(query); i++)
        vdbq_bind_int64(query, i + 1, values[i]);
    status = vdbq_query_run(query);
    while (status == VDBQ_OK && (status = vdbq_query_row(query)) == VDBQ_ROW) {
        for (unsigned i = 0; i < vdbq_query_columns(query); i++)
            text_print(&text, "%s|",
                       vdbq_query_is_null(query, i)
                           ? "null"
                           : vdbq_query_text(query, i));
        text_print(&text, "\n");
        status = VDBQ_OK;
    }
    if (status != VDBQ_DONE)
        text_print(&text, "%d %s", (int)status, vdbq_error(here)->message);
    text_print(&text, ".");
    return text;
}

/* Likewise, of a statement that is prepared now. */
static struct text answer_anew(const char *sql, const int64_t *values)
{
    struct text text = { 0 };
    vdbq_query *fresh;
    enum vdbq_status status = vdbq_prepare(here, sql, -1, &fresh, NULL);

    if (status == VDBQ_OK)
        text = answer_of(fresh, values);
    else
        text_print(&text, "%d %s.", (int)status, vdbq_error(here)->message);
    vdbq_query_close(fresh);
    return text;
}

/* Adds what the table is then, as far as it is one. */
static void add_table(struct text *answer)
{
    const int64_t values[PARAMETERS] = { 0, 0 };
    struct text rows = answer_anew("select * from t order by id", values);

    text_print(answer, "\nthen %s", rows.bytes);
    text_finish(&rows);
}

/* Asks a statement that was kept and one that is new, and undoes both. */
static void compare(unsigned number)
{
    const int64_t values[PARAMETERS] = { (int64_t)chance_below(6) - 1,
                                         (int64_t)chance_below(30) };
    struct text answer, expected;

    must(here, "savepoint s");
    answer = answer_of(kept[number], values);
    add_table(&answer);
    must(here, "rollback to s");
    expected = answer_anew(texts[number], values);
    add_table(&expected);
    must(here, "rollback to s; release s");
    if (strcmp(answer.bytes, expected.bytes) != 0)
        fail_msg("%s: %s, prepared anew %s", texts[number], answer.bytes,
                 expected.bytes);
    text_finish(&answer);
    text_finish(&expected);
}

static void kept_plans_give_what_new_ones_give(void **state)
{
    (void)state;
    for (unsigned step = 0; step < STEPS; step++) {
        bool within = chance_below(4) == 0;
        make_change(chance_below(2) == 0 ? here : there);
        if (within)
            must(here, "begin");
        for (unsigned i = 0; i < 4; i++) {
            if (within)
                make_change(here);
            compare((unsigned)chance_below(STATEMENTS));
        }
        if (within)
            must(here, chance_below(2) == 0 ? "commit" : "rollback");
    }
}

/* ----------------------------------------------------------------- keeping -- */

/* What the last planning took: another time where it was planned again. */
static uint64_t planned(vdbq_query *query)
{
    struct vdbq_stats stats;
    const int64_t values[PARAMETERS] = { 1, 2 };
    struct text text = answer_of(query, values);

    text_finish(&text);
    vdbq_query_stats(query, &stats);
    return stats.plan_ns;
}

/* Rows whose values are within what they were have no statement planned again;
 * others have, for so much more that it lasts, and those of which the plan itself
 * tells. */
static void plans_are_kept(void **state)
{
    vdbq_query *by_key = kept[0], *change = kept[17], *counts = kept[5];
    uint64_t before[3];

    (void)state;
    must(here, "insert into t select u.id * 3 + w.id, u.id, w.id, 'a' from u "
               "cross join u w");
    before[0] = planned(by_key);
    before[1] = planned(change);
    before[2] = planned(counts);
    must(there, "update t set a = 2 where id = 5");
    assert_int_equal(planned(by_key), before[0]);
    assert_int_equal(planned(change), before[1]);
    assert_int_not_equal(planned(counts), before[2]);
    must(there, "update t set a = 70000 where id = 5");
    assert_int_not_equal(planned(by_key), before[0]);
    before[0] = planned(by_key);
    must(there, "update t set a = -70000, b = -b where id = 5");
    must(there, "insert into t values (50, 80000, 1, 'new')");
    assert_int_equal(planned(by_key), before[0]); /* it has room for more */
    must(there, "update t set a = 1000000 where id = 5");
    assert_int_not_equal(planned(by_key), before[0]);
    before[0] = planned(by_key);
    must(there, "insert into u values (10, 10)");
    assert_int_equal(planned(by_key), before[0]);
    must(there, "create index i on t (a)");
    assert_int_not_equal(planned(by_key), before[0]);
}

/* A table that grows, by rows with ever higher keys and values, has what reads it
 * planned again as often as its rows double. */
static void growing_tables_have_few_plans(void **state)
{
    enum { ROWS = HOSTILE(500, 6000) / FEWER, PLANS_MOST = 16, WATCHED = 4 };
    /* rows by key, a sum, a greatest value, a change */
    static const unsigned watched[WATCHED] = { 0, 6, 11, 17 };
    vdbq_query *insert;
    unsigned plans[WATCHED] = { 0 };
    uint64_t last[WATCHED] = { 0 };

    (void)state;
    assert_int_equal(vdbq_prepare(here,
                                  "insert into t values (?1, ?1 * 5, -?1, 'x')",
                                  -1, &insert, NULL),
                     VDBQ_OK);
    for (int i = 0; i < ROWS; i++) {
        vdbq_bind_int64(insert, 1, i);
        assert_int_equal(vdbq_query_run(insert), VDBQ_OK);
        for (unsigned k = 0; k < WATCHED; k++) {
            uint64_t now = planned(kept[watched[k]]);
            plans[k] += now != last[k];
            last[k] = now;
        }
    }
    vdbq_query_close(insert);
    for (unsigned k = 0; k < WATCHED; k++)
        assert_in_range(plans[k], 1, PLANS_MOST);
}

/* --------------------------------------------------------------- look-ups -- */

/* Looks a key of `u` up; what it cost, and how often there was asked for memory. */
static unsigned look_up(vdbq_query *query, int64_t key,
                        struct vdbq_stats *stats)
{
    unsigned calls;

    memory_fail_never();
    assert_int_equal(vdbq_bind_int64(query, 1, key), VDBQ_OK);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    if (key >= 1 && key <= 3) {
        assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
        assert_int_equal(vdbq_query_int64(query, 0), key);
    }
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    calls = memory_calls_made();
    vdbq_query_stats(query, stats);
    assert_int_equal(stats->rows_returned, key >= 1 && key <= 3);
    return calls;
}

/* A look-up that is run again needs next to no memory anew, and tells what it
 * alone has cost; NULL and keys that are not there leave nothing behind. */
static void look_ups_are_opened_once(void **state)
{
    enum { CALLS_MOST = HOSTILE(1000, 2), DOUBLED = HOSTILE(3, 10), WARM = 8 };
    enum { BYTES = 100 };
    char first[BYTES];
    struct vdbq_stats stats;
    vdbq_query *query;

    (void)state;
    for (unsigned i = 0; i < DOUBLED; i++)
        must(here,
             "insert into u select id + (select max(id) from u), 0 from u");
    assert_int_equal(
        vdbq_prepare(here, "select x from u where id = ?", -1, &query, NULL),
        VDBQ_OK);
    for (unsigned i = 0; i < WARM; i++)
        look_up(query, 1, &stats);
    snprintf(first, sizeof first, "%s", stats.steps);
    for (int64_t key = 1; key <= 3; key++) {
        assert_in_range(look_up(query, key, &stats), 0, CALLS_MOST);
        assert_string_equal(stats.steps, first);
    }
    look_up(query, 0, &stats);
    assert_int_equal(vdbq_bind_null(query, 1), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    must(there, "update u set x = 3 where id = 3");
    look_up(query, 3, &stats);
    vdbq_query_close(query);
}

/* ---------------------------------------------------------- computed keys -- */

/* Conditions on a key, `k`, whose values a run computes. */
static const char *const conditions[] = {
    "k between ?1 and ?1 + 100",
    "k between ?1 - 7 and ?2 + 7",
    "k = ?1 + 1",
    "k = coalesce(?1, ?2) * 2",
    "k >= ?1 and k < ?2 + ?1",
    "k > 1900 and k <= ?1 + 1",
    "k > 5000 and k <= ?1 + 1",
    "k = ?1 + 1 and id = ?2 - 1",
    "a = ?1 + 1 and k = 7",
    "k = 7 and a = ?1 * 3",
    "k = ?1 + 1 and a = ?2 + 1 and 10 / (a - 1) > 0",
    "10 / (a - 1) > 0 and k = ?1 + 1",
    "k in (?1, ?2, 3)",
    "k = ?2 or k = ?1 or k = ?2",
    "(k, a) in ((?1, 1), (8, ?2))",
    "k between case when ?1 > 5 then ?1 end and ?2 % 50",
    "exists (select 1 from w as v where v.id = w.a + ?1 and v.k = ?2 + 1)",
};

/* The rows of a condition that an index answers, or that it cannot see. */
static struct text found(const char *condition, const char *key,
                         const int64_t *values)
{
    struct text sql = { 0 }, answer;

    text_print(&sql, "select k, id from w where ");
    for (const char *at = condition; *at != '\0'; at++)
        if (*at == 'k'
            && (at == condition || at[-1] == ' ' || at[-1] == '('
                || at[-1] == '.'))
            text_print(&sql, "%s", key);
        else
            text_print(&sql, "%c", *at);
    answer = answer_anew(sql.bytes, values);
    text_finish(&sql);
    return answer;
}

/* Rows that an index finds by such values, and failures, are those of a scan. */
static void computed_keys_find_what_scans_find(void **state)
{
    static const int64_t ends[] = {
        -3,        0,         7,        8, 500, 1999, INT64_MAX, INT64_MAX - 50,
        INT64_MIN, INT32_MAX, INT32_MIN
    };
    enum { ENDS = sizeof ends / sizeof *ends };

    (void)state;
    must(here,
         "create table w (id integer primary key, k integer, a integer, "
         "hidden integer); create index wk on w (k, a); insert into w "
         "select i, i * 7 % 2000, i % 3, i * 7 % 2000 from range(2000) as "
         "r(i)");
    for (unsigned i = 0; i < sizeof conditions / sizeof *conditions; i++)
        for (unsigned k = 0; k < ENDS * ENDS; k++) {
            const int64_t values[] = { ends[k / ENDS], ends[k % ENDS] };
            struct text sought = found(conditions[i], "k", values);
            struct text scanned = found(conditions[i], "hidden", values);
            if (strcmp(sought.bytes, scanned.bytes) != 0)
                fail_msg("%s of %lld, %lld: %s, by a scan %s", conditions[i],
                         (long long)values[0], (long long)values[1],
                         sought.bytes, scanned.bytes);
            text_finish(&sought);
            text_finish(&scanned);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kept_plans_give_what_new_ones_give,
                                        start, stop),
        cmocka_unit_test_setup_teardown(plans_are_kept, start, stop),
        cmocka_unit_test_setup_teardown(growing_tables_have_few_plans, start,
                                        stop),
        cmocka_unit_test_setup_teardown(look_ups_are_opened_once, start, stop),
        cmocka_unit_test_setup_teardown(computed_keys_find_what_scans_find,
                                        start, stop),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
