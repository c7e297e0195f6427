/* SPDX-License-Identifier: MIT */
/*
 * Kernels beside the machine on an OpenCL device. Each text is built once, for
 * groups of one size; their times are read when somebody waits for them.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "device/cache/keep.h"
#include "device/opencl/opencl.h"

/* The texts of cl/group.cl and others, which tools/embed.py made. */
extern const char vdbq_source_group[];
extern const char vdbq_source_index[];
extern const char vdbq_source_sort[];
extern const char vdbq_source_keep[];
extern const char vdbq_source_window[];
extern const char vdbq_source_join[];
extern const char vdbq_source_judged[];
extern const char vdbq_source_probe[];
extern const char vdbq_source_search[];
extern const char vdbq_source_words[];
extern const char vdbq_source_send[];

static const struct {
    const char *text;
    const char *options;
} texts[OPENCL_TEXTS] = {
    [TEXT_GROUP] = { vdbq_source_group, "" },
    [TEXT_GROUP_LOCAL] = { vdbq_source_group, " -DVDBQ_LOCAL" },
    [TEXT_SORT] = { vdbq_source_sort, "" },
    [TEXT_KEEP] = { vdbq_source_keep, "" },
    [TEXT_WINDOW] = { vdbq_source_window, "" },
    [TEXT_JOIN] = { vdbq_source_join, "" },
    [TEXT_JUDGED] = { vdbq_source_judged, "" },
    [TEXT_INDEX] = { vdbq_source_index, "" },
    [TEXT_PROBE] = { vdbq_source_probe, "" },
    [TEXT_SEARCH] = { vdbq_source_search, "" },
    [TEXT_WORDS] = { vdbq_source_words, "" },
    [TEXT_SEND] = { vdbq_source_send, "" },
};

static const struct {
    const char *function;
    enum opencl_text text;
} kernels[KERNELS] = {
#define KERNEL_ENTRY(name, function, text)                                     \
    [KERNEL_##name] = { #function, TEXT_##text },
    DEVICE_KERNELS(KERNEL_ENTRY)
#undef KERNEL_ENTRY
};

/* A text that is compiled. */
struct compiled {
    enum opencl_text text;
    char options[OPENCL_OPTIONS_MAX + 64];
    cl_program program; /* NULL: not yet */
};

static enum vdbq_status compile(struct opencl *opencl, void *made,
                                struct error *error)
{
    struct compiled *compiled = made;
    const char *string = texts[compiled->text].text;

    return opencl_build(opencl, &string, 1, compiled->options,
                        &compiled->program, error);
}

static bool is_same(const void *made, const void *other)
{
    const struct compiled *one = made, *two = other;

    return one->text == two->text && strcmp(one->options, two->options) == 0;
}

static void drop(void *made)
{
    opencl_program_release(((struct compiled *)made)->program);
    memory_release(made);
}

/* Compiles one of the texts with all its kernels. */
static enum vdbq_status build_text(struct opencl *opencl, enum opencl_text text,
                                   struct error *error)
{
    static const struct opencl_building building = { compile, is_same, drop };
    struct compiled *compiled = memory_zeroed(1, sizeof *compiled);
    void *made = compiled;
    enum vdbq_status status;

    if (compiled == NULL)
        return error_no_memory(error);
    compiled->text = text;
    snprintf(compiled->options, sizeof compiled->options,
             "%s -DVDBQ_GROUP=%u%s", opencl->options,
             device_group_items(&opencl->head), texts[text].options);
    status = opencl_build_apart(opencl, &building, &made, error);
    if (status != VDBQ_OK)
        return status;
    opencl->texts[text] = ((struct compiled *)made)->program;
    memory_release(made);
    return VDBQ_OK;
}

/* The kernel, built where it was not. */
static enum vdbq_status find_kernel(struct opencl *opencl,
                                    enum device_kernel number,
                                    struct device_times *times,
                                    struct error *error)
{
    enum opencl_text text = kernels[number].text;
    uint64_t start = os_time_ns();
    enum vdbq_status status = VDBQ_OK;
    cl_int code;

    if (opencl->kernels[number] != NULL)
        return VDBQ_OK;
    if (opencl->texts[text] == NULL)
        status = build_text(opencl, text, error);
    if (status != VDBQ_OK)
        return status;
    opencl->kernels[number] = opencl_calls.CreateKernel(
        opencl->texts[text], kernels[number].function, &code);
    opencl->launched[text] = true;
    times->compile_ns += os_time_ns() - start;
    return opencl_check(code, "clCreateKernel", error);
}

/* The buffers of a call; unused ones are the first. */
static void list_buffers(const struct device_call *call,
                         cl_mem buffers[CALL_MEMORIES_MAX])
{
    for (unsigned i = 0; i < call->memory_count; i++) {
        const struct device_memory *memory =
            call->memories[i] != NULL ? call->memories[i] : call->memories[0];
        buffers[i] = ((const struct opencl_memory *)memory)->buffer;
    }
}

/* Memories first, then numbers, then the struct. Of the first two those that the
 * kernel has from its last call stay: to set all takes 1.4 us (H100). */
static enum vdbq_status set_arguments(cl_kernel kernel,
                                      const struct device_call *call,
                                      struct opencl_set *set,
                                      struct error *error)
{
    cl_mem buffers[CALL_MEMORIES_MAX];
    cl_uint at = 0;
    cl_int code = CL_SUCCESS;

    list_buffers(call, buffers);
    for (unsigned i = 0; i < call->memory_count && code == CL_SUCCESS;
         i++, at++)
        if (!set->all || set->memories[i] != buffers[i])
            code = opencl_calls.SetKernelArg(kernel, at, sizeof buffers[i],
                                             &buffers[i]);
    for (unsigned i = 0; i < call->number_count && code == CL_SUCCESS;
         i++, at++)
        if (!set->all || set->numbers[i] != call->numbers[i])
            code = opencl_calls.SetKernelArg(kernel, at, sizeof(cl_ulong),
                                             &call->numbers[i]);
    if (call->value != NULL && code == CL_SUCCESS)
        code = opencl_calls.SetKernelArg(kernel, at, call->value_bytes,
                                         call->value);
    memcpy(set->memories, buffers, call->memory_count * sizeof *buffers);
    memcpy(set->numbers, call->numbers, sizeof set->numbers);
    set->all = code == CL_SUCCESS;
    return opencl_check(code, "clSetKernelArg", error);
}

void opencl_sets_forget(struct opencl *opencl)
{
    for (unsigned i = 0; i < KERNELS; i++)
        opencl->sets[i].all = false;
}

/* Where a command leaves its event; NULL: it has none. */
static cl_event *event_of(const struct opencl *opencl, cl_event *event)
{
    *event = NULL;
    return opencl->keeps_times ? event : NULL;
}

/* Notes a command that was put into the queue, and its event where it has one. */
static enum vdbq_status note(struct opencl *opencl, enum vdbq_status status,
                             struct opencl_call call, struct error *error)
{
    if (status != VDBQ_OK)
        return status;
    opencl->started |= call.event == NULL;
    opencl->unmarked = true;
    if (call.event == NULL || vector_append(&opencl->calls, &call, 1))
        return VDBQ_OK;
    opencl_calls.Finish(opencl->queues.run);
    opencl_calls.ReleaseEvent(call.event);
    return error_no_memory(error);
}

enum vdbq_status opencl_call_start(struct opencl *opencl,
                                   cl_command_queue queue,
                                   const struct device_call *call,
                                   cl_event *event, struct device_times *times,
                                   struct error *error)
{
    struct device *device = &opencl->head;
    size_t widest = device_group_items(device);
    size_t local = call->group_items > 0 ? call->group_items : widest;
    size_t groups = (call->items + local - 1) / local;
    size_t most = device_groups_most(device) * (widest / local);
    size_t global = (groups < most ? groups : most) * local;
    enum vdbq_status status = find_kernel(opencl, call->kernel, times, error);
    cl_kernel kernel = opencl->kernels[call->kernel];

    if (status == VDBQ_OK)
        status =
            set_arguments(kernel, call, &opencl->sets[call->kernel], error);
    if (status != VDBQ_OK)
        return status;
    return opencl_check(opencl_calls.EnqueueNDRangeKernel(queue, kernel, 1,
                                                          NULL, &global, &local,
                                                          0, NULL, event),
                        "clEnqueueNDRangeKernel", error);
}

enum vdbq_status opencl_call(struct device *device,
                             const struct device_call *call,
                             struct device_times *times, struct error *error)
{
    struct opencl *opencl = (struct opencl *)device;
    cl_event event;
    enum vdbq_status status =
        opencl_call_start(opencl, opencl->queues.run, call,
                          event_of(opencl, &event), times, error);

    times->launches += status == VDBQ_OK;
    return note(opencl, status, (struct opencl_call){ event, false }, error);
}

enum vdbq_status opencl_put(struct device_memory *memory, const void *bytes,
                            uint64_t size, struct device_times *times,
                            struct error *error)
{
    struct opencl *opencl = (struct opencl *)memory->device;
    cl_mem buffer = ((struct opencl_memory *)memory)->buffer;
    cl_event event;
    cl_int code;

    times->bytes_in += size;
    if (opencl_put_sent(memory, bytes, size, times))
        return note(opencl, VDBQ_OK, (struct opencl_call){ NULL, true }, error);
    code = opencl_calls.EnqueueWriteBuffer(opencl->queues.run, buffer, CL_FALSE,
                                           0, size, bytes, 0, NULL,
                                           event_of(opencl, &event));
    return note(opencl, opencl_check(code, "clEnqueueWriteBuffer", error),
                (struct opencl_call){ event, true }, error);
}

/* So many bytes at most a kernel of ours fills, on devices that have one for few bytes:
 * the driver takes twice as long to put its own into the queue (H200: 11 us, 6). */
enum { FILLED_BYTES = 1 << 20 };

/* Whether it does. */
static bool is_filled(const struct opencl *opencl, uint64_t size)
{
    return opencl->zero_copies == ZERO_COPIES_DO && size <= FILLED_BYTES
           && size % sizeof(uint64_t) == 0;
}

static enum vdbq_status fill_words(struct device_memory *memory, uint64_t size,
                                   uint8_t byte, struct error *error)
{
    struct device_times ignored = { 0 };
    uint64_t words = size / sizeof(uint64_t), word;

    memset(&word, byte, sizeof word);
    return opencl_call(memory->device,
                       &(struct device_call){ .kernel = KERNEL_FILL,
                                              .memories = { memory },
                                              .memory_count = 1,
                                              .numbers = { words, word },
                                              .number_count = 2,
                                              .items = words },
                       &ignored, error);
}

enum vdbq_status opencl_fill(struct device_memory *memory, uint64_t size,
                             uint8_t byte, struct error *error)
{
    struct opencl *opencl = (struct opencl *)memory->device;
    enum vdbq_status status = VDBQ_OK;

    if (is_filled(opencl, size))
        return fill_words(memory, size, byte, error);
    for (uint64_t at = 0, some; at < size && status == VDBQ_OK; at += some) {
        cl_event event;
        cl_int code;
        some = size - at < OPENCL_FILL_BYTES ? size - at : OPENCL_FILL_BYTES;
        code =
            opencl_fill_part(memory, at, some, byte, event_of(opencl, &event));
        status = note(opencl, opencl_check(code, "clEnqueueFillBuffer", error),
                      (struct opencl_call){ event, false }, error);
    }
    return status;
}

/* Forgets the marker, and that there are calls behind it. */
static void forget_marker(struct opencl *opencl)
{
    if (opencl->marker != NULL)
        opencl_calls.ReleaseEvent(opencl->marker);
    opencl->marker = NULL;
    opencl->unmarked = false;
}

/* The kernels that wait for it are in another queue: hence the flush. */
enum vdbq_status opencl_calls_mark(struct opencl *opencl, struct error *error)
{
    cl_command_queue queue = opencl->queues.run;
    enum vdbq_status status;

    if (!opencl->unmarked)
        return VDBQ_OK;
    forget_marker(opencl);
    status = opencl_check(
        opencl_calls.EnqueueMarkerWithWaitList(queue, 0, NULL, &opencl->marker),
        "clEnqueueMarkerWithWaitList", error);
    return status == VDBQ_OK
               ? opencl_check(opencl_calls.Flush(queue), "clFlush", error)
               : status;
}

void opencl_calls_ended(struct opencl *opencl)
{
    opencl->started = false;
    opencl->put_bytes = 0;
}

/* Those in the queue of calls come before them anyway; the other queue's are waited
 * for by a marker, which must be on its way: hence the flush. */
enum vdbq_status opencl_calls_follow(struct device *device, struct error *error)
{
    static const char call[] = "clEnqueueMarkerWithWaitList";
    struct opencl *opencl = (struct opencl *)device;
    const struct opencl_queues *queues = &opencl->queues;
    cl_event ended = NULL;
    enum vdbq_status status;

    if (!opencl->besides)
        return VDBQ_OK;
    opencl->besides = false;
    status = opencl_check(
        opencl_calls.EnqueueMarkerWithWaitList(queues->beside, 0, NULL, &ended),
        call, error);
    if (status == VDBQ_OK)
        status =
            opencl_check(opencl_calls.Flush(queues->beside), "clFlush", error);
    if (status == VDBQ_OK)
        status = opencl_check(opencl_calls.EnqueueMarkerWithWaitList(
                                  queues->run, 1, &ended, NULL),
                              call, error);
    if (ended != NULL)
        opencl_calls.ReleaseEvent(ended);
    return status;
}

enum vdbq_status opencl_calls_wait(struct device *device,
                                   struct device_times *times,
                                   struct error *error)
{
    struct opencl *opencl = (struct opencl *)device;
    struct opencl_call *calls =
        VECTOR_ITEMS(&opencl->calls, struct opencl_call);
    size_t count = opencl->calls.count;
    enum vdbq_status status = VDBQ_OK;

    if (count > 0)
        status =
            opencl_check(opencl_calls.WaitForEvents(1, &calls[count - 1].event),
                         "clWaitForEvents", error);
    if (status == VDBQ_OK && opencl->started)
        status = opencl_check(opencl_calls.Finish(opencl->queues.run),
                              "clFinish", error);
    else if (status != VDBQ_OK)
        opencl_calls.Finish(opencl->queues.run);
    opencl_calls_ended(opencl);
    forget_marker(opencl);
    for (size_t i = 0; i < count; i++) {
        if (status == VDBQ_OK)
            status = opencl_span(calls[i].event, calls[i].event,
                                 calls[i].moves ? &times->transfer_ns
                                                : &times->kernel_ns,
                                 error);
        opencl_calls.ReleaseEvent(calls[i].event);
    }
    opencl->calls.count = 0;
    for (unsigned i = 0; i < OPENCL_TEXTS && status == VDBQ_OK; i++) {
        if (opencl->launched[i])
            keep_launched(opencl->texts[i]);
        opencl->launched[i] = false;
    }
    return status;
}

void opencl_text_drop(struct opencl *opencl, enum opencl_text text)
{
    for (unsigned i = 0; i < KERNELS; i++) {
        if (kernels[i].text != text || opencl->kernels[i] == NULL)
            continue;
        opencl_calls.ReleaseKernel(opencl->kernels[i]);
        opencl->kernels[i] = NULL;
        opencl->sets[i].all = false;
    }
    opencl_program_release(opencl->texts[text]);
    opencl->texts[text] = NULL;
}

void opencl_kernels_finish(struct opencl *opencl)
{
    struct device_times ignored = { 0 };
    struct error error;

    opencl_calls_wait(&opencl->head, &ignored, &error);
    vector_finish(&opencl->calls);
    for (unsigned i = 0; i < OPENCL_TEXTS; i++)
        opencl_text_drop(opencl, (enum opencl_text)i);
}
