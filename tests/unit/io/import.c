/* SPDX-License-Identifier: MIT */
/*
 * An import that makes its table: others see the table with its rows or not at
 * all, and what fails leaves nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/import/import.h"

static char folder[] = "/tmp/vdbq-import-XXXXXX";
static char database[64], file[64];

static vdbq *open_database(void)
{
    vdbq *db;
    assert_int_equal(vdbq_open(database, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    return db;
}

static void execute(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

/* Two columns, of so many rows; the last one says again what the first one does
 * if it is to be refused as a key. */
static void write_file(unsigned rows, bool twice)
{
    FILE *to = fopen(file, "w");
    assert_non_null(to);
    fprintf(to, "k,s\n");
    for (unsigned i = 0; i < rows; i++)
        fprintf(to, "%u,row %u\n", i + 1 == rows && twice ? 0 : i, i);
    fclose(to);
}

/* What is done while the import runs. */
struct watch {
    vdbq *db, *other;
    unsigned calls;
    unsigned stop;   /* the call at which the import is ended; 0: none */
    unsigned cancel; /* ... or the connection cancelled                */
};

static bool look(void *context, const struct import_progress *progress)
{
    struct watch *watch = context;
    watch->calls++;
    if (watch->other != NULL)
        assert_int_equal(vdbq_tables(watch->other), 0);
    if (progress->rows > 0 && watch->cancel > 0)
        vdbq_cancel(watch->db);
    return progress->rows == 0 || watch->stop == 0;
}

static enum vdbq_status import(struct watch *watch,
                               struct import_report *report)
{
    const struct import_params params = { .db = watch->db,
                                          .file = file,
                                          .table = "t \"1\"",
                                          .header = 1,
                                          .key = "k",
                                          .threads = 2,
                                          .progress = look,
                                          .context = watch };
    return import_csv(&params, report);
}

/* The database holds nothing of an import, and its connection can go on. */
static void expect_nothing(vdbq *db, const struct import_report *report)
{
    assert_false(report->created);
    assert_int_equal(report->rows, 0);
    assert_int_equal(vdbq_tables(db), 0);
    execute(db, "create table u (i integer); drop table u");
    execute(db, "begin; commit");
}

static void others_see_a_table_with_its_rows(void **state)
{
    struct import_report report;
    struct watch watch = { .db = open_database(), .other = open_database() };

    (void)state;
    write_file(200000, false);
    assert_int_equal(import(&watch, &report), VDBQ_OK);
    assert_true(watch.calls > 2);
    assert_true(report.created);
    assert_int_equal(report.rows, 200000);
    assert_int_equal(vdbq_tables(watch.other), 1);
    execute(watch.other, "drop table \"t \"\"1\"\"\"");
    vdbq_close(watch.other);
    vdbq_close(watch.db);
}

static void what_fails_leaves_nothing(void **state)
{
    struct import_report report;
    struct watch watch = { .db = open_database(), .other = open_database() };

    (void)state;
    write_file(100000, true);
    assert_int_equal(import(&watch, &report), VDBQ_CONSTRAINT);
    expect_nothing(watch.db, &report);
    write_file(100000, false);
    watch.stop = 1;
    assert_int_equal(import(&watch, &report), VDBQ_CANCELLED);
    expect_nothing(watch.db, &report);
    watch.stop = 0;
    watch.cancel = 1;
    assert_int_equal(import(&watch, &report), VDBQ_CANCELLED);
    expect_nothing(watch.db, &report);
    vdbq_close(watch.other);
    vdbq_close(watch.db);
}

/* What an open transaction did stays, and it stays open. */
static void a_transaction_goes_on(void **state)
{
    struct import_report report;
    struct watch watch = { .db = open_database() };

    (void)state;
    execute(watch.db, "begin; create table o (i integer)");
    write_file(1000, true);
    assert_int_equal(import(&watch, &report), VDBQ_CONSTRAINT);
    assert_false(report.created);
    assert_int_equal(vdbq_tables(watch.db), 1);
    write_file(1000, false);
    assert_int_equal(import(&watch, &report), VDBQ_OK);
    assert_int_equal(vdbq_tables(watch.db), 2);
    execute(watch.db, "rollback");
    assert_int_equal(vdbq_tables(watch.db), 0);
    vdbq_close(watch.db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_see_a_table_with_its_rows),
        cmocka_unit_test(what_fails_leaves_nothing),
        cmocka_unit_test(a_transaction_goes_on),
    };
    int failed;

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(database, sizeof database, "%s/d.vdb", folder);
    snprintf(file, sizeof file, "%s/f.csv", folder);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(database);
    unlink(file);
    rmdir(folder);
    return failed;
}
