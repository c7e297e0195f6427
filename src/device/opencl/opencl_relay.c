/* SPDX-License-Identifier: MIT */
/*
 * The way to the device of many bytes that no driver pinned. NVIDIA's driver copies
 * them into pinned memory of its own, on one thread: 6 GB a second (H200), where
 * the link has 55. The relay has pinned memory, too, in parts that are filled by all
 * cores, sent, and filled again once they are there. To pin it takes milliseconds, so
 * that the first megabytes go the driver's way.
 */
#include <assert.h>

#include "base/threads/parallel.h"
#include "device/opencl/opencl.h"

bool opencl_relays(struct opencl *opencl, uint64_t size)
{
    struct opencl_relay *relay = &opencl->relay;
    struct error ignored;

    if (opencl->head.facts.shares_memory || relay->lacks)
        return false;
    relay->asked += size;
    if (relay->memory == NULL && relay->asked > RELAY_AFTER)
        relay->lacks = opencl_memory_create(&opencl->head, MEMORY_PINNED,
                                            RELAY_PARTS * RELAY_PART_BYTES,
                                            &relay->memory, &ignored)
                       != VDBQ_OK;
    return relay->memory != NULL && size >= RELAY_LEAST;
}

/* Waits until a part was sent. */
static enum vdbq_status wait_for_part(cl_event *sent, struct error *error)
{
    enum vdbq_status status;

    if (*sent == NULL)
        return VDBQ_OK;
    status = opencl_check(opencl_calls.WaitForEvents(1, sent),
                          "clWaitForEvents", error);
    opencl_calls.ReleaseEvent(*sent);
    *sent = NULL;
    return status;
}

struct device_copy opencl_relay_part(const struct device_copy *copy,
                                     uint64_t behind)
{
    uint64_t left = copy->size - behind;
    struct device_copy part = *copy;

    part.offset += behind;
    part.bytes = (uint8_t *)copy->bytes + behind;
    part.size = left < RELAY_PART_BYTES ? left : RELAY_PART_BYTES;
    return part;
}

enum vdbq_status opencl_relay(struct opencl *opencl, cl_command_queue queue,
                              const struct device_copy *part, cl_event *event,
                              struct error *error)
{
    struct opencl_relay *relay = &opencl->relay;
    cl_event *sent = &relay->sent[relay->next];
    uint8_t *bytes = (uint8_t *)relay->memory->host
                     + (uint64_t)relay->next * RELAY_PART_BYTES;
    enum vdbq_status status = wait_for_part(sent, error);

    assert(part->size <= RELAY_PART_BYTES);
    if (status != VDBQ_OK)
        return status;
    relay->next = (relay->next + 1) % RELAY_PARTS;
    parallel_expect(); /* parts follow one another */
    parallel_copy(bytes, part->bytes, part->size);
    status = opencl_check(
        opencl_calls.EnqueueWriteBuffer(
            queue, ((struct opencl_memory *)part->memory)->buffer, CL_FALSE,
            part->offset, part->size, bytes, 0, NULL, sent),
        "clEnqueueWriteBuffer", error);
    if (status != VDBQ_OK)
        return status;
    if (event != NULL) {
        status = opencl_check(opencl_calls.RetainEvent(*sent), "clRetainEvent",
                              error);
        *event = status == VDBQ_OK ? *sent : NULL;
    }
    return status == VDBQ_OK
               ? opencl_check(opencl_calls.Flush(queue), "clFlush", error)
               : status;
}

void opencl_relay_finish(struct opencl *opencl)
{
    struct opencl_relay *relay = &opencl->relay;
    struct error ignored;

    for (unsigned i = 0; i < RELAY_PARTS; i++)
        wait_for_part(&relay->sent[i], &ignored);
    device_memory_destroy(relay->memory);
    relay->memory = NULL;
}
