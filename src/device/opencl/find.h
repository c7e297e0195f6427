/* SPDX-License-Identifier: MIT */
/*
 * The OpenCL devices of this machine, what is known of each before it is
 * opened, and whether the machine of vdbq can run on it.
 */
#ifndef VDBQ_DEVICE_FIND_H
#define VDBQ_DEVICE_FIND_H

#include "base/text.h"
#include "base/vector.h"
#include "device/kind.h"
#include "device/opencl/opencl_calls.h"

enum { FOUND_NAME_MAX = 192, FOUND_UNFIT_MAX = 96 };

/* A device of a platform, in the order and with the numbers of clinfo. */
struct found_device {
    cl_platform_id platform;               /* of OpenCL */
    cl_device_id id;                       /* of OpenCL */
    unsigned platform_number;              /* from 0 */
    unsigned device_number;                /* from 0, in its platform */
    char platform_name[FOUND_NAME_MAX];    /* as the driver says it */
    char platform_version[FOUND_NAME_MAX]; /* "OpenCL 1.2 ..." */
    char name[FOUND_NAME_MAX];             /* as the driver says it */
    char driver[FOUND_NAME_MAX];           /* its version */
    const struct device_kind *kind; /* by the type that the driver says */
    bool shares_memory;             /* with the host */
    bool creates_buffers;  /* has cl_nv_create_buffer: opencl_zero_copy.c */
    bool exact_option;     /* knows the option for exact f32 divide and sqrt */
    bool has_fp64;         /* it has doubles */
    unsigned units;        /* compute units */
    uint64_t memory_bytes; /* of its own */
    uint64_t buffer_max_bytes;   /* of one buffer */
    char unfit[FOUND_UNFIT_MAX]; /* why it cannot run us, or "" */
};

struct found {
    struct vector devices; /* struct found_device */
    unsigned platforms;    /* that there are */
    bool loader_missing;   /* there is no libOpenCL */
    bool no_permission;    /* a GPU's node is there that we may not open */
};

/* Looks for all devices. Where OpenCL is missing or has no platform, none
 * are found and that is no failure; fails where the cache folder is not safe
 * or a driver refuses to answer. found_finish() is always due. */
enum vdbq_status found_fill(struct found *found, struct error *error);
void found_finish(struct found *found);

/* The n-th device; NULL beyond the last. */
const struct found_device *found_at(const struct found *found, size_t n);

/* ------------------------------------------------------------- choose -- */

/* The device that `choice` names, which is not "host". Fails with VDBQ_DEVICE
 * where none or several match, none is fit, or there is none at all. */
enum vdbq_status found_choose(const struct found *found, const char *choice,
                              const struct found_device **chosen,
                              struct error *error);

/* --------------------------------------------------------------- list -- */

/* Adds the table of devices with the way to choose one. */
void found_list(const struct found *found, struct text *text);
/* Adds why there is no device, and what to do. */
void found_diagnosis(const struct found *found, struct text *text);

#endif
