/* SPDX-License-Identifier: MIT */
/*
 * Rows that go to the partitions of a spill, each to one, by several threads: each
 * looks at a share of the rows at hand, then adds rows to partitions of its own. So
 * the rows of a partition keep their order, whatever the number of threads.
 */
#ifndef VDBQ_EXEC_SPILL_PARTS_H
#define VDBQ_EXEC_SPILL_PARTS_H

#include "base/threads/parallel.h"
#include "exec/rows/spill.h"

enum {
    SPILL_PARTS_MAX = 1 << 12,       /* partitions                          */
    SPILL_PARTS_ROWS_EACH = 1 << 15, /* rows at hand, for each thread       */
};

struct spill_parts {
    struct spill *spill;  /* has the partitions; the caller's             */
    unsigned threads;     /* that work at the same time, at most          */
    uint16_t *partitions; /* of each row at hand                         */
    uint32_t *list;       /* the rows at hand, by their partitions        */
    uint32_t *places;     /* of each thread, of each partition: where its next
                             row goes in the list                         */
    uint8_t **blocks;     /* of each thread: what it writes               */
};

/* `spill` has SPILL_PARTS_MAX partitions at most, and outlives it.
 * spill_parts_finish() is due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status spill_parts_init(struct spill_parts *parts,
                                  struct spill *spill, unsigned threads,
                                  struct error *error);
void spill_parts_finish(struct spill_parts *parts);

/* Rows that are added. */
struct spill_slice {
    const struct row_set *from; /* has the spill's columns first          */
    const uint64_t *numbers;    /* of each row; NULL: consecutive         */
    uint64_t number;            /* ... from this one of the first row on  */
    /* Tells the partition of rows [first, first + count). Called by several threads,
     * for different rows. */
    void (*find)(const void *context, uint64_t first, uint64_t count,
                 uint16_t *partitions);
    const void *context;
};
/* Rows that are at hand at once, at most. */
uint64_t spill_parts_room(const struct spill_parts *parts);
/* Adds all rows of a slice, however many. */
enum vdbq_status spill_parts_add(const struct spill_parts *parts,
                                 const struct spill_slice *slice,
                                 struct error *error);

#endif
