/* SPDX-License-Identifier: MIT */
/*
 * One commits, and the other writes already while the disk has not confirmed it,
 * or the head is only announced: what comes of the one comes of the other, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "data/database/database_inner.h"
#include "data/transaction/transaction_inner.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum { UNCONFIRMED_BYTE = 32, FULL_ROWS = 64, FEW_ROWS = 5 };

static struct os_file_calls calls; /* those of the disk, but for: */
static struct database *one, *two;
static struct os_file *of_one;

/* What happens while the first one's blocks (1) or head (2) become durable. */
static void (*meanwhile)(void);
static unsigned at_sync;
static struct transaction *other; /* of the second one */
static struct snapshot between;   /* that somebody took meanwhile */
static unsigned syncs, waits;     /* syncs of the first one's commit */

static void fail_next_sync(void)
{
    disk.fail_calls = DISK_SYNC;
    disk.fail_code = EIO;
    disk.calls = 0;
    disk.fail_at = 1;
}

/* A commit syncs twice: its blocks, then its head. */
static int sync_crossed(struct os_file *file)
{
    if (file == of_one && meanwhile != NULL && ++syncs == at_sync) {
        void (*now)(void) = meanwhile;
        meanwhile = NULL;
        now();
    }
    return disk_calls.sync(file);
}

static int lock_noted(struct os_file *file, unsigned byte,
                      enum os_lock_kind kind)
{
    if (byte == UNCONFIRMED_BYTE && kind == OS_LOCK_EXCLUSIVE && of_one == NULL)
        of_one = file;
    return disk_calls.lock(file, byte, kind);
}

/* To each it seems that others wait to write, or do other things: who is undisturbed
 * keeps his place until his head is durable. */
static bool locked_or_disturbed(struct os_file *file, unsigned first,
                                unsigned count)
{
    return (first == 1 && count == UNCONFIRMED_BYTE)
           || disk_calls.locked(file, first, count);
}

/* The first one is killed as soon as he is waited for. */
static void wait_killing(struct os_file *file, unsigned place, uint64_t ns)
{
    (void)file;
    (void)place;
    (void)ns;
    waits++;
    disk_calls.lock(of_one, UNCONFIRMED_BYTE, OS_UNLOCKED);
}

static struct database *connect(void)
{
    struct database_params params = params_on_disk(FULL_ROWS);
    struct database *database = NULL;

    params.files = &calls;
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    return database;
}

/* Reads what no head leads to. */
static enum vdbq_status read_draft(struct transaction *transaction)
{
    struct snapshot snapshot;
    enum vdbq_status status =
        transaction_snapshot(transaction, &snapshot, ERROR);

    snapshot_close(&snapshot);
    return status;
}

static enum vdbq_status append(struct database *database, int32_t first,
                               uint32_t count, bool creates)
{
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, ERROR);

    if (status == VDBQ_OK && creates)
        status = create_sample_table(transaction, "t", true);
    if (status == VDBQ_OK)
        status = append_sample_rows(transaction, "t", first, count, 1);
    if (status == VDBQ_OK)
        status = read_draft(transaction);
    if (status == VDBQ_OK)
        return transaction_commit(transaction, ERROR);
    transaction_abort(transaction);
    return status;
}

static int start(void **state)
{
    (void)state;
    disk_start(NULL, 0);
    calls = disk_calls;
    calls.sync = sync_crossed;
    calls.lock = lock_noted;
    calls.wait = wait_killing;
    calls.locked = locked_or_disturbed;
    of_one = NULL;
    meanwhile = NULL;
    at_sync = 2;
    syncs = waits = 0;
    one = connect();
    two = connect();
    return append(one, 0, FEW_ROWS, true) == VDBQ_OK ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    database_close(one);
    database_close(two);
    disk_end();
    return 0;
}

/* All rows can be read. */
static void expect_readable(const struct snapshot *snapshot, uint64_t rows)
{
    struct text text = { 0 };

    assert_int_equal(snapshot->catalogue->tables[0].rows, rows);
    assert_int_equal(print_snapshot(snapshot, &text), VDBQ_OK);
    text_finish(&text);
}

/* The rows that somebody sees who comes later. */
static void expect_rows(uint64_t rows)
{
    struct database *later = connect();
    struct snapshot snapshot;

    assert_int_equal(snapshot_open(later, &snapshot, ERROR), VDBQ_OK);
    expect_readable(&snapshot, rows);
    snapshot_close(&snapshot);
    database_close(later);
}

static void begin_other(void)
{
    assert_int_equal(transaction_begin(two, &other, ERROR), VDBQ_OK);
    assert_int_equal(transaction_catalogue(other)->tables[0].rows,
                     2 * FEW_ROWS);
    assert_int_equal(append_sample_rows(other, "t", 100, FEW_ROWS, 1), VDBQ_OK);
    assert_true(other->all_known); /* else the file would only grow */
}

/* --------------------------------------------------------------- tests -- */

static void the_next_one_begins_before_a_head_is_durable(void **state)
{
    unsigned before;

    (void)state;
    meanwhile = begin_other;
    assert_int_equal(append(one, 50, FEW_ROWS, false), VDBQ_OK);
    assert_non_null(other);
    before = disk.syncs;
    assert_int_equal(transaction_commit(other, ERROR), VDBQ_OK);
    assert_int_equal(disk.syncs - before, 2); /* the heads were durable */
    assert_int_equal(waits, 0);
    expect_rows(3 * FEW_ROWS);
}

static void begin_other_and_fail(void)
{
    begin_other();
    fail_next_sync();
}

static void what_is_built_on_a_commit_falls_with_it(void **state)
{
    (void)state;
    meanwhile = begin_other_and_fail;
    assert_int_equal(append(one, 50, FEW_ROWS, false), VDBQ_IO);
    assert_int_equal(transaction_commit(other, ERROR), VDBQ_IO);
    assert_non_null(strstr(ERROR->message, "the commit before this one"));
    expect_rows(FEW_ROWS);
    assert_int_equal(append(one, 70, FEW_ROWS, false), VDBQ_IO);
    assert_int_equal(append(two, 90, FEW_ROWS, false), VDBQ_OK);
    expect_rows(2 * FEW_ROWS);
}

/* The first one is as good as dead from then on: his sync fails. */
static void commit_other(void)
{
    unsigned before = disk.syncs;

    begin_other();
    assert_int_equal(transaction_commit(other, ERROR), VDBQ_OK);
    assert_int_equal(disk.syncs - before, 3); /* the heads once more */
    fail_next_sync();
}

static void who_is_killed_is_not_waited_for(void **state)
{
    (void)state;
    meanwhile = commit_other;
    assert_int_equal(append(one, 50, FEW_ROWS, false), VDBQ_IO);
    assert_int_equal(waits, 1);
    expect_rows(3 * FEW_ROWS);
}

/* ------------------------------------------------------- announced heads -- */

static void the_next_one_begins_before_blocks_are_durable(void **state)
{
    at_sync = 1;
    the_next_one_begins_before_a_head_is_durable(state);
}

static void what_is_built_on_blocks_falls_with_them(void **state)
{
    at_sync = 1;
    what_is_built_on_a_commit_falls_with_it(state);
}

/* The first one is killed before he writes a head: nothing shows that there was
 * one, and neither is his part of the next state. */
static void commit_other_in_vain(void)
{
    begin_other();
    assert_int_equal(transaction_commit(other, ERROR), VDBQ_IO);
    assert_non_null(strstr(ERROR->message, "the commit before this one"));
    assert_int_equal(append(two, 70, FEW_ROWS, false), VDBQ_OK);
    fail_next_sync();
}

static void a_head_that_was_only_announced_is_none(void **state)
{
    (void)state;
    at_sync = 1;
    meanwhile = commit_other_in_vain;
    assert_int_equal(append(one, 50, FEW_ROWS, false), VDBQ_IO);
    assert_int_equal(waits, 1);
    expect_rows(2 * FEW_ROWS);
    assert_int_equal(append(two, 90, FEW_ROWS, false), VDBQ_OK);
    expect_rows(3 * FEW_ROWS);
}

/* It is given up, and the connection sees what the others see. */
static void begin_other_and_leave(void)
{
    struct snapshot snapshot;

    begin_other();
    transaction_abort(other);
    assert_int_equal(snapshot_open(two, &snapshot, ERROR), VDBQ_OK);
    expect_readable(&snapshot, FEW_ROWS);
    snapshot_close(&snapshot);
    begin_other();
}

static void who_gives_up_on_an_announced_head_reads_the_one_before(void **state)
{
    (void)state;
    at_sync = 1;
    meanwhile = begin_other_and_leave;
    assert_int_equal(append(one, 50, FEW_ROWS, false), VDBQ_OK);
    assert_int_equal(transaction_commit(other, ERROR), VDBQ_OK);
    expect_rows(3 * FEW_ROWS);
}

/* Reads the newest state that has a head, after the next writer has looked for
 * what others read. */
static void begin_other_and_read(void)
{
    struct database *reader = connect();

    begin_other();
    assert_int_equal(snapshot_open(reader, &between, ERROR), VDBQ_OK);
}

static void the_state_before_an_announced_head_stays(void **state)
{
    struct database *reader;

    (void)state;
    at_sync = 1;
    meanwhile = begin_other_and_read;
    assert_int_equal(append(one, 50, FEW_ROWS, false), VDBQ_OK);
    assert_int_equal(transaction_commit(other, ERROR), VDBQ_OK);
    for (int32_t i = 0; i < 4; i++) {
        expect_readable(&between, FEW_ROWS);
        assert_int_equal(
            append(i % 2 ? one : two, 200 + 10 * i, FEW_ROWS, false), VDBQ_OK);
    }
    expect_readable(&between, FEW_ROWS);
    reader = between.database;
    snapshot_close(&between);
    database_close(reader);
    expect_rows(7 * FEW_ROWS);
}

/* Has the first one write both heads, as before a cut, where head B was the newest. */
static void double_head_b(void)
{
    struct transaction *transaction;

    while (one->file.current != 1) {
        assert_int_equal(transaction_begin(one, &transaction, ERROR), VDBQ_OK);
        assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    }
    assert_int_equal(transaction_begin(one, &transaction, ERROR), VDBQ_OK);
    assert_int_equal(file_double_head(&one->file, ERROR), VDBQ_OK);
    transaction_abort(transaction);
    syncs = 0;
}

/* Else both would write the same commit, over one another's blocks. */
static void what_is_announced_on_heads_that_are_alike_is_found(void **state)
{
    (void)state;
    at_sync = 1;
    double_head_b();
    meanwhile = begin_other;
    assert_int_equal(append(one, 50, FEW_ROWS, false), VDBQ_OK);
    assert_int_equal(transaction_commit(other, ERROR), VDBQ_OK);
    expect_rows(3 * FEW_ROWS);
}

/* The place is taken, and so is nothing that the next one would have to ask for. */
static void find_busy(void)
{
    assert_int_equal(disk_calls.lock(of_one, UNCONFIRMED_BYTE, OS_LOCK_SHARED),
                     0);
    disk_calls.lock(of_one, UNCONFIRMED_BYTE, OS_UNLOCKED);
    assert_true(one->file.undisturbed);
    assert_int_equal(transaction_begin(two, &other, ERROR), VDBQ_BUSY);
}

static void who_is_undisturbed_writes_until_his_head_is_durable(void **state)
{
    struct settings hasty = *two->file.settings;

    (void)state;
    hasty.timeout_ms = 0;
    two->file.settings = &hasty;
    calls.locked = disk_calls.locked;
    for (at_sync = 1; at_sync <= 2; at_sync++) {
        meanwhile = find_busy;
        syncs = 0;
        assert_int_equal(append(one, 10 * (int)at_sync, FEW_ROWS, false),
                         VDBQ_OK);
        assert_null(meanwhile);
        assert_false(one->file.undisturbed);
    }
    assert_int_equal(append(two, 70, FEW_ROWS, false), VDBQ_OK);
    expect_rows(4 * FEW_ROWS);
}

/* Neither on a head of a vdbq that knows nothing of announcements, which may write
 * again, nor on one that is not the newest. */
static void heads_are_not_announced_on_any_head(void **state)
{
    struct file *file = &one->file;

    (void)state;
    assert_true(file_may_announce(file));
    file->heads[file->current].features_write &= ~FILE_AHEAD;
    assert_false(file_may_announce(file));
    file->heads[file->current].features_write |= FILE_AHEAD;
    file->uses_older = true;
    assert_false(file_may_announce(file));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_next_one_begins_before_a_head_is_durable),
        TEST(what_is_built_on_a_commit_falls_with_it),
        TEST(who_is_killed_is_not_waited_for),
        TEST(the_next_one_begins_before_blocks_are_durable),
        TEST(what_is_built_on_blocks_falls_with_them),
        TEST(a_head_that_was_only_announced_is_none),
        TEST(who_gives_up_on_an_announced_head_reads_the_one_before),
        TEST(the_state_before_an_announced_head_stays),
        TEST(what_is_announced_on_heads_that_are_alike_is_found),
        TEST(who_is_undisturbed_writes_until_his_head_is_durable),
        TEST(heads_are_not_announced_on_any_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
