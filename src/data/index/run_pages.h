/* SPDX-License-Identifier: MIT */
/*
 * Runs that are read from the file (run_block.h): all of one, or what a search
 * needs of it. What is read is believed by its checksums; that keys ascend, and
 * that rows are there, is looked at besides.
 */
#ifndef VDBQ_DATA_RUN_PAGES_H
#define VDBQ_DATA_RUN_PAGES_H

#include "base/vector.h"
#include "data/database/database.h"
#include "data/index/run_ends.h"
#include "data/tablet/block.h"

/* The tablet that a run belongs to. */
struct run_tablet {
    uint32_t rows; /* that it has                       */
    bool some;     /* its runs may be of some of them   */
};

/* A run of which no key was read. */
struct run_pages {
    struct database *database;
    const struct run_ref *ref;
    struct block head;  /* as the file has it                         */
    struct run run;     /* without keys: what they are made of; ranked
                                values are the head's                      */
    uint32_t page_rows; /* of all pages but the last                  */
    uint32_t page_count;
    const struct run_block_page *pages; /* the head's */
};

/* Reads the head of a run of a tablet, which is there while this is open. `*sound`
 * is false with the status OK where it is not what it should be.
 * run_pages_close() is due whatever it returns. Fails with NO_MEMORY. */
enum vdbq_status run_pages_open(struct database *database,
                                const struct run_ref *ref, struct run_tablet of,
                                struct run_pages *pages, bool *sound,
                                struct error *error);
void run_pages_close(struct run_pages *pages); /* accepts a zeroed one */

/* Makes a run of the pages that can have some keys (a vector of struct run_keys),
 * or, where `ends` are asked for, those of each range of keys: places are others
 * than in all of it. NULL with the status OK: it is not what it should be. Fails
 * with NO_MEMORY, CANCELLED. */
enum vdbq_status run_pages_find(const struct run_pages *pages,
                                const struct vector *keys,
                                const struct run_ends *ends, struct run **run,
                                struct error *error);

/* Reads all of a run of a tablet. `block`: a block with the columns of the table
 * that are texts in it, or NULL: a search for these takes longer then. The columns
 * of a run of expressions are no columns of the table: NULL. Fails as
 * run_pages_find() does. */
enum vdbq_status run_load(struct database *database, const struct run_ref *ref,
                          struct run_tablet of, const void *block,
                          struct run **run, struct error *error);

#endif
