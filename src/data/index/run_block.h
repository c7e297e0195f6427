/* SPDX-License-Identifier: MIT */
/*
 * Runs in the file. A block has no keys, only the rows' numbers in their order:
 * it is a tablet of one INTEGER column, without a key. Keys are made of the
 * tablet that the run belongs to, and that they ascend proves the order; so a
 * run from a file is as sure as one that was made, and takes 20 bits a row.
 */
#ifndef VDBQ_DATA_RUN_BLOCK_H
#define VDBQ_DATA_RUN_BLOCK_H

#include "data/database/database.h"
#include "data/index/run.h"
#include "data/tablet/block.h"

/* The block of a run; without bytes: no memory, or it is to end. */
struct block run_block(const struct run *run);

/* Reads the run of a checked tablet in which its columns are there. NULL with
 * the status OK: it is not what it should be. Fails with NO_MEMORY,
 * CANCELLED. */
enum vdbq_status run_load(struct database *database, const struct run_ref *ref,
                          const void *tablet, struct run **run,
                          struct error *error);

#endif
