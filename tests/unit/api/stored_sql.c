/* SPDX-License-Identifier: MIT */
/*
 * Texts of SQL that a file holds: its bytes are whole, and yet a DEFAULT may
 * be anything. It is an error where it is used, and the table can be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "data/database/database.h"
#include "data/transaction/transaction.h"
#include "fixtures/settings.h"

/* A database whose table t has a column with that DEFAULT. */
static void make_file(const char *path, const char *default_sql)
{
    const struct column columns[] = {
        { .name = "a", .type = VDBQ_INTEGER },
        { .name = "b", .type = VDBQ_INTEGER, .default_sql = default_sql }
    };
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
    assert_int_equal(transaction_commit(transaction, &error), VDBQ_OK);
    database_close(database);
}

/* What becomes of a row that leaves the column out. */
static enum vdbq_status insert_into(const char *default_sql)
{
    char path[] = "/tmp/vdbq-stored-XXXXXX";
    int file = mkstemp(path);
    enum vdbq_status status;
    vdbq *db;

    assert_true(file >= 0);
    close(file);
    make_file(path, default_sql);
    assert_int_equal(vdbq_open(path, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    status = vdbq_execute(db, "INSERT INTO t (a) VALUES (1)");
    if (status != VDBQ_OK)
        assert_int_equal(vdbq_execute(db, "INSERT INTO t VALUES (1, 2)"),
                         VDBQ_OK);
    vdbq_close(db);
    unlink(path);
    return status;
}

static void good_defaults_are_used(void **state)
{
    (void)state;
    assert_int_equal(insert_into("7"), VDBQ_OK);
    assert_int_equal(insert_into("1 + 2"), VDBQ_OK);
    assert_int_equal(insert_into("NULL"), VDBQ_OK);
}

static void bad_defaults_are_corrupt(void **state)
{
    static const char *const texts[] = {
        "*",           "t.*",

        "1 2",         "1, 2",        "1 AS b",           "1 +",
        "1; SELECT 2", "1 FROM t",    "1 UNION SELECT 2", "?",
        "'",           "DISTINCT 1",  "1 WHERE 1 = 1",    "1 LIMIT 1",
        "\xff",        "1 ORDER BY 1"
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (insert_into(texts[i]) != VDBQ_CORRUPT)
            fail_msg("DEFAULT %s is taken", texts[i]);
}

/* CREATE TABLE takes a constant alone. */
static void what_is_computed_is_corrupt(void **state)
{
    (void)state;
    assert_int_equal(insert_into("(SELECT 1)"), VDBQ_CORRUPT);
    assert_int_equal(insert_into("EXISTS (SELECT 1)"), VDBQ_CORRUPT);
    assert_int_equal(insert_into("1 IN (SELECT 1)"), VDBQ_CORRUPT);
}

/* Names and aggregates are told as in any place where they cannot stand. */
static void names_are_refused(void **state)
{
    (void)state;
    assert_int_equal(insert_into("a"), VDBQ_UNKNOWN);
    assert_int_equal(insert_into("max(1)"), VDBQ_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_defaults_are_used),
        cmocka_unit_test(bad_defaults_are_corrupt),
        cmocka_unit_test(what_is_computed_is_corrupt),
        cmocka_unit_test(names_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
