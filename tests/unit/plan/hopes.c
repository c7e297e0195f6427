/* SPDX-License-Identifier: MIT */
/*
 * Plans that hope for few rows, of statements that are prepared: whether there are
 * few, or many, or fewer of an order than were hoped for, they give what a table
 * without keys and indexes gives, of the same rows. Where few come again, few are
 * hoped for again.
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
#include "fixtures/answer.h"
#include "fixtures/chance.h"

enum { ROWS = HOSTILE(300, 20000), STEPS = 600 / FEWER, WARY = 70 };

/* Of a table with a name of one letter, which stands for '#'. */
static const char *const texts[] = {
    "select id, a from # where id > ?1",
    "select a, id, b from # where id <= ?1 and b <> ?2",
    "select id, a, b from # where a > ?1 order by a limit 3",
    "select id from # where id > ?1 and b % 7 = 3 order by id limit 5",
    "select id, b from # where a < ?1 and b < ?2 order by a desc, id limit 4 "
    "offset 2",
    "select id from # where a > 40 and b % 100 = 7 order by a, b limit 3",
    "select id from # where c like '%7%' order by id desc limit 6",
    "select id, a from # where id > ?1 and d = 17 order by id limit 4",
    "select id from # where d <= ?2 % 40 order by id desc limit 3 offset 1",
    "select id, b from # where a > 3 and d = 30 order by a, id limit 5",
    "select count(*), sum(b) from # where a >= ?1",
    "select b from # where a = ?1",
    "select id from # where (a, id) > (?1, ?2) order by a, id limit 6",
    "select x.id, y.b from # x join # y on y.id = x.b where x.id > ?1 and y.a "
    "< ?2",
    "select max(a), min(b) from # where id between ?1 and ?2 and b > 3",
    "select max(a) from # where d = 3 and b <> ?1",
    "select min(id) from # where b = ?1 % 1000 and d > ?2 % 40",
    "select max(id), max(id) + 1 from # where c like '%77' and id < ?1",
    "select id from (select id, b from # where id > ?1 and b > 3 order by id "
    "limit 9) order by b, id",
};
enum { STATEMENTS = sizeof texts / sizeof *texts };

static vdbq *db;

static void must(const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

/* A text for a table. */
static const char *text_for(const char *text, char table)
{
    static char made[300];
    size_t i = 0;

    for (; text[i] != '\0' && i + 1 < sizeof made; i++)
        made[i] = text[i] == '#' ? table : text[i];
    made[i] = '\0';
    return made;
}

/* Does the same to both tables. */
static void both(const char *text)
{
    char sql[300];

    snprintf(sql, sizeof sql, "%s", text_for(text, 't'));
    must(sql);
    must(text_for(text, 'u'));
}

static int start(void **state)
{
    char sql[300];

    (void)state;
    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "host");
    must("create table t (id integer primary key, a integer, b integer, c text"
         ", d integer); create table u (id integer, a integer, b integer, c "
         "text, d integer)");
    snprintf(
        sql, sizeof sql,
        "insert into # select i, case when i %% 3 = 0 then 5 else i * 7919 "
        "%% 91 end, i * 31 %% 1000, 'x' || i, i * 40 / %d from range(%d) "
        "r(i)",
        ROWS, ROWS);
    both(sql);
    must("create index i on t (a)");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    vdbq_close(db);
    return 0;
}

/* The rows that a query gives for two values. */
static struct answer answer_of(vdbq_query *query, const int64_t *values)
{
    struct answer answer = { .status = VDBQ_OK };
    struct vdbq_batch batch = { .rows = 1 };

    for (unsigned i = 0; i < vdbq_query_parameters(query); i++)
        assert_int_equal(vdbq_bind_int64(query, i + 1, values[i]), VDBQ_OK);
    answer.status = vdbq_query_run(query);
    while (answer.status == VDBQ_OK && batch.rows > 0) {
        answer.status = vdbq_query_batch(query, &batch);
        answer.rows += batch.rows;
        answer.hash = hash_batch(&batch, answer.hash);
    }
    return answer;
}

static vdbq_query *prepare(const char *text, char table)
{
    vdbq_query *query;

    if (vdbq_prepare(db, text_for(text, table), -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", text, vdbq_error(db)->message);
    return query;
}

/* A value near an end of the rows, or anywhere, or beyond. */
static int64_t draw(void)
{
    switch (chance_below(4)) {
    case 0:
        return ROWS - 1 - (int64_t)chance_below(20);
    case 1:
        return (int64_t)chance_below(95) - 2;
    case 2:
        return (int64_t)chance_below(ROWS + 10);
    default:
        return (int64_t)chance_below(10);
    }
}

/* The same of both tables. */
struct pair {
    const char *text;
    vdbq_query *hoping, *plain;
};

static struct pair prepare_pair(const char *text)
{
    return (struct pair){ text, prepare(text, 't'), prepare(text, 'u') };
}

static void close_pair(struct pair *pair)
{
    vdbq_query_close(pair->hoping);
    vdbq_query_close(pair->plain);
}

static void compare(const struct pair *pair, const int64_t *values)
{
    struct answer got = answer_of(pair->hoping, values);
    struct answer wanted = answer_of(pair->plain, values);

    if (got.status != wanted.status || got.rows != wanted.rows
        || got.hash != wanted.hash)
        fail_msg("%s for %lld, %lld: %llu rows, %llu without a key", pair->text,
                 (long long)values[0], (long long)values[1],
                 (unsigned long long)got.rows, (unsigned long long)wanted.rows);
}

/* Some hope for few rows, too. */
static const char *const changes[] = {
    "update # set a = a + 1 where id = ?1",
    "update # set a = 7, b = 3 where id > ?1 and id % 50 = 1",
    "update # set b = b + ?2, c = 'y77' where id > ?1",
    "delete from # where id = ?1",
    "delete from # where id < ?1 % 10 and a < ?2",
    "delete from # where a > ?2 and id >= ?1 returning id, b",
    "insert into # select max(id) + 1, 4, ?1, 'new', 39 from #",
    ("insert into # select (select max(id) from #) + 1, a, b + ?1, c, d from # "
     "where id > ?2 and b > 3 order by id limit 1"),
    "update # set a = null where id = ?1",
};
enum { CHANGES = sizeof changes / sizeof *changes };

static void rows_are_the_same(void **state)
{
    struct pair asked[STATEMENTS], changing[CHANGES];

    (void)state;
    for (unsigned i = 0; i < STATEMENTS; i++)
        asked[i] = prepare_pair(texts[i]);
    for (unsigned i = 0; i < CHANGES; i++)
        changing[i] = prepare_pair(changes[i]);
    for (unsigned step = 0; step < STEPS; step++) {
        const struct pair *pair = chance_below(8) == 0
                                      ? &changing[chance_below(CHANGES)]
                                      : &asked[chance_below(STATEMENTS)];
        compare(pair, (const int64_t[]){ draw(), draw() });
    }
    for (unsigned i = 0; i < STATEMENTS; i++)
        close_pair(&asked[i]);
    for (unsigned i = 0; i < CHANGES; i++)
        close_pair(&changing[i]);
}

/* Whether a run of a statement scans the table. */
static bool scans(vdbq_query *query, int64_t value)
{
    struct vdbq_stats stats;

    assert_int_equal(answer_of(query, &value).status, VDBQ_OK);
    vdbq_query_stats(query, &stats);
    return stats.rows_read > 0;
}

/* With small rooms a seek pays whatever it finds, and nothing need be hoped for. */
static const bool seeks_always_pay = HOSTILE(true, false);

static void few_are_hoped_for_again(void **state)
{
    if (seeks_always_pay)
        skip();
    vdbq_query *query = prepare("select a, b from # where id > ?1", 't');

    (void)state;
    assert_false(scans(query, ROWS - 5));
    for (unsigned i = 0; i < 20; i++)
        assert_true(scans(query, -1));
    for (unsigned i = 0; i < WARY; i++)
        scans(query, ROWS - 5);
    assert_false(scans(query, ROWS - 5));
    assert_true(scans(query, -1));
    assert_true(scans(query, ROWS - 5)); /* it is wary, once */
    assert_false(scans(query, ROWS - 5));
    vdbq_query_close(query);
}

static void explain_tells(void **state)
{
    static const char *const queries[] = {
        "explain select id from t where id > :x and b > 3 order by id limit 3",
        "explain select b from t where a = :x and c like 'x7%' order by id "
        "limit 2",
    };

    if (seeks_always_pay)
        skip();
    (void)state;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        vdbq_query *query = prepare(queries[i], 't');
        bool told = false;
        assert_int_equal(vdbq_bind_int64(query, 1, 5), VDBQ_OK);
        while (vdbq_query_row(query) == VDBQ_ROW)
            told |= strstr(vdbq_query_text(query, 0), "are hoped for") != NULL;
        assert_true(told);
        vdbq_query_close(query);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explain_tells),
        cmocka_unit_test(few_are_hoped_for_again),
        cmocka_unit_test(rows_are_the_same),
    };
    chance_start();
    return cmocka_run_group_tests(tests, start, stop);
}
