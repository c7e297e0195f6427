/* SPDX-License-Identifier: MIT */
/*
 * INSERTs of one row, prepared once and run with many values: what goes into a
 * column as it is, what is converted or refused, keys that are there already,
 * and rows that wait in a transaction while other things happen to it.
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
#include "fixtures/answer.h"
#include "fixtures/chance.h"
#include "fixtures/files.h"

static vdbq *open_file(void)
{
    vdbq *db;

    assert_int_equal(
        vdbq_open(test_path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &db),
        VDBQ_OK);
    set_option(db, "device", "host");
    return db;
}

static void run(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

static vdbq_query *prepare(vdbq *db, const char *sql)
{
    vdbq_query *query;

    if (vdbq_prepare(db, sql, -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    return query;
}

/* The one value that a query gives, as text. */
static void expect(vdbq *db, const char *sql, const char *expected)
{
    vdbq_query *query = prepare(db, sql);

    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    if (strcmp(vdbq_query_text(query, 0), expected) != 0)
        fail_msg("%s: %s, not %s", sql, vdbq_query_text(query, 0), expected);
    vdbq_query_close(query);
}

static void expect_failure(vdbq *db, vdbq_query *query, const char *message)
{
    assert_int_not_equal(vdbq_query_run(query), VDBQ_OK);
    if (strstr(vdbq_error(db)->message, message) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", vdbq_error(db)->message,
                 message);
}

/* ---------------------------------------------------------------- values -- */

static void values_are_converted_or_refused(void **state)
{
    vdbq *db = open_file();
    vdbq_query *query;

    (void)state;
    run(db, "create table t (i integer, b bigint, d double, s text not null, "
            "m decimal(8, 2), day date)");
    query = prepare(db, "insert into t values (?, ?, ?, ?, ?, ?)");
    expect_failure(db, query, "NOT NULL");
    vdbq_bind_text(query, 4, "x", -1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_bind_double(query, 1, 3);
    vdbq_bind_text(query, 2, "12", -1);
    vdbq_bind_int64(query, 3, 7);
    vdbq_bind_int64(query, 4, 8);
    vdbq_bind_double(query, 5, 1.25);
    vdbq_bind_text(query, 6, "2024-02-29", -1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_bind_double(query, 1, 3.5);
    expect_failure(db, query, "3.5 is not a whole number");
    vdbq_bind_int64(query, 1, INT64_C(1) << 31);
    expect_failure(db, query, "2147483648 does not fit column i");
    vdbq_bind_int64(query, 1, INT32_MIN);
    vdbq_bind_int64(query, 2, INT64_MIN);
    vdbq_bind_double(query, 3, -0.5);
    vdbq_bind_text(query, 4, "", -1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_query_close(query);
    expect(db, "select count(*) from t where i is null and s = 'x'", "1");
    expect(db,
           "select count(*) from t where i = 3 and b = 12 and d = 7 and "
           "s = '8' and m = 1.25 and day = date '2024-02-29'",
           "1");
    expect(db,
           "select count(*) from t where i = -2147483648 and b < 0 and "
           "d = -0.5 and s = ''",
           "1");
    expect(db, "select count(*) from t", "3");
    vdbq_close(db);
}

/* A plan for NULLs alone is none for other values. */
static void types_of_values_change_between_runs(void **state)
{
    vdbq *db = open_file();
    vdbq_query *query;

    (void)state;
    run(db, "create table t (a integer, m decimal(8, 2))");
    query = prepare(db, "insert into t values (?1, ?2)");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_bind_int64(query, 1, 1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_bind_double(query, 2, 2.5);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_bind_text(query, 2, "3.25", -1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_bind_null(query, 1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_query_close(query);
    query = prepare(db, "insert into t values (?, 0), (?, 0)");
    vdbq_bind_int64(query, 2, 10);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_query_close(query);
    expect(db, "select sum(a) from t", "13");
    expect(db, "select sum(m) from t", "9.00");
    expect(db, "select count(a) from t", "4");
    vdbq_close(db);
}

static void constants_and_defaults_stand_beside_parameters(void **state)
{
    vdbq *db = open_file();
    vdbq_query *query;

    (void)state;
    run(db, "create table t (a integer primary key, b text default 'none', "
            "c integer default 5, d bigint)");
    query = prepare(db, "insert into t (d, a) values (7, :a)");
    for (int i = 0; i < 3; i++) {
        vdbq_bind_int64(query, 1, i);
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    }
    vdbq_query_close(query);
    query = prepare(db, "insert into t values (?1, ?2, ?1, ?1)");
    vdbq_bind_int64(query, 1, 10);
    vdbq_bind_text(query, 2, "ten", -1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    vdbq_query_close(query);
    expect(db, "select count(*) from t where b = 'none' and c = 5 and d = 7",
           "3");
    expect(db, "select b || c || d from t where a = 10", "ten1010");
    vdbq_close(db);
}

/* A plan holds as long as the table is the same. */
static void another_table_of_the_name_is_planned_for(void **state)
{
    vdbq *db = open_file(), *other = open_file();
    vdbq_query *query;

    (void)state;
    run(db, "create table t (a integer, b text)");
    query = prepare(db, "insert into t values (?, ?)");
    vdbq_bind_int64(query, 1, 1);
    vdbq_bind_text(query, 2, "2", -1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    run(other, "drop table t; create table t (a text, b integer, c double "
               "default 4)");
    expect_failure(db, query, "2 values for 3 columns");
    run(other, "drop table t; create table t (a text, b integer not null)");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    expect(db, "select a || b from t", "12");
    run(other, "drop table t");
    expect_failure(db, query, "no such table");
    vdbq_query_close(query);
    vdbq_close(other);
    vdbq_close(db);
}

/* --------------------------------------------------------------- waiting -- */

static void rows_that_wait_are_there_for_all_who_ask(void **state)
{
    vdbq *db = open_file(), *other = open_file();
    vdbq_query *query;

    (void)state;
    run(db, "create table t (a integer primary key, b text unique)");
    query = prepare(db, "insert into t values (?, ?)");
    run(db, "begin");
    for (int i = 0; i < 10; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        vdbq_bind_int64(query, 1, i % 2 == 0 ? i : -i);
        vdbq_bind_text(query, 2, text, -1);
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
        if (i == 4)
            expect(db, "select count(*) from t", "5");
        if (i == 6)
            assert_int_equal(vdbq_tables(db) * vdbq_table_rows(db, 0), 7);
    }
    expect_failure(db, query, "the primary key a is there twice: -9");
    vdbq_bind_int64(query, 1, 20);
    expect_failure(db, query, "the unique column b is there twice: '9'");
    vdbq_bind_text(query, 2, "20", -1);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    run(db, "delete from t where a = 4");
    expect(other, "select count(*) from t", "0");
    run(db, "commit");
    expect(other, "select count(*) from t", "10");
    expect(other, "select sum(a) from t", "11");
    vdbq_query_close(query);
    vdbq_close(other);
    vdbq_close(db);
}

static void rows_that_wait_go_with_the_transaction(void **state)
{
    vdbq *db = open_file();
    vdbq_query *query;

    (void)state;
    run(db, "create table t (a integer primary key)");
    query = prepare(db, "insert into t values (?)");
    run(db, "begin");
    vdbq_bind_int64(query, 1, 5);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    run(db, "savepoint s");
    vdbq_bind_int64(query, 1, 3);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    run(db, "rollback to s");
    expect(db, "select count(*) from t", "1");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    run(db, "rollback");
    expect(db, "select count(*) from t", "0");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    expect(db, "select a from t", "3");
    vdbq_query_close(query);
    vdbq_close(db);
}

/* Runs a statement with one value, and gives the first column of its only row. */
static int64_t answer_to(vdbq_query *query, int64_t value)
{
    int64_t answer;

    vdbq_bind_int64(query, 1, value);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    answer = vdbq_query_int64(query, 0);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    return answer;
}

static enum vdbq_status change(vdbq_query *query, int64_t value)
{
    vdbq_bind_int64(query, 1, value);
    return vdbq_query_run(query);
}

/* Prepared statements about t, to which rows come, and about other tables. */
struct about {
    vdbq_query *add, *count, *both, *seen, *read, *set;
};

static struct about about_tables(vdbq *db)
{
    run(db, "create table t (a integer primary key);"
            "create table u (a integer primary key, n integer unique);"
            "insert into u values (1, 10), (2, 20);"
            "create view v as select count(*) as c from t");
    return (struct about){
        prepare(db, "insert into t values (?)"),
        prepare(db, "select count(*) from t where a >= ?"),
        prepare(db, "select n + (select count(*) from t) from u where a = ?"),
        prepare(db, "select c from v where c >= ?"),
        prepare(db, "select n from u where a = ?"),
        prepare(db, "update u set n = ? where a = 1"),
    };
}

static void about_close(struct about *about)
{
    vdbq_query_close(about->add);
    vdbq_query_close(about->count);
    vdbq_query_close(about->both);
    vdbq_query_close(about->seen);
    vdbq_query_close(about->read);
    vdbq_query_close(about->set);
}

/* Rows of t wait while statements are about u, also where one of these fails. */
static void rows_that_wait_outlast_other_tables(void **state)
{
    vdbq *db = open_file();
    struct about about = about_tables(db);

    (void)state;
    run(db, "begin");
    for (int i = 0; i < 8; i++) {
        assert_int_equal(change(about.add, i), VDBQ_OK);
        assert_int_equal(answer_to(about.read, 2), 20);
        assert_int_equal(change(about.set, 100 + i), VDBQ_OK);
        assert_int_equal(answer_to(about.read, 1), 100 + i);
        expect_failure(db, (vdbq_bind_int64(about.set, 1, 20), about.set),
                       "is there twice: 20");
        assert_int_equal(answer_to(about.read, 1), 100 + i);
        if (i % 3 == 0)
            assert_int_equal(answer_to(about.count, 0), i + 1);
        if (i % 3 == 1)
            assert_int_equal(answer_to(about.both, 2), 20 + i + 1);
        if (i % 3 == 2)
            assert_int_equal(answer_to(about.seen, 0), i + 1);
    }
    assert_int_equal(change(about.add, 7), VDBQ_CONSTRAINT);
    for (int i = 0; i < 3; i++) { /* whose plan holds, but for rows that wait */
        assert_int_equal(change(about.add, 20 + i), VDBQ_OK);
        assert_int_equal(answer_to(about.count, 20), i + 1);
    }
    run(db, "savepoint s");
    assert_int_equal(change(about.add, 8), VDBQ_OK);
    assert_int_equal(change(about.set, 200), VDBQ_OK);
    run(db, "rollback to s");
    assert_int_equal(answer_to(about.read, 1), 107);
    assert_int_equal(change(about.add, 8), VDBQ_OK);
    assert_int_equal(change(about.set, 300), VDBQ_OK);
    run(db, "commit");
    assert_int_equal(answer_to(about.count, 0), 12);
    assert_int_equal(answer_to(about.read, 1), 300);
    about_close(&about);
    vdbq_close(db);
}

/* A plan that was made before a view is another one is not what says whose rows
 * a statement reads. */
static void rows_that_wait_are_there_for_another_view(void **state)
{
    vdbq *db = open_file();
    struct about about = about_tables(db);
    vdbq_query *query;

    (void)state;
    run(db, "create view w as select count(*) as c from u");
    query = prepare(db, "select c from w where c >= ?");
    assert_int_equal(answer_to(query, 0), 2);
    run(db, "begin");
    run(db, "drop view w");
    run(db, "create view w as select count(*) as c from t");
    assert_int_equal(change(about.add, 1), VDBQ_OK);
    assert_int_equal(answer_to(query, 0), 1);
    run(db, "rollback");
    assert_int_equal(answer_to(query, 0), 2);
    vdbq_query_close(query);
    about_close(&about);
    vdbq_close(db);
}

/* --------------------------------------------------------------- a model -- */

enum { KEYS = 300, STEPS = 6000 };

/* What the table should have: committed, and in the transaction. */
struct model {
    bool kept[KEYS], now[KEYS];
    int64_t noted_kept, noted; /* the value in the other table's first row */
    bool open;
};

static int64_t model_count(const struct model *model)
{
    int64_t count = 0;

    for (int i = 0; i < KEYS; i++)
        count += model->now[i];
    return count;
}

static void check_model(vdbq *db, const struct model *model)
{
    char expected[32];

    snprintf(expected, sizeof expected, "%lld", (long long)model_count(model));
    expect(db, "select count(distinct a) from t", expected);
    expect(db, "select count(*) from t", expected);
}

static void insert_random(vdbq_query *query, struct model *model, int64_t key)
{
    enum vdbq_status expected = model->now[key] ? VDBQ_CONSTRAINT : VDBQ_OK;

    vdbq_bind_int64(query, 1, key * 1000);
    vdbq_bind_int64(query, 2, key);
    assert_int_equal(vdbq_query_run(query), expected);
    model->now[key] = true;
}

/* Changes the other table, which has a second row of the value 0, or asks it. */
static void note_random(vdbq_query *set, vdbq_query *get, struct model *model)
{
    int64_t value = (int64_t)chance_below(4);

    assert_int_equal(change(set, value),
                     value == 0 ? VDBQ_CONSTRAINT : VDBQ_OK);
    if (value != 0)
        model->noted = value;
    assert_int_equal(answer_to(get, 1), model->noted);
}

static void end_random(vdbq *db, struct model *model, bool commit)
{
    if (!model->open)
        run(db, "begin");
    else
        run(db, commit ? "commit" : "rollback");
    if (model->open && !commit)
        memcpy(model->now, model->kept, sizeof model->now);
    if (model->open && !commit)
        model->noted = model->noted_kept;
    model->open = !model->open;
}

static void delete_random(vdbq *db, struct model *model, int64_t key)
{
    char sql[64];

    snprintf(sql, sizeof sql, "delete from t where a = %lld",
             (long long)key * 1000);
    run(db, sql);
    model->now[key] = false;
}

/* A row gets another key, unless there is one. */
static void move_random(vdbq *db, struct model *model, int64_t from, int64_t to)
{
    bool clash = model->now[from] && model->now[to] && from != to;
    char sql[96];

    snprintf(sql, sizeof sql, "update t set a = %lld, b = %lld where a = %lld",
             (long long)to * 1000, (long long)to, (long long)from * 1000);
    assert_int_equal(vdbq_execute(db, sql), clash ? VDBQ_CONSTRAINT : VDBQ_OK);
    if (clash || !model->now[from])
        return;
    model->now[from] = false;
    model->now[to] = true;
}

static void random_rows_are_as_a_model_says(void **state)
{
    vdbq *dbs[2] = { open_file(), open_file() };
    vdbq_query *queries[2], *sets[2], *gets[2];
    struct model model = { .noted = 1 };
    unsigned who = 0;

    (void)state;
    chance_start();
    run(dbs[0], "create table t (a bigint primary key, b integer unique);"
                "create table noted (id integer primary key, n integer unique);"
                "insert into noted values (1, 1), (2, 0)");
    for (int i = 0; i < 2; i++) {
        set_option(dbs[i], "tablet_rows", i == 0 ? "40" : "200");
        queries[i] = prepare(dbs[i], "insert into t values (?, ?)");
        sets[i] = prepare(dbs[i], "update noted set n = ? where id = 1");
        gets[i] = prepare(dbs[i], "select n from noted where id = ?");
    }
    for (int step = 0; step < STEPS; step++) {
        uint64_t what = chance_below(60);
        int64_t key = (int64_t)chance_below(KEYS);
        if (!model.open) {
            memcpy(model.kept, model.now, sizeof model.kept);
            model.noted_kept = model.noted;
            who = (unsigned)chance_below(2);
        }
        if (what == 0)
            check_model(dbs[who], &model);
        else if (what < 4)
            end_random(dbs[who], &model, what < 3);
        else if (what < 20)
            delete_random(dbs[who], &model, key);
        else if (what < 28)
            move_random(dbs[who], &model, key, (int64_t)chance_below(KEYS));
        else if (what < 34)
            note_random(sets[who], gets[who], &model);
        else
            insert_random(queries[who], &model, key);
    }
    check_model(dbs[who], &model);
    for (int i = 0; i < 2; i++) {
        vdbq_query_close(queries[i]);
        vdbq_query_close(sets[i]);
        vdbq_query_close(gets[i]);
        vdbq_close(dbs[i]);
    }
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_are_converted_or_refused),
        TEST(types_of_values_change_between_runs),
        TEST(constants_and_defaults_stand_beside_parameters),
        TEST(another_table_of_the_name_is_planned_for),
        TEST(rows_that_wait_are_there_for_all_who_ask),
        TEST(rows_that_wait_go_with_the_transaction),
        TEST(rows_that_wait_outlast_other_tables),
        TEST(rows_that_wait_are_there_for_another_view),
        TEST(random_rows_are_as_a_model_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
