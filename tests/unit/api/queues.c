/* SPDX-License-Identifier: MIT */
/*
 * A device whose kernels run beside one another has two queues for them. What
 * reads rows that a kernel computes stays in that kernel's queue: in the other
 * it would read them too early.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/station.h"
#include "device/opencl/opencl.h"
#include "fixtures/answer.h"
#include "fixtures/device_rig.h"

static struct opencl_calls real; /* the driver's                    */
static cl_command_queue second;  /* the queue beside the other      */
static unsigned beside;          /* kernels that went to it         */

static cl_int counting_EnqueueNDRangeKernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
    const size_t *offset, const size_t *global, const size_t *local,
    cl_uint waits, const cl_event *list, cl_event *event)
{
    beside += queue == second;
    return real.EnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                     local, waits, list, event);
}

/* A database on the CPU device, which joins. */
static vdbq *make(void)
{
    struct station *station;
    struct opencl *opencl;
    vdbq *db;

    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "cpu");
    set_option(db, "mode", "cached");
    set_option(db, "build", "interpreted");
    set_option(db, "steps", "device");
    assert_int_equal(vdbq_execute(db, "create table l (id integer, x integer);"
                                      "create table r (id integer, y integer);"
                                      "insert into l values (1, 10), (2, 20);"
                                      "insert into r values (2, 200), (3, 3)"),
                     VDBQ_OK);
    assert_int_equal(vdbq_device_open(db), VDBQ_OK);
    assert_int_equal(
        station_choose(db, &db->options.settings, UINT64_MAX, &station),
        VDBQ_OK);
    opencl = (struct opencl *)station->device;
    second = opencl->queues.beside;
    assert_non_null(second);
    return db;
}

/* How many kernels went to the second queue while a query ran a few times, all
 * of whose answers have that many rows. */
static unsigned count_beside(vdbq *db, const char *sql, uint64_t rows)
{
    beside = 0;
    for (unsigned i = 0; i < 4; i++) {
        struct answer got = ask(db, sql, NULL);
        assert_int_equal(got.status, VDBQ_OK);
        assert_int_equal(got.rows, rows);
    }
    return beside;
}

static void what_reads_computed_rows_stays_behind_them(void **state)
{
    vdbq *db;

    (void)state;
    rig_need_device();
    db = make();
    real = opencl_calls;
    opencl_calls.EnqueueNDRangeKernel = counting_EnqueueNDRangeKernel;
    assert_int_equal(count_beside(db, "select x from l", 2), 2);
    assert_int_equal(
        count_beside(db, "select x + y from l join r on l.id = r.id", 1), 0);
    opencl_calls = real;
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_reads_computed_rows_stays_behind_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
