/* SPDX-License-Identifier: MIT */
/*
 * Rows that change: tablets that hold none of them stay, the same bytes at the
 * same place under the same identity; ids that are not the table's change
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/catalogue/identity.h"
#include "data/database/database.h"
#include "data/database/rows.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum { TABLET_ROWS = 10, TABLETS = 5, ROWS = TABLET_ROWS * TABLETS };

/* A database with a table of several tablets, in a transaction. */
static struct transaction *begin(struct database **database, bool key)
{
    struct database_params params = params_on_disk(TABLET_ROWS);
    struct transaction *transaction;

    disk_start(NULL, 0);
    assert_int_equal(database_open(&params, database, ERROR), VDBQ_OK);
    assert_int_equal(transaction_begin(*database, &transaction, ERROR),
                     VDBQ_OK);
    assert_int_equal(create_sample_table(transaction, "t", key), VDBQ_OK);
    assert_int_equal(append_sample_rows(transaction, "t", 0, ROWS, 1), VDBQ_OK);
    assert_int_equal(transaction_mark(transaction, ERROR), VDBQ_OK);
    return transaction;
}

static const struct table *table_of(const struct transaction *transaction)
{
    return catalogue_table(transaction_catalogue(transaction), "t");
}

/* Gives column `big` of these rows the values, or (NULL) takes them out. */
static enum vdbq_status change(struct transaction *transaction, uint64_t count,
                               const struct vdbq_vector *ids,
                               const int64_t *values)
{
    const struct vdbq_vector vector = { VDBQ_BIGINT, values, NULL };
    const unsigned column = 1;

    return transaction_change(
        transaction, table_of(transaction)->id,
        &(struct row_changes){ .count = count,
                               .numbers = ids,
                               .column_count = values != NULL ? 1 : 0,
                               .columns = &column,
                               .vectors = &vector },
        ERROR);
}

/* Whether tablet i of a table is tablet k of another. */
static bool is_tablet(const struct table *table, size_t i,
                      const struct table *other, size_t k)
{
    const struct tablet_ref *a = &table->tablets[i], *b = &other->tablets[k];

    return identity_equal(a->identity, b->identity) && a->offset == b->offset
           && a->checksum == b->checksum;
}

static void other_tablets_stay(void **state)
{
    const int64_t numbers[] = { 12, 19, 44 }, values[] = { -5, 7, 1 << 30 };
    struct snapshot before;
    struct database *database;

    for (int key = 0; key < 2; key++) {
        struct transaction *transaction = begin(&database, key == 1);
        struct vdbq_vector ids = { VDBQ_BIGINT, numbers, NULL };
        const struct table *old, *now;
        assert_int_equal(transaction_snapshot(transaction, &before, ERROR),
                         VDBQ_OK);
        assert_int_equal(change(transaction, 3, &ids, values), VDBQ_OK);
        old = catalogue_table(before.catalogue, "t");
        now = table_of(transaction);
        assert_int_equal(now->tablet_count, TABLETS);
        for (size_t i = 0; i < TABLETS; i++)
            assert_int_equal(is_tablet(now, i, old, i), i != 1 && i != 4);
        assert_int_equal(now->tablets[1].facts[1].minimum, -5);
        assert_int_equal(now->tablets[4].facts[1].maximum, 1 << 30);
        assert_false(identity_equal(now->state, old->state));
        assert_int_equal(change(transaction, 3, &ids, NULL), VDBQ_OK);
        now = table_of(transaction);
        assert_int_equal(now->rows, ROWS - 3);
        assert_int_equal(now->tablets[1].rows, 8);
        assert_int_equal(now->tablets[2].row_first, 18);
        assert_true(is_tablet(now, 2, old, 2));
        snapshot_close(&before);
        assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
        database_close(database);
        disk_end();
    }
    (void)state;
}

/* All rows of a tablet, and then of all, may go. */
static void tablets_may_go(void **state)
{
    int64_t numbers[ROWS];
    struct database *database;
    struct transaction *transaction = begin(&database, false);
    struct vdbq_vector ids = { VDBQ_BIGINT, numbers, NULL };

    (void)state;
    for (int i = 0; i < ROWS; i++)
        numbers[i] = i;
    assert_int_equal(change(transaction, TABLET_ROWS, &ids, NULL), VDBQ_OK);
    assert_int_equal(table_of(transaction)->tablet_count, TABLETS - 1);
    assert_int_equal(change(transaction, ROWS - TABLET_ROWS, &ids, NULL),
                     VDBQ_OK);
    assert_int_equal(table_of(transaction)->rows, 0);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    database_close(database);
    disk_end();
}

static void wrong_ids_are_refused(void **state)
{
    static const int64_t wrong[][2] = {
        { 3, 3 }, { 12, 3 }, { 3, ROWS }, { -1, 4 }, { 3, INT64_MAX }
    };
    struct database *database;
    struct transaction *transaction = begin(&database, false);

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vdbq_vector ids = { VDBQ_BIGINT, wrong[i], NULL };
        assert_int_equal(change(transaction, 2, &ids, NULL), VDBQ_MISUSE);
        transaction_undo(transaction);
        assert_int_equal(table_of(transaction)->rows, ROWS);
    }
    assert_int_equal(change(transaction, 1,
                            &(struct vdbq_vector){ VDBQ_INTEGER, wrong, NULL },
                            NULL),
                     VDBQ_TYPE);
    transaction_abort(transaction);
    database_close(database);
    disk_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_tablets_stay),
        cmocka_unit_test(tablets_may_go),
        cmocka_unit_test(wrong_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
