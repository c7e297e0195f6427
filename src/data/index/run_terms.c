/* SPDX-License-Identifier: MIT */
/*
 * Rows that have what is asked of them.
 */
#include "data/index/run_terms.h"

#include <assert.h>
#include <string.h>

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

/* Many rows, from `first` on, in order: by a bit for each of the tablet. */
static bool order_by_bits(const struct run *run, struct vector *rows,
                          size_t first)
{
    size_t words = run->rows / 64 + 1;
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

enum { FEW_ROWS = 64 };

static bool order_rows(const struct run *run, struct vector *rows, size_t first)
{
    uint32_t *added = VECTOR_ITEMS(rows, uint32_t) + first;
    size_t count = rows->count - first;
    bool ordered = true;

    for (size_t i = 1; i < count; i++)
        ordered &= added[i - 1] < added[i];
    if (ordered)
        return true;
    if (count > FEW_ROWS)
        return order_by_bits(run, rows, first);
    order_few(added, count);
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

enum { KEYS_AHEAD = 32 }; /* that are fetched together */

/* The next keys of the list that can be in the run, from value `*at` on. */
static unsigned next_keys(const struct run_terms *terms, const struct run *run,
                          const struct run_keys *all, uint32_t *at,
                          struct run_keys keys[KEYS_AHEAD])
{
    unsigned count = 0;

    for (; *at < terms->list_count && count < KEYS_AHEAD; ++*at) {
        keys[count] =
            run_keys_equal(run, *all, terms->equal_count, terms->list[*at]);
        count += keys[count].first <= keys[count].last;
    }
    return count;
}

/* Rows of each value of the list; its keys ascend. */
static bool find_list(const struct run_terms *terms, const struct run *run,
                      struct vector *rows)
{
    struct run_keys all = equal_keys(terms, run), keys[KEYS_AHEAD];
    uint32_t begin, end = 0, at = 0, ahead = 0;
    bool done = true;

    while (at < terms->list_count && done) {
        unsigned count = next_keys(terms, run, &all, &at, keys);
        for (unsigned i = 0; i < count; i++)
            ahead = run_fetch(run, keys[i].first, ahead);
        for (unsigned i = 0; i < count && done; i++) {
            end = run_find(run, keys[i], end, &begin);
            done = begin == end || add_rows(run, begin, end, rows);
        }
        done = done && !stop_asked();
    }
    return done;
}

bool run_terms_find(const struct run_terms *terms, const struct run *run,
                    struct vector *rows)
{
    size_t first = rows->count;
    struct run_keys keys;
    uint32_t begin, end;
    bool done;

    assert(terms->equal_count <= run->column_count);
    if (terms->listed) {
        done = find_list(terms, run, rows);
    } else {
        keys = equal_keys(terms, run);
        if (terms->low != NULL || terms->high != NULL)
            keys = run_keys_between(run, keys, terms->equal_count, terms->low,
                                    terms->high);
        end = run_find(run, keys, 0, &begin);
        done = add_rows(run, begin, end, rows);
    }
    return done && order_rows(run, rows, first);
}

/* ------------------------------------------------------------ by values -- */

enum { BLOCK_ROWS = 1024 }; /* a multiple of 64 */

/* Rows of a tablet, and which of them have what was asked so far. */
struct block_rows {
    const void *block;
    uint32_t first, count;
    uint64_t values[BLOCK_ROWS]; /* of the column at hand */
    bool kept[BLOCK_ROWS];
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

static bool in_list(const struct run_terms *terms, uint64_t value)
{
    uint32_t low = 0, high = terms->list_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (terms->list[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < terms->list_count && terms->list[low].value == value;
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

static void keep_equal(struct block_rows *rows, struct run_value value)
{
    for (uint32_t i = 0; i < rows->count; i++)
        rows->kept[i] &= value.exact && rows->values[i] == value.value;
}

static void keep_last(struct block_rows *rows, const struct run_terms *terms)
{
    for (uint32_t i = 0; terms->listed && i < rows->count; i++)
        rows->kept[i] = rows->kept[i] && in_list(terms, rows->values[i]);
    for (uint32_t i = 0; terms->low != NULL && i < rows->count; i++)
        rows->kept[i] &= is_above(rows->values[i], terms->low);
    for (uint32_t i = 0; terms->high != NULL && i < rows->count; i++)
        rows->kept[i] &= is_below(rows->values[i], terms->high);
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
    bool last = terms->listed || terms->low != NULL || terms->high != NULL;

    for (; part.first < all; part.first += part.count) {
        part.count =
            all - part.first < BLOCK_ROWS ? all - part.first : BLOCK_ROWS;
        memset(part.kept, true, sizeof part.kept);
        for (unsigned i = 0; i < terms->equal_count; i++) {
            read_column(&part, terms->columns[i]);
            keep_equal(&part, terms->equals[i]);
        }
        if (last) {
            read_column(&part, terms->columns[terms->equal_count]);
            keep_last(&part, terms);
        }
        if (!add_kept(&part, rows) || stop_asked())
            return false;
    }
    return true;
}
