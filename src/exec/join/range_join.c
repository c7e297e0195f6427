/* SPDX-License-Identifier: MIT */
/*
 * Range joins. Right rows are sorted by their value, and a left row's two
 * bounds sought in that. Where right rows are spans and the left value lies in
 * them, they are sorted by their low values: those that begin up to the value
 * are the first so many, and of these a tree of the greatest high values gives
 * the ones that have not ended. What is found is written by range_join_write.c.
 */
#include "exec/join/range_join.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/threads/stop.h"
#include "exec/join/range_bounds.h"

/* ---------------------------------------------------------------- open -- */

/* Values of the right rows; those of RANGE_JOIN_RIGHT are low and high. */
static enum vdbq_status read_points(struct range_join *range,
                                    const struct row_set *right,
                                    struct error *error)
{
    const struct row_set_column *column = &right->columns[range->range.column];
    int type = sort_type(column->type);
    range->low = memory_resize(NULL, (right->rows + 1) * sizeof *range->low);
    if (range->low == NULL)
        return error_no_memory(error);
    for (uint64_t i = 0; i < right->rows && !stop_at(i); i++)
        range->low[i] = range_code_at(column, type, i);
    range->high = range->low;
    if (column->nulls != NULL && memchr(column->nulls, 1, right->rows) != NULL)
        range->nowhere = column->nulls;
    return VDBQ_OK;
}

/* Reads the bounds of every right row; an empty span is nowhere. */
static enum vdbq_status read_spans(struct range_join *range,
                                   const struct row_set *right,
                                   struct error *error)
{
    struct range_bounds bounds = range_bounds_of(&range->range, right);
    bool any = false;
    range->low = memory_resize(NULL, (right->rows + 1) * sizeof *range->low);
    range->high = memory_resize(NULL, (right->rows + 1) * sizeof *range->high);
    range->own_nowhere = memory_zeroed(right->rows, 1);
    if (!range->low || !range->high || !range->own_nowhere)
        return error_no_memory(error);
    for (uint64_t i = 0; i < right->rows && !stop_at(i); i++) {
        range->own_nowhere[i] =
            !range_bounds_at(&bounds, i, &range->low[i], &range->high[i]);
        any |= range->own_nowhere[i];
    }
    range->nowhere = any ? range->own_nowhere : NULL;
    return VDBQ_OK;
}

/* Whether the values stand in order already. */
static bool ascend(const int64_t *values, uint32_t count)
{
    bool ascending = true;
    for (uint32_t i = 1; i < count && ascending; i++)
        ascending = values[i - 1] <= values[i];
    return ascending;
}

/* Right rows that can match at all. */
static uint32_t count_somewhere(const struct range_join *range)
{
    uint32_t count = range->right_rows;
    for (uint32_t i = 0; range->nowhere != NULL && i < range->right_rows; i++)
        count -= range->nowhere[i];
    return count;
}

/* Ranks of right rows' values; and their order where it is not that of their
 * numbers. */
static enum vdbq_status rank(const struct range_join *range,
                             const int64_t *values, unsigned threads,
                             struct rank_index *ranks, uint32_t **order,
                             struct error *error)
{
    uint32_t rows = range->right_rows, count = count_somewhere(range);
    struct sort_key key = { .type = TYPE_I64,
                            .values = values,
                            .nulls = range->nowhere,
                            .nulls_last = true };
    int64_t *sorted = memory_resize(NULL, ((size_t)rows + 1) * 8);
    enum vdbq_status status;
    *order = NULL;
    ranks->sorted = sorted;
    if (sorted == NULL)
        return error_no_memory(error);
    if (count == rows && ascend(values, rows)) {
        memcpy(sorted, values, rows * sizeof *sorted);
        return rank_index_init(ranks, sorted, count, error);
    }
    *order = memory_resize(NULL, ((size_t)rows + 1) * sizeof **order);
    if (*order == NULL)
        return error_no_memory(error);
    status = sort_order(&key, 1, rows, threads, *order, error);
    for (uint32_t i = 0; status == VDBQ_OK && i < count && !stop_at(i); i++)
        sorted[i] = values[(*order)[i]];
    if (status == VDBQ_OK)
        status = stop_pause(error);
    return status == VDBQ_OK ? rank_index_init(ranks, sorted, count, error)
                             : status;
}

/* ------------------------------------------------------------ the tree -- */

/* Nodes of a level of the tree: each has several of the level below. */
static uint32_t level_count(const struct range_join *range, unsigned level)
{
    assert(level < RANGE_JOIN_LEVELS_MAX);
    uint64_t size = UINT64_C(1) << (RANGE_JOIN_LEVEL_BITS * level);
    return (uint32_t)((range->ranks.count + size - 1) / size);
}

/* The next level: the greatest of each 16. */
static void fill_level(const struct range_join *range, unsigned level)
{
    assert(level > 0 && level < RANGE_JOIN_LEVELS_MAX);
    uint32_t count = level_count(range, level);
    const int64_t *below = range->most[level - 1];
    for (uint32_t i = 0; i < count; i++)
        range->most[level][i] = INT64_MIN;
    for (uint32_t i = 0; i < level_count(range, level - 1); i++) {
        int64_t *most = &range->most[level][i >> RANGE_JOIN_LEVEL_BITS];
        *most = below[i] > *most ? below[i] : *most;
    }
}

/* Each node keeps the greatest end below it; the top has one node. */
static enum vdbq_status grow_tree(struct range_join *range, struct error *error)
{
    uint32_t count = range->ranks.count;
    for (unsigned level = 0; level < RANGE_JOIN_LEVELS_MAX; level++) {
        uint32_t nodes = level_count(range, level);
        range->most[level] = memory_resize(NULL, ((size_t)nodes + 1) * 8);
        if (range->most[level] == NULL)
            return error_no_memory(error);
        range->levels = level + 1;
        for (uint32_t i = 0; level == 0 && i < count && !stop_at(i); i++)
            range->most[0][i] = range->high[range->rows ? range->rows[i] : i];
        if (level > 0)
            fill_level(range, level);
        if (nodes <= 1)
            break;
    }
    return stop_pause(error);
}

/* Ends are sorted by themselves: they count the spans that ended. */
static enum vdbq_status rank_spans(struct range_join *range, unsigned threads,
                                   struct error *error)
{
    uint32_t *order = NULL;
    enum vdbq_status status =
        rank(range, range->high, threads, &range->ends, &order, error);
    memory_release(order);
    return status == VDBQ_OK ? grow_tree(range, error) : status;
}

enum vdbq_status range_join_init(struct range_join *range,
                                 const struct range_join_params *params,
                                 struct error *error)
{
    bool spans = params->range->side == RANGE_JOIN_LEFT;
    enum vdbq_status status;
    assert(params->range->side != RANGE_JOIN_NONE
           && params->right->rows <= ROW_SET_ROWS_MAX);
    *range = (struct range_join){ .range = *params->range,
                                  .right_rows = (uint32_t)params->right->rows };
    status = spans ? read_spans(range, params->right, error)
                   : read_points(range, params->right, error);
    if (status == VDBQ_OK)
        status = stop_pause(error);
    if (status == VDBQ_OK)
        status = rank(range, range->low, params->threads, &range->ranks,
                      &range->rows, error);
    return status == VDBQ_OK && spans
               ? rank_spans(range, params->threads, error)
               : status;
}

void range_join_finish(struct range_join *range)
{
    if (range->high != range->low)
        memory_release(range->high);
    memory_release(range->low);
    memory_release(range->own_nowhere);
    memory_release(range->rows);
    rank_index_finish(&range->ranks);
    rank_index_finish(&range->ends);
    for (unsigned i = 0; i < range->levels; i++)
        memory_release(range->most[i]);
    *range = (struct range_join){ 0 };
}

/* ---------------------------------------------------------------- find -- */

/* Points in order: the partners of a left span are one run. */
static void find_points(const struct range_join *range,
                        const struct row_set *left, uint64_t first,
                        unsigned count, uint32_t *starts, uint32_t *counts)
{
    struct range_bounds bounds = range_bounds_of(&range->range, left);
    for (unsigned i = 0; i < count; i++) {
        int64_t low, high;
        starts[i] = counts[i] = 0;
        if (!range_bounds_at(&bounds, first + i, &low, &high))
            continue;
        starts[i] = rank_index_below(&range->ranks, low);
        counts[i] = rank_index_up_to(&range->ranks, high) - starts[i];
        assert(starts[i] <= range->ranks.count);
    }
}

/* Spans that have begun, less those that have ended. `starts` gets how many
 * have begun. */
static void find_spans(const struct range_join *range,
                       const struct row_set *left, uint64_t first,
                       unsigned count, uint32_t *starts, uint32_t *counts)
{
    const struct row_set_column *column = &left->columns[range->range.column];
    int type = sort_type(column->type);
    for (unsigned i = 0; i < count; i++) {
        int64_t value = range_code_at(column, type, first + i);
        starts[i] = counts[i] = 0;
        if (row_set_is_null(column, first + i))
            continue;
        starts[i] = rank_index_up_to(&range->ranks, value);
        counts[i] = starts[i] - rank_index_below(&range->ends, value);
        assert(counts[i] <= starts[i]);
    }
}

void range_join_find(const struct range_join *range, const struct row_set *left,
                     uint64_t first, unsigned count, uint32_t *starts,
                     uint32_t *counts)
{
    if (range->range.side == RANGE_JOIN_LEFT)
        find_spans(range, left, first, count, starts, counts);
    else
        find_points(range, left, first, count, starts, counts);
}
