/* SPDX-License-Identifier: MIT */
/*
 * The host build on several cores: rows, their order, bits of floats and
 * failures are those of one core. Cores that are not there are played by the
 * process's workers, one after another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "api/station.h"
#include "device/backend.h"
#include "fixtures/answer.h"

/* Tablets of a part of them, a quarter of a million rows, a block of which has
 * a launch of its own; enough for sixteen threads. */
static const char *const tables[] = {
    "create table d (i integer)",
    "insert into d values (0), (1), (2), (3), (4), (5), (6), (7)",
    "insert into d select i + 8 from d",
    "insert into d select i + 16 from d",
    "insert into d select i + 32 from d",
    "create table t (id integer, k bigint, x double, s text)",
    "insert into t select a.i * 4096 + b.i * 64 + c.i, a.i * 97 + b.i,"
    " 1.0 / (1 + c.i) + a.i * 1e9, case when b.i % 9 > 0 then 's' || b.i end"
    " from d as a, d as b, d as c",
    "create table u as select id, k + 1 as k, x from t where id % 3 = 0",
};

/* Rows that are kept, none, all; sums of floats; groups; joins inside programs
 * and beside them; grids; what fails, in the order of the rows. */
static const char *const statements[] = {
    "select id, x * 1.1, k - id from t where id % 7 < 3",
    "select id from t where x < 0",
    "select id, x from t where s like 's1%' or s is null",
    "select sum(x), avg(x / 3), count(s), min(k), total(id * x) from t",
    "select k, sum(x), count(*) from t where id % 5 > 0 group by k",
    "select t.id, u.x from t join u on t.id = u.id where t.x > u.k",
    "select t.id, u.id from t left join u on t.k = u.k and u.id < 900",
    "select t.id, d.i from t, d where t.id % 4096 = 63 * d.i",
    "select id, x from t order by x desc, id limit 5000",
    "select id, row_number() over (partition by k order by x, id) from t",
    "select id, cast(id * 9000 as integer) from t where id > 200000",
    "select id, k * 9223372036854775807 from t where id > 130000",
    /* The cast fails from row 53688 on, the sum behind it or before it. */
    "select k + 9223372036854772900, cast(id * 40000 as integer) from t",
    "select cast(id * 40000 as integer), k + 9223372036854775100 from t",
};

enum { STATEMENTS = sizeof statements / sizeof *statements };

static vdbq *make(const char *tablet_rows)
{
    vdbq *db;

    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "host");
    set_option(db, "tablet_rows", tablet_rows);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (vdbq_execute(db, tables[i]) != VDBQ_OK)
            fail_msg("%s: %s", tables[i], vdbq_error(db)->message);
    return db;
}

/* The device, and the steps around it, take so many cores for theirs. */
static void play_cores(vdbq *db, unsigned cores)
{
    struct station *station;

    assert_int_equal(
        station_choose(db, &db->options.settings, UINT64_MAX, &station),
        VDBQ_OK);
    station->device->facts.cores = cores;
    db->host_cores = cores;
}

/* What a statement gives, its rows or its failure. */
struct given {
    struct answer answer;
    char failure[400];
};

static struct given run(vdbq *db, const char *sql)
{
    struct given given = { .answer = ask(db, sql, NULL) };

    if (given.answer.status != VDBQ_OK)
        snprintf(given.failure, sizeof given.failure, "%s",
                 vdbq_error(db)->message);
    return given;
}

static void check_equal(const struct given *one, const struct given *many,
                        const char *sql, unsigned cores)
{
    if (one->answer.status != many->answer.status
        || one->answer.rows != many->answer.rows
        || one->answer.hash != many->answer.hash
        || strcmp(one->failure, many->failure) != 0)
        fail_msg("on %u cores: %s\n%llu rows, %s\n%llu rows, %s", cores, sql,
                 (unsigned long long)one->answer.rows, one->failure,
                 (unsigned long long)many->answer.rows, many->failure);
}

static void answers_are_those_of_one_core(const char *tablet_rows)
{
    static const unsigned counts[] = { 2, 3, 16 };
    struct given one[STATEMENTS], many;
    unsigned failed = 0;
    vdbq *db = make(tablet_rows);

    play_cores(db, 1);
    for (size_t i = 0; i < STATEMENTS; i++) {
        one[i] = run(db, statements[i]);
        failed += one[i].answer.status != VDBQ_OK;
    }
    assert_int_equal(failed, 4);
    assert_string_not_equal(one[STATEMENTS - 1].failure,
                            one[STATEMENTS - 2].failure);
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        play_cores(db, counts[n]);
        for (size_t i = 0; i < STATEMENTS; i++) {
            many = run(db, statements[i]);
            check_equal(&one[i], &many, statements[i], counts[n]);
        }
    }
    vdbq_close(db);
}

static void one_tablet(void **state)
{
    (void)state;
    answers_are_those_of_one_core("0");
}

static void many_tablets(void **state)
{
    (void)state;
    answers_are_those_of_one_core("50000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tablet),
        cmocka_unit_test(many_tablets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
