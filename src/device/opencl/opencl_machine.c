/* SPDX-License-Identifier: MIT */
/*
 * The machine on an OpenCL device: its shape and its build. A build is told
 * apart by its kind, the registers it has room for, the program's axes, and,
 * when specialised, its text; one that is there is not built again. No text of
 * the user's ever gets into the source or the options.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "cl/opcodes.h"
#include "cl/tablet.h"
#include "device/cache/cache.h"
#include "device/cache/keep.h"
#include "device/opencl/opencl.h"
#include "device/opencl/quirks.h"

/* The text of cl/ops.cl and cl/machine.cl, which tools/embed.py made. */
extern const char vdbq_source_ops[];
extern const char vdbq_source_machine[];

enum {
    CPU_TILE_MIN = 128,
    CPU_REGISTERS = 16,    /* that a CPU's tuned tile is for              */
    CPU_ITEMS_PER_CORE = 4 /* at least, of a full tablet                  */
};

/* Rows of a tile that are added to groups: half as many as else, for what a group
 * takes has no room beside more (H200, with columns that come ahead: TPC-H 1 1.44 ms
 * instead of 1.54, SSB 3.1 and 4.1 2.05 and 2.53 instead of 2.26 and 2.72). */
static unsigned groups_tile(unsigned tuned)
{
    return tuned > 1 ? tuned / 2 : tuned;
}

static struct variant variant_of(const struct opencl *opencl,
                                 const struct device_machine_params *params);
static struct machine_shape shape_of(const struct opencl *opencl,
                                     const struct variant *variant);
static struct opencl_machine *machine_find(const struct opencl *opencl,
                                           const struct variant *variant,
                                           const char *body);
static struct opencl_machine *machine_create(struct opencl *opencl,
                                             const struct variant *variant,
                                             const char *body);
static bool machine_is_same(const void *made, const void *other);
static void machine_destroy(void *made);
static enum vdbq_status machine_build(struct opencl *opencl, void *made,
                                      struct error *error);
static enum vdbq_status machine_warm(struct opencl *opencl,
                                     struct opencl_machine *machine,
                                     struct error *error);

struct device_machine *
opencl_machine_find(struct device *device,
                    const struct device_machine_params *params)
{
    struct opencl *opencl = (struct opencl *)device;
    struct variant variant = variant_of(opencl, params);
    struct opencl_machine *found = machine_find(opencl, &variant, params->body);

    if (found == NULL)
        return NULL;
    found->head.shape = shape_of(opencl, &variant); /* tuned meanwhile? */
    return &found->head;
}

enum vdbq_status
opencl_machine_build(struct device *device,
                     const struct device_machine_params *params,
                     struct device_machine **machine, struct error *error)
{
    static const struct opencl_building building = { .build = machine_build,
                                                     .is_same = machine_is_same,
                                                     .drop = machine_destroy };
    struct opencl *opencl = (struct opencl *)device;
    struct variant variant = variant_of(opencl, params);
    void *made = machine_create(opencl, &variant, params->body);
    enum vdbq_status status;

    if (made == NULL)
        return error_no_memory(error);
    status = opencl_build_apart(opencl, &building, &made, error);
    if (status == VDBQ_OK)
        *machine = &((struct opencl_machine *)made)->head;
    return status;
}

enum vdbq_status opencl_machine_keep(struct device_machine *machine,
                                     struct error *error)
{
    struct opencl *opencl = (struct opencl *)machine->device;
    struct opencl_machine *made = (struct opencl_machine *)machine;

    if (vector_append(&opencl->machines, &made, 1))
        return VDBQ_OK;
    machine_destroy(made);
    return error_no_memory(error);
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
static unsigned cpu_tile(unsigned tuned, unsigned registers)
{
    unsigned tile = tuned;

    while (tile > CPU_TILE_MIN
           && (uint64_t)tile * registers > (uint64_t)tuned * CPU_REGISTERS)
        tile /= 2;
    return tile;
}

static struct variant variant_of(const struct opencl *opencl,
                                 const struct device_machine_params *params)
{
    const struct device_tuning *tuning = &opencl->head.known.tuning;
    bool special = params->build == BUILD_SPECIALISED;
    struct variant variant = { .build = params->build,
                               .registers = params->registers,
                               .axes = params->axes > 1 ? params->axes : 1,
                               .group = tuning->group,
                               .tile = special ? tuning->tile_specialised
                                               : tuning->tile };

    if (params->groups && variant.group > 1)
        variant.tile = groups_tile(variant.tile);
    if (!special)
        variant.registers = register_class(params->registers);
    if (!special && variant.axes > 1)
        variant.axes = VDBQ_AXES_MAX; /* one build serves all grids */
    if (variant.registers == 0)
        variant.registers = 1;
    if (opencl->found.kind->tile_fits_cache)
        variant.tile = cpu_tile(variant.tile, variant.registers);
    return variant;
}

/* How a group best walks: on a CPU long ways, but such that each core gets
 * some of a full tablet; on a GPU one step, so that steps are described as
 * soon as they can be. */
static struct machine_shape shape_of(const struct opencl *opencl,
                                     const struct variant *variant)
{
    unsigned step_rows = variant->group * variant->tile;
    unsigned rows =
        TABLET_ROWS_MAX / (opencl->head.facts.cores * CPU_ITEMS_PER_CORE);
    unsigned steps;

    if (rows > opencl->head.known.tuning.item_rows)
        rows = opencl->head.known.tuning.item_rows;
    steps = variant->group == 1 ? rows / step_rows : 1;
    return (struct machine_shape){ .step_rows = step_rows,
                                   .steps_per_item = steps > 0 ? steps : 1,
                                   .dense = variant->group > 1 };
}

/* POCL, up to 5.0, keeps a kernel once more each time it is launched wider than
 * before. Of two launches beside one another that it keeps apart it gives the
 * same one back twice, and aborts. So all are as wide as the tablets of one
 * launch can make it. */
static uint64_t groups_least_of(const struct opencl *opencl,
                                struct machine_shape shape)
{
    u32 rows = shape.step_rows * shape.steps_per_item;

    return quirks_of(opencl->found.platform_name)->one_width
               ? (uint64_t)LAUNCH_MORSELS
                         * ((TABLET_ROWS_MAX + rows - 1) / rows)
                     + opencl->head.facts.cores
               : 1;
}

void opencl_tuning_init(struct opencl *opencl)
{
    const struct found_device *found = &opencl->found;
    char cores[16];
    const char *const parts[] = { found->platform_name,
                                  found->platform_version,
                                  found->name,
                                  found->driver,
                                  cores,
                                  NULL };

    snprintf(cores, sizeof cores, "%u", opencl->head.facts.cores);
    known_init(&opencl->head.known, parts, vdbq_source_ops, found->kind);
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
        if (machine->hash == hash
            && memcmp(&machine->variant, variant, sizeof *variant) == 0
            && (body == NULL || strcmp(machine->body, body) == 0))
            return machine;
    }
    return NULL;
}

static bool machine_is_same(const void *made, const void *other)
{
    const struct opencl_machine *one = made, *two = other;

    return one->hash == two->hash
           && memcmp(&one->variant, &two->variant, sizeof one->variant) == 0
           && (one->body == NULL || strcmp(one->body, two->body) == 0);
}

/* Of an interpreted machine. */
static void name_of(const struct variant *variant, char name[MACHINE_NAME_MAX])
{
    snprintf(name, MACHINE_NAME_MAX, "interpreted %u %u %u %u",
             variant->registers, variant->group, variant->tile, variant->axes);
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
    machine->groups_least = groups_least_of(opencl, machine->head.shape);
    machine->variant = *variant;
    machine->hash = body_hash(body);
    name_of(variant, machine->head.name);
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

static void machine_destroy(void *made)
{
    struct opencl_machine *machine = made;

    if (machine->run != NULL)
        opencl_calls.ReleaseKernel(machine->run);
    opencl_program_release(machine->program);
    memory_release(machine->body);
    memory_release(machine);
}

/* What a machine is compiled from. */
struct machine_source {
    const char *strings[4];
    char options[OPENCL_OPTIONS_MAX + 128];
};
enum { MACHINE_STRINGS = 4 };

static struct machine_source source_of(const struct opencl *opencl,
                                       const struct variant *variant,
                                       const char *body)
{
    struct machine_source source = {
        .strings = { vdbq_source_ops,
                     body != NULL ? "#line 1 \"program\"\n" : "",
                     body != NULL ? body : "", vdbq_source_machine }
    };

    snprintf(source.options, sizeof source.options,
             "%s -DVDBQ_TILE=%u -DVDBQ_GROUP=%u -DVDBQ_REGISTERS=%u "
             "-DVDBQ_AXES=%u%s",
             opencl->options, variant->tile, variant->group, variant->registers,
             variant->axes, body != NULL ? " -DVDBQ_SPECIALISED" : "");
    return source;
}

/* An interpreted machine takes seconds to compile, and processes that begin with an
 * empty cache would all do it: one has the turn, the others wait for what it keeps, but
 * not for ever for one that stands still. Few turns do: there are few such machines. */
enum {
    TURN_FIRST = DEVICE_LANES_MAX, /* of the locks' numbers: behind the lanes */
    TURNS = 8,
    TURN_LOOKS = 1200,       /* then nobody waits any more   */
    TURN_LOOK_NS = 100000000 /* between them                 */
};

/* Takes the turn to build a machine; below 0: there is nothing to wait for. */
static int turn_take(struct opencl *opencl,
                     const struct opencl_machine *machine,
                     struct machine_source *source)
{
    const char *name = machine->head.name;
    unsigned number =
        TURN_FIRST + (unsigned)(XXH3_64bits(name, strlen(name)) % TURNS);
    int lock;

    if (machine->body != NULL || opencl_keeps_itself(opencl))
        return -1;
    lock = cache_lock(number, false);
    for (unsigned i = 0; i < TURN_LOOKS && lock == CACHE_TAKEN
                         && !opencl_is_kept(opencl, source->strings,
                                            MACHINE_STRINGS, source->options);
         i++) {
        nanosleep(&(struct timespec){ .tv_nsec = TURN_LOOK_NS }, NULL);
        lock = cache_lock(number, false);
    }
    return lock;
}

/* Compiles a machine, or takes it from the cache. */
static enum vdbq_status machine_make(struct opencl *opencl,
                                     struct opencl_machine *machine,
                                     struct machine_source *source,
                                     struct error *error)
{
    cl_int code;
    enum vdbq_status status =
        opencl_build(opencl, source->strings, MACHINE_STRINGS, source->options,
                     &machine->program, error);

    if (status != VDBQ_OK)
        return status;
    machine->run =
        opencl_calls.CreateKernel(machine->program, "vdbq_machine", &code);
    status = opencl_check(code, "clCreateKernel", error);
    return status == VDBQ_OK ? machine_warm(opencl, machine, error) : status;
}

static enum vdbq_status machine_build(struct opencl *opencl, void *made,
                                      struct error *error)
{
    struct opencl_machine *machine = made;
    struct machine_source source =
        source_of(opencl, &machine->variant, machine->body);
    int turn = turn_take(opencl, machine, &source);
    enum vdbq_status status = machine_make(opencl, machine, &source, error);

    cache_unlock(turn);
    return status;
}

bool opencl_machine_is_kept(struct device *device,
                            const struct device_machine_params *params)
{
    struct opencl *opencl = (struct opencl *)device;
    struct variant variant = variant_of(opencl, params);
    struct machine_source source = source_of(opencl, &variant, params->body);
    char name[MACHINE_NAME_MAX];

    name_of(&variant, name);
    if (opencl_keeps_itself(opencl)) {
        const struct device_shape *shape =
            device_shape(device, params->body != NULL ? params->body : name);
        return shape != NULL && shape->built;
    }
    return opencl_is_kept(opencl, source.strings, MACHINE_STRINGS,
                          source.options);
}

/* ------------------------------------------------------------- warm -- */

/* Makes a buffer of zeros as long as any control block's constants: a launch
 * of no rows that every part of the block names the start of. */
static enum vdbq_status zeros_create(struct opencl *opencl,
                                     cl_command_queue queue, cl_mem *zeros,
                                     struct error *error)
{
    const size_t size =
        sizeof(struct launch_head) + VDBQ_CODE_MAX * sizeof(struct code);
    const cl_uchar zero = 0;
    cl_int code;
    enum vdbq_status status;

    *zeros = opencl_calls.CreateBuffer(opencl->context, CL_MEM_READ_WRITE, size,
                                       NULL, &code);
    status = opencl_check(code, "clCreateBuffer", error);
    if (status == VDBQ_OK)
        status = opencl_check(
            opencl_calls.EnqueueFillBuffer(queue, *zeros, &zero, sizeof zero, 0,
                                           size, 0, NULL, NULL),
            "clEnqueueFillBuffer", error);
    return status;
}

/* Runs the machine over no rows. */
static enum vdbq_status run_nothing(struct opencl_machine *machine,
                                    cl_command_queue queue, cl_mem zeros,
                                    struct error *error)
{
    size_t local = machine->variant.group;
    size_t global = machine->groups_least * local;
    cl_mem buffers[MACHINE_BUFFERS];
    enum vdbq_status status;

    for (unsigned i = 0; i < MACHINE_BUFFERS; i++)
        buffers[i] = zeros;
    status =
        opencl_arguments(machine, buffers, sizeof(struct launch_head), error);
    if (status == VDBQ_OK)
        status = opencl_check(
            opencl_calls.EnqueueNDRangeKernel(queue, machine->run, 1, NULL,
                                              &global, &local, 0, NULL, NULL),
            "clEnqueueNDRangeKernel", error);
    if (status == VDBQ_OK)
        status = opencl_check(opencl_calls.Finish(queue), "clFinish", error);
    if (status == VDBQ_OK)
        keep_launched(machine->program);
    return status;
}

/* Lets the driver do now, on a queue of our own, what it would put off until
 * the first launch: POCL compiles the kernel, NVIDIA loads it. */
static enum vdbq_status machine_warm(struct opencl *opencl,
                                     struct opencl_machine *machine,
                                     struct error *error)
{
    cl_int code;
    cl_mem zeros = NULL;
    cl_command_queue queue =
        opencl_calls.CreateCommandQueue(opencl->context, opencl->id, 0, &code);
    enum vdbq_status status = opencl_check(code, "clCreateCommandQueue", error);

    if (status != VDBQ_OK)
        return status;
    status = zeros_create(opencl, queue, &zeros, error);
    if (status == VDBQ_OK)
        status = run_nothing(machine, queue, zeros, error);
    opencl_calls.Finish(queue);
    if (zeros != NULL)
        opencl_calls.ReleaseMemObject(zeros);
    opencl_calls.ReleaseCommandQueue(queue);
    return status;
}
