/* SPDX-License-Identifier: MIT */
/*
 * What a kind of device does for device.c and job.c: one table of functions,
 * and the heads that every kind's own structs start with. device.c has checked
 * the arguments: memories and machines belong to the device, ranges lie within
 * the memory, sizes are not 0.
 */
#ifndef VDBQ_DEVICE_BACKEND_H
#define VDBQ_DEVICE_BACKEND_H

#include "base/vector.h"
#include "device/builder.h"
#include "device/job.h"
#include "device/kernel.h"
#include "device/tuning.h"

/* The calls of device.h, for one kind of device; none may be NULL but
 * memory_over, zero_copies, and fill, where there are no kernels but those of search. */
struct device_backend {
    /* Frees the device, and the machines that were built for it. */
    void (*close)(struct device *device);

    enum vdbq_status (*memory_create)(struct device *device,
                                      enum memory_place place,
                                      uint64_t size_bytes,
                                      struct device_memory **memory,
                                      struct error *error);
    enum vdbq_status (*memory_wrap)(struct device *device, const void *bytes,
                                    uint64_t size_bytes,
                                    struct device_memory **memory,
                                    struct error *error);
    /* Pinned memory, held by the host, that is `bytes`; NULL where the kind has
     * no compiler to wait for, so that no other stands in for it. */
    enum vdbq_status (*memory_over)(struct device *device, void *bytes,
                                    uint64_t size_bytes,
                                    struct device_memory **memory,
                                    struct error *error);
    bool (*zero_copies)(struct device *device); /* NULL: it does not */
    void (*memory_destroy)(struct device_memory *memory);
    enum vdbq_status (*memory_give)(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);
    enum vdbq_status (*memory_take)(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);
    enum vdbq_status (*write)(struct device_memory *memory, uint64_t offset,
                              const void *bytes, uint64_t size,
                              struct device_times *times, struct error *error);
    enum vdbq_status (*read)(struct device_memory *memory, uint64_t offset,
                             void *bytes, uint64_t size,
                             struct device_times *times, struct error *error);

    /* The machine in the device's cache, or NULL. */
    struct device_machine *(*machine_find)(
        struct device *device, const struct device_machine_params *params);
    /* Builds one that is not there, ready to be launched, whatever a driver puts
     * off until then. Another thread may build while the device is in use: only
     * what does not change while the device is open is touched. A statement may
     * stop waiting: CANCELLED. */
    enum vdbq_status (*machine_build)(
        struct device *device, const struct device_machine_params *params,
        struct device_machine **machine, struct error *error);
    /* Whether it would be built without a compiler; of a driver that keeps what it
     * compiles by itself, whether it is known to have compiled it. */
    bool (*machine_is_kept)(struct device *device,
                            const struct device_machine_params *params);
    /* Puts it into the cache; frees it where there is no memory. */
    enum vdbq_status (*machine_keep)(struct device_machine *machine,
                                     struct error *error);

    /* Measuring, for limits.c. Reads all of a memory that the device holds,
     * with a kernel of its own, so many times; gives the shortest time. */
    enum vdbq_status (*sweep)(struct device_memory *memory, unsigned runs,
                              uint64_t *best_ns, struct error *error);
    /* Copies `size` bytes at `bytes` to the start of a memory, and as many
     * from behind them back to behind `bytes`, both at once; adds the time. */
    enum vdbq_status (*exchange)(struct device_memory *memory, void *bytes,
                                 uint64_t size, uint64_t *time_ns,
                                 struct error *error);

    /* From now on the device keeps the times of what it does, or does not;
     * waits for what was started. Never fails to stop. */
    enum vdbq_status (*times_keep)(struct device *device, bool keep,
                                   struct error *error);

    /* Jobs. A start or a collect that fails leaves nothing in flight; a
     * destroy waits for what is. */
    enum vdbq_status (*job_create)(struct device *device,
                                   struct device_job **job,
                                   struct error *error);
    void (*job_destroy)(struct device_job *job);
    enum vdbq_status (*job_start)(struct device_job *job,
                                  const struct device_job_params *params,
                                  struct error *error);
    bool (*job_has_run)(struct device_job *job);
    enum vdbq_status (*job_run)(struct device_job *job, struct error *error);
    enum vdbq_status (*job_collect)(struct device_job *job,
                                    const struct device_copy *copies,
                                    size_t count, struct error *error);
    enum vdbq_status (*job_wait)(struct device_job *job, struct error *error);

    enum vdbq_status (*call)(struct device *device,
                             const struct device_call *call,
                             struct device_times *times, struct error *error);
    enum vdbq_status (*put)(struct device_memory *memory, const void *bytes,
                            uint64_t size, struct device_times *times,
                            struct error *error);
    enum vdbq_status (*fill)(struct device_memory *memory, uint64_t size,
                             uint8_t byte, struct error *error);
    /* NULL: a job has run when it was started. */
    enum vdbq_status (*calls_follow)(struct device *device,
                                     struct error *error);
    enum vdbq_status (*calls_wait)(struct device *device,
                                   struct device_times *times,
                                   struct error *error);
};

/* The head of every device: first member of the kind's own struct. */
struct device {
    const struct device_backend *backend; /* the calls of its kind */
    struct device_facts facts; /* filled by the kind's open              */
    char choice[DEVICE_CHOICE_BYTES]; /* that it was opened by; "": a longer
                                         one                               */
    unsigned cores;           /* ... of these; 0: all                   */
    struct known known;       /* by measuring                           */
    struct builder *builders; /* of machines that are built behind; or NULL */
    unsigned times_holds;     /* that are not released; device.c's       */
    struct vector kept;       /* struct device_memory *: released ones,
                                  oldest first; device.c's              */
    uint64_t kept_bytes[MEMORY_PLACES]; /* of those of a place             */
};

/* The head of every memory. */
struct device_memory {
    struct device *device;   /* that it belongs to */
    enum memory_place place; /* who can reach it */
    uint64_t size_bytes;     /* as it was asked for */
    void *host; /* where the host reaches it; NULL: the device holds it */
    struct device_memory *under; /* whose bytes it uses, which goes with it;
                                    NULL: its own, or nobody's here; device.c's */
};

/* Groups that a launch takes. */
uint32_t device_launch_groups(const struct device_launch *launch);

/* The head of every job. */
struct device_job {
    struct device *device;     /* that runs it */
    struct device_times times; /* of this start; added up by job_wait */
};

/* Frees what the device keeps; every kind's close begins with it. */
void device_kept_finish(struct device *device);

enum { MACHINE_NAME_MAX = 48 };

/* The head of every machine. */
struct device_machine {
    struct device *device;       /* that it was built for */
    struct machine_shape shape;  /* how it divides rows among work-items */
    char name[MACHINE_NAME_MAX]; /* of a build that has no text of its own */
};

/* Counts a build, and whether it was made before, by any process. `build_ns`: how
 * long a specialised one took in all; 0: not measured to its end. */
void device_count_build(const struct device_machine *machine,
                        const struct device_machine_params *params,
                        uint64_t build_ns, struct device_times *times);

#endif
