/* SPDX-License-Identifier: MIT */
/*
 * Several connections to one real file, in this process and in others: a
 * reader keeps what it sees, writers come one at a time, and a file that is
 * no database stays as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/text.h"
#include "data/database/database.h"
#include "fixtures/chance.h"
#include "fixtures/files.h"
#include "fixtures/sample_tables.h"
#include "fixtures/settings.h"

static enum vdbq_status open_with(unsigned flags, struct database **database)
{
    struct settings *settings = settings_for_tests(1000);
    const struct database_params params = { .path = test_path,
                                            .flags = flags,
                                            .files = &os_files,
                                            .settings = settings };

    settings->encoding = CHOOSE_PLAIN; /* tables of a known size */
    return database_open(&params, database, ERROR);
}

static struct database *open_it(void)
{
    struct database *database;

    if (open_with(VDBQ_OPEN_CREATE, &database) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return database;
}

/* Replaces table t by one of `rows` rows made with `salt`. */
static enum vdbq_status replace(struct database *database, uint32_t rows,
                                int salt)
{
    struct transaction *transaction;
    const struct table *old;
    enum vdbq_status status = transaction_begin(database, &transaction, ERROR);

    if (status != VDBQ_OK)
        return status;
    old = catalogue_table(transaction_catalogue(transaction), "t");
    if (old != NULL)
        status = transaction_drop_table(transaction, old->id, ERROR);
    if (status == VDBQ_OK)
        status = create_sample_table(transaction, "t", true);
    if (status == VDBQ_OK)
        status = append_sample_rows(transaction, "t", 1, rows, salt);
    if (status == VDBQ_OK)
        return transaction_commit(transaction, ERROR);
    transaction_abort(transaction);
    return status;
}

static char *print(const struct snapshot *snapshot)
{
    struct text text = { 0 };

    if (print_snapshot(snapshot, &text) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return text.bytes;
}

static uint64_t file_bytes(void)
{
    struct stat facts;

    assert_int_equal(stat(test_path, &facts), 0);
    return (uint64_t)facts.st_size;
}

/* The file's bytes; freed by the caller. */
static char *read_file(size_t *size)
{
    int descriptor = open(test_path, O_RDONLY);
    char *bytes;

    *size = (size_t)file_bytes();
    bytes = malloc(*size + 1);
    assert_int_equal(read(descriptor, bytes, *size), *size);
    close(descriptor);
    return bytes;
}

static void write_file(const char *bytes, size_t size)
{
    int descriptor = open(test_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(write(descriptor, bytes, size), size);
    close(descriptor);
}

/* ---------------------------------------------------------- snapshots -- */

static void a_snapshot_stays_as_it_is(void **state)
{
    struct database *writer = open_it(), *reader = open_it();
    struct snapshot old = { 0 }, own = { 0 }, new = { 0 };
    char *before, *after;

    (void)state;
    assert_int_equal(replace(writer, 3000, 1), VDBQ_OK);
    assert_int_equal(snapshot_open(reader, &old, ERROR), VDBQ_OK);
    assert_int_equal(snapshot_open(writer, &own, ERROR), VDBQ_OK);
    before = print(&old);
    for (int i = 2; i < 20; i++)
        assert_int_equal(replace(writer, 2500 + (uint32_t)i, i), VDBQ_OK);
    after = print(&old);
    assert_string_equal(before, after);
    memory_release(after);
    after = print(&own);
    assert_string_equal(before, after);
    memory_release(after);
    assert_int_equal(snapshot_open(reader, &new, ERROR), VDBQ_OK);
    assert_int_equal(new.catalogue->tables[0].rows, 2519);
    snapshot_close(&old);
    after = print(&new);
    assert_string_not_equal(before, after);
    memory_release(after);
    memory_release(before);
    snapshot_close(&own);
    snapshot_close(&new);
    database_close(reader);
    database_close(writer);
}

/* With and without a reader: how far the file grows while a table is
 * replaced again and again. */
static void readers_keep_space_writers_free_it(void **state)
{
    struct database *writer = open_it(), *reader = open_it();
    struct snapshot held;
    uint64_t alone, with_reader;

    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(replace(writer, 3000, i + 1), VDBQ_OK);
    alone = file_bytes();
    for (int i = 0; i < 20; i++)
        assert_int_equal(replace(writer, 3000, i + 1), VDBQ_OK);
    assert_int_equal(file_bytes(), alone);
    assert_int_equal(snapshot_open(reader, &held, ERROR), VDBQ_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(replace(writer, 3000, i + 1), VDBQ_OK);
    with_reader = file_bytes();
    assert_true(with_reader > alone);
    memory_release(print(&held));
    snapshot_close(&held);
    for (int i = 0; i < 20; i++)
        assert_int_equal(replace(writer, 3000, i + 1), VDBQ_OK);
    assert_int_equal(file_bytes(), with_reader);
    database_close(reader);
    database_close(writer);
}

/* A snapshot of the writer's own connection keeps only its own tablets. */
static void own_snapshots_keep_their_tablets(void **state)
{
    struct database *database = open_it();
    struct snapshot held;
    char *before, *after;
    uint64_t size;

    (void)state;
    assert_int_equal(replace(database, 3000, 7), VDBQ_OK);
    assert_int_equal(snapshot_open(database, &held, ERROR), VDBQ_OK);
    before = print(&held);
    for (int i = 0; i < 5; i++)
        assert_int_equal(replace(database, 3000, i + 1), VDBQ_OK);
    size = file_bytes();
    for (int i = 0; i < 20; i++)
        assert_int_equal(replace(database, 3000, i + 1), VDBQ_OK);
    assert_int_equal(file_bytes(), size);
    after = print(&held);
    assert_string_equal(before, after);
    memory_release(before);
    memory_release(after);
    snapshot_close(&held);
    database_close(database);
}

/* ------------------------------------------------------------ writers -- */

static void one_writer_at_a_time(void **state)
{
    struct database *one = open_it(), *two = open_it();
    struct transaction *transaction, *other;

    (void)state;
    assert_int_equal(transaction_begin(one, &transaction, ERROR), VDBQ_OK);
    assert_int_equal(transaction_begin(two, &other, ERROR), VDBQ_BUSY);
    assert_null(other);
    assert_int_equal(transaction_begin(one, &other, ERROR), VDBQ_BUSY);
    assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    assert_int_equal(replace(two, 10, 1), VDBQ_OK);
    assert_int_equal(transaction_begin(one, &transaction, ERROR), VDBQ_OK);
    assert_int_equal(transaction_catalogue(transaction)->tables[0].rows, 10);
    transaction_abort(transaction);
    database_close(one);
    database_close(two);
}

static void writers_take_turns(void **state)
{
    struct database *both[2] = { open_it(), open_it() };
    struct transaction *transaction;
    struct text text;

    (void)state;
    assert_int_equal(replace(both[0], 1, 1), VDBQ_OK);
    for (int i = 2; i <= 200; i++) {
        struct database *database = both[chance_below(2)];
        assert_int_equal(transaction_begin(database, &transaction, ERROR),
                         VDBQ_OK);
        assert_int_equal(append_sample_rows(transaction, "t", i, 1, 1),
                         VDBQ_OK);
        assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(print_database(both[i], &text), VDBQ_OK);
        assert_non_null(strstr(text.bytes, "-- 200\n"));
        text_finish(&text);
        database_close(both[i]);
    }
}

/* ---------------------------------------------------- other processes -- */

static void wait_for(int descriptor)
{
    char byte;

    assert_int_equal(read(descriptor, &byte, 1), 1);
}

static void tell(int descriptor)
{
    assert_int_equal(write(descriptor, "x", 1), 1);
}

/* Reads the same snapshot before and after the other process wrote. Leaves
 * with _exit() so that nothing of the parent's is freed here. */
static void child_reads(int from_parent, int to_parent)
{
    struct database *database;
    struct snapshot snapshot;
    struct text before = { 0 }, after = { 0 };
    char byte;
    bool good = open_with(VDBQ_OPEN_READ_ONLY, &database) == VDBQ_OK
                && snapshot_open(database, &snapshot, ERROR) == VDBQ_OK
                && print_snapshot(&snapshot, &before) == VDBQ_OK
                && write(to_parent, "x", 1) == 1
                && read(from_parent, &byte, 1) == 1
                && print_snapshot(&snapshot, &after) == VDBQ_OK
                && strcmp(before.bytes, after.bytes) == 0;

    if (good) {
        snapshot_close(&snapshot);
        database_close(database);
    }
    _exit(good ? 0 : 1);
}

static void a_reader_in_another_process_is_safe(void **state)
{
    struct database *database = open_it();
    int down[2], up[2], result;
    pid_t child;

    (void)state;
    assert_int_equal(replace(database, 5000, 3), VDBQ_OK);
    assert_int_equal(pipe(down), 0);
    assert_int_equal(pipe(up), 0);
    child = fork();
    if (child == 0)
        child_reads(down[0], up[1]);
    wait_for(up[0]);
    for (int i = 0; i < 30; i++)
        assert_int_equal(replace(database, 4000, i + 4), VDBQ_OK);
    tell(down[1]);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    for (int i = 0; i < 2; i++) {
        close(down[i]);
        close(up[i]);
    }
    database_close(database);
}

/* Many processes write and read at once, each opening for every commit. */
static void child_writes(int number)
{
    for (int i = 0; i < 25; i++) {
        struct database *database;
        struct text text;
        enum vdbq_status status;
        if (open_with(VDBQ_OPEN_CREATE, &database) != VDBQ_OK)
            _exit(1);
        do {
            status = replace(database, 50 + (uint32_t)number * 100, i + 1);
            if (status == VDBQ_BUSY)
                usleep(500);
        } while (status == VDBQ_BUSY);
        if (status != VDBQ_OK || print_database(database, &text) != VDBQ_OK)
            _exit(2);
        text_finish(&text);
        database_close(database);
    }
    _exit(0);
}

static void processes_may_crowd(void **state)
{
    enum { CHILDREN = 4 };
    pid_t children[CHILDREN];
    int result;

    (void)state;
    unlink(test_path); /* they create it, too */
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0)
            child_writes(i);
    }
    for (int i = 0; i < CHILDREN; i++) {
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_int_equal(result, 0);
    }
}

/* --------------------------------------------------------- odd files -- */

static void reading_writes_nothing(void **state)
{
    struct database *database = open_it();
    struct stat before, after;
    struct text text;
    size_t size, size_after;
    char *bytes, *bytes_after;

    (void)state;
    assert_int_equal(replace(database, 100, 1), VDBQ_OK);
    database_close(database);
    bytes = read_file(&size);
    assert_int_equal(stat(test_path, &before), 0);
    for (unsigned flags = 0; flags < 8; flags++) {
        assert_int_equal(open_with(flags, &database), VDBQ_OK);
        assert_int_equal(print_database(database, &text), VDBQ_OK);
        text_finish(&text);
        database_close(database);
    }
    bytes_after = read_file(&size_after);
    assert_int_equal(stat(test_path, &after), 0);
    assert_int_equal(size, size_after);
    assert_memory_equal(bytes, bytes_after, size);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
    free(bytes);
    free(bytes_after);
}

static void read_only_refuses_to_write(void **state)
{
    struct database *database = open_it();
    struct transaction *transaction;

    (void)state;
    database_close(database);
    assert_int_equal(chmod(test_path, 0400), 0);
    assert_int_equal(open_with(VDBQ_OPEN_READ_ONLY, &database), VDBQ_OK);
    assert_true(database_read_only(database));
    assert_int_equal(transaction_begin(database, &transaction, ERROR),
                     VDBQ_READ_ONLY);
    database_close(database);
    unlink(test_path);
    assert_int_equal(open_with(VDBQ_OPEN_READ_ONLY, &database), VDBQ_IO);
    assert_int_equal(
        open_with(VDBQ_OPEN_READ_ONLY | VDBQ_OPEN_CREATE, &database), VDBQ_IO);
    assert_int_equal(open_with(0, &database), VDBQ_IO);
    assert_int_equal(access(test_path, F_OK), -1);
}

static void assert_untouched(const char *bytes, size_t size)
{
    size_t found;
    char *now = read_file(&found);

    assert_int_equal(found, size);
    assert_memory_equal(now, bytes, size);
    free(now);
}

static void other_files_stay_as_they_are(void **state)
{
    static const char text[] = "id,x\n1,2\n";
    static const char long_text[20000] = "SQLite format 3";
    char expected[200];
    struct database *database;

    (void)state;
    snprintf(expected, sizeof expected, "%s: not a vdbq database", test_path);
    write_file(text, sizeof text - 1);
    assert_int_equal(open_with(VDBQ_OPEN_CREATE, &database), VDBQ_CORRUPT);
    assert_null(database);
    assert_string_equal(ERROR->message, expected);
    assert_untouched(text, sizeof text - 1);
    write_file(long_text, sizeof long_text);
    assert_int_equal(open_with(VDBQ_OPEN_CREATE, &database), VDBQ_CORRUPT);
    assert_string_equal(ERROR->message, expected);
    assert_untouched(long_text, sizeof long_text);
    write_file("", 0);
    assert_int_equal(open_with(0, &database), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "the file is empty"));
    assert_untouched("", 0);
    assert_int_equal(open_with(VDBQ_OPEN_CREATE, &database), VDBQ_OK);
    database_close(database);
}

/* ------------------------------------------------------------- large -- */

/* The ancestor's files broke at 4 GiB. The file is sparse; the writer goes
 * behind its end since a reader is there that sets no marks. */
static void files_may_be_larger_than_4_gib(void **state)
{
    struct database *database = open_it(), *reader = open_it();
    const struct table *table;
    struct snapshot held;
    struct text text, again;
    struct os_file *blind;

    (void)state;
    assert_int_equal(replace(database, 10, 1), VDBQ_OK);
    if (truncate(test_path, (off_t)5 << 30) != 0)
        skip();
    assert_int_equal(os_files.open(test_path, 0, &blind), 0);
    assert_int_equal(os_files.lock(blind, 1, OS_LOCK_SHARED), 0);
    assert_int_equal(replace(database, 5000, 2), VDBQ_OK);
    os_files.close(blind);
    assert_int_equal(print_database(database, &text), VDBQ_OK);
    assert_int_equal(snapshot_open(reader, &held, ERROR), VDBQ_OK);
    table = &held.catalogue->tables[0];
    assert_true(table->tablets[0].offset >= (uint64_t)5 << 30);
    snapshot_close(&held);
    database_close(database);
    database_close(reader);
    database = open_it();
    assert_int_equal(print_database(database, &again), VDBQ_OK);
    assert_string_equal(text.bytes, again.bytes);
    text_finish(&text);
    text_finish(&again);
    database_close(database);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_snapshot_stays_as_it_is),
        TEST(readers_keep_space_writers_free_it),
        TEST(own_snapshots_keep_their_tablets),
        TEST(one_writer_at_a_time),
        TEST(writers_take_turns),
        TEST(a_reader_in_another_process_is_safe),
        TEST(processes_may_crowd),
        TEST(reading_writes_nothing),
        TEST(read_only_refuses_to_write),
        TEST(other_files_stay_as_they_are),
        TEST(files_may_be_larger_than_4_gib),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
