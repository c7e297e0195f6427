/* SPDX-License-Identifier: MIT */
/*
 * Rows that have what is asked of them.
 */
#include "data/index/run_terms.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/stop.h"

/* -------------------------------------------------------------- by a run -- */

/* Rows at neighbouring places of a run, in its order. */
static bool add_rows(const struct run *run, uint32_t begin, uint32_t end,
                     struct vector *rows)
{
    if (run->order != NULL)
        return vector_append(rows, run->order + begin, end - begin);
    for (uint32_t i = begin; i < end; i++)
        if (!vector_append(rows, &i, 1))
            return false;
    return true;
}

/* Many rows, from `first` on, in order and each once: by a bit for each of the
 * tablet. */
static bool order_by_bits(const struct run *run, struct vector *rows,
                          size_t first)
{
    size_t words = run->tablet_rows / 64 + 1;
    uint64_t *bits = memory_zeroed(words, sizeof *bits);
    uint32_t *at = VECTOR_ITEMS(rows, uint32_t) + first;

    if (bits == NULL)
        return false;
    for (size_t i = first; i < rows->count; i++) {
        uint32_t row = VECTOR_ITEMS(rows, uint32_t)[i];
        bits[row / 64] |= UINT64_C(1) << row % 64;
    }
    for (size_t i = 0; i < words; i++)
        for (uint64_t left = bits[i]; left != 0; left &= left - 1)
            *at++ = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(left);
    rows->count = (size_t)(at - VECTOR_ITEMS(rows, uint32_t));
    memory_release(bits);
    return true;
}

/* Few rows in order: each goes to its place among those before it. */
static void order_few(uint32_t *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t row = rows[i];
        size_t at = i;
        for (; at > 0 && rows[at - 1] > row; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

enum {
    FEW_ROWS = 64,
    SOME_ROWS =
        HOSTILE(100, 2048), /* up to so many a radix sort takes less time
                                       than to look at a bit of each row       */
    DIGITS = 256
};

/* Some rows in order: a radix sort, by the lowest digits first. */
static void order_some(uint32_t *rows, size_t count, uint32_t most)
{
    uint32_t sorted[SOME_ROWS];

    for (unsigned shift = 0; shift < 32 && most >> shift != 0; shift += 8) {
        uint32_t starts[DIGITS + 1] = { 0 };
        for (size_t i = 0; i < count; i++)
            starts[(rows[i] >> shift) % DIGITS + 1]++;
        for (unsigned digit = 1; digit < DIGITS; digit++)
            starts[digit] += starts[digit - 1];
        for (size_t i = 0; i < count; i++)
            sorted[starts[(rows[i] >> shift) % DIGITS]++] = rows[i];
        memcpy(rows, sorted, count * sizeof *rows);
    }
}

/* Of rows in order each once; how many these are. */
static size_t keep_once(uint32_t *rows, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (kept == 0 || rows[i] != rows[kept - 1])
            rows[kept++] = rows[i];
    return kept;
}

/* A run from a file that a fault has written may have a row twice. */
static bool order_rows(const struct run *run, struct vector *rows, size_t first)
{
    size_t count = rows->count - first;
    bool ordered = true;
    uint32_t *added;

    if (count == 0)
        return true;
    added = VECTOR_ITEMS(rows, uint32_t) + first;
    for (size_t i = 1; i < count; i++)
        ordered &= added[i - 1] < added[i];
    if (ordered)
        return true;
    if (count > SOME_ROWS)
        return order_by_bits(run, rows, first);
    if (count > FEW_ROWS)
        order_some(added, count, run->tablet_rows);
    else
        order_few(added, count);
    rows->count = first + keep_once(added, count);
    return true;
}

/* The keys that have what is asked of the first columns. */
static struct run_keys equal_keys(const struct run_terms *terms,
                                  const struct run *run)
{
    struct run_keys keys = run_keys_all(run);

    for (unsigned i = 0; i < terms->equal_count; i++)
        keys = run_keys_equal(run, keys, i, terms->equals[i]);
    return keys;
}

/* Rows of the list, [low, high), whose values before a column are the same. */
struct listed {
    uint32_t low, high;
};

static struct listed all_listed(const struct run_terms *terms)
{
    return (struct listed){ 0, terms->list_count };
}

static struct run_value listed_value(const struct run_terms *terms,
                                     uint32_t row, unsigned column)
{
    return terms->list[(size_t)row * terms->list_columns + column];
}

/* The first of some rows of the list whose value in a column is no less. */
static uint32_t list_below(const struct run_terms *terms, struct listed rows,
                           unsigned column, uint64_t value)
{
    while (rows.low < rows.high) {
        uint32_t middle = rows.low + (rows.high - rows.low) / 2;
        if (listed_value(terms, middle, column).value < value)
            rows.low = middle + 1;
        else
            rows.high = middle;
    }
    return rows.low;
}

/* Those values of the list that the tablet can have: from `*first` to before
 * what it returns. */
static uint32_t clip_list(const struct run_terms *terms, const struct run *run,
                          uint32_t *first)
{
    uint64_t least, greatest;

    *first = 0;
    if (!run_extremes(&run->columns[terms->equal_count], &least, &greatest))
        return 0;
    *first = list_below(terms, all_listed(terms), 0, least);
    return greatest == UINT64_MAX
               ? terms->list_count
               : list_below(terms, all_listed(terms), 0, greatest + 1);
}

/* Ranges of keys that are looked for in a run: of the values of the list that the
 * tablet can have, or between bounds. */
struct asking {
    const struct run_terms *terms;
    const struct run *run;
    struct run_keys all; /* that have what the first columns are asked for */
    uint32_t at, end;    /* values, or bounds, that are left               */
};

static struct asking ask(const struct run_terms *terms, const struct run *run)
{
    struct asking asking = { .terms = terms,
                             .run = run,
                             .all = equal_keys(terms, run),
                             .end = terms->more + 1 };

    if (terms->list_columns > 0)
        asking.end = clip_list(terms, run, &asking.at);
    return asking;
}

/* The keys of a row of the list. */
static struct run_keys listed_keys(const struct asking *asking, uint32_t at)
{
    const struct run_terms *terms = asking->terms;
    struct run_keys keys = asking->all;

    for (unsigned i = 0; i < terms->list_columns; i++)
        keys = run_keys_equal(asking->run, keys, terms->equal_count + i,
                              listed_value(terms, at, i));
    return keys;
}

static struct run_keys keys_at(const struct asking *asking, uint32_t at)
{
    const struct run_terms *terms = asking->terms;

    if (terms->list_columns > 0)
        return listed_keys(asking, at);
    if (terms->low == NULL && terms->high == NULL)
        return asking->all;
    return run_keys_between(asking->run, asking->all, terms->equal_count,
                            terms->low != NULL ? &terms->low[at] : NULL,
                            terms->high != NULL ? &terms->high[at] : NULL);
}

/* Writes the next ranges, `most` at most; those that no key can be in are left
 * out. Returns how many. */
static uint32_t next_ranges(struct asking *asking, uint32_t most, void *ranges)
{
    uint32_t count = 0;

    for (; asking->at < asking->end && count < most; asking->at++) {
        struct run_keys keys = keys_at(asking, asking->at);
        if (keys.first <= keys.last)
            run_put_range(asking->run, ranges, count++, keys);
    }
    return count;
}

uint32_t run_terms_most(const struct run_terms *terms, const struct run *run)
{
    struct asking asking = ask(terms, run);

    return asking.end - asking.at;
}

uint32_t run_terms_ranges(const struct run_terms *terms, const struct run *run,
                          void *ranges)
{
    struct asking asking = ask(terms, run);

    return next_ranges(&asking, UINT32_MAX, ranges);
}

/* Has the numbers of rows at the places of a range, if there are any, brought into
 * the processor's cache. */
static void fetch_rows(const struct run *run, const uint32_t *places)
{
    if (run->order != NULL && places[0] < places[1])
        __builtin_prefetch(run->order + places[0]);
}

/* Rows at the places of ranges. */
static bool add_places(const struct run *run, const uint32_t *places,
                       uint32_t count, struct vector *rows)
{
    enum { AHEAD = 128 };
    bool done = true;

    for (uint32_t i = 0; i < count && i < AHEAD; i++)
        fetch_rows(run, places + 2 * (size_t)i);
    for (uint32_t i = 0; i < count && done; i++) {
        const uint32_t *at = places + 2 * (size_t)i;
        if (i + AHEAD < count)
            fetch_rows(run, at + 2 * AHEAD);
        if (at[0] < at[1])
            done = add_rows(run, at[0], at[1], rows) && !stop_at(i);
    }
    return done;
}

bool run_terms_take(const struct run *run, const uint32_t *places,
                    uint32_t count, struct vector *rows)
{
    size_t first = rows->count;

    return add_places(run, places, count, rows) && order_rows(run, rows, first);
}

enum { RANGES = 256 }; /* that are searched at once */

/* Cuts the places of ranges to those of so many rows in all. */
static void cut_places(uint32_t *places, uint32_t count, uint64_t most)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *at = places + 2 * (size_t)i;
        uint32_t rows = at[1] > at[0] ? at[1] - at[0] : 0;
        rows = rows < most ? rows : (uint32_t)most;
        at[1] = at[0] + rows;
        most -= rows;
    }
}

/* Rows of each value of the list, or between bounds. */
static bool find_ranges(const struct run_terms *terms, const struct run *run,
                        struct vector *rows)
{
    struct asking asking = ask(terms, run);
    const uint64_t end = rows->count + terms->most;
    uint64_t ranges[2 * RANGES];
    uint32_t places[2 * RANGES], count;
    bool done = true;

    while (done && (count = next_ranges(&asking, RANGES, ranges)) > 0) {
        run_find_ranges(run, ranges, count, places);
        if (terms->most > 0)
            cut_places(places, count, end - rows->count);
        done = add_places(run, places, count, rows) && !stop_asked();
    }
    return done;
}

static bool add_ends(const struct run_terms *terms, const struct run *run,
                     struct run_keys keys, struct vector *rows)
{
    uint32_t begin, end = run_find(run, keys, 0, &begin);

    return run_ends_add(&terms->ends, run, begin, end, rows);
}

static bool wants_ends(const struct run_terms *terms)
{
    return terms->ends.first > 0 || terms->ends.last > 0;
}

/* The keys whose ends are asked for: of all, or of the values, or of these and of
 * NULLs for themselves. Returns how many ranges these are. */
static unsigned ends_keys(const struct run_terms *terms, const struct run *run,
                          struct run_keys keys[2])
{
    struct run_keys all = equal_keys(terms, run);
    bool bound = terms->low != NULL || terms->high != NULL || terms->not_null;

    keys[0] = all;
    if (!bound && !terms->apart)
        return 1;
    keys[0] =
        run_keys_between(run, all, terms->equal_count, terms->low, terms->high);
    if (bound)
        return 1;
    keys[1] = run_keys_null(run, all, terms->equal_count);
    return 2;
}

static bool find_ends(const struct run_terms *terms, const struct run *run,
                      struct vector *rows)
{
    struct run_keys keys[2];
    unsigned count = ends_keys(terms, run, keys);
    bool done = true;

    for (unsigned i = 0; i < count && done; i++)
        done = add_ends(terms, run, keys[i], rows);
    return done;
}

bool run_terms_find(const struct run_terms *terms, const struct run *run,
                    struct vector *rows)
{
    size_t first = rows->count;
    bool done;

    assert(terms->equal_count <= run->column_count);
    done = wants_ends(terms) ? find_ends(terms, run, rows)
                             : find_ranges(terms, run, rows);
    return done && order_rows(run, rows, first);
}

bool run_terms_add(const struct run_terms *terms, const struct run *run,
                   struct vector *rows)
{
    return run_terms_find(terms, run, rows) && order_rows(run, rows, 0);
}

/* --------------------------------------------------------------- keys -- */

static bool add_keys(struct vector *keys, struct run_keys some)
{
    return some.first > some.last || vector_append(keys, &some, 1);
}

static bool add_ends_keys(const struct run_terms *terms, const struct run *run,
                          struct vector *keys)
{
    struct run_keys some[2];
    unsigned count = ends_keys(terms, run, some);

    return add_keys(keys, some[0]) && (count == 1 || add_keys(keys, some[1]));
}

bool run_terms_keys(const struct run_terms *terms, const struct run *run,
                    struct vector *keys)
{
    struct asking asking = ask(terms, run);
    bool done = true;

    if (wants_ends(terms))
        return add_ends_keys(terms, run, keys);
    for (; asking.at < asking.end && done; asking.at++)
        done = add_keys(keys, keys_at(&asking, asking.at));
    return done;
}

/* ------------------------------------------------------------ by values -- */

enum { BLOCK_ROWS = 1024 }; /* a multiple of 64 */

/* Rows of a tablet, and which of them have what was asked so far. */
struct block_rows {
    const void *block;
    uint32_t first, count;
    uint64_t values[BLOCK_ROWS]; /* of the column at hand */
    bool kept[BLOCK_ROWS];
    struct listed listed[BLOCK_ROWS]; /* rows of the list that it can be */
};

/* Reads a column; rows in which it is NULL are not kept. */
static void read_column(struct block_rows *rows, unsigned column)
{
    const struct tablet_column *head = tablet_column(rows->block, column);

    tablet_values_of(rows->block, column, rows->first, rows->count,
                     rows->values);
    run_order_values(rows->values, rows->count, head->type);
    for (uint32_t i = 0; head->null_count > 0 && i < rows->count; i++)
        rows->kept[i] &= !tablet_null(rows->block, column, rows->first + i);
}

/* Keeps the rows of the list that have a value in a column. */
static struct listed narrow(const struct run_terms *terms, struct listed rows,
                            unsigned column, uint64_t value)
{
    struct listed left = { list_below(terms, rows, column, value), rows.high };

    if (left.low == rows.high
        || listed_value(terms, left.low, column).value != value)
        return (struct listed){ 0, 0 };
    if (column + 1 < terms->list_columns && value < UINT64_MAX)
        left.high = list_below(terms, left, column, value + 1);
    return left;
}

/* Whether a value is no less than a bound: `above` it, if that is open. A bound
 * that is not exact stands before its value. */
static bool is_above(uint64_t value, const struct run_bound *low)
{
    return low->open && low->value.exact ? value > low->value.value
                                         : value >= low->value.value;
}

static bool is_below(uint64_t value, const struct run_bound *high)
{
    return high->open || !high->value.exact ? value < high->value.value
                                            : value <= high->value.value;
}

static bool is_between(const struct run_terms *terms, uint64_t value)
{
    bool between = false;

    for (uint32_t i = 0; i <= terms->more; i++)
        between |= (terms->low == NULL || is_above(value, &terms->low[i]))
                   && (terms->high == NULL || is_below(value, &terms->high[i]));
    return between;
}

static void keep_equal(struct block_rows *rows, struct run_value value)
{
    for (uint32_t i = 0; i < rows->count; i++)
        rows->kept[i] &= value.exact && rows->values[i] == value.value;
}

static void keep_between(struct block_rows *rows, const struct run_terms *terms)
{
    read_column(rows, terms->columns[terms->equal_count]);
    for (uint32_t i = 0; i < rows->count; i++)
        rows->kept[i] = rows->kept[i] && is_between(terms, rows->values[i]);
}

static void keep_listed(struct block_rows *rows, const struct run_terms *terms)
{
    for (uint32_t i = 0; i < rows->count; i++)
        rows->listed[i] = all_listed(terms);
    for (unsigned c = 0; c < terms->list_columns; c++) {
        read_column(rows, terms->columns[terms->equal_count + c]);
        for (uint32_t i = 0; i < rows->count; i++) {
            if (!rows->kept[i])
                continue;
            rows->listed[i] =
                narrow(terms, rows->listed[i], c, rows->values[i]);
            rows->kept[i] = rows->listed[i].low < rows->listed[i].high;
        }
    }
}

static bool add_kept(const struct block_rows *rows, struct vector *to)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = rows->first + i;
        if (rows->kept[i] && !vector_append(to, &row, 1))
            return false;
    }
    return true;
}

bool run_terms_scan(const struct run_terms *terms, const void *block,
                    struct vector *rows)
{
    const struct tablet *head = block;
    uint32_t all = (uint32_t)head->rows;
    struct block_rows part = { .block = block };
    bool between = terms->low != NULL || terms->high != NULL || terms->not_null;

    for (; part.first < all; part.first += part.count) {
        part.count =
            all - part.first < BLOCK_ROWS ? all - part.first : BLOCK_ROWS;
        memset(part.kept, true, sizeof part.kept);
        for (unsigned i = 0; i < terms->equal_count; i++) {
            read_column(&part, terms->columns[i]);
            keep_equal(&part, terms->equals[i]);
        }
        if (terms->list_columns > 0)
            keep_listed(&part, terms);
        else if (between)
            keep_between(&part, terms);
        if (!add_kept(&part, rows) || stop_asked())
            return false;
    }
    return true;
}
