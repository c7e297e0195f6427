/* SPDX-License-Identifier: MIT */
/*
 * Launches of the machine on an OpenCL device: its kernels put into the queue
 * with their arguments, waited for or not.
 */
#include "base/os.h"
#include "device/opencl.h"

/* Groups that put rows into order, about: each adds up the descriptors before
 * its own, so there must not be too many. */
enum { ORDER_GROUPS = 1024 };

/* Sets a kernel's arguments, from 0 on, to `count` memories; where there is
 * none the kernel reads none, and gets the first. */
static enum vdbq_status arguments_set(cl_kernel kernel,
                                      struct device_memory *const *memories,
                                      unsigned count, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        const struct device_memory *memory =
            memories[i] != NULL ? memories[i] : memories[0];
        cl_mem buffer = ((const struct opencl_memory *)memory)->buffer;
        status = opencl_check(opencl_calls.SetKernelArg(
                                  kernel, i, sizeof buffer, &buffer),
                              "clSetKernelArg", error);
    }
    return status;
}

/* Waits for a kernel's first launch. POCL finishes a kernel then: what that
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

/* Puts `groups` groups of a kernel into the queue. */
static enum vdbq_status kernel_start(const struct opencl_machine *machine,
                                     cl_kernel kernel, uint64_t groups,
                                     bool *warm, cl_event after,
                                     cl_event *event,
                                     struct device_times *times,
                                     struct error *error)
{
    struct opencl *opencl = (struct opencl *)machine->head.device;
    size_t local = machine->variant.group, global = groups * local;
    uint64_t start;
    enum vdbq_status status;

    if (!*warm && after != NULL)
        opencl_calls.Finish(opencl->queue_in);
    start = os_time_ns();
    status = opencl_check(opencl_calls.EnqueueNDRangeKernel(
                              opencl->queue, kernel, 1, NULL, &global, &local,
                              after != NULL, after != NULL ? &after : NULL,
                              event),
                          "clEnqueueNDRangeKernel", error);
    if (status != VDBQ_OK)
        return status;
    times->launches++;
    if (!*warm)
        status = warm_up(*event, start, times, error);
    *warm = true;
    return status;
}

enum vdbq_status opencl_launch_start(struct opencl_machine *machine,
                                     const struct device_launch *params,
                                     cl_event after, cl_event *event,
                                     struct device_times *times,
                                     struct error *error)
{
    struct device_memory *const memories[] = { params->control, params->data,
                                               params->result,
                                               params->descriptors,
                                               params->counters };
    uint64_t group_rows = (uint64_t)machine->head.shape.step_rows *
                          params->launch->steps_per_item;
    uint64_t rows = params->launch->row_end - params->launch->row_first;
    enum vdbq_status status = arguments_set(machine->run, memories, 5, error);

    if (status != VDBQ_OK)
        return status;
    return kernel_start(machine, machine->run,
                        (rows + group_rows - 1) / group_rows,
                        &machine->run_warm, after, event, times, error);
}

enum vdbq_status opencl_order_start(struct opencl_machine *machine,
                                    const struct device_launch *params,
                                    struct device_memory *ordered,
                                    unsigned steps, cl_event *event,
                                    struct device_times *times,
                                    struct error *error)
{
    struct device_memory *const memories[] = { params->control,
                                               params->result, ordered,
                                               params->descriptors };
    cl_uint group_steps = steps / ORDER_GROUPS + 1;
    const cl_uint counts[] = { steps, group_steps };
    enum vdbq_status status = arguments_set(machine->order, memories, 4,
                                            error);

    for (cl_uint i = 0; i < 2 && status == VDBQ_OK; i++)
        status = opencl_check(opencl_calls.SetKernelArg(
                                  machine->order, 4 + i, sizeof counts[i],
                                  &counts[i]),
                              "clSetKernelArg", error);
    if (status != VDBQ_OK)
        return status;
    return kernel_start(machine, machine->order,
                        (steps + group_steps - 1) / group_steps,
                        &machine->order_warm, NULL, event, times, error);
}

/* --------------------------------------------------------- waited for -- */

/* Sets the counters; the launch that follows in the queue finds them so. */
static enum vdbq_status counters_reset(struct opencl *opencl,
                                       struct device_memory *counters,
                                       struct error *error)
{
    static const u32 start[COUNTERS] = { [COUNTER_ROWS] = 0,
                                         [COUNTER_FAULT] = NO_FAULT };
    cl_mem buffer = ((struct opencl_memory *)counters)->buffer;

    return opencl_check(opencl_calls.EnqueueWriteBuffer(
                            opencl->queue, buffer, CL_FALSE, 0, sizeof start,
                            start, 0, NULL, NULL),
                        "clEnqueueWriteBuffer", error);
}

/* Waits for a kernel that was put into the queue, if one was. */
static enum vdbq_status kernel_wait(enum vdbq_status status, cl_event event,
                                    struct device_times *times,
                                    struct error *error)
{
    if (status == VDBQ_OK)
        return opencl_wait(CL_SUCCESS, "clEnqueueNDRangeKernel", event,
                           &times->kernel_ns, error);
    if (event != NULL)
        opencl_calls.ReleaseEvent(event);
    return status;
}

enum vdbq_status opencl_launch(struct device_machine *machine,
                               const struct device_launch *params,
                               struct device_times *times,
                               struct error *error)
{
    cl_event event = NULL;
    enum vdbq_status status =
        counters_reset((struct opencl *)machine->device, params->counters,
                       error);

    if (status != VDBQ_OK ||
        params->launch->row_end == params->launch->row_first)
        return status;
    status = opencl_launch_start((struct opencl_machine *)machine, params,
                                 NULL, &event, times, error);
    return kernel_wait(status, event, times, error);
}

enum vdbq_status opencl_order(struct device_machine *machine,
                              const struct device_launch *params,
                              struct device_memory *ordered, unsigned steps,
                              struct device_times *times,
                              struct error *error)
{
    cl_event event = NULL;
    enum vdbq_status status =
        opencl_order_start((struct opencl_machine *)machine, params, ordered,
                           steps, &event, times, error);
    return kernel_wait(status, event, times, error);
}
