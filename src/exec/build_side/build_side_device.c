/* SPDX-License-Identifier: MIT */
/*
 * Puts build rows in place that the device has already: a call a cursor copies its
 * columns and finds the bounds of their values, then the indexes are made. The
 * bounds come to the host: groups whose keys are such columns have no more codes than
 * these, and tablets whose keys are others are passed over.
 */
#include <assert.h>

#include "cl/order.h"
#include "exec/build_side/build_columns.h"
#include "exec/launch/keeping.h"

/* Codes of words whose numbers are looked at one by one. */
enum { NUMBERED_MAX = 1 << 16 };

u64 build_bounds_bytes(const struct build_side *build_side)
{
    bool any = false;
    for (unsigned i = 0; i < build_side->cursors; i++)
        any |= build_side->rows[i].on_device;
    return any ? build_column_count(build_side) * sizeof(struct keep_bounds)
               : 0;
}

/* -------------------------------------------------------------- columns -- */

/* Whether the device is to find the bounds of a column that it has. */
static bool has_bounds(const struct build_side *build_side, unsigned i)
{
    unsigned column = (unsigned)build_input_at(build_side, i)->column;
    enum vdbq_type type = build_device_at(build_side, i)->columns[column].type;
    return build_first_of(build_side, i) == i && type != VDBQ_FLOAT
           && type != VDBQ_DOUBLE;
}

/* Copies a column that is on the device already to its place, if it has one, and
 * has its bounds found. */
static enum vdbq_status put_column(struct build_side *build_side, unsigned i,
                                   struct keeping *keeping, struct error *error)
{
    const struct build_input *input = &build_side->inputs[i];
    bool index = i >= build_side->pack.build_count;
    bool copied =
        !index
        || build_needs_keys(build_side, i - build_side->pack.build_count);
    bool bounds = has_bounds(build_side, i);
    const struct device_place *from =
        &build_device_at(build_side, i)
             ->store.places[build_input_at(build_side, i)->column];
    struct keep_column values = { .from = from->values,
                                  .to = copied ? input->values : KEEP_NOWHERE,
                                  .width = from->width,
                                  .bounds = bounds ? i + 1 : 0 };
    u64 nulls = index || input->nulls == 0 ? KEEP_NOWHERE : input->nulls;
    return copied || bounds ? keeping_add_with_nulls(keeping, &values,
                                                     from->nulls, nulls, error)
                            : VDBQ_OK;
}

/* Puts the columns of a cursor's rows in place, which the device has. */
static enum vdbq_status put_columns(struct build_side *build_side,
                                    unsigned cursor, struct error *error)
{
    struct device_rows *rows = &build_side->rows[cursor].device_rows;
    struct keeping keeping = { .device = rows->store.device,
                               .from = rows->store.memory,
                               .to = build_side->run.memory,
                               .times = &rows->times };
    enum vdbq_status status = VDBQ_OK;
    keeping.keep = (struct keep){ .count = rows->store.rows,
                                  .bounds = build_side->bounds_at };
    for (unsigned i = 0;
         i < build_column_count(build_side) && status == VDBQ_OK; i++)
        if (rows->store.rows > 0
            && build_input_at(build_side, i)->cursor == (int)cursor)
            status = put_column(build_side, i, &keeping, error);
    return status == VDBQ_OK && rows->store.rows > 0
               ? keeping_send(&keeping, error)
               : status;
}

/* Marks the slots of all indexes that the device makes as free, and the bounds
 * behind them as those of no rows. */
static enum vdbq_status clear_indexes(struct build_side *build_side,
                                      struct device_rows *rows,
                                      struct error *error)
{
    uint64_t first = build_side->bounds_at;
    for (unsigned i = build_side->pack.index_count; i > 0; i--)
        if (build_device_at(build_side, build_side->pack.build_count + i - 1))
            first = build_side->indexes[i - 1].slots;
    return build_device_clear(rows, build_side->run.memory, first,
                              build_side->bytes - TABLET_ALIGN - first, error);
}

/* Makes the indexes over the device's rows. */
static enum vdbq_status make_indexes(struct build_side *build_side,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < build_side->pack.index_count && status == VDBQ_OK;
         i++) {
        unsigned column = build_side->pack.build_count + i;
        struct device_rows *rows = build_device_at(build_side, column);
        if (rows != NULL)
            status = build_device_index(
                rows, (unsigned)build_input_at(build_side, column)->column,
                &build_side->indexes[i], build_side->run.memory, error);
    }
    return status;
}

/* --------------------------------------------------------------- bounds -- */

/* Makes the numbers of words of their codes, which lie between two; of what are no
 * codes, or too many, `all`. */
static void number_words(const struct order_codes *order_codes,
                         const struct interval *all, struct interval *value)
{
    struct interval found = { .low = INT64_MAX, .high = INT64_MIN };
    if (order_codes->order_codes == NULL)
        return;
    if (value->low < 0 || value->high - value->low >= NUMBERED_MAX) {
        *value = *all;
        return;
    }
    for (int64_t i = value->low; i <= value->high; i++) {
        int64_t number =
            i < order_codes->count ? order_codes->order_codes[i] : 0;
        found.low = number < found.low ? number : found.low;
        found.high = number > found.high ? number : found.high;
    }
    *value = found;
}

/* Notes what the device found to be in its columns. */
static void narrow_ranges(struct build_side *build_side,
                          const struct keep_bounds *bounds)
{
    for (unsigned i = 0; i < build_column_count(build_side); i++) {
        unsigned first = build_first_of(build_side, i);
        struct interval *value = &build_side->ranges[i].value;
        if (build_device_at(build_side, i) == NULL)
            continue;
        if (first < i) {
            build_side->ranges[i] = build_side->ranges[first];
        } else if (bounds[i].least != 0 || bounds[i].greatest != 0) {
            struct interval all = *value;
            value->low = order_of_code(~bounds[i].least);
            value->high = order_of_code(bounds[i].greatest);
            number_words(&build_side->order_codes[i], &all, value);
        }
    }
}

/* Reads the bounds that the device found, and waits for all before. */
static enum vdbq_status read_bounds(struct build_side *build_side,
                                    struct error *error)
{
    uint64_t size = build_bounds_bytes(build_side);
    assert(size > 0 && build_side->bounds_at > 0);
    struct keep_bounds *bounds = arena_alloc(&build_side->arena, size);
    if (bounds == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        device_read(build_side->run.memory, build_side->bounds_at, bounds, size,
                    &build_side->times, error);
    if (status == VDBQ_OK)
        narrow_ranges(build_side, bounds);
    return status;
}

enum vdbq_status build_put_device(struct build_side *build_side,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    bool cleared = false;
    for (unsigned i = 0; i < build_side->cursors && status == VDBQ_OK; i++) {
        if (!build_side->rows[i].on_device)
            continue;
        if (!cleared)
            status = clear_indexes(build_side, &build_side->rows[i].device_rows,
                                   error);
        cleared = true;
        if (status == VDBQ_OK)
            status = put_columns(build_side, i, error);
    }
    if (status == VDBQ_OK)
        status = make_indexes(build_side, error);
    if (status == VDBQ_OK && cleared)
        status = read_bounds(build_side, error);
    for (unsigned i = 0; i < build_side->cursors && status == VDBQ_OK; i++)
        if (build_side->rows[i].on_device)
            status = build_device_wait(&build_side->rows[i].device_rows,
                                       &build_side->times, error);
    return status;
}
