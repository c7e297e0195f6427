/* SPDX-License-Identifier: MIT */
/*
 * Who reads and writes a file, as vdbq_connections() tells it, of this process
 * and of others; and queries that read an older state for longer than they may.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "fixtures/answer.h"
#include "fixtures/files.h"

enum { ROWS = 3000, AGE_MS = 40 };

static vdbq *open_file(void)
{
    vdbq *db;

    assert_int_equal(
        vdbq_open(test_path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &db),
        VDBQ_OK);
    set_option(db, "device", "host");
    set_option(db, "tablet_rows", "1000");
    return db;
}

static void run(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

static int make_table(void **state)
{
    vdbq_query *query;
    vdbq *db;

    make_folder(state);
    db = open_file();
    run(db, "create table t (a integer); begin");
    assert_int_equal(
        vdbq_prepare(db, "insert into t values (?)", -1, &query, NULL),
        VDBQ_OK);
    for (int i = 0; i < ROWS; i++) {
        vdbq_bind_int64(query, 1, i);
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    }
    vdbq_query_close(query);
    run(db, "commit");
    vdbq_close(db);
    return 0;
}

/* A query over the table of which the first rows were read. */
static vdbq_query *begin_reading(vdbq *db)
{
    struct vdbq_batch batch;
    vdbq_query *query;

    assert_int_equal(vdbq_prepare(db, "select a from t", -1, &query, NULL),
                     VDBQ_OK);
    assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_OK);
    assert_true(batch.rows > 0 && batch.rows < ROWS);
    return query;
}

/* Reads on; the status of the first batch that fails, or OK at the end. */
static enum vdbq_status read_on(vdbq_query *query)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = VDBQ_OK;

    while (status == VDBQ_OK && batch.rows > 0)
        status = vdbq_query_batch(query, &batch);
    return status;
}

static void commit(vdbq *db)
{
    run(db, "insert into t values (7)");
}

static int64_t file_bytes(void)
{
    struct stat found;

    assert_int_equal(stat(test_path, &found), 0);
    return found.st_size;
}

/* --------------------------------------------------------------- telling -- */

static void nobody_is_told_of_who_does_nothing(void **state)
{
    vdbq *db = open_file(), *other = open_file();

    (void)state;
    commit(other);
    assert_int_equal(vdbq_connections(db), 0);
    assert_null(vdbq_connection(db, 0));
    vdbq_close(other);
    vdbq_close(db);
}

static void connections_of_a_process_are_told_apart(void **state)
{
    vdbq *db = open_file(), *other = open_file();
    vdbq_query *query = begin_reading(other);
    const struct vdbq_connection *told;
    uint64_t read;

    (void)state;
    assert_int_equal(vdbq_connections(db), 1);
    told = vdbq_connection(db, 0);
    assert_int_equal(told->process, getpid());
    assert_true(!told->own && !told->writes);
    assert_int_equal(told->newer_states, 0);
    read = told->state;
    commit(db);
    commit(db);
    run(db, "begin");
    commit(db);
    assert_int_equal(vdbq_connections(other), 2);
    told = vdbq_connection(other, 0);
    assert_true(told->own && !told->writes);
    assert_int_equal(told->state, read);
    assert_int_equal(told->newer_states, 2);
    told = vdbq_connection(other, 1);
    assert_true(!told->own && told->writes);
    assert_int_equal(told->state, read + 2);
    run(db, "commit");
    vdbq_query_close(query);
    assert_int_equal(vdbq_connections(db), 0);
    vdbq_close(other);
    vdbq_close(db);
}

/* A process that reads until it is killed. */
static pid_t start_reader(void)
{
    int pipes[2];
    char byte;
    pid_t child;

    assert_int_equal(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        begin_reading(open_file());
        if (write(pipes[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

static void other_processes_are_told_by_number_and_name(void **state)
{
    pid_t child = start_reader();
    vdbq *db = open_file();
    const struct vdbq_connection *told;

    (void)state;
    for (int i = 0; i < 300; i++)
        commit(db);
    usleep(250000);
    assert_int_equal(vdbq_connections(db), 1);
    told = vdbq_connection(db, 0);
    assert_int_equal(told->process, child);
    assert_non_null(strstr(told->program, "unit_"));
    assert_int_equal(told->newer_states, 300);
    assert_true(told->seconds > 0.1 && told->seconds < 600);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(vdbq_connections(db), 0);
    vdbq_close(db);
}

/* ----------------------------------------------------------- the timeout -- */

static void old_states_expire_for_those_who_said_so(void **state)
{
    vdbq *writer = open_file(), *hasty = open_file(), *patient = open_file();
    vdbq_query *short_read, *long_read;

    (void)state;
    set_option(hasty, "read_timeout", "40");
    short_read = begin_reading(hasty);
    long_read = begin_reading(patient);
    commit(writer);
    usleep(2 * AGE_MS * 1000);
    assert_int_equal(vdbq_connections(writer), 2);
    assert_int_equal(read_on(short_read), VDBQ_EXPIRED);
    assert_non_null(strstr(vdbq_error(hasty)->hint, "VDBQ_READ_TIMEOUT"));
    assert_int_equal(vdbq_connections(writer), 1);
    assert_int_equal(read_on(short_read), VDBQ_MISUSE);
    assert_int_equal(read_on(long_read), VDBQ_OK);
    assert_int_equal(vdbq_query_run(short_read), VDBQ_OK);
    assert_int_equal(read_on(short_read), VDBQ_OK);
    vdbq_query_close(short_read);
    vdbq_query_close(long_read);
    vdbq_close(patient);
    vdbq_close(hasty);
    vdbq_close(writer);
}

static void the_newest_state_does_not_expire(void **state)
{
    vdbq *db = open_file();
    vdbq_query *query;

    (void)state;
    set_option(db, "read_timeout", "40");
    query = begin_reading(db);
    usleep(2 * AGE_MS * 1000);
    assert_int_equal(read_on(query), VDBQ_OK);
    vdbq_query_close(query);
    vdbq_close(db);
}

/* What a reader lets go is used again. */
static void space_of_expired_states_is_used_again(void **state)
{
    vdbq *writer = open_file(), *reader = open_file();
    vdbq_query *query;
    int64_t before;

    (void)state;
    set_option(reader, "read_timeout", "40");
    query = begin_reading(reader);
    usleep(2 * AGE_MS * 1000);
    for (int i = 0; i < 4; i++)
        run(writer, "update t set a = a + 1");
    assert_int_equal(read_on(query), VDBQ_EXPIRED);
    run(writer, "update t set a = a + 1");
    before = file_bytes();
    for (int i = 0; i < 20; i++)
        run(writer, "update t set a = a + 1");
    assert_true(file_bytes() <= before);
    vdbq_query_close(query);
    vdbq_close(reader);
    vdbq_close(writer);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_table, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_is_told_of_who_does_nothing),
        TEST(connections_of_a_process_are_told_apart),
        TEST(other_processes_are_told_by_number_and_name),
        TEST(old_states_expire_for_those_who_said_so),
        TEST(the_newest_state_does_not_expire),
        TEST(space_of_expired_states_is_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
