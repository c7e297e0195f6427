/* SPDX-License-Identifier: MIT */
/*
 * Asks every platform for its devices, and every device for what we need to
 * know. A platform that answers nothing has no devices; the others count.
 */
#include "device/opencl/find.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "device/kernel.h"

enum {
    PLATFORM_NOT_FOUND = -1001, /* the loader knows no driver           */
    EXTENSIONS_MAX = 16384,     /* bytes of their names                  */
    LOCAL_BYTES = 32 << 10      /* that their local memory fits in       */
};

static enum vdbq_status platforms_fill(struct found *found,
                                       struct error *error);
static enum vdbq_status devices_fill(struct found *found,
                                     cl_platform_id platform, unsigned number,
                                     struct error *error);
static void facts_read(struct found_device *device);
static void fitness(struct found_device *device);
static bool node_is_closed(void);

/* Drivers begin when they are first asked what there is; POCL ends the process
 * where two threads ask at that time. */
static pthread_mutex_t look_lock = PTHREAD_MUTEX_INITIALIZER;

enum vdbq_status found_fill(struct found *found, struct error *error)
{
    enum vdbq_status status;

    *found = (struct found){ .devices = VECTOR(struct found_device) };
    status = opencl_load(&found->loader_missing, error);
    if (found->loader_missing)
        return VDBQ_OK;
    pthread_mutex_lock(&look_lock);
    if (status == VDBQ_OK)
        status = platforms_fill(found, error);
    pthread_mutex_unlock(&look_lock);
    if (status == VDBQ_OK && found->devices.count == 0)
        found->no_permission = node_is_closed();
    return status;
}

void found_finish(struct found *found)
{
    vector_finish(&found->devices);
}

const struct found_device *found_at(const struct found *found, size_t n)
{
    return n < found->devices.count
               ? VECTOR_ITEMS(&found->devices, struct found_device) + n
               : NULL;
}

/* All platforms; none is no failure. */
static enum vdbq_status platforms_fill(struct found *found, struct error *error)
{
    cl_uint count = 0;
    cl_platform_id *platforms;
    cl_int code = opencl_calls.GetPlatformIDs(0, NULL, &count);
    enum vdbq_status status;

    if (code == PLATFORM_NOT_FOUND || (code == CL_SUCCESS && count == 0))
        return VDBQ_OK;
    status = opencl_check(code, "clGetPlatformIDs", error);
    if (status != VDBQ_OK)
        return status;
    platforms = memory_zeroed(count, sizeof *platforms);
    if (platforms == NULL)
        return error_no_memory(error);
    status = opencl_check(opencl_calls.GetPlatformIDs(count, platforms, NULL),
                          "clGetPlatformIDs", error);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++)
        status = devices_fill(found, platforms[i], i, error);
    found->platforms = count;
    memory_release(platforms);
    return status;
}

/* Reads a platform's text; "" where it has none. */
static void platform_text(cl_platform_id platform, cl_platform_info what,
                          char *room)
{
    room[0] = '\0';
    opencl_calls.GetPlatformInfo(platform, what, FOUND_NAME_MAX - 1, room,
                                 NULL);
    room[FOUND_NAME_MAX - 1] = '\0';
}

/* All devices of a platform. */
static enum vdbq_status devices_fill(struct found *found,
                                     cl_platform_id platform, unsigned number,
                                     struct error *error)
{
    cl_uint count = 0;
    cl_device_id *ids;
    enum vdbq_status status = VDBQ_OK;

    if (opencl_calls.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count)
            != CL_SUCCESS
        || count == 0)
        return VDBQ_OK;
    ids = memory_zeroed(count, sizeof *ids);
    if (ids == NULL)
        return error_no_memory(error);
    if (opencl_calls.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids,
                                  NULL)
        != CL_SUCCESS)
        count = 0;
    for (unsigned i = 0; i < count; i++) {
        struct found_device *device = vector_add(&found->devices);
        if (device == NULL) {
            status = error_no_memory(error);
            break;
        }
        device->platform = platform;
        device->id = ids[i];
        device->platform_number = number;
        device->device_number = i;
        facts_read(device);
    }
    memory_release(ids);
    return status;
}

/* Reads a number that `size` bytes hold; 0 where the device has none. */
static uint64_t device_number(cl_device_id id, cl_device_info what, size_t size)
{
    uint64_t value = 0;
    if (opencl_calls.GetDeviceInfo(id, what, size, &value, NULL) != CL_SUCCESS)
        return 0;
    return value;
}

/* Reads text without the blanks around it, which some drivers pad with. */
static void device_text(cl_device_id id, cl_device_info what, char *room)
{
    char text[1024] = "";
    size_t start, end;

    if (opencl_calls.GetDeviceInfo(id, what, sizeof text - 1, text, NULL)
        != CL_SUCCESS)
        text[0] = '\0';
    start = strspn(text, " \t");
    end = strlen(text);
    while (end > start && isspace((unsigned char)text[end - 1]))
        end--;
    text[end] = '\0';
    snprintf(room, FOUND_NAME_MAX, "%.*s", FOUND_NAME_MAX - 1, text + start);
}

/* Whether the device has an extension. */
static bool has_extension(cl_device_id id, const char *name)
{
    char names[EXTENSIONS_MAX] = "";
    const char *at = names;
    size_t length = strlen(name);

    if (opencl_calls.GetDeviceInfo(id, CL_DEVICE_EXTENSIONS, sizeof names - 1,
                                   names, NULL)
        != CL_SUCCESS)
        return false;
    while ((at = strstr(at, name)) != NULL
           && ((at > names && at[-1] != ' ')
               || (at[length] != ' ' && at[length] != '\0')))
        at += length;
    return at != NULL;
}

/* What the driver says of a device. */
static void facts_read(struct found_device *device)
{
    cl_device_id id = device->id;
    uint64_t type = device_number(id, CL_DEVICE_TYPE, sizeof(cl_device_type));

    platform_text(device->platform, CL_PLATFORM_NAME, device->platform_name);
    platform_text(device->platform, CL_PLATFORM_VERSION,
                  device->platform_version);
    device_text(id, CL_DEVICE_NAME, device->name);
    device_text(id, CL_DRIVER_VERSION, device->driver);
    device->kind = kind_of_type(type);
    device->shares_memory =
        device->kind->shares_memory
        || device_number(id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool));
    device->creates_buffers = has_extension(id, "cl_nv_create_buffer");
    device->units = (unsigned)device_number(id, CL_DEVICE_MAX_COMPUTE_UNITS,
                                            sizeof(cl_uint));
    device->memory_bytes =
        device_number(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    device->buffer_max_bytes =
        device_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    fitness(device);
}

/* Whether the device's OpenCL C is at least 1.2. */
static bool compiles_c12(cl_device_id id)
{
    char version[FOUND_NAME_MAX];
    unsigned major = 0, minor = 0;

    device_text(id, CL_DEVICE_OPENCL_C_VERSION, version);
    return sscanf(version, "OpenCL C %u.%u", &major, &minor) == 2
           && (major > 1 || minor >= 2);
}

/* Whether groups of as many items as the kind's kernels have fit, and what they
 * share. */
static bool has_room_for_groups(const struct found_device *device)
{
    return device->kind->group_items == 1
           || (device_number(device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE,
                             sizeof(size_t))
                   >= device->kind->group_items
               && device_number(device->id, CL_DEVICE_LOCAL_MEM_SIZE,
                                sizeof(cl_ulong))
                      >= LOCAL_BYTES);
}

/* Finds why the device cannot run the machine; the first reason counts. What
 * it computes is tried when it is opened (opencl_probe.c). */
static void fitness(struct found_device *device)
{
    cl_device_id id = device->id;
    uint64_t single = device_number(id, CL_DEVICE_SINGLE_FP_CONFIG,
                                    sizeof(cl_device_fp_config));
    const char *why = "";

    device->has_fp64 = device_number(id, CL_DEVICE_DOUBLE_FP_CONFIG,
                                     sizeof(cl_device_fp_config))
                       != 0;
    device->exact_option = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    if (!device_number(id, CL_DEVICE_AVAILABLE, sizeof(cl_bool)))
        why = "not available";
    else if (!device_number(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool)))
        why = "no compiler";
    else if (!compiles_c12(id))
        why = "no OpenCL C 1.2";
    else if (!device_number(id, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool)))
        why = "big-endian";
    else if (device_number(id, CL_DEVICE_ADDRESS_BITS, sizeof(cl_uint)) != 64)
        why = "not 64-bit";
    else if (!device->has_fp64)
        why = "no fp64";
    else if (!has_extension(id, "cl_khr_int64_base_atomics")
             || !has_extension(id, "cl_khr_int64_extended_atomics"))
        why = "no 64-bit atomics";
    else if (!has_room_for_groups(device))
        why = "groups of 256 items with 32 KiB do not fit";
    snprintf(device->unfit, sizeof device->unfit, "%s", why);
}

/* Whether there is a GPU's node that this user may not open. */
static bool node_is_closed(void)
{
    static const char folder[] = "/dev/dri";
    DIR *nodes = opendir(folder);
    struct dirent *node;
    bool closed = false;
    char path[300];

    if (nodes == NULL)
        return false;
    while ((node = readdir(nodes)) != NULL) {
        if (strncmp(node->d_name, "renderD", 7) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, node->d_name);
        closed |= access(path, R_OK | W_OK) != 0;
    }
    closedir(nodes);
    return closed;
}
