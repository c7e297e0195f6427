/* SPDX-License-Identifier: MIT */
/*
 * Where the programs of a scan run, and how. It is chosen once for a scan, by
 * stream_params.choose, and kept by who asked for it; all that works there is
 * handed a pointer to it.
 */
#ifndef VDBQ_EXEC_RUN_PLACE_H
#define VDBQ_EXEC_RUN_PLACE_H

#include "base/settings.h"

struct device;
struct dictionary_cache;
struct pool;
struct resident;

struct run_place {
    struct device *device;
    struct pool *pool;         /* of the database and that device; NULL: no
                                  table is read                           */
    struct resident *resident; /* of that device; for MODE_CACHED         */
    struct dictionary_cache *dictionaries; /* beside the pool; may be NULL */
    enum run_mode mode;                    /* never MODE_AUTO               */
    bool takes; /* rows where they are: the device may do what other steps
                   do with a scan's rows                                  */
    bool builds_behind; /* it is the host until the kernels of the device that
                           is meant are built                             */
    const struct settings *settings; /* of the run, which they outlive      */
};

#endif
