/* SPDX-License-Identifier: MIT */
/*
 * Sorting against a naive order, by random keys: all types, NULLs, values
 * that are equal in odd ways, and the first rows as they come in batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exec/sort/sort.h"
#include "exec/sort/sort_runs.h"
#include "fixtures/chance.h"
#include "fixtures/failing_memory.h"
#include "fixtures/random_rows.h"

enum { KEYS_MAX = 4 };

static struct step_key keys[KEYS_MAX];
static unsigned key_count;

/* -1, 0, 1: a before, like, behind b, by one key. */
static int compare_key(const struct step_key *key, uint32_t a, uint32_t b)
{
    unsigned column = (unsigned)key->column;
    bool null_a = random_null(column, a), null_b = random_null(column, b);
    int sign = key->descending ? -1 : 1;

    if (null_a || null_b)
        return null_a == null_b ? 0 : (null_a != key->nulls_last) ? -1 : 1;
    if (random_equal(column, a, b))
        return 0;
    return random_less(column, random_real(column, a),
                       random_integer(column, a), random_real(column, b),
                       random_integer(column, b))
               ? -sign
               : sign;
}

static int compare(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    for (unsigned i = 0; i < key_count; i++) {
        int order = compare_key(&keys[i], a, b);
        if (order != 0)
            return order;
    }
    return a < b ? -1 : a > b;
}

static void random_keys(void)
{
    key_count = 1 + random_below(KEYS_MAX);
    for (unsigned i = 0; i < key_count; i++)
        keys[i] =
            (struct step_key){ (int)random_below(RANDOM_COLUMNS),
                               random_below(2) == 0, random_below(2) == 0 };
}

static uint32_t *naive_order(uint32_t rows)
{
    uint32_t *order = malloc((rows + 1) * sizeof *order);
    for (uint32_t i = 0; i < rows; i++)
        order[i] = i;
    qsort(order, rows, sizeof *order, compare);
    return order;
}

/* The random rows as a row set that owns nothing. */
static struct row_set view(uint32_t rows, struct row_set_column *columns)
{
    for (unsigned i = 0; i < RANDOM_COLUMNS; i++)
        columns[i] =
            (struct row_set_column){ .type = random_types[i],
                                     .width = row_set_width(random_types[i]),
                                     .values = random_values[i],
                                     .nulls = random_nulls[i] };
    return (struct row_set){ .rows = rows,
                             .column_count = RANDOM_COLUMNS,
                             .columns = columns };
}

/* Whether rows differ in one of the first keys. */
static bool differ(uint32_t a, uint32_t b, unsigned first_keys)
{
    bool same = true;
    for (unsigned i = 0; i < first_keys; i++)
        same = same && compare_key(&keys[i], a, b) == 0;
    return !same;
}

/* The marks are those of a naive look at neighbours. */
static void check_starts(const uint8_t *starts, const uint32_t *order,
                         uint32_t rows, unsigned partition)
{
    for (uint32_t i = 0; i < rows; i++) {
        bool parts = i == 0 || differ(order[i - 1], order[i], partition);
        bool any = i == 0 || differ(order[i - 1], order[i], key_count);
        assert_int_equal(starts[i],
                         (parts ? SORT_PARTITION : 0) | (any ? SORT_PEERS : 0));
    }
}

/* The first rows are those of the order, in whatever order but for rows with
 * equal keys; the last one is its last. */
static void check_first(const struct sort_key *made, const uint32_t *wanted,
                        uint32_t rows, unsigned threads)
{
    uint32_t limit = random_below(rows + 1);
    uint32_t *first = malloc((rows + 1) * sizeof *first);
    uint32_t *before = calloc(rows + 1, sizeof *before);
    struct error error;

    assert_int_equal(
        sort_first(made, key_count, rows, limit, threads, first, &error),
        VDBQ_OK);
    if (limit > 0)
        assert_int_equal(first[limit - 1], wanted[limit - 1]);
    for (uint32_t i = 0; i < limit; i++)
        before[first[i]] = i + 1;
    for (uint32_t i = 0; i < limit; i++) {
        assert_int_not_equal(before[wanted[i]], 0);
        if (i > 0 && !differ(wanted[i - 1], wanted[i], key_count))
            assert_true(before[wanted[i - 1]] < before[wanted[i]]);
    }
    free(first);
    free(before);
}

static void check_order(uint32_t rows, unsigned threads)
{
    struct row_set_column columns[RANDOM_COLUMNS];
    struct row_set row_set = view(rows, columns);
    struct sort_key made[KEYS_MAX];
    uint32_t *wanted = naive_order(rows);
    uint32_t *order = malloc((rows + 1) * sizeof *order);
    uint8_t *starts = malloc(rows + 1);
    unsigned partition = random_below(key_count + 1);
    struct error error;

    sort_keys(&row_set, keys, key_count, made);
    assert_int_equal(sort_order(made, key_count, rows, threads, order, &error),
                     VDBQ_OK);
    assert_memory_equal(order, wanted, rows * sizeof *order);
    assert_int_equal(sort_order_marked(made, key_count, rows, threads, order,
                                       partition, starts, &error),
                     VDBQ_OK);
    assert_memory_equal(order, wanted, rows * sizeof *order);
    check_starts(starts, order, rows, partition);
    check_first(made, wanted, rows, threads);
    free(wanted);
    free(order);
    free(starts);
}

static void orders_are_as_naive_ones(void **state)
{
    static const uint32_t counts[] = { 0, 1, 2, 63, 64, 65, 300, 5000 };
    (void)state;
    for (unsigned round = 0; round < fewer(300); round++) {
        uint32_t rows = counts[round % 8];
        random_fill(rows, 1 + random_below(round % 3 ? 40 : 2000000000));
        random_keys();
        check_order(rows, 1);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        random_fill(RANDOM_ROWS, round % 2 ? 100 : 2000000000);
        random_keys();
        check_order(RANDOM_ROWS, 2 + round);
    }
}

static void extreme_integers_have_their_places(void **state)
{
    static const int64_t some[] = { INT64_MAX, INT64_MIN, 0,        -1,
                                    1,         INT64_MAX, INT64_MIN };
    (void)state;
    for (unsigned round = 0; round < fewer(40); round++) {
        random_fill(100, 10);
        for (unsigned i = 0; i < 100; i++)
            ((int64_t *)random_values[1])[i] = some[random_below(7)];
        random_keys();
        keys[random_below(key_count)].column = 1;
        check_order(100, 1);
    }
}

/* Most rows are equal in the highest words of their keys: one value far away, or
 * a NULL, makes these wide. */
static void long_runs_are_sorted(void **state)
{
    enum { ROWS = 140000 };
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        random_fill(ROWS, 1000000);
        key_count = 1 + round;
        for (unsigned i = 0; i < key_count; i++)
            keys[i] = (struct step_key){ i == 0 ? 1 : (int)i + 1, i == 1,
                                         random_below(2) == 0 };
        for (unsigned i = 0; i < 10; i++)
            ((int64_t *)random_values[1])[random_below(ROWS)] = INT64_MAX - i;
        check_order(ROWS, 2 + round);
    }
}

/* ---------------------------------------------------------------- runs -- */

/* What is left to be written until the disk is full. */
static unsigned writes_left = UINT32_MAX;
static struct os_file_calls full_disk;

static int write_some(struct os_file *file, const void *bytes, size_t size,
                      uint64_t offset)
{
    if (writes_left == 0)
        return ENOSPC;
    writes_left--;
    return os_memory_files.write(file, bytes, size, offset);
}

/* Rows [first, end), sorted, become a run. */
static enum vdbq_status add_run(struct sort_runs *runs,
                                const struct row_set *all, uint32_t first,
                                uint32_t end, struct error *error)
{
    struct row_set_column columns[RANDOM_COLUMNS];
    struct row_set some = *all;
    struct sort_key made[KEYS_MAX];
    uint32_t *order = malloc((end - first + 1) * sizeof *order);
    some.rows = end - first;
    some.columns = columns;
    for (unsigned i = 0; i < RANDOM_COLUMNS; i++) {
        columns[i] = all->columns[i];
        columns[i].values =
            (char *)columns[i].values + (size_t)first * columns[i].width;
        columns[i].nulls += first;
    }
    sort_keys(&some, keys, key_count, made);
    enum vdbq_status status =
        sort_order(made, key_count, end - first, 1, order, error);
    if (status == VDBQ_OK)
        status = sort_runs_add(runs, &some, order, end - first, error);
    free(order);
    return status;
}

static void check_row(const struct row_set *got, uint64_t at, uint32_t row)
{
    for (unsigned k = 0; k < RANDOM_COLUMNS; k++) {
        const struct row_set_column *column = &got->columns[k];
        bool null = random_null(k, row);
        assert_int_equal(row_set_is_null(column, at), null);
        if (!null)
            assert_memory_equal((char *)column->values + at * column->width,
                                (char *)random_values[k] + row * column->width,
                                column->width);
    }
}

/* Reads all rows, some at a time, which are in the naive order. */
static enum vdbq_status read_runs(struct sort_runs *runs, uint32_t rows,
                                  struct row_set *output, struct error *error)
{
    uint32_t *wanted = naive_order(rows), at = 0;
    enum vdbq_status status = sort_runs_begin(runs, error);
    do {
        output->rows = 0;
        if (status == VDBQ_OK)
            status =
                sort_runs_rows(runs, 1 + random_below(3000), output, error);
        for (uint64_t i = 0; status == VDBQ_OK && i < output->rows; i++)
            check_row(output, i, wanted[at++]);
    } while (status == VDBQ_OK && output->rows > 0);
    assert_true(status != VDBQ_OK || at == rows);
    free(wanted);
    return status;
}

/* Sorts in runs of up to `most` rows. */
static enum vdbq_status try_runs(uint32_t rows, uint32_t most,
                                 uint64_t room_bytes)
{
    struct row_set_column values[RANDOM_COLUMNS];
    struct row_set all = view(rows, values), output;
    struct step_column columns[RANDOM_COLUMNS];
    struct sort_runs_params params = { .files = &full_disk,
                                       .columns = columns,
                                       .column_count = RANDOM_COLUMNS,
                                       .keys = keys,
                                       .key_count = key_count,
                                       .room_bytes = room_bytes };
    struct sort_runs runs;
    struct error error;
    full_disk = os_memory_files;
    full_disk.write = write_some;
    for (unsigned i = 0; i < RANDOM_COLUMNS; i++)
        columns[i] =
            (struct step_column){ .name = "x", .type = random_types[i] };
    enum vdbq_status status =
        row_set_init(&output, columns, RANDOM_COLUMNS, &error);
    if (status == VDBQ_OK)
        status = sort_runs_init(&runs, &params, &error);
    else
        runs = (struct sort_runs){ 0 };
    for (uint32_t at = 0, end; at < rows && status == VDBQ_OK; at = end) {
        end = at + 1 + random_below(most);
        end = end < rows ? end : rows;
        status = add_run(&runs, &all, at, end, &error);
    }
    if (status == VDBQ_OK)
        status = read_runs(&runs, rows, &output, &error);
    if (status == VDBQ_IO)
        assert_non_null(strstr(error.hint, "VDBQ_MEMORY"));
    row_set_finish(&output);
    sort_runs_finish(&runs);
    return status;
}

/* Runs of any length, with memory for so few that there are several passes. */
static void runs_are_merged(void **state)
{
    static const uint32_t counts[] = { 1, 2, 65, 3000, 30000 };
    static const uint64_t rooms[] = { 0, 16 << 10, 1 << 20 };
    (void)state;
    for (unsigned round = 0; round < fewer(60); round++) {
        uint32_t rows = counts[round % 5];
        random_fill(rows, 1 + random_below(round % 3 ? 40 : 2000000000));
        random_keys();
        assert_int_equal(try_runs(rows, 1 + rows / (1 + random_below(60)),
                                  rooms[round / 5 % 3]),
                         VDBQ_OK);
    }
}

/* Wherever the disk gets full, or memory ends. */
static void runs_may_fail(void **state)
{
    enum vdbq_status status = VDBQ_IO;
    (void)state;
    random_fill(3000, 1000);
    random_keys();
    for (unsigned n = 0; status == VDBQ_IO; n += 1 + n / 10) {
        writes_left = n;
        status = try_runs(3000, 300, 0);
    }
    writes_left = UINT32_MAX;
    assert_int_equal(status, VDBQ_OK);
    status = VDBQ_NO_MEMORY;
    for (unsigned n = 0; status == VDBQ_NO_MEMORY; n += 1 + n / 10) {
        memory_fail_after(n);
        status = try_runs(3000, 300, 0);
        memory_fail_never();
    }
    assert_int_equal(status, VDBQ_OK);
}

/* ------------------------------------------------------- the first rows -- */

/* Adds rows of a batch that are there at the same time. */
static enum vdbq_status add_batch(struct sort_top *top,
                                  const struct vdbq_batch *batch,
                                  unsigned columns, struct error *error)
{
    struct batches batches;
    enum vdbq_status status = batches_init(&batches, columns, error);
    if (status == VDBQ_OK) {
        batches_add(&batches, batch);
        status = sort_top_add(top, &batches, error);
    }
    batches_finish(&batches);
    return status;
}

static void check_top(uint32_t rows, uint64_t limit, uint32_t batch,
                      unsigned threads)
{
    struct step_column columns[RANDOM_COLUMNS];
    struct vdbq_vector vectors[RANDOM_COLUMNS];
    uint32_t *wanted = naive_order(rows);
    struct sort_top top;
    struct error error;

    for (unsigned i = 0; i < RANDOM_COLUMNS; i++)
        columns[i] =
            (struct step_column){ .name = "x", .type = random_types[i] };
    assert_int_equal(sort_top_init(&top, keys, key_count, limit, columns,
                                   RANDOM_COLUMNS, threads, &error),
                     VDBQ_OK);
    for (uint32_t at = 0; at < rows; at += batch) {
        struct vdbq_batch given =
            random_batch(at, rows - at < batch ? rows - at : batch, vectors);
        assert_int_equal(add_batch(&top, &given, RANDOM_COLUMNS, &error),
                         VDBQ_OK);
    }
    assert_int_equal(sort_top_end(&top, &error), VDBQ_OK);
    assert_int_equal(top.rows.rows, limit < rows ? limit : rows);
    for (uint64_t i = 0; i < top.rows.rows; i++)
        for (unsigned k = 0; k < RANDOM_COLUMNS; k++) {
            const struct row_set_column *column = &top.rows.columns[k];
            bool null = random_null(k, wanted[i]);
            assert_int_equal(row_set_is_null(column, i), null);
            if (!null)
                assert_memory_equal((char *)column->values + i * column->width,
                                    (char *)random_values[k]
                                        + wanted[i] * column->width,
                                    column->width);
        }
    sort_top_finish(&top);
    free(wanted);
}

static void first_rows_are_those_of_the_order(void **state)
{
    static const uint32_t limits[] = { 0, 1, 10, 100, 3000, 30000 };
    (void)state;
    for (unsigned round = 0; round < fewer(60); round++) {
        uint32_t rows = round % 5 ? 20000 : 65;
        random_fill(rows, 1 + random_below(round % 3 ? 40 : 2000000000));
        random_keys();
        check_top(rows, limits[round % 6], 1 + random_below(5000), 1);
    }
}

/* Threads share batches; equal rows stay in their order, whatever comes first:
 * rows as they are, those behind before the others, or most of them alike. */
static void first_rows_of_many_threads(void **state)
{
    enum { ROWS = 150000 };
    static const uint32_t limits[] = { 1, 1000, 40000 };
    (void)state;
    for (unsigned round = 0; round < fewer(9); round++) {
        int32_t *values = random_values[0];
        random_fill(ROWS, round % 3 == 2 ? 3 : 1000000);
        random_keys();
        for (uint32_t i = 0; round % 3 == 1 && i < ROWS; i++)
            values[i] = (int32_t)(ROWS - i);
        keys[0].column = 0;
        check_top(ROWS, limits[round / 3], ROWS - round * 9000,
                  2 + 7 * (round % 3));
    }
}

static void missing_memory_is_told(void **state)
{
    enum { ROWS = 50000 };
    struct step_column column = { .name = "x", .type = VDBQ_INTEGER };
    struct step_key key = { 0, true, false };
    struct vdbq_vector vectors[RANDOM_COLUMNS];
    enum vdbq_status status = VDBQ_NO_MEMORY;
    struct error error;

    (void)state;
    random_fill(ROWS, 1000);
    for (unsigned calls = 0; status != VDBQ_OK; calls++) {
        struct vdbq_batch batch = random_batch(0, ROWS, vectors);
        struct sort_top top;
        memory_fail_after(calls);
        status = sort_top_init(&top, &key, 1, 10, &column, 1, 3, &error);
        if (status == VDBQ_OK)
            status = add_batch(&top, &batch, 1, &error);
        if (status == VDBQ_OK)
            status = sort_top_end(&top, &error);
        sort_top_finish(&top);
        memory_fail_never();
        assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_as_naive_ones),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(extreme_integers_have_their_places),
        cmocka_unit_test(long_runs_are_sorted),
        cmocka_unit_test(runs_are_merged),
        cmocka_unit_test(runs_may_fail),
        cmocka_unit_test(first_rows_are_those_of_the_order),
        cmocka_unit_test(first_rows_of_many_threads),
        cmocka_unit_test(missing_memory_is_told)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
