/* SPDX-License-Identifier: MIT */
/*
 * The host stands in for a CPU device that is not open yet: queries go there
 * once that is opened behind them, find the tablets and words that the host
 * brought in, and answer as before. Nothing changes hands while another query
 * of the connection runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/station.h"
#include "base/os/os.h"
#include "fixtures/answer.h"
#include "fixtures/device_rig.h"

enum {
    TRIES_MAX = 2000, /* queries, over half a million rows each */
    TIMED_OUT_S = 60,
    LEAVE_US_MAX = 5000, /* most libraries take no longer to be set up */
    LEAVE_US = 500
};

static const char *const tables[] = {
    "create table d (i integer)",
    "insert into d values (0), (1), (2), (3), (4), (5), (6), (7)",
    ("create table t as select a.i + 8 * b.i as k, 's' || c.i || d.i as s"
     " from d a, d b, d c, d d, d e, d f, (select * from d limit 2) g"),
};

static const char query[] =
    "select s, count(*), sum(k) from t where k > 3 group by s";

/* Compiles what queries need, so that a device can be opened behind. */
static void build_kernels(void)
{
    vdbq *db;

    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "cpu");
    for (unsigned registers = 8; registers <= 64; registers *= 2)
        if (vdbq_build_kernels(db, registers, 1) != VDBQ_OK)
            fail_msg("%s", vdbq_error(db)->message);
    vdbq_close(db);
}

static vdbq *make_tables(void)
{
    vdbq *db;

    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "");
    set_option(db, "build", "interpreted");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (vdbq_execute(db, tables[i]) != VDBQ_OK)
            fail_msg("%s: %s", tables[i], vdbq_error(db)->message);
    return db;
}

static vdbq *make(void)
{
    rig_need_device();
    build_kernels();
    return make_tables();
}

/* Whether the CPU device is open. */
static bool is_open(const vdbq *db)
{
    for (const struct station *at = db->stations; at != NULL; at = at->next)
        if (strcmp(at->settings.device, "cpu") == 0)
            return true;
    return false;
}

/* Asks, and compares with what came before. */
static void ask_again(vdbq *db, const struct answer *before)
{
    struct answer answer = ask(db, query, NULL);

    assert_int_equal(answer.status, VDBQ_OK);
    assert_int_equal(answer.rows, before->rows);
    assert_true(answer.hash == before->hash);
}

/* Asks until the device has been opened behind; false: that took too long. */
static bool ask_until_ended(vdbq *db, const struct answer *before)
{
    uint64_t start = os_time_ns();

    for (unsigned i = 0; i < TRIES_MAX; i++) {
        ask_again(db, before);
        if (db->opener != NULL)
            break;
    }
    while (db->opener != NULL && !opener_ended(db->opener))
        if (os_time_ns() - start > TIMED_OUT_S * UINT64_C(1000000000))
            return false;
    return db->opener != NULL;
}

static void tablets_stay_where_they_lie(void **state)
{
    vdbq *db = make();
    struct answer first = ask(db, query, NULL);
    struct pool *pool = db->stations->pool;
    uint64_t load_ns, bytes;

    (void)state;
    assert_int_equal(first.status, VDBQ_OK);
    assert_int_equal(first.rows, 64);
    assert_true(db->stations->stands_in && !is_open(db));
    assert_true(ask_until_ended(db, &first));
    load_ns = pool_load_ns(pool);
    bytes = pool_bytes(pool);
    assert_true(bytes > 0);
    for (unsigned i = 0; i < 3; i++)
        ask_again(db, &first);
    assert_true(is_open(db));
    assert_ptr_equal(db->stations->pool, pool);
    assert_true(pool_bytes(pool) == bytes);
    assert_true(pool_load_ns(pool) == load_ns);
    vdbq_close(db);
}

static void nothing_changes_hands_under_a_query(void **state)
{
    vdbq *db = make();
    struct answer first = ask(db, query, NULL);
    vdbq_query *other;
    struct vdbq_batch batch;

    (void)state;
    assert_int_equal(vdbq_prepare(db, "select k from t", -1, &other, NULL),
                     VDBQ_OK);
    assert_int_equal(vdbq_query_run(other), VDBQ_OK);
    assert_int_equal(vdbq_query_batch(other, &batch), VDBQ_OK);
    assert_true(ask_until_ended(db, &first));
    ask_again(db, &first);
    assert_false(is_open(db));
    while (batch.rows > 0)
        assert_int_equal(vdbq_query_batch(other, &batch), VDBQ_OK);
    vdbq_query_close(other);
    ask_again(db, &first);
    assert_true(is_open(db));
    ask_again(db, &first);
    vdbq_close(db);
}

/* A connection may end while its device is being opened. */
static void closing_waits(void **state)
{
    vdbq *db = make();
    struct answer first = ask(db, query, NULL);

    (void)state;
    for (unsigned i = 0; i < TRIES_MAX && db->opener == NULL; i++)
        ask_again(db, &first);
    assert_non_null(db->opener);
    vdbq_close(db);
}

/* ------------------------------------------------------------------ exit -- */

/* Waits until the libraries of a driver are mapped, before they are set up; not where
 * that takes too long. */
static void wait_for_driver(void)
{
    const uint64_t start = os_time_ns();
    bool found = false;
    char line[300];

    while (!found && os_time_ns() - start < UINT64_C(1000000000)) {
        FILE *maps = fopen("/proc/self/maps", "r");
        assert_non_null(maps);
        while (!found && fgets(line, sizeof line, maps) != NULL)
            found = strstr(line, "LLVM") != NULL;
        fclose(maps);
    }
}

/* What a program of its own does: it ends the process some microseconds after a driver
 * was loaded, and closes nothing. */
static int leave(const char *delay)
{
    vdbq *db = make_tables();
    struct answer first = ask(db, query, NULL);

    for (unsigned i = 0; i < TRIES_MAX && db->opener == NULL; i++)
        ask_again(db, &first);
    wait_for_driver();
    usleep((useconds_t)atoi(delay));
    exit(db->opener != NULL ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Runs this program so. */
static int status_of(int delay)
{
    char number[16], name[] = "opener";
    char *const arguments[] = { name, number, NULL };
    int child, status = -1;

    snprintf(number, sizeof number, "%d", delay);
    child = fork();
    if (child == 0) {
        alarm(TIMED_OUT_S);
        execv("/proc/self/exe", arguments);
        _exit(EXIT_FAILURE);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* ... and so may a process: the libraries of a driver are not torn down while they
 * are set up. */
static void leaving_waits(void **state)
{
    (void)state;
    rig_need_device();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* takes minutes, and sanitizers end a process in ways of their own */
#endif
    for (int delay = 0; delay < LEAVE_US_MAX; delay += LEAVE_US)
        assert_int_equal(status_of(delay), 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tablets_stay_where_they_lie),
        cmocka_unit_test(nothing_changes_hands_under_a_query),
        cmocka_unit_test(closing_waits),
        cmocka_unit_test(leaving_waits),
    };

    if (count == 2)
        return leave(arguments[1]);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
