/* SPDX-License-Identifier: MIT */
/*
 * What a connection keeps of the state before when another one has committed: a
 * sample that did not change is neither written nor read again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/catalogue/sample.h"
#include "data/database/database_inner.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum { ROWS = 900, COLUMN = 2 /* a set of columns: the second one */ };

static struct database *writer, *reader;

static struct database *connect(void)
{
    struct database_params params = params_on_disk(256);
    struct database *database = NULL;

    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    return database;
}

static struct transaction *begin(void)
{
    struct transaction *transaction;

    assert_int_equal(transaction_begin(writer, &transaction, ERROR), VDBQ_OK);
    return transaction;
}

/* Commits; the reader sees it. */
static void end(struct transaction *transaction)
{
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    assert_int_equal(database_refresh(reader, ERROR), VDBQ_OK);
}

static int start(void **state)
{
    static const char *const names[] = { "still", "moving" };
    struct transaction *transaction;

    (void)state;
    disk_start(NULL, 0);
    writer = connect();
    reader = connect();
    transaction = begin();
    for (unsigned i = 0; i < 2; i++)
        if (create_sample_table(transaction, names[i], false) != VDBQ_OK
            || append_sample_rows(transaction, names[i], 0, ROWS, 1) != VDBQ_OK)
            return -1;
    end(transaction);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    database_close(writer);
    database_close(reader);
    disk_end();
    return 0;
}

static struct sample *sample_of(const struct database *database,
                                const char *name)
{
    return catalogue_table(database->current, name)->sample;
}

static void change_row(uint64_t number)
{
    const int64_t numbers[] = { (int64_t)number };
    struct transaction *transaction = begin();

    assert_int_equal(
        change_sample_rows(transaction, "moving", numbers, 1, COLUMN, 7),
        VDBQ_OK);
    end(transaction);
}

/* The first row that is not in the sample. */
static uint64_t row_outside(const struct sample *sample)
{
    uint64_t number = 0;

    while (number < sample->rows && sample->numbers[number] == number)
        number++;
    return number;
}

/* A reader takes over what it has. */
static void samples_that_stay_are_not_read(void **state)
{
    struct sample *still = sample_of(reader, "still");
    const struct sample *moving = sample_of(reader, "moving");
    uint64_t offset = moving->offset;

    (void)state;
    change_row(moving->numbers[3]);
    assert_ptr_equal(sample_of(reader, "still"), still);
    assert_int_not_equal(sample_of(reader, "moving")->offset, offset);
}

/* A writer leaves a sample alone of which no row changes. */
static void samples_that_stay_are_not_written(void **state)
{
    struct sample *before = sample_of(writer, "moving");
    struct sample *read = sample_of(reader, "moving");
    unsigned writes = disk.writes;

    (void)state;
    change_row(row_outside(before));
    assert_ptr_equal(sample_of(writer, "moving"), before);
    assert_ptr_equal(sample_of(reader, "moving"), read);
    /* edit and catalogue, which are neighbours if there is room, and two heads */
    assert_in_range(disk.writes - writes, 3, 4);
}

/* Rows that go give others their numbers: there is another sample. */
static void rows_that_go_change_samples(void **state)
{
    const int64_t first[] = { (int64_t)row_outside(
        sample_of(writer, "moving")) };
    struct sample *read = sample_of(reader, "moving");
    uint64_t last = read->numbers[read->rows - 1];
    struct transaction *transaction = begin();

    (void)state;
    assert_int_equal(change_sample_rows(transaction, "moving", first, 1, 0, 7),
                     VDBQ_OK);
    end(transaction);
    read = sample_of(reader, "moving");
    assert_int_equal(read->numbers[read->rows - 1], last - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_that_stay_are_not_read, start,
                                        stop),
        cmocka_unit_test_setup_teardown(samples_that_stay_are_not_written,
                                        start, stop),
        cmocka_unit_test_setup_teardown(rows_that_go_change_samples, start,
                                        stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
