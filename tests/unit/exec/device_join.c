/* SPDX-License-Identifier: MIT */
/*
 * Joining on a device: every kind, with duplicates, NULLs, odd floats, texts
 * of other words, several keys, skew, empty sides and rounds of any size,
 * against comparing each row with each. The variable VDBQ_TEST_DEVICE names
 * another device than "cpu".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "data/tablet/dictionary.h"
#include "exec/device_join/device_join.h"
#include "fixtures/failing_memory.h"
#include "fixtures/random_rows.h"

enum { COLUMNS = 6, PAYLOAD = 5, SIDE_ROWS = 3000, WORDS = 40 };

static const enum vdbq_type types[COLUMNS] = { VDBQ_INTEGER, VDBQ_BIGINT,
                                               VDBQ_FLOAT,   VDBQ_DOUBLE,
                                               VDBQ_TEXT,    VDBQ_BIGINT };

/* The rows of one side, on the host. */
struct side {
    uint32_t rows;
    uint64_t values[COLUMNS][SIDE_ROWS]; /* 4 or 8 bytes each, side by side */
    uint8_t nulls[COLUMNS][SIDE_ROWS];
    struct device_column columns[COLUMNS];
    struct dictionary *dictionaries[COLUMNS];
};

static struct side sides[2];
static struct device *device;
static struct error failure;

static void ok(enum vdbq_status status)
{
    if (status != VDBQ_OK)
        fail_msg("%s", failure.message);
}

/* ----------------------------------------------------------------- rows -- */

/* Some of the words "w0", "w1", ... */
static struct dictionary *some_words(unsigned from)
{
    static char bytes[WORDS][8];
    struct vdbq_text texts[WORDS];
    for (unsigned i = 0; i < WORDS; i++) {
        int length = snprintf(bytes[i], sizeof bytes[i], "w%u", from + 2 * i);
        texts[i] =
            (struct vdbq_text){ .bytes = bytes[i], .length = (size_t)length };
    }
    return dictionary_make(texts, WORDS, NULL);
}

static void put_value(struct side *side, unsigned column, uint32_t row,
                      uint32_t variety)
{
    int32_t small = (int32_t)random_below(variety);
    if (column == PAYLOAD)
        ((int64_t *)side->values[column])[row] = row;
    else if (types[column] == VDBQ_BIGINT)
        ((int64_t *)side->values[column])[row] =
            ((int64_t)small - 5) * 5000000001;
    else if (types[column] == VDBQ_FLOAT)
        ((float *)side->values[column])[row] =
            random_below(9) == 0 ? (float)NAN : (float)random_float(variety);
    else if (types[column] == VDBQ_DOUBLE)
        ((double *)side->values[column])[row] =
            random_below(9) == 0 ? (double)NAN : random_float(variety);
    else if (types[column] == VDBQ_TEXT)
        ((int32_t *)side->values[column])[row] =
            (int32_t)random_below(WORDS < variety ? WORDS : variety);
    else
        ((int32_t *)side->values[column])[row] = small - 3;
}

/* Fills a side: `ranged`: its integers are known to be few. */
static void fill(struct side *side, uint32_t rows, uint32_t variety, bool nulls,
                 bool ranged, struct dictionary *dictionaries)
{
    side->rows = rows;
    for (unsigned c = 0; c < COLUMNS; c++) {
        side->columns[c] =
            (struct device_column){ .type = types[c],
                                    .nullable = nulls && c != PAYLOAD,
                                    .ranged = ranged && c == 0,
                                    .low = -3,
                                    .high = variety };
        side->dictionaries[c] = types[c] == VDBQ_TEXT ? dictionaries : NULL;
        for (uint32_t row = 0; row < rows; row++) {
            put_value(side, c, row, variety);
            side->nulls[c][row] =
                side->columns[c].nullable && random_below(5) == 0;
        }
    }
}

/* A row set over a side's own memory. */
static struct row_set as_row_set(struct side *side,
                                 struct row_set_column *columns)
{
    for (unsigned c = 0; c < COLUMNS; c++)
        columns[c] = (struct row_set_column){ .type = types[c],
                                              .width = row_set_width(types[c]),
                                              .values = side->values[c],
                                              .nulls = side->columns[c].nullable
                                                           ? side->nulls[c]
                                                           : NULL };
    return (struct row_set){ .rows = side->rows,
                             .column_count = COLUMNS,
                             .columns = columns };
}

/* ---------------------------------------------------------------- naive -- */

static bool equal_values(unsigned column, uint32_t a, uint32_t b)
{
    const uint64_t *left = sides[0].values[column];
    const uint64_t *right = sides[1].values[column];
    struct vdbq_text x, y;
    switch (types[column]) {
    case VDBQ_FLOAT:
        return ((const float *)left)[a] == ((const float *)right)[b];
    case VDBQ_DOUBLE:
        return ((const double *)left)[a] == ((const double *)right)[b];
    case VDBQ_BIGINT:
        return left[a] == right[b];
    case VDBQ_TEXT:
        x = dictionary_text(sides[0].dictionaries[column],
                            ((const uint32_t *)left)[a]);
        y = dictionary_text(sides[1].dictionaries[column],
                            ((const uint32_t *)right)[b]);
        return x.length == y.length && memcmp(x.bytes, y.bytes, x.length) == 0;
    default:
        return ((const uint32_t *)left)[a] == ((const uint32_t *)right)[b];
    }
}

static bool equal_rows(const struct step_join *step, uint32_t a, uint32_t b)
{
    for (unsigned i = 0; i < step->left_keys.count; i++) {
        unsigned key = (unsigned)VECTOR_ITEMS(&step->left_keys, int)[i];
        bool left = sides[0].nulls[key][a] != 0;
        bool right = sides[1].nulls[key][b] != 0;
        if (left || right) {
            if (!(left && right && step->nulls_match))
                return false;
        } else if (!equal_values(key, a, b)) {
            return false;
        }
    }
    return true;
}

/* Pairs of rows that must come, in order; ROW_SET_NO_ROW: none. */
struct pairs {
    uint32_t *left, *right;
    size_t count, room;
};

static void add_pair(struct pairs *pairs, uint32_t left, uint32_t right)
{
    if (pairs->count == pairs->room) {
        pairs->room = pairs->room * 2 + 64;
        pairs->left = realloc(pairs->left, pairs->room * sizeof(uint32_t));
        pairs->right = realloc(pairs->right, pairs->room * sizeof(uint32_t));
    }
    pairs->left[pairs->count] = left;
    pairs->right[pairs->count++] = right;
}

static void naive(const struct step_join *step, struct pairs *pairs)
{
    bool all = step->kind != JOIN_SEMI && step->kind != JOIN_ANTI;
    bool marked[SIDE_ROWS] = { false };
    for (uint32_t a = 0; a < sides[0].rows; a++) {
        bool found = false;
        for (uint32_t b = 0; b < sides[1].rows && (all || !found); b++) {
            bool equal = equal_rows(step, a, b);
            found |= equal;
            marked[b] |= equal;
            if (equal && all)
                add_pair(pairs, a, b);
        }
        if (step->kind == JOIN_SEMI ? found
                                    : !found && step->kind != JOIN_INNER
                                          && step->kind != JOIN_RIGHT)
            add_pair(pairs, a, ROW_SET_NO_ROW);
    }
    for (uint32_t b = 0; b < sides[1].rows; b++)
        if (!marked[b] && (step->kind == JOIN_RIGHT || step->kind == JOIN_FULL))
            add_pair(pairs, ROW_SET_NO_ROW, b);
}

/* ---------------------------------------------------------------- check -- */

/* Compares a column of output rows with what they must be. */
static void check_column(const struct sink_rows *rows, unsigned number,
                         const bool *reads, const struct pairs *pairs,
                         size_t first)
{
    const struct output *output = &rows->outputs[number];
    const struct side *side = &sides[number >= COLUMNS];
    const uint32_t *from = number >= COLUMNS ? pairs->right : pairs->left;
    unsigned column = number % COLUMNS, width = row_set_width(types[column]);
    struct device_times times = { 0 };
    uint8_t *values = malloc(rows->count * width);
    uint8_t *nulls = calloc(1, rows->count);
    if (reads[number]) {
        ok(device_read(rows->memory, output->values, values,
                       rows->count * width, &times, &failure));
        if (output->null_register >= 0)
            ok(device_read(rows->memory, output->nulls, nulls, rows->count,
                           &times, &failure));
    }
    for (uint64_t i = 0; reads[number] && i < rows->count; i++) {
        uint32_t row = from[first + i];
        bool null = row == ROW_SET_NO_ROW || side->nulls[column][row] != 0;
        assert_int_equal(nulls[i], null);
        if (!null)
            assert_memory_equal(values + i * width,
                                (const uint8_t *)side->values[column]
                                    + row * (size_t)width,
                                width);
    }
    free(values);
    free(nulls);
}

/* Takes the output rows that were counted. */
static void check_rounds(struct device_join *join, const bool *reads,
                         const struct pairs *pairs, size_t *done)
{
    struct sink_rows rows = { .count = 1 };
    unsigned count;
    device_join_columns(join, &count);
    while (rows.count > 0) {
        ok(device_join_next(join, &rows, &failure));
        assert_true(*done + rows.count <= pairs->count);
        for (unsigned i = 0; i < count && rows.count > 0; i++)
            check_column(&rows, i, reads, pairs, *done);
        *done += rows.count;
    }
}

/* Hands rows [at, at + count) of `from` to the join. */
static void take(struct device_join *join, const struct device_store *from,
                 uint64_t at, uint64_t count)
{
    struct device_store *left = device_join_left(join);
    struct output outputs[COLUMNS];
    for (unsigned i = 0; i < COLUMNS; i++)
        outputs[i] = (struct output){ .values = from->places[i].values,
                                      .nulls = from->places[i].nulls,
                                      .width = from->places[i].width };
    ok(left->sink.take(&left->sink,
                       &(struct sink_rows){ .memory = from->memory,
                                            .outputs = outputs,
                                            .start = at,
                                            .count = count },
                       &failure));
}

/* Joins the two sides, the left rows in up to `parts` parts. */
static void check(const struct step_join *step, uint64_t round_rows,
                  unsigned parts, bool all_read)
{
    struct row_set_column columns[2][COLUMNS];
    struct row_set left = as_row_set(&sides[0], columns[0]);
    struct row_set right = as_row_set(&sides[1], columns[1]);
    struct device_times times = { 0 };
    struct device_store from;
    struct device_join *join;
    struct pairs pairs = { 0 };
    bool reads[2 * COLUMNS];
    size_t done = 0;
    uint64_t share = (sides[0].rows + parts) / parts;

    naive(step, &pairs);
    for (unsigned i = 0; i < 2 * COLUMNS; i++)
        reads[i] = all_read || random_below(2) == 0;
    ok(device_store_init(&from, device, sides[0].columns, COLUMNS, &times,
                         &failure));
    ok(device_store_fill(&from, &left, &failure));
    ok(device_join_create(
        &(struct device_join_params){
            .step = step,
            .device = device,
            .left = sides[0].columns,
            .right = sides[1].columns,
            .left_count = COLUMNS,
            .right_count = COLUMNS,
            .left_dictionaries = sides[0].dictionaries,
            .right_dictionaries = sides[1].dictionaries,
            .round_rows = round_rows },
        &join, &failure));
    ok(device_store_fill(device_join_right(join), &right, &failure));
    ok(device_join_index(join, &failure));
    device_join_reads(join, reads);
    for (uint64_t at = 0; at < left.rows; at += share) {
        uint64_t some = left.rows - at < share ? left.rows - at : share;
        device_join_left(join)->rows = 0;
        take(join, &from, at, some / 2);
        take(join, &from, at + some / 2, some - some / 2);
        ok(device_join_begin(join, &failure));
        check_rounds(join, reads, &pairs, &done);
    }
    ok(device_join_end(join, &failure));
    check_rounds(join, reads, &pairs, &done);
    assert_int_equal(done, pairs.count);
    device_join_destroy(join);
    device_store_finish(&from);
    free(pairs.left);
    free(pairs.right);
}

/* ---------------------------------------------------------------- tests -- */

enum { KINDS = 6 };
static const enum join_kind kinds[KINDS] = { JOIN_INNER, JOIN_LEFT, JOIN_RIGHT,
                                             JOIN_FULL,  JOIN_SEMI, JOIN_ANTI };

static struct step_join step_of(enum join_kind kind, const int *keys,
                                unsigned count, bool nulls_match)
{
    struct step_join step = { .kind = kind,
                              .nulls_match = nulls_match,
                              .left_keys = VECTOR(int),
                              .right_keys = VECTOR(int) };
    assert_true(count == 0
                || (vector_append(&step.left_keys, keys, count)
                    && vector_append(&step.right_keys, keys, count)));
    return step;
}

static void step_finish(struct step_join *step)
{
    vector_finish(&step->left_keys);
    vector_finish(&step->right_keys);
}

/* Opens the device, or skips the test where there is none. */
static int open_device(void **state)
{
    const char *name = getenv("VDBQ_TEST_DEVICE");
    struct device_params params = { .choice = name != NULL ? name : "cpu" };
    (void)state;
    if (device_open(&params, &device, &failure) != VDBQ_OK)
        device = NULL;
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    device_close(device);
    return 0;
}

static void rows_are_as_naive_ones(void **state)
{
    static const uint32_t counts[] = { 0, 1, 2, 63, 200, 700 };
    static const int keys[][3] = { { 0 }, { 1 },    { 2 },       { 3 },
                                   { 4 }, { 0, 1 }, { 4, 3, 0 }, { 2, 4 } };
    static const unsigned key_counts[] = { 1, 1, 1, 1, 1, 2, 3, 2 };
    static const uint64_t rounds[] = { 0, 1000, 7, 64 };
    struct dictionary *left = some_words(0), *right = some_words(30);
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned i = 0; i < 160; i++) {
        unsigned k = i % 8;
        struct step_join step = step_of(kinds[random_below(KINDS)], keys[k],
                                        key_counts[k], random_below(3) == 0);
        uint32_t variety = 1 + random_below(i % 2 ? 30 : 2000);
        bool same = random_below(3) == 0;
        fill(&sides[0], counts[random_below(6)], variety, random_below(2),
             false, left);
        fill(&sides[1], counts[random_below(6)], variety, random_below(2),
             random_below(2), same ? left : right);
        check(&step, rounds[random_below(4)], 1 + random_below(3),
              random_below(2));
        step_finish(&step);
    }
    dictionary_release(left);
    dictionary_release(right);
}

/* One key has nearly all rows of both sides. */
static void skew_changes_nothing(void **state)
{
    const int key = 1;
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned k = 0; k < KINDS; k++) {
        struct step_join step = step_of(kinds[k], &key, 1, false);
        for (unsigned s = 0; s < 2; s++) {
            fill(&sides[s], s == 0 ? 400 : 900, 500, false, false, NULL);
            for (uint32_t row = 0; row < sides[s].rows; row += 1 + row % 2)
                ((int64_t *)sides[s].values[1])[row] = 77;
        }
        check(&step, 5000, 2, true);
        step_finish(&step);
    }
}

static void no_keys_give_all_pairs(void **state)
{
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned k = 0; k < KINDS; k++) {
        struct step_join step = step_of(kinds[k], NULL, 0, false);
        fill(&sides[0], 50, 10, true, false, NULL);
        fill(&sides[1], k % 2 ? 33 : 0, 10, true, false, NULL);
        check(&step, 100, 2, true);
        step_finish(&step);
    }
}

/* Joins once; every failure is handed up, and frees everything. */
static enum vdbq_status run_once(const struct step_join *step)
{
    struct row_set_column columns[2][COLUMNS];
    struct row_set left = as_row_set(&sides[0], columns[0]);
    struct row_set right = as_row_set(&sides[1], columns[1]);
    struct sink_rows rows = { .count = 1 };
    struct device_join *join;
    enum vdbq_status status = device_join_create(
        &(struct device_join_params){
            .step = step,
            .device = device,
            .left = sides[0].columns,
            .right = sides[1].columns,
            .left_count = COLUMNS,
            .right_count = COLUMNS,
            .left_dictionaries = sides[0].dictionaries,
            .right_dictionaries = sides[1].dictionaries,
            .round_rows = 100 },
        &join, &failure);
    if (status != VDBQ_OK)
        return status;
    status = device_store_fill(device_join_right(join), &right, &failure);
    if (status == VDBQ_OK)
        status = device_join_index(join, &failure);
    if (status == VDBQ_OK)
        status = device_store_fill(device_join_left(join), &left, &failure);
    if (status == VDBQ_OK)
        status = device_join_begin(join, &failure);
    while (status == VDBQ_OK && rows.count > 0)
        status = device_join_next(join, &rows, &failure);
    device_join_destroy(join);
    return status;
}

static void missing_memory_is_told(void **state)
{
    const int key = 4;
    struct step_join step = step_of(JOIN_LEFT, &key, 1, false);
    struct dictionary *left = some_words(0), *right = some_words(30);
    enum vdbq_status status = VDBQ_NO_MEMORY;
    (void)state;
    if (device == NULL)
        skip();
    fill(&sides[0], 300, 30, true, false, left);
    fill(&sides[1], 200, 30, true, false, right);
    for (unsigned calls = 0; status != VDBQ_OK; calls++) {
        memory_fail_after(calls);
        status = run_once(&step);
        memory_fail_never();
        assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
    }
    step_finish(&step);
    dictionary_release(left);
    dictionary_release(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_as_naive_ones),
        cmocka_unit_test(skew_changes_nothing),
        cmocka_unit_test(no_keys_give_all_pairs),
        cmocka_unit_test(missing_memory_is_told),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
