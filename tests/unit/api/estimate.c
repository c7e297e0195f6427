/* SPDX-License-Identifier: MIT */
/*
 * What the planner thinks of rows, beside the rows that come, for each step
 * of queries over tables that were made up: EXPLAIN ANALYZE says both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/vdbq.h"

static vdbq *db;

static void run(const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

/* A fact table of 10,000 rows: 500 values of a, 200 of b spread over 2,000
 * numbers, 365 days, a quarter of n is NULL, 50 words, x even in [0, 100). */
static int make_tables(void **state)
{
    (void)state;
    if (vdbq_open(NULL, 0, &db) != VDBQ_OK)
        return 1;
    vdbq_set(db, "device", "host");
    run("create table digit (d integer);"
        "insert into digit values (0), (1), (2), (3), (4), (5), (6), (7), "
        "(8), (9);"
        "create table number (i integer primary key);"
        "insert into number select a.d * 1000 + b.d * 100 + c.d * 10 + d.d "
        "from digit a, digit b, digit c, digit d;"
        "create table fact (id integer primary key, a integer, b integer, "
        "day integer, n integer, x double, s text);"
        "insert into fact select i, i * 7919 % 500, i * 10477 % 200 * 10, "
        "i * 31 % 365, case when i % 4 = 0 then null else i % 97 end, "
        "i * 3571 % 10000 / 100.0, 'word ' || cast(i * 13 % 50 as text) "
        "from number;"
        "create table one (k integer primary key, part integer, name text);"
        "insert into one select i, i % 20, 'name ' || cast(i % 25 as text) "
        "from number where i < 500;"
        "create table two (k integer primary key, year integer);"
        "insert into two select i * 10, i % 7 from number where i < 200;"
        "create table pairs (p integer, q integer, v integer, unique (p, q));"
        "insert into pairs select i / 50, i % 50, i from number "
        "where i < 2500;"
        "create table none (k integer primary key, t text)");
    return 0;
}

static int drop_tables(void **state)
{
    (void)state;
    vdbq_close(db);
    return 0;
}

/* Reads "1,234". */
static double number_at(const char *text)
{
    double number = 0;

    for (; (*text >= '0' && *text <= '9') || *text == ','; text++)
        if (*text != ',')
            number = number * 10 + (*text - '0');
    return number;
}

/* That the two numbers of a step's line, where both are there, are no more
 * than a factor apart; one row more or less never matters. */
static unsigned compare(const char *sql, const char *line, double factor)
{
    const char *expected = strstr(line, " (~");
    const char *came = expected != NULL ? strstr(expected, "; ") : NULL;
    double thought, counted;

    if (strncmp(line, "; step ", 7) != 0 || came == NULL || came[2] < '0'
        || came[2] > '9')
        return 0;
    thought = number_at(expected + 3) + 1;
    counted = number_at(came + 2) + 1;
    if (thought > counted * factor || counted > thought * factor)
        fail_msg("%s:\n%s", sql, line);
    return 1;
}

/* That each step of a query gives about as many rows as was thought. */
static void about(double factor, const char *sql)
{
    char text[1000];
    vdbq_query *query;
    unsigned compared = 0;

    snprintf(text, sizeof text, "explain analyze %s", sql);
    if (vdbq_prepare(db, text, -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    while (vdbq_query_row(query) == VDBQ_ROW)
        compared += compare(sql, vdbq_query_text(query, 0), factor);
    vdbq_query_close(query);
    if (compared == 0)
        fail_msg("%s: nothing was compared", sql);
}

/* The rows that a condition on the fact table keeps. */
static void keeps(double factor, const char *condition)
{
    char sql[500];

    snprintf(sql, sizeof sql,
             "select id, sum(a) from fact where %s "
             "group by id",
             condition);
    about(factor, sql);
}

/* What facts do not tell is told by the sample: 64 of the 10,000 rows. */
static void samples(void **state)
{
    (void)state;
    keeps(1.5, "s like '%1'");
    keeps(3.5, "s like 'word 1_'");
    keeps(1.5, "s like 'no such %' or s like '%1%'");
    keeps(1.5, "substring(s, 6, 1) in ('1', '2', '4')");
    keeps(1.5, "length(s) = 7");
    keeps(1.5, "s < 'word 3'");
    keeps(1.5, "upper(s) >= 'WORD 3' and not s like '%1'");
    keeps(2, "(a + b) % 10 = 3");
    keeps(1.5, "case when a % 2 = 0 then s else 'none' end = 'none'");
    keeps(2, "s like '%' || cast(id * 13 % 50 as text)");
    keeps(60, "s like 'no such %'"); /* none of 64: about one in a hundred */
}

/* That EXPLAIN ANALYZE says of so many steps that a sample had a say. */
static void by_sample(unsigned steps, const char *sql)
{
    char text[1000];
    vdbq_query *query;
    unsigned said = 0;

    snprintf(text, sizeof text, "explain analyze %s", sql);
    if (vdbq_prepare(db, text, -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    while (vdbq_query_row(query) == VDBQ_ROW) {
        const char *line = vdbq_query_text(query, 0);
        const char *by = strstr(line, " by sample; ");
        assert_true(by == NULL || strstr(line, " (~") < by);
        said += by != NULL;
    }
    vdbq_query_close(query);
    if (said != steps)
        fail_msg("%s: %u steps by sample, not %u", sql, said, steps);
}

/* Of what was tried on one, and not of what facts tell. */
static void samples_are_told_of(void **state)
{
    (void)state;
    by_sample(1, "select id from fact where s like '%1'");
    by_sample(1, "select id from fact where x > 50 and x / 2 > 25");
    by_sample(1, "select d from digit where d * d > 30 and d % 2 = 1");
    by_sample(1, "select id % 7, count(*) from fact group by id % 7 + a");
    by_sample(1, "select count(*) from fact, one where a = k and s like '%1'");
    by_sample(1, "select count(*) from fact, one where a = k "
                 "and name like '%1' and part >= 0");
    by_sample(2, "select count(*) from fact, one where a = k "
                 "and name like '%1' and s like '%1'");
    by_sample(0, "select id from fact");
    by_sample(0, "select id from fact where day < 100");
    by_sample(0, "select a, count(*) from fact group by a");
    by_sample(0, "select count(*) from fact, one where a = k and part = 3");
    by_sample(0, "select k from none where t like '%1'");
}

/* Of columns that belong together, or exclude one another. */
static void correlated_conditions(void **state)
{
    (void)state;
    keeps(1.5, "id < 5000 and id * 2 < 10000");
    keeps(2, "a % 10 = 3 and id % 10 = 7");
    keeps(1.7, "x > 50 and x / 2 > 25 and x * 3 > 150");
    keeps(1000, "id % 2 = 0 and a % 2 = 1");
    about(1.5, "select id % 7, count(*) from fact group by id % 7");
    about(1.5, "select s || '!', count(*) from fact group by s || '!'");
    about(20, "select id / 10, count(*) from fact group by 1");
}

/* Of a table that is all in its sample, all is known. */
static void whole_samples(void **state)
{
    (void)state;
    about(1, "select d from digit where d * d > 30 and d % 2 = 1");
    about(1, "select d from digit where cast(d as text) like '%3%'");
    about(1, "select d from digit where d * d < 0");
}

static void equalities(void **state)
{
    (void)state;
    keeps(1.3, "a = 7");
    keeps(1.3, "s = 'word 3'");
    keeps(1.3, "id = 77");
    keeps(1.3, "n = 5");
    keeps(1.3, "a <> 7");
    keeps(1.3, "a in (1, 2, 3, 4, 5)");
    keeps(1.3, "a not in (1, 2, 3, 4, 5)");
    keeps(1.3, "s in ('word 1', 'word 2', 'word 3')");
    keeps(1, "a = 100000");
    keeps(20, "b = 50"); /* numbers with gaps between them */
}

static void ranges(void **state)
{
    (void)state;
    keeps(1.1, "day < 100");
    keeps(1.1, "day >= 100");
    keeps(1.1, "300 < day");
    keeps(1.1, "day between 50 and 60");
    keeps(1.1, "day not between 50 and 60");
    keeps(1.1, "x < 12.5");
    keeps(1.1, "x > 20 and x <= 30");
    keeps(1.1, "x / 2 > 30");
    keeps(1.1, "day + 10 < 110");
    keeps(1.2, "day < a");
    keeps(1.2, "a >= day");
    keeps(1.2, "a > b");
    keeps(1.2, "id < b");
    keeps(1.1, "b between 500 and 999");
    keeps(1.1, "n > 48");
    keeps(1, "day > 1000");
    keeps(1, "day < 1000");
}

static void nulls(void **state)
{
    (void)state;
    keeps(1.01, "n is null");
    keeps(1.01, "n is not null");
    keeps(1.1, "n <> 5");
    keeps(1, "a is null");
}

static void several(void **state)
{
    (void)state;
    keeps(1.3, "day < 100 and a < 250");
    keeps(1.3, "day < 100 or a < 250");
    keeps(1.3, "not (day < 100 or a < 250)");
    keeps(1.3, "s = 'word 1' and x < 50");
    keeps(8, "s like 'word 1%'");
}

static void groups(void **state)
{
    (void)state;
    about(1.01, "select a, count(*) from fact group by a");
    about(1.1, "select s, count(*) from fact group by s");
    about(1.1, "select distinct day from fact");
    about(1.1, "select n, count(*) from fact group by n");
    about(1.1, "select count(*) from fact");
    about(1.1, "select a, count(*) from fact where a < 100 group by a");
    about(1.1, "select a from fact where s = 'word 1' union all "
               "select k from two");
    about(1.1, "select a, id from fact order by x limit 30");
    about(1.1, "select a % 10 as m, count(*) from fact group by a % 10");
}

static void joins(void **state)
{
    (void)state;
    about(1.2, "select count(*) from fact, one where a = k");
    about(1.2, "select count(*) from fact, one where a = k and part = 3");
    about(1.2, "select count(*) from fact, one where a = k "
               "and name = 'name 3'");
    about(1.5, "select count(*) from fact, one, two where a = one.k "
               "and b = two.k and year = 2 and part < 4");
    about(1.5, "select name, year, count(*) from fact, one, two "
               "where a = one.k and b = two.k group by name, year");
    about(1.2, "select count(*) from fact x, fact y where x.a = y.a");
    about(1.2, "select count(*) from fact, pairs where day = p and a = q");
    about(1.2, "select count(*) from fact left join one on a = k "
               "and part = 3");
    about(1.2, "select count(*) from digit x, digit y where x.d < 5");
    about(1.5, "select count(*) from fact where n in (select d from digit)");
    about(1.5, "select count(*) from fact where a in (select k from one "
               "where part = 5)");
    about(1.5, "select count(*) from fact where not exists "
               "(select 1 from one where k = a and part = 5)");
    about(1.2, "select count(*) from fact, "
               "(select a as g, count(*) as c from fact group by a) t "
               "where fact.a = t.g");
}

/* How the tables of a query are joined, the last ones where there are more
 * than two. */
static const char *way_of(const char *sql)
{
    char text[1000];
    const char *way = "grid";
    vdbq_query *query;

    snprintf(text, sizeof text, "explain %s", sql);
    if (vdbq_prepare(db, text, -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    while (vdbq_query_row(query) == VDBQ_ROW) {
        const char *line = vdbq_query_text(query, 0);
        const char *join = strstr(line, " join ");
        if (join != NULL)
            way = strchr(join, '<') != NULL ? "range" : "equality";
    }
    vdbq_query_close(query);
    return way;
}

/* The ten queries of the joins' paper, and others: a range join is made where it
 * leaves few pairs, or few rows are worth no launch. */
static void bands_where_they_pay(void **state)
{
    static const char *const ways[][2] = {
        { "grid", "u.a > 60 and t.b < 0" },
        { "grid", "u.x > 60.0 and t.x < 0.0" },
        { "range", "(t.id - u.id) < 5 and (t.id - u.id) > -5 and t.a > u.a" },
        { "range", "(t.id - u.id) < 5 and (t.id - u.id) > -5 and t.x > u.x" },
        { "grid", "(u.a < t.c) and (t.c + 40) > (u.a - 10)" },
        { "grid", "(u.x < t.x) and (t.x + 40.0) > (u.x - 10.0)" },
        { "equality", "t.b = u.b and t.b * u.c >= -5 and t.b * u.c <= 5" },
        { "equality", "t.x = u.x and t.x * u.x >= -5.0 and t.x * u.x <= 5.0" },
        { "grid", "u.a >= -1 and u.a <= 1 or t.b >= -1 and t.b <= 1" },
        { "grid", "u.x >= -1.0 and u.x <= 1.0 or t.x >= -1.0 and t.x <= 1.0" },
        { "grid", "t.a between u.a - 50 and u.a + 50" },
        { "range", "t.id between u.id * 2 and u.id * 2 + 20" },
        { "range", "t.a < u.a and t.id < 50 and u.id < 50" }
    };
    char sql[500];

    (void)state;
    run("create table cell (id integer primary key, a integer, b integer, "
        "c integer, x double);"
        "insert into cell select i, i * 7919 % 201 - 100, i * 31 % 37 - 18, "
        "i * 97 % 161 - 80, i * 3571 % 2000 / 10.0 - 100 from number "
        "where i < 3500");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(sql, sizeof sql,
                 "select t.id, u.a from cell t, cell u "
                 "where %s",
                 ways[i][1]);
        if (strcmp(way_of(sql), ways[i][0]) != 0)
            fail_msg("%s is no %s", sql, ways[i][0]);
    }
    /* A range that leaves few pairs comes before a key that leaves many. */
    assert_string_equal(way_of("select t.id, u.id, v.id from cell t, cell u, "
                               "cell v where t.b = u.b and t.id between "
                               "v.id * 2 and v.id * 2 + 1"),
                        "equality");
}

static void nothing_there(void **state)
{
    (void)state;
    about(1, "select k, count(*) from none group by k");
    about(1, "select none.k from none, one where none.k = one.k");
    about(1, "select t, max(k) from none where k > 5 and t = 'x' group by t");
    about(1, "select none.k from one left join none on none.k = one.k "
             "where one.part = 3");
}

/* A step that runs once for each of several rows says so. */
static void inner_queries_are_counted(void **state)
{
    (void)state;
    about(1000, "select d, (select count(*) from one where part > d) "
                "from digit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equalities),
        cmocka_unit_test(ranges),
        cmocka_unit_test(samples),
        cmocka_unit_test(samples_are_told_of),
        cmocka_unit_test(correlated_conditions),
        cmocka_unit_test(whole_samples),
        cmocka_unit_test(nulls),
        cmocka_unit_test(several),
        cmocka_unit_test(groups),
        cmocka_unit_test(joins),
        cmocka_unit_test(bands_where_they_pay),
        cmocka_unit_test(nothing_there),
        cmocka_unit_test(inner_queries_are_counted),
    };
    return cmocka_run_group_tests(tests, make_tables, drop_tables);
}
