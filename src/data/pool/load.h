/* SPDX-License-Identifier: MIT */
/*
 * Loads: portions of tablets on their way into memory, on the threads of a
 * crew where there is one.
 */
#ifndef VDBQ_DATA_LOAD_H
#define VDBQ_DATA_LOAD_H

#include "base/threads/crew.h"
#include "data/pool/portion.h"

struct load;

/* Starts to fill a block with a portion that is laid out and has its proof,
 * of which no other load is under way. Without a crew, and where no bytes are
 * to be read, nothing happens before load_finish(). Fails with CORRUPT (the
 * head has changed), NO_MEMORY. */
enum vdbq_status load_start(struct crew *crew, const struct portion *portion,
                            uint8_t *block, struct load **load,
                            struct error *error);
/* Waits until the block is filled and frees the load. What it took, on all
 * threads together, is added to `time_ns`. Fails as a portion does. */
enum vdbq_status load_finish(struct load *load, uint64_t *time_ns,
                             struct error *error);

#endif
