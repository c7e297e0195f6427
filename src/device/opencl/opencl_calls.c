/* SPDX-License-Identifier: MIT */
/*
 * Opens the OpenCL loader when the first device is looked for, and turns the
 * codes of its calls into text. The loader is never closed again: drivers
 * leave threads behind that would run in code that is gone.
 */
#include "device/opencl/opencl_calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/os/os.h"
#include "device/cache/environment.h"

struct opencl_calls opencl_calls;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;       /* guarded by load_lock */
static atomic_int loader; /* the process that has begun to load, or 0 */

static enum vdbq_status fill_table(bool *loader_missing, struct error *error);
static void *loader_open(void);

/* Whether no process that this one was forked from has loaded it. Drivers'
 * threads, and whatever locks they held, are the parent's: a call here would
 * wait for them for good. */
static bool is_ours(void)
{
    int process = os_process(), first = 0;

    return atomic_compare_exchange_strong(&loader, &first, process)
           || first == process;
}

/* The message where a child of fork() asks for OpenCL. */
static enum vdbq_status forked(struct error *error)
{
    error_set(error, VDBQ_DEVICE,
              "process %d, which this one was forked "
              "from, had opened OpenCL: no driver works in a child after that",
              atomic_load(&loader));
    return error_hint(error, "use the device host here, or fork before the "
                             "first query on an OpenCL device");
}

enum vdbq_status opencl_load(bool *loader_missing, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    cl_uint ignored; /* it is asked so that the loader reads its lists */

    *loader_missing = false;
    if (!is_ours())
        return forked(error);
    pthread_mutex_lock(&load_lock);
    if (!loaded) {
        status = environment_prepare(error);
        if (status == VDBQ_OK)
            status = fill_table(loader_missing, error);
        if (status == VDBQ_OK && !*loader_missing)
            opencl_calls.GetPlatformIDs(0, NULL, &ignored);
        environment_restore();
        loaded = status == VDBQ_OK;
        if (!loaded)
            atomic_store(&loader, 0);
    }
    pthread_mutex_unlock(&load_lock);
    return status;
}

/* Where the table's entries lie in it, and what they are called. */
static const struct {
    const char *name;
    size_t offset;
} entries[] = {
#define OPENCL_CALL(result, name, arguments)                                   \
    { "cl" #name, offsetof(struct opencl_calls, name) },
    OPENCL_CALLS(OPENCL_CALL)
#undef OPENCL_CALL
};

/* Loads the library once; the table has every call we need. */
static enum vdbq_status fill_table(bool *loader_missing, struct error *error)
{
    void *loader = loader_open();

    *loader_missing = loader == NULL;
    if (loader == NULL)
        return error_set(error, VDBQ_DEVICE,
                         "no OpenCL loader (libOpenCL.so.1) was found");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *call = dlsym(loader, entries[i].name);
        if (call == NULL)
            return error_set(error, VDBQ_DEVICE,
                             "the OpenCL loader has no %s: it is older than "
                             "OpenCL 1.2",
                             entries[i].name);
        /* ISO C has no cast from an object to a function; POSIX has. */
        memcpy((char *)&opencl_calls + entries[i].offset, &call, sizeof call);
    }
    return VDBQ_OK;
}

/* A library that was put before us wins: oclgrind runs programs that way. */
static void *loader_open(void)
{
    void *program = dlopen(NULL, RTLD_NOW);

    if (program != NULL && dlsym(program, "clGetPlatformIDs") != NULL)
        return program;
    return dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
}

/* -------------------------------------------------------------- codes -- */

/* clang-format off */
#define OPENCL_CODES(X)                                                      \
    X(CL_DEVICE_NOT_FOUND)                                                   \
    X(CL_DEVICE_NOT_AVAILABLE)                                               \
    X(CL_COMPILER_NOT_AVAILABLE)                                             \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE)                                      \
    X(CL_OUT_OF_RESOURCES)                                                   \
    X(CL_OUT_OF_HOST_MEMORY)                                                 \
    X(CL_PROFILING_INFO_NOT_AVAILABLE)                                       \
    X(CL_MEM_COPY_OVERLAP)                                                   \
    X(CL_BUILD_PROGRAM_FAILURE)                                              \
    X(CL_MAP_FAILURE)                                                        \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET)                                       \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)                          \
    X(CL_COMPILE_PROGRAM_FAILURE)                                            \
    X(CL_LINKER_NOT_AVAILABLE)                                               \
    X(CL_LINK_PROGRAM_FAILURE)                                               \
    X(CL_DEVICE_PARTITION_FAILED)                                            \
    X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)                                      \
    X(CL_INVALID_VALUE)                                                      \
    X(CL_INVALID_DEVICE_TYPE)                                                \
    X(CL_INVALID_PLATFORM)                                                   \
    X(CL_INVALID_DEVICE)                                                     \
    X(CL_INVALID_CONTEXT)                                                    \
    X(CL_INVALID_QUEUE_PROPERTIES)                                           \
    X(CL_INVALID_COMMAND_QUEUE)                                              \
    X(CL_INVALID_HOST_PTR)                                                   \
    X(CL_INVALID_MEM_OBJECT)                                                 \
    X(CL_INVALID_BINARY)                                                     \
    X(CL_INVALID_BUILD_OPTIONS)                                              \
    X(CL_INVALID_PROGRAM)                                                    \
    X(CL_INVALID_PROGRAM_EXECUTABLE)                                         \
    X(CL_INVALID_KERNEL_NAME)                                                \
    X(CL_INVALID_KERNEL_DEFINITION)                                          \
    X(CL_INVALID_KERNEL)                                                     \
    X(CL_INVALID_ARG_INDEX)                                                  \
    X(CL_INVALID_ARG_VALUE)                                                  \
    X(CL_INVALID_ARG_SIZE)                                                   \
    X(CL_INVALID_KERNEL_ARGS)                                                \
    X(CL_INVALID_WORK_DIMENSION)                                             \
    X(CL_INVALID_WORK_GROUP_SIZE)                                            \
    X(CL_INVALID_WORK_ITEM_SIZE)                                             \
    X(CL_INVALID_GLOBAL_OFFSET)                                              \
    X(CL_INVALID_EVENT_WAIT_LIST)                                            \
    X(CL_INVALID_EVENT)                                                      \
    X(CL_INVALID_OPERATION)                                                  \
    X(CL_INVALID_BUFFER_SIZE)                                                \
    X(CL_INVALID_GLOBAL_WORK_SIZE)                                           \
    X(CL_INVALID_PROPERTY)                                                   \
    X(CL_INVALID_COMPILER_OPTIONS)                                           \
    X(CL_INVALID_LINKER_OPTIONS)                                             \
    X(CL_INVALID_DEVICE_PARTITION_COUNT)
/* clang-format on */

static const struct {
    cl_int code;
    const char *name;
} codes[] = {
#define OPENCL_CODE(code) { code, #code },
    OPENCL_CODES(OPENCL_CODE)
#undef OPENCL_CODE
        { -1001, "CL_PLATFORM_NOT_FOUND_KHR" }, /* of cl_ext.h */
};

const char *opencl_code_name(cl_int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].code == code)
            return codes[i].name;
    }
    return "a code of the driver's own";
}

enum vdbq_status opencl_check(cl_int code, const char *call,
                              struct error *error)
{
    if (code == CL_SUCCESS)
        return VDBQ_OK;
    return error_set(
        error, code == CL_OUT_OF_HOST_MEMORY ? VDBQ_NO_MEMORY : VDBQ_DEVICE,
        "OpenCL: %s failed: %s (%d)", call, opencl_code_name(code), (int)code);
}
