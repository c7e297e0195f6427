/* SPDX-License-Identifier: MIT */
/*
 * A check of a file finds nothing in one that is as it should be, whatever was done
 * to it, and each damage of what it leads to: of tablets, edits, samples and runs,
 * and of the rows that these tell of.
 *
 * VDBQ_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/text.h"
#include "base/threads/stop.h"
#include "data/catalogue/edit.h"
#include "data/catalogue/sample.h"
#include "data/check/check.h"
#include "data/transaction/transaction_inner.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum { TABLET_ROWS = 256, ROWS = 900, FLIPS = 6 };

static struct vector faults;

static void forget(void)
{
    for (size_t i = 0; i < faults.count; i++)
        text_finish(vector_at(&faults, i));
    vector_finish(&faults);
}

/* How many faults the file has. */
static size_t check(void)
{
    struct database_params params = params_on_disk(TABLET_ROWS);

    forget();
    faults = VECTOR(struct text);
    params.flags = VDBQ_OPEN_READ_ONLY;
    assert_int_equal(
        check_file(&params, compute_sample_keys, NULL, &faults, ERROR),
        VDBQ_OK);
    return faults.count;
}

/* Whether a fault tells of that. */
static bool told(const char *what)
{
    for (size_t i = 0; i < faults.count; i++)
        if (strstr(VECTOR_ITEMS(&faults, struct text)[i].bytes, what) != NULL)
            return true;
    return false;
}

static struct database *connect(void)
{
    struct database_params params = params_on_disk(TABLET_ROWS);
    struct database *database = NULL;

    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    return database;
}

static struct transaction *begin(struct database *database)
{
    struct transaction *transaction;

    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    return transaction;
}

static void add_index(struct transaction *transaction, const char *name,
                      unsigned column, bool unique)
{
    const struct table *table =
        catalogue_table(transaction_catalogue(transaction), "t");
    struct index index = { .name = name,
                           .table_id = table->id,
                           .unique = unique,
                           .column_count = 1,
                           .columns = &column };
    struct catalogue *next = transaction_next(transaction, 1);

    /* Whether rows are alike is not looked at here. */
    assert_true(catalogue_add_index(next, &index));
    transaction_take(transaction, next);
}

static int start(void **state)
{
    const int64_t numbers[] = { 3, 300, 301 };
    struct database *database;
    struct transaction *transaction;

    (void)state;
    disk_start(NULL, 0);
    database = connect();
    transaction = begin(database);
    if (create_sample_table(transaction, "t", true) != VDBQ_OK
        || append_sample_rows(transaction, "t", 0, ROWS, 1) != VDBQ_OK
        || transaction_settle(transaction, ERROR) != VDBQ_OK)
        return -1;
    add_index(transaction, "by_text", 4, false);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    transaction = begin(database);
    assert_int_equal(
        change_sample_rows(transaction, "t", numbers, 3, 1u << 1 | 1u << 4, 7),
        VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    database_close(database);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    forget();
    disk_end();
    return 0;
}

/* --------------------------------------------------------------- damage -- */

/* Some bits of a block are turned over, one after the other. */
static void damage(uint64_t offset, uint64_t size, const char *what)
{
    for (unsigned i = 0; i < FLIPS; i++) {
        uint8_t *byte = &disk.bytes[offset + chance_below(size)];
        uint8_t bit = (uint8_t)(1u << chance_below(8));
        *byte ^= bit;
        if (check() == 0 || !told(what) || !told("table t"))
            fail_msg("byte %zu: nothing is told of %s",
                     (size_t)(byte - disk.bytes), what);
        *byte ^= bit;
    }
}

static void each_damage_is_told(void **state)
{
    struct database *database = connect();
    struct snapshot snapshot;
    const struct table *table;
    unsigned edits = 0;

    (void)state;
    assert_int_equal(check(), 0);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = &snapshot.catalogue->tables[0];
    for (size_t i = 0; i < table->tablet_count; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        damage(tablet->offset, tablet->size_bytes, "tablet");
        if (tablet->edit != NULL)
            damage(tablet->edit->offset, tablet->edit->size_bytes, "");
        edits += tablet->edit != NULL;
    }
    assert_int_equal(edits, 2);
    damage(table->sample->offset, table->sample->size_bytes, "sample");
    assert_true(snapshot.catalogue->run_count > 0);
    for (size_t i = 0; i < snapshot.catalogue->run_count; i++)
        damage(snapshot.catalogue->runs[i].offset,
               snapshot.catalogue->runs[i].size_bytes, "run");
    assert_int_equal(check(), 0);
    snapshot_close(&snapshot);
    database_close(database);
}

static void a_damaged_catalogue_is_told(void **state)
{
    struct database *database = connect();
    const struct file_head *head =
        &database->file.heads[database->file.current];

    (void)state;
    disk.bytes[head->catalogue + 40] ^= 1;
    assert_int_equal(check(), 1);
    assert_true(told("the catalogue"));
    database_close(database);
}

/* ----------------------------------------------------- rows and their order -- */

static void rows_that_are_alike_are_told(void **state)
{
    struct database *database = connect();
    struct transaction *transaction = begin(database);

    (void)state;
    add_index(transaction, "once", 4, true); /* of few texts */
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    assert_int_equal(check(), 1);
    assert_true(told("once"));
    database_close(database);
}

/* The runs of two tablets, one in the other's place. */
static void runs_of_other_rows_are_told(void **state)
{
    struct database *database = connect();
    struct transaction *transaction = begin(database);
    struct catalogue *next = transaction_next(transaction, 0);
    struct run_ref *runs;
    size_t other = 1;

    (void)state;
    assert_true(catalogue_own_runs(next));
    runs = next->runs;
    while (other < next->run_count
           && runs[other].columns[0] != runs[0].columns[0])
        other++;
    assert_true(other < next->run_count);
    struct identity of = runs[0].tablet;
    runs[0].tablet = runs[other].tablet;
    runs[other].tablet = of;
    catalogue_sort_runs(next);
    transaction_take(transaction, next);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    assert_int_equal(check(), 2);
    assert_true(told("run"));
    database_close(database);
}

static void a_cancel_ends_it(void **state)
{
    struct database_params params = params_on_disk(TABLET_ROWS);
    struct stop cancelled = { 0 };

    (void)state;
    atomic_store(&cancelled.cancelled, true);
    struct stop_work former = stop_enter(&cancelled);
    forget();
    faults = VECTOR(struct text);
    enum vdbq_status status =
        check_file(&params, compute_sample_keys, NULL, &faults, ERROR);
    if (status != VDBQ_CANCELLED)
        fail_msg("%d: %s", (int)status, ERROR->message);
    stop_leave(former);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_damage_is_told),
        TEST(a_damaged_catalogue_is_told),
        TEST(rows_that_are_alike_are_told),
        TEST(runs_of_other_rows_are_told),
        TEST(a_cancel_ends_it),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
