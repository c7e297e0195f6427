/* SPDX-License-Identifier: MIT */
/*
 * Few bytes that are read from a device with memory of its own: they come through
 * pinned memory, with an event that the host asks for its end. The tested device
 * is told that it has such memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "device/kernel.h"
#include "device/opencl/opencl.h"
#include "fixtures/device_rig.h"

enum { FEW = 64 << 10, BYTES = 3 * FEW };

static struct opencl_calls real; /* the driver's */

/* What was asked of it. */
static struct {
    unsigned made, freed;  /* buffers                          */
    unsigned pinned;       /* ... of these                     */
    unsigned asked, waits; /* for events                       */
    unsigned finishes;     /* of queues                        */
    const void *read_to;   /* where the last read put its bytes */
} seen;

/* How it differs from the real one. */
static struct {
    bool lacks_pinned; /* memory                            */
    bool is_slow;      /* no event ever tells its end       */
    bool fails;        /* what events are of                */
} driver;

static cl_mem seen_CreateBuffer(cl_context context, cl_mem_flags flags,
                                size_t size, void *bytes, cl_int *code)
{
    bool pinned = (flags & CL_MEM_ALLOC_HOST_PTR) != 0;

    if (pinned && driver.lacks_pinned) {
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    seen.made++;
    seen.pinned += pinned;
    return real.CreateBuffer(context, flags, size, bytes, code);
}

static cl_int seen_ReleaseMemObject(cl_mem buffer)
{
    seen.freed++;
    return real.ReleaseMemObject(buffer);
}

static cl_int seen_EnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                     cl_bool blocking, size_t offset,
                                     size_t size, void *bytes, cl_uint waits,
                                     const cl_event *list, cl_event *event)
{
    seen.read_to = bytes;
    return real.EnqueueReadBuffer(queue, buffer, blocking, offset, size, bytes,
                                  waits, list, event);
}

static cl_int seen_GetEventInfo(cl_event event, cl_event_info what, size_t size,
                                void *value, size_t *needed)
{
    cl_int code = real.GetEventInfo(event, what, size, value, needed);

    assert_int_equal(what, CL_EVENT_COMMAND_EXECUTION_STATUS);
    seen.asked++;
    if (driver.is_slow)
        *(cl_int *)value = CL_RUNNING;
    if (driver.fails)
        *(cl_int *)value = CL_OUT_OF_RESOURCES;
    return code;
}

static cl_int seen_WaitForEvents(cl_uint count, const cl_event *events)
{
    seen.waits++;
    return real.WaitForEvents(count, events);
}

static cl_int seen_Finish(cl_command_queue queue)
{
    seen.finishes++;
    return real.Finish(queue);
}

static void watch_driver(void)
{
    real = opencl_calls;
    opencl_calls.CreateBuffer = seen_CreateBuffer;
    opencl_calls.ReleaseMemObject = seen_ReleaseMemObject;
    opencl_calls.EnqueueReadBuffer = seen_EnqueueReadBuffer;
    opencl_calls.GetEventInfo = seen_GetEventInfo;
    opencl_calls.WaitForEvents = seen_WaitForEvents;
    opencl_calls.Finish = seen_Finish;
    memset(&seen, 0, sizeof seen);
    memset(&driver, 0, sizeof driver);
}

/* ------------------------------------------------------------- device -- */

/* A device with memory of its own that has these bytes. */
static struct {
    struct device *device;
    struct device_memory *memory;
    uint8_t bytes[BYTES];
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
    for (unsigned i = 0; i < BYTES; i++)
        test.bytes[i] = (uint8_t)(i * 7 + i / 251);
    watch_driver();
    ok(device_memory_create(test.device, MEMORY_DEVICE, BYTES, &test.memory,
                            &test.error));
    ok(device_write(test.memory, 0, test.bytes, BYTES, &test.times,
                    &test.error));
    return 0;
}

/* Everything that was made is freed when the device closes. */
static int end(void **state)
{
    (void)state;
    device_memory_destroy(test.memory);
    device_close(test.device);
    opencl_calls = real;
    assert_int_equal(seen.freed, seen.made);
    return 0;
}

/* Reads some of the bytes; whether they came through other memory, and with an
 * event that was asked. */
static bool is_staged(uint64_t offset, uint64_t size)
{
    uint8_t read[BYTES + 1];
    uint64_t before = test.times.bytes_out;
    unsigned asked = seen.asked;

    memset(read, 0xee, sizeof read);
    ok(device_read(test.memory, offset, read, size, &test.times, &test.error));
    assert_memory_equal(read, test.bytes + offset, size);
    assert_int_equal(read[size], 0xee);
    assert_int_equal(test.times.bytes_out - before, size);
    assert_int_equal(seen.asked > asked, seen.read_to != read);
    return seen.read_to != read;
}

/* -------------------------------------------------------------- tests -- */

/* 64 KB of them at most; the memory for it is made once. */
static void test_few_bytes_are_staged(void **state)
{
    (void)state;
    assert_int_equal(seen.pinned, 0);
    assert_true(is_staged(0, 1));
    assert_true(is_staged(4097, 64));
    assert_true(is_staged(BYTES - FEW, FEW));
    assert_false(is_staged(0, FEW + 1));
    assert_false(is_staged(0, BYTES));
    assert_true(is_staged(17, 1000));
    assert_int_equal(seen.pinned, 1);
}

/* What was put into the queue before has ended: nobody waits for it again. */
static void test_a_staged_read_waits_for_all(void **state)
{
    unsigned finishes;

    (void)state;
    memset(test.bytes, 0x5a, 100);
    ok(device_fill(test.memory, 100, 0x5a, &test.error));
    assert_true(is_staged(0, 200));
    finishes = seen.finishes;
    ok(device_calls_wait(test.device, &test.times, &test.error));
    assert_int_equal(seen.finishes, finishes);
}

static void test_where_times_are_kept_none_is(void **state)
{
    (void)state;
    ok(device_times_hold(test.device, &test.error));
    assert_false(is_staged(0, 64));
    device_times_release(test.device);
    assert_true(is_staged(0, 64));
}

static void test_shared_memory_is_read_directly(void **state)
{
    (void)state;
    test.device->facts.shares_memory = true;
    assert_false(is_staged(0, 64));
    assert_int_equal(seen.pinned, 0);
}

static void test_a_late_end_is_waited_for(void **state)
{
    unsigned waits = seen.waits;

    (void)state;
    assert_true(is_staged(0, 64));
    assert_true(seen.waits <= waits + 2); /* of the memory's mapping, too */
    waits = seen.waits;
    driver.is_slow = true;
    assert_true(is_staged(100, 64));
    assert_int_equal(seen.waits, waits + 1);
}

/* The read says so, waits for what is under way, and the next one is as ever. */
static void test_failures_are_told(void **state)
{
    uint8_t read[64] = { 0 }, none[64] = { 0 };
    unsigned finishes;

    (void)state;
    assert_true(is_staged(0, 64));
    driver.fails = true;
    finishes = seen.finishes;
    assert_int_equal(
        device_read(test.memory, 0, read, 64, &test.times, &test.error),
        VDBQ_DEVICE);
    assert_string_equal(test.error.message,
                        "OpenCL: clEnqueueReadBuffer failed: "
                        "CL_OUT_OF_RESOURCES (-5)");
    assert_memory_equal(read, none, 64);
    assert_int_equal(seen.finishes, finishes + 1);
    driver.fails = false;
    assert_true(is_staged(0, 64));
}

/* Without pinned memory few bytes are read as many are. */
static void test_without_pinned_memory(void **state)
{
    (void)state;
    driver.lacks_pinned = true;
    assert_false(is_staged(8, 64));
    driver.lacks_pinned = false;
    assert_true(is_staged(8, 64));
}

#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_DEVICE(test_few_bytes_are_staged),
        ON_DEVICE(test_a_staged_read_waits_for_all),
        ON_DEVICE(test_where_times_are_kept_none_is),
        ON_DEVICE(test_shared_memory_is_read_directly),
        ON_DEVICE(test_a_late_end_is_waited_for),
        ON_DEVICE(test_failures_are_told),
        ON_DEVICE(test_without_pinned_memory),
    };
    struct text devices = { 0 };
    unsigned count = device_list(&devices);

    text_finish(&devices);
    return count == 0 ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
