/* SPDX-License-Identifier: MIT */
/*
 * Memory of the host's that kernels read and write where it is, over the link: for
 * few bytes, since what copies takes its time to begin. NVIDIA's driver makes it by
 * its extension cl_nv_create_buffer; what it pins otherwise (CL_MEM_ALLOC_HOST_PTR,
 * shared virtual memory) has a twin on the device that kernels write, and the host
 * does not see it before it is moved.
 *
 * The host does not map and unmap around each kernel, as OpenCL has it, but waits for
 * the kernel: the memory has no other place. That this is so is tried, not believed.
 */
#include <assert.h>
#include <string.h>

#include "device/opencl/opencl.h"

/* The extension's: cl_mem_flags_NV, of which one is needed, and the call. */
#define IN_HOST_MEMORY ((cl_bitfield)1)
typedef cl_mem(CL_API_CALL *create_buffer)(cl_context, cl_mem_flags,
                                           cl_bitfield, size_t, void *,
                                           cl_int *);

/* The driver's call; NULL: it has none. */
static create_buffer create_of(const struct opencl *opencl)
{
    void *found = opencl_calls.GetExtensionFunctionAddressForPlatform(
        opencl->found.platform, "clCreateBufferNV");
    create_buffer call;

    memcpy(&call, &found, sizeof call); /* ISO C has no such cast */
    return call;
}

cl_mem opencl_zero_copy_buffer(struct opencl *opencl, uint64_t size,
                               cl_int *code)
{
    create_buffer create = create_of(opencl);

    *code = CL_INVALID_OPERATION;
    return create == NULL ? NULL
                          : create(opencl->context, CL_MEM_READ_WRITE,
                                   IN_HOST_MEMORY, size, NULL, code);
}

enum vdbq_status opencl_send(struct opencl *opencl, cl_command_queue queue,
                             const struct opencl_sending *sending,
                             cl_event *event, struct device_times *times,
                             struct error *error)
{
    uint64_t first = sending->from_at / SENT_WORD;
    uint64_t place = sending->to_at / SENT_WORD;
    uint64_t before = sending->from_at % SENT_WORD;
    uint64_t count = (before + sending->size + SENT_WORD - 1) / SENT_WORD;

    assert(before == sending->to_at % SENT_WORD);
    return opencl_call_start(
        opencl, queue,
        &(struct device_call){ .kernel = KERNEL_SEND,
                               .memories = { sending->from, sending->to },
                               .memory_count = 2,
                               .numbers = { first, place, count },
                               .number_count = 3,
                               .items = count },
        event, times, error);
}

bool opencl_is_sent(const struct device_memory *in, uint64_t size)
{
    return in != NULL && in->place == MEMORY_ZERO_COPY && size <= SENT_BYTES;
}

/* Whether there is room for so many bytes that are put. */
static bool has_put_room(struct opencl *opencl, uint64_t size)
{
    struct error ignored;

    if (size % SENT_WORD != 0 || size > SENT_BYTES - opencl->put_bytes
        || opencl->keeps_times || !opencl_zero_copies(&opencl->head))
        return false;
    return opencl->put != NULL
           || opencl_memory_create(&opencl->head, MEMORY_ZERO_COPY, SENT_BYTES,
                                   &opencl->put, &ignored)
                  == VDBQ_OK;
}

bool opencl_put_sent(struct device_memory *memory, const void *bytes,
                     uint64_t size, struct device_times *times)
{
    struct opencl *opencl = (struct opencl *)memory->device;
    struct opencl_sending sending = { .to = memory, .size = size };
    struct error ignored;

    if (!has_put_room(opencl, size))
        return false;
    sending.from = opencl->put;
    sending.from_at = opencl->put_bytes;
    memcpy((char *)opencl->put->host + sending.from_at, bytes, size);
    opencl->put_bytes += size;
    return opencl_send(opencl, opencl->queues.run, &sending, NULL, times,
                       &ignored)
           == VDBQ_OK;
}

/* Whether a kernel reads what the host wrote, and the host what it wrote; whoever stops
 * the build of the kernel leaves it open. */
static enum zero_copies try(struct opencl *opencl, struct device_memory *memory)
{
    static const uint64_t sent = 0x0123456789abcdef;
    volatile uint64_t *words = memory->host;
    struct device_times ignored = { 0 };
    struct error error;
    cl_command_queue queue = opencl->queues.run;
    enum vdbq_status status;

    words[1] = sent;
    status = opencl_send(opencl, queue,
                         &(struct opencl_sending){ .from = memory,
                                                   .to = memory,
                                                   .from_at = SENT_WORD,
                                                   .size = SENT_WORD },
                         NULL, &ignored, &error);
    if (status == VDBQ_CANCELLED)
        return ZERO_COPIES_UNTRIED;
    return status == VDBQ_OK && opencl_calls.Finish(queue) == CL_SUCCESS
                   && words[0] == sent
               ? ZERO_COPIES_DO
               : ZERO_COPIES_NOT;
}

bool opencl_zero_copies(struct device *device)
{
    struct opencl *opencl = (struct opencl *)device;
    struct device_memory *memory;
    struct error ignored;

    if (opencl->zero_copies != ZERO_COPIES_UNTRIED)
        return opencl->zero_copies == ZERO_COPIES_DO;
    opencl->zero_copies = ZERO_COPIES_NOT;
    if (device->facts.shares_memory || !opencl->found.creates_buffers
        || opencl_memory_create(device, MEMORY_ZERO_COPY, 2 * SENT_WORD,
                                &memory, &ignored)
               != VDBQ_OK)
        return false;
    opencl->zero_copies = try(opencl, memory);
    device_memory_destroy(memory);
    return opencl->zero_copies == ZERO_COPIES_DO;
}
