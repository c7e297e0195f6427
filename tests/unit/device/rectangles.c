/* SPDX-License-Identifier: MIT */
/*
 * Result columns that leave a device in one command, as the lines of a
 * rectangle: only where a strict driver takes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/opencl/opencl_calls.h"
#include "fixtures/device_rig.h"

enum { LINE_BYTES = 8, LINE_ROWS = 1000 };
static struct opencl_calls real; /* the driver's */
static size_t memory_bytes; /* of the memory that rectangles are read from */
static unsigned rectangles; /* that were read                              */

/* As strict as NVIDIA's driver: the last line counts as a whole one. */
static cl_int strict_EnqueueReadBufferRect(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *from,
    const size_t *to, const size_t *region, size_t row_pitch,
    size_t slice_pitch, size_t host_row_pitch, size_t host_slice_pitch,
    void *bytes, cl_uint waits, const cl_event *list, cl_event *event)
{
    rectangles++;
    if (from[0] + region[1] * row_pitch > memory_bytes)
        return CL_INVALID_VALUE;
    return real.EnqueueReadBufferRect(
        queue, buffer, blocking, from, to, region, row_pitch, slice_pitch,
        host_row_pitch, host_slice_pitch, bytes, waits, list, event);
}

/* Reads `lines` short lines of a result that are `pitch` bytes apart. */
static void check_lines(struct rig *rig, size_t lines, uint64_t pitch)
{
    uint8_t whole[LINE_ROWS * 4 + 64], read[sizeof whole];
    struct device_copy copies[4];
    struct error error;

    assert_int_equal(memory_bytes, sizeof whole);
    for (size_t i = 0; i < lines; i++)
        copies[i] = (struct device_copy){ .memory = rig->result,
                                          .offset = i * pitch,
                                          .bytes = read + i * LINE_BYTES,
                                          .size = LINE_BYTES };
    assert_int_equal(rig_start(rig, &error), VDBQ_OK);
    assert_int_equal(device_job_run(rig->job, &error), VDBQ_OK);
    assert_int_equal(device_job_collect(rig->job, copies, lines, &error),
                     VDBQ_OK);
    assert_int_equal(device_job_wait(rig->job, &rig->times, &error), VDBQ_OK);
    assert_int_equal(device_memory_take(rig->data, &rig->times, &error),
                     VDBQ_OK);
    assert_int_equal(
        device_read(rig->result, 0, whole, sizeof whole, &rig->times, &error),
        VDBQ_OK);
    for (size_t i = 0; i < lines; i++)
        assert_memory_equal(read + i * LINE_BYTES, whole + i * pitch,
                            LINE_BYTES);
}

static void test_rectangles_lie_within(void **state)
{
    struct error error;
    struct rig rig;

    (void)state;
    rig_need_device();
    assert_int_equal(
        rig_open(&rig, rig_tested(), BUILD_INTERPRETED, LINE_ROWS, &error),
        VDBQ_OK);
    memory_bytes = device_memory_size(rig.result);
    real = opencl_calls;
    opencl_calls.EnqueueReadBufferRect = strict_EnqueueReadBufferRect;
    rectangles = 0;
    check_lines(&rig, 4, 1000); /* whole lines all of them: one rectangle */
    assert_int_equal(rectangles, 1);
    check_lines(&rig, 4, 1200); /* the fourth ends too early              */
    assert_int_equal(rectangles, 2);
    check_lines(&rig, 2, 4000); /* the second                             */
    assert_int_equal(rectangles, 2);
    opencl_calls = real;
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rectangles_lie_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
