/* SPDX-License-Identifier: MIT */
/*
 * The OpenCL calls that we use, all of version 1.2, as one table of function
 * pointers. It is filled when the first device is looked for, so that a
 * program that needs no device never opens a driver. Tests replace entries.
 * Nothing outside this folder may include this.
 */
#ifndef VDBQ_DEVICE_OPENCL_CALLS_H
#define VDBQ_DEVICE_OPENCL_CALLS_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* result, name after "cl", arguments */
/* clang-format off */
#define OPENCL_CALLS(X)                                                      \
    X(cl_int, GetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))        \
    X(cl_int, GetPlatformInfo,                                               \
      (cl_platform_id, cl_platform_info, size_t, void *, size_t *))          \
    X(void *, GetExtensionFunctionAddressForPlatform,                        \
      (cl_platform_id, const char *))                                        \
    X(cl_int, GetDeviceIDs,                                                  \
      (cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *))  \
    X(cl_int, GetDeviceInfo,                                                 \
      (cl_device_id, cl_device_info, size_t, void *, size_t *))              \
    X(cl_int, CreateSubDevices,                                              \
      (cl_device_id, const cl_device_partition_property *, cl_uint,          \
       cl_device_id *, cl_uint *))                                           \
    X(cl_context, CreateContext,                                             \
      (const cl_context_properties *, cl_uint, const cl_device_id *,         \
       void(CL_CALLBACK *)(const char *, const void *, size_t, void *),      \
       void *, cl_int *))                                                    \
    X(cl_int, ReleaseContext, (cl_context))                                  \
    X(cl_command_queue, CreateCommandQueue,                                  \
      (cl_context, cl_device_id, cl_command_queue_properties, cl_int *))     \
    X(cl_int, ReleaseCommandQueue, (cl_command_queue))                       \
    X(cl_int, Finish, (cl_command_queue))                                    \
    X(cl_int, Flush, (cl_command_queue))                                     \
    X(cl_mem, CreateBuffer,                                                  \
      (cl_context, cl_mem_flags, size_t, void *, cl_int *))                  \
    X(cl_int, ReleaseMemObject, (cl_mem))                                    \
    X(void *, EnqueueMapBuffer,                                              \
      (cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t,      \
       cl_uint, const cl_event *, cl_event *, cl_int *))                     \
    X(cl_int, EnqueueUnmapMemObject,                                         \
      (cl_command_queue, cl_mem, void *, cl_uint, const cl_event *,          \
       cl_event *))                                                          \
    X(cl_int, EnqueueWriteBuffer,                                            \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *,      \
       cl_uint, const cl_event *, cl_event *))                               \
    X(cl_int, EnqueueReadBuffer,                                             \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint,   \
       const cl_event *, cl_event *))                                        \
    X(cl_int, EnqueueReadBufferRect,                                         \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *,    \
       const size_t *, size_t, size_t, size_t, size_t, void *, cl_uint,      \
       const cl_event *, cl_event *))                                        \
    X(cl_int, EnqueueFillBuffer,                                             \
      (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t,       \
       cl_uint, const cl_event *, cl_event *))                               \
    X(cl_program, CreateProgramWithSource,                                   \
      (cl_context, cl_uint, const char **, const size_t *, cl_int *))        \
    X(cl_program, CreateProgramWithBinary,                                   \
      (cl_context, cl_uint, const cl_device_id *, const size_t *,            \
       const unsigned char **, cl_int *, cl_int *))                          \
    X(cl_int, BuildProgram,                                                  \
      (cl_program, cl_uint, const cl_device_id *, const char *,              \
       void(CL_CALLBACK *)(cl_program, void *), void *))                     \
    X(cl_int, GetProgramBuildInfo,                                           \
      (cl_program, cl_device_id, cl_program_build_info, size_t, void *,      \
       size_t *))                                                            \
    X(cl_int, GetProgramInfo,                                                \
      (cl_program, cl_program_info, size_t, void *, size_t *))               \
    X(cl_int, ReleaseProgram, (cl_program))                                  \
    X(cl_kernel, CreateKernel, (cl_program, const char *, cl_int *))         \
    X(cl_int, ReleaseKernel, (cl_kernel))                                    \
    X(cl_int, SetKernelArg, (cl_kernel, cl_uint, size_t, const void *))      \
    X(cl_int, EnqueueNDRangeKernel,                                          \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, \
       const size_t *, cl_uint, const cl_event *, cl_event *))               \
    X(cl_int, EnqueueMarkerWithWaitList,                                     \
      (cl_command_queue, cl_uint, const cl_event *, cl_event *))             \
    X(cl_int, WaitForEvents, (cl_uint, const cl_event *))                    \
    X(cl_int, GetEventInfo,                                                  \
      (cl_event, cl_event_info, size_t, void *, size_t *))                   \
    X(cl_int, GetEventProfilingInfo,                                         \
      (cl_event, cl_profiling_info, size_t, void *, size_t *))               \
    X(cl_int, RetainEvent, (cl_event))                                       \
    X(cl_int, ReleaseEvent, (cl_event))
/* clang-format on */

struct opencl_calls {
#define OPENCL_CALL(result, name, arguments)                                   \
    result(CL_API_CALL *name) arguments;
    OPENCL_CALLS(OPENCL_CALL)
#undef OPENCL_CALL
};
extern struct opencl_calls opencl_calls;

/* Prepares the environment, opens the loader and fills the table, once; does
 * nothing where that was done. `*loader_missing` tells a machine without
 * OpenCL from one whose environment keeps us from using it. */
enum vdbq_status opencl_load(bool *loader_missing, struct error *error);

/* Every call's result goes through here: VDBQ_OK for CL_SUCCESS; else the
 * failure is written with its name, as VDBQ_NO_MEMORY where the host has no
 * memory and as VDBQ_DEVICE elsewhere. `call` is the call's name. */
enum vdbq_status opencl_check(cl_int code, const char *call,
                              struct error *error);

/* The name of a code, for instance "CL_OUT_OF_RESOURCES"; never NULL. */
const char *opencl_code_name(cl_int code);

#endif
