/* SPDX-License-Identifier: MIT */
/*
 * Aggregates as window functions. That of a row takes in the partition up to the
 * row's last peer: it is computed once for all peers. Threads share the rows in
 * their order: each takes in those of the partition in which its share ends,
 * then all go on from what those before them have taken in.
 */
#include "exec/window/window_inner.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/aggregate/aggregate.h"
#include "exec/group/group_table.h"
#include "exec/sort/sort.h"

/* What an aggregate reads, in the window's order. */
struct inputs {
    struct row_set picked; /* argument and filter, where there are any */
    /* argument and filter, in the order of the window */
    struct vdbq_vector vectors[2];
    struct aggregate_rows rows; /* what a block has of these */
};

/* A column of the input, copied in the window's order to column `to`. */
static enum vdbq_status pick_column(const struct window *window, int column,
                                    struct row_set *picked, unsigned to,
                                    struct error *error)
{
    struct row_set one = { .rows = window->rows->rows,
                           .column_count = 1,
                           .columns = &window->rows->columns[column] };
    return row_set_pick(picked, to, &one, window->order, one.rows,
                        window->threads, error);
}

/* Puts argument and filter into the order of the window. */
static enum vdbq_status pick_inputs(const struct window *window,
                                    const struct step_aggregate *step,
                                    struct inputs *inputs, struct error *error)
{
    const int wanted[2] = { step->column, step->filter };
    const struct row_set_column *from = window->rows->columns;
    struct step_column columns[2] = { { 0 } };
    struct row_set *picked = &inputs->picked;
    enum vdbq_status status;

    for (unsigned i = 0; i < 2; i++)
        columns[i].type = wanted[i] < 0 ? VDBQ_INTEGER : from[wanted[i]].type;
    status = row_set_init(picked, columns, 2, error);
    if (status == VDBQ_OK)
        status = row_set_room(picked, window->rows->rows, error);
    for (unsigned i = 0; i < 2 && status == VDBQ_OK; i++)
        if (wanted[i] >= 0)
            status = pick_column(window, wanted[i], picked, i, error);
    picked->rows = window->rows->rows;
    if (status == VDBQ_OK)
        row_set_vectors(picked, 0, inputs->vectors);
    inputs->rows.argument = wanted[0] < 0 ? NULL : &inputs->vectors[0];
    inputs->rows.filter = wanted[1] < 0 ? NULL : &inputs->vectors[1];
    return status;
}

/* DISTINCT: values that stood in their partition before become NULLs. */
static enum vdbq_status drop_repeated(const struct window *window,
                                      const struct aggregate *aggregate,
                                      struct inputs *inputs,
                                      struct error *error)
{
    const int types[2] = { TYPE_I32, aggregate->type };
    int32_t partition = -1;
    struct group_table table;
    uint8_t *nulls = NULL;
    enum vdbq_status status = group_table_init(&table, types, 2, 0, error);

    if (status == VDBQ_OK)
        status = row_set_flags(&inputs->picked, 0, error);
    nulls = inputs->picked.columns[0].nulls;
    for (uint32_t i = 0; status == VDBQ_OK && i < window->rows->rows; i++) {
        if (stop_at(i))
            break;
        struct vdbq_vector pair[2] = { { VDBQ_INTEGER, &partition, NULL },
                                       inputs->vectors[0] };
        uint32_t number, made = table.count;
        struct aggregate_rows one = inputs->rows;
        uint64_t value;
        partition += i == 0 || window->starts[i] & SORT_PARTITION;
        one.start = i;
        one.count = 1;
        if (aggregate_pick(aggregate, &one, &value, NULL, &number) == 0)
            continue;
        pair[1].values = &value;
        pair[1].nulls = NULL;
        status = group_table_find(&table, pair, 0, 1, 0, &number, error);
        nulls[i] |= status == VDBQ_OK && number < made;
    }
    inputs->vectors[0].nulls = nulls;
    group_table_finish(&table);
    return status;
}

/* -------------------------------------------------------------- shares -- */

/* What an aggregate has taken in of a partition. */
struct taken {
    uint64_t state[AGGREGATE_STATE_MAX / 8];
    uint32_t first; /* row of the partition, in the order */
};

struct running {
    const struct window *window;
    const struct aggregate *aggregate;
    const struct inputs *inputs;
    struct row_set_column *result;
    struct {
        struct taken before;     /* what was taken in in front of the share */
        struct taken last;       /* of the share's last partition           */
        bool begins;             /* ... which begins in it                  */
        bool nulls;              /* a result is NULL                        */
        enum vdbq_status status; /* of the share */
        struct error error;      /* why, where it failed */
    } shares[PARALLEL_THREADS_MAX];
};

/* Where a share begins: with the first peers from there on. */
static uint32_t share_begin(const struct window *window, unsigned share)
{
    uint32_t at = window_share(window, share);
    return at == 0 || at == window->rows->rows
                   || window->starts[at] & SORT_PEERS
               ? at
               : window_end(window, at, SORT_PEERS);
}

void window_take(const struct aggregate *aggregate,
                 const struct aggregate_rows *all, uint32_t at, uint32_t end,
                 uint64_t *record)
{
    struct aggregate_rows rows = *all;
    struct aggregate_room room;
    uint64_t since = 0;
    assert(at <= end);
    for (; at < end && !stop_after(&since, AGGREGATE_BLOCK); at += rows.count) {
        uint32_t left = end - at;
        rows.start = rows.number = at;
        rows.count = left < AGGREGATE_BLOCK ? left : AGGREGATE_BLOCK;
        room.made = false;
        aggregate_add_one(aggregate, &rows, &room, (uint8_t *)record);
    }
}

/* One thread: takes in the partition in which its share ends. */
static void take_share(void *context, unsigned share)
{
    struct running *running = context;
    const struct window *window = running->window;
    uint32_t begin = share_begin(window, share);
    uint32_t end = share_begin(window, share + 1), at = end;
    running->shares[share].begins = false;
    running->shares[share].last = (struct taken){ .first = begin };
    if (begin >= end)
        return;
    at = window_begin(window, end - 1, SORT_PARTITION);
    running->shares[share].begins = at >= begin;
    at = at >= begin ? at : begin;
    running->shares[share].last.first = at;
    window_take(running->aggregate, &running->inputs->rows, at, end,
                running->shares[share].last.state);
}

/* Tells each share what was taken in before it. */
static void add_shares(struct running *running)
{
    struct taken taken = { .first = 0 };
    for (unsigned i = 0; i < running->window->threads; i++) {
        const struct taken *last = &running->shares[i].last;
        running->shares[i].before = taken;
        if (running->shares[i].begins)
            taken = *last;
        else
            aggregate_merge(running->aggregate, (uint8_t *)taken.state,
                            (const uint8_t *)last->state);
    }
}

/* One thread: writes the result of the first row of all peers in its share. */
static void run_share(void *context, unsigned share)
{
    struct running *running = context;
    const struct window *window = running->window;
    struct row_set_column *result = running->result;
    uint32_t end = share_begin(window, share + 1);
    struct taken taken = running->shares[share].before;
    enum vdbq_status status = VDBQ_OK;
    uint64_t since = 0;

    for (uint32_t at = share_begin(window, share);
         status == VDBQ_OK && at < end;) {
        uint32_t behind = window_end(window, at, SORT_PEERS);
        uint32_t row = window->order[at];
        if (window->starts[at] & SORT_PARTITION)
            taken = (struct taken){ .first = at };
        window_take(running->aggregate, &running->inputs->rows, at, behind,
                    taken.state);
        status = aggregate_result(
            running->aggregate, (uint8_t *)taken.state, behind - taken.first,
            result->values, result->nulls, row, &running->shares[share].error);
        running->shares[share].nulls |= result->nulls[row] != 0;
        if (status == VDBQ_OK && stop_after(&since, behind - at))
            status = error_cancelled(&running->shares[share].error);
        at = behind;
    }
    running->shares[share].status = status;
}

/* One thread: copies the results to the peers in its share. */
static void copy_share(void *context, unsigned share)
{
    const struct running *running = context;
    const struct window *window = running->window;
    uint32_t at = window_share(window, share);
    uint32_t end = window_share(window, share + 1), first;

    for (; at < end; at++) {
        if (at == 0 || window->starts[at] & SORT_PEERS)
            continue;
        first = window->order[window_begin(window, at, SORT_PEERS)];
        for (; at < end && !(window->starts[at] & SORT_PEERS); at++)
            window_copy(running->result, first, running->result,
                        window->order[at]);
        at--;
    }
}

/* Peers share one result: the aggregate over all rows up to them. */
static enum vdbq_status run_aggregate(struct window *window,
                                      const struct aggregate *aggregate,
                                      const struct inputs *inputs,
                                      struct row_set_column *result,
                                      struct error *error)
{
    struct running *running = memory_zeroed(1, sizeof *running);
    enum vdbq_status status = VDBQ_OK;

    if (running == NULL)
        return error_no_memory(error);
    running->window = window;
    running->aggregate = aggregate;
    running->inputs = inputs;
    running->result = result;
    if (window->threads > 1) {
        parallel_run(window->threads, take_share, running);
        add_shares(running);
    }
    parallel_run(window->threads, run_share, running);
    for (unsigned i = 0; i < window->threads && status == VDBQ_OK; i++) {
        window->any_nulls |= running->shares[i].nulls;
        status = running->shares[i].status;
        if (status != VDBQ_OK)
            *error = running->shares[i].error;
    }
    if (status == VDBQ_OK)
        parallel_run(window->threads, copy_share, running);
    memory_release(running);
    return status;
}

/* What rows are counted by that have no NULL: no value is looked at. */
static struct step_aggregate without_values(const struct window *window,
                                            const struct step_aggregate *step)
{
    struct step_aggregate plain = *step;
    bool counts = step->function == AGGREGATE_COUNT && !step->distinct
                  && step->column >= 0;
    if (counts && window->rows->columns[step->column].nulls == NULL)
        plain.column = -1;
    return plain;
}

enum vdbq_status window_aggregate(struct window *window,
                                  const struct step_window_function *function,
                                  struct row_set_column *result,
                                  struct error *error)
{
    const struct step_aggregate plain =
        without_values(window, &function->aggregate);
    const struct step_aggregate *step = &plain;
    int type = step->column < 0
                   ? TYPE_NONE
                   : sort_type(window->rows->columns[step->column].type);
    unsigned scale = step->column < 0 ? 0 : window->columns[step->column].scale;
    struct aggregate aggregate =
        aggregate_make(step,
                       (struct aggregate_argument){
                           .type = type, .scale = scale, .nullable = true },
                       0);
    struct inputs inputs = { .rows = { 0 } };
    assert(!step->distinct || function->frame.unit == FRAME_DEFAULT);
    enum vdbq_status status = pick_inputs(window, step, &inputs, error);

    if (status == VDBQ_OK && step->distinct && step->column >= 0
        && step->function != AGGREGATE_FIRST)
        status = drop_repeated(window, &aggregate, &inputs, error);
    if (status == VDBQ_OK)
        status = function->frame.unit == FRAME_DEFAULT
                     ? run_aggregate(window, &aggregate, &inputs, result, error)
                     : window_framed(window, &function->frame, &aggregate,
                                     &inputs.rows, result, error);
    row_set_finish(&inputs.picked);
    return status;
}
