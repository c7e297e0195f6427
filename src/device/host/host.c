/* SPDX-License-Identifier: MIT */
/*
 * The host as a device: the machine as host C on the process's workers, memory
 * from the allocator. It needs no OpenCL. Pinned and device memory are the same
 * here.
 */
#include "device/backend.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "cl/tablet.h"
#include "device/host/host.h"
#include "device/host/host_machine.h"

struct host_memory {
    struct device_memory head; /* first */
    void *allocated; /* `bytes` lies inside, aligned; NULL: it is others' */
    u8 *bytes;       /* aligned for tablets */
};

struct host_built {
    struct device_machine head; /* first */
    /* registers, one a core that has run groups */
    struct machine *machines[PARALLEL_THREADS_MAX];
};

struct host {
    struct device head;      /* first */
    struct host_built built; /* the one build there is */
};

/* Nothing is open but memory. */
static void host_close(struct device *device)
{
    struct host *host = (struct host *)device;
    device_kept_finish(device);
    for (unsigned i = 0; i < PARALLEL_THREADS_MAX; i++)
        host_machine_destroy(host->built.machines[i]);
    memory_release(host);
}

/* ------------------------------------------------------------- memory -- */

/* All memory is the host's. */
static enum vdbq_status host_memory_create(struct device *device,
                                           enum memory_place place,
                                           uint64_t size_bytes,
                                           struct device_memory **memory,
                                           struct error *error)
{
    struct host_memory *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    if (size_bytes < SIZE_MAX - TABLET_ALIGN)
        made->allocated = memory_resize(NULL, size_bytes + TABLET_ALIGN);
    if (made->allocated == NULL) {
        memory_release(made);
        return error_no_memory(error);
    }
    made->bytes = (u8 *)TABLET_ALIGNED((uintptr_t)made->allocated);
    made->head = (struct device_memory){ .device = device,
                                         .place = place,
                                         .size_bytes = size_bytes };
    if (place == MEMORY_PINNED)
        made->head.host = made->bytes;
    *memory = &made->head;
    return VDBQ_OK;
}

/* The bytes stay the caller's. */
static enum vdbq_status host_memory_wrap(struct device *device,
                                         const void *bytes, uint64_t size_bytes,
                                         struct device_memory **memory,
                                         struct error *error)
{
    struct host_memory *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->bytes = (u8 *)bytes;
    made->head = (struct device_memory){ .device = device,
                                         .place = MEMORY_DEVICE,
                                         .size_bytes = size_bytes };
    *memory = &made->head;
    return VDBQ_OK;
}

/* Wrapped bytes are not freed. */
static void host_memory_destroy(struct device_memory *memory)
{
    memory_release(((struct host_memory *)memory)->allocated);
    memory_release(memory);
}

/* The host needs no copy. */
static enum vdbq_status host_memory_give(struct device_memory *memory,
                                         struct device_times *times,
                                         struct error *error)
{
    (void)times;
    (void)error;
    memory->host = NULL;
    return VDBQ_OK;
}

/* The host needs no copy. */
static enum vdbq_status host_memory_take(struct device_memory *memory,
                                         struct device_times *times,
                                         struct error *error)
{
    (void)times;
    (void)error;
    memory->host = ((struct host_memory *)memory)->bytes;
    return VDBQ_OK;
}

void *host_memory_bytes(struct device_memory *memory)
{
    return memory ? ((struct host_memory *)memory)->bytes : NULL;
}

static u8 *bytes_of(struct device_memory *memory)
{
    return host_memory_bytes(memory);
}

static enum vdbq_status host_write(struct device_memory *memory,
                                   uint64_t offset, const void *bytes,
                                   uint64_t size, struct device_times *times,
                                   struct error *error)
{
    (void)error;
    uint64_t start = os_time_ns();
    memcpy(bytes_of(memory) + offset, bytes, size);
    times->transfer_ns += os_time_ns() - start;
    times->bytes_in += size;
    return VDBQ_OK;
}

static enum vdbq_status host_put(struct device_memory *memory,
                                 const void *bytes, uint64_t size,
                                 struct device_times *times,
                                 struct error *error)
{
    return host_write(memory, 0, bytes, size, times, error);
}

static enum vdbq_status host_read(struct device_memory *memory, uint64_t offset,
                                  void *bytes, uint64_t size,
                                  struct device_times *times,
                                  struct error *error)
{
    (void)error;
    uint64_t start = os_time_ns();
    memcpy(bytes, bytes_of(memory) + offset, size);
    times->transfer_ns += os_time_ns() - start;
    times->bytes_out += size;
    return VDBQ_OK;
}

/* ------------------------------------------------------------ machine -- */

/* There is one machine, once it is built. */
static struct device_machine *
host_machine_find(struct device *device,
                  const struct device_machine_params *params)
{
    struct host_built *built = &((struct host *)device)->built;
    return params->build == BUILD_INTERPRETED && built->machines[0] != NULL
               ? &built->head
               : NULL;
}

/* The machine is compiled into the library. */
static enum vdbq_status
host_machine_build(struct device *device,
                   const struct device_machine_params *params,
                   struct device_machine **machine, struct error *error)
{
    struct host_built *built = &((struct host *)device)->built;
    enum vdbq_status status = device_check_build(device, params->build, error);
    if (status != VDBQ_OK)
        return status;
    built->machines[0] = host_machine_create();
    *machine = &built->head;
    return built->machines[0] != NULL ? VDBQ_OK : error_no_memory(error);
}

/* It was compiled with the library. */
static bool host_machine_is_kept(struct device *device,
                                 const struct device_machine_params *params)
{
    (void)device;
    (void)params;
    return true;
}

/* It lies in the device. */
static enum vdbq_status host_machine_keep(struct device_machine *machine,
                                          struct error *error)
{
    (void)machine;
    (void)error;
    return VDBQ_OK;
}

/* --------------------------------------------------------------- jobs -- */

/* A job is done when it was started; nothing is left to wait for. */
static enum vdbq_status host_job_create(struct device *device,
                                        struct device_job **job,
                                        struct error *error)
{
    struct device_job *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->device = device;
    *job = made;
    return VDBQ_OK;
}

static void host_job_destroy(struct device_job *job)
{
    memory_release(job);
}

/* A launch whose groups are shared out to machines. */
struct host_launch {
    struct host_built *built;
    struct host_machine_arguments arguments;
    u32 groups;
    unsigned threads; /* each with a machine */
};

/* One thread's groups. */
static void run_share(void *context, unsigned i)
{
    const struct host_launch *launch = context;
    u64 groups = launch->groups;
    host_machine_run(launch->built->machines[i], &launch->arguments,
                     (u32)(groups * i / launch->threads),
                     (u32)(groups * (i + 1) / launch->threads));
}

/* Machines for so many threads; there may be memory for fewer. */
static unsigned make_machines(struct host_built *built, unsigned threads)
{
    assert(built->machines[0] != NULL && threads <= PARALLEL_THREADS_MAX);
    for (unsigned i = 0; i < threads; i++) {
        if (built->machines[i] == NULL)
            built->machines[i] = host_machine_create();
        if (built->machines[i] == NULL)
            return i;
    }
    return threads;
}

/* Threads that the launch is worth. */
static unsigned launch_threads(const struct host_built *built,
                               const struct device_launch *params)
{
    unsigned cores = device_facts(built->head.device)->cores;
    uint32_t groups = device_launch_groups(params);
    uint64_t rows = (uint64_t)params->launch->steps * host_machine_step_rows();
    unsigned threads = parallel_threads(cores, rows);
    return threads < groups ? threads : groups;
}

/* Runs all groups, on as many cores as they are worth. */
static void run_launch(struct host_built *built,
                       const struct device_launch *params,
                       struct device_times *times)
{
    u8 *control = bytes_of(params->control);
    struct progress *progress =
        (struct progress *)(void *)(control + params->progress_at);
    struct host_launch launch = {
        .built = built,
        .arguments = { .control = control,
                       .result = bytes_of(params->result),
                       .progress = progress,
                       .build_side = bytes_of(params->build_side) },
        .groups = device_launch_groups(params),
        .threads = make_machines(built, launch_threads(built, params))
    };
    uint64_t start = os_time_ns();
    for (unsigned i = 0; i < LAUNCH_MORSELS; i++)
        launch.arguments.morsels[i] = bytes_of(params->morsels[i]);
    parallel_run(launch.threads, run_share, &launch);
    for (unsigned i = 0; i < launch.threads; i++)
        host_machine_report(built->machines[i], progress);
    times->kernel_ns += os_time_ns() - start;
    times->launches++;
}

/* Everything runs at once: the job is done when this returns. */
static enum vdbq_status host_job_start(struct device_job *job,
                                       const struct device_job_params *params,
                                       struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < params->in_count && status == VDBQ_OK; i++) {
        const struct device_copy *copy = &params->in[i];
        status = host_write(copy->memory, copy->offset, copy->bytes, copy->size,
                            &job->times, error);
    }
    if (status != VDBQ_OK)
        return status;
    run_launch((struct host_built *)params->machine, &params->launch,
               &job->times);
    memcpy(params->progress,
           bytes_of(params->launch.control) + params->launch.progress_at,
           params->progress_size);
    return VDBQ_OK;
}

/* It has run since it was started. */
static bool host_job_has_run(struct device_job *job)
{
    (void)job;
    return true;
}

static enum vdbq_status host_job_run(struct device_job *job,
                                     struct error *error)
{
    (void)job;
    (void)error;
    return VDBQ_OK;
}

static enum vdbq_status host_job_collect(struct device_job *job,
                                         const struct device_copy *copies,
                                         size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++)
        host_read(copies[i].memory, copies[i].offset, copies[i].bytes,
                  copies[i].size, &job->times, error);
    return VDBQ_OK;
}

static enum vdbq_status host_job_wait(struct device_job *job,
                                      struct error *error)
{
    (void)job;
    (void)error;
    return VDBQ_OK;
}

/* ------------------------------------------------------------- limits -- */

/* Words that threads read. */
struct sweeping {
    const u64 *words;
    uint64_t count; /* of `words` */
    unsigned threads;
};

/* Reads one thread's words. */
static void sweep_share(void *context, unsigned i)
{
    const struct sweeping *sweeping = context;
    uint64_t end = sweeping->count / sweeping->threads * (i + 1);
    u64 sum = 0;
    for (uint64_t at = sweeping->count / sweeping->threads * i; at < end; at++)
        sum += sweeping->words[at];
    volatile u64 kept = sum; /* so that nobody leaves the reading out */
    (void)kept;
}

/* Reads all words on all cores, several times. */
static enum vdbq_status host_sweep(struct device_memory *memory, unsigned runs,
                                   uint64_t *best_ns, struct error *error)
{
    (void)error;
    unsigned cores = device_facts(memory->device)->cores;
    struct sweeping sweeping = {
        .words = (const u64 *)(const void *)bytes_of(memory),
        .count = memory->size_bytes / sizeof(u64),
        .threads = parallel_threads(cores, memory->size_bytes / sizeof(u64))
    };
    *best_ns = UINT64_MAX;
    for (unsigned run = 0; run < runs; run++) {
        uint64_t start = os_time_ns(), ns;
        parallel_run(sweeping.threads, sweep_share, &sweeping);
        ns = os_time_ns() - start;
        if (ns < *best_ns)
            *best_ns = ns;
    }
    return VDBQ_OK;
}

/* By one core: one way after the other. */
static enum vdbq_status host_exchange(struct device_memory *memory, void *bytes,
                                      uint64_t size, uint64_t *time_ns,
                                      struct error *error)
{
    struct device_times times = { 0 };
    host_write(memory, 0, bytes, size, &times, error);
    host_read(memory, size, (char *)bytes + size, size, &times, error);
    *time_ns += times.transfer_ns;
    return VDBQ_OK;
}

/* -------------------------------------------------------------- times -- */

/* The host's clock is there for everybody. */
static enum vdbq_status host_times_keep(struct device *device, bool keep,
                                        struct error *error)
{
    (void)device;
    (void)keep;
    (void)error;
    return VDBQ_OK;
}

/* Calls have ended when they return. */
static enum vdbq_status host_calls_wait(struct device *device,
                                        struct device_times *times,
                                        struct error *error)
{
    (void)device;
    (void)times;
    (void)error;
    return VDBQ_OK;
}

static const struct device_backend host_backend = {
    .close = host_close,
    .memory_create = host_memory_create,
    .memory_wrap = host_memory_wrap,
    .memory_destroy = host_memory_destroy,
    .memory_give = host_memory_give,
    .memory_take = host_memory_take,
    .write = host_write,
    .put = host_put,
    .read = host_read,
    .machine_find = host_machine_find,
    .machine_build = host_machine_build,
    .machine_is_kept = host_machine_is_kept,
    .machine_keep = host_machine_keep,
    .sweep = host_sweep,
    .exchange = host_exchange,
    .times_keep = host_times_keep,
    .job_create = host_job_create,
    .job_destroy = host_job_destroy,
    .job_start = host_job_start,
    .job_has_run = host_job_has_run,
    .job_run = host_job_run,
    .job_collect = host_job_collect,
    .job_wait = host_job_wait,
    .call = host_call,
    .calls_wait = host_calls_wait,
};

enum vdbq_status host_open(const struct device_params *params,
                           struct device **device, struct error *error)
{
    unsigned cores = os_cores();
    if (params->cores > cores)
        return error_set(error, VDBQ_DEVICE,
                         "%u cores were asked for, but device 'host' has %u",
                         params->cores, cores);
    struct host *host = memory_zeroed(1, sizeof *host);
    if (host == NULL)
        return error_no_memory(error);
    host->head.backend = &host_backend;
    host->head.kept = VECTOR(struct device_memory *);
    host->head.facts =
        (struct device_facts){ .name = "host",
                               .kind = kind_of_choice("host"),
                               .shares_memory = true,
                               .cores =
                                   params->cores > 0 ? params->cores : cores,
                               .memory_bytes = os_memory_bytes(),
                               .buffer_max_bytes = SIZE_MAX };
    unsigned step_rows = host_machine_step_rows();
    unsigned steps = (1u << 16) / step_rows;
    host->built.head.device = &host->head;
    host->built.head.shape = (struct machine_shape){
        .step_rows = step_rows,
        .steps_per_item = steps > 0 ? steps : 1,
    };
    *device = &host->head;
    return VDBQ_OK;
}
