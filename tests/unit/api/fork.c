/* SPDX-License-Identifier: MIT */
/*
 * Connections in children of fork(): what the parent opened is refused, and
 * neither used, unlocked nor written; what the child opens works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "fixtures/files.h"

enum { CHILD_SECONDS = 60 };

static vdbq *open_on(const char *device)
{
    vdbq *db;

    if (vdbq_open(test_path, VDBQ_OPEN_CREATE, &db) != VDBQ_OK)
        fail_msg("%s", vdbq_error(db)->message);
    assert_int_equal(vdbq_set(db, "device", device), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "timeout", "0"), VDBQ_OK);
    return db;
}

static void run(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

static int64_t number(vdbq *db, const char *sql)
{
    vdbq_query *query;
    int64_t found = -1;

    if (vdbq_prepare(db, sql, -1, &query, NULL) == VDBQ_OK
        && vdbq_query_row(query) == VDBQ_ROW)
        found = vdbq_query_int64(query, 0);
    vdbq_query_close(query);
    return found;
}

/* Runs `work` in a child, which must end in time and return true. */
static void in_child(bool (*work)(const void *context), const void *context)
{
    int result;
    pid_t child = fork();

    if (child == 0) {
        alarm(CHILD_SECONDS); /* one that hangs is killed */
        _exit(work(context) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

/* ------------------------------------------------------------- refusing -- */

/* A connection with a query that runs, and a transaction with an append. */
struct parent {
    vdbq *db;
    vdbq_query *query;
    vdbq_append *append;
};

static bool is_refused(const struct parent *parent, enum vdbq_status status)
{
    const struct vdbq_error *error = vdbq_error(parent->db);

    return status == VDBQ_MISUSE && error->status == VDBQ_MISUSE
           && strstr(error->message, "forked from") != NULL;
}

static bool every_call_is_refused(const void *context)
{
    static int32_t values[1];
    const struct vdbq_vector vector = { .type = VDBQ_INTEGER,
                                        .values = values };
    const struct parent *of = context;
    struct vdbq_batch batch;
    struct vdbq_limits limits;
    vdbq_query *query;
    vdbq_append *append;
    bool all = is_refused(of, vdbq_execute(of->db, "select 1"));

    all &= is_refused(of, vdbq_prepare(of->db, "select 1", -1, &query, NULL));
    all &= is_refused(of, vdbq_query_batch(of->query, &batch));
    all &= is_refused(of, vdbq_query_run(of->query));
    all &= is_refused(of, vdbq_bind_int64(of->query, 1, 1));
    all &= is_refused(of, vdbq_append_rows(of->append, 1, &vector));
    all &= is_refused(of, vdbq_append_commit(of->append));
    all &= is_refused(of, vdbq_append_open(of->db, "t", &append));
    all &= is_refused(of, vdbq_device_open(of->db));
    all &= is_refused(of, vdbq_measure_limits(of->db, &limits));
    all &= vdbq_tables(of->db) == 0;
    vdbq_query_close(of->query);
    vdbq_append_close(of->append);
    vdbq_close(of->db);
    return all;
}

/* The child opens the file itself: the parent's locks hold, and it is told. */
static bool locks_hold(const void *context)
{
    vdbq *db = open_on("host");
    bool good =
        vdbq_execute(db, "insert into t values (9)") == VDBQ_BUSY
        && number(db, "select count(*) from t") == *(const int *)context;

    vdbq_close(db);
    return good;
}

/* Rows that are not committed lie behind the file's end: they must stay. */
static void open_parent(struct parent *parent, const char *device)
{
    static int32_t values[1] = { 4 };
    const struct vdbq_vector vector = { .type = VDBQ_INTEGER,
                                        .values = values };

    parent->db = open_on(device);
    run(parent->db, "create table t (a integer); insert into t values (1), "
                    "(2), (3); begin; insert into t select a from t");
    assert_int_equal(vdbq_prepare(parent->db, "select a from t where a > ?", -1,
                                  &parent->query, NULL),
                     VDBQ_OK);
    assert_int_equal(vdbq_bind_int64(parent->query, 1, 0), VDBQ_OK);
    assert_int_equal(vdbq_query_run(parent->query), VDBQ_OK);
    assert_int_equal(vdbq_append_open(parent->db, "t", &parent->append),
                     VDBQ_OK);
    assert_int_equal(vdbq_append_rows(parent->append, 1, &vector), VDBQ_OK);
}

static void check_parent(const char *device)
{
    struct parent parent;
    struct vdbq_batch batch;
    int three = 3;

    open_parent(&parent, device);
    in_child(every_call_is_refused, &parent);
    in_child(locks_hold, &three);
    assert_int_equal(vdbq_query_batch(parent.query, &batch), VDBQ_OK);
    assert_int_equal(batch.rows, 6);
    assert_int_equal(vdbq_append_commit(parent.append), VDBQ_OK);
    vdbq_append_close(parent.append);
    vdbq_query_close(parent.query);
    run(parent.db, "commit");
    assert_int_equal(number(parent.db, "select sum(a) from t"), 16);
    vdbq_close(parent.db);
}

static void what_the_parent_opened_is_refused(void **state)
{
    (void)state;
    check_parent("host");
}

/* ------------------------------------------------------------- killing -- */

/* Waits until it is told to end; holds nothing of the parent's. */
static pid_t start_idler(const int pipes[2])
{
    pid_t child = fork();
    char byte;

    if (child == 0) {
        close(pipes[1]);
        _exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
    }
    return child;
}

/* Writes, and has read the table where it lies in the file: a mapping keeps
 * locks as a descriptor does. */
static void write_mapped(void)
{
    vdbq *db = open_on("host");

    assert_int_equal(vdbq_set(db, "map", "on"), VDBQ_OK);
    assert_int_equal(number(db, "select sum(a) from t"), 7);
    run(db, "begin; insert into t values (1)");
}

/* Whatever becomes of a process that writes, its children do not keep its
 * place. */
static void children_keep_no_locks(void **state)
{
    int pipes[2], ready[2];
    char byte;
    pid_t writer;
    vdbq *db = open_on("host");

    (void)state;
    run(db, "create table t (a integer); insert into t values (7)");
    assert_int_equal(pipe(pipes) + pipe(ready), 0);
    writer = fork();
    if (writer == 0) {
        write_mapped();
        start_idler(pipes);
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(vdbq_execute(db, "insert into t values (2)"), VDBQ_BUSY);
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    assert_int_equal(vdbq_set(db, "timeout", "1800000"), VDBQ_OK);
    run(db, "insert into t values (3)"); /* once the child has started */
    assert_int_equal(number(db, "select sum(a) from t"), 10);
    for (int i = 0; i < 2; i++) {
        close(pipes[i]);
        close(ready[i]);
    }
    vdbq_close(db);
}

/* ------------------------------------------------------------- devices -- */

static bool a_query_runs(const void *context)
{
    vdbq *db = open_on(context);
    bool good = number(db, "select sum(a) from t") == 6;

    vdbq_close(db);
    return good;
}

static bool opencl_is_refused(const void *context)
{
    vdbq *db = open_on("cpu");
    bool good = vdbq_device_open(db) == VDBQ_DEVICE
                && strstr(vdbq_error(db)->message, "had opened OpenCL") != NULL;

    (void)context;
    vdbq_close(db);
    return good;
}

/* In this order: once OpenCL was used, it was used. */
static void children_have_devices_of_their_own(void **state)
{
    vdbq *db = open_on("host");

    (void)state;
    run(db, "create table t (a integer); insert into t values (1), (2), (3)");
    assert_int_equal(number(db, "select sum(a) from t"), 6);
    in_child(a_query_runs, "host");
    in_child(a_query_runs, "cpu");
    assert_int_equal(vdbq_set(db, "device", "cpu"), VDBQ_OK);
    assert_int_equal(number(db, "select sum(a) from t"), 6);
    in_child(a_query_runs, "host");
    in_child(opencl_is_refused, NULL);
    assert_int_equal(number(db, "select sum(a + 1) from t"), 9);
    vdbq_close(db);
    unlink(test_path);
    check_parent("cpu");
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_the_parent_opened_is_refused),
        TEST(children_keep_no_locks),
        TEST(children_have_devices_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
