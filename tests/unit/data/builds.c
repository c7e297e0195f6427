/* SPDX-License-Identifier: MIT */
/*
 * Tablets that threads build while the next rows come: the same bytes in the
 * same order as on one core, whatever else the transaction does meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/os/os.h"
#include "data/database/database.h"
#include "fixtures/failing_memory.h"
#include "fixtures/sample_tables.h"
#include "fixtures/settings.h"

enum { TABLET_ROWS = 1 << 16, TABLETS = 6, LEFT = 1234 };
enum { ROWS = TABLETS * TABLET_ROWS + LEFT, STEP = 50000 };

static char path[] = "/tmp/vdbq-builds-XXXXXX";

/* An empty database, written on so many cores. */
static struct database *open_new(unsigned cores)
{
    struct settings *settings = settings_for_tests(TABLET_ROWS);
    struct database_params params = { .path = path,
                                      .flags =
                                          VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC,
                                      .files = &os_files,
                                      .settings = settings };
    struct database *database;

    settings->cores = cores;
    unlink(path);
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    return database;
}

static struct transaction *begin(struct database *database)
{
    struct transaction *transaction;

    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    return transaction;
}

static enum vdbq_status append(struct transaction *transaction, int32_t first,
                               int32_t end)
{
    enum vdbq_status status = VDBQ_OK;

    for (int32_t at = first; at < end && status == VDBQ_OK; at += STEP)
        status = append_sample_rows(
            transaction, "t", at, end - at < STEP ? (uint32_t)(end - at) : STEP,
            1);
    return status;
}

/* What tells tablets apart: their rows and the checksum of their bytes. */
static void read_checksums(struct database *database,
                           uint64_t checksums[TABLETS + 1])
{
    struct snapshot snapshot;
    const struct table *table;

    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "t");
    assert_int_equal(table->tablet_count, TABLETS + 1);
    assert_int_equal(table->rows, ROWS);
    for (size_t i = 0; i < table->tablet_count; i++) {
        assert_int_equal(table->tablets[i].rows,
                         i < TABLETS ? TABLET_ROWS : LEFT);
        checksums[i] = table->tablets[i].checksum;
    }
    snapshot_close(&snapshot);
}

/* Writes all rows, or in two parts between which a table is made. */
static void write_all(unsigned cores, bool parts,
                      uint64_t checksums[TABLETS + 1])
{
    struct database *database = open_new(cores);
    struct transaction *transaction = begin(database);
    const int32_t middle = parts ? 3 * TABLET_ROWS + 7 : 0;

    assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    assert_int_equal(append(transaction, 0, middle), VDBQ_OK);
    if (parts)
        assert_int_equal(create_sample_table(transaction, "u", true), VDBQ_OK);
    assert_int_equal(append(transaction, middle, ROWS), VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    read_checksums(database, checksums);
    database_close(database);
}

static void bytes_are_the_same_on_all_cores(void **state)
{
    uint64_t expected[TABLETS + 1], got[TABLETS + 1];
    (void)state;
    write_all(1, false, expected);
    for (unsigned cores = 2; cores <= 8; cores *= 2) {
        write_all(cores, false, got);
        assert_memory_equal(got, expected, sizeof got);
    }
}

/* The table that tablets are built for is another object then. */
static void a_table_may_be_made_meanwhile(void **state)
{
    uint64_t expected[TABLETS + 1], got[TABLETS + 1];
    (void)state;
    write_all(1, true, expected);
    write_all(4, true, got);
    assert_memory_equal(got, expected, sizeof got);
}

/* Of table "t"; 0 also where there is none. */
static uint64_t rows_of(struct database *database)
{
    struct snapshot snapshot;
    const struct table *table;
    uint64_t rows;

    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "t");
    rows = table != NULL ? table->rows : 0;
    snapshot_close(&snapshot);
    return rows;
}

static void keys_in_tablets_that_are_built_are_found(void **state)
{
    struct database *database = open_new(4);
    struct transaction *transaction = begin(database);
    (void)state;
    assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    assert_int_equal(append(transaction, 0, 2 * TABLET_ROWS + 5), VDBQ_OK);
    assert_int_equal(append(transaction, TABLET_ROWS + 9, TABLET_ROWS + 10),
                     VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_CONSTRAINT);
    database_close(database);
}

static void a_transaction_may_end_meanwhile(void **state)
{
    struct database *database = open_new(4);
    struct transaction *transaction = begin(database);
    struct snapshot snapshot;
    (void)state;
    assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    assert_int_equal(transaction_mark(transaction, ERROR), VDBQ_OK);
    assert_int_equal(append(transaction, 0, 2 * TABLET_ROWS + 5), VDBQ_OK);
    transaction_undo(transaction);
    assert_int_equal(append(transaction, 7, 2 * TABLET_ROWS), VDBQ_OK);
    transaction_abort(transaction);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    assert_null(catalogue_table(snapshot.catalogue, "t"));
    snapshot_close(&snapshot);
    database_close(database);
}

/* Wherever memory ends, on whichever thread: an error and nothing written, or all
 * is. */
static void memory_may_end_meanwhile(void **state)
{
    struct database *database = open_new(3);
    enum vdbq_status status = VDBQ_NO_MEMORY;
    (void)state;
    for (unsigned calls = 0; status != VDBQ_OK; calls += 1 + calls / 4) {
        struct transaction *transaction = begin(database);
        assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
        memory_fail_after(calls);
        status = append(transaction, 0, 2 * TABLET_ROWS + 5);
        if (status == VDBQ_OK)
            status = transaction_commit(transaction, ERROR);
        else
            transaction_abort(transaction);
        if (status != VDBQ_OK)
            assert_int_equal(status, VDBQ_NO_MEMORY);
        memory_fail_never();
        assert_int_equal(rows_of(database),
                         status == VDBQ_OK ? 2 * TABLET_ROWS + 5 : 0);
    }
    database_close(database);
}

static int make_path(void **state)
{
    (void)state;
    return close(mkstemp(path));
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_the_same_on_all_cores),
        cmocka_unit_test(a_table_may_be_made_meanwhile),
        cmocka_unit_test(keys_in_tablets_that_are_built_are_found),
        cmocka_unit_test(a_transaction_may_end_meanwhile),
        cmocka_unit_test(memory_may_end_meanwhile),
    };
    return cmocka_run_group_tests(tests, make_path, remove_file);
}
