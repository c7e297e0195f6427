/* SPDX-License-Identifier: MIT */
/*
 * The candidates that a left row of a range join has found, written in the
 * order of right rows: by sorting them; where they are much of the right side,
 * or only a part of a long list is wanted, right rows are rather looked at one
 * after the other.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/join/range_bounds.h"
#include "exec/join/range_join.h"

enum {
    PART_MAX = 1 << 13, /* candidates of which a part can be sorted out   */
    DENSE_SHARE = 16,   /* more than such a share of right rows is much    */
    SHORT_RUN = 24,     /* of rows: they are sorted by inserting           */
    SCANNED = 256       /* right rows that are looked at together          */
};

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
    unsigned shift = RANGE_JOIN_LEVEL_BITS * level;
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
            at -= (uint32_t)(UINT64_C(1)
                             << (RANGE_JOIN_LEVEL_BITS * (level - 1)));
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
    struct range_bounds bounds;
    if (range->range.side == RANGE_JOIN_LEFT) {
        column = &left->columns[range->range.column];
        *low = *high = range_code_at(column, sort_type(column->type), row);
        return;
    }
    bounds = range_bounds_of(&range->range, left);
    range_bounds_at(&bounds, row, low, high);
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
