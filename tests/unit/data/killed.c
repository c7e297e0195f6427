/* SPDX-License-Identifier: MIT */
/*
 * Writers are killed at random moments while others write and read: each commit
 * that somebody was told of is there in the end, no row comes twice, nobody reads
 * what is not whole, and no statement fails that another's end was in the way of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "base/os/os.h"
#include "data/database/database.h"
#include "fixtures/chance.h"
#include "fixtures/files.h"
#include "fixtures/sample_tables.h"

enum {
    WRITERS = 4,
    KILLS = 150,
    LIVES = WRITERS + KILLS, /* of writers, one after the other */
    LIFE_ROWS = 10000,       /* numbers of rows that each has */
    TABLET_ROWS = 64,
    SYNC_US = 300,   /* a disk's */
    PAUSE_US = 8000, /* between kills, at most */
    STATEMENT_KILLS = 60
};

static struct settings settings;
static struct os_file_calls calls; /* real files, but for: */
static atomic_uint *told; /* of each life: commits that it was told of */

/* Nobody here loses power: a sync only takes time, in which others go on. */
static int sync_slowly(struct os_file *file)
{
    (void)file;
    usleep(SYNC_US);
    return 0;
}

static int start(void **state)
{
    chance_start();
    settings = settings_default();
    settings.tablet_rows = TABLET_ROWS;
    settings.timeout_ms = 60000;
    calls = os_files;
    calls.sync = sync_slowly;
    told = mmap(NULL, LIVES * sizeof *told, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(told, MAP_FAILED);
    return make_folder(state);
}

static int stop(void **state)
{
    munmap(told, LIVES * sizeof *told);
    return remove_folder(state);
}

static struct database *open_it(void)
{
    const struct database_params params = { .path = test_path,
                                            .flags = VDBQ_OPEN_CREATE,
                                            .files = &calls,
                                            .settings = &settings };
    struct database *database;

    if (database_open(&params, &database, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return database;
}

static enum vdbq_status add_row(struct database *database, int32_t number,
                                bool creates)
{
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, ERROR);

    if (status != VDBQ_OK)
        return status;
    if (creates)
        status = create_sample_table(transaction, "t", true);
    if (status == VDBQ_OK)
        status = append_sample_rows(transaction, "t", number, 1, 1);
    if (status == VDBQ_OK)
        return transaction_commit(transaction, ERROR);
    transaction_abort(transaction);
    return status;
}

/* Whether it was another's end that a commit failed with. */
static bool is_to_be_tried_again(enum vdbq_status status)
{
    return status == VDBQ_IO
           && strstr(ERROR->message, "the commit before this one") != NULL;
}

/* Adds rows, one a commit, until it is killed. */
static _Noreturn void write_on(unsigned life)
{
    struct database *database = open_it();

    for (unsigned i = 0; i < LIFE_ROWS; i++) {
        enum vdbq_status status;
        do
            status = add_row(database, (int32_t)(life * LIFE_ROWS + i), false);
        while (is_to_be_tried_again(status));
        if (status != VDBQ_OK) {
            fprintf(stderr, "a writer: %s\n", ERROR->message);
            _exit(1);
        }
        atomic_store(&told[life], i + 1);
    }
    for (;;)
        pause();
}

/* Reads all there is, again and again: what it reads later is more. */
static _Noreturn void read_on(void)
{
    struct database *database = open_it();
    uint64_t before = 0;

    for (;;) {
        struct snapshot snapshot;
        struct text text = { 0 };
        uint64_t rows = 0;
        enum vdbq_status status = snapshot_open(database, &snapshot, ERROR);
        if (status == VDBQ_OK) {
            rows = snapshot.catalogue->tables[0].rows;
            status = print_snapshot(&snapshot, &text);
            snapshot_close(&snapshot);
        }
        text_finish(&text);
        if (status != VDBQ_OK || rows < before) {
            fprintf(stderr, "a reader: %s\n", ERROR->message);
            _exit(1);
        }
        before = rows;
    }
}

/* A child that does not outlive a test that failed; 0: this is the child. */
static pid_t start_child(void)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

static pid_t start_writer(unsigned life)
{
    pid_t child = start_child();

    if (child == 0)
        write_on(life);
    return child;
}

static pid_t start_reader(void)
{
    pid_t child = start_child();

    if (child == 0)
        read_on();
    return child;
}

/* Ends a child, which has not ended by itself. */
static void kill_one(pid_t child)
{
    int result;

    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result));
}

/* Each row that was told of is there, and at most one more of each life. */
static void check_rows(void)
{
    struct database *database = open_it();
    struct text text;
    uint64_t least = 1, rows = 0;
    char row[32];

    assert_int_equal(print_database(database, &text), VDBQ_OK);
    for (unsigned life = 0; life < LIVES; life++) {
        unsigned count = atomic_load(&told[life]);
        least += count;
        for (unsigned i = 0; i < count; i++) {
            snprintf(row, sizeof row, "\n %u ", life * LIFE_ROWS + i);
            if (strstr(text.bytes, row) == NULL)
                fail_msg("row %s of life %u is lost", row + 1, life);
        }
    }
    for (const char *at = text.bytes; (at = strstr(at, "\n ")) != NULL; at++)
        rows++;
    assert_in_range(rows, least, least + LIVES);
    text_finish(&text);
    database_close(database);
}

static void commits_outlive_who_was_told_of_them(void **state)
{
    pid_t writers[WRITERS], reader;
    struct database *database = open_it();
    unsigned life = 0;

    (void)state;
    assert_int_equal(add_row(database, -1, true), VDBQ_OK);
    database_close(database);
    for (unsigned i = 0; i < WRITERS; i++)
        writers[i] = start_writer(life++);
    reader = start_reader();
    while (life < LIVES) {
        uint64_t which = chance_below(WRITERS);
        usleep((useconds_t)chance_below(PAUSE_US));
        kill_one(writers[which]);
        writers[which] = start_writer(life++);
    }
    usleep(PAUSE_US);
    for (unsigned i = 0; i < WRITERS; i++)
        kill_one(writers[i]);
    kill_one(reader);
    check_rows();
}

/* ------------------------------------------------------------ statements -- */

static vdbq *open_session(void)
{
    vdbq *db;

    if (vdbq_open(test_path, VDBQ_OPEN_CREATE, &db) != VDBQ_OK
        || vdbq_set(db, "timeout", "60000") != VDBQ_OK)
        fail_msg("%s", vdbq_error(db)->message);
    return db;
}

/* Changes a row, one statement a commit, until it is killed. */
static _Noreturn void change_on(void)
{
    vdbq *db = open_session();

    while (vdbq_execute(db, "update counters set x = x + 1 where id = 1")
           == VDBQ_OK)
        continue;
    fprintf(stderr, "a statement: %s\n", vdbq_error(db)->message);
    _exit(1);
}

static pid_t start_changing(void)
{
    pid_t child = start_child();

    if (child == 0)
        change_on();
    return child;
}

static void statements_go_on_where_another_is_killed(void **state)
{
    pid_t writers[WRITERS];
    vdbq *db = open_session();

    (void)state;
    assert_int_equal(vdbq_execute(db, "create table counters (id integer "
                                      "primary key, x integer); insert into "
                                      "counters values (1, 0)"),
                     VDBQ_OK);
    vdbq_close(db);
    for (unsigned i = 0; i < WRITERS; i++)
        writers[i] = start_changing();
    for (unsigned i = 0; i < STATEMENT_KILLS; i++) {
        uint64_t which = chance_below(WRITERS);
        usleep((useconds_t)(PAUSE_US + chance_below(PAUSE_US)));
        kill_one(writers[which]);
        writers[which] = start_changing();
    }
    for (unsigned i = 0; i < WRITERS; i++)
        kill_one(writers[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commits_outlive_who_was_told_of_them,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            statements_go_on_where_another_is_killed, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
