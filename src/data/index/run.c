/* SPDX-License-Identifier: MIT */
/*
 * Searching runs: the keys that values stand for, and where these are.
 */
#include "data/index/run.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "data/tablet/dictionary_sort.h"

/* How many of keys [0, count) are less than `key`: a step for each bit of the
 * count, without a branch that depends on keys. */
#define SEARCH(name, type)                                                     \
    static uint32_t name(const type *keys, uint32_t count, type key)           \
    {                                                                          \
        const type *at = keys;                                                 \
        while (count > 1) {                                                    \
            uint32_t half = count / 2;                                         \
            at += (at[half - 1] < key) * half;                                 \
            count -= half;                                                     \
        }                                                                      \
        return (uint32_t)(at - keys) + (count == 1 && *at < key);              \
    }
SEARCH(search_32, uint32_t)
SEARCH(search_64, uint64_t)

/* The same of RUN_STEP_KEYS keys, which are all looked at, together. */
#define COUNT(name, type)                                                      \
    static uint32_t name(const type *keys, type key)                           \
    {                                                                          \
        uint32_t count = 0;                                                    \
        for (unsigned i = 0; i < RUN_STEP_KEYS; i++)                           \
            count += keys[i] < key;                                            \
        return count;                                                          \
    }
COUNT(count_32, uint32_t)
COUNT(count_64, uint64_t)

/* -------------------------------------------------------------- values -- */

struct run_value run_value_integer(int64_t value)
{
    return (struct run_value){ (uint64_t)value ^ UINT64_C(1) << 63, true };
}

struct run_value run_value_real(double value)
{
    double sum = value + 0.0; /* -0 is 0 */
    uint64_t bits, sign = UINT64_C(1) << 63;

    memcpy(&bits, &sum, sizeof bits);
    return (struct run_value){ (bits & sign) != 0 ? ~bits : bits | sign, true };
}

/* Narrows the words [*low, *high) that a text can be, or stand before, by the
 * first bytes of some. */
static void narrow_words(const struct run_column *of, struct vdbq_text text,
                         uint32_t *low, uint32_t *high)
{
    uint64_t head = text_head(text, 0);
    uint32_t less = search_64(of->heads, of->head_count, head), more = less;

    while (more < of->head_count && of->heads[more] == head)
        more++;
    *low = less > 0 ? (less - 1) * RUN_STEP : 0;
    if (more < of->head_count)
        *high = more * RUN_STEP;
}

struct run_value run_value_text(const void *block, unsigned column,
                                struct vdbq_text text,
                                const struct run_column *of)
{
    uint32_t low = 0, high = tablet_words(block, column)->count;
    bool exact = false;

    if (of != NULL && of->heads != NULL)
        narrow_words(of, text, &low, &high);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = text_compare(tablet_word(block, column, middle), text);
        exact |= order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct run_value){ run_value_integer(low).value, exact };
}

void run_order_values(uint64_t *values, uint32_t rows, uint32_t type)
{
    for (uint32_t i = rows; i-- > 0;) {
        const char *from = (const char *)values;
        int32_t narrow;
        int64_t wide;
        float single;
        double real;
        switch (type) {
        case TYPE_I64:
            memcpy(&wide, from + i * sizeof wide, sizeof wide);
            values[i] = run_value_integer(wide).value;
            break;
        case TYPE_F32:
            memcpy(&single, from + i * sizeof single, sizeof single);
            values[i] = run_value_real(single).value;
            break;
        case TYPE_F64:
            memcpy(&real, from + i * sizeof real, sizeof real);
            values[i] = run_value_real(real).value;
            break;
        default:
            memcpy(&narrow, from + i * sizeof narrow, sizeof narrow);
            values[i] = run_value_integer(narrow).value;
            break;
        }
    }
}

/* --------------------------------------------------------------- codes -- */

/* The greatest code that a column has in the tablet. */
static uint64_t code_most(const struct run_column *column)
{
    return column->ranked != NULL ? column->count : column->span + 1;
}

uint32_t run_rank(const struct run_column *column, uint64_t value)
{
    uint32_t low = 0, high = column->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (column->ranked[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool run_extremes(const struct run_column *column, uint64_t *least,
                  uint64_t *greatest)
{
    if (column->ranked == NULL) {
        *least = column->base;
        *greatest = column->base + column->span;
        return true;
    }
    if (column->count == 0)
        return false;
    *least = column->ranked[0];
    *greatest = column->ranked[column->count - 1];
    return true;
}

/* The least code of a value that is no less; above code_most(): there is none.
 * `*exact`: it is the value's own. */
static uint64_t code_of(const struct run_column *column, struct run_value value,
                        bool *exact)
{
    uint64_t code;

    if (column->ranked == NULL) {
        *exact = value.exact && value.value >= column->base
                 && value.value - column->base <= column->span;
        if (value.value <= column->base)
            return 1;
        return value.value - column->base > column->span
                   ? column->span + 2
                   : value.value - column->base + 1;
    }
    code = run_rank(column, value.value);
    *exact = value.exact && code < column->count
             && column->ranked[code] == value.value;
    return code + 1;
}

/* ---------------------------------------------------------------- keys -- */

static const struct run_keys no_keys = { .first = 1, .last = 0 };

/* Bits of the columns behind one. */
static unsigned bits_behind(const struct run *run, unsigned column)
{
    unsigned bits = 0;

    for (unsigned i = column + 1; i < run->column_count; i++)
        bits += run->columns[i].bits;
    return bits;
}

/* So many bits that are 1. */
static uint64_t ones(unsigned bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

struct run_keys run_keys_all(const struct run *run)
{
    return (struct run_keys){ 0, ones(run->key_bits) };
}

/* The keys with codes [low, high] of a column. */
static struct run_keys narrow(const struct run *run, struct run_keys keys,
                              unsigned column, uint64_t low, uint64_t high)
{
    unsigned behind = bits_behind(run, column);

    if (low > high)
        return no_keys;
    return (struct run_keys){ keys.first + (low << behind),
                              keys.first + (high << behind) + ones(behind) };
}

struct run_keys run_keys_equal(const struct run *run, struct run_keys keys,
                               unsigned column, struct run_value value)
{
    bool exact;
    uint64_t code;

    assert(column < run->column_count);
    if (keys.first > keys.last)
        return no_keys;
    code = code_of(&run->columns[column], value, &exact);
    return exact ? narrow(run, keys, column, code, code) : no_keys;
}

struct run_keys run_keys_null(const struct run *run, struct run_keys keys,
                              unsigned column)
{
    assert(column < run->column_count);
    return keys.first > keys.last ? no_keys : narrow(run, keys, column, 0, 0);
}

struct run_keys run_keys_between(const struct run *run, struct run_keys keys,
                                 unsigned column, const struct run_bound *low,
                                 const struct run_bound *high)
{
    const struct run_column *of = &run->columns[column];
    uint64_t first = 1, last = code_most(of), code;
    bool exact;

    assert(column < run->column_count);
    if (keys.first > keys.last)
        return no_keys;
    if (low != NULL) {
        code = code_of(of, low->value, &exact);
        first = code + (exact && low->open);
    }
    if (high != NULL) {
        code = code_of(of, high->value, &exact);
        code -= !(exact && !high->open);
        last = code < last ? code : last;
    }
    return narrow(run, keys, column, first, last);
}

/* -------------------------------------------------------------- search -- */

static bool key_less(const struct run *run, uint32_t place, uint64_t key)
{
    return run->key_bits <= 32 ? ((const uint32_t *)run->keys)[place] < key
                               : ((const uint64_t *)run->keys)[place] < key;
}

/* The same from a place on, over `count` keys. */
static uint32_t search(const struct run *run, uint32_t first, uint32_t count,
                       uint64_t key)
{
    if (run->key_bits > 32)
        return first
               + search_64((const uint64_t *)run->keys + first, count, key);
    if (key > UINT32_MAX)
        return first + count;
    return first
           + search_32((const uint32_t *)run->keys + first, count,
                       (uint32_t)key);
}

/* ... of a sequence, whose keys count from 1 on. */
static uint32_t search_sequence(const struct run *run, uint64_t key)
{
    uint64_t less = key > 0 ? key - 1 : 0;

    return less < run->rows ? (uint32_t)less : run->rows;
}

/* How many of the keys that a search begins with are less. */
static uint32_t search_steps(const struct run *run, uint32_t count,
                             uint64_t key)
{
    if (run->key_bits > 32)
        return search_64(run->steps, count, key);
    return key > UINT32_MAX ? count
                            : search_32(run->steps, count, (uint32_t)key);
}

uint32_t run_search(const struct run *run, uint64_t key)
{
    uint32_t count = run_step_count(run), steps, first, end;

    if (run->keys == NULL)
        return search_sequence(run, key);
    if (run->steps == NULL)
        return search(run, 0, run->rows, key);
    steps = search_steps(run, count, key);
    if (steps == 0)
        return 0;
    first = (steps - 1) * RUN_STEP_KEYS + 1;
    end = steps < count ? steps * RUN_STEP_KEYS : run->rows;
    return search(run, first, end - first, key);
}

/* How many of RUN_STEP_KEYS keys from `keys` on, or of those that a search
 * begins with, are less. */
static uint32_t count_less(const struct run *run, const void *keys,
                           uint32_t first, uint64_t key)
{
    if (run->key_bits > 32)
        return count_64((const uint64_t *)keys + first, key);
    return key > UINT32_MAX
               ? RUN_STEP_KEYS
               : count_32((const uint32_t *)keys + first, (uint32_t)key);
}

enum { CACHE_LINE = 64 };

/* The last of the keys that a search begins with that is less, or the first; no
 * less than `step`, which is. */
static uint32_t find_step(const struct run *run, uint64_t key, uint32_t step)
{
    uint32_t count = run_step_count(run), more;

    if (step + RUN_STEP_KEYS < count) {
        more = count_less(run, run->steps, step + 1, key);
        if (more < RUN_STEP_KEYS)
            return step + more;
    }
    step = search_steps(run, count, key);
    return step > 0 ? step - 1 : 0;
}

/* The same of a key that few of the keys behind place `from` are less than. */
static uint32_t search_by_steps(const struct run *run, uint64_t key,
                                uint32_t from)
{
    uint32_t step = find_step(run, key, from / RUN_STEP_KEYS);
    uint32_t first = step * RUN_STEP_KEYS, left = run->rows - first;

    return left < RUN_STEP_KEYS
               ? search(run, first, left, key)
               : first + count_less(run, run->keys, first, key);
}

/* ... of any run that has keys. */
static uint32_t search_from(const struct run *run, uint64_t key, uint32_t from)
{
    uint32_t step = 1, low = from;

    assert(from <= run->rows);
    if (run->steps != NULL && from < run->rows)
        return search_by_steps(run, key, from);
    while (low < run->rows && step <= run->rows - low
           && key_less(run, low + step - 1, key)) {
        low += step;
        step *= 2;
    }
    return search(run, low, step < run->rows - low ? step : run->rows - low,
                  key);
}

uint32_t run_fetch(const struct run *run, uint64_t key, uint32_t from)
{
    size_t width = run->key_bits <= 32 ? sizeof(uint32_t) : sizeof(uint64_t);
    const char *at;
    uint32_t step;

    if (run->steps == NULL || from >= run->rows)
        return from;
    step = find_step(run, key, from / RUN_STEP_KEYS);
    at = (const char *)run->keys + (size_t)step * RUN_STEP_KEYS * width;
    for (size_t line = 0; line < RUN_STEP_KEYS * width; line += CACHE_LINE)
        __builtin_prefetch(at + line);
    __builtin_prefetch(at + RUN_STEP_KEYS * width - 1);
    return step * RUN_STEP_KEYS;
}

uint32_t run_find(const struct run *run, struct run_keys keys, uint32_t from,
                  uint32_t *begin)
{
    if (keys.first > keys.last)
        return *begin = from;
    if (run->keys == NULL || from == 0)
        *begin = run_search(run, keys.first);
    else
        *begin = search_from(run, keys.first, from);
    if (keys.last == UINT64_MAX)
        return run->rows;
    if (run->keys == NULL)
        return run_search(run, keys.last + 1);
    if (*begin < run->rows && !key_less(run, *begin, keys.last + 1))
        return *begin; /* as most values of a list are in most tablets */
    return search_from(run, keys.last + 1, *begin);
}

/* ------------------------------------------------------------- destroy -- */

void run_destroy(struct run *run)
{
    if (run == NULL)
        return;
    for (unsigned i = 0; i < run->column_count; i++) {
        memory_release(run->columns[i].ranked);
        memory_release(run->columns[i].heads);
    }
    memory_release(run->keys);
    memory_release(run->steps);
    memory_release(run->order);
    memory_release(run);
}
