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
struct run_cache;

/* Whether it is the host in place of the CPU device, and until when. */
enum stand_in {
    STANDS_IN_NOT,
    STANDS_IN_UNTIL_OPEN, /* it is opened behind, once that pays */
    STANDS_IN_UNTIL_BUILT /* its kernels are being compiled behind */
};

struct run_place {
    struct device *device;
    struct pool *pool;         /* of the database and that device; NULL: no
                                  table is read                           */
    struct resident *resident; /* of that device; for MODE_CACHED         */
    struct dictionary_cache *dictionaries; /* beside the pool; may be NULL */
    struct run_cache *runs; /* of the connection; may be NULL              */
    uint64_t runs_bytes;    /* that they may take                          */
    enum run_mode mode;     /* never MODE_AUTO               */
    bool takes; /* rows where they are: the device may do what other steps
                   do with a scan's rows                                  */
    enum stand_in stands_in;         /* where it is the host              */
    const struct settings *settings; /* of the run, which they outlive      */
};

#endif
