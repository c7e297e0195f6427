/* SPDX-License-Identifier: MIT */
/*
 * Edits beside tablets: after any changes the rows are those of a table whose
 * tablets are too small for edits, also in another process, and when they were
 * written anew; a damaged edit is found.
 *
 * VDBQ_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hostile.h"
#include "data/database/database_inner.h"
#include "data/transaction/vacuum.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"
#include "fixtures/settings.h"

enum { ROWS = 900, LARGE = 256, SMALL = 7, CHANGES = 40, ROUNDS = 12 };

/* The largest number of rows that change at once. */
enum { TOGETHER = 5 };

static struct database *open_disk(uint32_t tablet_rows)
{
    struct database_params params = params_on_disk(tablet_rows);
    struct database *database = NULL;

    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    return database;
}

/* Changes that hang on numbers: the same of any database. */
static enum vdbq_status do_change(struct transaction *transaction, unsigned n,
                                  const uint64_t *numbers, uint64_t rows)
{
    int64_t ids[TOGETHER];
    uint32_t count = 0;
    uint64_t at = numbers[0] % rows;

    for (unsigned i = 0; i < TOGETHER && at < rows; i++) {
        ids[count++] = (int64_t)at;
        at += 1 + numbers[1] % (i % 2 == 0 ? 3 : 200);
    }
    return change_sample_rows(transaction, "t", ids, count,
                              numbers[2] % 4 == 0 ? 0 : 2u << numbers[2] % 15,
                              (int)n);
}

static struct transaction *begin(struct database *database)
{
    struct transaction *transaction;

    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    return transaction;
}

static const struct table *table_of(const struct catalogue *catalogue)
{
    return catalogue_table(catalogue, "t");
}

static void fill(struct database *database)
{
    struct transaction *transaction = begin(database);

    assert_int_equal(create_sample_table(transaction, "t", false), VDBQ_OK);
    assert_int_equal(append_sample_rows(transaction, "t", 0, ROWS, 1), VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
}

/* A transaction of some changes, of which one in three is undone. */
static void do_some(struct database *database, unsigned first, unsigned end,
                    uint64_t (*numbers)[3])
{
    struct transaction *transaction = begin(database);

    for (unsigned n = first; n < end; n++) {
        uint64_t rows = table_of(transaction_catalogue(transaction))->rows;
        assert_int_equal(transaction_mark(transaction, ERROR), VDBQ_OK);
        assert_int_equal(do_change(transaction, n, numbers[n], rows), VDBQ_OK);
        if (n % 3 == 1)
            transaction_undo(transaction);
    }
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
}

static unsigned count_edits(const struct database *database)
{
    const struct table *table = table_of(database->current);
    unsigned count = 0;

    for (size_t i = 0; i < table->tablet_count; i++)
        count += table->tablets[i].edit != NULL;
    return count;
}

/* The rows of a database to which all changes are done; `*edits`: how often it
 * had some. */
static struct text rows_after(uint32_t tablet_rows, uint64_t (*numbers)[3],
                              unsigned *edits)
{
    struct database *database;
    struct text text;

    disk_start(NULL, 0);
    database = open_disk(tablet_rows);
    fill(database);
    for (unsigned n = 0; n < CHANGES; n += 5) {
        do_some(database, n, n + 5, numbers);
        *edits += count_edits(database);
        if (n % 10 == 0)
            continue;
        database_close(database);
        database = open_disk(tablet_rows);
    }
    assert_int_equal(print_database(database, &text), VDBQ_OK);
    database_close(database);
    return text;
}

/* The rows of the database on the disk, after a VACUUM. */
static struct text rows_vacuumed(uint32_t tablet_rows)
{
    struct database *database = open_disk(tablet_rows);
    struct vacuum vacuum;
    struct text text;

    assert_int_equal(database_vacuum(database, &vacuum, ERROR), VDBQ_OK);
    assert_int_equal(count_edits(database), 0);
    assert_int_equal(print_database(database, &text), VDBQ_OK);
    database_close(database);
    return text;
}

/* Of tablets so small that most changes write them anew, and of large ones. */
static void rows_are_the_same(void **state)
{
    unsigned edits = 0, few = 0;

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t numbers[CHANGES][3];
        struct text small, large, vacuumed;
        for (unsigned n = 0; n < CHANGES; n++)
            for (unsigned k = 0; k < 3; k++)
                numbers[n][k] = chance_below(1 << 20);
        small = rows_after(SMALL, numbers, &few);
        disk_end();
        large = rows_after(LARGE, numbers, &edits);
        vacuumed = rows_vacuumed(LARGE);
        disk_end();
        assert_string_equal(large.bytes, small.bytes);
        assert_string_equal(vacuumed.bytes, small.bytes);
        text_finish(&small);
        text_finish(&large);
        text_finish(&vacuumed);
    }
    assert_true(edits > ROUNDS);
}

/* The rows of a table of FEW after one of its rows has changed again and again;
 * `*edits`: how often it had an edit, and `*without`: none. */
static struct text few_rows_after(uint32_t tablet_rows, unsigned *edits,
                                  unsigned *without)
{
    enum { FEW = 30 };
    struct database *database;
    struct text text;

    disk_start(NULL, 0);
    database = open_disk(tablet_rows);
    struct transaction *transaction = begin(database);
    assert_int_equal(create_sample_table(transaction, "t", false), VDBQ_OK);
    assert_int_equal(append_sample_rows(transaction, "t", 0, FEW, 1), VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    for (int n = 0; n < 3 * FEW; n++) {
        const int64_t row = n * 7 % FEW;
        transaction = begin(database);
        assert_int_equal(
            change_sample_rows(transaction, "t", &row, 1, 2u << n / FEW % 3, n),
            VDBQ_OK);
        assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
        *(count_edits(database) > 0 ? edits : without) += 1;
    }
    assert_int_equal(print_database(database, &text), VDBQ_OK);
    database_close(database);
    return text;
}

/* A small tablet has edits, too, until they are of many values. */
static void small_tablets_are_edited(void **state)
{
    unsigned edits = 0, without = 0, none = 0, all = 0;
    struct text few = few_rows_after(LARGE, &edits, &without);
    struct text same = few_rows_after(1, &none, &all);

    (void)state;
    assert_string_equal(few.bytes, same.bytes);
    assert_int_equal(none, 0);
    assert_true(edits > 0 && without > 0);
    assert_true(BUILD_IS_HOSTILE || without <= 2);
    text_finish(&few);
    text_finish(&same);
}

/* A tablet with an edit stays where it was written; what it is known by does
 * not. */
static void base_stays(void **state)
{
    const int64_t some[] = { 300 };
    struct database *database;
    struct transaction *transaction;
    struct tablet_ref before;
    const struct tablet_ref *now;

    (void)state;
    disk_start(NULL, 0);
    database = open_disk(LARGE);
    fill(database);
    before = table_of(database->current)->tablets[1];
    transaction = begin(database);
    assert_int_equal(change_sample_rows(transaction, "t", some, 1, 2, 9),
                     VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    now = &table_of(database->current)->tablets[1];
    assert_non_null(now->edit);
    assert_int_equal(now->offset, before.offset);
    assert_true(identity_equal(now->edit->base, before.identity));
    assert_false(identity_equal(now->identity, before.identity));
    assert_false(table_facts_exact(table_of(database->current), 1));
    assert_true(table_facts_exact(table_of(database->current), 2));
    database_close(database);
    disk_end();
}

/* How the columns that change are stored in memory is what the setting says, and
 * no tablet takes more than there is room for. */
static void encodings_are_obeyed(void **state)
{
    static const enum encoding_choice choices[] = { CHOOSE_PLAIN, CHOOSE_PACKED,
                                                    CHOOSE_AUTO };
    const int64_t some[] = { 300, 301 };

    (void)state;
    for (unsigned i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct database *database;
        struct transaction *transaction;
        struct block block;
        disk_start(NULL, 0);
        database = open_disk(LARGE);
        settings_for_tests(LARGE)->encoding = choices[i];
        fill(database);
        transaction = begin(database);
        assert_int_equal(change_sample_rows(transaction, "t", some, 2, 3, 9),
                         VDBQ_OK);
        assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
        assert_non_null(table_of(database->current)->tablets[1].edit);
        assert_int_equal(tablet_load(database, table_of(database->current),
                                     &table_of(database->current)->tablets[1],
                                     &block, ERROR),
                         VDBQ_OK);
        for (unsigned column = 0; column < 2; column++)
            assert_true(
                (tablet_column(block.bytes, column)->encoding == ENCODING_PLAIN)
                == (choices[i] == CHOOSE_PLAIN));
        block_destroy(&block);
        database_close(database);
        disk_end();
    }
}

/* Reads all of a table. */
static enum vdbq_status read_table(struct database *database, const char *name)
{
    const struct table *table = catalogue_table(database->current, name);
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++) {
        struct block block;
        status =
            tablet_load(database, table, &table->tablets[i], &block, ERROR);
        block_destroy(&block);
    }
    return status;
}

/* Each byte of an edit's block is damaged: whoever reads its table fails, others
 * do not, and nothing is told that would have to be read. */
static void damage_is_found(void **state)
{
    const int64_t some[] = { 3, 300, 301 };
    struct database_params params = params_on_disk(LARGE);
    struct database *database;
    struct transaction *transaction;
    struct edit edit;

    (void)state;
    disk_start(NULL, 0);
    database = open_disk(LARGE);
    fill(database);
    transaction = begin(database);
    assert_int_equal(change_sample_rows(transaction, "t", some, 3, 18, 9),
                     VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    edit = *table_of(database->current)->tablets[1].edit;
    transaction = begin(database);
    assert_int_equal(create_sample_table(transaction, "u", false), VDBQ_OK);
    assert_int_equal(append_sample_rows(transaction, "u", 0, 5, 1), VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    database_close(database);
    for (uint64_t i = 0; i < edit.size_bytes; i++) {
        disk.bytes[edit.offset + i] ^= 1;
        assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
        assert_int_equal(read_table(database, "t"), VDBQ_CORRUPT);
        assert_non_null(strstr(ERROR->message, "edit"));
        assert_int_equal(read_table(database, "u"), VDBQ_OK);
        assert_false(table_facts_exact(table_of(database->current), 2));
        transaction = begin(database);
        assert_int_equal(change_sample_rows(transaction, "t", some, 3, 18, 9),
                         VDBQ_CORRUPT);
        transaction_abort(transaction);
        transaction = begin(database);
        assert_int_equal(append_sample_rows(transaction, "u", 5, 5, 1),
                         VDBQ_OK);
        assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
        database_close(database);
        disk.bytes[edit.offset + i] ^= 1;
        database = open_disk(LARGE);
        assert_int_equal(read_table(database, "t"), VDBQ_OK);
        database_close(database);
    }
    disk_end();
}

/* An edit of places 0, 2, ... that have their number as the new value of column 0. */
static struct edit *edit_of(uint32_t count)
{
    static uint32_t places[ROWS];
    static int32_t values[ROWS];
    const struct vdbq_vector vector = { VDBQ_INTEGER, values, NULL };
    const struct edit_change change = { .places = places,
                                        .count = count,
                                        .column_count = 1,
                                        .columns = &(unsigned){ 0 },
                                        .vectors = &vector };
    struct edit *empty = edit_create((struct identity){ 1, 1 }, ROWS);
    struct edit *edit;

    for (uint32_t i = 0; i < count; i++) {
        places[i] = 2 * i;
        values[i] = (int32_t)places[i];
    }
    assert_non_null(empty);
    edit = edit_next(empty, &change);
    assert_non_null(edit);
    assert_null(edit->origin); /* so many are no few since another one */
    edit_release(empty);
    return edit;
}

/* Where two edits of a base differ is recent, whichever was first. */
static void either_follows(void **state)
{
    enum { MANY = 100, MORE = 102 };

    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        struct edit *other = edit_of(turned ? MORE : MANY);
        struct edit *edit = edit_of(turned ? MANY : MORE);

        assert_true(edit_follow(edit, other));
        assert_ptr_equal(edit->origin, other);
        assert_int_equal(edit->recent_count, MORE - MANY);
        for (uint32_t place = 0; place < 2 * MORE; place++)
            assert_int_equal(edit_is_recent(edit, place),
                             place >= 2 * MANY && place % 2 == 0);
        edit_release(other);
        edit_release(edit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_same),
        cmocka_unit_test(small_tablets_are_edited),
        cmocka_unit_test(base_stays),
        cmocka_unit_test(encodings_are_obeyed),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(either_follows),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
