/* SPDX-License-Identifier: MIT */
/*
 * The calls of job.h: checks what every kind of device would check, and hands
 * on to the kind's own function.
 */
#include "device/job.h"

#include <assert.h>

#include "device/backend.h"

enum vdbq_status device_job_create(struct device *device,
                                   struct device_job **job, struct error *error)
{
    *job = NULL;
    return device->backend->job_create(device, job, error);
}

void device_job_destroy(struct device_job *job)
{
    if (job != NULL)
        job->device->backend->job_destroy(job);
}

/* Whether a copy's bytes lie in memory that the device holds. */
__attribute__((unused)) /* without asserts */
static bool
is_sound(const struct device_copy *copy)
{
    const struct device_memory *memory = copy->memory;
    return copy->size > 0 && copy->size <= memory->size_bytes
           && copy->offset <= memory->size_bytes - copy->size
           && (memory->host == NULL
               || memory->device->facts.kind->kernels_use_held);
}

/* Whether a kernel may use the memory: the host must have given it. */
__attribute__((unused)) /* without asserts */
static bool
is_given(const struct device_memory *memory)
{
    return memory == NULL || memory->host == NULL
           || memory->device->facts.kind->kernels_use_held;
}

uint32_t device_launch_groups(const struct device_launch *params)
{
    const struct launch_head *launch = params->launch;
    return (launch->steps + launch->steps_per_item - 1)
           / launch->steps_per_item;
}

enum vdbq_status device_job_start(struct device_job *job,
                                  const struct device_job_params *params,
                                  struct error *error)
{
    for (size_t i = 0; i < params->in_count; i++)
        assert(is_sound(&params->in[i]));
    for (unsigned i = 0; i < LAUNCH_MORSELS; i++)
        assert(is_given(params->launch.morsels[i]));
    assert(is_given(params->launch.build_side));
    assert(is_given(params->launch.result));
    job->times = (struct device_times){ 0 };
    return job->device->backend->job_start(job, params, error);
}

bool device_job_has_run(struct device_job *job)
{
    return job->device->backend->job_has_run(job);
}

enum vdbq_status device_job_run(struct device_job *job, struct error *error)
{
    return job->device->backend->job_run(job, error);
}

enum vdbq_status device_job_collect(struct device_job *job,
                                    const struct device_copy *copies,
                                    size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++)
        assert(is_sound(&copies[i]));
    return job->device->backend->job_collect(job, copies, count, error);
}

enum vdbq_status device_job_wait(struct device_job *job,
                                 struct device_times *times,
                                 struct error *error)
{
    enum vdbq_status status = job->device->backend->job_wait(job, error);
    times->kernel_ns += job->times.kernel_ns;
    times->transfer_ns += job->times.transfer_ns;
    times->compile_ns += job->times.compile_ns;
    times->bytes_in += job->times.bytes_in;
    times->bytes_out += job->times.bytes_out;
    times->launches += job->times.launches;
    times->builds += job->times.builds;
    times->builds_cached += job->times.builds_cached;
    job->times = (struct device_times){ 0 };
    return status;
}
