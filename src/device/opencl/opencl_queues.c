/* SPDX-License-Identifier: MIT */
/*
 * The queues of an OpenCL device, in two sets: one keeps the times of what it
 * runs, which costs the host time with each command (H200: 7.5 us, else 2);
 * the other does not, and is in use until somebody asks for times. The sets
 * change places when all that was started is done, so that commands of both
 * run in the order in which they came.
 */
#include "device/opencl/opencl.h"

static enum vdbq_status queue_open(struct opencl *opencl,
                                   cl_command_queue_properties properties,
                                   cl_command_queue *queue, struct error *error)
{
    cl_int code;

    *queue = opencl_calls.CreateCommandQueue(opencl->context, opencl->id,
                                             properties, &code);
    return opencl_check(code, "clCreateCommandQueue", error);
}

enum vdbq_status opencl_queues_open(struct opencl *opencl, bool keeps_times,
                                    struct opencl_queues *queues,
                                    struct error *error)
{
    cl_command_queue_properties properties =
        keeps_times ? CL_QUEUE_PROFILING_ENABLE : 0;
    enum vdbq_status status =
        queue_open(opencl, properties, &queues->run, error);

    if (status == VDBQ_OK && opencl->found.kind->runs_beside)
        status = queue_open(opencl, properties, &queues->beside, error);
    if (status == VDBQ_OK)
        status = queue_open(opencl, properties, &queues->in, error);
    if (status == VDBQ_OK)
        status = queue_open(opencl, properties, &queues->out, error);
    if (status != VDBQ_OK)
        opencl_queues_close(queues);
    return status;
}

static void queue_close(cl_command_queue queue)
{
    if (queue == NULL)
        return;
    opencl_calls.Finish(queue);
    opencl_calls.ReleaseCommandQueue(queue);
}

void opencl_queues_close(struct opencl_queues *queues)
{
    queue_close(queues->in);
    queue_close(queues->run);
    queue_close(queues->beside);
    queue_close(queues->out);
    *queues = (struct opencl_queues){ 0 };
}

void opencl_queues_wait(const struct opencl_queues *queues)
{
    opencl_calls.Finish(queues->in);
    opencl_calls.Finish(queues->run);
    if (queues->beside != NULL)
        opencl_calls.Finish(queues->beside);
    opencl_calls.Finish(queues->out);
}

enum vdbq_status opencl_times_keep(struct device *device, bool keep,
                                   struct error *error)
{
    struct opencl *opencl = (struct opencl *)device;
    struct opencl_queues used = opencl->queues;
    enum vdbq_status status = VDBQ_OK;

    if (opencl->others.run == NULL)
        status = opencl_queues_open(opencl, keep, &opencl->others, error);
    if (status != VDBQ_OK)
        return status;
    opencl_queues_wait(&used);
    opencl->queues = opencl->others;
    opencl->others = used;
    opencl->keeps_times = keep;
    return VDBQ_OK;
}
