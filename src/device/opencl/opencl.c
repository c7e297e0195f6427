/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes an OpenCL device: its part where only some compute units
 * are wanted, its context, what its builds are given. Reads the times of its
 * events.
 */
#include "device/opencl/opencl.h"

#include <assert.h>
#include <stdio.h>

#include "base/memory.h"
#include "device/opencl/quirks.h"

static enum vdbq_status part_open(struct opencl *opencl, unsigned cores,
                                  struct error *error);
static enum vdbq_status context_open(struct opencl *opencl,
                                     struct error *error);
static void facts_fill(struct opencl *opencl, unsigned cores);
static void options_fill(struct opencl *opencl);
static void opencl_close(struct device *device);

static const struct device_backend backend = {
    .close = opencl_close,
    .memory_create = opencl_memory_create,
    .memory_wrap = opencl_memory_wrap,
    .memory_over = opencl_memory_over,
    .zero_copies = opencl_zero_copies,
    .memory_destroy = opencl_memory_destroy,
    .memory_give = opencl_memory_give,
    .memory_take = opencl_memory_take,
    .write = opencl_write,
    .read = opencl_read,
    .machine_find = opencl_machine_find,
    .machine_build = opencl_machine_build,
    .machine_is_kept = opencl_machine_is_kept,
    .machine_keep = opencl_machine_keep,
    .sweep = opencl_sweep,
    .exchange = opencl_exchange,
    .times_keep = opencl_times_keep,
    .job_create = opencl_job_create,
    .job_destroy = opencl_job_destroy,
    .job_start = opencl_job_start,
    .job_has_run = opencl_job_has_run,
    .job_run = opencl_job_run,
    .job_collect = opencl_job_collect,
    .job_wait = opencl_job_wait,
    .call = opencl_call,
    .put = opencl_put,
    .fill = opencl_fill,
    .calls_follow = opencl_calls_follow,
    .calls_wait = opencl_calls_wait,
};

enum vdbq_status opencl_open(const struct found_device *found,
                             const struct device_params *params,
                             struct device **device, struct error *error)
{
    struct opencl *opencl = memory_zeroed(1, sizeof *opencl);
    enum vdbq_status status;
    bool left_out = false;

    if (opencl == NULL)
        return error_no_memory(error);
    opencl->head.backend = &backend;
    opencl->found = *found;
    opencl->id = found->id;
    opencl->machines = VECTOR(struct opencl_machine *);
    opencl->apart = VECTOR(struct apart *);
    opencl->calls = VECTOR(struct opencl_call);
    opencl->head.kept = VECTOR(struct device_memory *);
    status = part_open(opencl, params->cores, error);
    if (status == VDBQ_OK)
        status = context_open(opencl, error);
    if (status == VDBQ_OK)
        status = opencl_queues_open(opencl, false, &opencl->queues, error);
    if (status == VDBQ_OK) {
        facts_fill(opencl, params->cores);
        opencl_tuning_init(opencl);
        opencl->head.known.tuning.limits.shares_memory =
            opencl->head.facts.shares_memory;
        options_fill(opencl);
        left_out = params->tried_only && !opencl_is_tried(opencl);
        if (!left_out)
            status = opencl_probe(opencl, error);
    }
    if (status != VDBQ_OK || left_out) {
        known_finish(&opencl->head.known);
        opencl_close(&opencl->head);
        return status;
    }
    *device = &opencl->head;
    return VDBQ_OK;
}

/* Takes `cores` compute units of the device, where it has more. */
static enum vdbq_status part_open(struct opencl *opencl, unsigned cores,
                                  struct error *error)
{
    const struct found_device *found = &opencl->found;

    if (cores == 0 || cores == found->units)
        return VDBQ_OK;
    if (cores > found->units)
        return error_set(error, VDBQ_DEVICE,
                         "%u cores were asked for, but "
                         "device '%s' has %u",
                         cores, found->name, found->units);
    return opencl_part(found, cores, &opencl->id, error);
}

/* One context a device. */
static enum vdbq_status context_open(struct opencl *opencl, struct error *error)
{
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)opencl->found.platform, 0
    };
    cl_int code;

    opencl->context = opencl_calls.CreateContext(properties, 1, &opencl->id,
                                                 NULL, NULL, &code);
    return opencl_check(code, "clCreateContext", error);
}

/* What others may know of the device. */
static void facts_fill(struct opencl *opencl, unsigned cores)
{
    const struct found_device *found = &opencl->found;

    opencl->head.facts = (struct device_facts){
        .name = found->name,
        .kind = found->kind,
        .shares_memory = found->shares_memory,
        .cores = cores > 0 ? cores : found->units,
        .memory_bytes = found->memory_bytes,
        .buffer_max_bytes = found->buffer_max_bytes,
    };
}

/* What every build is given before the device was tried. */
static void options_fill(struct opencl *opencl)
{
    const struct found_device *found = &opencl->found;
    int length = snprintf(
        opencl->options, sizeof opencl->options, "-cl-std=CL1.2%s%s",
        found->exact_option ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
        quirks_of(found->platform_name)->options);

    assert(length > 0 && (size_t)length < sizeof opencl->options);
    opencl->options_plain = (size_t)length;
}

/* Also closes a device that was opened in part. */
static void opencl_close(struct device *device)
{
    struct opencl *opencl = (struct opencl *)device;

    opencl_apart_finish(opencl);
    device_kept_finish(device);
    opencl_kernels_finish(opencl);
    opencl_machines_finish(opencl);
    opencl_relay_finish(opencl);
    device_memory_destroy(opencl->staging);
    device_memory_destroy(opencl->put);
    opencl_queues_close(&opencl->queues);
    opencl_queues_close(&opencl->others);
    if (opencl->context != NULL)
        opencl_calls.ReleaseContext(opencl->context);
    memory_release(opencl);
}
