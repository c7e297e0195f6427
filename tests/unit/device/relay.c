/* SPDX-License-Identifier: MIT */
/*
 * Many bytes that no driver pinned, on their way to a device with memory of its own:
 * they go through the relay. The tested device is told that it has such memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "device/opencl/opencl.h"
#include "fixtures/device_rig.h"

/* So many bytes fill all parts twice, and some of one. */
enum { MANY = RELAY_AFTER + (2 * RELAY_PARTS + 1) * RELAY_PART_BYTES + 12345 };
enum { ROWS = 1000000 };

static struct opencl_calls real; /* the driver's */

/* What was asked of it, and how it differs from the real one. */
static struct {
    unsigned pinned; /* buffers that were made                       */
    const uint8_t *low, *high; /* the bytes that the test writes     */
    unsigned relayed;          /* writes of others, and ...                */
    unsigned direct;           /* ... of these                             */
    bool lacks_pinned;         /* memory                                   */
    unsigned fails_after;      /* so many writes of others; 0: never      */
} driver;

static cl_mem seen_CreateBuffer(cl_context context, cl_mem_flags flags,
                                size_t size, void *bytes, cl_int *code)
{
    bool pinned = (flags & CL_MEM_ALLOC_HOST_PTR) != 0;

    if (pinned && driver.lacks_pinned) {
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    driver.pinned += pinned;
    return real.CreateBuffer(context, flags, size, bytes, code);
}

static cl_int seen_EnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                      cl_bool blocking, size_t offset,
                                      size_t size, const void *bytes,
                                      cl_uint waits, const cl_event *list,
                                      cl_event *event)
{
    const uint8_t *from = bytes;
    bool direct = from >= driver.low && from < driver.high;

    driver.direct += direct;
    driver.relayed += !direct;
    if (!direct && driver.fails_after > 0
        && driver.relayed > driver.fails_after)
        return CL_OUT_OF_RESOURCES;
    return real.EnqueueWriteBuffer(queue, buffer, blocking, offset, size, bytes,
                                   waits, list, event);
}

/* A device, its memory, and the bytes that are to be there. */
static struct {
    struct device *device;
    struct device_memory *memory;
    uint8_t *bytes;
    struct device_times times;
    struct error error;
} test;

static void ok(enum vdbq_status status)
{
    if (status != VDBQ_OK)
        fail_msg("%s", test.error.message);
}

static int start(void **state)
{
    (void)state;
    ok(device_open(&(struct device_params){ .choice = rig_tested() },
                   &test.device, &test.error));
    test.device->facts.shares_memory = false;
    test.bytes = malloc(MANY);
    assert_non_null(test.bytes);
    for (unsigned i = 0; i < MANY; i++)
        test.bytes[i] = (uint8_t)(i * 7 + i / 251 + i / 65521);
    ok(device_memory_create(test.device, MEMORY_DEVICE, MANY, &test.memory,
                            &test.error));
    memset(&driver, 0, sizeof driver);
    driver.low = test.bytes;
    driver.high = test.bytes + MANY;
    real = opencl_calls;
    opencl_calls.CreateBuffer = seen_CreateBuffer;
    opencl_calls.EnqueueWriteBuffer = seen_EnqueueWriteBuffer;
    return 0;
}

static int end(void **state)
{
    (void)state;
    device_memory_destroy(test.memory);
    device_close(test.device);
    opencl_calls = real;
    free(test.bytes);
    return 0;
}

static enum vdbq_status write_bytes(uint64_t offset, uint64_t size)
{
    return device_write(test.memory, offset, test.bytes + offset, size,
                        &test.times, &test.error);
}

/* Whether what was written is there. */
static void check_bytes(uint64_t offset, uint64_t size)
{
    uint8_t *read = malloc(size);

    assert_non_null(read);
    ok(device_read(test.memory, offset, read, size, &test.times, &test.error));
    assert_memory_equal(read, test.bytes + offset, size);
    free(read);
}

/* All bytes of `offset` and behind, which are so many parts. */
static void check_relayed(uint64_t offset)
{
    uint64_t size = MANY - offset;
    unsigned parts =
        (unsigned)((size + RELAY_PART_BYTES - 1) / RELAY_PART_BYTES);

    driver.relayed = driver.direct = 0;
    ok(write_bytes(offset, size));
    assert_int_equal(driver.relayed, parts);
    assert_int_equal(driver.direct, 0);
    check_bytes(offset, size);
}

/* -------------------------------------------------------------- tests -- */

/* The memory for it is made once, by what comes behind the first megabytes. */
static void test_many_bytes_are_relayed(void **state)
{
    uint64_t before = test.times.bytes_in;

    (void)state;
    check_relayed(0);
    check_relayed(RELAY_PART_BYTES / 2 + 1);
    assert_int_equal(driver.pinned, 1);
    assert_int_equal(test.times.bytes_in - before,
                     2 * (uint64_t)MANY - RELAY_PART_BYTES / 2 - 1);
}

static void test_first_and_few_bytes_go_directly(void **state)
{
    (void)state;
    if (RELAY_AFTER == 0)
        return; /* a hostile build relays all */
    ok(write_bytes(0, RELAY_LEAST));
    assert_int_equal(driver.pinned, 0);
    check_relayed(100);
    driver.relayed = driver.direct = 0;
    ok(write_bytes(17, RELAY_LEAST - 1));
    assert_int_equal(driver.relayed, 0);
    assert_int_equal(driver.direct, 1);
    check_bytes(0, MANY);
}

static void test_shared_memory_is_written_directly(void **state)
{
    (void)state;
    test.device->facts.shares_memory = true;
    ok(write_bytes(0, MANY));
    assert_int_equal(driver.direct, 1);
    assert_int_equal(driver.pinned + driver.relayed, 0);
}

/* Without pinned memory many bytes are written as few are, and nobody asks again. */
static void test_without_pinned_memory(void **state)
{
    (void)state;
    driver.lacks_pinned = true;
    ok(write_bytes(0, MANY));
    driver.lacks_pinned = false;
    ok(write_bytes(0, MANY));
    assert_int_equal(driver.direct, 2);
    assert_int_equal(driver.pinned + driver.relayed, 0);
    check_bytes(0, MANY);
}

/* A write that fails says so; the next one is as ever. */
static void test_failures_are_told(void **state)
{
    (void)state;
    driver.fails_after = RELAY_PARTS + 1;
    assert_int_equal(write_bytes(0, MANY), VDBQ_DEVICE);
    assert_string_equal(test.error.message,
                        "OpenCL: clEnqueueWriteBuffer failed: "
                        "CL_OUT_OF_RESOURCES (-5)");
    driver.fails_after = 0;
    check_relayed(0);
}

/* The copies of a job, whose program and progress lie in plain memory. */
static void test_jobs_copies_are_relayed(void **state)
{
    struct rig rig;
    struct error error;
    int32_t *rows = malloc(ROWS * sizeof *rows);

    (void)state;
    assert_non_null(rows);
    if (rig_open(&rig, rig_tested(), BUILD_INTERPRETED, ROWS, &error)
        != VDBQ_OK)
        fail_msg("%s", error.message);
    rig.device->facts.shares_memory = false;
    ((struct opencl *)rig.device)->relay.asked = RELAY_AFTER;
    driver.low = (const uint8_t *)rig.start;
    driver.high = driver.low + 1;
    driver.relayed = driver.direct = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (rig_run(&rig, &error) != VDBQ_OK)
            fail_msg("%s", error.message);
        rig_check_rows(&rig, rows, rig_collect(&rig, rows));
    }
    assert_true(driver.relayed > 0);
    assert_int_equal(driver.direct, 0);
    rig_close(&rig);
    free(rows);
}

#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_DEVICE(test_many_bytes_are_relayed),
        ON_DEVICE(test_first_and_few_bytes_go_directly),
        ON_DEVICE(test_shared_memory_is_written_directly),
        ON_DEVICE(test_without_pinned_memory),
        ON_DEVICE(test_failures_are_told),
        ON_DEVICE(test_jobs_copies_are_relayed),
    };
    struct text devices = { 0 };
    unsigned count = device_list(&devices);

    text_finish(&devices);
    return count == 0 ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
