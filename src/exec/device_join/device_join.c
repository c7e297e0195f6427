/* SPDX-License-Identifier: MIT */
/*
 * Joining on a device: see device_join.h. The host waits once for the count of
 * all left rows that are at hand; what it does with rounds is up to those who
 * take them. With a condition these are counted pairs, of which
 * device_join_judge.c makes counts of output rows.
 */
#include "exec/device_join/device_join.h"

#include <assert.h>

#include "device/kernel.h"
#include "exec/device_join/device_join_inner.h"

enum { ITEM_ROWS = 8 /* of a span, an item */ };

/* ---------------------------------------------------- create, destroy -- */

/* Whether right columns go out. */
static bool pairs_go_out(const struct device_join *join)
{
    enum join_kind kind = join->params.step->kind;
    return kind != JOIN_SEMI && kind != JOIN_ANTI && kind != JOIN_MARK;
}

enum vdbq_status device_join_create(const struct device_join_params *params,
                                    struct device_join **made,
                                    struct error *error)
{
    struct device_join *join = memory_zeroed(1, sizeof *join);
    enum vdbq_status status;
    *made = NULL;
    if (join == NULL)
        return error_no_memory(error);
    join->params = *params;
    status = device_store_init(&join->right, params->device, params->right,
                               params->right_count, &join->times, error);
    if (status == VDBQ_OK)
        status = device_store_init(&join->left, params->device, params->left,
                                   params->left_count, &join->times, error);
    if (status == VDBQ_OK)
        status = device_store_room(&join->right, 1, error);
    if (status == VDBQ_OK)
        status =
            join_columns_init(join, &join->result, pairs_go_out(join), error);
    if (status == VDBQ_OK)
        status = device_join_shape(join, error);
    if (status == VDBQ_OK && params->condition != NULL)
        status = device_join_judge_init(join, error);
    if (status == VDBQ_OK)
        *made = join;
    else
        device_join_destroy(join);
    return status;
}

void device_join_destroy(struct device_join *join)
{
    struct error ignored;
    if (join == NULL)
        return;
    if (join->params.condition != NULL)
        device_condition_stop(join->params.condition);
    device_calls_wait(join->params.device, &join->times, &ignored);
    held_error_finish(&join->held);
    device_store_finish(&join->right);
    device_store_finish(&join->left);
    device_join_index_finish(join);
    device_join_judge_finish(join);
    join_columns_finish(&join->result);
    device_join_counts_finish(&join->pairs);
    memory_release(join);
}

struct device_store *device_join_right(struct device_join *join)
{
    return &join->right;
}

struct device_store *device_join_left(struct device_join *join)
{
    return &join->left;
}

const struct device_column *device_join_columns(const struct device_join *join,
                                                unsigned *count)
{
    *count = join->result.count;
    return join->result.columns;
}

void device_join_reads(struct device_join *join, const bool *reads)
{
    for (unsigned i = 0; i < join->result.count; i++)
        join->result.reads[i] = reads[i];
}

const char *device_join_text(const struct device_join *join)
{
    return join->shape.hashed ? "hashed" : "dense";
}

uint64_t device_join_rounds(const struct device_join *join)
{
    return join->rounds;
}

const struct device_times *device_join_times(const struct device_join *join)
{
    return &join->times;
}

/* ---------------------------------------------------------------- count -- */

enum vdbq_status device_join_call(struct device_join *join,
                                  const struct device_call *call,
                                  struct error *error)
{
    return device_call(join->params.device, call, &join->times, error);
}

enum vdbq_status device_join_counts_room(struct device_join *join,
                                         struct join_counts *counts,
                                         uint64_t rows, struct error *error)
{
    struct device *device = join->params.device;
    if (counts->places != NULL && counts->room >= rows)
        return VDBQ_OK;
    enum vdbq_status status = device_calls_wait(device, &join->times, error);
    device_join_counts_finish(counts);
    counts->room = rows;
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_DEVICE,
                                      (rows + 1) * sizeof(u32), &counts->first,
                                      error);
    return status == VDBQ_OK ? device_memory_create(
               device, MEMORY_DEVICE,
               (rows + 1 + device_groups_most(device)) * sizeof(u64),
               &counts->places, error)
                             : status;
}

void device_join_counts_finish(struct join_counts *counts)
{
    device_memory_release(counts->first);
    device_memory_release(counts->places);
    *counts = (struct join_counts){ 0 };
}

void device_join_spans(const struct device_join *join, uint64_t rows,
                       uint64_t *span, uint64_t *spans)
{
    uint64_t items = device_group_items(join->params.device);
    uint64_t most = device_groups_most(join->params.device);
    uint64_t block = items * ITEM_ROWS, blocks = (rows + block - 1) / block;
    *span = (blocks + most - 1) / most * block;
    *spans = (rows + *span - 1) / *span;
    assert(rows > 0 && *spans <= most);
}

/* Adds up what the spans of rows have, then what rows have. */
static enum vdbq_status add_counts(struct device_join *join,
                                   const struct join_counts *counts,
                                   uint64_t rows, struct error *error)
{
    unsigned items = device_group_items(join->params.device);
    uint64_t span, spans;
    device_join_spans(join, rows, &span, &spans);
    enum vdbq_status status =
        device_join_call(join,
                         &(struct device_call){ .kernel = KERNEL_JOIN_SUMS,
                                                .memories = { counts->places },
                                                .memory_count = 1,
                                                .numbers = { spans, rows + 1 },
                                                .number_count = 2,
                                                .items = items },
                         error);
    return status == VDBQ_OK ? device_join_call(
               join,
               &(struct device_call){ .kernel = KERNEL_JOIN_PLACES,
                                      .memories = { counts->places },
                                      .memory_count = 1,
                                      .numbers = { rows, span, rows + 1 },
                                      .number_count = 3,
                                      .items = spans * items },
               error)
                             : status;
}

enum vdbq_status device_join_add_up(struct device_join *join,
                                    const struct join_counts *counts,
                                    uint64_t rows, uint64_t *total,
                                    struct error *error)
{
    enum vdbq_status status = add_counts(join, counts, rows, error);
    if (status == VDBQ_OK)
        status = device_read(counts->places, rows * sizeof(u64), total,
                             sizeof *total, &join->times, error);
    return status == VDBQ_OK
               ? device_calls_wait(join->params.device, &join->times, error)
               : status;
}

/* Counts the partners of each left row. */
static enum vdbq_status count_rows(struct device_join *join,
                                   struct error *error)
{
    uint64_t rows = join->left.rows, span, spans;
    device_join_spans(join, rows, &span, &spans);
    return device_join_call(
        join,
        &(struct device_call){
            .kernel = KERNEL_JOIN_COUNT,
            .memories = { join->control, join->left.memory, join->right.memory,
                          join->words, join->slots, join->spans,
                          join->pairs.first, join->pairs.places },
            .memory_count = 8,
            .numbers = { rows, span, rows + 1 },
            .number_count = 3,
            .items = spans * device_group_items(join->params.device) },
        error);
}

enum vdbq_status device_join_begin(struct device_join *join,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    uint64_t total;
    join->total = join->next = join->pair_count = 0;
    join->judged_rows = join->judged_pairs = 0;
    if (join->left.rows == 0)
        return VDBQ_OK;
    assert(join->left.rows <= ROW_SET_ROWS_MAX);
    status = device_join_counts_room(join, &join->pairs, join->left.rows_room,
                                     error);
    if (status == VDBQ_OK)
        status = device_join_control(join, error);
    if (status == VDBQ_OK)
        status = count_rows(join, error);
    if (status == VDBQ_OK)
        status = device_join_add_up(join, &join->pairs, join->left.rows, &total,
                                    error);
    if (status != VDBQ_OK)
        return status;
    if (join->params.condition != NULL) {
        join->pair_count = total;
        return VDBQ_OK;
    }
    join->total = total;
    return device_join_mark(join, total, error);
}

/* --------------------------------------------------------------- rounds -- */

/* The next `count` output rows. */
static struct join_pairs_made next_pairs(const struct device_join *join,
                                         uint64_t count)
{
    struct join_pairs_made made = { .start = join->next, .count = count };
    if (join->params.condition == NULL && !join->ended) {
        made.counts = &join->pairs;
        made.rows = join->shape.single ? NULL : join->rows;
    } else {
        made.counts = &join->kept;
        made.rows = pairs_go_out(join) ? join->partners : NULL;
    }
    return made;
}

/* Writes the next output rows of those that were counted. */
static enum vdbq_status write_rows(struct device_join *join, uint64_t left,
                                   struct sink_rows *rows, struct error *error)
{
    struct join_columns *result = &join->result;
    uint64_t most = join_columns_most(join, result, 0);
    uint64_t count = left < most ? left : most;
    enum vdbq_status status =
        join_columns_room(join, result, count, most, error);
    if (status == VDBQ_OK && join->next == 0)
        status = join_columns_send(join, result, error);
    if (status != VDBQ_OK)
        return status;
    struct join_pairs_made pairs = next_pairs(join, count);
    status = join_columns_write(join, result, &pairs, error);
    if (status == VDBQ_OK)
        status = device_join_put_marks(join, count, error);
    rows->memory = result->out;
    rows->count = count;
    join->next += count;
    join->rounds++;
    return status;
}

enum vdbq_status device_join_next(struct device_join *join,
                                  struct sink_rows *rows, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    assert(join->next <= join->total);
    *rows = (struct sink_rows){ .outputs = join->result.outputs };
    if (join->params.condition != NULL && join->next == join->total)
        status = device_join_judge(join, error);
    if (status != VDBQ_OK || join->next == join->total)
        return status == VDBQ_OK ? held_error_tell(&join->held, error) : status;
    return write_rows(join, join->total - join->next, rows, error);
}
