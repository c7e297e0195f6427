/* SPDX-License-Identifier: MIT */
/*
 * Launches of the machine on an OpenCL device: its kernel put into the queue
 * with its arguments.
 */
#include <string.h>

#include "base/os.h"
#include "device/opencl.h"

/* Sets a kernel's arguments; where there is no memory the kernel reads none,
 * and gets the first. */
static enum vdbq_status arguments_set(cl_kernel kernel,
                                      struct device_memory *const *memories,
                                      cl_ulong progress_at,
                                      struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < MACHINE_ARGUMENTS && status == VDBQ_OK; i++) {
        const struct device_memory *memory =
            memories[i] != NULL ? memories[i] : memories[0];
        cl_mem buffer = ((const struct opencl_memory *)memory)->buffer;
        cl_int code = i == MACHINE_PROGRESS
                          ? opencl_calls.SetKernelArg(
                                kernel, i, sizeof progress_at, &progress_at)
                          : opencl_calls.SetKernelArg(
                                kernel, i, sizeof buffer, &buffer);
        status = opencl_check(code, "clSetKernelArg", error);
    }
    return status;
}

/* Waits for a machine's first launch. POCL finishes a kernel then: what that
 * took, beside the run, counts as compilation. */
static enum vdbq_status warm_up(cl_event event, uint64_t start,
                                struct device_times *times,
                                struct error *error)
{
    uint64_t kernel_ns = 0, all_ns;
    enum vdbq_status status =
        opencl_check(opencl_calls.WaitForEvents(1, &event),
                     "clEnqueueNDRangeKernel", error);

    all_ns = os_time_ns() - start;
    if (status == VDBQ_OK)
        status = opencl_span(event, event, &kernel_ns, error);
    if (all_ns > kernel_ns)
        times->compile_ns += all_ns - kernel_ns;
    return status;
}

/* Puts `groups` groups of the machine into a queue. */
static enum vdbq_status kernel_start(struct opencl_machine *machine,
                                     uint64_t groups, cl_command_queue queue,
                                     cl_event after, cl_event *event,
                                     struct device_times *times,
                                     struct error *error)
{
    struct opencl *opencl = (struct opencl *)machine->head.device;
    size_t local = machine->variant.group, global = groups * local;
    uint64_t start;
    enum vdbq_status status;

    if (!machine->run_warm && after != NULL)
        opencl_calls.Finish(opencl->queue_in);
    start = os_time_ns();
    status = opencl_check(opencl_calls.EnqueueNDRangeKernel(
                              queue, machine->run, 1, NULL, &global, &local,
                              after != NULL, after != NULL ? &after : NULL,
                              event),
                          "clEnqueueNDRangeKernel", error);
    if (status != VDBQ_OK)
        return status;
    times->launches++;
    if (!machine->run_warm)
        status = warm_up(*event, start, times, error);
    machine->run_warm = true;
    return status;
}

enum vdbq_status opencl_launch_start(struct opencl_machine *machine,
                                     const struct device_launch *params,
                                     cl_command_queue queue, cl_event after,
                                     cl_event *event,
                                     struct device_times *times,
                                     struct error *error)
{
    struct device_memory *memories[MACHINE_ARGUMENTS] = {
        params->control, NULL, params->result, params->inner
    };
    enum vdbq_status status;

    memcpy(memories + MACHINE_ARGUMENTS - LAUNCH_PIECES, params->pieces,
           sizeof params->pieces);
    status = arguments_set(machine->run, memories, params->progress_at, error);
    if (status != VDBQ_OK)
        return status;
    return kernel_start(machine, device_launch_groups(params), queue, after,
                        event, times, error);
}
