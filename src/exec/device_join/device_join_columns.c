/* SPDX-License-Identifier: MIT */
/*
 * Columns of pairs on a device: vdbq_join_expand writes them, from where both
 * sides' rows are. Left rows are those that were counted; once those of the right
 * side alone go out, these are.
 */
#include <assert.h>

#include "base/hostile.h"
#include "device/kernel.h"
#include "exec/device_join/device_join_inner.h"

enum {
    ROUND_BYTES = HOSTILE(64, 64 << 20),
    ROUND_ROWS_MIN = HOSTILE(3, 1 << 10),
    ROUND_ROWS_NONE = 1 << 30 /* where no column is read */
};

/* ---------------------------------------------------- create, destroy -- */

/* Whether rows of a side without a partner go out, beside NULLs. */
static bool lacks_partner(const struct device_join *join, bool right)
{
    enum join_kind kind = join->params.step->kind;
    return kind == JOIN_FULL || kind == (right ? JOIN_LEFT : JOIN_RIGHT);
}

/* Whether a column of the result says if the row has a partner. */
static bool is_mark(const struct device_join *join, unsigned number)
{
    return join->params.step->kind == JOIN_MARK
           && number == join->params.left_count;
}

/* What is known of a column. */
static struct device_column describe(const struct device_join *join,
                                     unsigned number)
{
    const struct device_join_params *params = &join->params;
    if (is_mark(join, number))
        return (struct device_column){ .type = params->mark_type,
                                       .nullable = true };
    bool right = number >= params->left_count;
    struct device_column column =
        right ? params->right[number - params->left_count]
              : params->left[number];
    column.nullable |= lacks_partner(join, right);
    return column;
}

enum vdbq_status join_columns_init(struct device_join *join,
                                   struct join_columns *columns, bool right,
                                   struct error *error)
{
    const struct device_join_params *params = &join->params;
    unsigned count = params->left_count + (right ? params->right_count : 0);
    count += params->step->kind == JOIN_MARK;
    columns->count = count++;
    columns->columns = memory_zeroed(count, sizeof *columns->columns);
    columns->reads = memory_zeroed(count, sizeof *columns->reads);
    columns->places = memory_zeroed(count, sizeof *columns->places);
    columns->outputs = memory_zeroed(count, sizeof *columns->outputs);
    columns->copies = memory_zeroed(count, sizeof *columns->copies);
    if (!columns->columns || !columns->reads || !columns->places
        || !columns->outputs || !columns->copies)
        return error_no_memory(error);
    for (unsigned i = 0; i < columns->count; i++) {
        columns->columns[i] = describe(join, i);
        columns->reads[i] = true;
    }
    return device_memory_create(params->device, MEMORY_DEVICE,
                                count * sizeof *columns->copies, &columns->sent,
                                error);
}

void join_columns_finish(struct join_columns *columns)
{
    device_memory_release(columns->sent);
    device_memory_release(columns->out);
    memory_release(columns->columns);
    memory_release(columns->reads);
    memory_release(columns->places);
    memory_release(columns->outputs);
    memory_release(columns->copies);
}

/* ----------------------------------------------------------------- room -- */

/* Bytes of a pair, as far as columns are read. */
static uint64_t row_bytes(const struct join_columns *columns)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < columns->count; i++)
        if (columns->reads[i])
            bytes += row_set_width(columns->columns[i].type)
                     + columns->columns[i].nullable;
    return bytes;
}

uint64_t join_columns_most(const struct device_join *join,
                           const struct join_columns *columns, uint64_t more)
{
    uint64_t bytes = row_bytes(columns) + more, most = join->params.round_rows;
    uint64_t room = device_facts(join->params.device)->buffer_max_bytes / 2;
    if (most == 0 && bytes > 0)
        most = (room < ROUND_BYTES ? room : ROUND_BYTES) / bytes;
    else if (most == 0)
        most = ROUND_ROWS_NONE;
    return join->params.round_rows > 0 || most > ROUND_ROWS_MIN
               ? most
               : ROUND_ROWS_MIN;
}

/* Places the columns that are read for `rows` rows; the bytes of all. */
static uint64_t place_columns(struct join_columns *columns, uint64_t rows)
{
    uint64_t bytes = device_places(columns->columns, columns->reads,
                                   columns->count, rows, columns->places);
    for (unsigned i = 0; i < columns->count; i++)
        columns->outputs[i] = device_place_output(&columns->places[i]);
    return bytes;
}

enum vdbq_status join_columns_room(struct device_join *join,
                                   struct join_columns *columns, uint64_t rows,
                                   uint64_t most, struct error *error)
{
    uint64_t room = 2 * columns->out_room;
    room = room < most ? room : most;
    room = room > rows ? room : rows;
    if (columns->out != NULL && columns->out_room >= rows)
        return VDBQ_OK;
    enum vdbq_status status =
        device_calls_wait(join->params.device, &join->times, error);
    device_memory_release(columns->out);
    columns->out = NULL;
    columns->out_room = room;
    return status == VDBQ_OK
               ? device_memory_create(join->params.device, MEMORY_DEVICE,
                                      place_columns(columns, room),
                                      &columns->out, error)
               : status;
}

/* ---------------------------------------------------------------- write -- */

enum vdbq_status join_columns_send(struct device_join *join,
                                   struct join_columns *columns,
                                   struct error *error)
{
    assert(columns->count >= join->params.left_count);
    unsigned left = join->params.left_count;
    columns->copy_count = 0;
    for (unsigned i = 0; i < columns->count; i++) {
        if (!columns->reads[i] || is_mark(join, i))
            continue;
        const struct device_place *from =
            i < left ? &join->left.places[i] : &join->right.places[i - left];
        columns->copies[columns->copy_count++] = (struct join_output){
            .values = from->values,
            .nulls = from->nulls,
            .to_values = columns->places[i].values,
            .to_nulls = columns->places[i].nulls,
            .width = from->width,
            .right = (i >= left) != join->ended,
        };
    }
    if (columns->copy_count == 0)
        return VDBQ_OK;
    return device_write(columns->sent, 0, columns->copies,
                        columns->copy_count * sizeof *columns->copies,
                        &join->times, error);
}

enum vdbq_status join_columns_write(struct device_join *join,
                                    const struct join_columns *columns,
                                    const struct join_pairs_made *pairs,
                                    struct error *error)
{
    const struct device_store *counted =
        join->ended ? &join->right : &join->left;
    const struct device_store *other = join->ended ? &join->left : &join->right;
    if (columns->copy_count == 0)
        return VDBQ_OK;
    assert(pairs->count <= columns->out_room);
    return device_join_call(
        join,
        &(struct device_call){
            .kernel = KERNEL_JOIN_EXPAND,
            .memories = { columns->sent, counted->memory, other->memory,
                          pairs->rows, pairs->counts->first,
                          pairs->counts->places, columns->out },
            .memory_count = 7,
            .numbers = { counted->rows, pairs->start, pairs->count,
                         columns->copy_count, pairs->rows == NULL },
            .number_count = 5,
            .items = pairs->count },
        error);
}
