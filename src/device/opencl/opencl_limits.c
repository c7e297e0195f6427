/* SPDX-License-Identifier: MIT */
/*
 * What limits.c asks of an OpenCL device: its memory read by a kernel that
 * does nothing else, and bytes copied both ways at once.
 */
#include <stdio.h>

#include "base/os/os.h"
#include "device/cache/keep.h"
#include "device/opencl/opencl.h"

/* The text of limits.cl, which tools/embed.py made. */
extern const char vdbq_source_limits[];

/* A kernel over a whole block. */
struct sweep {
    cl_program program;
    cl_kernel kernel;
    cl_mem found;
};

static enum vdbq_status sweep_build(struct opencl *opencl,
                                    const struct kind_reading *way,
                                    struct sweep *sweep, struct error *error);
static enum vdbq_status sweep_run(const struct opencl_memory *memory,
                                  const struct kind_reading *way,
                                  const struct sweep *sweep, uint64_t *time_ns,
                                  struct error *error);

enum vdbq_status opencl_sweep(struct device_memory *memory, unsigned runs,
                              uint64_t *best_ns, struct error *error)
{
    struct opencl *opencl = (struct opencl *)memory->device;
    const struct kind_reading *way = &opencl->found.kind->reading;
    struct sweep sweep = { 0 };
    enum vdbq_status status = sweep_build(opencl, way, &sweep, error);

    *best_ns = UINT64_MAX;
    for (unsigned i = 0; i < runs && status == VDBQ_OK; i++) {
        uint64_t ns = 0;
        status =
            sweep_run((struct opencl_memory *)memory, way, &sweep, &ns, error);
        if (ns < *best_ns)
            *best_ns = ns;
    }
    if (sweep.found != NULL)
        opencl_calls.ReleaseMemObject(sweep.found);
    if (sweep.kernel != NULL)
        opencl_calls.ReleaseKernel(sweep.kernel);
    if (status == VDBQ_OK)
        keep_launched(sweep.program);
    opencl_program_release(sweep.program);
    return status;
}

static enum vdbq_status sweep_build(struct opencl *opencl,
                                    const struct kind_reading *way,
                                    struct sweep *sweep, struct error *error)
{
    const char *strings[] = { vdbq_source_limits };
    char options[OPENCL_OPTIONS_MAX + 32];
    enum vdbq_status status;
    cl_int code;

    snprintf(options, sizeof options, "%s -DVDBQ_READ=%s", opencl->options,
             way->type);
    status = opencl_build(opencl, strings, 1, options, &sweep->program, error);
    if (status != VDBQ_OK)
        return status;
    sweep->kernel =
        opencl_calls.CreateKernel(sweep->program, "vdbq_read_all", &code);
    status = opencl_check(code, "clCreateKernel", error);
    if (status != VDBQ_OK)
        return status;
    sweep->found = opencl_calls.CreateBuffer(opencl->context, CL_MEM_READ_WRITE,
                                             sizeof(cl_ulong), NULL, &code);
    return opencl_check(code, "clCreateBuffer", error);
}

static enum vdbq_status arguments_set(const struct opencl_memory *memory,
                                      const struct sweep *sweep,
                                      const cl_ulong numbers[4],
                                      struct error *error)
{
    cl_int code = opencl_calls.SetKernelArg(
        sweep->kernel, 0, sizeof memory->buffer, &memory->buffer);

    for (cl_uint i = 0; i < 4 && code == CL_SUCCESS; i++)
        code = opencl_calls.SetKernelArg(sweep->kernel, 1 + i, sizeof *numbers,
                                         &numbers[i]);
    if (code == CL_SUCCESS)
        code = opencl_calls.SetKernelArg(sweep->kernel, 5, sizeof sweep->found,
                                         &sweep->found);
    return opencl_check(code, "clSetKernelArg", error);
}

static enum vdbq_status sweep_run(const struct opencl_memory *memory,
                                  const struct kind_reading *way,
                                  const struct sweep *sweep, uint64_t *time_ns,
                                  struct error *error)
{
    struct opencl *opencl = (struct opencl *)memory->head.device;
    size_t items = memory->head.size_bytes / (way->width * way->reads);
    bool walks = way->group == 1;
    const cl_ulong numbers[] = { walks ? way->reads : 1, walks ? 1 : items,
                                 way->reads, UINT64_MAX };
    enum vdbq_status status = arguments_set(memory, sweep, numbers, error);
    cl_event event = NULL;
    cl_int code;

    if (status != VDBQ_OK)
        return status;
    code = opencl_calls.EnqueueNDRangeKernel(opencl->queues.run, sweep->kernel,
                                             1, NULL, &items, &way->group, 0,
                                             NULL, &event);
    return opencl_wait(code, "clEnqueueNDRangeKernel", event, time_ns, error);
}

enum vdbq_status opencl_exchange(struct device_memory *memory, void *bytes,
                                 uint64_t size, uint64_t *time_ns,
                                 struct error *error)
{
    struct opencl *opencl = (struct opencl *)memory->device;
    cl_mem buffer = ((struct opencl_memory *)memory)->buffer;
    uint64_t start = os_time_ns();
    enum vdbq_status status = opencl_check(
        opencl_calls.EnqueueWriteBuffer(opencl->queues.in, buffer, CL_FALSE, 0,
                                        size, bytes, 0, NULL, NULL),
        "clEnqueueWriteBuffer", error);

    if (status == VDBQ_OK)
        status = opencl_check(opencl_calls.EnqueueReadBuffer(
                                  opencl->queues.out, buffer, CL_FALSE, size,
                                  size, (char *)bytes + size, 0, NULL, NULL),
                              "clEnqueueReadBuffer", error);
    opencl_calls.Flush(opencl->queues.in);
    opencl_calls.Flush(opencl->queues.out);
    opencl_calls.Finish(opencl->queues.in);
    opencl_calls.Finish(opencl->queues.out);
    *time_ns += os_time_ns() - start;
    return status;
}
