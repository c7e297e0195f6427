/* SPDX-License-Identifier: MIT */
/*
 * Loads: projections of tablets on their way into memory, on the threads of a
 * thread pool where there is one.
 */
#ifndef VDBQ_DATA_LOAD_H
#define VDBQ_DATA_LOAD_H

#include "base/threads/thread_pool.h"
#include "data/pool/projection.h"

struct load;

/* Starts to fill a block with a projection that is laid out and has its proof,
 * of which no other load is under way. Without a thread pool, and where no
 * bytes are to be read, nothing happens before load_finish(). Fails with
 * CORRUPT (the head has changed), NO_MEMORY. */
enum vdbq_status load_start(struct thread_pool *workers,
                            const struct projection *projection, uint8_t *block,
                            struct load **load, struct error *error);
/* Likewise of a tablet with an edit: `base` is a projection of what that is over,
 * with its bound. What comes of it goes into the block, and its head into
 * the projection's `head` and `here`. Of the process's memory the bound's `work`
 * was taken, which the load gives back at its end. */
enum vdbq_status load_start_edited(struct thread_pool *workers,
                                   const struct projection *base,
                                   const struct tablet_ref *edited,
                                   const struct projection_bound *bound,
                                   uint8_t *block, struct load **load,
                                   struct error *error);
/* Waits until the block is filled and frees the load. What it took, on all
 * threads together, is added to `time_ns`. Fails as a projection does. */
enum vdbq_status load_finish(struct load *load, uint64_t *time_ns,
                             struct error *error);

#endif
