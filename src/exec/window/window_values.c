/* SPDX-License-Identifier: MIT */
/*
 * The values of window functions, computed along the rows' order and written
 * where each row lies. An aggregate of a row takes in the partition up to the
 * row's last peer: it is computed once for all peers.
 */
#include "exec/window/window_inner.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "cl/types.h"
#include "exec/group/aggregate.h"
#include "exec/group/group_table.h"
#include "exec/sort/sort.h"

void window_number(struct window *window, enum window_function function,
                   struct row_set_column *result)
{
    int64_t *values = result->values;
    struct window_carry at = window->before;

    if (at.any)
        at.number--; /* the first row stands for itself again */
    for (uint32_t i = 0; i < window->rows->rows; i++) {
        if (window->starts[i] & WINDOW_PARTITION)
            at = (struct window_carry){ .any = true };
        at.number++;
        if (at.rank == 0 || window->starts[i] & WINDOW_PEERS) {
            at.rank = at.number;
            at.dense++;
        }
        values[window->order[i]] = function == WINDOW_ROW_NUMBER ? at.number
                                   : function == WINDOW_RANK     ? at.rank
                                                                 : at.dense;
    }
    at.any = true;
    window->carry = at;
}

/* --------------------------------------------------------- neighbours -- */

/* Copies a value or its NULL from one row to another. */
static void copy_value(struct window *window, const struct row_set_column *from,
                       uint32_t source, struct row_set_column *result,
                       uint32_t row)
{
    size_t width = result->width;

    memcpy((uint8_t *)result->values + row * width,
           (const uint8_t *)from->values + source * width, width);
    result->nulls[row] = row_set_is_null(from, source);
    window->any_nulls |= result->nulls[row] != 0;
}

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

/* LAG, LEAD of the row at `at`. */
static void write_moved(struct window *window,
                        const struct step_window_function *function,
                        uint32_t at, uint32_t first, uint32_t end,
                        struct row_set_column *result)
{
    const struct row_set_column *columns = window->rows->columns;
    bool lag = function->function == WINDOW_LAG;
    int64_t offset = lag && function->offset != INT64_MIN ? -function->offset
                                                          : function->offset;
    uint32_t row = window->order[at];
    uint32_t source = lag && function->offset == INT64_MIN
                          ? end
                          : moved(at, offset, first, end);

    if (source < end) {
        copy_value(window, &columns[function->aggregate.column],
                   window->order[source], result, row);
    } else if (function->fallback >= 0) {
        copy_value(window, &columns[function->fallback], row, result, row);
    } else {
        result->nulls[row] = 1;
        window->any_nulls = true;
    }
}

/* FIRST, LAST of the rows from `first` on. */
static void write_ends(struct window *window,
                       const struct step_window_function *function,
                       uint32_t first, uint32_t end,
                       struct row_set_column *result)
{
    assert(first < end);
    const struct row_set_column *column =
        &window->rows->columns[function->aggregate.column];

    for (uint32_t at = first; at < end;) {
        uint32_t peers = window_end(window, at, WINDOW_PEERS);
        uint32_t source = function->function == WINDOW_LAST ? peers - 1 : first;
        for (; at < peers; at++)
            copy_value(window, column, window->order[source], result,
                       window->order[at]);
    }
}

void window_neighbour(struct window *window,
                      const struct step_window_function *function,
                      struct row_set_column *result)
{
    bool moves =
        function->function == WINDOW_LAG || function->function == WINDOW_LEAD;

    for (uint32_t first = 0; first < window->rows->rows;) {
        uint32_t end = window_end(window, first, WINDOW_PARTITION);
        if (!moves)
            write_ends(window, function, first, end, result);
        for (uint32_t at = first; moves && at < end; at++)
            write_moved(window, function, at, first, end, result);
        first = end;
    }
}

/* --------------------------------------------------------- aggregates -- */

/* What an aggregate reads, in the window's order. */
struct inputs {
    struct row_set picked; /* argument and filter, where there are any */
    /* argument and filter, in the order of the window */
    struct vdbq_vector vectors[2];
    struct aggregate_rows rows; /* the block that is taken in now */
    struct aggregate_room room; /* of the aggregate */
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
        struct vdbq_vector pair[2] = { { VDBQ_INTEGER, &partition, NULL },
                                       inputs->vectors[0] };
        uint32_t number, made = table.count;
        struct aggregate_rows one = inputs->rows;
        uint64_t value;
        partition += i == 0 || window->starts[i] & WINDOW_PARTITION;
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

/* Takes rows [at, end) of the order into the state. */
static void take_rows(const struct aggregate *aggregate, struct inputs *inputs,
                      uint32_t at, uint32_t end, uint8_t *state)
{
    assert(at <= end);
    for (; at < end; at += inputs->rows.count) {
        uint32_t left = end - at;
        inputs->rows.start = inputs->rows.number = at;
        inputs->rows.count = left < AGGREGATE_BLOCK ? left : AGGREGATE_BLOCK;
        inputs->room.made = false;
        aggregate_add_one(aggregate, &inputs->rows, &inputs->room, state);
    }
}

/* Writes the result of peers [at, end), and copies it to all of them. */
static enum vdbq_status
write_peers(struct window *window, const struct aggregate *aggregate,
            const uint8_t *state, uint64_t rows, uint32_t at, uint32_t end,
            struct row_set_column *result, struct error *error)
{
    assert(at < end);
    uint32_t row = window->order[at];
    enum vdbq_status status = aggregate_result(
        aggregate, state, rows, result->values, result->nulls, row, error);

    window->any_nulls |= result->nulls[row] != 0;
    for (at++; at < end; at++)
        copy_value(window, result, row, result, window->order[at]);
    return status;
}

/* Peers share one result: the aggregate over all rows up to them. */
static enum vdbq_status run_aggregate(struct window *window,
                                      const struct aggregate *aggregate,
                                      struct inputs *inputs,
                                      struct row_set_column *result,
                                      struct error *error)
{
    uint64_t state[AGGREGATE_STATE_MAX / 8];
    uint32_t first = 0;
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t at = 0; status == VDBQ_OK && at < window->rows->rows;) {
        uint32_t end = window_end(window, at, WINDOW_PEERS);
        if (at == 0 || window->starts[at] & WINDOW_PARTITION) {
            memset(state, 0, sizeof state);
            first = at;
        }
        take_rows(aggregate, inputs, at, end, (uint8_t *)state);
        status = write_peers(window, aggregate, (uint8_t *)state, end - first,
                             at, end, result, error);
        at = end;
    }
    return status;
}

enum vdbq_status window_aggregate(struct window *window,
                                  const struct step_aggregate *step,
                                  struct row_set_column *result,
                                  struct error *error)
{
    int type = step->column < 0
                   ? TYPE_NONE
                   : sort_type(window->rows->columns[step->column].type);
    unsigned scale = step->column < 0 ? 0 : window->columns[step->column].scale;
    struct aggregate aggregate = aggregate_make(step, type, scale, 0);
    struct inputs inputs = { .rows = { 0 } };
    enum vdbq_status status = pick_inputs(window, step, &inputs, error);

    if (status == VDBQ_OK && step->distinct && step->column >= 0
        && step->function != AGGREGATE_FIRST)
        status = drop_repeated(window, &aggregate, &inputs, error);
    if (status == VDBQ_OK)
        status = run_aggregate(window, &aggregate, &inputs, result, error);
    row_set_finish(&inputs.picked);
    return status;
}
