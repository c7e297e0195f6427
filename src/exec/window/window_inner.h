/* SPDX-License-Identifier: MIT */
/*
 * What the files of windows share: rows in their order.
 */
#ifndef VDBQ_EXEC_WINDOW_INNER_H
#define VDBQ_EXEC_WINDOW_INNER_H

#include "exec/window/window.h"

struct window {
    const struct row_set *rows;        /* all rows of the input */
    const struct step_column *columns; /* of the input */
    uint32_t *order;  /* numbers of rows, by partition and order       */
    uint8_t *starts;  /* of each in that order: enum window_start      */
    bool any_nulls;   /* a function has written one                    */
    unsigned threads; /* to work with at most                  */
    struct window_carry before; /* what the first row was given, if any  */
    struct window_carry carry;  /* ... and the last one                  */
};
enum window_start { WINDOW_PARTITION = 1, WINDOW_PEERS = 2 };

/* One behind the last of the rows that begin at `at`, in the order, and
 * belong together as partition or as peers. */
static inline uint32_t window_end(const struct window *window, uint32_t at,
                                  enum window_start what)
{
    uint32_t end = at + 1;
    while (end < window->rows->rows && !(window->starts[end] & what))
        end++;
    return end;
}

/* window_values.c: write a function's column, which has NULL flags. */
void window_number(struct window *window, enum window_function function,
                   struct row_set_column *result);
void window_neighbour(struct window *window,
                      const struct step_window_function *function,
                      struct row_set_column *result);
enum vdbq_status window_aggregate(struct window *window,
                                  const struct step_aggregate *step,
                                  struct row_set_column *result,
                                  struct error *error);

#endif
