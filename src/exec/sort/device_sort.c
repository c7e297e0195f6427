/* SPDX-License-Identifier: MIT */
/*
 * Sorting on a device: see device_sort.h.
 */
#include "exec/sort/device_sort.h"

#include <assert.h>
#include <stdlib.h>

#include "cl/order.h"
#include "cl/tablet.h"
#include "exec/launch/device_store.h"
#include "exec/sort/device_order.h"
#include "exec/sort/sort.h"

/* As in cl/sort.cl. */
enum { BIN_BITS = 12, BINS = 1 << BIN_BITS };

/* Where one row of so many is asked for, and as few are in its bins, others
 * are not sorted. */
enum { FEW_SHARE = 16, FEW_MAX = 1 << 16 };

struct device_sort {
    struct device_sort_params params; /* of the caller */
    struct device_store store;        /* all rows                        */
    struct output *outputs;           /* where they are, one a column    */
    struct device_memory *pinned;     /* those that go out, for the host */
    struct device_times times;        /* of all calls so far */
};

bool device_sort_can(const struct device_sort_params *params)
{
    const struct device_facts *facts = device_facts(params->device);
    uint64_t bytes = device_places(params->columns, NULL, params->column_count,
                                   params->rows, NULL);
    return device_has_kernels(params->device) && params->rows > 0
           && params->rows < ROW_SET_ROWS_MAX
           && bytes <= facts->buffer_max_bytes
           && 2 * bytes + 16 * params->rows <= facts->memory_bytes / 4;
}

enum vdbq_status device_sort_create(const struct device_sort_params *params,
                                    struct device_sort **made,
                                    struct error *error)
{
    struct device_sort *sort = memory_zeroed(1, sizeof *sort);
    enum vdbq_status status;
    *made = NULL;
    if (sort == NULL)
        return error_no_memory(error);
    assert(params->out_count <= params->column_count);
    sort->params = *params;
    status = device_store_init(&sort->store, params->device, params->columns,
                               params->column_count, &sort->times, error);
    if (status == VDBQ_OK)
        status = device_store_room(&sort->store, params->rows, error);
    sort->outputs = memory_zeroed(params->column_count, sizeof *sort->outputs);
    if (status == VDBQ_OK && sort->outputs == NULL)
        status = error_no_memory(error);
    for (unsigned i = 0; i < params->column_count && status == VDBQ_OK; i++)
        sort->outputs[i] = device_place_output(&sort->store.places[i]);
    if (status == VDBQ_OK)
        *made = sort;
    else
        device_sort_destroy(sort);
    return status;
}

void device_sort_destroy(struct device_sort *sort)
{
    struct error ignored;
    if (sort == NULL)
        return;
    device_calls_wait(sort->params.device, &sort->times, &ignored);
    device_store_finish(&sort->store);
    device_memory_release(sort->pinned);
    memory_release(sort->outputs);
    memory_release(sort);
}

struct sink *device_sort_sink(struct device_sort *sort)
{
    return &sort->store.sink;
}

struct sink_rows device_sort_rows(const struct device_sort *sort)
{
    return (struct sink_rows){ .memory = sort->store.memory,
                               .outputs = sort->outputs,
                               .count = sort->store.rows };
}

const struct device_times *device_sort_times(const struct device_sort *sort)
{
    return &sort->times;
}

/* ------------------------------------------------------- the first rows -- */

/* Which rows are before others by the upper bits of the first key. */
struct narrowing {
    struct device_memory *bins;        /* counts on the device */
    const struct device_place *stored; /* the first key's column */
    uint64_t how, base, shift;
    uint32_t counts[BINS]; /* rows of each bin */
    unsigned last;         /* bin that the last row asked for is in */
    uint64_t rows;         /* in the bins up to it                  */
};

/* Counts the rows of each bin. */
static enum vdbq_status count_bins(struct device_sort *sort,
                                   struct narrowing *narrowing,
                                   struct error *error)
{
    struct device *device = sort->params.device;
    enum vdbq_status status =
        device_memory_create(device, MEMORY_DEVICE, sizeof narrowing->counts,
                             &narrowing->bins, error);
    if (status == VDBQ_OK)
        status =
            device_fill(narrowing->bins, sizeof narrowing->counts, 0, error);
    if (status == VDBQ_OK)
        status =
            device_call(device,
                        &(struct device_call){
                            .kernel = KERNEL_SORT_BINS,
                            .memories = { sort->store.memory, narrowing->bins },
                            .memory_count = 2,
                            .numbers = { narrowing->stored->values,
                                         narrowing->how, narrowing->base,
                                         narrowing->shift, sort->store.rows },
                            .number_count = 5,
                            .items = sort->store.rows },
                        &sort->times, error);
    if (status == VDBQ_OK)
        status = device_read(narrowing->bins, 0, narrowing->counts,
                             sizeof narrowing->counts, &sort->times, error);
    if (status != VDBQ_OK)
        return status;
    for (uint64_t rows = 0; rows < narrowing->rows; narrowing->last++)
        rows += narrowing->counts[narrowing->last];
    narrowing->last -= narrowing->last > 0;
    narrowing->rows = 0;
    for (unsigned i = 0; i <= narrowing->last; i++)
        narrowing->rows += narrowing->counts[i];
    return status;
}

/* For qsort(): the numbers of rows are below, so no two are equal. */
static int compare_elements(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Makes the elements of the rows in the first bins, in the rows' order. */
static enum vdbq_status collect_bins(struct device_sort *sort,
                                     struct narrowing *narrowing,
                                     struct device_radix *radix,
                                     struct error *error)
{
    uint64_t bytes = narrowing->rows * sizeof(uint64_t);
    uint64_t *elements = memory_zeroed(narrowing->rows, sizeof *elements);
    enum vdbq_status status =
        device_fill(narrowing->bins, sizeof(uint32_t), 0, error);
    if (elements == NULL)
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = device_call(
            sort->params.device,
            &(struct device_call){
                .kernel = KERNEL_SORT_UNDER,
                .memories = { sort->store.memory, narrowing->bins,
                              radix->elements },
                .memory_count = 3,
                .numbers = { narrowing->stored->values, narrowing->how,
                             narrowing->base, narrowing->shift,
                             sort->store.rows, narrowing->last },
                .number_count = 6,
                .items = sort->store.rows },
            &sort->times, error);
    if (status == VDBQ_OK)
        status = device_read(radix->elements, 0, elements, bytes, &sort->times,
                             error);
    if (status == VDBQ_OK) {
        qsort(elements, narrowing->rows, sizeof *elements, compare_elements);
        status = device_write(radix->elements, 0, elements, bytes, &sort->times,
                              error);
    }
    memory_release(elements);
    return status;
}

/* Whether few of the rows are asked for, and the first key tells which. */
static bool narrows(const struct device_sort *sort, uint64_t end)
{
    const struct step_key *key = vector_at(&sort->params.step->keys, 0);
    return end > 0 && end <= sort->store.rows / FEW_SHARE
           && !sort->params.columns[key->column].nullable;
}

/* Makes room for the elements of all rows that may be among the first `end`:
 * of those in the first bins where they are few, else of all. */
static enum vdbq_status make_elements(struct device_sort *sort, uint64_t end,
                                      struct device_order *order,
                                      struct error *error)
{
    const struct step_key *key = vector_at(&sort->params.step->keys, 0);
    const struct device_column *column = &sort->params.columns[key->column];
    struct narrowing *narrowing = memory_zeroed(1, sizeof *narrowing);
    enum vdbq_status status = VDBQ_OK;
    uint64_t rows = sort->store.rows;
    if (narrowing == NULL)
        return error_no_memory(error);
    if (narrows(sort, end)) {
        unsigned bits = device_order_bits(column, &narrowing->base);
        narrowing->stored = &sort->store.places[key->column];
        narrowing->how = (unsigned)sort_type(column->type)
                         | (key->descending ? CODE_DESCENDING : 0);
        narrowing->shift = bits > BIN_BITS ? bits - BIN_BITS : 0;
        narrowing->rows = end;
        status =
            bits >= BIN_BITS ? count_bins(sort, narrowing, error) : VDBQ_OK;
        if (bits >= BIN_BITS && narrowing->rows <= FEW_MAX)
            rows = narrowing->rows;
    }
    if (status == VDBQ_OK)
        status =
            device_order_init(order, &sort->store, rows, &sort->times, error);
    if (status == VDBQ_OK && rows < sort->store.rows) {
        order->fresh = false;
        status = collect_bins(sort, narrowing, &order->radix, error);
    }
    device_memory_release(narrowing->bins);
    memory_release(narrowing);
    return status;
}

/* Sorts the rows that may be among the first `end`. */
static enum vdbq_status sort_all(struct device_sort *sort, uint64_t end,
                                 struct device_order *order,
                                 struct error *error)
{
    const struct vector *keys = &sort->params.step->keys;
    enum vdbq_status status = make_elements(sort, end, order, error);
    return status == VDBQ_OK
               ? device_order_by(order, keys->items, keys->count, error)
               : status;
}

/* --------------------------------------------------------------- the end -- */

/* Writes rows of one column in the order of the elements. */
static enum vdbq_status pick(struct device_sort *sort,
                             const struct device_radix *radix,
                             struct device_memory *out, uint64_t from,
                             uint64_t to, unsigned width, uint64_t first,
                             uint64_t count, struct error *error)
{
    return device_call(
        sort->params.device,
        &(struct device_call){
            .kernel = KERNEL_SORT_PICK,
            .memories = { sort->store.memory, radix->elements, out },
            .memory_count = 3,
            .numbers = { from, to, width, first, count },
            .number_count = 5,
            .items = count },
        &sort->times, error);
}

/* Puts the rows' columns that go out side by side, and brings them over. */
static enum vdbq_status bring(struct device_sort *sort,
                              const struct device_radix *radix,
                              const struct device_place *placed, uint64_t bytes,
                              uint64_t first, uint64_t count,
                              struct error *error)
{
    struct device *device = sort->params.device;
    struct device_memory *out = NULL;
    enum vdbq_status status =
        device_memory_create(device, MEMORY_DEVICE, bytes, &out, error);
    for (unsigned i = 0; i < sort->params.out_count && status == VDBQ_OK; i++) {
        const struct device_place *from = &sort->store.places[i];
        status = pick(sort, radix, out, from->values, placed[i].values,
                      from->width, first, count, error);
        if (status == VDBQ_OK && from->nulls != UINT64_MAX)
            status = pick(sort, radix, out, from->nulls, placed[i].nulls, 1,
                          first, count, error);
    }
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_PINNED, bytes,
                                      &sort->pinned, error);
    if (status == VDBQ_OK)
        status = device_read(out, 0, device_memory_host(sort->pinned), bytes,
                             &sort->times, error);
    if (status == VDBQ_OK)
        status = device_calls_wait(device, &sort->times, error);
    device_memory_release(out);
    return status;
}

/* Points the row set to the rows. */
static void give(struct device_sort *sort, const struct device_place *placed,
                 uint64_t count, struct row_set *row_set)
{
    assert(count <= sort->store.rows);
    uint8_t *host = device_memory_host(sort->pinned);
    for (unsigned i = 0; i < sort->params.out_count; i++) {
        row_set->columns[i].values = host + placed[i].values;
        row_set->columns[i].nulls =
            placed[i].nulls != UINT64_MAX ? host + placed[i].nulls : NULL;
    }
    row_set->rows = row_set->rows_room = count;
}

void device_sort_take_back(struct device_sort *sort, struct row_set *row_set)
{
    for (unsigned i = 0; sort != NULL && i < row_set->column_count; i++) {
        row_set->columns[i].values = NULL;
        row_set->columns[i].nulls = NULL;
    }
}

enum vdbq_status device_sort_finish(struct device_sort *sort,
                                    struct row_set *row_set,
                                    struct error *error)
{
    const struct device_sort_params *params = &sort->params;
    const struct step_sort *step = params->step;
    uint64_t rows = sort->store.rows;
    uint64_t first = step->offset < rows ? step->offset : rows;
    uint64_t count = rows - first;
    struct device_place *placed =
        memory_zeroed(params->out_count + 1, sizeof *placed);
    struct device_order order = { 0 };
    uint64_t bytes;
    enum vdbq_status status = VDBQ_OK;
    count = count < step->limit ? count : step->limit;
    if (placed == NULL)
        return error_no_memory(error);
    bytes =
        device_places(params->columns, NULL, params->out_count, count, placed);
    if (count > 0)
        status = sort_all(sort, first + count, &order, error);
    if (status == VDBQ_OK && count > 0)
        status = bring(sort, &order.radix, placed, bytes, first, count, error);
    if (status == VDBQ_OK && count > 0)
        give(sort, placed, count, row_set);
    device_order_finish(&order);
    memory_release(placed);
    return status;
}
