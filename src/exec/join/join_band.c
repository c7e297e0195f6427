/* SPDX-License-Identifier: MIT */
/*
 * Bands. Right rows are sorted by their value, and a left row's two bounds
 * sought in that. Where right rows are spans and the left value lies in them,
 * they are sorted by their low values: those that begin up to the value are
 * the first so many, and of these a tree of the greatest high values gives
 * the ones that have not ended.
 *
 * What a left row finds is put in the order of right rows by sorting it; where
 * it is much of the right side, or only a part of a long list is wanted, right
 * rows are rather looked at one after the other.
 */
#include "exec/join/join_band.h"

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

static inline int64_t code_at(const struct relation_column *column, int type,
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

static inline bool close_high(int64_t *code, bool open)
{
    if (open && *code == INT64_MIN)
        return false;
    *code -= open;
    return true;
}

/* Where the bounds of rows are. */
struct bounding {
    const struct relation_column *low, *high; /* NULL: no bound */
    int low_type, high_type;
    bool low_open, high_open;
};

static struct bounding bounding_of(const struct step_band *band,
                                   const struct relation *rows)
{
    struct bounding bounding = { .low_open = band->low_open,
                                 .high_open = band->high_open };
    if (band->low >= 0) {
        bounding.low = &rows->columns[band->low];
        bounding.low_type = sort_type(bounding.low->type);
    }
    if (band->high >= 0) {
        bounding.high = &rows->columns[band->high];
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
        if (relation_is_null(bounding->low, row)
            || !close_low(low, bounding->low_open))
            return false;
    }
    if (bounding->high != NULL) {
        *high = code_at(bounding->high, bounding->high_type, row);
        if (relation_is_null(bounding->high, row)
            || !close_high(high, bounding->high_open))
            return false;
    }
    return *low <= *high;
}

/* ---------------------------------------------------------------- open -- */

/* Values of the right rows; those of BAND_RIGHT are low and high. */
static enum vdbq_status read_points(struct join_band *band,
                                    const struct relation *right,
                                    struct error *error)
{
    const struct relation_column *column = &right->columns[band->band.column];
    int type = sort_type(column->type);
    band->low = memory_resize(NULL, (right->rows + 1) * sizeof *band->low);
    if (band->low == NULL)
        return error_no_memory(error);
    for (uint64_t i = 0; i < right->rows; i++)
        band->low[i] = code_at(column, type, i);
    band->high = band->low;
    if (column->nulls != NULL && memchr(column->nulls, 1, right->rows) != NULL)
        band->nowhere = column->nulls;
    return VDBQ_OK;
}

static enum vdbq_status read_spans(struct join_band *band,
                                   const struct relation *right,
                                   struct error *error)
{
    struct bounding bounding = bounding_of(&band->band, right);
    bool any = false;
    band->low = memory_resize(NULL, (right->rows + 1) * sizeof *band->low);
    band->high = memory_resize(NULL, (right->rows + 1) * sizeof *band->high);
    band->own_nowhere = memory_zeroed(right->rows, 1);
    if (!band->low || !band->high || !band->own_nowhere)
        return error_no_memory(error);
    for (uint64_t i = 0; i < right->rows; i++) {
        band->own_nowhere[i] =
            !bounds_at(&bounding, i, &band->low[i], &band->high[i]);
        any |= band->own_nowhere[i];
    }
    band->nowhere = any ? band->own_nowhere : NULL;
    return VDBQ_OK;
}

static bool ascend(const int64_t *values, uint32_t count)
{
    bool ascending = true;
    for (uint32_t i = 1; i < count && ascending; i++)
        ascending = values[i - 1] <= values[i];
    return ascending;
}

static uint32_t count_somewhere(const struct join_band *band)
{
    uint32_t count = band->right_rows;
    for (uint32_t i = 0; band->nowhere != NULL && i < band->right_rows; i++)
        count -= band->nowhere[i];
    return count;
}

/* Ranks of right rows' values; and their order where it is not that of their
 * numbers. */
static enum vdbq_status rank(const struct join_band *band,
                             const int64_t *values, unsigned threads,
                             struct ranks *ranks, uint32_t **order,
                             struct error *error)
{
    uint32_t rows = band->right_rows, count = count_somewhere(band);
    struct sort_key key = { .type = TYPE_I64,
                            .values = values,
                            .nulls = band->nowhere,
                            .nulls_last = true };
    int64_t *sorted = memory_resize(NULL, ((size_t)rows + 1) * 8);
    enum vdbq_status status;
    *order = NULL;
    ranks->sorted = sorted;
    if (sorted == NULL)
        return error_no_memory(error);
    if (count == rows && ascend(values, rows)) {
        memcpy(sorted, values, rows * sizeof *sorted);
        return ranks_init(ranks, sorted, count, error);
    }
    *order = memory_resize(NULL, ((size_t)rows + 1) * sizeof **order);
    if (*order == NULL)
        return error_no_memory(error);
    status = sort_order(&key, 1, rows, threads, *order, error);
    for (uint32_t i = 0; status == VDBQ_OK && i < count; i++)
        sorted[i] = values[(*order)[i]];
    return status == VDBQ_OK ? ranks_init(ranks, sorted, count, error) : status;
}

/* ------------------------------------------------------------ the tree -- */

static uint32_t level_count(const struct join_band *band, unsigned level)
{
    uint64_t size = UINT64_C(1) << (LEVEL_BITS * level);
    return (uint32_t)((band->ranks.count + size - 1) / size);
}

/* The next level: the greatest of each 16. */
static void fill_level(const struct join_band *band, unsigned level)
{
    uint32_t count = level_count(band, level);
    const int64_t *below = band->most[level - 1];
    for (uint32_t i = 0; i < count; i++)
        band->most[level][i] = INT64_MIN;
    for (uint32_t i = 0; i < level_count(band, level - 1); i++) {
        int64_t *most = &band->most[level][i >> LEVEL_BITS];
        *most = below[i] > *most ? below[i] : *most;
    }
}

static enum vdbq_status grow_tree(struct join_band *band, struct error *error)
{
    uint32_t count = band->ranks.count;
    for (unsigned level = 0; level < BAND_LEVELS_MAX; level++) {
        uint32_t nodes = level_count(band, level);
        band->most[level] = memory_resize(NULL, ((size_t)nodes + 1) * 8);
        if (band->most[level] == NULL)
            return error_no_memory(error);
        band->levels = level + 1;
        for (uint32_t i = 0; level == 0 && i < count; i++)
            band->most[0][i] = band->high[band->rows ? band->rows[i] : i];
        if (level > 0)
            fill_level(band, level);
        if (nodes <= 1)
            break;
    }
    return VDBQ_OK;
}

static enum vdbq_status rank_spans(struct join_band *band, unsigned threads,
                                   struct error *error)
{
    uint32_t *order = NULL;
    enum vdbq_status status =
        rank(band, band->high, threads, &band->ends, &order, error);
    memory_release(order);
    return status == VDBQ_OK ? grow_tree(band, error) : status;
}

enum vdbq_status join_band_init(struct join_band *band,
                                const struct join_band_params *params,
                                struct error *error)
{
    bool spans = params->band->side == BAND_LEFT;
    enum vdbq_status status;
    *band = (struct join_band){ .band = *params->band,
                                .right_rows = (uint32_t)params->right->rows };
    status = spans ? read_spans(band, params->right, error)
                   : read_points(band, params->right, error);
    if (status == VDBQ_OK)
        status = rank(band, band->low, params->threads, &band->ranks,
                      &band->rows, error);
    return status == VDBQ_OK && spans ? rank_spans(band, params->threads, error)
                                      : status;
}

void join_band_finish(struct join_band *band)
{
    if (band->high != band->low)
        memory_release(band->high);
    memory_release(band->low);
    memory_release(band->own_nowhere);
    memory_release(band->rows);
    ranks_finish(&band->ranks);
    ranks_finish(&band->ends);
    for (unsigned i = 0; i < band->levels; i++)
        memory_release(band->most[i]);
    *band = (struct join_band){ 0 };
}

/* ---------------------------------------------------------------- find -- */

static void find_points(const struct join_band *band,
                        const struct relation *left, uint64_t first,
                        unsigned count, uint32_t *starts, uint32_t *counts)
{
    struct bounding bounding = bounding_of(&band->band, left);
    for (unsigned i = 0; i < count; i++) {
        int64_t low, high;
        starts[i] = counts[i] = 0;
        if (!bounds_at(&bounding, first + i, &low, &high))
            continue;
        starts[i] = ranks_below(&band->ranks, low);
        counts[i] = ranks_up_to(&band->ranks, high) - starts[i];
    }
}

/* Spans that have begun, less those that have ended. `starts` gets how many
 * have begun. */
static void find_spans(const struct join_band *band,
                       const struct relation *left, uint64_t first,
                       unsigned count, uint32_t *starts, uint32_t *counts)
{
    const struct relation_column *column = &left->columns[band->band.column];
    int type = sort_type(column->type);
    for (unsigned i = 0; i < count; i++) {
        int64_t value = code_at(column, type, first + i);
        starts[i] = counts[i] = 0;
        if (relation_is_null(column, first + i))
            continue;
        starts[i] = ranks_up_to(&band->ranks, value);
        counts[i] = starts[i] - ranks_below(&band->ends, value);
    }
}

void join_band_find(const struct join_band *band, const struct relation *left,
                    uint64_t first, unsigned count, uint32_t *starts,
                    uint32_t *counts)
{
    if (band->band.side == BAND_LEFT)
        find_spans(band, left, first, count, starts, counts);
    else
        find_points(band, left, first, count, starts, counts);
}

/* ---------------------------------------------------------------- sort -- */

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
    if (bit == 0)
        return;
    sort_by_bits(rows, without, bit - 1);
    sort_by_bits(rows + without, count - without, bit - 1);
}

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
static bool ends_below(const struct join_band *band, unsigned level,
                       uint32_t at, int64_t value)
{
    unsigned shift = LEVEL_BITS * level;
    return (at & ((UINT64_C(1) << shift) - 1)) == 0
           && band->most[level][((uint64_t)at >> shift) - 1] < value;
}

/* Spans that have begun and not ended: from the last that has begun on back,
 * over whole nodes of the tree where none of theirs reaches the value. */
static void write_reaching(const struct join_band *band,
                           const struct join_band_run *run, int64_t value,
                           uint32_t *right)
{
    uint32_t at = run->start, found = 0;
    while (found < run->count) {
        unsigned level = 0;
        while (level < band->levels && ends_below(band, level, at, value))
            level++;
        if (level > 0) {
            at -= (uint32_t)(UINT64_C(1) << (LEVEL_BITS * (level - 1)));
            continue;
        }
        at--;
        right[found++] = band->rows != NULL ? band->rows[at] : at;
    }
}

/* All candidates of a row, in the order of right rows. */
static void write_all(const struct join_band *band,
                      const struct join_band_run *run, int64_t value,
                      uint32_t *right)
{
    if (band->band.side == BAND_LEFT) {
        write_reaching(band, run, value, right);
    } else {
        memcpy(right, band->rows + run->start, run->count * sizeof *right);
    }
    sort_rows(right, run->count);
}

/* Candidates are right rows that reach to `low`, and begin up to `high`. */
static bool is_between(const struct join_band *band, uint32_t row, int64_t low,
                       int64_t high)
{
    return (band->high[row] >= low) & (band->low[row] <= high)
           & (band->nowhere == NULL || !band->nowhere[row]);
}

enum { SCANNED = 256 };

/* How many of right rows [first, first + count) are. */
PARALLEL_CLONES
static uint32_t count_block(const struct join_band *band, uint32_t first,
                            uint32_t count, int64_t low, int64_t high)
{
    const int64_t *lows = band->low + first, *highs = band->high + first;
    uint64_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += (uint64_t)((highs[i] >= low) & (lows[i] <= high));
    for (uint32_t i = 0; band->nowhere != NULL && i < count; i++)
        found -=
            (highs[i] >= low) & (lows[i] <= high) & band->nowhere[first + i];
    return (uint32_t)found;
}

/* Their numbers, into `rows`. */
static uint32_t scan_block(const struct join_band *band, uint32_t first,
                           uint32_t count, int64_t low, int64_t high,
                           uint32_t *rows)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        rows[found] = first + i;
        found += is_between(band, first + i, low, high);
    }
    return found;
}

/* Looks at right rows one after the other. */
static void write_scanned(const struct join_band *band,
                          const struct join_band_run *run, int64_t low,
                          int64_t high, uint32_t *right)
{
    uint32_t rows[SCANNED], skip = run->skip, written = 0;
    for (uint32_t first = 0; written < run->wanted; first += SCANNED) {
        uint32_t left = band->right_rows - first, found = skip, more;
        uint32_t count = left < SCANNED ? left : SCANNED;
        if (skip > 0)
            found = count_block(band, first, count, low, high);
        if (skip > 0 && found <= skip) {
            skip -= found;
            continue;
        }
        found = scan_block(band, first, count, low, high, rows);
        more = found - skip;
        more = more < run->wanted - written ? more : run->wanted - written;
        memcpy(right + written, rows + skip, more * sizeof *right);
        written += more;
        skip = 0;
    }
}

/* Between what the left row's partners lie. */
static void between(const struct join_band *band, const struct relation *left,
                    uint64_t row, int64_t *low, int64_t *high)
{
    const struct relation_column *column;
    struct bounding bounding;
    if (band->band.side == BAND_LEFT) {
        column = &left->columns[band->band.column];
        *low = *high = code_at(column, sort_type(column->type), row);
        return;
    }
    bounding = bounding_of(&band->band, left);
    bounds_at(&bounding, row, low, high);
}

/* Whether to look at all right rows is less than to sort those found. */
static bool is_scanned(const struct join_band *band,
                       const struct join_band_run *run)
{
    if (run->wanted < run->count && run->count > PART_MAX)
        return true;
    return run->count > SHORT_RUN
           && run->count > band->right_rows / DENSE_SHARE;
}

void join_band_write(const struct join_band *band, const struct relation *left,
                     const struct join_band_run *run, uint32_t *right)
{
    bool all = run->wanted == run->count;
    bool is_run = band->band.side == BAND_RIGHT && band->rows == NULL;
    uint32_t part[PART_MAX];
    int64_t low, high;
    for (uint32_t i = 0; is_run && i < run->wanted; i++)
        right[i] = run->start + run->skip + i;
    if (is_run || run->wanted == 0)
        return;
    between(band, left, run->left, &low, &high);
    if (is_scanned(band, run)) {
        write_scanned(band, run, low, high, right);
    } else if (all) {
        write_all(band, run, low, right);
    } else {
        write_all(band, run, low, part);
        memcpy(right, part + run->skip, run->wanted * sizeof *right);
    }
}
