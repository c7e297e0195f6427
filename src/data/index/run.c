/* SPDX-License-Identifier: MIT */
/*
 * Searching runs: the keys that values stand for, and where these are.
 */
#include "data/index/run.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "data/tablet/dictionary_sort.h"

/* How many of numbers in order are less than one. */
static uint32_t count_less(enum search_type type, const void *sorted,
                           uint32_t count, const void *number)
{
    uint32_t place = 0;

    search_here(&(struct search_here){ .type = type,
                                       .sorted = sorted,
                                       .count = count,
                                       .keys = number,
                                       .key_count = 1 },
                &place);
    return place;
}

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

/* Words [low, high) that a text can be, or stand before. */
struct word_range {
    uint32_t low, high;
};

/* ... as the heads of some words say, of which so many are less than its own. */
static struct word_range range_of(const struct run_column *of, uint32_t words,
                                  uint64_t head, uint32_t less)
{
    uint32_t more = less;
    uint64_t next = head + 1;

    if (less < of->head_count && of->heads[less] == head)
        more = next > 0
                   ? count_less(SEARCH_U64, of->heads, of->head_count, &next)
                   : of->head_count;
    return (struct word_range){ less > 0 ? (less - 1) * RUN_STEP : 0,
                                more < of->head_count ? more * RUN_STEP
                                                      : words };
}

/* The text among these words. */
static struct run_value find_word(const void *block, unsigned column,
                                  struct vdbq_text text,
                                  struct word_range range)
{
    bool exact = false;

    while (range.low < range.high) {
        uint32_t middle = range.low + (range.high - range.low) / 2;
        int order = text_compare(tablet_word(block, column, middle), text);
        exact |= order == 0;
        if (order < 0)
            range.low = middle + 1;
        else
            range.high = middle;
    }
    return (struct run_value){ run_value_integer(range.low).value, exact };
}

enum { TEXTS_TOGETHER = 32 };

/* Few texts, in order, in a column that has heads: what one of them waits for is
 * brought into the cache for all. */
static void find_words(const void *block, unsigned column,
                       const struct run_column *of,
                       const struct vdbq_text *texts, uint32_t count,
                       struct run_value *values)
{
    uint32_t words = tablet_words(block, column)->count;
    uint32_t less[TEXTS_TOGETHER];
    uint64_t heads[TEXTS_TOGETHER];
    struct word_range ranges[TEXTS_TOGETHER];

    assert(count <= TEXTS_TOGETHER);
    for (uint32_t i = 0; i < count; i++)
        heads[i] = text_head(texts[i], 0);
    search_here(&(struct search_here){ .type = SEARCH_U64,
                                       .sorted = of->heads,
                                       .count = of->head_count,
                                       .keys = heads,
                                       .key_count = count },
                less);
    for (uint32_t i = 0; i < count; i++) {
        ranges[i] = range_of(of, words, heads[i], less[i]);
        tablet_word_fetch(block, column, ranges[i].low);
    }
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(tablet_word(block, column, ranges[i].low).bytes);
    for (uint32_t i = 0; i < count; i++)
        values[i] = find_word(block, column, texts[i], ranges[i]);
}

void run_value_texts(const void *block, unsigned column,
                     const struct vdbq_text *texts, uint32_t count,
                     const struct run_column *of, struct run_value *values)
{
    const struct word_range all = { 0, tablet_words(block, column)->count };
    bool headed = of != NULL && of->heads != NULL;

    for (uint32_t at = 0, some; at < count && headed; at += some) {
        some = count - at < TEXTS_TOGETHER ? count - at : TEXTS_TOGETHER;
        find_words(block, column, of, texts + at, some, values + at);
    }
    for (uint32_t i = 0; i < count && !headed; i++)
        values[i] = find_word(block, column, texts[i], all);
}

struct run_value run_value_text(const void *block, unsigned column,
                                struct vdbq_text text,
                                const struct run_column *of)
{
    struct run_value value;

    run_value_texts(block, column, &text, 1, of, &value);
    return value;
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
    return count_less(SEARCH_U64, column->ranked, column->count, &value);
}

uint64_t run_value_of(const struct run_column *column, uint64_t code)
{
    uint64_t most = code_most(column);

    assert(code > 0 && most > 0);
    code = code < most ? code : most;
    return column->ranked != NULL ? column->ranked[code - 1]
                                  : column->base + code - 1;
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

/* How many of the keys are less, of those from a place on, `count` of them. */
static uint32_t search(const struct run *run, uint32_t first, uint32_t count,
                       uint64_t key)
{
    uint32_t narrow = (uint32_t)key;

    if (run->key_bits > 32)
        return first
               + count_less(SEARCH_U64, (const uint64_t *)run->keys + first,
                            count, &key);
    if (key > UINT32_MAX)
        return first + count;
    return first
           + count_less(SEARCH_U32, (const uint32_t *)run->keys + first, count,
                        &narrow);
}

/* ... of a sequence, whose keys count from 1 on. */
static uint32_t search_sequence(const struct run *run, uint64_t key)
{
    uint64_t less = key > 0 ? key - 1 : 0;

    return less < run->rows ? (uint32_t)less : run->rows;
}

uint32_t run_search(const struct run *run, uint64_t key)
{
    return run->keys == NULL ? search_sequence(run, key)
                             : search(run, 0, run->rows, key);
}

/* The place behind the last key that is no more than `last`, from `begin` on,
 * where keys are not less than the first that is looked for: few are equal. */
static uint32_t find_end(const struct run *run, uint32_t begin, uint64_t last)
{
    uint32_t step = 1, low = begin;

    if (last == UINT64_MAX)
        return run->rows;
    if (run->keys == NULL)
        return search_sequence(run, last + 1);
    while (low < run->rows && step <= run->rows - low
           && key_less(run, low + step - 1, last + 1)) {
        low += step;
        step *= 2;
    }
    return step == 1 ? low
                     : search(run, low,
                              step < run->rows - low ? step : run->rows - low,
                              last + 1);
}

uint32_t run_find(const struct run *run, struct run_keys keys, uint32_t from,
                  uint32_t *begin)
{
    assert(from <= run->rows);
    if (keys.first > keys.last)
        return *begin = from;
    *begin = run->keys == NULL
                 ? search_sequence(run, keys.first)
                 : search(run, from, run->rows - from, keys.first);
    return find_end(run, *begin, keys.last);
}

enum search_type run_key_type(const struct run *run)
{
    return run->key_bits <= 32 ? SEARCH_U32 : SEARCH_U64;
}

void run_put_range(const struct run *run, void *ranges, uint32_t number,
                   struct run_keys keys)
{
    uint32_t *narrow = (uint32_t *)ranges + 2 * (size_t)number;
    uint64_t *wide = (uint64_t *)ranges + 2 * (size_t)number;

    assert(keys.first <= keys.last);
    if (run->key_bits <= 32) {
        narrow[0] = (uint32_t)keys.first;
        narrow[1] = (uint32_t)keys.last;
    } else {
        wide[0] = keys.first;
        wide[1] = keys.last;
    }
}

static struct run_keys range_at(const struct run *run, const void *ranges,
                                uint32_t number)
{
    const uint32_t *narrow = (const uint32_t *)ranges + 2 * (size_t)number;
    const uint64_t *wide = (const uint64_t *)ranges + 2 * (size_t)number;

    return run->key_bits <= 32 ? (struct run_keys){ narrow[0], narrow[1] }
                               : (struct run_keys){ wide[0], wide[1] };
}

/* Looks where a key is if all lie at the same distance, as numbers without gaps do:
 * a search waits for memory some twenty times. False: the first key that is no less
 * lies elsewhere. */
static bool find_even(const struct run *run, uint64_t key, uint32_t *place)
{
    const uint32_t *keys = run->keys;
    uint64_t last =
        run->rows > 0 && run->key_bits <= 32 ? keys[run->rows - 1] : 0;
    uint64_t at;

    if (last == 0 || key > last)
        return false;
    at = key * (run->rows - 1) / last;
    assert(at < run->rows);
    *place = (uint32_t)at;
    return keys[at] == key && (at == 0 || keys[at - 1] < key);
}

enum { RANGES_TOGETHER = 256 }; /* that are searched in step */

/* The same of few ranges, in a run that has keys. */
static void find_together(const struct run *run, const void *ranges,
                          uint32_t count, uint32_t *places)
{
    uint64_t room[RANGES_TOGETHER];
    uint32_t *narrow = (uint32_t *)(void *)room, begins[RANGES_TOGETHER];

    assert(count > 0 && count <= RANGES_TOGETHER);
    for (uint32_t i = 0; i < count; i++) {
        struct run_keys keys = range_at(run, ranges, i);
        if (run->key_bits <= 32)
            narrow[i] = (uint32_t)keys.first;
        else
            room[i] = keys.first;
    }
    if (count > 1 || !find_even(run, range_at(run, ranges, 0).first, begins))
        search_here(&(struct search_here){ .type = run_key_type(run),
                                           .sorted = run->keys,
                                           .count = run->rows,
                                           .steps = run->steps,
                                           .keys = room,
                                           .key_count = count },
                    begins);
    for (uint32_t i = 0; i < count; i++) {
        places[2 * i] = begins[i];
        places[2 * i + 1] =
            find_end(run, begins[i], range_at(run, ranges, i).last);
    }
}

void run_find_ranges(const struct run *run, const void *ranges, uint32_t count,
                     uint32_t *places)
{
    size_t width = 2 * search_width(run_key_type(run), 0);

    for (uint32_t at = 0, some; at < count; at += some) {
        const char *from = (const char *)ranges + at * width;
        uint32_t *to = places + 2 * (size_t)at;
        some = count - at < RANGES_TOGETHER ? count - at : RANGES_TOGETHER;
        if (run->keys != NULL)
            find_together(run, from, some, to);
        for (uint32_t i = 0; run->keys == NULL && i < some; i++)
            to[2 * i + 1] =
                run_find(run, range_at(run, from, i), 0, &to[2 * i]);
    }
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
    block_destroy(&run->words);
    memory_release(run);
}
