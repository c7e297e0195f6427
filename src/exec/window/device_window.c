/* SPDX-License-Identifier: MIT */
/*
 * Windows on a device: see device_window.h, and cl/window/window.h for what lies
 * where. Functions with the same partition and order share one sort.
 */
#include "exec/window/device_window_inner.h"

#include <assert.h>

#include "base/threads/stop.h"
#include "exec/aggregate/aggregate.h"
#include "exec/sort/device_order.h"
#include "exec/window/window.h"

/* Bytes for a row beside it: elements twice, marks, numbers, two lists of begins,
 * and what functions keep. */
enum { ROW_BYTES = 2 * 8 + 1 + 8 + 2 * 4 + 8 + 8 + 4 };

struct run {
    const struct device_window_params *params;
    struct device_rows *rows;
    struct device_order order; /* of the function that runs          */
    struct window_scan scan;   /* how places are shared out          */
    uint64_t spans;            /* of places                          */
    struct device_memory *starts, *numbers, *begins, *sums, *work;
    struct device_memory
        *failed; /* a u32 for each function: 1: a sum overflows */
};

bool device_window_fits(const struct device *device, uint64_t rows)
{
    const struct device_facts *facts = device_facts(device);
    return device_has_kernels(device) && rows < ROW_SET_ROWS_MAX
           && rows * (8 + 8 + 4) <= facts->buffer_max_bytes
           && rows * ROW_BYTES <= facts->memory_bytes / 4;
}

/* ----------------------------------------------------------------- calls -- */

/* Has the device call a kernel on the run's rows. */
static enum vdbq_status call(struct run *run, const struct device_call *call,
                             struct error *error)
{
    return device_call(run->rows->place.device, call, &run->rows->times, error);
}

/* Work-items of all spans. */
static uint64_t span_items(const struct run *run)
{
    return run->spans * device_group_items(run->rows->place.device);
}

/* Adds up the spans, and then what was before each. */
static enum vdbq_status
add_spans(struct run *run, const struct window_scan *scan, struct error *error)
{
    struct device_memory *rows = run->rows->store.memory;
    enum vdbq_status status =
        call(run,
             &(struct device_call){
                 .kernel = KERNEL_WINDOW_ADD,
                 .memories = { rows, run->order.radix.elements, run->starts,
                               run->work, run->sums },
                 .memory_count = 5,
                 .value = scan,
                 .value_bytes = sizeof *scan,
                 .items = span_items(run) },
             error);
    return status == VDBQ_OK ? call(
               run,
               &(struct device_call){ .kernel = KERNEL_WINDOW_SUMS,
                                      .memories = { run->sums },
                                      .memory_count = 1,
                                      .numbers = { run->spans, scan->keeps },
                                      .number_count = 2,
                                      .items = 1 },
               error)
                             : status;
}

/* Numbers partitions and peers. */
static enum vdbq_status number(struct run *run, struct error *error)
{
    struct window_scan scan = run->scan;
    scan.keeps = WINDOW_KEEPS_NUMBERS;
    enum vdbq_status status = add_spans(run, &scan, error);
    return status == VDBQ_OK ? call(
               run,
               &(struct device_call){ .kernel = KERNEL_WINDOW_NUMBER,
                                      .memories = { run->starts, run->sums,
                                                    run->numbers, run->begins },
                                      .memory_count = 4,
                                      .value = &scan,
                                      .value_bytes = sizeof scan,
                                      .items = span_items(run) },
               error)
                             : status;
}

/* Marks where a key is another than in the row before. */
static enum vdbq_status mark(struct run *run, int key, bool first,
                             unsigned marks, struct error *error)
{
    struct window_column column = window_column_of(&run->rows->store, key);
    return call(run,
                &(struct device_call){
                    .kernel = KERNEL_WINDOW_STARTS,
                    .memories = { run->rows->store.memory,
                                  run->order.radix.elements, run->starts },
                    .memory_count = 3,
                    .numbers = { run->scan.count, first, marks },
                    .number_count = 3,
                    .value = &column,
                    .value_bytes = sizeof column,
                    .items = run->scan.count },
                error);
}

/* ----------------------------------------------------------------- order -- */

/* Brings the rows into the order of keys, of which the first so many are those of
 * the partition. */
static enum vdbq_status order_by(struct run *run, const struct step_key *keys,
                                 unsigned count, unsigned partition,
                                 struct error *error)
{
    run->order.fresh = true;
    enum vdbq_status status = device_order_by(&run->order, keys, count, error);
    if (status == VDBQ_OK && count == 0)
        status = mark(run, -1, true, 0, error);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++)
        status =
            mark(run, keys[i].column, i == 0,
                 i < partition ? WINDOW_PARTITION | WINDOW_PEERS : WINDOW_PEERS,
                 error);
    return status == VDBQ_OK ? number(run, error) : status;
}

/* The same for a function. */
static enum vdbq_status order_for(struct run *run,
                                  const struct step_window_function *function,
                                  struct error *error)
{
    size_t most = function->partition.count + function->order.count;
    struct step_key *keys = memory_zeroed(most + 1, sizeof *keys);
    if (keys == NULL)
        return error_no_memory(error);
    unsigned count = window_keys(function, keys);
    enum vdbq_status status =
        order_by(run, keys, count, (unsigned)function->partition.count, error);
    memory_release(keys);
    return status;
}

/* ------------------------------------------------------------------- run -- */

/* Scans what a function keeps of places. */
static enum vdbq_status keep(struct run *run, struct window_made *made,
                             struct error *error)
{
    made->scan.span = run->scan.span;
    enum vdbq_status status = add_spans(run, &made->scan, error);
    return status == VDBQ_OK
               ? call(run,
                      &(struct device_call){
                          .kernel = KERNEL_WINDOW_SCAN,
                          .memories = { run->starts, run->sums, run->work },
                          .memory_count = 3,
                          .value = &made->scan,
                          .value_bytes = sizeof made->scan,
                          .items = span_items(run) },
                      error)
               : status;
}

/* Runs one function over the rows in their order. */
static enum vdbq_status run_function(struct run *run, unsigned number,
                                     struct error *error)
{
    struct device_rows *rows = run->rows;
    struct window_made made = window_make(run->params, number, &rows->store);
    enum vdbq_status status = made.keeps ? keep(run, &made, error) : VDBQ_OK;
    return status == VDBQ_OK
               ? call(run,
                      &(struct device_call){
                          .kernel = KERNEL_WINDOW_GIVE,
                          .memories = { rows->store.memory,
                                        run->order.radix.elements, run->numbers,
                                        run->begins, run->work, run->failed },
                          .memory_count = 6,
                          .value = &made.give,
                          .value_bytes = sizeof made.give,
                          .items = made.give.count },
                      error)
               : status;
}

/* All functions: their kernels stand in the device's queue. */
static enum vdbq_status run_all(struct run *run, struct error *error)
{
    const struct vector *functions = &run->params->step->functions;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; status == VDBQ_OK && i < functions->count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        if (i == 0 || !window_same(vector_at(functions, i - 1), function))
            status = order_for(run, function, error);
        if (status == VDBQ_OK)
            status = run_function(run, i, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

/* The first function of which a sum overflows fails. */
static enum vdbq_status tell_failed(struct run *run, struct error *error)
{
    const struct vector *functions = &run->params->step->functions;
    u32 *failed = memory_zeroed(functions->count, sizeof *failed);
    enum vdbq_status status =
        failed != NULL ? device_read(run->failed, 0, failed,
                                     functions->count * sizeof *failed,
                                     &run->rows->times, error)
                       : error_no_memory(error);
    for (unsigned i = 0; status == VDBQ_OK && i < functions->count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        if (failed[i] != 0)
            status = aggregate_overflow(&function->aggregate, error);
    }
    memory_release(failed);
    return status;
}

/* Bytes of what functions keep, at most; not 0. */
static uint64_t work_bytes(const struct run *run)
{
    uint64_t most = sizeof(u64);
    for (unsigned i = 0; i < run->params->step->functions.count; i++) {
        struct window_made made =
            window_make(run->params, i, &run->rows->store);
        most = made.work_bytes > most ? made.work_bytes : most;
    }
    return most;
}

/* Makes room for so many bytes. */
static enum vdbq_status room(struct run *run, struct device_memory **memory,
                             uint64_t bytes, enum vdbq_status status,
                             struct error *error)
{
    return status == VDBQ_OK ? device_memory_create(
               run->rows->place.device, MEMORY_DEVICE, bytes, memory, error)
                             : status;
}

/* Makes room for all that is kept of places, and shares these out. */
static enum vdbq_status begin(struct run *run, struct error *error)
{
    const struct device_store *store = &run->rows->store;
    size_t functions = run->params->step->functions.count;
    uint64_t count = store->rows;
    enum vdbq_status status =
        device_order_init(&run->order, store, count, &run->rows->times, error);
    run->spans = run->order.radix.spans;
    run->scan = (struct window_scan){ .count = count,
                                      .span = run->order.radix.span,
                                      .value = window_column_of(store, -1),
                                      .filter = window_column_of(store, -1),
                                      .low = WINDOW_NOWHERE,
                                      .high = WINDOW_NOWHERE,
                                      .seen = WINDOW_NOWHERE };
    status = room(run, &run->starts, count, status, error);
    status = room(run, &run->numbers, count * sizeof(u64), status, error);
    status =
        room(run, &run->begins, 2 * (count + 1) * sizeof(u32), status, error);
    status = room(run, &run->sums, run->spans * sizeof(struct window_sum),
                  status, error);
    status = room(run, &run->work, work_bytes(run), status, error);
    status = room(run, &run->failed, functions * sizeof(u32), status, error);
    return status == VDBQ_OK
               ? device_fill(run->failed, functions * sizeof(u32), 0, error)
               : status;
}

/* Nothing is in flight then. */
static void finish(struct run *run)
{
    struct error ignored;
    device_calls_wait(run->rows->place.device, &run->rows->times, &ignored);
    device_order_finish(&run->order);
    device_memory_release(run->starts);
    device_memory_release(run->numbers);
    device_memory_release(run->begins);
    device_memory_release(run->sums);
    device_memory_release(run->work);
    device_memory_release(run->failed);
}

enum vdbq_status device_window_run(const struct device_window_params *params,
                                   struct device_rows *rows,
                                   struct error *error)
{
    struct run run = { .params = params, .rows = rows };
    assert(rows->store.made_count == params->step->functions.count);
    if (rows->store.rows == 0)
        return VDBQ_OK;
    enum vdbq_status status = begin(&run, error);
    if (status == VDBQ_OK)
        status = run_all(&run, error);
    if (status == VDBQ_OK)
        status = tell_failed(&run, error);
    finish(&run);
    return status;
}
