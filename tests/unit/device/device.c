/* SPDX-License-Identifier: MIT */
/*
 * The device floor: choice, memory, machine and launches, on the host and on
 * the first CPU device where there is one; calls that fail; the caches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "device/backend.h"
#include "device/cache/cache.h"
#include "device/cache/environment.h"
#include "device/opencl/find.h"
#include "device/opencl/quirks.h"
#include "base/text.h"
#include "fixtures/device_rig.h"

enum { ROWS = 10007 };

/* -------------------------------------------------------------- choice -- */

/* Must be the first test: nothing may have opened the loader before. */
static void test_host_needs_no_opencl(void **state)
{
    struct rig rig;
    struct error error;

    (void)state;
    assert_int_equal(rig_open(&rig, "HOST", BUILD_INTERPRETED, 1, &error),
                     VDBQ_OK);
    assert_string_equal(device_facts(rig.device)->kind->name, "host");
    rig_close(&rig);
    assert_null(opencl_calls.GetPlatformIDs);
}

static void add_device(struct found *found, const char *platform,
                       const char *name, bool is_gpu, const char *unfit)
{
    struct found_device *device = vector_add(&found->devices);

    assert_non_null(device);
    device->platform_number = is_gpu;
    device->kind = kind_of_choice(is_gpu ? "gpu" : "cpu");
    snprintf(device->platform_name, FOUND_NAME_MAX, "%s", platform);
    snprintf(device->name, FOUND_NAME_MAX, "%s", name);
    snprintf(device->unfit, FOUND_UNFIT_MAX, "%s", unfit);
}

/* The name of the device that a choice gives; "" where it fails. */
static const char *chosen(const struct found *found, const char *choice,
                          struct error *error)
{
    const struct found_device *device;

    error_clear(error);
    if (found_choose(found, choice, &device, error) == VDBQ_OK)
        return device->name;
    assert_int_equal(error->status, VDBQ_DEVICE);
    assert_non_null(strstr(error->message, choice));
    return "";
}

static void test_choice(void **state)
{
    struct found found = { .devices = VECTOR(struct found_device) };
    struct error error;

    (void)state;
    add_device(&found, "Portable", "old processor", false, "no fp64");
    add_device(&found, "Portable", "Processor", false, "");
    add_device(&found, "Vendor", "Card One", true, "");
    assert_string_equal(chosen(&found, "cpu", &error), "Processor");
    assert_string_equal(chosen(&found, "gpu", &error), "Card One");
    assert_string_equal(chosen(&found, "AUTO", &error), "Card One");
    assert_string_equal(chosen(&found, "1:0", &error), "Card One");
    assert_string_equal(chosen(&found, "card", &error), "Card One");
    assert_string_equal(chosen(&found, "vendor", &error), "Card One");
    assert_string_equal(chosen(&found, "1:1", &error), "");
    assert_non_null(strstr(error.hint, "--device 1:0"));
    assert_string_equal(chosen(&found, "processor", &error), "");
    assert_non_null(strstr(error.message, "2 devices"));
    assert_string_equal(chosen(&found, "old", &error), "");
    assert_non_null(strstr(error.message, "no fp64"));
    add_device(&found, "Vendor", "Card Two", true, "");
    assert_string_equal(chosen(&found, "gpu", &error), "");
    assert_non_null(strstr(error.hint, "Card Two"));
    assert_string_equal(chosen(&found, "card t", &error), "Card Two");
    found_finish(&found);
}

static void test_no_device(void **state)
{
    struct found found = { .devices = VECTOR(struct found_device) };
    struct error error;

    (void)state;
    assert_string_equal(chosen(&found, "gpu", &error), "");
    assert_non_null(strstr(error.hint, "no driver"));
    assert_non_null(strstr(error.hint, "apt install pocl-opencl-icd"));
    found.loader_missing = true;
    assert_string_equal(chosen(&found, "gpu", &error), "");
    assert_non_null(strstr(error.hint, "ocl-icd-libopencl1"));
    found.loader_missing = false;
    found.platforms = 1;
    found.no_permission = true;
    assert_string_equal(chosen(&found, "gpu", &error), "");
    assert_non_null(strstr(error.hint, "offers no device"));
    assert_non_null(strstr(error.hint, "usermod"));
}

static void test_open_errors(void **state)
{
    struct device *device;
    struct error error;

    (void)state;
    assert_int_equal(device_open(&(struct device_params){ .choice = "host",
                                                          .cores = 100000 },
                                 &device, &error),
                     VDBQ_DEVICE);
    rig_need_device();
    assert_int_equal(
        device_open(&(struct device_params){ .choice = "no such device" },
                    &device, &error),
        VDBQ_DEVICE);
    assert_null(device);
    assert_int_equal(device_open(&(struct device_params){ .cores = 100000 },
                                 &device, &error),
                     VDBQ_DEVICE);
    assert_non_null(strstr(error.message, "100000 cores"));
}

static void test_one_core(void **state)
{
    struct device *device;
    struct error error;

    (void)state;
    rig_need_device();
    assert_int_equal(
        device_open(&(struct device_params){ .cores = 1 }, &device, &error),
        VDBQ_OK);
    assert_int_equal(device_facts(device)->cores, 1);
    device_close(device);
}

/* -------------------------------------------------------------- memory -- */

static void check_memory(const char *choice)
{
    struct device_memory *pinned, *own;
    struct device_times times = { 0 }, others = { 0 };
    struct device *device;
    struct error error;
    unsigned char bytes[4000], *host;

    assert_int_equal(device_open(&(struct device_params){ .choice = choice },
                                 &device, &error),
                     VDBQ_OK);
    assert_int_equal(
        device_memory_create(device, MEMORY_PINNED, 4000, &pinned, &error),
        VDBQ_OK);
    assert_int_equal(
        device_memory_create(device, MEMORY_DEVICE, 4000, &own, &error),
        VDBQ_OK);
    host = device_memory_host(pinned);
    assert_non_null(host);
    assert_int_equal((uintptr_t)host % 64, 0);
    assert_null(device_memory_host(own));
    assert_int_equal(device_memory_size(own), 4000);
    memset(host, 0, 4000); /* nobody has cleared it */
    assert_int_equal(device_write(own, 0, host, 4000, &others, &error),
                     VDBQ_OK);
    assert_int_equal(device_read(own, 0, bytes, 4000, &times, &error), VDBQ_OK);
    for (unsigned i = 0; i < 4000; i++)
        assert_int_equal(bytes[i], 0);
    memset(host, 7, 4000);
    assert_int_equal(device_write(own, 100, host, 50, &times, &error), VDBQ_OK);
    assert_int_equal(device_read(own, 99, bytes, 52, &times, &error), VDBQ_OK);
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[1], 7);
    assert_int_equal(bytes[50], 7);
    assert_int_equal(bytes[51], 0);
    assert_int_equal(times.bytes_in, 50);
    assert_int_equal(times.bytes_out, 4052);
    assert_int_equal(device_memory_give(pinned, &times, &error), VDBQ_OK);
    assert_int_equal(device_memory_give(pinned, &times, &error), VDBQ_OK);
    assert_null(device_memory_host(pinned));
    assert_int_equal(device_memory_take(pinned, &times, &error), VDBQ_OK);
    assert_int_equal(((unsigned char *)device_memory_host(pinned))[3999], 7);
    device_memory_destroy(pinned);
    device_memory_destroy(own);
    device_close(device);
}

static void test_memory(void **state)
{
    (void)state;
    check_memory("host");
    rig_need_device();
    check_memory(rig_tested());
}

static void test_memory_too_large(void **state)
{
    struct device_memory *memory;
    struct device *device;
    struct error error;

    (void)state;
    rig_need_device();
    assert_int_equal(
        device_open(&(struct device_params){ .choice = rig_tested() }, &device,
                    &error),
        VDBQ_OK);
    assert_int_equal(device_memory_create(device, MEMORY_DEVICE, 1ull << 60,
                                          &memory, &error),
                     VDBQ_DEVICE);
    assert_null(memory);
    assert_non_null(strstr(error.message, "1152921504606846976"));
    assert_non_null(strstr(error.hint, "VDBQ_MEMORY"));
    device_close(device);
}

/* ------------------------------------------------------------- machine -- */

static void check_machine(const char *choice, enum device_build build,
                          uint64_t rows)
{
    int32_t *values = calloc(rows + 1, sizeof *values);
    struct error error = { 0 };
    struct rig rig;

    assert_non_null(values);
    if (rig_open(&rig, choice, build, rows, &error) != VDBQ_OK
        || rig_run(&rig, &error) != VDBQ_OK)
        fail_msg("%s\n%s", error.message, error.hint);
    rig_check_rows(&rig, values, rig_collect(&rig, values));
    rig_close(&rig);
    free(values);
}

static void test_machine(void **state)
{
    static const uint64_t rows[] = { 0, 1, 255, 256, 257, 2047, 2049, 300007 };

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        check_machine("host", BUILD_INTERPRETED, rows[i]);
    rig_need_device();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_machine(rig_tested(), BUILD_INTERPRETED, rows[i]);
        check_machine(rig_tested(), BUILD_SPECIALISED, rows[i]);
    }
}

static struct device_machine *build(struct rig *rig, unsigned registers,
                                    const char *body)
{
    struct device_machine_params params = { .build = body ? BUILD_SPECIALISED
                                                          : BUILD_INTERPRETED,
                                            .registers = registers,
                                            .body = body };
    struct device_machine *machine;
    struct error error;

    assert_int_equal(
        device_machine(rig->device, &params, &machine, &rig->times, &error),
        VDBQ_OK);
    return machine;
}

static void test_machine_is_kept(void **state)
{
    struct rig rig;
    struct error error;
    uint64_t compile_ns;

    (void)state;
    rig_need_device();
    if (rig_open(&rig, rig_tested(), BUILD_INTERPRETED, ROWS, &error)
        != VDBQ_OK)
        fail_msg("%s\n%s", error.message, error.hint);
    compile_ns = rig.times.compile_ns;
    assert_true(compile_ns > 0);
    assert_int_equal(rig.times.builds, 1);
    assert_ptr_equal(build(&rig, 16, NULL), rig.machine);
    assert_int_equal(rig.times.compile_ns, compile_ns);
    assert_int_equal(rig.times.builds, 1);
    assert_ptr_not_equal(build(&rig, 17, NULL), rig.machine);
    assert_ptr_not_equal(build(&rig, 2, rig_body), rig.machine);
    assert_ptr_equal(build(&rig, 2, rig_body), build(&rig, 2, rig_body));
    assert_int_equal(rig.times.builds, 3);
    rig_close(&rig);
}

/* Measures the limits of a device: each is a rate that memory may have. */
static void check_limits(const char *name)
{
    struct device *device;
    struct error error;
    const struct vdbq_limits *limits;

    assert_int_equal(
        device_open(&(struct device_params){ .choice = name }, &device, &error),
        VDBQ_OK);
    assert_int_equal(device_limits_measure(device, &error), VDBQ_OK);
    limits = &device_tuning(device)->limits;
    const double rates[] = { limits->memory_read, limits->copy_in,
                             limits->copy_out, limits->copy_both,
                             limits->host_read };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        assert_true(rates[i] > 0.01 && rates[i] < 1e5);
    assert_int_equal(limits->shares_memory,
                     device_facts(device)->shares_memory);
    device_close(device);
}

static void test_limits(void **state)
{
    (void)state;
    check_limits("host");
    rig_need_device();
    check_limits(rig_tested());
}

static void test_build_log(void **state)
{
    struct device_machine_params params = { .build = BUILD_SPECIALISED,
                                            .registers = 2,
                                            .body = "no_such_word here;\n" };
    struct device_machine *machine;
    struct error error;
    struct rig rig;

    (void)state;
    rig_need_device();
    assert_int_equal(
        rig_open(&rig, rig_tested(), BUILD_INTERPRETED, ROWS, &error), VDBQ_OK);
    assert_int_equal(
        device_machine(rig.device, &params, &machine, &rig.times, &error),
        VDBQ_DEVICE);
    assert_null(machine);
    assert_non_null(strstr(error.message, "CL_BUILD_PROGRAM_FAILURE (-11)"));
    assert_non_null(strstr(error.hint, "no_such_word"));
    rig_close(&rig);
}

static void test_open_again_and_again(void **state)
{
    struct error error;
    struct rig rig;

    (void)state;
    rig_need_device();
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(
            rig_open(&rig, rig_tested(), BUILD_INTERPRETED, ROWS, &error),
            VDBQ_OK);
        assert_int_equal(rig_run(&rig, &error), VDBQ_OK);
        rig_close(&rig);
    }
}

/* ------------------------------------------------------- failing calls -- */

static struct opencl_calls real;
static unsigned calls_left; /* until a call fails */

/* Whether this call is the one that fails. */
static bool fails(void)
{
    return calls_left > 0 && --calls_left == 0;
}

/* Replacements of calls whose result is their code, and of those that put it
 * into their last argument. */
#define FAILING(name, parameters, arguments)                                   \
    static cl_int CL_API_CALL failing_##name parameters                        \
    {                                                                          \
        if (fails())                                                           \
            return CL_OUT_OF_RESOURCES;                                        \
        return real.name arguments;                                            \
    }
#define FAILING_MAKER(type, name, parameters, arguments)                       \
    static type CL_API_CALL failing_##name parameters                          \
    {                                                                          \
        if (fails()) {                                                         \
            *code = CL_OUT_OF_HOST_MEMORY;                                     \
            return NULL;                                                       \
        }                                                                      \
        return real.name arguments;                                            \
    }

FAILING_MAKER(cl_context, CreateContext,
              (const cl_context_properties *a, cl_uint b, const cl_device_id *c,
               void(CL_CALLBACK *d)(const char *, const void *, size_t, void *),
               void *e, cl_int *code),
              (a, b, c, d, e, code))
FAILING_MAKER(cl_command_queue, CreateCommandQueue,
              (cl_context a, cl_device_id b, cl_command_queue_properties c,
               cl_int *code),
              (a, b, c, code))
FAILING_MAKER(cl_mem, CreateBuffer,
              (cl_context a, cl_mem_flags b, size_t c, void *d, cl_int *code),
              (a, b, c, d, code))
FAILING_MAKER(void *, EnqueueMapBuffer,
              (cl_command_queue a, cl_mem b, cl_bool c, cl_map_flags d,
               size_t e, size_t f, cl_uint g, const cl_event *h, cl_event *i,
               cl_int *code),
              (a, b, c, d, e, f, g, h, i, code))
FAILING_MAKER(cl_program, CreateProgramWithSource,
              (cl_context a, cl_uint b, const char **c, const size_t *d,
               cl_int *code),
              (a, b, c, d, code))
FAILING_MAKER(cl_kernel, CreateKernel,
              (cl_program a, const char *b, cl_int *code), (a, b, code))
FAILING(GetPlatformIDs, (cl_uint a, cl_platform_id *b, cl_uint *c), (a, b, c))
FAILING(EnqueueUnmapMemObject,
        (cl_command_queue a, cl_mem b, void *c, cl_uint d, const cl_event *e,
         cl_event *f),
        (a, b, c, d, e, f))
FAILING(EnqueueWriteBuffer,
        (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e,
         const void *f, cl_uint g, const cl_event *h, cl_event *i),
        (a, b, c, d, e, f, g, h, i))
FAILING(EnqueueFillBuffer,
        (cl_command_queue a, cl_mem b, const void *c, size_t d, size_t e,
         size_t f, cl_uint g, const cl_event *h, cl_event *i),
        (a, b, c, d, e, f, g, h, i))
FAILING(BuildProgram,
        (cl_program a, cl_uint b, const cl_device_id *c, const char *d,
         void(CL_CALLBACK *e)(cl_program, void *), void *f),
        (a, b, c, d, e, f))
FAILING(SetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void *d),
        (a, b, c, d))
FAILING(EnqueueNDRangeKernel,
        (cl_command_queue a, cl_kernel b, cl_uint c, const size_t *d,
         const size_t *e, const size_t *f, cl_uint g, const cl_event *h,
         cl_event *i),
        (a, b, c, d, e, f, g, h, i))
FAILING(WaitForEvents, (cl_uint a, const cl_event *b), (a, b))
FAILING(GetEventProfilingInfo,
        (cl_event a, cl_profiling_info b, size_t c, void *d, size_t *e),
        (a, b, c, d, e))

static void replace_calls(void)
{
    real = opencl_calls;
    opencl_calls.GetPlatformIDs = failing_GetPlatformIDs;
    opencl_calls.CreateContext = failing_CreateContext;
    opencl_calls.CreateCommandQueue = failing_CreateCommandQueue;
    opencl_calls.CreateBuffer = failing_CreateBuffer;
    opencl_calls.EnqueueMapBuffer = failing_EnqueueMapBuffer;
    opencl_calls.CreateProgramWithSource = failing_CreateProgramWithSource;
    opencl_calls.CreateKernel = failing_CreateKernel;
    opencl_calls.EnqueueUnmapMemObject = failing_EnqueueUnmapMemObject;
    opencl_calls.EnqueueWriteBuffer = failing_EnqueueWriteBuffer;
    opencl_calls.EnqueueFillBuffer = failing_EnqueueFillBuffer;
    opencl_calls.BuildProgram = failing_BuildProgram;
    opencl_calls.SetKernelArg = failing_SetKernelArg;
    opencl_calls.EnqueueNDRangeKernel = failing_EnqueueNDRangeKernel;
    opencl_calls.WaitForEvents = failing_WaitForEvents;
    opencl_calls.GetEventProfilingInfo = failing_GetEventProfilingInfo;
}

/* Opens, builds, runs and closes; the failure is in `error`. */
static enum vdbq_status whole_run(struct error *error)
{
    struct rig rig;
    enum vdbq_status status;

    error_clear(error);
    status = rig_open(&rig, rig_tested(), BUILD_INTERPRETED, ROWS, error);
    if (status == VDBQ_OK)
        status = rig_run(&rig, error);
    rig_close(&rig);
    return status;
}

/* Opens, measures and closes. The device says that it is small, so that
 * little is moved. */
static enum vdbq_status limits_run(struct error *error)
{
    struct device *device;
    enum vdbq_status status;

    error_clear(error);
    status = device_open(&(struct device_params){ .choice = rig_tested() },
                         &device, error);
    if (status != VDBQ_OK)
        return status;
    device->facts.memory_bytes = 64 << 20;
    status = device_limits_measure(device, error);
    device_close(device);
    return status;
}

/* Lets the first call of `run` fail, then the second, until none does. */
static void each_call_fails(enum vdbq_status (*run)(struct error *))
{
    enum vdbq_status status;
    struct error error;
    unsigned n = 0;

    replace_calls();
    do {
        calls_left = ++n;
        status = run(&error);
        assert_int_equal(error.status, status);
        if (status != VDBQ_OK)
            assert_non_null(strstr(error.message, "OpenCL: cl"));
    } while (calls_left == 0); /* until none failed */
    calls_left = 0;
    opencl_calls = real;
    assert_int_equal(status, VDBQ_OK);
    assert_true(n > 30);
}

static void test_every_call_fails_once(void **state)
{
    (void)state;
    rig_need_device();
    each_call_fails(whole_run);
    each_call_fails(limits_run);
}

static void *(*real_resize)(void *, size_t);

static void *failing_resize(void *old, size_t size)
{
    return fails() ? NULL : real_resize(old, size);
}

static void test_every_allocation_fails_once(void **state)
{
    enum vdbq_status status;
    struct error error;
    unsigned n = 0;

    (void)state;
    rig_need_device();
    real_resize = memory_calls.resize;
    memory_calls.resize = failing_resize;
    do {
        calls_left = ++n;
        status = whole_run(&error);
        if (status != VDBQ_OK)
            assert_int_equal(status, VDBQ_NO_MEMORY);
    } while (calls_left == 0);
    calls_left = 0;
    memory_calls.resize = real_resize;
    assert_int_equal(status, VDBQ_OK);
    assert_true(n > 8);
}

static void test_code_names(void **state)
{
    struct error error;

    (void)state;
    assert_string_equal(opencl_code_name(-5), "CL_OUT_OF_RESOURCES");
    assert_string_equal(opencl_code_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
    assert_non_null(opencl_code_name(-424242));
    assert_int_equal(opencl_check(CL_OUT_OF_HOST_MEMORY, "clX", &error),
                     VDBQ_NO_MEMORY);
    assert_int_equal(opencl_check(-424242, "clX", &error), VDBQ_DEVICE);
    assert_non_null(strstr(error.message, "clX"));
    assert_non_null(strstr(error.message, "-424242"));
}

/* -------------------------------------------------------------- caches -- */

static char folder[] = "/tmp/vdbq-unit-device-XXXXXX";
static char *old_cache;

/* Lets the cache be in an empty folder of this test. */
static int cache_begin(void **state)
{
    (void)state;
    old_cache = getenv("XDG_CACHE_HOME");
    if (old_cache != NULL)
        old_cache = strdup(old_cache);
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    return setenv("XDG_CACHE_HOME", folder, 1);
}

static int cache_end(void **state)
{
    char command[128];

    (void)state;
    if (old_cache != NULL)
        setenv("XDG_CACHE_HOME", old_cache, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(old_cache);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* The one entry of the kernel cache. */
static void entry_path(char *room, size_t size)
{
    char command[128];
    FILE *names;

    snprintf(command, sizeof command, "ls %s/vdbq/kernels/*.bin", folder);
    names = popen(command, "r");
    assert_non_null(names);
    assert_non_null(fgets(room, (int)size, names));
    room[strcspn(room, "\n")] = '\0';
    pclose(names);
}

static bool loads(const char *name, const char *bytes, size_t size)
{
    struct text key = { 0 }, binary = { 0 };
    bool found;

    text_add(&key, name, strlen(name));
    found = cache_load(&key, &binary);
    if (found) {
        assert_int_equal(binary.length, size);
        assert_memory_equal(binary.bytes, bytes, size);
    }
    text_finish(&key);
    text_finish(&binary);
    return found;
}

static void test_cache(void **state)
{
    static const char binary[] = "\0binary\n\377";
    struct text key = { 0 };
    char path[256];
    struct stat facts;

    (void)state;
    text_print(&key, "key");
    assert_false(loads("key", binary, sizeof binary));
    cache_save(&key, binary, sizeof binary);
    cache_save(&key, binary, sizeof binary);
    assert_true(loads("key", binary, sizeof binary));
    assert_false(loads("another", binary, sizeof binary));
    entry_path(path, sizeof path);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    for (off_t at = 0; at < facts.st_size; at++) {
        int file = open(path, O_RDWR);
        unsigned char byte;
        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        assert_false(loads("key", binary, sizeof binary));
        byte ^= 0x10;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        close(file);
    }
    assert_true(loads("key", binary, sizeof binary));
    for (off_t size = 0; size < facts.st_size; size++) {
        assert_int_equal(truncate(path, size), 0);
        assert_false(loads("key", binary, sizeof binary));
    }
    text_finish(&key);
    assert_true(quirks_of("NVIDIA CUDA")->keeps_binaries);
    assert_false(quirks_of("unheard of")->keeps_binaries);
}

static enum vdbq_status folder_of_cache(struct error *error)
{
    struct text path = { 0 };
    enum vdbq_status status = environment_cache_folder("pocl", &path, error);

    text_finish(&path);
    return status;
}

static void test_cache_folder(void **state)
{
    char path[128], other[128];
    struct error error;

    (void)state;
    snprintf(path, sizeof path, "%s/vdbq/pocl", folder);
    snprintf(other, sizeof other, "%s/vdbq/other", folder);
    assert_int_equal(folder_of_cache(&error), VDBQ_OK);
    chmod(path, 0770);
    assert_int_equal(folder_of_cache(&error), VDBQ_DEVICE);
    assert_non_null(strstr(error.hint, "chmod 700"));
    chmod(path, 0700);
    assert_int_equal(folder_of_cache(&error), VDBQ_OK);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(folder_of_cache(&error), VDBQ_DEVICE);
    assert_non_null(strstr(error.message, "is not a folder"));
    setenv("XDG_CACHE_HOME", "/nonexistent/folder", 1);
    assert_int_equal(folder_of_cache(&error), VDBQ_IO);
    setenv("XDG_CACHE_HOME", folder, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_needs_no_opencl),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_open_errors),
        cmocka_unit_test(test_one_core),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_too_large),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_machine_is_kept),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_build_log),
        cmocka_unit_test(test_open_again_and_again),
        cmocka_unit_test(test_every_call_fails_once),
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_code_names),
        cmocka_unit_test_setup_teardown(test_cache, cache_begin, cache_end),
        cmocka_unit_test_setup_teardown(test_cache_folder, cache_begin,
                                        cache_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
