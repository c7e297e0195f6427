/* SPDX-License-Identifier: MIT */
/*
 * A driver that makes buffers in the host's memory, as NVIDIA's does: control blocks,
 * progress, arguments of calls and few bytes of answers are written and read there by
 * kernels. The CPU device is told that it is such a one; its answers are those that it
 * gave before, whether the driver keeps its word or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "api/station.h"
#include "device/opencl/opencl.h"
#include "device/search.h"
#include "fixtures/answer.h"
#include "fixtures/device_rig.h"

static const char *const queries[] = {
    "select id, x from t where x % 7 < 3",
    "select id, x / y from t where y > 0",
    "select count(*), sum(x), min(y), max(y) from t",
    "select g, count(*), sum(x), max(y) from t group by g order by g",
    "select x % 1000, count(*) from t group by x % 1000 order by 1",
    "select count(distinct x) from t",
    "select id, y from t order by y, id desc limit 20",
    "select t.id, u.z from t join u on t.g = u.g where t.x < 900",
    "select count(*) from t where x in (select z from u)",
    "select id, sum(x) over (partition by g order by id) from t",
    "select id from t where x > 100000",
};
enum { QUERIES = sizeof queries / sizeof *queries };

static struct opencl_calls real; /* the driver's */

/* What it makes in the host's memory, and how it keeps its word. */
static struct {
    unsigned made;       /* buffers                                   */
    bool refuses;        /* it makes none                             */
    bool lies;           /* of the first the host has a twin           */
    void *twin, *mapped; /* ... there, and where it is          */
} driver;

/* clCreateBufferNV. */
static cl_mem CL_API_CALL create(cl_context context, cl_mem_flags flags,
                                 cl_bitfield where, size_t size, void *bytes,
                                 cl_int *code)
{
    assert_int_equal(where, 1);
    assert_null(bytes);
    *code = CL_OUT_OF_RESOURCES;
    if (driver.refuses)
        return NULL;
    driver.made++;
    return real.CreateBuffer(context, flags | CL_MEM_ALLOC_HOST_PTR, size, NULL,
                             code);
}

static void *CL_API_CALL find_call(cl_platform_id platform, const char *name)
{
    cl_mem(CL_API_CALL * call)(cl_context, cl_mem_flags, cl_bitfield, size_t,
                               void *, cl_int *) = create;
    void *found;

    assert_non_null(platform);
    assert_string_equal(name, "clCreateBufferNV");
    memcpy(&found, &call, sizeof found);
    return found;
}

static void *CL_API_CALL map(cl_command_queue queue, cl_mem buffer,
                             cl_bool blocking, cl_map_flags flags,
                             size_t offset, size_t size, cl_uint waits,
                             const cl_event *list, cl_event *event,
                             cl_int *code)
{
    void *mapped = real.EnqueueMapBuffer(queue, buffer, blocking, flags, offset,
                                         size, waits, list, event, code);

    if (!driver.lies || driver.made == 0 || driver.twin != NULL)
        return mapped;
    driver.mapped = mapped;
    driver.twin = calloc(1, size);
    return driver.twin;
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem buffer,
                                void *host, cl_uint waits, const cl_event *list,
                                cl_event *event)
{
    if (host == driver.twin) {
        free(host);
        host = driver.mapped;
    }
    return real.EnqueueUnmapMemObject(queue, buffer, host, waits, list, event);
}

/* A database on the CPU device, which groups, sorts and joins. */
static vdbq *make(void)
{
    vdbq *db;

    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "cpu");
    set_option(db, "mode", "cached");
    set_option(db, "build", "interpreted");
    set_option(db, "steps", "device");
    assert_int_equal(
        vdbq_execute(
            db, "create table t (id integer, x integer, y integer, g integer);"
                "create table u (g integer, z integer);"
                "insert into t select range, range * 7919 % 10007,"
                " range * 31 % 101 - 3, range % 13 from range(20000);"
                "insert into u select range % 17, range * 3 from range(50)"),
        VDBQ_OK);
    assert_int_equal(vdbq_device_open(db), VDBQ_OK);
    return db;
}

/* Makes a device one with memory of its own, and such a driver. */
static void tell(struct device *device)
{
    static struct device_kind kind;
    struct opencl *opencl = (struct opencl *)device;

    kind = *opencl->head.facts.kind;
    kind.kernels_use_held = false;
    opencl->head.facts.kind = &kind;
    opencl->head.facts.shares_memory = false;
    opencl->found.creates_buffers = true;
    opencl->zero_copies = ZERO_COPIES_UNTRIED;
    real = opencl_calls;
    opencl_calls.GetExtensionFunctionAddressForPlatform = find_call;
    opencl_calls.EnqueueMapBuffer = map;
    opencl_calls.EnqueueUnmapMemObject = unmap;
}

/* Asks all queries, twice; whether their answers are those of the device as it is. */
static void check_answers(bool refuses, bool lies)
{
    struct answer before[QUERIES];
    struct station *station;
    vdbq *db;

    rig_need_device();
    memset(&driver, 0, sizeof driver);
    driver.refuses = refuses;
    driver.lies = lies;
    db = make();
    for (unsigned i = 0; i < QUERIES; i++)
        before[i] = ask(db, queries[i], NULL);
    assert_int_equal(
        station_choose(db, &db->options.settings, UINT64_MAX, &station),
        VDBQ_OK);
    tell(station->device);
    for (unsigned i = 0; i < 2 * QUERIES; i++) {
        struct answer now = ask(db, queries[i % QUERIES], NULL);
        assert_int_equal(now.status, before[i % QUERIES].status);
        assert_int_equal(now.rows, before[i % QUERIES].rows);
        assert_int_equal(now.hash, before[i % QUERIES].hash);
    }
    vdbq_close(db);
    opencl_calls = real;
}

static void test_answers_are_the_same(void **state)
{
    (void)state;
    check_answers(false, false);
    assert_true(driver.made > 2); /* the trial, staging, what is read */
}

static void test_a_driver_that_makes_none(void **state)
{
    (void)state;
    check_answers(true, false);
    assert_int_equal(driver.made, 0);
}

/* It is tried once, and never used. */
static void test_a_driver_that_lies(void **state)
{
    (void)state;
    check_answers(false, true);
    assert_int_equal(driver.made, 1);
}

/* Keys and answers of a search, of few that are there and of too many. */
static void test_searches(void **state)
{
    enum { VALUES = 20000, FEW = 100, MANY = 9000 };
    static int32_t values[VALUES], keys[MANY];
    static uint32_t places[MANY];
    struct search_times times = { 0 };
    struct device_memory *sorted;
    struct device *device;
    struct error error;

    (void)state;
    rig_need_device();
    memset(&driver, 0, sizeof driver);
    for (unsigned i = 0; i < VALUES; i++)
        values[i] = (int32_t)(2 * i);
    for (unsigned i = 0; i < MANY; i++)
        keys[i] = (int32_t)(i * 7919 % (2 * VALUES));
    assert_int_equal(device_open(&(struct device_params){ .choice = "cpu" },
                                 &device, &error),
                     VDBQ_OK);
    tell(device);
    assert_int_equal(device_memory_create(device, MEMORY_DEVICE, sizeof values,
                                          &sorted, &error),
                     VDBQ_OK);
    assert_int_equal(
        device_write(sorted, 0, values, sizeof values, &times.in, &error),
        VDBQ_OK);
    for (unsigned count = FEW; count <= MANY; count += MANY - FEW) {
        struct search_params params = { .sorted = sorted,
                                        .count = VALUES,
                                        .type = SEARCH_I32,
                                        .keys = keys,
                                        .key_count = count,
                                        .algorithm = SEARCH_BINARY };
        memset(places, 0xee, sizeof places);
        assert_int_equal(
            search_parts(device, &params, 1, places, &times, &error), VDBQ_OK);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(places[i], (keys[i] + 1) / 2);
    }
    /* the trial; few keys and answers; what many go through */
    assert_int_equal(driver.made, 5);
    device_memory_destroy(sorted);
    device_close(device);
    opencl_calls = real;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_the_same),
        cmocka_unit_test(test_a_driver_that_makes_none),
        cmocka_unit_test(test_a_driver_that_lies),
        cmocka_unit_test(test_searches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
