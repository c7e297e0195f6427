/* SPDX-License-Identifier: MIT */
/*
 * Makes part files (data/file/part_files.h) of a database.
 */
#ifndef VDBQ_DATA_PARTS_MAKE_H
#define VDBQ_DATA_PARTS_MAKE_H

#include "data/database/database.h"

/* A table that is not shared out by runs of its rows. */
struct parts_table {
    const char *name;
    const char *const *keys; /* names of columns whose hash says in which part
                                a row is                                  */
    unsigned key_count;      /* 0: the table lies whole in each part      */
};

struct parts_params {
    struct database *database; /* no transaction is open, and none is begun
                                  meanwhile                              */
    const char *folder;        /* it is made, and must not be there yet  */
    unsigned parts;            /* at least 1, at most PARTS_MAX          */
    const struct parts_table *tables; /* all others are shared out by runs */
    unsigned table_count;
};

/* Makes the folder; nobody else writes to the database meanwhile. On failure nothing
 * of it stays. Fails with UNKNOWN (no table, or column of it, has such a name),
 * EXISTS (a table is named twice), TYPE (there is no hash of a column), LIMIT, BUSY,
 * READ_ONLY, IO, CANCELLED, NO_MEMORY. */
enum vdbq_status parts_make(const struct parts_params *params,
                            struct error *error);

#endif
