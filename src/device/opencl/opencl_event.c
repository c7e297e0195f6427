/* SPDX-License-Identifier: MIT */
/*
 * Events: what a device's queues give for each command, to wait for it and to
 * know when it ran. The device's clock counts nanoseconds; a queue that keeps
 * no times has none to give.
 */
#include "device/opencl/opencl.h"

/* By the device's clock. */
struct times {
    cl_ulong start; /* of the first command */
    cl_ulong end;   /* of the last one */
};

/* When the device started one event's command, and ended another's; both 0
 * where their queue keeps no times. */
static enum vdbq_status times_of(cl_event first, cl_event last,
                                 struct times *times, struct error *error)
{
    cl_int code = opencl_calls.GetEventProfilingInfo(
        first, CL_PROFILING_COMMAND_START, sizeof times->start, &times->start,
        NULL);

    if (code == CL_SUCCESS)
        code = opencl_calls.GetEventProfilingInfo(
            last, CL_PROFILING_COMMAND_END, sizeof times->end, &times->end,
            NULL);
    if (code == CL_PROFILING_INFO_NOT_AVAILABLE) {
        *times = (struct times){ 0 };
        return VDBQ_OK;
    }
    return opencl_check(code, "clGetEventProfilingInfo", error);
}

enum vdbq_status opencl_span(cl_event first, cl_event last, uint64_t *time_ns,
                             struct error *error)
{
    struct times times = { 0 };
    enum vdbq_status status = times_of(first, last, &times, error);

    if (status == VDBQ_OK && times.end > times.start)
        *time_ns += times.end - times.start;
    return status;
}

enum vdbq_status opencl_beside(struct opencl *opencl, cl_event event,
                               uint64_t *time_ns, struct error *error)
{
    struct times times = { 0 };
    enum vdbq_status status = times_of(event, event, &times, error);

    if (times.start < opencl->busy_until)
        times.start = opencl->busy_until;
    if (status != VDBQ_OK || times.end <= times.start)
        return status;
    *time_ns += times.end - times.start;
    opencl->busy_until = times.end;
    return VDBQ_OK;
}

enum vdbq_status opencl_wait(cl_int code, const char *call, cl_event event,
                             uint64_t *time_ns, struct error *error)
{
    enum vdbq_status status = opencl_check(code, call, error);

    if (status != VDBQ_OK)
        return status;
    status = opencl_check(opencl_calls.WaitForEvents(1, &event), call, error);
    if (status == VDBQ_OK)
        status = opencl_span(event, event, time_ns, error);
    opencl_calls.ReleaseEvent(event);
    return status;
}
