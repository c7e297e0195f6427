/* SPDX-License-Identifier: MIT */
/*
 * The values of window functions that are those of another row: LAG, LEAD,
 * FIRST, LAST, NTH; of all rows, or of those whose value is not NULL. They are
 * found along the rows' order, which threads share, and written where each row
 * lies.
 */
#include "exec/window/window_inner.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "exec/window/window_firsts.h"

/* Of all rows in their order: those whose value is not NULL. */
struct window_known {
    uint32_t *places; /* of these, one after the other          */
    uint32_t *before; /* of each row, and behind the last one, how many of these
                         lie before it                                        */
};

struct neighbours {
    const struct window *window;
    const struct step_window_function *function;
    const struct window_known *known; /* IGNORE NULLS; else NULL */
    struct row_set_column *result;
    bool nulls[PARALLEL_THREADS_MAX]; /* of each share: it has written one */
};

/* The place `offset` away from `at`, if it is in [first, end); else `end`. */
static uint32_t moved(uint32_t at, int64_t offset, uint32_t first, uint32_t end)
{
    assert(first <= at && at < end);
    if (offset < 0)
        return offset >= -(int64_t)(at - first)
                   ? (uint32_t)((int64_t)at + offset)
                   : end;
    return offset < (int64_t)(end - at) ? (uint32_t)(at + offset) : end;
}

/* The same of rows whose value is not NULL; `at` itself counts anyhow. */
static uint32_t moved_known(const struct window_known *known, uint32_t at,
                            int64_t offset, uint32_t first, uint32_t end)
{
    int64_t least = known->before[first], most = known->before[end];
    int64_t number;

    if (offset == 0)
        return at;
    number =
        offset < 0 ? known->before[at] : known->before[at + 1] - INT64_C(1);
    if (offset < least - number || offset >= most - number)
        return end;
    return known->places[number + offset];
}

/* LAG, LEAD of the row at `at`; whether it is NULL. */
static bool write_moved(const struct neighbours *all, uint32_t at,
                        uint32_t first, uint32_t end)
{
    const struct step_window_function *function = all->function;
    const struct row_set_column *columns = all->window->rows->columns;
    const uint32_t *order = all->window->order;
    bool lag = function->function == WINDOW_LAG;
    int64_t offset = lag && function->offset != INT64_MIN ? -function->offset
                                                          : function->offset;
    uint32_t row = order[at];
    uint32_t source = lag && function->offset == INT64_MIN ? end
                      : all->known != NULL
                          ? moved_known(all->known, at, offset, first, end)
                          : moved(at, offset, first, end);

    if (source < end)
        return window_copy(&columns[function->aggregate.column], order[source],
                           all->result, row);
    if (function->fallback >= 0)
        return window_copy(&columns[function->fallback], row, all->result, row);
    all->result->nulls[row] = 1;
    return true;
}

/* The row, in the order, of FIRST, LAST or NTH of the rows [begin, end); `end`:
 * there is none. */
static uint32_t place_of(const struct step_window_function *function,
                         uint32_t begin, uint32_t end)
{
    if (begin >= end)
        return end;
    if (function->function == WINDOW_LAST)
        return end - 1;
    if (function->function == WINDOW_FIRST)
        return begin;
    assert(function->offset > 0);
    return function->offset - 1 < (int64_t)(end - begin)
               ? begin + (uint32_t)(function->offset - 1)
               : end;
}

/* The row, in the order, whose value the frame [begin, end) has; `end`: none. */
static uint32_t frame_source(const struct neighbours *all, uint32_t begin,
                             uint32_t end)
{
    const struct window_known *known = all->known;
    uint32_t source, behind;

    if (known == NULL || begin >= end)
        return place_of(all->function, begin, end);
    behind = known->before[end];
    source = place_of(all->function, known->before[begin], behind);
    return source < behind ? known->places[source] : end;
}

/* Copies a value of the frame to the row at `at`; whether it is NULL. */
static bool write_framed(const struct neighbours *all, uint32_t begin,
                         uint32_t end, uint32_t at)
{
    const struct window *window = all->window;
    uint32_t source = frame_source(all, begin, end);
    uint32_t row = window->order[at];

    if (source < end)
        return window_copy(
            &window->rows->columns[all->function->aggregate.column],
            window->order[source], all->result, row);
    all->result->nulls[row] = 1;
    return true;
}

/* FIRST, LAST, NTH of the rows from `at` up to `end`, of a partition that begins
 * with `first`; whether one is NULL. */
static bool write_ends(const struct neighbours *all, uint32_t first,
                       uint32_t at, uint32_t end)
{
    const struct window *window = all->window;
    bool nulls = false;

    assert(first <= at && at < end);
    while (at < end) {
        uint32_t peers = window_end(window, at, SORT_PEERS);
        for (; at < peers && at < end; at++) {
            if (stop_at(at))
                return nulls;
            nulls |= write_framed(all, first, peers, at);
        }
    }
    return nulls;
}

/* FIRST, LAST, NTH of other frames than the default one, of rows [at, end);
 * whether one is NULL. */
static bool write_frames(const struct neighbours *all, uint32_t at,
                         uint32_t end)
{
    bool nulls = false;

    if (at == end)
        return false;
    for (struct window_frames frames =
             window_frames_begin(all->window, &all->function->frame, at);
         frames.at < end && !stop_at(frames.at); window_frames_next(&frames))
        nulls |= write_framed(all, frames.begin, frames.end, frames.at);
    return nulls;
}

/* ---------------------------------------------------------- IGNORE NULLS -- */

/* Finds the rows whose value is not NULL. */
static enum vdbq_status know_values(struct window_known *known,
                                    const struct window *window,
                                    const struct row_set_column *values,
                                    struct error *error)
{
    uint32_t rows = (uint32_t)window->rows->rows, count = 0;

    known->places = memory_zeroed((size_t)rows + 1, sizeof *known->places);
    known->before = memory_zeroed((size_t)rows + 1, sizeof *known->before);
    if (known->places == NULL || known->before == NULL)
        return error_no_memory(error);
    for (uint32_t at = 0; at < rows && !stop_at(at); at++) {
        known->before[at] = count;
        if (!row_set_is_null(values, window->order[at]))
            known->places[count++] = at;
    }
    known->before[rows] = count;
    return stop_pause(error);
}

static void forget_known(struct window_known *known)
{
    memory_release(known->places);
    memory_release(known->before);
}

/* --------------------------------------------------------------- shares -- */

/* One thread's share: rows in their order, partition by partition. */
static void write_share(void *context, unsigned share)
{
    struct neighbours *all = context;
    const struct window *window = all->window;
    bool moves = all->function->function == WINDOW_LAG
                 || all->function->function == WINDOW_LEAD;
    uint32_t at = window_share(window, share);
    uint32_t stop = window_share(window, share + 1);
    uint64_t since = 0;
    bool nulls = false;

    if (all->function->frame.unit != FRAME_DEFAULT) {
        all->nulls[share] = write_frames(all, at, stop);
        return;
    }
    while (at < stop) {
        uint32_t first = window_begin(window, at, SORT_PARTITION);
        uint32_t end = window_end(window, at, SORT_PARTITION);
        uint32_t behind = end < stop ? end : stop;
        if (!moves)
            nulls |= write_ends(all, first, at, behind);
        for (; moves && at < behind && !stop_at(at); at++)
            nulls |= write_moved(all, at, first, end);
        if (stop_after(&since, 1 + behind - first))
            return;
        at = behind;
    }
    all->nulls[share] = nulls;
}

/* One thread's share of partitions, in the order of their first rows: FIRST. */
static void write_first_rows(void *context, unsigned share)
{
    struct neighbours *all = context;
    const struct window *window = all->window;
    const struct window_firsts *firsts = window->firsts;
    const struct row_set_column *values =
        &window->rows->columns[all->function->aggregate.column];
    uint64_t count = firsts->count, threads = window->threads;
    uint32_t end = (uint32_t)(count * (share + 1) / threads);

    assert(all->function->function == WINDOW_FIRST);
    for (uint32_t i = (uint32_t)(count * share / threads);
         i < end && !stop_at(i); i++)
        all->nulls[share] |= window_copy(
            values, window->order[firsts->begins[firsts->partitions[i]]],
            all->result, i);
}

enum vdbq_status window_neighbour(struct window *window,
                                  const struct step_window_function *function,
                                  struct row_set_column *result,
                                  struct error *error)
{
    struct window_known known = { 0 };
    struct neighbours all = { .window = window,
                              .function = function,
                              .known = function->frame.known ? &known : NULL,
                              .result = result };
    enum vdbq_status status = VDBQ_OK;

    if (all.known != NULL)
        status = know_values(&known, window,
                             &window->rows->columns[function->aggregate.column],
                             error);
    if (status == VDBQ_OK)
        parallel_run(window->threads,
                     window->firsts != NULL ? write_first_rows : write_share,
                     &all);
    for (unsigned i = 0; i < window->threads; i++)
        window->any_nulls |= all.nulls[i];
    forget_known(&known);
    return status;
}
