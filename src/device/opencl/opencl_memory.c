/* SPDX-License-Identifier: MIT */
/*
 * Memory of an OpenCL device. Pinned memory is mapped when it is made and
 * stays mapped until it is given to the device, zero-copy memory for good. All of it
 * is zeroed: a driver
 * hands out what others left behind, and one that puts off taking memory is
 * made to take it here, where a failure can be told.
 */
#include <string.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "device/opencl/opencl.h"

/* A driver (NVIDIA's) counts the patterns of a buffer in 31 bits: far from its
 * start they are long. */
#define FAR ((uint64_t)4 << 30)
enum { PATTERN_NEAR = 4, PATTERN_FAR = 64 };

/* Bytes of a buffer: patterns of any length fill it. */
static uint64_t whole_patterns(uint64_t size)
{
    return size + (PATTERN_FAR - size % PATTERN_FAR) % PATTERN_FAR;
}

static enum vdbq_status map(struct opencl_memory *memory, uint64_t *time_ns,
                            struct error *error);
static enum vdbq_status clear(struct opencl_memory *memory,
                              struct error *error);

static struct opencl *opencl_of(const struct device_memory *memory)
{
    return (struct opencl *)memory->device;
}

/* Makes a buffer of the driver. */
static cl_mem buffer_create(struct opencl *opencl, enum memory_place place,
                            uint64_t size, cl_int *code)
{
    cl_mem_flags pinned = place == MEMORY_PINNED ? CL_MEM_ALLOC_HOST_PTR : 0;

    if (place == MEMORY_ZERO_COPY)
        return opencl_zero_copy_buffer(opencl, size, code);
    return opencl_calls.CreateBuffer(
        opencl->context, CL_MEM_READ_WRITE | pinned, size, NULL, code);
}

enum vdbq_status opencl_memory_create(struct device *device,
                                      enum memory_place place,
                                      uint64_t size_bytes,
                                      struct device_memory **memory,
                                      struct error *error)
{
    struct opencl *opencl = (struct opencl *)device;
    struct opencl_memory *made = memory_zeroed(1, sizeof *made);
    enum vdbq_status status;
    cl_int code;

    if (made == NULL)
        return error_no_memory(error);
    made->head = (struct device_memory){ .device = device,
                                         .place = place,
                                         .size_bytes = size_bytes };
    made->buffer =
        buffer_create(opencl, place, whole_patterns(size_bytes), &code);
    status = opencl_check(code, "clCreateBuffer", error);
    if (status == VDBQ_OK)
        status = clear(made, error);
    if (status == VDBQ_OK) {
        *memory = &made->head;
        return VDBQ_OK;
    }
    opencl_memory_destroy(&made->head);
    return error_hint(error,
                      "%llu bytes of %s memory were asked for; device "
                      "'%s' has %llu: lower the memory option (VDBQ_MEMORY)",
                      (unsigned long long)size_bytes,
                      place == MEMORY_DEVICE ? "device" : "pinned",
                      device->facts.name,
                      (unsigned long long)device->facts.memory_bytes);
}

/* A buffer over bytes of the host's, which the driver does not copy where host
 * and device share memory; held by the device. NULL: the error says why. */
static struct opencl_memory *
over_bytes(struct opencl *opencl, enum memory_place place, cl_mem_flags access,
           void *bytes, uint64_t size_bytes, struct error *error)
{
    struct opencl_memory *made = memory_zeroed(1, sizeof *made);
    cl_int code;

    if (made == NULL) {
        error_no_memory(error);
        return NULL;
    }
    made->head = (struct device_memory){ .device = &opencl->head,
                                         .place = place,
                                         .size_bytes = size_bytes };
    made->buffer =
        opencl_calls.CreateBuffer(opencl->context, access | CL_MEM_USE_HOST_PTR,
                                  size_bytes, bytes, &code);
    if (opencl_check(code, "clCreateBuffer", error) == VDBQ_OK)
        return made;
    opencl_memory_destroy(&made->head);
    return NULL;
}

enum vdbq_status opencl_memory_wrap(struct device *device, const void *bytes,
                                    uint64_t size_bytes,
                                    struct device_memory **memory,
                                    struct error *error)
{
    struct opencl_memory *made =
        over_bytes((struct opencl *)device, MEMORY_DEVICE, CL_MEM_READ_ONLY,
                   (void *)bytes, size_bytes, error);

    if (made == NULL)
        return error->status;
    *memory = &made->head;
    return VDBQ_OK;
}

enum vdbq_status opencl_memory_over(struct device *device, void *bytes,
                                    uint64_t size_bytes,
                                    struct device_memory **memory,
                                    struct error *error)
{
    uint64_t ignored = 0;
    struct opencl_memory *made =
        over_bytes((struct opencl *)device, MEMORY_PINNED, CL_MEM_READ_WRITE,
                   bytes, size_bytes, error);

    if (made == NULL)
        return error->status;
    if (map(made, &ignored, error) != VDBQ_OK) {
        opencl_memory_destroy(&made->head);
        return error->status;
    }
    *memory = &made->head;
    return VDBQ_OK;
}

/* Bytes that one thread zeroes at a time: most of it is the system's work,
 * which makes the pages. */
enum { CLEARED = 4 << 20 };

/* Zeroes part i of memory that is mapped; for parallel_run(). */
static void clear_part(void *context, unsigned i)
{
    const struct device_memory *memory = context;
    uint64_t first = (uint64_t)i * CLEARED, left = memory->size_bytes - first;
    memset((char *)memory->host + first, 0, left < CLEARED ? left : CLEARED);
}

/* Zeroes new memory; pinned memory is mapped for it, and stays so. */
static enum vdbq_status clear(struct opencl_memory *memory, struct error *error)
{
    uint64_t ignored = 0, size = memory->head.size_bytes;
    enum vdbq_status status = VDBQ_OK;

    if (memory->head.place != MEMORY_DEVICE) {
        status = map(memory, &ignored, error);
        if (status != VDBQ_OK)
            return status;
        if (opencl_of(&memory->head)->head.facts.shares_memory)
            os_memory_large(memory->head.host, size);
        parallel_run((unsigned)((size + CLEARED - 1) / CLEARED), clear_part,
                     &memory->head);
        return VDBQ_OK;
    }
    size = whole_patterns(size);
    for (uint64_t at = 0, some; at < size && status == VDBQ_OK; at += some) {
        cl_event event = NULL;
        cl_int code;
        some = size - at < OPENCL_FILL_BYTES ? size - at : OPENCL_FILL_BYTES;
        code = opencl_fill_part(&memory->head, at, some, 0, &event);
        status =
            opencl_wait(code, "clEnqueueFillBuffer", event, &ignored, error);
    }
    return status;
}

cl_int opencl_fill_part(struct device_memory *memory, uint64_t at,
                        uint64_t size, uint8_t byte, cl_event *event)
{
    cl_uchar pattern[PATTERN_FAR];
    size_t width = at < FAR ? PATTERN_NEAR : PATTERN_FAR;
    memset(pattern, byte, sizeof pattern);
    while (at % width != 0 || size % width != 0)
        width /= 2;
    return opencl_calls.EnqueueFillBuffer(
        opencl_of(memory)->queues.run, ((struct opencl_memory *)memory)->buffer,
        pattern, width, at, size, 0, NULL, event);
}

/* Does not wait for launches that are under way. */
static enum vdbq_status map(struct opencl_memory *memory, uint64_t *time_ns,
                            struct error *error)
{
    cl_event event = NULL;
    cl_int code;
    void *host = opencl_calls.EnqueueMapBuffer(
        opencl_of(&memory->head)->queues.out, memory->buffer, CL_TRUE,
        CL_MAP_READ | CL_MAP_WRITE, 0, memory->head.size_bytes, 0, NULL, &event,
        &code);
    enum vdbq_status status =
        opencl_wait(code, "clEnqueueMapBuffer", event, time_ns, error);

    if (code == CL_SUCCESS) /* it is mapped, whatever the wait said */
        memory->head.host = host;
    return status;
}

static enum vdbq_status unmap(struct opencl_memory *memory, uint64_t *time_ns,
                              struct error *error)
{
    cl_event event = NULL;
    cl_int code = opencl_calls.EnqueueUnmapMemObject(
        opencl_of(&memory->head)->queues.out, memory->buffer, memory->head.host,
        0, NULL, &event);
    enum vdbq_status status =
        opencl_wait(code, "clEnqueueUnmapMemObject", event, time_ns, error);

    if (code == CL_SUCCESS)
        memory->head.host = NULL;
    return status;
}

void opencl_memory_destroy(struct device_memory *memory)
{
    struct opencl_memory *opened = (struct opencl_memory *)memory;
    struct error ignored;
    uint64_t time_ns = 0;

    if (memory->host != NULL)
        unmap(opened, &time_ns, &ignored);
    if (opened->buffer != NULL) {
        opencl_sets_forget(opencl_of(memory));
        opencl_calls.ReleaseMemObject(opened->buffer);
    }
    memory_release(opened);
}

/* ---------------------------------------------------------- transfers -- */

/* On a discrete device the driver moves the whole buffer. Jobs may still be
 * copying from it: they come first, since its address ends here. */
enum vdbq_status opencl_memory_give(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error)
{
    if (!memory->device->facts.shares_memory)
        times->bytes_in += memory->size_bytes;
    opencl_calls.Finish(opencl_of(memory)->queues.in);
    return unmap((struct opencl_memory *)memory, &times->transfer_ns, error);
}

enum vdbq_status opencl_memory_take(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error)
{
    if (!memory->device->facts.shares_memory)
        times->bytes_out += memory->size_bytes;
    return map((struct opencl_memory *)memory, &times->transfer_ns, error);
}

/* Waits for a copy that was put into the queue; without an event for all that is
 * there, which ends sooner than a blocking copy (H100: by 1.5 us). */
static enum vdbq_status wait_copy(struct opencl *opencl, cl_int code,
                                  const char *call, cl_event event,
                                  uint64_t *time_ns, struct error *error)
{
    enum vdbq_status status;

    if (event != NULL)
        return opencl_wait(code, call, event, time_ns, error);
    status = opencl_check(code, call, error);
    if (status == VDBQ_OK)
        status =
            opencl_check(opencl_calls.Finish(opencl->queues.run), call, error);
    if (status == VDBQ_OK)
        opencl_calls_ended(opencl);
    return status;
}

/* Writes many bytes by parts. */
static enum vdbq_status write_relayed(const struct device_copy *copy,
                                      struct device_times *times,
                                      struct error *error)
{
    struct opencl *opencl = opencl_of(copy->memory);
    enum vdbq_status status = VDBQ_OK;

    for (uint64_t at = 0; at < copy->size && status == VDBQ_OK;) {
        struct device_copy part = opencl_relay_part(copy, at);
        at += part.size;
        status = opencl_relay(opencl, opencl->queues.run, &part, NULL, error);
    }
    return status == VDBQ_OK
               ? wait_copy(opencl, CL_SUCCESS, "clEnqueueWriteBuffer", NULL,
                           &times->transfer_ns, error)
               : status;
}

enum vdbq_status opencl_write(struct device_memory *memory, uint64_t offset,
                              const void *bytes, uint64_t size,
                              struct device_times *times, struct error *error)
{
    struct opencl *opencl = opencl_of(memory);
    cl_event event = NULL;
    cl_int code;

    times->bytes_in += size;
    if (!opencl->keeps_times && opencl_relays(opencl, size))
        return write_relayed(&(struct device_copy){ .memory = memory,
                                                    .offset = offset,
                                                    .bytes = (void *)bytes,
                                                    .size = size },
                             times, error);
    code = opencl_calls.EnqueueWriteBuffer(
        opencl->queues.run, ((struct opencl_memory *)memory)->buffer, CL_TRUE,
        offset, size, bytes, 0, NULL, opencl->keeps_times ? &event : NULL);
    return wait_copy(opencl, code, "clEnqueueWriteBuffer", event,
                     &times->transfer_ns, error);
}

/* ------------------------------------------------------------ few bytes -- */

/*
 * From memory of the device's own few bytes come soonest by a kernel that writes them
 * into the host's memory: H200, a kernel that does next to nothing and the read of
 * what it wrote 11.2 us, behind one that takes 5 us more as much more. Without such
 * memory they come into pinned memory, whence the host takes them, with an event that
 * it asks whether they are there: 14.7 us, but behind longer kernels 21.3, since what
 * copies looks whether they have ended but now and then. A read that waits takes
 * longer, and one to any other memory longer still.
 */
enum { STAGING_BYTES = SENT_BYTES + 2 * SENT_WORD };

/* Whether so many bytes go that way, for which the device then has the memory.
 * Where it cannot be made they go as many do. */
static bool is_staged(struct opencl *opencl, uint64_t size)
{
    struct error ignored;

    if (size > SENT_BYTES || opencl->keeps_times
        || opencl->head.facts.shares_memory)
        return false;
    return opencl->staging != NULL
           || opencl_memory_create(&opencl->head,
                                   opencl_zero_copies(&opencl->head)
                                       ? MEMORY_ZERO_COPY
                                       : MEMORY_PINNED,
                                   STAGING_BYTES, &opencl->staging, &ignored)
                  == VDBQ_OK;
}

/* Has them sent, and waits for that. */
static enum vdbq_status read_sent(struct device_memory *memory, uint64_t offset,
                                  uint64_t size, struct device_times *times,
                                  struct error *error)
{
    struct opencl *opencl = opencl_of(memory);
    cl_command_queue queue = opencl->queues.run;
    const struct opencl_sending sending = { .from = memory,
                                            .from_at = offset,
                                            .to = opencl->staging,
                                            .to_at = offset % SENT_WORD,
                                            .size = size };
    enum vdbq_status status =
        opencl_send(opencl, queue, &sending, NULL, times, error);
    enum vdbq_status ended =
        opencl_check(opencl_calls.Finish(queue), "clFinish",
                     status == VDBQ_OK ? error : &(struct error){ 0 });

    return status == VDBQ_OK ? ended : status;
}

/* Has them copied, and waits for that. */
static enum vdbq_status read_copied(struct device_memory *memory,
                                    uint64_t offset, uint64_t size,
                                    struct error *error)
{
    static const char call[] = "clEnqueueReadBuffer";
    struct opencl *opencl = opencl_of(memory);
    cl_event event = NULL;
    cl_int code = opencl_calls.EnqueueReadBuffer(
        opencl->queues.run, ((struct opencl_memory *)memory)->buffer, CL_FALSE,
        offset, size, opencl->staging->host, 0, NULL, &event);
    enum vdbq_status status = opencl_check(code, call, error);

    return status == VDBQ_OK
               ? opencl_poll(opencl->queues.run, event, call, error)
               : status;
}

static enum vdbq_status read_staged(struct device_memory *memory,
                                    uint64_t offset, void *bytes, uint64_t size,
                                    struct device_times *times,
                                    struct error *error)
{
    struct opencl *opencl = opencl_of(memory);
    bool sent = opencl->staging->place == MEMORY_ZERO_COPY;
    enum vdbq_status status =
        sent ? read_sent(memory, offset, size, times, error)
             : read_copied(memory, offset, size, error);

    if (status != VDBQ_OK)
        return status;
    memcpy(bytes,
           (char *)opencl->staging->host + (sent ? offset % SENT_WORD : 0),
           size);
    opencl_calls_ended(opencl);
    return VDBQ_OK;
}

enum vdbq_status opencl_read(struct device_memory *memory, uint64_t offset,
                             void *bytes, uint64_t size,
                             struct device_times *times, struct error *error)
{
    struct opencl *opencl = opencl_of(memory);
    cl_event event = NULL;
    cl_int code;

    times->bytes_out += size;
    if (is_staged(opencl, size))
        return read_staged(memory, offset, bytes, size, times, error);
    code = opencl_calls.EnqueueReadBuffer(
        opencl->queues.run, ((struct opencl_memory *)memory)->buffer, CL_FALSE,
        offset, size, bytes, 0, NULL, opencl->keeps_times ? &event : NULL);
    return wait_copy(opencl, code, "clEnqueueReadBuffer", event,
                     &times->transfer_ns, error);
}
