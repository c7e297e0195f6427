/* SPDX-License-Identifier: MIT */
/*
 * Devices: choose one, give it memory, build the machine for it, launch it.
 * One interface over two kinds: OpenCL devices, and the host build of the
 * machine, which needs no OpenCL. No cl_int leaves this floor. A device and
 * what was made from it belong to one thread at a time.
 */
#ifndef VDBQ_DEVICE_DEVICE_H
#define VDBQ_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/settings.h"
#include "base/text.h"
#include "cl/launch.h"

struct device;
struct device_kind;

/* ------------------------------------------------------------ choose -- */

enum { DEVICE_CHOICE_BYTES = 64 };
struct device_params {
    const char
        *choice;    /* cpu | gpu | gpu:N | auto | host | P:D | part of a name */
    unsigned cores; /* compute units to use; 0: all                   */
    bool tried_only; /* not one that was never tried: that takes a compiler */
};

/* Opens the one device that `choice` names; NULL where `tried_only` leaves it
 * out. Fails with VDBQ_DEVICE where none or several match (the hint lists what
 * there is), with VDBQ_DEVICE and the diagnosis where there is no OpenCL device
 * at all. */
enum vdbq_status device_open(const struct device_params *params,
                             struct device **device, struct error *error);
void device_close(struct device *device);

/* Writes the table of devices, or the diagnosis; returns how many. */
unsigned device_list(struct text *text);

/* What is known of an open device. */
struct device_facts {
    const char *name; /* "host", "NVIDIA H200"                   */
    const struct device_kind *kind; /* see kind.h                         */
    bool shares_memory;        /* with the host: mapped memory is free    */
    unsigned cores;            /* compute units in use                    */
    uint64_t memory_bytes;     /* of the device                           */
    uint64_t buffer_max_bytes; /* of one buffer                           */
};
const struct device_facts *device_facts(const struct device *device);

/* ------------------------------------------------------------ memory -- */

/* Where memory lies. */
enum memory_place {
    MEMORY_PINNED,    /* host memory that the device can reach; has a host
                         pointer while the host holds it                   */
    MEMORY_PLAIN,     /* host memory that it need not reach, always held by
                         the host: a driver takes a tenth of the time to make
                         it, and copies from it at a fifth of the rate     */
    MEMORY_DEVICE,    /* the device's own; moved by device_write/read       */
    MEMORY_ZERO_COPY, /* few bytes of the host's, which kernels read and write
                         where they are, over the link; always has a host
                         pointer, behind which is what they wrote once they
                         were waited for. See device_zero_copies()         */
    MEMORY_PLACES
};
struct device_memory;

/* `size_bytes` of memory, at least 64-byte aligned, zeroed or not; it may be
 * one that was released. Pinned memory is held by the host. Fails with
 * VDBQ_DEVICE (too large, none left), VDBQ_NO_MEMORY. */
enum vdbq_status device_memory_create(struct device *device,
                                      enum memory_place place,
                                      uint64_t size_bytes,
                                      struct device_memory **memory,
                                      struct error *error);
/* Whether the device has memory of its own, and MEMORY_ZERO_COPY, which the first
 * question tries. Not while times are held: copies are told apart then. */
bool device_zero_copies(struct device *device);
/* Has a device that shares the host's memory read `size_bytes` of it, 4096-byte
 * aligned, where they are; they outlive the memory, which has no host pointer
 * and cannot be written. */
enum vdbq_status device_memory_wrap(struct device *device, const void *bytes,
                                    uint64_t size_bytes,
                                    struct device_memory **memory,
                                    struct error *error);
/* Has a device that shares the host's memory go on with pinned memory of
 * another one that does, where it lies: `*memory` becomes the device's, held by
 * the host as before. The other device is closed later than this one. Fails as
 * device_memory_create() does; nothing has changed then. */
enum vdbq_status device_memory_move(struct device *device,
                                    struct device_memory **memory,
                                    struct error *error);
void device_memory_destroy(struct device_memory *memory);
/* Ends the use of a memory that the next query is likely to need again: the
 * device keeps it for a device_memory_create() of about its size, which then
 * asks no driver. What is kept is bounded. Nothing may be in flight. */
void device_memory_release(struct device_memory *memory);
/* At least what was asked for. */
uint64_t device_memory_size(const struct device_memory *memory);
/* Whether the device can reach it: it is not plain. */
bool device_memory_is_reached(const struct device_memory *memory);
/* The host's address of memory that the host holds; else NULL. */
void *device_memory_host(const struct device_memory *memory);

/* Time and bytes that transfers and launches took; added to. */
struct device_times {
    uint64_t kernel_ns;     /* the kernels alone */
    uint64_t transfer_ns;   /* copies in both directions */
    uint64_t compile_ns;    /* of the driver */
    uint64_t bytes_in;      /* host to device */
    uint64_t bytes_out;     /* device to host */
    unsigned launches;      /* of kernels */
    unsigned builds;        /* of the machine                             */
    unsigned builds_cached; /* of which a cache should have held, as they
                               were made before                           */
};

void device_times_add(struct device_times *to, const struct device_times *from);

/* From the first hold to the last release the device keeps the times of what
 * it does. Before and after, OpenCL devices add 0 to kernel_ns and transfer_ns
 * (unless their driver tells times unasked), since keeping them makes every
 * command dearer. Both may wait for what was started; that counts as before. A
 * hold that fails holds nothing. */
enum vdbq_status device_times_hold(struct device *device, struct error *error);
void device_times_release(struct device *device);

/* Hands pinned memory to the device (unmap) or back to the host (map). Free
 * where memory is shared; elsewhere the driver may move the whole buffer.
 * Calling it for the side that holds the memory already does nothing. */
enum vdbq_status device_memory_give(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);
enum vdbq_status device_memory_take(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);

/* Copies `size` bytes between the host and device memory and waits. `bytes`
 * may lie in pinned memory, which is the fast way. */
enum vdbq_status device_write(struct device_memory *memory, uint64_t offset,
                              const void *bytes, uint64_t size,
                              struct device_times *times, struct error *error);
enum vdbq_status device_read(struct device_memory *memory, uint64_t offset,
                             void *bytes, uint64_t size,
                             struct device_times *times, struct error *error);

/* ----------------------------------------------------------- machine -- */

/* Fails with DEVICE where the device has no such build of the machine. */
enum vdbq_status device_check_build(const struct device *device,
                                    enum device_build build,
                                    struct error *error);

/* The machine, built for a device: any program of up to so many registers
 * (interpreted), or one program (specialised). */
struct device_machine;

struct device_machine_params {
    enum device_build build; /* interpreted or specialised */
    unsigned registers;      /* the program's                              */
    unsigned axes;           /* the program's; 0: it reads no table        */
    bool groups;             /* specialised: rows are added to groups      */
    const char *body;        /* specialised: the text from
                              program_specialise(); else NULL            */
};

/* Builds the machine, or takes it from the device's cache; machines live
 * until the device is closed. The host has the interpreted build only.
 * Fails with VDBQ_DEVICE and the start of the build log. */
enum vdbq_status device_machine(struct device *device,
                                const struct device_machine_params *params,
                                struct device_machine **machine,
                                struct device_times *times,
                                struct error *error);

/* Looks into the device's cache only; NULL: not there. What was built behind
 * is taken into the cache first, and what that took is added to `times`. */
struct device_machine *
device_machine_find(struct device *device,
                    const struct device_machine_params *params,
                    struct device_times *times);

/* Whether device_machine() would ask no compiler: the machine is in the device's
 * cache, or whole on disk, or the driver, which keeps what it
 * compiles by itself, is known to have compiled it. */
bool device_machine_is_kept(struct device *device,
                            const struct device_machine_params *params);
/* Whether the interpreted machine is still to be compiled, for much longer than a
 * specialised one, and a process was started that does it: until it is done
 * queries had better run specialised. */
bool device_machine_is_far(struct device *device,
                           const struct device_machine_params *interpreted);
/* Whether no kernel of any device is on disk. */
bool device_none_is_kept(void);
/* How many processes compile for one device beside one another: a driver compiles one
 * program of a process at a time, and cores are there for several. */
enum { DEVICE_LANES_MAX = 4 };
unsigned device_build_lanes(void);
/* A process that builds for others has a lane: on the first one it builds all, and
 * others that ask for that one wait, for what it builds they need not; on another one,
 * what is ordered. Takes the first lane that is free; where none is, or unless it may
 * be `any`, waits for the first. Before devices are opened. */
int device_builds_lock(bool any, unsigned *lane);
void device_builds_unlock(int lock);
/* Whether a lane is free but for the first. */
bool device_build_lane_is_free(void);

/* Has a machine built behind. One that is kept on disk is loaded on another
 * thread, for device_machine_find() to find; device_close() waits for it. Others
 * are ordered of the build process (order.h), since compilers hold locks of their
 * driver that queries want, and then loaded; where there is no such process, the
 * thread builds them. False where there are threads enough, so that it may be tried
 * again. */
bool device_machine_behind(struct device *device,
                           const struct device_machine_params *params);

/* Rows that one step of the machine covers (VDBQ_GROUP * VDBQ_TILE), and how
 * many steps a group best walks: multiplied, the rows of one group. */
struct machine_shape {
    unsigned step_rows;      /* rows that a work-group takes at once */
    unsigned steps_per_item; /* steps that one work-item takes */
    bool dense; /* the rows of all steps lie next to one another, in order;
                   else those of a group's do                              */
};
struct machine_shape device_machine_shape(const struct device_machine *machine);

/* ------------------------------------------------------------ tuning -- */

#define LOOK_UPS_NEVER (UINT64_C(1) << 59)

/* What is known of a device by measuring: from the file that the tuning run
 * wrote, else the built-in values; queries refine gain and compile_ns. The
 * shape holds for machines that are built from then on. */
struct device_tuning {
    unsigned tile; /* rows; on a CPU with up to 16 registers,
                                  with more of them in proportion fewer    */
    unsigned tile_specialised;
    unsigned group;            /* work-items; 1 on a CPU                   */
    unsigned item_rows;        /* a CPU's item walks at most               */
    double gain;               /* interpreted / specialised kernel time    */
    double cost_ns;            /* a row's, for a price of 1, interpreted;
                                  0: not measured                          */
    uint64_t compile_ns;       /* of a specialised machine                 */
    uint64_t cached_ns;        /* ... that the driver's cache holds        */
    uint64_t launch_ns;        /* of a launch over few rows, all in all    */
    uint64_t host_rows_max;    /* fewer run faster on the host, where the
                                  device must be opened first              */
    uint64_t pary_keys_max;    /* a look-up of more keys walks the tree      */
    uint64_t look_ups_min;     /* so many keys of an index at least are looked
                                  up on the device, fewer on the host      */
    struct vdbq_limits limits; /* 0: not measured                          */
};
const struct device_tuning *device_tuning(const struct device *device);
/* Takes a gain that a query measured into account. */
void device_gain_note(struct device *device, double gain);
/* Sets all values; waits for what is being built behind. */
void device_tuning_set(struct device *device,
                       const struct device_tuning *tuning);

/* Builds a machine that nobody keeps, ready to be launched, and says how long
 * that took; for the tuning run. */
enum vdbq_status device_build_time(struct device *device,
                                   const struct device_machine_params *params,
                                   uint64_t *time_ns, struct error *error);

/* Measures the limits of the device and of the way to it, and makes them part
 * of its tuning. Takes up to a second. Fails with DEVICE, NO_MEMORY. */
enum vdbq_status device_limits_measure(struct device *device,
                                       struct error *error);

/* Writes the tuning to the device's file and adds its path to `path`. Fails
 * with DEVICE (the host has none), IO. */
enum vdbq_status device_tuning_save(const struct device *device,
                                    struct text *path, struct error *error);

/* Rows below which the host is faster than a CPU device that is not open
 * yet, as the last tuning run of one found; 0: not known. */
uint64_t device_host_rows_max(void);

/* Sights after which a program gets its specialised machine. */
enum { DEVICE_SIGHTS = 2 };

/* What is known of a program, told by the text of its specialised form. */
struct device_shape {
    uint64_t hash;      /* of the body */
    bool built;         /* once, by any process: it is in a cache          */
    unsigned sights;    /* by queries over many rows, of all processes;
                           DEVICE_SIGHTS at most                           */
    bool ordered;       /* by this process, of the build process           */
    bool started;       /* by this process                                 */
    uint64_t missed_ns; /* that its runs would have been shorter           */
};
/* Its record, made where there is none; NULL: no memory. Lives until the
 * next call on the device. */
struct device_shape *device_shape(struct device *device, const char *body);

/* Notes that a query over many rows runs the program. Whether its specialised
 * machine is wanted from now on: a cache holds it, or it was sighted before. */
bool device_sight(struct device *device, const char *body);
#endif
