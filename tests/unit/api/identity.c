/* SPDX-License-Identifier: MIT */
/*
 * Identities of tablets, through the door: what one connection wrote and gave
 * up is never taken for what another one commits to the same place in the
 * file, be it in this process or in another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "data/catalogue/identity.h"
#include "fixtures/files.h"

static vdbq *open_on(const char *device, const char *mode)
{
    vdbq *db;

    assert_int_equal(vdbq_open(test_path, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", device), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "mode", mode), VDBQ_OK);
    return db;
}

static vdbq *open_it(void)
{
    return open_on("host", "auto");
}

static void run(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

/* Compares the one text that a query gives. */
static void expect(vdbq *db, const char *sql, const char *text)
{
    vdbq_query *query;

    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_string_equal(vdbq_query_text(query, 0), text);
    vdbq_query_close(query);
}

/* What each connection reads, before and after others wrote. */
static const char read_it[] = "select max(s) from t where s > ''";

static void commits_here(const char *sql)
{
    vdbq *db = open_it();

    run(db, sql);
    vdbq_close(db);
}

static void commits_in_a_child(const char *sql)
{
    pid_t child = fork();
    int result;

    if (child == 0) {
        vdbq *db;
        bool good = vdbq_open(test_path, 0, &db) == VDBQ_OK
                    && vdbq_execute(db, sql) == VDBQ_OK;
        vdbq_close(db);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

/* A reads and gives up, another commits to the same place, A reads. */
static void give_up_on(vdbq *a, void (*commits)(const char *sql))
{
    run(a, "create table t (k integer, s text);"
           "insert into t values (1, 'first')");
    for (int i = 0; i < 4; i++) {
        run(a, "begin; update t set k = 2, s = 'from a'");
        expect(a, read_it, "from a");
        expect(a, "select max(k) from t", "2");
        run(a, "rollback");
        commits("update t set k = 3, s = 'from b'");
        expect(a, read_it, "from b");
        expect(a, "select max(k) from t", "3");
        run(a, "begin; update t set s = 'begun'; update t set s = 'again'");
        expect(a, read_it, "again");
        run(a, "rollback");
        commits("update t set k = 5, s = 'third'");
        expect(a, read_it, "third");
        expect(a, "select max(k) from t", "5");
    }
    run(a, "drop table t");
}

/* On the host, and where tablets stay on a device. */
static void give_up(void (*commits)(const char *sql))
{
    const char *tested = getenv("VDBQ_TEST_DEVICE");
    vdbq *a = open_it();

    give_up_on(a, commits);
    vdbq_close(a);
    a = open_on(tested != NULL ? tested : "cpu", "cached");
    if (vdbq_device_open(a) == VDBQ_OK)
        give_up_on(a, commits);
    vdbq_close(a);
}

static void a_connection_that_gave_up(void **state)
{
    (void)state;
    give_up(commits_here);
}

static void a_process_that_gave_up(void **state)
{
    (void)state;
    give_up(commits_in_a_child);
}

/* A prepared query follows what becomes of its table. */
static void queries_follow(void **state)
{
    vdbq *db = open_it();
    vdbq_query *query;

    (void)state;
    run(db, "begin; create table t (s text, k integer);"
            "insert into t values ('a', 1)");
    assert_int_equal(vdbq_prepare(db, "select max(s) from t", -1, &query, NULL),
                     VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_string_equal(vdbq_query_text(query, 0), "a");
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
    run(db, "rollback");
    assert_int_equal(vdbq_query_run(query), VDBQ_UNKNOWN);
    run(db, "create table u (k integer, r text, s text);"
            "insert into u values (5, 'x', 'y')");
    assert_int_equal(vdbq_query_run(query), VDBQ_UNKNOWN);
    run(db, "drop table u; create table t (k integer, s text);"
            "insert into t values (1, 'b')");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_string_equal(vdbq_query_text(query, 0), "b");
    run(db, "drop table t; create view t as select 'of a view' as s");
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_string_equal(vdbq_query_text(query, 0), "of a view");
    vdbq_query_close(query);
    vdbq_close(db);
}

/* All lines that a query gives. */
static void print_lines(vdbq_query *query, char *lines, size_t size)
{
    size_t length = 0;

    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    lines[0] = '\0';
    while (vdbq_query_row(query) == VDBQ_ROW)
        length += (size_t)snprintf(lines + length, size - length, "%s\n",
                                   vdbq_query_text(query, 0));
    assert_true(length < size);
}

/* ... and the options that plans depend on. */
static void queries_follow_options(void **state)
{
    static const char explain[] = "explain select sum(z) from a join b "
                                  "on a.x = b.x and a.y + 1 > b.y";
    static char much[1 << 16], little[1 << 16], again[1 << 16];
    vdbq *db = open_it();
    vdbq_query *query;

    (void)state;
    run(db, "create table a (x integer, y integer);"
            "create table b (x integer, y integer, z bigint);"
            "insert into a values (1, 2); insert into b values (1, 2, 3)");
    for (int i = 0; i < 13; i++)
        run(db, "insert into b select * from b");
    assert_int_equal(vdbq_prepare(db, explain, -1, &query, NULL), VDBQ_OK);
    print_lines(query, much, sizeof much);
    assert_int_equal(vdbq_set(db, "memory", "64K"), VDBQ_OK);
    print_lines(query, little, sizeof little);
    assert_string_not_equal(little, much);
    assert_int_equal(vdbq_set(db, "memory", "0"), VDBQ_OK);
    print_lines(query, again, sizeof again);
    assert_string_equal(again, much);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* Those given, and those of old files. */
static void none_is_given_twice(void **state)
{
    struct identity_source one = identity_source_init(7);
    struct identity_source two = identity_source_init(8);
    struct identity first = identity_give(&one), second = identity_give(&one);

    (void)state;
    assert_false(identity_equal(first, second));
    assert_false(identity_equal(first, identity_give(&two)));
    assert_true(identity_is_of(second, &one));
    assert_false(identity_is_of(second, &two));
    for (uint64_t drawn = 0; drawn < 64; drawn++) {
        struct identity_source source =
            identity_source_init(UINT64_C(1) << drawn);
        struct identity old =
            identity_of_place(UINT64_C(1) << drawn, 8192, drawn);
        assert_true(identity_give(&source).origin >> 63);
        assert_false(old.origin >> 63);
        assert_false(identity_equal(
            old, identity_of_place(UINT64_C(1) << drawn, 8192, drawn + 1)));
    }
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_connection_that_gave_up),
        TEST(a_process_that_gave_up),
        TEST(queries_follow),
        TEST(queries_follow_options),
        cmocka_unit_test(none_is_given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
