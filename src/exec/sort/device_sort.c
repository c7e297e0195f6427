/* SPDX-License-Identifier: MIT */
/*
 * Sorting on a device: see device_sort.h. Each key's bits are sorted 32 at a
 * time, the last key first, and of a key that may be NULL then whether it is.
 */
#include "exec/sort/device_sort.h"

#include <assert.h>
#include <stdlib.h>

#include "cl/order.h"
#include "cl/tablet.h"
#include "exec/sort/device_radix.h"
#include "exec/launch/device_store.h"
#include "exec/sort/sort.h"

/* As in cl/sort.cl. */
enum {
    CODE_DESCENDING = 256,
    CODE_HIGH = 512,
    CODE_NULL = 1024,
    CODE_NULLS_LAST = 2048,
    CODE_FIRST = 4096,
    BIN_BITS = 12,
    BINS = 1 << BIN_BITS
};

/* Where one row of so many is asked for, and as few are in its bins, others
 * are not sorted. */
enum { FEW_SHARE = 16, FEW_MAX = 1 << 16 };

struct device_sort {
    struct device_sort_params params; /* of the caller */
    struct device_store store;        /* all rows                        */
    struct output *outputs;           /* where they are, one a column    */
    struct device_memory *pinned;     /* those that go out, for the host */
    bool fresh;                       /* no element was made yet         */
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
    sort->fresh = true;
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

/* --------------------------------------------------------------- sorting -- */

/* Sorts by so many bits of what `how` names of a key. */
static enum vdbq_status sort_bits(struct device_sort *sort,
                                  struct device_radix *radix,
                                  const struct device_place *stored,
                                  unsigned how, uint64_t base, unsigned bits,
                                  struct error *error)
{
    assert(bits <= 32);
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    enum vdbq_status status;
    if (sort->fresh)
        how |= CODE_FIRST;
    status =
        device_call(sort->params.device,
                    &(struct device_call){
                        .kernel = KERNEL_SORT_CODES,
                        .memories = { sort->store.memory, radix->elements },
                        .memory_count = 2,
                        .numbers = { stored->values, stored->nulls, how, base,
                                     mask, radix->count },
                        .number_count = 6,
                        .items = radix->count },
                    &sort->times, error);
    sort->fresh = false;
    return status == VDBQ_OK ? device_radix_sort(radix, bits, error) : status;
}

/* The least order of a column's values, and the bits of those above it. */
static unsigned bits_of(const struct device_column *column, uint64_t *base)
{
    int type = sort_type(column->type);
    bool real = type == TYPE_F32 || type == TYPE_F64;
    int64_t low = INT32_MIN, high = INT32_MAX;
    *base = 0;
    if (type == TYPE_F64 || (type == TYPE_I64 && !column->ranged))
        return 64;
    if (column->ranged && !real) {
        low = type == TYPE_I64 || column->low > low ? column->low : low;
        high = type == TYPE_I64 || column->high < high ? column->high : high;
    }
    *base = order_code(low);
    return low < high ? device_radix_bits((uint64_t)high - (uint64_t)low) : 1;
}

/* Sorts by one key; keys of 64 bits take two sorts. */
static enum vdbq_status sort_key(struct device_sort *sort,
                                 struct device_radix *radix,
                                 const struct step_key *key,
                                 struct error *error)
{
    assert((unsigned)key->column < sort->params.column_count);
    const struct device_column *column = &sort->params.columns[key->column];
    const struct device_place *stored = &sort->store.places[key->column];
    unsigned how = (unsigned)sort_type(column->type);
    uint64_t base;
    unsigned bits = bits_of(column, &base);
    enum vdbq_status status;
    if (key->descending)
        how |= CODE_DESCENDING;
    status =
        sort_bits(sort, radix, stored, how, base, bits < 32 ? bits : 32, error);
    if (status == VDBQ_OK && bits > 32)
        status = sort_bits(sort, radix, stored, how | CODE_HIGH, base,
                           bits - 32, error);
    if (status == VDBQ_OK && column->nullable)
        status =
            sort_bits(sort, radix, stored,
                      how | CODE_NULL | (key->nulls_last ? CODE_NULLS_LAST : 0),
                      0, 1, error);
    return status;
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
    sort->fresh = false;
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
                                      struct device_radix *radix,
                                      struct error *error)
{
    struct device *device = sort->params.device;
    const struct step_key *key = vector_at(&sort->params.step->keys, 0);
    const struct device_column *column = &sort->params.columns[key->column];
    struct narrowing *narrowing = memory_zeroed(1, sizeof *narrowing);
    enum vdbq_status status = VDBQ_OK;
    uint64_t rows = sort->store.rows;
    if (narrowing == NULL)
        return error_no_memory(error);
    if (narrows(sort, end)) {
        unsigned bits = bits_of(column, &narrowing->base);
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
        status = device_radix_init(radix, device, rows, &sort->times, error);
    if (status == VDBQ_OK && rows < sort->store.rows)
        status = collect_bins(sort, narrowing, radix, error);
    device_memory_release(narrowing->bins);
    memory_release(narrowing);
    return status;
}

/* Sorts by the last key first: each sort keeps the order of equal ones. */
static enum vdbq_status sort_all(struct device_sort *sort, uint64_t end,
                                 struct device_radix *radix,
                                 struct error *error)
{
    const struct vector *keys = &sort->params.step->keys;
    enum vdbq_status status = make_elements(sort, end, radix, error);
    for (size_t i = keys->count; i-- > 0 && status == VDBQ_OK;)
        status = sort_key(sort, radix, vector_at(keys, i), error);
    return status;
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
    struct device_radix radix = { 0 };
    uint64_t bytes;
    enum vdbq_status status = VDBQ_OK;
    count = count < step->limit ? count : step->limit;
    if (placed == NULL)
        return error_no_memory(error);
    bytes =
        device_places(params->columns, NULL, params->out_count, count, placed);
    if (count > 0)
        status = sort_all(sort, first + count, &radix, error);
    if (status == VDBQ_OK && count > 0)
        status = bring(sort, &radix, placed, bytes, first, count, error);
    if (status == VDBQ_OK && count > 0)
        give(sort, placed, count, row_set);
    device_radix_finish(&radix);
    memory_release(placed);
    return status;
}
