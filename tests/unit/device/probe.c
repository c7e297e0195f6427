/* SPDX-License-Identifier: MIT */
/*
 * The probe of an OpenCL device: what it finds on the tested device; how a
 * device is driven, or refused, whose answers are wrong; that it is tried
 * once. Wrong answers are made where results are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/types.h"

#include "cl/probe.h"
#include "device/opencl/opencl.h"
#include "fixtures/device_rig.h"

static struct opencl_calls real;

/* What the device gets wrong. */
static struct {
    bool fails;         /* anything at all                                  */
    enum probe probe;   /* ... in the answers to this question, or, where it
                           is PROBES, in what items do together             */
    bool always;        /* ... even if kernels do without                   */
    unsigned row;       /* in this row                                      */
    bool wide;          /* the last build was told to divide as doubles     */
    unsigned builds;    /* of programs, from their text                     */
    unsigned call_left; /* until a call fails; 0: none does                 */
} faulty;

static bool call_fails(void)
{
    return faulty.call_left > 0 && --faulty.call_left == 0;
}

/* A program that is made of a binary has no text. */
static bool has_text(cl_program program)
{
    size_t size = 0;

    return real.GetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size)
               == CL_SUCCESS
           && size > 1;
}

static cl_int CL_API_CALL
noting_BuildProgram(cl_program program, cl_uint count,
                    const cl_device_id *devices, const char *options,
                    void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    if (call_fails())
        return CL_OUT_OF_RESOURCES;
    faulty.builds += has_text(program);
    faulty.wide = strstr(options, "-DVDBQ_WIDE_DIVIDE") != NULL;
    return real.BuildProgram(program, count, devices, options, notify, data);
}

static cl_int CL_API_CALL
wrong_EnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                        size_t offset, size_t size, void *bytes, cl_uint count,
                        const cl_event *wait, cl_event *event)
{
    const bool is_answers = size == PROBES * PROBE_ROWS * sizeof(u64);
    const bool is_together = size == TOGETHER_CLAIMS * sizeof(u64);
    u64 *words = bytes;
    cl_int code;

    if (call_fails())
        return CL_OUT_OF_RESOURCES;
    code = real.EnqueueReadBuffer(queue, buffer, CL_TRUE, offset, size, bytes,
                                  count, wait, event);
    (void)blocking;
    if (!faulty.fails || (faulty.wide && !faulty.always))
        return code;
    if (is_answers && faulty.probe != PROBES)
        words[faulty.probe * PROBE_ROWS + faulty.row] ^= 1;
    if (is_together && faulty.probe == PROBES)
        words[faulty.row] ^= 1;
    return code;
}

static cl_int CL_API_CALL failing_EnqueueNDRangeKernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
    const size_t *offset, const size_t *global, const size_t *local,
    cl_uint count, const cl_event *wait, cl_event *event)
{
    if (call_fails())
        return CL_OUT_OF_RESOURCES;
    return real.EnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                     local, count, wait, event);
}

static cl_int CL_API_CALL failing_SetKernelArg(cl_kernel kernel, cl_uint index,
                                               size_t size, const void *value)
{
    return call_fails() ? CL_OUT_OF_RESOURCES
                        : real.SetKernelArg(kernel, index, size, value);
}

static cl_mem CL_API_CALL failing_CreateBuffer(cl_context context,
                                               cl_mem_flags flags, size_t size,
                                               void *host, cl_int *code)
{
    if (call_fails()) {
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    return real.CreateBuffer(context, flags, size, host, code);
}

/* ------------------------------------------------------------ fixture -- */

static char *old_cache, folder[] = "/tmp/vdbq-test-XXXXXX";

/* An empty cache for each test: nothing is known of any device. */
static int begin(void **state)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    struct device *device;
    struct error error;

    (void)state;
    old_cache = cache != NULL ? strdup(cache) : NULL;
    faulty = (__typeof__(faulty)){ .fails = false };
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    if (device_open(&(struct device_params){ .choice = rig_tested() }, &device,
                    &error)
        == VDBQ_OK)
        device_close(device); /* the loader is open */
    setenv("XDG_CACHE_HOME", folder, 1);
    real = opencl_calls;
    opencl_calls.BuildProgram = noting_BuildProgram;
    opencl_calls.EnqueueReadBuffer = wrong_EnqueueReadBuffer;
    opencl_calls.EnqueueNDRangeKernel = failing_EnqueueNDRangeKernel;
    opencl_calls.SetKernelArg = failing_SetKernelArg;
    opencl_calls.CreateBuffer = failing_CreateBuffer;
    return 0;
}

static int end(void **state)
{
    char command[sizeof folder + 16];

    (void)state;
    opencl_calls = real;
    if (old_cache != NULL)
        setenv("XDG_CACHE_HOME", old_cache, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(old_cache);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Opens the device and closes it; `options`: those of its builds. */
static enum vdbq_status open_once(char options[OPENCL_OPTIONS_MAX],
                                  struct error *error)
{
    struct device *device;
    enum vdbq_status status;

    error_clear(error);
    status = device_open(&(struct device_params){ .choice = rig_tested() },
                         &device, error);
    if (status != VDBQ_OK)
        return status;
    snprintf(options, OPENCL_OPTIONS_MAX, "%s",
             ((struct opencl *)device)->options);
    device_close(device);
    return VDBQ_OK;
}

static bool divides_wide(const char *options)
{
    return strstr(options, " -DVDBQ_WIDE_DIVIDE") != NULL;
}

static bool promises(const char *options)
{
    return strstr(options, "correctly-rounded-divide") != NULL;
}

/* -------------------------------------------------------------- tests -- */

static void test_device_as_it_is(void **state)
{
    char options[OPENCL_OPTIONS_MAX];
    struct error error;

    (void)state;
    rig_need_device();
    assert_int_equal(open_once(options, &error), VDBQ_OK);
    assert_int_equal(faulty.builds, 1);
    assert_true(promises(options) || divides_wide(options));
}

static void test_wrong_division_is_wide(void **state)
{
    char options[OPENCL_OPTIONS_MAX];
    struct error error;
    struct rig rig;

    (void)state;
    rig_need_device();
    faulty.fails = true;
    faulty.probe = PROBE_DIVIDE_F32;
    faulty.row = PROBE_ROWS - 1;
    assert_int_equal(open_once(options, &error), VDBQ_OK);
    assert_true(divides_wide(options));
    assert_int_equal(faulty.builds, promises(options) ? 2 : 1);
    assert_int_equal(
        rig_open(&rig, rig_tested(), BUILD_INTERPRETED, 100, &error), VDBQ_OK);
    assert_true(faulty.wide); /* the machine, too */
    assert_int_equal(rig_run(&rig, &error), VDBQ_OK);
    rig_close(&rig);
}

/* Asserts that the device is refused for lack of something. */
static void refused(const char *lack)
{
    char options[OPENCL_OPTIONS_MAX];
    struct error error;

    assert_int_equal(open_once(options, &error), VDBQ_DEVICE);
    assert_non_null(strstr(error.message, "cannot run queries: it lacks"));
    assert_non_null(strstr(error.message, lack));
}

static void test_wrong_answers_are_refused(void **state)
{
    static const struct {
        enum probe probe;
        const char *lack;
    } cases[] = {
        { PROBE_DIVIDE_F32, "correctly rounded division of floats" },
        { PROBE_ADD_F32, "correctly rounded sums of floats" },
        { PROBE_COMPARE_F64, "comparisons of all doubles" },
        { PROBE_ROOT_F64, "correctly rounded square roots of doubles" },
        { PROBE_SHIFT_I64, "shifts and products of 64-bit integers" },
    };

    (void)state;
    rig_need_device();
    faulty.fails = faulty.always = true;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        faulty.probe = cases[i].probe;
        faulty.row = i * 1000;
        refused(cases[i].lack);
        refused(cases[i].lack); /* nothing of it was kept */
    }
    faulty.probe = PROBES;
    for (faulty.row = 0; faulty.row < TOGETHER_CLAIMS; faulty.row++)
        refused("64-bit atomics or barriers");
}

static void test_a_refusal_tells_the_words(void **state)
{
    char options[OPENCL_OPTIONS_MAX];
    struct error error;

    (void)state;
    rig_need_device();
    faulty.fails = faulty.always = true;
    faulty.probe = PROBE_ADD_F64;
    faulty.row = 1; /* 0 + -0 */
    assert_int_equal(open_once(options, &error), VDBQ_DEVICE);
    assert_non_null(strstr(error.hint, "0000000000000000 and 8000000080000000"
                                       " it makes 8000000080000001, not "
                                       "8000000080000000"));
}

/* Damages all entries of the cache. */
static void damage_cache(void)
{
    char command[sizeof folder + 64];

    snprintf(command, sizeof command,
             "for f in '%s'/vdbq/kernels/*; do printf x >>\"$f\"; done",
             folder);
    assert_int_equal(system(command), 0);
}

static void test_device_is_tried_once(void **state)
{
    char options[OPENCL_OPTIONS_MAX], again[OPENCL_OPTIONS_MAX];
    struct error error;
    unsigned builds;

    (void)state;
    rig_need_device();
    faulty.fails = true;
    faulty.probe = PROBE_DIVIDE_F32;
    assert_int_equal(open_once(options, &error), VDBQ_OK);
    builds = faulty.builds;
    faulty.always = true; /* nobody asks any more */
    assert_int_equal(open_once(again, &error), VDBQ_OK);
    assert_int_equal(faulty.builds, builds);
    assert_string_equal(options, again);
    damage_cache();
    refused("division of floats");
    assert_true(faulty.builds > builds);
}

static void test_calls_that_fail(void **state)
{
    char options[OPENCL_OPTIONS_MAX];
    enum vdbq_status status;
    struct error error;
    unsigned n = 0;

    (void)state;
    rig_need_device();
    do {
        faulty.call_left = ++n;
        status = open_once(options, &error);
        assert_int_equal(error.status, status);
        if (status != VDBQ_OK)
            assert_non_null(strstr(error.message, "OpenCL: cl"));
    } while (faulty.call_left == 0); /* until none failed */
    faulty.call_left = 0;
    assert_int_equal(status, VDBQ_OK);
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_device_as_it_is, begin, end),
        cmocka_unit_test_setup_teardown(test_wrong_division_is_wide, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_wrong_answers_are_refused, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_a_refusal_tells_the_words, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_device_is_tried_once, begin, end),
        cmocka_unit_test_setup_teardown(test_calls_that_fail, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
