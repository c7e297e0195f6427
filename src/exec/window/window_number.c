/* SPDX-License-Identifier: MIT */
/*
 * ROW_NUMBER, RANK, DENSE_RANK: threads count their shares of the rows, in
 * their order, add up what was before each, and write the numbers.
 */
#include "exec/window/window_inner.h"

#include <assert.h>

#include "base/threads/stop.h"

/* What rows in a row come to: a partition that begins among them makes all
 * before it forgotten. */
struct counted {
    bool begins;    /* a partition does; the rest is of the last one   */
    int64_t number; /* rows                                            */
    int64_t rank;   /* of them, where the last peers begin; 0: nowhere */
    int64_t dense;  /* that begin peers                                */
};

struct numbering {
    const struct window *window;
    enum window_function function;
    int64_t *values;
    struct counted counted[PARALLEL_THREADS_MAX];     /* of each share     */
    struct window_carry before[PARALLEL_THREADS_MAX]; /* ... in front of it */
};

/* One thread: counts its share. */
static void count_share(void *context, unsigned share)
{
    struct numbering *numbering = context;
    const struct window *window = numbering->window;
    uint32_t end = window_share(window, share + 1);
    struct counted counted = { 0 };

    for (uint32_t i = window_share(window, share); i < end && !stop_at(i);
         i++) {
        if (window->starts[i] & SORT_PARTITION)
            counted = (struct counted){ .begins = true };
        counted.number++;
        if (window->starts[i] & SORT_PEERS) {
            counted.rank = counted.number;
            counted.dense++;
        }
    }
    numbering->counted[share] = counted;
}

/* The next row begins peers where none has before it. */
static void begin_peers(struct window_carry *at)
{
    at->rank = at->number;
    at->dense++;
}

/* What the rows of a share make of what was before. */
static struct window_carry add_share(struct window_carry at,
                                     const struct counted *counted)
{
    if (counted->begins) {
        at = (struct window_carry){ .any = true };
    } else if (at.rank == 0 && counted->number > 0) {
        at.number++;
        begin_peers(&at);
        at.number--;
    }
    if (counted->rank > 0)
        at.rank = at.number + counted->rank;
    at.number += counted->number;
    at.dense += counted->dense;
    return at;
}

/* One thread: writes the numbers of its share. */
static void write_share(void *context, unsigned share)
{
    const struct numbering *numbering = context;
    const struct window *window = numbering->window;
    uint32_t end = window_share(window, share + 1);
    struct window_carry at = numbering->before[share];

    for (uint32_t i = window_share(window, share); i < end && !stop_at(i);
         i++) {
        if (window->starts[i] & SORT_PARTITION)
            at = (struct window_carry){ .any = true };
        at.number++;
        if (at.rank == 0 || window->starts[i] & SORT_PEERS)
            begin_peers(&at);
        numbering->values[window->order[i]] =
            numbering->function == WINDOW_ROW_NUMBER ? at.number
            : numbering->function == WINDOW_RANK     ? at.rank
                                                     : at.dense;
    }
}

void window_number(struct window *window, enum window_function function,
                   struct row_set_column *result)
{
    struct numbering numbering = { .window = window,
                                   .function = function,
                                   .values = result->values };
    struct window_carry at = window->before;

    if (at.any)
        at.number--; /* the first row stands for itself again */
    parallel_run(window->threads, count_share, &numbering);
    for (unsigned i = 0; i < window->threads; i++) {
        numbering.before[i] = at;
        at = add_share(at, &numbering.counted[i]);
    }
    parallel_run(window->threads, write_share, &numbering);
    at.any = true;
    window->carry = at;
}
