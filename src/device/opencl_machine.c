/* SPDX-License-Identifier: MIT */
/*
 * The machine on an OpenCL device: its shape, its build, and its launches.
 * A build is told apart by its kind, the registers it has room for, and, when
 * specialised, its text; one that is there is not built again. No text of the
 * user's ever gets into the source or the options.
 */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/os.h"
#include "cl/opcodes.h"
#include "cl/tablet.h"
#include "device/opencl.h"
#include "device/quirks.h"

/* The text of cl/ops.cl and cl/machine.cl, which tools/embed.py made. */
extern const char vdbq_source_ops[];
extern const char vdbq_source_machine[];

enum {
    GPU_GROUP = 256,
    GPU_TILE = 4,
    ORDER_GROUPS = 1024,            /* that put rows into order, about   */
    CPU_TILE_MIN = 128,
    CPU_TILE_MAX = 2048,
    CPU_REGISTER_BYTES = 256 << 10, /* of a tile; a program uses a part */
    CPU_ITEM_ROWS = 1 << 16,        /* that one item walks at most       */
    CPU_ITEMS_PER_CORE = 4          /* at least, of a full tablet        */
};

/* What a build is made for. */
struct variant {
    enum device_build build;
    unsigned registers; /* room for so many */
    unsigned group;
    unsigned tile;
};

struct opencl_machine {
    struct device_machine head;
    struct variant variant;
    char *body;      /* of a specialised build, else NULL */
    uint64_t hash;   /* of the body                       */
    cl_program program;
    cl_kernel run;   /* vdbq_machine */
    cl_kernel order; /* vdbq_order   */
    bool run_warm;   /* was launched: the driver finished compiling it */
    bool order_warm;
};

static struct variant variant_of(const struct opencl *opencl,
                                 const struct device_machine_params *params);
static struct opencl_machine *machine_find(const struct opencl *opencl,
                                           const struct variant *variant,
                                           const char *body);
static struct opencl_machine *machine_create(struct opencl *opencl,
                                             const struct variant *variant,
                                             const char *body);
static void machine_destroy(struct opencl_machine *machine);
static enum vdbq_status machine_build(struct opencl *opencl,
                                      struct opencl_machine *machine,
                                      struct error *error);

enum vdbq_status opencl_machine(struct device *device,
                                const struct device_machine_params *params,
                                struct device_machine **machine,
                                struct device_times *times,
                                struct error *error)
{
    struct opencl *opencl = (struct opencl *)device;
    struct variant variant = variant_of(opencl, params);
    struct opencl_machine *made = machine_find(opencl, &variant, params->body);
    uint64_t start = os_time_ns();
    enum vdbq_status status = VDBQ_OK;

    if (made == NULL) {
        made = machine_create(opencl, &variant, params->body);
        if (made == NULL)
            return error_no_memory(error);
        status = machine_build(opencl, made, error);
        if (status == VDBQ_OK &&
            !vector_append(&opencl->machines, &made, 1))
            status = error_no_memory(error);
        if (status != VDBQ_OK) {
            machine_destroy(made);
            return status;
        }
        times->compile_ns += os_time_ns() - start;
    }
    *machine = &made->head;
    return VDBQ_OK;
}

void opencl_machines_finish(struct opencl *opencl)
{
    struct opencl_machine **machines =
        VECTOR_ITEMS(&opencl->machines, struct opencl_machine *);

    for (size_t i = 0; i < opencl->machines.count; i++)
        machine_destroy(machines[i]);
    vector_finish(&opencl->machines);
}

/* -------------------------------------------------------------- shape -- */

/* Registers of the interpreted build that serves a program of `wanted`: few
 * classes, so that few builds serve all programs. */
static unsigned register_class(unsigned wanted)
{
    unsigned class = 16;

    while (class < wanted && class < VDBQ_REGISTERS_MAX)
        class *= 4;
    return class;
}

/* Rows of a CPU's tile: as many as keep the registers in the cache. */
static unsigned cpu_tile(unsigned registers)
{
    unsigned tile = CPU_TILE_MAX;

    while (tile > CPU_TILE_MIN &&
           (uint64_t)tile * registers * sizeof(i64) > CPU_REGISTER_BYTES)
        tile /= 2;
    return tile;
}

static struct variant variant_of(const struct opencl *opencl,
                                 const struct device_machine_params *params)
{
    struct variant variant = { .build = params->build,
                               .registers = params->registers };

    if (params->build == BUILD_INTERPRETED)
        variant.registers = register_class(params->registers);
    if (variant.registers == 0)
        variant.registers = 1;
    variant.group = opencl->found.is_cpu ? 1 : GPU_GROUP;
    if (opencl->found.is_cpu)
        variant.tile = cpu_tile(variant.registers);
    else
        variant.tile = GPU_TILE;
    return variant;
}

/* How a group best walks: on a CPU long ways, but such that each core gets
 * some of a full tablet; on a GPU one step (H200, 64M rows of 3 columns,
 * specialised: tiles of 1, 2, 4 and 8 rows take 0.59, 0.46, 0.31, 0.31 ms at
 * 10 % kept; four steps instead of one gain 4 %, but lose 20 % at 1M rows). */
static struct machine_shape shape_of(const struct opencl *opencl,
                                     const struct variant *variant)
{
    unsigned step_rows = variant->group * variant->tile;
    unsigned rows = TABLET_ROWS_MAX /
                    (opencl->head.facts.cores * CPU_ITEMS_PER_CORE);
    unsigned steps;

    if (rows > CPU_ITEM_ROWS)
        rows = CPU_ITEM_ROWS;
    steps = variant->group == 1 ? rows / step_rows : 1;
    return (struct machine_shape){ .step_rows = step_rows,
                                   .steps_per_item = steps > 0 ? steps : 1,
                                   .ordered = variant->group == 1 };
}

/* -------------------------------------------------------------- build -- */

static uint64_t body_hash(const char *body)
{
    return body != NULL ? XXH3_64bits(body, strlen(body)) : 0;
}

static struct opencl_machine *machine_find(const struct opencl *opencl,
                                           const struct variant *variant,
                                           const char *body)
{
    struct opencl_machine **machines =
        VECTOR_ITEMS(&opencl->machines, struct opencl_machine *);
    uint64_t hash = body_hash(body);

    for (size_t i = 0; i < opencl->machines.count; i++) {
        struct opencl_machine *machine = machines[i];
        if (machine->hash == hash &&
            machine->variant.build == variant->build &&
            machine->variant.registers == variant->registers &&
            (body == NULL || strcmp(machine->body, body) == 0))
            return machine;
    }
    return NULL;
}

static struct opencl_machine *machine_create(struct opencl *opencl,
                                             const struct variant *variant,
                                             const char *body)
{
    struct opencl_machine *machine = memory_zeroed(1, sizeof *machine);

    if (machine == NULL)
        return NULL;
    machine->head.device = &opencl->head;
    machine->head.shape = shape_of(opencl, variant);
    machine->variant = *variant;
    machine->hash = body_hash(body);
    if (body == NULL)
        return machine;
    machine->body = memory_resize(NULL, strlen(body) + 1);
    if (machine->body == NULL) {
        memory_release(machine);
        return NULL;
    }
    memcpy(machine->body, body, strlen(body) + 1);
    return machine;
}

static void machine_destroy(struct opencl_machine *machine)
{
    if (machine->run != NULL)
        opencl_calls.ReleaseKernel(machine->run);
    if (machine->order != NULL)
        opencl_calls.ReleaseKernel(machine->order);
    if (machine->program != NULL)
        opencl_calls.ReleaseProgram(machine->program);
    memory_release(machine->body);
    memory_release(machine);
}

static enum vdbq_status machine_build(struct opencl *opencl,
                                      struct opencl_machine *machine,
                                      struct error *error)
{
    const struct variant *variant = &machine->variant;
    const char *body = machine->body;
    const char *strings[] = { vdbq_source_ops,
                              body != NULL ? "#line 1 \"program\"\n" : "",
                              body != NULL ? body : "", vdbq_source_machine };
    char options[256];
    cl_int code;
    enum vdbq_status status;

    snprintf(options, sizeof options,
             "-cl-std=CL1.2%s%s -DVDBQ_TILE=%u -DVDBQ_GROUP=%u "
             "-DVDBQ_REGISTERS=%u%s",
             opencl->found.exact_option
                 ? " -cl-fp32-correctly-rounded-divide-sqrt"
                 : "",
             quirks_of(opencl->found.platform_name)->options,
             variant->tile, variant->group, variant->registers,
             body != NULL ? " -DVDBQ_SPECIALISED" : "");
    status = opencl_build(opencl, strings, sizeof strings / sizeof *strings,
                          options, &machine->program, error);
    if (status != VDBQ_OK)
        return status;
    machine->run = opencl_calls.CreateKernel(machine->program, "vdbq_machine",
                                             &code);
    status = opencl_check(code, "clCreateKernel", error);
    if (status != VDBQ_OK)
        return status;
    machine->order = opencl_calls.CreateKernel(machine->program, "vdbq_order",
                                               &code);
    return opencl_check(code, "clCreateKernel", error);
}

/* ------------------------------------------------------------- launch -- */

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

/* Runs `groups` groups of a kernel and waits. POCL finishes a kernel when it
 * is first launched: what that took counts as compilation. */
static enum vdbq_status kernel_run(const struct opencl_machine *machine,
                                   cl_kernel kernel, uint64_t groups,
                                   bool *warm, struct device_times *times,
                                   struct error *error)
{
    struct opencl *opencl = (struct opencl *)machine->head.device;
    size_t local = machine->variant.group, global = groups * local;
    uint64_t start = os_time_ns(), kernel_ns = 0, all_ns;
    cl_event event = NULL;
    cl_int code = opencl_calls.EnqueueNDRangeKernel(
        opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event);
    enum vdbq_status status = opencl_wait(code, "clEnqueueNDRangeKernel",
                                          event, &kernel_ns, error);

    all_ns = os_time_ns() - start;
    times->kernel_ns += kernel_ns;
    times->launches++;
    if (!*warm && all_ns > kernel_ns)
        times->compile_ns += all_ns - kernel_ns;
    *warm = true;
    return status;
}

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

enum vdbq_status opencl_launch(struct device_machine *machine,
                               const struct device_launch *params,
                               struct device_times *times,
                               struct error *error)
{
    struct opencl_machine *opened = (struct opencl_machine *)machine;
    struct device_memory *const memories[] = { params->control, params->data,
                                               params->result,
                                               params->descriptors,
                                               params->counters };
    uint64_t group_rows = (uint64_t)machine->shape.step_rows *
                          params->launch->steps_per_item;
    uint64_t rows = params->launch->row_end - params->launch->row_first;
    enum vdbq_status status =
        counters_reset((struct opencl *)machine->device, params->counters,
                       error);

    if (status == VDBQ_OK)
        status = arguments_set(opened->run, memories, 5, error);
    if (status != VDBQ_OK || rows == 0)
        return status;
    return kernel_run(opened, opened->run,
                      (rows + group_rows - 1) / group_rows,
                      &opened->run_warm, times, error);
}

enum vdbq_status opencl_order(struct device_machine *machine,
                              const struct device_launch *params,
                              struct device_memory *ordered, unsigned steps,
                              struct device_times *times,
                              struct error *error)
{
    struct opencl_machine *opened = (struct opencl_machine *)machine;
    struct device_memory *const memories[] = { params->control,
                                               params->result, ordered,
                                               params->descriptors };
    cl_uint group_steps = steps / ORDER_GROUPS + 1;
    const cl_uint counts[] = { steps, group_steps };
    enum vdbq_status status = arguments_set(opened->order, memories, 4,
                                            error);

    for (cl_uint i = 0; i < 2 && status == VDBQ_OK; i++)
        status = opencl_check(opencl_calls.SetKernelArg(
                                  opened->order, 4 + i, sizeof counts[i],
                                  &counts[i]),
                              "clSetKernelArg", error);
    if (status != VDBQ_OK)
        return status;
    return kernel_run(opened, opened->order,
                      (steps + group_steps - 1) / group_steps,
                      &opened->order_warm, times, error);
}
