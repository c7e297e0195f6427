/* SPDX-License-Identifier: MIT */
/*
 * VACUUM: blocks at the end of the file move to free space before them, and
 * the file is cut. Each step is a commit, so that a crash leaves the rows as
 * they were, and readers keep what they read.
 */
#ifndef VDBQ_DATA_VACUUM_H
#define VDBQ_DATA_VACUUM_H

#include "data/database/database.h"

/* Bytes of the file. */
struct vacuum {
    uint64_t before; /* when it began                                     */
    uint64_t after;  /* now                                               */
    uint64_t read;   /* of these, that are there since others read older
                        states, or may do                                 */
};

/* Makes the file as short as it can be now. No transaction is open. Fails with
 * BUSY, CANCELLED, READ_ONLY, IO, CORRUPT (a tablet that is to be moved is
 * damaged), NO_MEMORY; what was moved until then stays so. MISUSE: the database is one
 * of part files. */
enum vdbq_status database_vacuum(struct database *database,
                                 struct vacuum *vacuum, struct error *error);

#endif
