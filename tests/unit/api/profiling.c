/* SPDX-License-Identifier: MIT */
/*
 * Times of kernels and transfers are kept while somebody asks for them, and
 * rows do not depend on it: on the device floor, and with the option
 * profiling. On the device of device_rig.h; not on Oclgrind, which tells times
 * unasked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fixtures/device_rig.h"

#include <stdio.h>

#include "api/vdbq.h"
#include "device/backend.h"
#include "device/opencl/find.h"

enum { ROWS = 10007, API_ROWS = 3 };

/* ------------------------------------------------------------- device -- */

static struct rig *rig_setup(void)
{
    static struct rig rig;
    struct error error;

    rig_need_device();
    assert_int_equal(
        rig_open(&rig, rig_tested(), BUILD_INTERPRETED, ROWS, &error), VDBQ_OK);
    return &rig;
}

static void hold(struct rig *rig)
{
    struct error error;

    assert_int_equal(device_times_hold(rig->device, &error), VDBQ_OK);
}

static void check_all_rows(struct rig *rig)
{
    static int32_t rows[ROWS + 1];

    rig_check_rows(rig, rows, rig_collect(rig, rows));
}

/* Runs the program, whose rows must be right; what its kernel took. */
static uint64_t kernel_time(struct rig *rig)
{
    uint64_t before = rig->times.kernel_ns;
    struct error error;

    assert_int_equal(rig_run(rig, &error), VDBQ_OK);
    check_all_rows(rig);
    return rig->times.kernel_ns - before;
}

static void no_times_without_a_hold(void **state)
{
    struct rig *rig = rig_setup();

    (void)state;
    assert_int_equal(kernel_time(rig), 0);
    assert_int_equal(rig->times.transfer_ns, 0);
    assert_true(rig->times.bytes_in > 0 && rig->times.bytes_out > 0);
    rig_close(rig);
}

static void holds_are_counted(void **state)
{
    struct rig *rig = rig_setup();

    (void)state;
    hold(rig);
    assert_true(kernel_time(rig) > 0);
    assert_true(rig->times.transfer_ns > 0);
    hold(rig);
    device_times_release(rig->device);
    assert_true(kernel_time(rig) > 0);
    device_times_release(rig->device);
    assert_int_equal(kernel_time(rig), 0);
    hold(rig);
    assert_true(kernel_time(rig) > 0);
    device_times_release(rig->device);
    rig_close(rig);
}

/* A job that was started keeps times, or does not, as it was then. */
static void times_change_in_the_middle_of_a_job(void **state)
{
    struct rig *rig = rig_setup();
    struct error error;

    (void)state;
    assert_int_equal(rig_start(rig, &error), VDBQ_OK);
    hold(rig);
    assert_int_equal(rig_end(rig, &error), VDBQ_OK);
    check_all_rows(rig);
    assert_int_equal(rig->times.kernel_ns, 0);
    assert_int_equal(rig_start(rig, &error), VDBQ_OK);
    device_times_release(rig->device);
    assert_int_equal(rig_end(rig, &error), VDBQ_OK);
    check_all_rows(rig);
    assert_true(rig->times.kernel_ns > 0);
    rig_close(rig);
}

/* The host always measures. */
static void host_has_times(void **state)
{
    struct rig rig;
    struct error error;

    (void)state;
    assert_int_equal(rig_open(&rig, "host", BUILD_INTERPRETED, ROWS, &error),
                     VDBQ_OK);
    assert_true(kernel_time(&rig) > 0);
    hold(&rig);
    device_times_release(rig.device);
    assert_true(kernel_time(&rig) > 0);
    rig_close(&rig);
}

/* ------------------------------------------------------ failing queues -- */

static cl_command_queue(CL_API_CALL *real_create)(cl_context, cl_device_id,
                                                  cl_command_queue_properties,
                                                  cl_int *);
static unsigned timed_left; /* queues with times that can be opened */

static cl_command_queue CL_API_CALL
few_timed(cl_context context, cl_device_id device,
          cl_command_queue_properties properties, cl_int *code)
{
    if ((properties & CL_QUEUE_PROFILING_ENABLE) == 0 || timed_left-- > 0)
        return real_create(context, device, properties, code);
    *code = CL_OUT_OF_RESOURCES;
    return NULL;
}

/* From now on `count` queues with times can be opened. */
static void limit_timed(unsigned count)
{
    real_create = opencl_calls.CreateCommandQueue;
    opencl_calls.CreateCommandQueue = few_timed;
    timed_left = count;
}

/* A device whose queues with times cannot all be opened works without. */
static void failed_hold_leaves_the_device(void **state)
{
    struct rig *rig = rig_setup();
    struct error error;

    (void)state;
    for (unsigned opened = 0; opened < 3; opened++) {
        limit_timed(opened);
        assert_int_equal(device_times_hold(rig->device, &error), VDBQ_DEVICE);
        assert_non_null(strstr(error.message, "clCreateCommandQueue"));
        opencl_calls.CreateCommandQueue = real_create;
        assert_int_equal(rig->device->times_holds, 0);
        assert_int_equal(kernel_time(rig), 0);
    }
    hold(rig);
    assert_true(kernel_time(rig) > 0);
    rig_close(rig);
}

/* ---------------------------------------------------------------- API -- */

static void set(vdbq *db, const char *option, const char *value)
{
    assert_int_equal(vdbq_set(db, option, value), VDBQ_OK);
}

static vdbq *open_rows(const char *device, const char *build)
{
    vdbq *db;

    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    set(db, "device", device);
    set(db, "build", build);
    set(db, "profiling", "off");
    assert_int_equal(vdbq_execute(db, "create table t (a integer);"
                                      "insert into t values (1), (2), (3)"),
                     VDBQ_OK);
    return db;
}

static vdbq_query *prepare(vdbq *db, const char *sql)
{
    vdbq_query *query;

    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    return query;
}

/* Reads a query to its end, which has the rows 1, 2, 3 from `next` on; what
 * its kernels took. */
static uint64_t finish(vdbq_query *query, int64_t next)
{
    struct vdbq_stats stats;

    for (; vdbq_query_row(query) == VDBQ_ROW; next++)
        assert_int_equal(vdbq_query_int64(query, 0), next);
    assert_int_equal(next, API_ROWS + 1);
    vdbq_query_stats(query, &stats);
    vdbq_query_close(query);
    return stats.kernel_ns;
}

static uint64_t select_time(vdbq *db)
{
    return finish(prepare(db, "select a from t where a > 0"), 1);
}

static void option_asks_for_times(void **state)
{
    (void)state;
    rig_need_device();
    vdbq *db = open_rows(rig_tested(), "interpreted");
    assert_int_equal(select_time(db), 0);
    set(db, "profiling", "on");
    assert_true(select_time(db) > 0);
    set(db, "profiling", "off");
    assert_int_equal(select_time(db), 0);
    assert_int_equal(vdbq_set(db, "profiling", "perhaps"), VDBQ_RANGE);
    assert_string_equal(vdbq_get(db, "profiling"), "off");
    set(db, "device", "host");
    assert_true(select_time(db) > 0);
    vdbq_close(db);
}

/* The option may change, and other queries run, while rows come. */
static void queries_share_a_device(void **state)
{
    (void)state;
    rig_need_device();
    vdbq *db = open_rows(rig_tested(), "interpreted");
    vdbq_query *plain = prepare(db, "select a from t where a > 0");
    assert_int_equal(vdbq_query_row(plain), VDBQ_ROW);
    set(db, "profiling", "on");
    vdbq_query *timed = prepare(db, "select a from t where a > 0");
    assert_int_equal(vdbq_query_row(timed), VDBQ_ROW);
    set(db, "profiling", "off");
    assert_true(select_time(db) > 0); /* the device keeps them all the same */
    assert_true(finish(timed, 2) > 0);
    assert_int_equal(select_time(db), 0);
    finish(plain, 2);
    vdbq_close(db);
}

/* The kernel time that an EXPLAIN ANALYZE tells, in milliseconds. */
static double explained_time(vdbq *db, const char *sql)
{
    vdbq_query *query = prepare(db, sql);
    double found = -1;

    while (vdbq_query_row(query) == VDBQ_ROW)
        sscanf(vdbq_query_text(query, 0), "; kernel %lf ms", &found);
    vdbq_query_close(query);
    return found;
}

static void explain_analyze_asks_for_times(void **state)
{
    static const char *const builds[] = { "interpreted", "specialised",
                                          "auto" };
    (void)state;
    rig_need_device();
    for (unsigned i = 0; i < sizeof builds / sizeof *builds; i++) {
        vdbq *db = open_rows(rig_tested(), builds[i]);
        assert_true(explained_time(db, "explain analyze select a from t "
                                       "where a > 0")
                    > 0);
        assert_true(explained_time(db, "explain analyze update t set a = a "
                                       "where a > 1")
                    > 0);
        set(db, "build", "interpreted");
        assert_int_equal(select_time(db), 0);
        vdbq_close(db);
    }
}

static void query_fails_where_no_times_can_be_kept(void **state)
{
    (void)state;
    rig_need_device();
    vdbq *db = open_rows(rig_tested(), "interpreted");
    assert_int_equal(select_time(db), 0);
    set(db, "profiling", "on");
    vdbq_query *query = prepare(db, "select a from t where a > 0");
    limit_timed(1);
    assert_int_equal(vdbq_query_run(query), VDBQ_DEVICE);
    opencl_calls.CreateCommandQueue = real_create;
    assert_non_null(strstr(vdbq_error(db)->message, "clCreateCommandQueue"));
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_true(finish(query, 1) > 0);
    set(db, "profiling", "off");
    assert_int_equal(select_time(db), 0);
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_times_without_a_hold),
        cmocka_unit_test(holds_are_counted),
        cmocka_unit_test(times_change_in_the_middle_of_a_job),
        cmocka_unit_test(host_has_times),
        cmocka_unit_test(failed_hold_leaves_the_device),
        cmocka_unit_test(option_asks_for_times),
        cmocka_unit_test(queries_share_a_device),
        cmocka_unit_test(explain_analyze_asks_for_times),
        cmocka_unit_test(query_fails_where_no_times_can_be_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
