/* SPDX-License-Identifier: MIT */
/*
 * Parts of devices: some of a device's compute units. A part that was made
 * stays until the process ends, and serves all who ask for as many units of
 * that device.
 *
 * It must stay: a thread of POCL still looks at the device of a command that
 * was already told to have ended, when the queue and the context are long
 * released. That thread may have lost its core just then, on a machine with
 * much to do, and would go on in memory that is gone.
 */
#include <pthread.h>

#include "device/opencl/opencl.h"

struct part {
    cl_device_id whole; /* the device that it is a part of */
    unsigned cores;     /* its compute units               */
    cl_device_id id;    /* never released                  */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vector parts = { .width = sizeof(struct part) };

static enum vdbq_status part_make(const struct found_device *found,
                                  unsigned cores, cl_device_id *id,
                                  struct error *error);

/* The part that was made before; NULL: none. The lock is held. */
static cl_device_id part_find(cl_device_id whole, unsigned cores)
{
    const struct part *made = parts.items;

    for (size_t i = 0; i < parts.count; i++)
        if (made[i].whole == whole && made[i].cores == cores)
            return made[i].id;
    return NULL;
}

enum vdbq_status opencl_part(const struct found_device *found, unsigned cores,
                             cl_device_id *id, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    pthread_mutex_lock(&lock);
    *id = part_find(found->id, cores);
    if (*id == NULL)
        status = part_make(found, cores, id, error);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Makes a part and notes it. */
static enum vdbq_status part_make(const struct found_device *found,
                                  unsigned cores, cl_device_id *id,
                                  struct error *error)
{
    const cl_device_partition_property how[] = {
        CL_DEVICE_PARTITION_BY_COUNTS, (cl_device_partition_property)cores,
        CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0
    };
    struct part *part = vector_add(&parts);
    enum vdbq_status status;

    if (part == NULL)
        return error_no_memory(error);
    status =
        opencl_check(opencl_calls.CreateSubDevices(found->id, how, 1, id, NULL),
                     "clCreateSubDevices", error);
    if (status == VDBQ_OK)
        *part = (struct part){ .whole = found->id, .cores = cores, .id = *id };
    else
        parts.count--;
    if (status == VDBQ_DEVICE)
        error_hint(error,
                   "device '%s' cannot be limited to %u of its %u "
                   "cores: set cores to 0 (VDBQ_CORES)",
                   found->name, cores, found->units);
    return status;
}
