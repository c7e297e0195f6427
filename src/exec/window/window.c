/* SPDX-License-Identifier: MIT */
/*
 * Windows: see window.h. Functions with the same partition and order share
 * one sort.
 */
#include "exec/window/window_inner.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "exec/rows/order.h"
#include "exec/sort/sort.h"
#include "exec/window/window_firsts.h"
#include "exec/window/window_joined.h"

/* ------------------------------------------------------------ sorting -- */

unsigned window_keys(const struct step_window_function *function,
                     struct step_key *keys)
{
    unsigned count = 0;

    for (unsigned i = 0; i < function->partition.count; i++)
        keys[count++] = (struct step_key){ .column = VECTOR_ITEMS(
                                               &function->partition, int)[i] };
    for (unsigned i = 0; i < function->order.count; i++)
        keys[count++] = VECTOR_ITEMS(&function->order, struct step_key)[i];
    return count;
}

/* Whether nothing is asked of the order of the rows but which is the first. */
static bool wants_one_row(const struct window_params *params)
{
    const struct vector *functions = &params->step->functions;
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        if (function->function != WINDOW_FIRST || function->partition.count > 0)
            return false;
    }
    return params->firsts != NULL;
}

/* Marks rows [1, count) whose key, of values of a type, differs from that of the row
 * before. */
static inline void mark_values(const struct sort_key *key, int type,
                               uint32_t count, uint8_t mark, uint8_t *starts)
{
    uint64_t before = order_at(type, key->values, 0);
    for (uint32_t i = 1; i < count; i++) {
        uint64_t code = order_at(type, key->values, i);
        starts[i] |= code != before ? mark : 0;
        before = code;
    }
}

/* The same where some are NULL: what values these have tells nothing. */
static void mark_nullable(const struct sort_key *key, uint32_t count,
                          uint8_t mark, uint8_t *starts)
{
    for (uint32_t i = 1; i < count; i++) {
        bool null = key->nulls[i] != 0, before = key->nulls[i - 1] != 0;
        if (null != before
            || (!null
                && order_at(key->type, key->values, i)
                       != order_at(key->type, key->values, i - 1)))
            starts[i] |= mark;
    }
}

/* The same of any key. */
static void mark_key(const struct sort_key *key, uint32_t count, uint8_t mark,
                     uint8_t *starts)
{
    if (key->nulls != NULL)
        mark_nullable(key, count, mark, starts);
    else if (key->type == TYPE_I32)
        mark_values(key, TYPE_I32, count, mark, starts);
    else if (key->type == TYPE_I64)
        mark_values(key, TYPE_I64, count, mark, starts);
    else if (key->type == TYPE_F32)
        mark_values(key, TYPE_F32, count, mark, starts);
    else
        mark_values(key, TYPE_F64, count, mark, starts);
}

/* The order of rows that are in it already, and where keys change. */
static void take_order(struct window *window, const struct sort_key *keys,
                       unsigned count, unsigned partition)
{
    uint32_t rows = (uint32_t)window->rows->rows;
    for (uint32_t i = 0; i < rows; i++)
        window->order[i] = i;
    memset(window->starts, 0, rows);
    for (unsigned i = 0; i < count; i++)
        mark_key(&keys[i], rows,
                 i < partition ? SORT_PARTITION | SORT_PEERS : SORT_PEERS,
                 window->starts);
}

/* Orders all rows by partition and then by the window's order. */
static enum vdbq_status sort_window(struct window *window,
                                    const struct step_window_function *function,
                                    const struct window_params *params,
                                    struct error *error)
{
    size_t most = function->partition.count + function->order.count;
    struct step_key *steps = memory_zeroed(most + 1, sizeof *steps);
    struct sort_key *keys = memory_zeroed(most + 1, sizeof *keys);
    enum vdbq_status status =
        steps == NULL || keys == NULL ? error_no_memory(error) : VDBQ_OK;

    if (status == VDBQ_OK) {
        unsigned count = window_keys(function, steps);
        sort_keys(window->rows, steps, count, keys);
        if (wants_one_row(params))
            window_first_alone(window, keys, count);
        else if (params->sorted)
            take_order(window, keys, count,
                       (unsigned)function->partition.count);
        else
            status = sort_order_marked(
                keys, count, (uint32_t)window->rows->rows, params->threads,
                window->order, (unsigned)function->partition.count,
                window->starts, error);
        window->starts[0] = 0; /* it may go on with what came before */
    }
    memory_release(steps);
    memory_release(keys);
    return status;
}

bool window_same(const struct step_window_function *a,
                 const struct step_window_function *b)
{
    const struct step_key *x = a->order.items, *y = b->order.items;

    if (a->partition.count != b->partition.count
        || a->order.count != b->order.count)
        return false;
    for (size_t i = 0; i < a->partition.count; i++)
        if (VECTOR_ITEMS(&a->partition, int)[i]
            != VECTOR_ITEMS(&b->partition, int)[i])
            return false;
    for (size_t i = 0; i < a->order.count; i++)
        if (x[i].column != y[i].column || x[i].descending != y[i].descending
            || x[i].nulls_last != y[i].nulls_last)
            return false;
    return true;
}

/* ------------------------------------------------------------ running -- */

bool window_ranks(enum window_function function)
{
    return function == WINDOW_ROW_NUMBER || function == WINDOW_RANK
           || function == WINDOW_DENSE_RANK;
}

bool window_goes_on(enum window_function function)
{
    return window_ranks(function) || function == WINDOW_STRING_AGG;
}

/* Runs one function over the sorted rows. */
static enum vdbq_status
run_function(struct window *window, const struct step_window_function *function,
             struct window_joined *joined, struct row_set_column *result,
             struct error *error)
{
    assert(window->order != NULL && window->starts != NULL);
    window->any_nulls = false;
    window->key = function->order.count == 1 ? function->order.items : NULL;
    switch (function->function) {
    case WINDOW_ROW_NUMBER:
    case WINDOW_RANK:
    case WINDOW_DENSE_RANK:
        window_number(window, function->function, result);
        return VDBQ_OK;
    case WINDOW_AGGREGATE:
        return window_aggregate(window, function, result, error);
    case WINDOW_STRING_AGG:
        assert(joined != NULL);
        return window_join_texts(window, function, joined, result, error);
    case WINDOW_PRODUCT:
    case WINDOW_QUANTILE_BELOW:
    case WINDOW_QUANTILE_ABOVE:
    case WINDOW_QUANTILE_PART:
    case WINDOW_QUANTILE_VALUE:
        window_partition_values(window, function, result);
        return VDBQ_OK;
    default:
        return window_neighbour(window, function, result, error);
    }
}

/* Sorts the rows for function `number`, unless the one before it did, and finds
 * out for the first one which rows are wanted. */
static enum vdbq_status sort_for(struct window *window, unsigned number,
                                 const struct window_params *params,
                                 struct row_set *results, struct error *error)
{
    const struct vector *functions = &params->step->functions;
    const struct step_window_function *function = vector_at(functions, number);
    enum vdbq_status status = VDBQ_OK;

    if (number == 0 || !window_same(vector_at(functions, number - 1), function))
        status = sort_window(window, function, params, error);
    if (status != VDBQ_OK || number > 0)
        return status;
    if (params->firsts != NULL) {
        status = window_firsts_init(params->firsts, window, error);
        window->firsts = params->firsts;
    }
    return status == VDBQ_OK
               ? row_set_room(results,
                              window->firsts != NULL ? window->firsts->count
                                                     : params->rows->rows,
                              error)
               : status;
}

/* Functions with the same window share its order. */
static enum vdbq_status run_all(struct window *window,
                                const struct window_params *params,
                                struct row_set *results, struct error *error)
{
    const struct vector *functions = &params->step->functions;
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; status == VDBQ_OK && i < functions->count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        struct row_set_column *result = &results->columns[i];
        status = sort_for(window, i, params, results, error);
        if (status == VDBQ_OK)
            status = row_set_flags(results, i, error);
        if (status == VDBQ_OK)
            status =
                run_function(window, function,
                             params->joined != NULL ? &params->joined[i] : NULL,
                             result, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
        if (params->failed != NULL)
            *params->failed = i;
        if (!window->any_nulls) {
            memory_release(result->nulls);
            result->nulls = NULL;
        }
    }
    if (status == VDBQ_OK)
        results->rows =
            window->firsts != NULL ? window->firsts->count : params->rows->rows;
    window->carry.any = true;
    window->carry.more = window->before.more;
    if (params->carry != NULL)
        *params->carry = window->carry;
    return status;
}

enum vdbq_status window_run(const struct window_params *params,
                            struct row_set *results, struct error *error)
{
    uint64_t rows = params->rows->rows;
    struct window window = { .rows = params->rows,
                             .columns = params->columns,
                             .threads =
                                 parallel_threads(params->threads, rows) };
    if (params->carry != NULL)
        window.before = *params->carry;
    enum vdbq_status status = VDBQ_OK;

    if (rows == 0)
        return VDBQ_OK;
    window.order = memory_resize(NULL, rows * sizeof *window.order);
    window.starts = memory_resize(NULL, rows);
    if (window.order == NULL || window.starts == NULL)
        status = error_no_memory(error);
    else
        status = run_all(&window, params, results, error);
    memory_release(window.order);
    memory_release(window.starts);
    return status;
}
