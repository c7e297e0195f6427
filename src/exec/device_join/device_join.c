/* SPDX-License-Identifier: MIT */
/*
 * Joining on a device: see device_join.h. The host waits once for the count of
 * all left rows that are at hand; what it does with rounds is up to those who
 * take them.
 */
#include "exec/device_join/device_join.h"

#include <assert.h>

#include "cl/tablet.h"
#include "device/kernel.h"
#include "exec/device_join/device_join_inner.h"

enum {
    ROUND_BYTES = 64 << 20,
    ROUND_ROWS_MIN = 1 << 10,
    ROUND_ROWS_NONE = 1 << 30, /* where no column is read */
    ITEM_ROWS = 8              /* of a span, an item      */
};

/* ---------------------------------------------------- create, destroy -- */

/* Whether right columns go out. */
static bool pairs_go_out(const struct device_join *join)
{
    enum join_kind kind = join->params.step->kind;
    return kind == JOIN_INNER || kind == JOIN_LEFT;
}

/* Columns of the result: those of the left side, and of the right one where
   pairs go out. */
static enum vdbq_status make_columns(struct device_join *join,
                                     struct error *error)
{
    const struct device_join_params *params = &join->params;
    unsigned count =
        params->left_count + (pairs_go_out(join) ? params->right_count : 0);
    join->column_count = count++;
    join->columns = memory_zeroed(count, sizeof *join->columns);
    join->reads = memory_zeroed(count, sizeof *join->reads);
    join->places = memory_zeroed(count, sizeof *join->places);
    join->outputs = memory_zeroed(count, sizeof *join->outputs);
    join->copies = memory_zeroed(count, sizeof *join->copies);
    if (!join->columns || !join->reads || !join->places || !join->outputs
        || !join->copies)
        return error_no_memory(error);
    for (unsigned i = 0; i < join->column_count; i++) {
        bool right = i >= params->left_count;
        join->columns[i] =
            right ? params->right[i - params->left_count] : params->left[i];
        join->columns[i].nullable |= right && params->step->kind == JOIN_LEFT;
        join->reads[i] = true;
    }
    return device_memory_create(params->device, MEMORY_DEVICE,
                                count * sizeof *join->copies, &join->sent,
                                error);
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
        status = make_columns(join, error);
    if (status == VDBQ_OK)
        status = device_join_shape(join, error);
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
    device_calls_wait(join->params.device, &join->times, &ignored);
    device_store_finish(&join->right);
    device_store_finish(&join->left);
    device_join_index_finish(join);
    device_memory_release(join->sent);
    device_memory_release(join->out);
    device_memory_release(join->first);
    device_memory_release(join->counted);
    memory_release(join->columns);
    memory_release(join->reads);
    memory_release(join->places);
    memory_release(join->outputs);
    memory_release(join->copies);
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
    *count = join->column_count;
    return join->columns;
}

void device_join_reads(struct device_join *join, const bool *reads)
{
    for (unsigned i = 0; i < join->column_count; i++)
        join->reads[i] = reads[i];
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

/* Calls a kernel; its time is added to the join's. */
static enum vdbq_status call(struct device_join *join,
                             const struct device_call *call,
                             struct error *error)
{
    return device_call(join->params.device, call, &join->times, error);
}

/* Makes room for what is known of each left row, and of each span's. */
static enum vdbq_status counted_room(struct device_join *join,
                                     struct error *error)
{
    struct device *device = join->params.device;
    uint64_t rows = join->left.rows_room;
    if (join->counted != NULL && join->counted_room >= rows)
        return VDBQ_OK;
    device_memory_release(join->first);
    device_memory_release(join->counted);
    join->first = join->counted = NULL;
    join->counted_room = rows;
    enum vdbq_status status = device_memory_create(
        device, MEMORY_DEVICE, rows * sizeof(u32), &join->first, error);
    return status == VDBQ_OK ? device_memory_create(
               device, MEMORY_DEVICE,
               (rows + 1 + device_groups_most(device)) * sizeof(u64),
               &join->counted, error)
                             : status;
}

/* Adds the counts of `spans` spans up. */
static enum vdbq_status add_up(struct device_join *join, uint64_t spans,
                               uint64_t span, struct error *error)
{
    uint64_t rows = join->left.rows;
    unsigned items = device_group_items(join->params.device);
    enum vdbq_status status =
        call(join,
             &(struct device_call){ .kernel = KERNEL_JOIN_SUMS,
                                    .memories = { join->counted },
                                    .memory_count = 1,
                                    .numbers = { spans, rows + 1 },
                                    .number_count = 2,
                                    .items = items },
             error);
    if (status == VDBQ_OK)
        status =
            call(join,
                 &(struct device_call){ .kernel = KERNEL_JOIN_PLACES,
                                        .memories = { join->counted },
                                        .memory_count = 1,
                                        .numbers = { rows, span, rows + 1 },
                                        .number_count = 3,
                                        .items = spans * items },
                 error);
    return status;
}

/* Counts the partners of each left row, then adds the counts up. */
static enum vdbq_status count_rows(struct device_join *join,
                                   struct error *error)
{
    struct device *device = join->params.device;
    uint64_t rows = join->left.rows, items = device_group_items(device);
    uint64_t block = items * ITEM_ROWS, most = device_groups_most(device);
    uint64_t blocks = (rows + block - 1) / block;
    uint64_t span = (blocks + most - 1) / most * block;
    uint64_t spans = (rows + span - 1) / span;
    assert(rows > 0 && spans <= most);
    enum vdbq_status status =
        call(join,
             &(struct device_call){
                 .kernel = KERNEL_JOIN_COUNT,
                 .memories = { join->control, join->left.memory,
                               join->right.memory, join->words, join->slots,
                               join->spans, join->first, join->counted },
                 .memory_count = 8,
                 .numbers = { rows, span, rows + 1 },
                 .number_count = 3,
                 .items = spans * items },
             error);
    return status == VDBQ_OK ? add_up(join, spans, span, error) : status;
}

enum vdbq_status device_join_begin(struct device_join *join,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    join->total = join->next = 0;
    if (join->left.rows == 0)
        return VDBQ_OK;
    assert(join->left.rows <= ROW_SET_ROWS_MAX);
    status = counted_room(join, error);
    if (status == VDBQ_OK)
        status = device_join_control(join, error);
    if (status == VDBQ_OK)
        status = count_rows(join, error);
    if (status == VDBQ_OK)
        status =
            device_read(join->counted, join->left.rows * sizeof(u64),
                        &join->total, sizeof join->total, &join->times, error);
    return status == VDBQ_OK
               ? device_calls_wait(join->params.device, &join->times, error)
               : status;
}

/* --------------------------------------------------------------- rounds -- */

/* Bytes of an output row, as far as columns are read. */
static uint64_t row_bytes(const struct device_join *join)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < join->column_count; i++)
        if (join->reads[i])
            bytes += row_set_width(join->columns[i].type)
                     + join->columns[i].nullable;
    return bytes;
}

/* Places the columns that are read for `rows` rows; the bytes of all. */
static uint64_t place_columns(struct device_join *join, uint64_t rows)
{
    uint64_t bytes = device_places(join->columns, join->reads,
                                   join->column_count, rows, join->places);
    for (unsigned i = 0; i < join->column_count; i++)
        join->outputs[i] = device_place_output(&join->places[i]);
    return bytes;
}

/* Tells the device what goes where. */
static enum vdbq_status send_copies(struct device_join *join,
                                    struct error *error)
{
    assert(join->column_count >= join->params.left_count);
    unsigned left = join->params.left_count;
    join->copy_count = 0;
    for (unsigned i = 0; i < join->column_count; i++) {
        const struct device_place *from =
            i < left ? &join->left.places[i] : &join->right.places[i - left];
        if (join->reads[i])
            join->copies[join->copy_count++] = (struct join_output){
                .values = from->values,
                .nulls = from->nulls,
                .to_values = join->places[i].values,
                .to_nulls = join->places[i].nulls,
                .width = from->width,
                .right = i >= left,
            };
    }
    if (join->copy_count == 0)
        return VDBQ_OK;
    return device_write(join->sent, 0, join->copies,
                        join->copy_count * sizeof *join->copies, &join->times,
                        error);
}

/* How many pairs are written at once: as many as fit into a share of the
   memory. */
static uint64_t rows_of_round(const struct device_join *join)
{
    uint64_t bytes = row_bytes(join), most = join->params.round_rows;
    uint64_t room = device_facts(join->params.device)->buffer_max_bytes / 2;
    if (most == 0 && bytes > 0)
        most = (room < ROUND_BYTES ? room : ROUND_BYTES) / bytes;
    else if (most == 0)
        most = ROUND_ROWS_NONE;
    return join->params.round_rows > 0 || most > ROUND_ROWS_MIN
               ? most
               : ROUND_ROWS_MIN;
}

/* Makes room for the next rows of those at hand. */
static enum vdbq_status out_room(struct device_join *join, struct error *error)
{
    uint64_t rows = join->total - join->next, most = rows_of_round(join);
    uint64_t room = 2 * join->out_room;
    rows = rows < most ? rows : most;
    room = room > rows ? room : rows;
    room = room < most ? room : most;
    join->round_rows = most;
    assert(most > 0 && room <= most);
    if (join->out != NULL && join->out_room >= rows)
        return VDBQ_OK;
    enum vdbq_status status =
        device_calls_wait(join->params.device, &join->times, error);
    device_memory_release(join->out);
    join->out = NULL;
    join->out_room = room;
    return status == VDBQ_OK
               ? device_memory_create(join->params.device, MEMORY_DEVICE,
                                      place_columns(join, room), &join->out,
                                      error)
               : status;
}

/* Writes the columns of the next pairs. */
static enum vdbq_status expand(struct device_join *join, uint64_t rows,
                               struct error *error)
{
    if (join->copy_count == 0)
        return VDBQ_OK;
    assert(join->next + rows <= join->total && rows <= join->out_room);
    return call(
        join,
        &(struct device_call){
            .kernel = KERNEL_JOIN_EXPAND,
            .memories = { join->sent, join->left.memory, join->right.memory,
                          join->rows, join->first, join->counted, join->out },
            .memory_count = 7,
            .numbers = { join->left.rows, join->next, rows, join->copy_count,
                         join->shape.single },
            .number_count = 5,
            .items = rows },
        error);
}

enum vdbq_status device_join_next(struct device_join *join,
                                  struct sink_rows *rows, struct error *error)
{
    assert(join->next <= join->total);
    uint64_t left = join->total - join->next;
    enum vdbq_status status = VDBQ_OK;
    *rows = (struct sink_rows){ .outputs = join->outputs };
    if (left == 0)
        return VDBQ_OK;
    status = out_room(join, error);
    if (status == VDBQ_OK && (join->next == 0))
        status = send_copies(join, error);
    if (status != VDBQ_OK)
        return status;
    left = left < join->round_rows ? left : join->round_rows;
    status = expand(join, left, error);
    rows->memory = join->out;
    rows->count = left;
    join->next += left;
    join->rounds++;
    return status;
}
