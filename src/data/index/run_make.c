/* SPDX-License-Identifier: MIT */
/*
 * Making runs: the columns' values become codes, these keys, and keys with the
 * numbers of their rows are sorted by their digits (LSD radix sort), which
 * leaves rows with equal keys in their order.
 */
#include "data/index/run.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_sort.h"
#include "data/tablet/tablet_inner.h"

/* Keys are sorted by digits of so many bits; few of them by shorter ones, since each
 * digit has a count. */
enum { DIGIT_BITS = 11, DIGIT_BITS_LEAST = 5, DIGITS = 1 << DIGIT_BITS };

/* Keys, each with the number of its row. */
struct pairs {
    uint64_t *keys;
    uint32_t *rows;
};

/* What one run is made with. */
struct making {
    const void *block; /* the tablet */
    uint32_t rows;
    struct run *run;
    uint64_t *values;      /* of a column */
    struct pairs pairs[2]; /* that are sorted, and room for it */
};

static bool make_room(struct making *making, const unsigned *columns,
                      unsigned count);
static bool fit(struct making *making);
static bool make_keys(struct making *making);
static bool sort_rows(struct making *making);
static bool sort_pairs(struct pairs pairs[2], uint32_t count, unsigned bits);
static struct run *end(struct making *making, bool done);
static void keep(struct making *making);

unsigned run_bits(uint64_t number)
{
    return number == 0 ? 0 : 64 - (unsigned)__builtin_clzll(number);
}

bool run_is_cheap(const void *block, const unsigned *columns, unsigned count)
{
    const struct tablet_column *head = tablet_column(block, columns[0]);

    return count == 1 && head->encoding == ENCODING_SEQUENCE
           && head->null_count == 0;
}

static struct run *make_sequence(const void *block, unsigned column);

struct run *run_make(const void *block, const unsigned *columns, unsigned count)
{
    const struct tablet *head = block;
    struct making making = { .block = block, .rows = (uint32_t)head->rows };
    bool done;

    if (run_is_cheap(block, columns, count))
        return make_sequence(block, columns[0]);
    done = make_room(&making, columns, count) && fit(&making)
           && make_keys(&making) && sort_rows(&making);
    return end(&making, done);
}

/* The run of a column whose values count on from the first: it has no keys. */
static struct run *make_sequence(const void *block, unsigned column)
{
    const struct tablet *head = block;
    struct run *run = memory_zeroed(1, sizeof *run);

    if (run == NULL)
        return NULL;
    run->rows = run->tablet_rows = (uint32_t)head->rows;
    run->column_count = 1;
    run->columns[0] = (struct run_column){
        .column = column,
        .base = run_value_integer(tablet_column(block, column)->base).value,
        .span = head->rows - 1,
        .bits = run_bits(head->rows)
    };
    run->key_bits = run->columns[0].bits;
    run->size_bytes = sizeof *run;
    return run;
}

struct run *run_make_empty(unsigned count, uint32_t tablet_rows)
{
    struct run *run = memory_zeroed(1, sizeof *run);
    uint64_t *keys = memory_zeroed(1, sizeof *keys);

    if (run == NULL || keys == NULL) {
        memory_release(run);
        memory_release(keys);
        return NULL;
    }
    run->tablet_rows = tablet_rows;
    run->column_count = count;
    for (unsigned i = 0; i < count; i++) {
        run->columns[i] = (struct run_column){ .column = i, .bits = 1 };
        run->key_bits += run->columns[i].bits;
    }
    run->size_bytes = sizeof *run;
    run_take_keys(run, keys);
    return run;
}

/* Frees what only making needs; the run, if it is `done`. */
static struct run *end(struct making *making, bool done)
{
    if (done)
        keep(making);
    memory_release(making->values);
    for (int i = 0; i < 2; i++) {
        memory_release(making->pairs[i].keys);
        memory_release(making->pairs[i].rows);
    }
    if (done)
        return making->run;
    run_destroy(making->run);
    return NULL;
}

static void describe(const struct making *making, struct run_column *column);

/* The run, without keys, and room for making them. */
static bool make_room(struct making *making, const unsigned *columns,
                      unsigned count)
{
    size_t rows = making->rows;
    bool done;

    assert(count > 0 && count <= RUN_COLUMNS_MAX);
    making->run = memory_zeroed(1, sizeof *making->run);
    making->values = memory_resize(NULL, rows * sizeof *making->values);
    done = making->run != NULL && making->values != NULL;
    for (int i = 0; i < 2 && done; i++) {
        struct pairs *pairs = &making->pairs[i];
        pairs->keys = memory_zeroed(rows, sizeof *pairs->keys);
        pairs->rows = memory_resize(NULL, rows * sizeof *pairs->rows);
        done = pairs->keys != NULL && pairs->rows != NULL;
    }
    if (!done)
        return false;
    making->run->rows = making->run->tablet_rows = making->rows;
    making->run->column_count = count;
    for (unsigned i = 0; i < count; i++) {
        making->run->columns[i].column = columns[i];
        describe(making, &making->run->columns[i]);
    }
    return true;
}

/* -------------------------------------------------------------- values -- */

/* A column's values as integers; of one that is NULL it is any. */
static void read_values(struct making *making, unsigned column)
{
    uint32_t type = tablet_column(making->block, column)->type;

    tablet_values_of(making->block, column, 0, making->rows, making->values);
    run_order_values(making->values, making->rows, type);
}

/* A bound of the values that the tablet's head has. */
static uint64_t bound_of(uint32_t type, int64_t bound)
{
    double real;

    if (type != TYPE_F32 && type != TYPE_F64)
        return run_value_integer(bound).value;
    memcpy(&real, &bound, sizeof real);
    return run_value_real(real).value;
}

/* Codes from the least value on, if they fit 64 bits. */
static void describe(const struct making *making, struct run_column *column)
{
    const struct tablet_column *head =
        tablet_column(making->block, column->column);

    if (head->null_count < making->rows) {
        column->base = bound_of(head->type, head->minimum);
        column->span = bound_of(head->type, head->maximum) - column->base;
    }
    column->bits = column->span < UINT64_MAX - 1 ? run_bits(column->span + 1)
                                                 : RUN_KEY_BITS + 1;
}

/* --------------------------------------------------------------- ranks -- */

/* The values that are not NULL, and their rows, in order. Returns how many. */
static uint32_t sort_values(struct making *making, const struct run_column *of)
{
    uint32_t count = 0;

    read_values(making, of->column);
    for (uint32_t row = 0; row < making->rows; row++) {
        if (tablet_null(making->block, of->column, row))
            continue;
        making->pairs[0].keys[count] = making->values[row];
        making->pairs[0].rows[count++] = row;
    }
    sort_pairs(making->pairs, count, RUN_KEY_BITS);
    return count;
}

/* Keeps the different values of a column. */
static bool rank(struct making *making, struct run_column *column)
{
    uint32_t count = sort_values(making, column), different = 0;
    const uint64_t *sorted = making->pairs[0].keys;

    column->ranked =
        memory_resize(NULL, (count + (size_t)1) * sizeof *column->ranked);
    if (column->ranked == NULL || stop_asked())
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            column->ranked[different++] = sorted[i];
    column->count = different;
    column->bits = run_bits(different);
    return true;
}

/* Ranks columns, those with the longest codes first, until all fit a key. */
static bool fit(struct making *making)
{
    struct run *run = making->run;

    for (;;) {
        unsigned bits = 0, longest = 0;
        for (unsigned i = 0; i < run->column_count; i++) {
            bits += run->columns[i].bits;
            if (run->columns[i].bits > run->columns[longest].bits)
                longest = i;
        }
        run->key_bits = bits;
        if (bits <= RUN_KEY_BITS)
            return true;
        assert(run->columns[longest].ranked == NULL);
        if (!rank(making, &run->columns[longest]))
            return false;
    }
}

/* ---------------------------------------------------------------- keys -- */

/* A column's values become codes. */
static bool make_codes(struct making *making, const struct run_column *column)
{
    bool nulls = tablet_column(making->block, column->column)->null_count > 0;
    uint64_t *values = making->values;

    read_values(making, column->column);
    for (uint32_t i = 0; column->ranked != NULL && i < making->rows; i++) {
        values[i] = run_rank(column, values[i]) + 1;
        if (stop_at(i))
            return false;
    }
    for (uint32_t i = 0; column->ranked == NULL && i < making->rows; i++)
        values[i] -= column->base - 1;
    for (uint32_t i = 0; nulls && i < making->rows; i++)
        if (tablet_null(making->block, column->column, i))
            values[i] = 0;
    return !stop_asked();
}

/* Adds a column's codes to keys, where `bits` are not more than all. */
static void add_codes(struct making *making, unsigned bits)
{
    uint64_t *keys = making->pairs[0].keys;

    for (uint32_t i = 0; i < making->rows; i++)
        keys[i] =
            (bits < RUN_KEY_BITS ? keys[i] << bits : 0) | making->values[i];
}

static bool is_sorted(const uint64_t *keys, uint32_t count)
{
    bool sorted = true;

    for (uint32_t i = 1; i < count; i++)
        sorted &= keys[i - 1] <= keys[i];
    return sorted;
}

/* Makes the keys of all rows. */
static bool make_keys(struct making *making)
{
    struct run *run = making->run;

    memset(making->pairs[0].keys, 0, making->rows * sizeof(uint64_t));
    for (unsigned i = 0; i < run->column_count; i++) {
        if (!make_codes(making, &run->columns[i]))
            return false;
        add_codes(making, run->columns[i].bits);
    }
    return true;
}

/* Rows that are in the order of their keys need none. */
static bool sort_rows(struct making *making)
{
    if (is_sorted(making->pairs[0].keys, making->rows)) {
        memory_release(making->pairs[0].rows);
        making->pairs[0].rows = NULL;
        return true;
    }
    for (uint32_t i = 0; i < making->rows; i++)
        making->pairs[0].rows[i] = i;
    return sort_pairs(making->pairs, making->rows, making->run->key_bits);
}

enum { STEPS_ROWS_MIN = HOSTILE(SEARCH_STEP, 512) };

/* The keys that a search begins with. Without memory there are none. */
static void add_steps(struct run *run, size_t width)
{
    size_t count = run->rows / SEARCH_STEP;
    char *steps;

    if (run->rows < STEPS_ROWS_MIN)
        return;
    steps = memory_resize(NULL, count * width);
    for (size_t i = 0; steps != NULL && i < count; i++)
        memcpy(steps + i * width,
               (const char *)run->keys + ((i + 1) * SEARCH_STEP - 1) * width,
               width);
    run->steps = steps;
    run->size_bytes += count * width;
}

/* Whether a tablet has the words of its texts, which may have stayed in the file. */
static bool has_words(const struct tablet *head)
{
    return head->variable_size > 0;
}

/* The same of a column's words. */
static void add_heads(struct run *run, struct run_column *column,
                      const void *block)
{
    const struct tablet_column *head = tablet_column(block, column->column);
    uint32_t words, count;

    if (head->type != TYPE_WORD || !has_words(block))
        return;
    words = tablet_words(block, column->column)->count;
    count = (words + RUN_STEP - 1) / RUN_STEP;
    if (words < STEPS_ROWS_MIN)
        return;
    column->heads = memory_resize(NULL, count * sizeof *column->heads);
    for (uint32_t i = 0; column->heads != NULL && i < count; i++)
        column->heads[i] =
            text_head(tablet_word(block, column->column, i * RUN_STEP), 0);
    column->head_count = column->heads != NULL ? count : 0;
    run->size_bytes += column->head_count * sizeof *column->heads;
}

void run_add_heads(struct run *run, const void *block)
{
    for (unsigned i = 0; i < run->column_count; i++)
        add_heads(run, &run->columns[i], block);
}

void run_take_keys(struct run *run, uint64_t *keys)
{
    size_t width = run->key_bits <= 32 ? sizeof(uint32_t) : sizeof(uint64_t);
    uint32_t *narrow = (uint32_t *)(void *)keys;

    for (uint32_t i = 0; width == sizeof(uint32_t) && i < run->rows; i++) {
        uint64_t key = keys[i];
        memcpy(&narrow[i], &(uint32_t){ (uint32_t)key }, sizeof *narrow);
    }
    run->keys = memory_resize(keys, run->rows * width + 1);
    if (run->keys == NULL)
        run->keys = keys; /* it is as long as it was */
    run->size_bytes += run->rows * width;
    if (run->order != NULL)
        run->size_bytes += run->rows * sizeof *run->order;
    add_steps(run, width);
}

/* Rows as they are become an order. */
static bool make_order(struct run *run)
{
    run->order =
        memory_resize(NULL, (run->rows + (size_t)1) * sizeof *run->order);
    if (run->order == NULL)
        return false;
    for (uint32_t i = 0; i < run->rows; i++)
        run->order[i] = i;
    run->size_bytes += run->rows * sizeof *run->order;
    return true;
}

bool run_name_rows(struct run *run, const uint32_t *numbers,
                   uint32_t tablet_rows)
{
    run->tablet_rows = tablet_rows;
    if (run->order == NULL && !make_order(run))
        return false;
    for (uint32_t i = 0; i < run->rows; i++)
        run->order[i] = numbers[run->order[i]];
    return true;
}

/* The run takes over what was sorted. */
static void keep(struct making *making)
{
    struct run *run = making->run;

    run->size_bytes = sizeof *run;
    run->order = making->pairs[0].rows;
    for (unsigned i = 0; i < run->column_count; i++)
        run->size_bytes +=
            run->columns[i].count * sizeof *run->columns[i].ranked;
    run_take_keys(run, making->pairs[0].keys);
    making->pairs[0] = (struct pairs){ NULL, NULL };
    run_add_heads(run, making->block);
}

/* ---------------------------------------------------------------- sort -- */

/* The digit of keys by which they are sorted. */
struct digit {
    unsigned shift; /* of its lowest bit       */
    unsigned mask;  /* of its bits, from 0 on  */
};

static unsigned digit_of(uint64_t key, struct digit digit)
{
    return (unsigned)(key >> digit.shift) & digit.mask;
}

/* Moves all pairs to where their digit says, in their order. */
static void scatter(const struct pairs *from, const struct pairs *to,
                    uint32_t count, struct digit digit, uint32_t starts[DIGITS])
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = from->keys[i];
        uint32_t at = starts[digit_of(key, digit)]++;
        to->keys[at] = key;
        to->rows[at] = from->rows[i];
    }
}

/* Sorts by one digit; false: all have the same, and nothing was moved. */
static bool sort_digit(const struct pairs *from, const struct pairs *to,
                       uint32_t count, struct digit digit)
{
    uint32_t starts[DIGITS], sum = 0;

    memset(starts, 0, (digit.mask + 1) * sizeof *starts);
    for (uint32_t i = 0; i < count; i++)
        starts[digit_of(from->keys[i], digit)]++;
    if (count > 0 && starts[digit_of(from->keys[0], digit)] == count)
        return false;
    for (unsigned i = 0; i <= digit.mask; i++) {
        uint32_t here = starts[i];
        starts[i] = sum;
        sum += here;
    }
    scatter(from, to, count, digit, starts);
    return true;
}

/* Bits of a digit for so many keys. */
static unsigned digit_bits(uint32_t count)
{
    unsigned bits = DIGIT_BITS_LEAST;

    while (bits < DIGIT_BITS && count >> (bits + 1) != 0)
        bits++;
    return bits;
}

/* Sorts pairs[0] by the lowest bits of the keys; false: it is to stop. */
static bool sort_pairs(struct pairs pairs[2], uint32_t count, unsigned bits)
{
    unsigned step = digit_bits(count);

    for (unsigned shift = 0; shift < bits; shift += step) {
        if (sort_digit(&pairs[0], &pairs[1], count,
                       (struct digit){ shift, (1u << step) - 1 })) {
            struct pairs sorted = pairs[1];
            pairs[1] = pairs[0];
            pairs[0] = sorted;
        }
        if (stop_asked())
            return false;
    }
    return true;
}
