/* SPDX-License-Identifier: MIT */
/*
 * A driver pins 2 GB a second (NVIDIA's, on an H200's host), and takes as much
 * of the device's memory for it. What is moved to the device once comes sooner
 * from memory that was not pinned: the columns of TPC-H 6 at scale 10, 400 MB,
 * were on the device after 300 ms, of which it was pinned for 210.
 */
#include "device/plain.h"

#include "base/memory.h"
#include "cl/tablet.h"
#include "device/backend.h"

struct plain_memory {
    struct device_memory head; /* first: what callers hold */
    void *allocated;           /* that its bytes lie in    */
};

enum vdbq_status plain_memory_create(struct device *device, uint64_t size_bytes,
                                     struct device_memory **memory,
                                     struct error *error)
{
    struct plain_memory *made = memory_zeroed(1, sizeof *made);

    if (made != NULL && size_bytes < SIZE_MAX - TABLET_ALIGN)
        made->allocated = memory_spread(NULL, size_bytes + TABLET_ALIGN);
    if (made == NULL || made->allocated == NULL) {
        memory_release(made);
        return error_no_memory(error);
    }
    made->head = (struct device_memory){
        .device = device,
        .place = MEMORY_PLAIN,
        .size_bytes = size_bytes,
        .host = (void *)TABLET_ALIGNED((uintptr_t)made->allocated),
    };
    *memory = &made->head;
    return VDBQ_OK;
}

void plain_memory_destroy(struct device_memory *memory)
{
    memory_release(((struct plain_memory *)memory)->allocated);
    memory_release(memory);
}
