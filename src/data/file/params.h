/* SPDX-License-Identifier: MIT */
/*
 * How a database file is opened: what database_open() is given and file_open()
 * reads.
 */
#ifndef VDBQ_DATA_PARAMS_H
#define VDBQ_DATA_PARAMS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/os/os.h"

/* How long to wait for what other connections hold, and what ends that. */
struct database_wait {
    uint64_t timeout_ms;
    const atomic_bool *cancelled; /* NULL: nothing does */
};

struct database_params {
    const char *path;                  /* ignored for files in memory   */
    unsigned flags;                    /* of enum vdbq_open_flags       */
    const struct os_file_calls *files; /* os_files, os_memory_files ... */
    uint32_t tablet_rows; /* rows of a full tablet; 0: TABLET_ROWS_MAX  */
    struct database_wait wait;
};

#endif
