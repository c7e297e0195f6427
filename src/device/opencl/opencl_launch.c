/* SPDX-License-Identifier: MIT */
/*
 * Launches of the machine on an OpenCL device: its kernel put into the queue
 * with its arguments.
 */
#include "device/opencl/opencl.h"

enum vdbq_status opencl_arguments(struct opencl_machine *machine,
                                  const cl_mem buffers[MACHINE_BUFFERS],
                                  uint64_t progress_at, struct error *error)
{
    const cl_ulong at = progress_at;
    enum vdbq_status status = VDBQ_OK;

    for (cl_uint i = 0; i < MACHINE_BUFFERS && status == VDBQ_OK; i++)
        status =
            opencl_check(opencl_calls.SetKernelArg(
                             machine->run, i, sizeof *buffers, &buffers[i]),
                         "clSetKernelArg", error);
    return status != VDBQ_OK
               ? status
               : opencl_check(opencl_calls.SetKernelArg(machine->run,
                                                        MACHINE_BUFFERS,
                                                        sizeof at, &at),
                              "clSetKernelArg", error);
}

/* The buffer of a memory; where there is none the kernel reads none, and gets
 * the control block's. */
static cl_mem argument_of(const struct device_launch *params,
                          const struct device_memory *memory)
{
    const struct device_memory *any = memory != NULL ? memory : params->control;

    return ((const struct opencl_memory *)any)->buffer;
}

/* Puts `groups` groups of the machine into a queue, or as many more as its
 * launches have at least: those find no step. */
static enum vdbq_status
kernel_start(struct opencl_machine *machine, uint64_t groups,
             cl_command_queue queue, const struct opencl_after *after,
             cl_event *event, struct device_times *times, struct error *error)
{
    size_t local = machine->variant.group;
    size_t global =
        (groups > machine->groups_least ? groups : machine->groups_least)
        * local;
    enum vdbq_status status = opencl_check(
        opencl_calls.EnqueueNDRangeKernel(
            queue, machine->run, 1, NULL, &global, &local, after->count,
            after->count > 0 ? after->events : NULL, event),
        "clEnqueueNDRangeKernel", error);

    times->launches += status == VDBQ_OK;
    return status;
}

enum vdbq_status
opencl_launch_start(struct opencl_machine *machine,
                    const struct device_launch *params, cl_command_queue queue,
                    const struct opencl_after *after, cl_event *event,
                    struct device_times *times, struct error *error)
{
    cl_mem buffers[MACHINE_BUFFERS] = { argument_of(params, params->control),
                                        argument_of(params, params->result),
                                        argument_of(params,
                                                    params->build_side) };
    enum vdbq_status status;

    for (unsigned i = 0; i < LAUNCH_MORSELS; i++)
        buffers[MACHINE_BUFFERS - LAUNCH_MORSELS + i] =
            argument_of(params, params->morsels[i]);
    status = opencl_arguments(machine, buffers, params->progress_at, error);
    if (status != VDBQ_OK)
        return status;
    return kernel_start(machine, device_launch_groups(params), queue, after,
                        event, times, error);
}
