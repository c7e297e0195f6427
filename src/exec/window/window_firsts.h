/* SPDX-License-Identifier: MIT */
/*
 * The partitions of rows that are in their order, and the first row of each: the
 * rows of a window of which nobody wants others.
 */
#ifndef VDBQ_EXEC_WINDOW_FIRSTS_H
#define VDBQ_EXEC_WINDOW_FIRSTS_H

#include "base/error.h"
#include "exec/sort/sort.h"
#include "exec/window/window_inner.h"

struct window_firsts {
    uint32_t count;       /* of partitions */
    uint32_t *begins;     /* where each begins in the order, and one behind
                             the last row                                   */
    uint32_t *partitions; /* these, in the order of their first rows ...    */
    uint32_t *rows;       /* ... which are these                            */
};

/* Of the rows of a window that is sorted. window_firsts_finish() is due whatever
 * it returns, and accepts a zeroed struct. Fails with NO_MEMORY, CANCELLED. */
enum vdbq_status window_firsts_init(struct window_firsts *firsts,
                                    const struct window *window,
                                    struct error *error);
/* Puts the first row by some keys in front of all others, which are in no order, and
 * makes one partition of them: for functions that ask for no other row. */
void window_first_alone(struct window *window, const struct sort_key *keys,
                        unsigned count);
void window_firsts_finish(struct window_firsts *firsts);

#endif
