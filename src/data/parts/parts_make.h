/* SPDX-License-Identifier: MIT */
/*
 * Makes part files (data/file/part_files.h) of a database.
 */
#ifndef VDBQ_DATA_PARTS_MAKE_H
#define VDBQ_DATA_PARTS_MAKE_H

#include "data/database/database.h"

struct parts_params {
    struct database *database; /* no transaction is open, and none is begun
                                  meanwhile                              */
    const char *folder;        /* it is made, and must not be there yet  */
    unsigned parts;            /* at least 1, at most PARTS_MAX          */
    const char *const *whole;  /* names of tables that are not shared out */
    unsigned whole_count;
};

/* Makes the folder; nobody else writes to the database meanwhile. On failure nothing
 * of it stays. Fails with UNKNOWN (no table has such a name), BUSY, READ_ONLY,
 * IO, CANCELLED, NO_MEMORY. */
enum vdbq_status parts_make(const struct parts_params *params,
                            struct error *error);

#endif
