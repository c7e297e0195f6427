/* SPDX-License-Identifier: MIT */
/*
 * Kinds of devices: one table (kind.c), a row for each. What depends on the
 * kind, on any floor, is a field of the row; nothing else asks which kind a
 * device is. What depends on one driver is in opencl/quirks.h.
 */
#ifndef VDBQ_DEVICE_KIND_H
#define VDBQ_DEVICE_KIND_H

#include "device/device.h"

/* The bounds of what a tuning file may say; each is a power of two. */
struct kind_bounds {
    unsigned tile_min; /* rows of a tile */
    unsigned tile_max;
    unsigned group_min; /* work-items of a group */
    unsigned group_max;
};

/* How a kernel that only reads is fastest. */
struct kind_reading {
    const char *type; /* of OpenCL C: what an item reads at once          */
    unsigned width;   /* of it, in bytes                                  */
    uint64_t reads;   /* of an item                                       */
    size_t group;     /* items side by side; 1: each walks along alone    */
};

struct device_kind {
    const char *name;     /* --devices lists it, and a choice may name it   */
    uint64_t opencl_type; /* bits of CL_DEVICE_TYPE, any of which makes a
                             device one of this kind, where no row above
                             matches; 0: it is the host build               */

    /* Choosing: */
    bool is_choice; /* the name alone chooses the kind, or a device of it */
    bool
        first_is_meant; /* ... and where there are several, the first of them */
    bool is_default;    /* it is meant where nothing is chosen                */
    bool is_best;       /* the choice `auto` prefers it                       */

    /* The device: */
    bool shares_memory;       /* with the host, always; else OpenCL is asked */
    bool kernels_use_held;    /* kernels may use memory that the host holds  */
    bool specialises;         /* it has the specialised build                */
    bool interpreted_is_far;  /* the interpreted one takes its compiler tens of
                                 times as long as a specialised one           */
    uint64_t more_orders_ns;  /* for which the build process waits for more:
                                 to open the device takes it long            */
    bool runs_beside;         /* kernels run beside one another: two queues  */
    bool tile_fits_cache;     /* a tile gets shorter the more registers there
                                   are                                         */
    unsigned group_items;     /* of kernels beside the machine               */
    unsigned groups_per_core; /* of them, at most                            */
    struct kind_reading reading;

    /* Tuning, for what was never tuned and what may be: */
    struct device_tuning tuning;
    struct kind_bounds bounds;
    bool host_is_quick; /* few rows run faster on the host than it takes to
                           open a device: host_rows_max is told before that  */

    /* The executor: */
    unsigned launch_factor; /* the work of a launch, a CPU's being 1          */
    bool groups_rows;       /* groups, sorts and joins rows unless an option
                               says otherwise; else the host does             */
    bool dense_indexes;     /* an index over keys may have many empty places:
                               a look-up that waits costs more than memory    */
    unsigned own_fifths;    /* of memory of its own that tablets may take; 0:
                               as of memory that it shares, a quarter         */
};

/* The kind of a device of OpenCL: of its CL_DEVICE_TYPE. */
const struct device_kind *kind_of_type(uint64_t opencl_type);
/* The kind that a choice names, in any case; NULL: it names none. */
const struct device_kind *kind_of_choice(const char *choice);
/* What is opened where nothing is chosen. */
const struct device_kind *kind_default(void);

#endif
