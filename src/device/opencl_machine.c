/* SPDX-License-Identifier: MIT */
/*
 * The machine on an OpenCL device: its shape and its build. A build is told
 * apart by its kind, the registers it has room for, and, when specialised,
 * its text; one that is there is not built again. No text of the user's ever
 * gets into the source or the options.
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
    CPU_TILE_MIN = 128,
    CPU_TILE_MAX = 2048,
    CPU_REGISTER_BYTES = 256 << 10, /* of a tile; a program uses a part */
    CPU_ITEM_ROWS = 1 << 16,        /* that one item walks at most       */
    CPU_ITEMS_PER_CORE = 4          /* at least, of a full tablet        */
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
