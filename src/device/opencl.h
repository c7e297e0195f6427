/* SPDX-License-Identifier: MIT */
/*
 * A device that OpenCL drives: what its files share. A queue runs its
 * commands in order; every call here waits for what it starts.
 */
#ifndef VDBQ_DEVICE_OPENCL_H
#define VDBQ_DEVICE_OPENCL_H

#include "base/vector.h"
#include "device/backend.h"
#include "device/find.h"

struct opencl {
    struct device head;
    struct found_device found; /* as it was chosen                       */
    cl_device_id id;           /* the device, or the part of it in use   */
    bool is_part;              /* `id` is ours to release                */
    cl_context context;
    cl_command_queue queue;    /* in order, with profiling               */
    struct vector machines;    /* struct opencl_machine *, see there     */
};

/* Opens a device, or `cores` of its compute units where that is not 0. */
enum vdbq_status opencl_open(const struct found_device *found, unsigned cores,
                             struct device **device, struct error *error);

/* Checks `code`, the result of the enqueueing `call` that gave `event`; then
 * waits for the event, adds its time on the device to `*time_ns`, and lets
 * it go. */
enum vdbq_status opencl_wait(cl_int code, const char *call, cl_event event,
                             uint64_t *time_ns, struct error *error);

/* ------------------------------------------------------------- memory -- */

struct opencl_memory {
    struct device_memory head;
    cl_mem buffer;
};

enum vdbq_status opencl_memory_create(struct device *device,
                                      enum memory_place place,
                                      uint64_t size_bytes,
                                      struct device_memory **memory,
                                      struct error *error);
void opencl_memory_destroy(struct device_memory *memory);
enum vdbq_status opencl_memory_give(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);
enum vdbq_status opencl_memory_take(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);
enum vdbq_status opencl_write(struct device_memory *memory, uint64_t offset,
                              const void *bytes, uint64_t size,
                              struct device_times *times, struct error *error);
enum vdbq_status opencl_read(struct device_memory *memory, uint64_t offset,
                             void *bytes, uint64_t size,
                             struct device_times *times, struct error *error);

/* ------------------------------------------------------------ machine -- */

struct device_machine *
opencl_machine_find(struct device *device,
                    const struct device_machine_params *params);
enum vdbq_status
opencl_machine_build(struct device *device,
                     const struct device_machine_params *params, bool behind,
                     struct device_machine **machine, struct error *error);
enum vdbq_status opencl_machine_keep(struct device_machine *machine,
                                     struct error *error);
/* Fills `known`; the facts are there. */
void opencl_tuning_init(struct opencl *opencl);
/* Frees the machines of a device that closes. */
void opencl_machines_finish(struct opencl *opencl);

/* Builds the program whose text is `count` strings. A driver that keeps no
 * binaries of its own gets ours; see cache.h. */
enum vdbq_status opencl_build(struct opencl *opencl, const char **strings,
                              unsigned count, const char *options,
                              cl_program *program, struct error *error);

enum vdbq_status opencl_launch(struct device_machine *machine,
                               const struct device_launch *params,
                               struct device_times *times,
                               struct error *error);
enum vdbq_status opencl_order(struct device_machine *machine,
                              const struct device_launch *params,
                              struct device_memory *ordered, unsigned steps,
                              struct device_times *times,
                              struct error *error);

#endif
