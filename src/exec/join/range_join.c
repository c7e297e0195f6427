/* SPDX-License-Identifier: MIT */
/*
 * Range joins. Right rows are sorted by their value, and a left row's two
 * bounds sought in that. Where right rows are spans and the left value lies in
 * them, they are sorted by their low values: those that begin up to the value
 * are the first so many, and of these a tree of the greatest high values gives
 * the ones that have not ended.
 *
 * What a left row finds is put in the order of right rows by sorting it; where
 * it is much of the right side, or only a part of a long list is wanted, right
 * rows are rather looked at one after the other.
 */
#include "exec/join/range_join.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/rows/order.h"
#include "exec/sort/sort.h"

enum {
    LEVEL_BITS = 4,     /* of the tree                                     */
    PART_MAX = 1 << 13, /* candidates of which a part can be sorted out   */
    DENSE_SHARE = 16,   /* more than such a share of right rows is much    */
    SHORT_RUN = 24
};

/* --------------------------------------------------------------- codes -- */

/* The order code of a value: codes compare as the values do. */
static inline int64_t code_at(const struct row_set_column *column, int type,
                              uint64_t row)
{
    return order_of_code(order_at(type, column->values, row));
}

/* Moves a bound that is left out to the next code inside; false: there is
 * none. */
static inline bool close_low(int64_t *code, bool open)
{
    if (open && *code == INT64_MAX)
        return false;
    *code += open;
    return true;
}

/* Turns an open upper bound into a closed one. */
static inline bool close_high(int64_t *code, bool open)
{
    if (open && *code == INT64_MIN)
        return false;
    *code -= open;
    return true;
}

/* Where the bounds of rows are. */
struct bounding {
    const struct row_set_column *low, *high; /* NULL: no bound */
    int low_type, high_type;
    bool low_open, high_open;
};

/* Which columns give the bounds; a side without one is unbounded. */
static struct bounding bounding_of(const struct step_range_join *range,
                                   const struct row_set *rows)
{
    struct bounding bounding = { .low_open = range->low_open,
                                 .high_open = range->high_open };
    if (range->low >= 0) {
        bounding.low = &rows->columns[range->low];
        bounding.low_type = sort_type(bounding.low->type);
    }
    if (range->high >= 0) {
        bounding.high = &rows->columns[range->high];
        bounding.high_type = sort_type(bounding.high->type);
    }
    return bounding;
}

/* The bounds of a row; false: nothing is between them. */
static inline bool bounds_at(const struct bounding *bounding, uint64_t row,
                             int64_t *low, int64_t *high)
{
    *low = INT64_MIN;
    *high = INT64_MAX;
    if (bounding->low != NULL) {
        *low = code_at(bounding->low, bounding->low_type, row);
        if (row_set_is_null(bounding->low, row)
            || !close_low(low, bounding->low_open))
            return false;
    }
    if (bounding->high != NULL) {
        *high = code_at(bounding->high, bounding->high_type, row);
        if (row_set_is_null(bounding->high, row)
            || !close_high(high, bounding->high_open))
            return false;
    }
    return *low <= *high;
}

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
    for (uint64_t i = 0; i < right->rows; i++)
        range->low[i] = code_at(column, type, i);
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
    struct bounding bounding = bounding_of(&range->range, right);
    bool any = false;
    range->low = memory_resize(NULL, (right->rows + 1) * sizeof *range->low);
    range->high = memory_resize(NULL, (right->rows + 1) * sizeof *range->high);
    range->own_nowhere = memory_zeroed(right->rows, 1);
    if (!range->low || !range->high || !range->own_nowhere)
        return error_no_memory(error);
    for (uint64_t i = 0; i < right->rows; i++) {
        range->own_nowhere[i] =
            !bounds_at(&bounding, i, &range->low[i], &range->high[i]);
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
    for (uint32_t i = 0; status == VDBQ_OK && i < count; i++)
        sorted[i] = values[(*order)[i]];
    return status == VDBQ_OK ? rank_index_init(ranks, sorted, count, error)
                             : status;
}

/* ------------------------------------------------------------ the tree -- */

/* Nodes of a level of the tree: each has several of the level below. */
static uint32_t level_count(const struct range_join *range, unsigned level)
{
    assert(level < RANGE_JOIN_LEVELS_MAX);
    uint64_t size = UINT64_C(1) << (LEVEL_BITS * level);
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
        int64_t *most = &range->most[level][i >> LEVEL_BITS];
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
        for (uint32_t i = 0; level == 0 && i < count; i++)
            range->most[0][i] = range->high[range->rows ? range->rows[i] : i];
        if (level > 0)
            fill_level(range, level);
        if (nodes <= 1)
            break;
    }
    return VDBQ_OK;
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
    struct bounding bounding = bounding_of(&range->range, left);
    for (unsigned i = 0; i < count; i++) {
        int64_t low, high;
        starts[i] = counts[i] = 0;
        if (!bounds_at(&bounding, first + i, &low, &high))
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
        int64_t value = code_at(column, type, first + i);
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

/* ---------------------------------------------------------------- sort -- */

/* For short runs. */
static void insert_sort(uint32_t *rows, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t row = rows[i], at = i;
        for (; at > 0 && rows[at - 1] > row; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* Sorts rows that are equal above a bit: those without it go first. */
static void sort_by_bits(uint32_t *rows, uint32_t count, unsigned bit)
{
    uint32_t without = 0;
    if (count <= SHORT_RUN) {
        insert_sort(rows, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = rows[i];
        rows[i] = rows[without];
        rows[without] = row;
        without += !(row >> bit & 1);
    }
    assert(without <= count);
    if (bit == 0)
        return;
    sort_by_bits(rows, without, bit - 1);
    sort_by_bits(rows + without, count - without, bit - 1);
}

/* Row numbers in ascending order, since results follow the right side's. */
static void sort_rows(uint32_t *rows, uint32_t count)
{
    uint32_t differ = 0;
    unsigned bit = 0;
    bool sorted = true;
    for (uint32_t i = 1; i < count; i++) {
        differ |= rows[i] ^ rows[0];
        sorted &= rows[i - 1] < rows[i];
    }
    while (differ >> 1 >> bit > 0)
        bit++;
    if (!sorted)
        sort_by_bits(rows, count, bit);
}

/* --------------------------------------------------------------- write -- */

/* Whether all the rows in front of place `at` that are one node of a level
 * end below a value. */
static bool ends_below(const struct range_join *range, unsigned level,
                       uint32_t at, int64_t value)
{
    unsigned shift = LEVEL_BITS * level;
    return (at & ((UINT64_C(1) << shift) - 1)) == 0
           && range->most[level][((uint64_t)at >> shift) - 1] < value;
}

/* Spans that have begun and not ended: from the last that has begun on back,
 * over whole nodes of the tree where none of theirs reaches the value. */
static void write_reaching(const struct range_join *range,
                           const struct range_join_run *run, int64_t value,
                           uint32_t *right)
{
    uint32_t at = run->start, found = 0;
    while (found < run->count) {
        unsigned level = 0;
        while (level < range->levels && ends_below(range, level, at, value))
            level++;
        assert(at > 0);
        if (level > 0) {
            at -= (uint32_t)(UINT64_C(1) << (LEVEL_BITS * (level - 1)));
            continue;
        }
        at--;
        right[found++] = range->rows != NULL ? range->rows[at] : at;
    }
}

/* All candidates of a row, in the order of right rows. */
static void write_all(const struct range_join *range,
                      const struct range_join_run *run, int64_t value,
                      uint32_t *right)
{
    assert(run->count > 0);
    if (range->range.side == RANGE_JOIN_LEFT) {
        write_reaching(range, run, value, right);
    } else {
        memcpy(right, range->rows + run->start, run->count * sizeof *right);
    }
    sort_rows(right, run->count);
}

/* Candidates are right rows that reach to `low`, and begin up to `high`. */
static bool is_between(const struct range_join *range, uint32_t row,
                       int64_t low, int64_t high)
{
    return (range->high[row] >= low) & (range->low[row] <= high)
           & (range->nowhere == NULL || !range->nowhere[row]);
}

enum { SCANNED = 256 };

/* How many of right rows [first, first + count) are. */
PARALLEL_CLONES
static uint32_t count_block(const struct range_join *range, uint32_t first,
                            uint32_t count, int64_t low, int64_t high)
{
    const int64_t *lows = range->low + first, *highs = range->high + first;
    uint64_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += (uint64_t)((highs[i] >= low) & (lows[i] <= high));
    for (uint32_t i = 0; range->nowhere != NULL && i < count; i++)
        found -=
            (highs[i] >= low) & (lows[i] <= high) & range->nowhere[first + i];
    return (uint32_t)found;
}

/* Their numbers, into `rows`. */
static uint32_t scan_block(const struct range_join *range, uint32_t first,
                           uint32_t count, int64_t low, int64_t high,
                           uint32_t *rows)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        rows[found] = first + i;
        found += is_between(range, first + i, low, high);
    }
    return found;
}

/* Looks at right rows one after the other. */
static void write_scanned(const struct range_join *range,
                          const struct range_join_run *run, int64_t low,
                          int64_t high, uint32_t *right)
{
    uint32_t rows[SCANNED], skip = run->skip, written = 0;
    for (uint32_t first = 0; written < run->wanted; first += SCANNED) {
        uint32_t left = range->right_rows - first, found = skip, more;
        uint32_t count = left < SCANNED ? left : SCANNED;
        if (skip > 0)
            found = count_block(range, first, count, low, high);
        if (skip > 0 && found <= skip) {
            skip -= found;
            continue;
        }
        found = scan_block(range, first, count, low, high, rows);
        more = found - skip;
        more = more < run->wanted - written ? more : run->wanted - written;
        memcpy(right + written, rows + skip, more * sizeof *right);
        written += more;
        skip = 0;
    }
}

/* Between what the left row's partners lie. */
static void between(const struct range_join *range, const struct row_set *left,
                    uint64_t row, int64_t *low, int64_t *high)
{
    const struct row_set_column *column;
    struct bounding bounding;
    if (range->range.side == RANGE_JOIN_LEFT) {
        column = &left->columns[range->range.column];
        *low = *high = code_at(column, sort_type(column->type), row);
        return;
    }
    bounding = bounding_of(&range->range, left);
    bounds_at(&bounding, row, low, high);
}

/* Whether to look at all right rows is less than to sort those found. */
static bool is_scanned(const struct range_join *range,
                       const struct range_join_run *run)
{
    if (run->wanted < run->count && run->count > PART_MAX)
        return true;
    return run->count > SHORT_RUN
           && run->count > range->right_rows / DENSE_SHARE;
}

void range_join_write(const struct range_join *range,
                      const struct row_set *left,
                      const struct range_join_run *run, uint32_t *right)
{
    assert(run->skip + run->wanted <= run->count);
    bool all = run->wanted == run->count;
    bool is_run = range->range.side == RANGE_JOIN_RIGHT && range->rows == NULL;
    uint32_t part[PART_MAX];
    int64_t low, high;
    for (uint32_t i = 0; is_run && i < run->wanted; i++)
        right[i] = run->start + run->skip + i;
    if (is_run || run->wanted == 0)
        return;
    between(range, left, run->left, &low, &high);
    if (is_scanned(range, run)) {
        write_scanned(range, run, low, high, right);
    } else if (all) {
        write_all(range, run, low, right);
    } else {
        write_all(range, run, low, part);
        memcpy(right, part + run->skip, run->wanted * sizeof *right);
    }
}
