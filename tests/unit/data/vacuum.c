/* SPDX-License-Identifier: MIT */
/*
 * VACUUM: the file becomes as short as it can be, whoever reads it, and
 * whatever happens to the disk meanwhile all rows are there.
 *
 * VDBQ_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/threads/stop.h"
#include "data/catalogue/catalogue.h"
#include "data/file/file.h"
#include "data/tablet/block.h"
#include "data/transaction/vacuum.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/failing_memory.h"
#include "fixtures/sample_tables.h"

enum { TABLET_ROWS = 4000, TABLES = 8, EMPTY_BYTES = 64 << 10 };

static struct database *open_it(void)
{
    struct database_params params = params_on_disk(TABLET_ROWS);
    struct database *database;

    if (database_open(&params, &database, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return database;
}

static struct transaction *begin(struct database *database)
{
    struct transaction *transaction;

    if (transaction_begin(database, &transaction, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return transaction;
}

static void commit(struct transaction *transaction)
{
    if (transaction_commit(transaction, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
}

/* Makes a table anew, with so many rows; none: it is dropped. */
static void make(struct database *database, unsigned number, uint32_t rows)
{
    struct transaction *transaction = begin(database);
    const struct table *old;
    char name[8];

    snprintf(name, sizeof name, "t%u", number);
    old = catalogue_table(transaction_catalogue(transaction), name);
    if (old != NULL)
        assert_int_equal(transaction_drop_table(transaction, old->id, ERROR),
                         VDBQ_OK);
    if (rows > 0) {
        assert_int_equal(create_sample_table(transaction, name, true), VDBQ_OK);
        assert_int_equal(
            append_sample_rows(transaction, name, 1, rows, (int)number),
            VDBQ_OK);
    }
    commit(transaction);
}

/* Tables of all sizes, and holes of all sizes between them. */
static void make_holes(struct database *database)
{
    for (unsigned i = 0; i < TABLES; i++)
        make(database, i, 40 + (uint32_t)chance_below(5000));
    for (unsigned i = 0; i < TABLES; i += 2)
        make(database, i, chance_below(2) == 0 ? 0 : 30);
}

static char *content(struct database *database)
{
    struct text text;

    if (print_database(database, &text) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return text.bytes;
}

static void assert_content(struct database *database, const char *expected)
{
    char *now = content(database);

    assert_string_equal(now, expected);
    memory_release(now);
}

static struct vacuum vacuum(struct database *database)
{
    struct vacuum done;

    if (database_vacuum(database, &done, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    assert_int_equal(done.after, disk.size);
    return done;
}

/* Bytes that the blocks of the newest state take, and the heads. */
static uint64_t used_bytes(struct database *database)
{
    struct snapshot snapshot;
    uint64_t bytes = FILE_NEW_BYTES + 2 * PAGE_BYTES;

    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    for (size_t i = 0; i < snapshot.catalogue->table_count; i++) {
        const struct table *table = &snapshot.catalogue->tables[i];
        for (size_t k = 0; k < table->tablet_count; k++)
            bytes += page_round(table->tablets[k].size_bytes);
        if (table->sample != NULL)
            bytes += page_round(table->sample->size_bytes);
    }
    snapshot_close(&snapshot);
    return bytes;
}

/* ------------------------------------------------------------------ all -- */

static void the_file_becomes_short(void **state)
{
    unsigned most = 0;

    (void)state;
    for (unsigned round = 0; round < fewer(15); round++) {
        struct database *database;
        struct vacuum done;
        uint64_t used;
        unsigned syncs;
        char *before;
        disk_start(NULL, 0);
        database = open_it();
        make_holes(database);
        before = content(database);
        syncs = disk.syncs;
        done = vacuum(database);
        most = disk.syncs - syncs > most ? disk.syncs - syncs : most;
        used = used_bytes(database);
        if (done.after > used + used / 16 + (64 << 10) || done.read != 0)
            fail_msg("%zu bytes for %zu", (size_t)done.after, (size_t)used);
        assert_content(database, before);
        done = vacuum(database);
        assert_int_equal(done.before, done.after);
        database_close(database);
        database = open_it();
        assert_content(database, before);
        for (unsigned i = 0; i < TABLES; i++)
            make(database, i, 0);
        assert_true(vacuum(database).after < EMPTY_BYTES);
        memory_release(before);
        database_close(database);
    }
    printf("up to %u syncs\n", most);
    assert_true(most < 100);
    disk_end();
}

/* No block fits into a hole before it. */
static void small_holes_are_brought_together(void **state)
{
    struct database *database;
    uint64_t before, after, used;

    (void)state;
    disk_start(NULL, 0);
    database = open_it();
    for (unsigned i = 0; i < 24; i++)
        make(database, i, i % 2 == 0 ? 600 : 4000);
    before = disk.size;
    for (unsigned i = 0; i < 24; i += 2)
        make(database, i, 0);
    used = used_bytes(database);
    assert_true(before - used > 128 << 10);
    after = vacuum(database).after;
    if (after > used + used / 16 + (64 << 10))
        fail_msg("%zu of %zu bytes for %zu", (size_t)after, (size_t)before,
                 (size_t)used);
    database_close(database);
    disk_end();
}

/* ------------------------------------------------------------- readers -- */

static void readers_keep_what_they_read(void **state)
{
    struct database *database, *reader;
    struct snapshot held;
    struct vacuum done;
    struct text text = { 0 }, again = { 0 };

    (void)state;
    disk_start(NULL, 0);
    database = open_it();
    reader = open_it();
    for (unsigned i = 0; i < TABLES; i++)
        make(database, i, 500);
    assert_int_equal(snapshot_open(reader, &held, ERROR), VDBQ_OK);
    assert_int_equal(print_snapshot(&held, &text), VDBQ_OK);
    for (unsigned i = 0; i < TABLES; i++)
        make(database, i, 0);
    done = vacuum(database);
    assert_true(done.after > EMPTY_BYTES && done.read > 0
                && done.read < done.after);
    assert_int_equal(print_snapshot(&held, &again), VDBQ_OK);
    assert_string_equal(text.bytes, again.bytes);
    snapshot_close(&held);
    done = vacuum(database);
    assert_true(done.after < EMPTY_BYTES && done.read == 0);
    text_finish(&text);
    text_finish(&again);
    database_close(reader);
    database_close(database);
    disk_end();
}

/* The file is cut at once where most of it becomes free, unless it is read. */
static void a_commit_cuts_a_free_end(void **state)
{
    struct database *database, *reader;
    struct snapshot held;
    uint64_t size;

    (void)state;
    disk_start(NULL, 0);
    database = open_it();
    reader = open_it();
    make(database, 0, 400000);
    size = disk.size;
    assert_true(size > 1 << 20);
    make(database, 0, 0);
    assert_true(disk.size < EMPTY_BYTES);
    make(database, 0, 400000);
    assert_int_equal(snapshot_open(reader, &held, ERROR), VDBQ_OK);
    make(database, 0, 0);
    assert_true(disk.size >= size - EMPTY_BYTES);
    snapshot_close(&held);
    make(database, 1, 1);
    assert_true(disk.size < EMPTY_BYTES);
    database_close(reader);
    database_close(database);
    disk_end();
}

/* -------------------------------------------------------------- crashes -- */

/* A disk with holes, to be used again and again. */
struct image {
    uint8_t *bytes;
    size_t size;
    char *content; /* of the database there */
};

static struct image make_image(void)
{
    struct database *database;
    struct image image;

    disk_start(NULL, 0);
    database = open_it();
    make_holes(database);
    image.content = content(database);
    database_close(database);
    image.size = disk.size;
    image.bytes = malloc(disk.size);
    memcpy(image.bytes, disk.bytes, disk.size);
    return image;
}

static void forget_image(struct image *image)
{
    free(image->bytes);
    memory_release(image->content);
}

/* The rows are there, and can be changed and vacuumed. */
static void assert_whole(const struct image *image)
{
    struct database *database = open_it();

    assert_content(database, image->content);
    make(database, TABLES, 100);
    make(database, TABLES, 0);
    assert_content(database, image->content);
    vacuum(database);
    assert_content(database, image->content);
    database_close(database);
}

/* Cuts the power at a step; false: VACUUM came to its end before. */
static bool cut_at(const struct image *image, unsigned step)
{
    struct database *database;
    struct vacuum done;
    enum vdbq_status status;

    disk_start(image->bytes, image->size);
    database = open_it();
    disk.cut_at = step;
    status = database_vacuum(database, &done, ERROR);
    database_close(database);
    for (unsigned i = 0; i < 2; i++) {
        struct disk_picture picture = disk_picture();
        struct disk saved = disk;
        memset(&disk, 0, sizeof disk);
        disk_start(picture.bytes, picture.size);
        assert_whole(image);
        disk_end();
        disk = saved;
        free(picture.bytes);
    }
    return status != VDBQ_OK || disk.dead;
}

static void power_may_be_cut_anywhere(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        struct image image = make_image();
        unsigned step = 1;
        while (cut_at(&image, step))
            step++;
        assert_true(step > 10);
        forget_image(&image);
    }
    disk_end();
}

/* One call fails, or memory; false: VACUUM came to its end before. */
static bool fail_at(const struct image *image, unsigned calls, unsigned at)
{
    struct database *database;
    struct vacuum done;
    enum vdbq_status status;

    disk_start(image->bytes, image->size);
    database = open_it();
    disk.fail_calls = calls;
    disk.fail_code = EIO;
    disk.fail_at = calls != 0 ? at : 0;
    if (calls == 0)
        memory_fail_once_after(at);
    status = database_vacuum(database, &done, ERROR);
    memory_fail_never();
    disk.fail_at = 0;
    if (status != VDBQ_OK)
        assert_int_equal(status, calls != 0 ? VDBQ_IO : VDBQ_NO_MEMORY);
    assert_content(database, image->content);
    database_close(database);
    assert_whole(image);
    return status != VDBQ_OK;
}

static void calls_may_fail(void **state)
{
    static const unsigned calls[] = { DISK_READ, DISK_WRITE, DISK_SYNC, 0 };
    struct image image = make_image();

    (void)state;
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        unsigned at = calls[i] == 0 ? 0 : 1;
        while (fail_at(&image, calls[i], at))
            at += calls[i] == 0 ? 1 + at / 4 : 1;
    }
    forget_image(&image);
    disk_end();
}

enum { TABLETS_MAX = 64, IMAGES_MAX = 10 };

/* Where the tablets lie, table by table; returns how many there are. */
static unsigned list_tablets(struct database *database, uint64_t *offsets)
{
    struct snapshot snapshot;
    unsigned count = 0;

    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    for (size_t i = 0; i < snapshot.catalogue->table_count; i++) {
        const struct table *table = &snapshot.catalogue->tables[i];
        for (size_t k = 0; k < table->tablet_count; k++) {
            assert_true(count < TABLETS_MAX);
            offsets[count++] = table->tablets[k].offset;
        }
    }
    snapshot_close(&snapshot);
    return count;
}

/* The offset of a tablet that VACUUM moves; 0: it moves none. */
static uint64_t find_moved(const struct image *image)
{
    uint64_t before[TABLETS_MAX], after[TABLETS_MAX], moved = 0;
    struct database *database;

    disk_start(image->bytes, image->size);
    database = open_it();
    unsigned count = list_tablets(database, before);
    vacuum(database);
    assert_int_equal(list_tablets(database, after), count);
    database_close(database);
    for (unsigned i = 0; i < count; i++)
        if (before[i] != after[i])
            moved = before[i];
    return moved;
}

/* A tablet that is damaged is moved by nobody, and told. */
static void damage_is_told(void **state)
{
    struct image image = make_image();
    struct database *database;
    struct vacuum done;
    uint64_t moved;

    (void)state;
    for (unsigned i = 0; (moved = find_moved(&image)) == 0; i++) {
        assert_true(i < IMAGES_MAX); /* whose holes are too small */
        forget_image(&image);
        image = make_image();
    }
    disk_start(image.bytes, image.size);
    database = open_it();
    disk.bytes[moved + 100] ^= 1;
    assert_int_equal(database_vacuum(database, &done, ERROR), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "is damaged"));
    disk.bytes[moved + 100] ^= 1;
    assert_content(database, image.content);
    database_close(database);
    assert_whole(&image);
    forget_image(&image);
    disk_end();
}

/* -------------------------------------------------------------- others -- */

static void who_writes_is_waited_for(void **state)
{
    struct database *database, *other;
    struct transaction *transaction;
    struct vacuum done;

    (void)state;
    disk_start(NULL, 0);
    database = open_it();
    other = open_it();
    transaction = begin(other);
    assert_int_equal(database_vacuum(database, &done, ERROR), VDBQ_BUSY);
    assert_int_equal(database_vacuum(other, &done, ERROR), VDBQ_BUSY);
    transaction_abort(transaction);
    vacuum(database);
    database_close(other);
    database_close(database);
    disk_end();
}

static void a_cancel_ends_it(void **state)
{
    struct image image = make_image();
    struct stop stop = { .cancelled = true };
    struct database *database;
    struct stop_work former;
    struct vacuum done;

    (void)state;
    disk_start(image.bytes, image.size);
    database = open_it();
    former = stop_enter(&stop);
    assert_int_equal(database_vacuum(database, &done, ERROR), VDBQ_CANCELLED);
    stop_leave(former);
    assert_content(database, image.content);
    vacuum(database);
    assert_content(database, image.content);
    database_close(database);
    forget_image(&image);
    disk_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_becomes_short),
        cmocka_unit_test(small_holes_are_brought_together),
        cmocka_unit_test(readers_keep_what_they_read),
        cmocka_unit_test(a_commit_cuts_a_free_end),
        cmocka_unit_test(power_may_be_cut_anywhere),
        cmocka_unit_test(calls_may_fail),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(who_writes_is_waited_for),
        cmocka_unit_test(a_cancel_ends_it),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
