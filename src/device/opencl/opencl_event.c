/* SPDX-License-Identifier: MIT */
/*
 * Events: what a device's queues give for each command, to wait for it or to ask
 * for its end, and to know when it ran. The device's clock counts nanoseconds; a
 * queue that keeps no times has none to give.
 */
#include "base/os/os.h"
#include "device/opencl/opencl.h"

/* So long an event is asked for its command's end: a device has few bytes there in
 * less, and with more left to do it is better waited for. */
enum { POLL_NS = 100000 };

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

/* What an event tells of its command: CL_COMPLETE, more while it has not ended, or
 * the code of a failure, which is less. */
static cl_int state_of(cl_event event)
{
    cl_int state = CL_QUEUED;
    cl_int code = opencl_calls.GetEventInfo(
        event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);

    return code == CL_SUCCESS ? state : code;
}

enum vdbq_status opencl_poll(cl_command_queue queue, cl_event event,
                             const char *call, struct error *error)
{
    uint64_t end_ns = os_time_ns() + POLL_NS;
    cl_int state = opencl_calls.Flush(queue);

    if (state == CL_SUCCESS)
        state = state_of(event);
    while (state > CL_COMPLETE && os_time_ns() < end_ns)
        state = state_of(event);
    if (state > CL_COMPLETE)
        state = opencl_calls.WaitForEvents(1, &event);
    if (state != CL_COMPLETE) /* nothing is under way when the caller knows */
        opencl_calls.Finish(queue);
    opencl_calls.ReleaseEvent(event);
    return opencl_check(state, call, error);
}
