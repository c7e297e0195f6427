/* SPDX-License-Identifier: MIT */
/*
 * Texts of SQL that a file holds: its bytes are whole, and yet a DEFAULT or a
 * view may be anything. A DEFAULT that is no expression is told when the
 * database is opened, one that is no constant where it is used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "data/database/database.h"
#include "data/transaction/transaction.h"
#include "fixtures/settings.h"

/* A new file with the name in `path`. */
static void draw_path(char path[])
{
    int file = mkstemp(path);

    assert_true(file >= 0);
    close(file);
}

/* A database whose table t has a column with that DEFAULT, and whose view v
 * is that statement. No parser looks at either. */
static void make_file(const char *path, const char *default_sql,
                      const char *view_sql)
{
    const struct column columns[] = {
        { .name = "a", .type = VDBQ_INTEGER },
        { .name = "b", .type = VDBQ_INTEGER, .default_sql = default_sql }
    };
    const struct view view = { .name = "v", .sql = view_sql };
    const struct database_params params = { .path = path,
                                            .flags = VDBQ_OPEN_CREATE,
                                            .files = &os_files,
                                            .settings = settings_for_tests(0) };
    struct database *database;
    struct transaction *transaction;
    struct error error = { 0 };

    assert_int_equal(database_open(&params, &database, &error), VDBQ_OK);
    assert_int_equal(transaction_begin(database, &transaction, &error),
                     VDBQ_OK);
    assert_int_equal(
        transaction_create_table(transaction, "t", columns, 2, NO_KEY, &error),
        VDBQ_OK);
    assert_int_equal(transaction_create_view(transaction, &view, &error),
                     VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, &error), VDBQ_OK);
    database_close(database);
}

/* What a statement gives in such a database. */
static enum vdbq_status run(const char *default_sql, const char *view_sql,
                            const char *sql)
{
    char path[] = "/tmp/vdbq-stored-XXXXXX";
    enum vdbq_status status;
    vdbq *db;

    draw_path(path);
    make_file(path, default_sql, view_sql);
    assert_int_equal(vdbq_open(path, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    status = vdbq_execute(db, sql);
    assert_int_equal(vdbq_execute(db, "INSERT INTO t VALUES (1, 2)"), VDBQ_OK);
    vdbq_close(db);
    unlink(path);
    return status;
}

/* What becomes of rows that leave the column out, in VALUES and of a query. */
static enum vdbq_status insert_into(const char *default_sql)
{
    static const char view[] = "CREATE VIEW v AS SELECT 1";
    enum vdbq_status status =
        run(default_sql, view, "INSERT INTO t (a) VALUES (1)");

    assert_int_equal(status,
                     run(default_sql, view, "INSERT INTO t (a) SELECT 1"));
    return status;
}

static void good_defaults_are_used(void **state)
{
    (void)state;
    assert_int_equal(insert_into("7"), VDBQ_OK);
    assert_int_equal(insert_into("1 + 2"), VDBQ_OK);
    assert_int_equal(insert_into("(1) + (2) -- 3"), VDBQ_OK);
    assert_int_equal(insert_into("NULL"), VDBQ_OK);
}

/* With each of the flags that could pass over it. */
static void check_refused(const char *default_sql)
{
    static const unsigned flags[] = { 0, VDBQ_OPEN_CREATE,
                                      VDBQ_OPEN_READ_ONLY };
    char path[] = "/tmp/vdbq-stored-XXXXXX";
    vdbq *db;

    draw_path(path);
    make_file(path, default_sql, "CREATE VIEW v AS SELECT 1");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (vdbq_open(path, flags[i], &db) != VDBQ_CORRUPT)
            fail_msg("DEFAULT %s is taken", default_sql);
        assert_non_null(
            strstr(vdbq_error(db)->message,
                   "the default of column b in table t is no expression: "));
        assert_non_null(strstr(vdbq_error(db)->message, default_sql));
        vdbq_close(db);
    }
    unlink(path);
}

static void bad_defaults_are_corrupt(void **state)
{
    static const char *const texts[] = { "*",
                                         "t.*",

                                         "1 2",
                                         "1, 2",
                                         "1 AS b",
                                         "1 +",
                                         "1; SELECT 2",
                                         "1 FROM t",
                                         "1 UNION SELECT 2",
                                         "?",
                                         "'",
                                         "DISTINCT 1",
                                         "1 WHERE 1 = 1",
                                         "1 LIMIT 1",
                                         "\xff",
                                         "1 ORDER BY 1",
                                         "1 + ?2",
                                         "1;",
                                         "SELECT 1",
                                         " ",
                                         "1) + (1",
                                         "/* 1" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_refused(texts[i]);
}

/* CREATE TABLE takes a constant alone. */
static void what_is_computed_is_corrupt(void **state)
{
    static const char *const texts[] = {
        "(SELECT 1)",        "a",
        "EXISTS (SELECT 1)", "max(1)",
        "1 IN (SELECT 1)",   "nothing(1)",
        "(SELECT a FROM t)", "'x'",
        "5000000000",        "rank() OVER ()"
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (insert_into(texts[i]) != VDBQ_CORRUPT)
            fail_msg("DEFAULT %s is taken", texts[i]);
}

static void views_are_queries(void **state)
{
    static const char *const texts[] = { "SELECT 1",
                                         "CREATE TABLE v (a INTEGER)",
                                         "CREATE VIEW v AS SELECT 1; SELECT 2",
                                         "DROP TABLE t",
                                         "INSERT INTO t VALUES (1, 1)",
                                         "COPY t TO 'x'",
                                         "BEGIN",
                                         "-- nothing",
                                         "CREATE VIEW v AS",
                                         "EXPLAIN SELECT 1" };

    (void)state;
    assert_int_equal(run("1", "CREATE VIEW v AS SELECT 1", "SELECT * FROM v"),
                     VDBQ_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (run("1", texts[i], "SELECT * FROM v") != VDBQ_CORRUPT)
            fail_msg("view %s is taken", texts[i]);
}

/* A table whose DEFAULT has that many bytes, in a new file that is then
 * opened again. */
static enum vdbq_status store(size_t length)
{
    char path[] = "/tmp/vdbq-stored-XXXXXX";
    static char sql[STORED_SQL_MAX + 100];
    int head = sprintf(sql, "CREATE TABLE t (a INTEGER, b TEXT DEFAULT '");
    enum vdbq_status status;
    vdbq *db;

    memset(sql + head, 'x', length - 2);
    strcpy(sql + head + length - 2, "')");
    draw_path(path);
    assert_int_equal(vdbq_open(path, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    status = vdbq_execute(db, sql);
    vdbq_close(db);
    assert_int_equal(vdbq_open(path, 0, &db), VDBQ_OK);
    vdbq_close(db);
    unlink(path);
    return status;
}

/* What the file could not be read with is not written. */
static void long_defaults_are_refused(void **state)
{
    (void)state;
    assert_int_equal(store(STORED_SQL_MAX), VDBQ_OK);
    assert_int_equal(store(STORED_SQL_MAX + 1), VDBQ_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_defaults_are_used),
        cmocka_unit_test(bad_defaults_are_corrupt),
        cmocka_unit_test(what_is_computed_is_corrupt),
        cmocka_unit_test(views_are_queries),
        cmocka_unit_test(long_defaults_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
