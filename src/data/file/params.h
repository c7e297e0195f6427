/* SPDX-License-Identifier: MIT */
/*
 * How a database file is opened: what database_open() is given and file_open()
 * reads.
 */
#ifndef VDBQ_DATA_PARAMS_H
#define VDBQ_DATA_PARAMS_H

#include <stdatomic.h>

#include "base/os/os.h"
#include "base/settings.h"
#include "data/catalogue/defaults.h"

struct database_params {
    const char *path;                  /* ignored for files in memory   */
    unsigned flags;                    /* of enum vdbq_open_flags       */
    const struct os_file_calls *files; /* os_files, os_memory_files ... */
    /* Of the connection, and read as they are at the moment; they outlive the
     * database. */
    const struct settings *settings;
    default_parser parse_default; /* NULL: DEFAULTs stay texts, and nobody
                                     inserts by them                      */
};

#endif
