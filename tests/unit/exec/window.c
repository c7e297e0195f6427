/* SPDX-License-Identifier: MIT */
/*
 * Windows against naive ones, by random partitions and orders over random
 * rows. An aggregate is compared with the grouping of the rows of its frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/group/group.h"
#include "exec/window/window_spill.h"
#include "fixtures/failing_memory.h"
#include "fixtures/random_rows.h"
#include "fixtures/window/random_windows.h"

static struct row_set input;
static struct step_column input_columns[RANDOM_COLUMNS];
static struct error error;

static void fill(uint32_t rows, uint32_t variety)
{
    assert_int_equal(
        random_row_set(rows, variety, input_columns, &input, &error), VDBQ_OK);
}

/* ------------------------------------------------------- the naive way -- */

static bool same_partition(const struct step_window_function *f, uint32_t a,
                           uint32_t b)
{
    for (size_t i = 0; i < f->partition.count; i++)
        if (!random_equal((unsigned)VECTOR_ITEMS(&f->partition, int)[i], a, b))
            return false;
    return true;
}

/* -1, 0, 1: a before, peer of, behind b. */
static int compare(const struct step_window_function *f, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < f->order.count; i++) {
        const struct step_key *key = vector_at(&f->order, i);
        unsigned column = (unsigned)key->column;
        bool null_a = random_null(column, a), null_b = random_null(column, b);
        bool less;
        if (random_equal(column, a, b))
            continue;
        if (null_a || null_b)
            return null_a != key->nulls_last ? -1 : 1;
        less = random_less(column, random_real(column, a),
                           random_integer(column, a), random_real(column, b),
                           random_integer(column, b));
        return less != key->descending ? -1 : 1;
    }
    return 0;
}

/* Rows of `row`'s partition in their order; the place of `row` in it. */
static uint32_t partition_of(const struct step_window_function *f, uint32_t row,
                             uint32_t *rows, uint32_t *count)
{
    uint32_t place = 0;

    *count = 0;
    for (uint32_t i = 0; i < input.rows; i++) {
        uint32_t at = *count;
        if (!same_partition(f, row, i))
            continue;
        for (; at > 0 && compare(f, i, rows[at - 1]) < 0; at--)
            rows[at] = rows[at - 1];
        rows[at] = i;
        ++*count;
    }
    while (rows[place] != row)
        place++;
    return place;
}

/* --------------------------------------------------------- comparisons -- */

static void check_copy(const struct row_set_column *result, uint32_t row,
                       int column, uint32_t source)
{
    bool null = random_null((unsigned)column, source);

    assert_int_equal(row_set_is_null(result, row), null);
    if (!null)
        assert_memory_equal((char *)result->values + row * result->width,
                            (char *)random_values[column]
                                + source * result->width,
                            result->width);
}

static void check_number(const struct row_set_column *result, uint32_t row,
                         int64_t wanted)
{
    assert_int_equal(((int64_t *)result->values)[row], wanted);
    assert_false(row_set_is_null(result, row));
}

static void check_moved(const struct step_window_function *f,
                        const struct row_set_column *result, uint32_t row,
                        const uint32_t *rows, uint32_t count, uint32_t place)
{
    int64_t at =
        (int64_t)place + (f->function == WINDOW_LEAD ? f->offset : -f->offset);

    if (at >= 0 && at < (int64_t)count)
        check_copy(result, row, f->aggregate.column, rows[at]);
    else if (f->fallback >= 0)
        check_copy(result, row, f->fallback, row);
    else
        assert_true(row_set_is_null(result, row));
}

/* Groups the frame's rows, which are added in their order. */
static void check_aggregate(const struct step_window_function *f,
                            const struct row_set_column *result, uint32_t row,
                            const uint32_t *rows, uint32_t count)
{
    struct step_aggregate aggregate = f->aggregate;
    struct step_group step = { .aggregates = VECTOR_OF(&aggregate, 1) };
    struct group_params params = { .step = &step,
                                   .columns = input_columns,
                                   .threads = 1 };
    struct reorder spilled = { 0 };
    struct step_column column = { .name = "x", .type = result->type };
    struct vdbq_vector vectors[RANDOM_COLUMNS];
    struct row_set grouped;
    struct batches batches;
    struct group *group;

    assert_int_equal(row_set_init(&grouped, &column, 1, &error), VDBQ_OK);
    assert_int_equal(batches_init(&batches, RANDOM_COLUMNS, &error), VDBQ_OK);
    assert_int_equal(group_create(&params, &group, &error), VDBQ_OK);
    for (uint32_t i = 0; i < count; i++) {
        struct vdbq_batch batch = random_batch(rows[i], 1, vectors);
        batches.count = 0;
        batches_add(&batches, &batch);
        assert_int_equal(group_add(group, &batches, &error), VDBQ_OK);
    }
    batches_finish(&batches);
    assert_int_equal(group_finish(group, &grouped, &spilled, &error), VDBQ_OK);
    group_destroy(group);
    assert_int_equal(row_set_is_null(result, row),
                     row_set_is_null(&grouped.columns[0], 0));
    if (!row_set_is_null(result, row))
        assert_memory_equal((char *)result->values + row * result->width,
                            grouped.columns[0].values, result->width);
    row_set_finish(&grouped);
}

/* The place of a frame's bound, naively. */
static uint32_t bound_place(const struct frame_bound *bound, int64_t at,
                            int64_t unbounded, int64_t count)
{
    int64_t place = bound->unbounded ? unbounded : at + bound->offset;
    return (uint32_t)(place < 0 ? 0 : place > count ? count : place);
}

/* FIRST, LAST, NTH of the frame. */
static void check_end(const struct step_window_function *f,
                      const struct row_set_column *result, uint32_t row,
                      const uint32_t *rows, uint32_t count)
{
    int64_t at = f->function == WINDOW_FIRST  ? 0
                 : f->function == WINDOW_LAST ? (int64_t)count - 1
                                              : f->offset - 1;
    if (at >= 0 && at < (int64_t)count)
        check_copy(result, row, f->aggregate.column, rows[at]);
    else
        assert_true(row_set_is_null(result, row));
}

static void check_row(const struct step_window_function *f,
                      const struct row_set_column *result, uint32_t row,
                      uint32_t *rows)
{
    uint32_t count, place = partition_of(f, row, rows, &count), peer = place;
    uint32_t end = place + 1;
    int64_t dense = 1;

    while (peer > 0 && compare(f, rows[peer - 1], row) == 0)
        peer--;
    while (end < count && compare(f, rows[end], row) == 0)
        end++;
    for (uint32_t i = 1; i <= peer; i++)
        dense += compare(f, rows[i - 1], rows[i]) != 0;
    bool by_rows = f->frame.unit == FRAME_ROWS;
    uint32_t from =
        f->frame.unit == FRAME_DEFAULT
            ? 0
            : bound_place(&f->frame.begin, by_rows ? place : peer, 0, count);
    uint32_t behind =
        f->frame.unit == FRAME_DEFAULT
            ? end
            : bound_place(&f->frame.end, by_rows ? (int64_t)place + 1 : end,
                          count, count);
    uint32_t framed = behind > from ? behind - from : 0;
    if (f->function == WINDOW_ROW_NUMBER)
        check_number(result, row, place + 1);
    else if (f->function == WINDOW_RANK)
        check_number(result, row, peer + 1);
    else if (f->function == WINDOW_DENSE_RANK)
        check_number(result, row, dense);
    else if (f->function == WINDOW_AGGREGATE)
        check_aggregate(f, result, row, rows + from, framed);
    else if (f->function >= WINDOW_FIRST)
        check_end(f, result, row, rows + from, framed);
    else
        check_moved(f, result, row, rows, count, place);
}

/* --------------------------------------------------------------- tests -- */

static void windows_are_as_naive_ones(void **state)
{
    static const uint32_t counts[] = { 0, 1, 2, 63, 64, 65, 120 };
    uint32_t rows[256];

    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        struct step_window_function functions[2] = { random_window(),
                                                     random_window() };
        struct step_window step = { .functions = VECTOR_OF(functions, 2) };
        struct window_params params = { .step = &step,
                                        .rows = &input,
                                        .columns = input_columns,
                                        .threads = 1 + round % 2 };
        struct step_column columns[2] = { { .name = "a" }, { .name = "b" } };
        struct row_set results;
        fill(counts[round % 7], 1 + random_below(30));
        columns[0].type = random_window_type(&functions[0]);
        columns[1].type = random_window_type(&functions[1]);
        assert_int_equal(row_set_init(&results, columns, 2, &error), VDBQ_OK);
        assert_int_equal(window_run(&params, &results, &error), VDBQ_OK);
        assert_int_equal(results.rows, input.rows);
        for (unsigned i = 0; i < 2; i++) {
            for (uint32_t row = 0; row < input.rows; row++)
                check_row(&functions[i], &results.columns[i], row, rows);
            vector_finish(&functions[i].partition);
            vector_finish(&functions[i].order);
        }
        row_set_finish(&results);
    }
    row_set_finish(&input);
}

/* Runs a function over the input with so many threads. */
static enum vdbq_status run_threads(const struct step_window *step,
                                    unsigned threads, struct row_set *results)
{
    const struct step_window_function *f = vector_at(&step->functions, 0);
    struct step_column column = { .name = "a", .type = random_window_type(f) };
    struct window_params params = { .step = step,
                                    .rows = &input,
                                    .columns = input_columns,
                                    .threads = threads };
    assert_int_equal(row_set_init(results, &column, 1, &error), VDBQ_OK);
    return window_run(&params, results, &error);
}

/* Threads share partitions and peers, one of them with most of the rows. */
static void threads_change_nothing(void **state)
{
    enum { ROWS = 120000 };
    static const uint32_t variety[] = { 1, 3, 300, 1000000000 };
    (void)state;
    for (unsigned round = 0; round < 80; round++) {
        struct step_window_function f = random_window();
        struct step_window step = { .functions = VECTOR_OF(&f, 1) };
        struct row_set one, many;
        fill(ROWS, variety[round % 4]);
        for (uint32_t i = 0; round % 3 == 0 && i < ROWS; i += 1 + i % 2)
            ((int32_t *)random_values[0])[i] = 1;
        enum vdbq_status status = run_threads(&step, 1, &one);
        assert_int_equal(run_threads(&step, 2 + round % 6, &many), status);
        for (uint32_t i = 0; status == VDBQ_OK && i < ROWS; i++) {
            const struct row_set_column *column = &many.columns[0];
            bool null = row_set_is_null(&one.columns[0], i);
            assert_int_equal(row_set_is_null(column, i), null);
            if (!null)
                assert_memory_equal(
                    (char *)one.columns[0].values + (size_t)i * column->width,
                    (char *)column->values + (size_t)i * column->width,
                    column->width);
        }
        row_set_finish(&one);
        row_set_finish(&many);
        vector_finish(&f.partition);
        vector_finish(&f.order);
    }
    row_set_finish(&input);
}

/* ------------------------------------------------------------ in files -- */

enum { FUNCTIONS = 3 };

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

/* Whether a row of a batch has the value of a column. */
static void check_cell(const struct row_set_column *column, uint64_t row,
                       const struct vdbq_vector *vector, uint64_t at)
{
    bool null = vector->nulls != NULL && vector->nulls[at] != 0;
    assert_int_equal(null, row_set_is_null(column, (uint32_t)row));
    if (!null)
        assert_memory_equal((const char *)vector->values + at * column->width,
                            (char *)column->values + row * column->width,
                            column->width);
}

/* All rows of the input come in its order, with the results behind. */
static enum vdbq_status check_spill(struct window_spill *spill,
                                    const struct row_set *results)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = VDBQ_OK;
    uint64_t row = 0;
    while (status == VDBQ_OK && batch.rows > 0) {
        status = window_spill_batch(spill, &batch, &error);
        for (uint64_t i = 0; status == VDBQ_OK && i < batch.rows; i++, row++) {
            for (unsigned k = 0; k < RANDOM_COLUMNS; k++)
                check_cell(&input.columns[k], row, &batch.column[k], i);
            for (unsigned k = 0; k < FUNCTIONS; k++)
                check_cell(&results->columns[k], row,
                           &batch.column[RANDOM_COLUMNS + k], i);
        }
    }
    assert_true(status != VDBQ_OK || row == input.rows);
    return status;
}

/* Computes the windows in files, with little memory. */
static enum vdbq_status run_spill(const struct step_window *step,
                                  const struct step_column *columns,
                                  const struct row_set *results,
                                  uint64_t room_bytes)
{
    struct account_share memory = { .account = NULL };
    struct window_spill_params params = { .step = step,
                                          .columns = columns,
                                          .input_count = RANDOM_COLUMNS,
                                          .threads = 1,
                                          .room_bytes = room_bytes,
                                          .files = &full_disk,
                                          .memory = &memory };
    struct window_spill *spill;
    struct vdbq_vector vectors[RANDOM_COLUMNS];
    full_disk = os_memory_files;
    full_disk.write = write_some;
    enum vdbq_status status = window_spill_create(&params, &spill, &error);
    for (uint32_t at = 0, rows; status == VDBQ_OK && at < input.rows;
         at += rows) {
        uint32_t left = (uint32_t)input.rows - at;
        rows = 1 + random_below(500);
        rows = rows < left ? rows : left;
        struct vdbq_batch batch = random_batch(at, rows, vectors);
        status = window_spill_add(spill, &batch, &error);
    }
    if (status == VDBQ_OK)
        status = window_spill_end(spill, &error);
    if (status == VDBQ_OK)
        status = check_spill(spill, results);
    window_spill_destroy(spill);
    return status;
}

static void files_change_nothing(void **state)
{
    static const uint32_t counts[] = { 0, 1, 65, 3000 };
    static const uint64_t rooms[] = { 0, 32 << 10, 1 << 20 };
    (void)state;
    for (unsigned round = 0; round < 120; round++) {
        struct step_window_function functions[FUNCTIONS];
        struct step_window step = { .functions =
                                        VECTOR_OF(functions, FUNCTIONS) };
        struct window_params params = { .step = &step,
                                        .rows = &input,
                                        .columns = input_columns,
                                        .threads = 1 };
        struct step_column columns[RANDOM_COLUMNS + FUNCTIONS];
        struct row_set results;
        fill(counts[round % 4], 1 + random_below(round % 3 ? 30 : 100000));
        random_windows(functions, FUNCTIONS, input_columns, columns);
        assert_int_equal(
            row_set_init(&results, columns + RANDOM_COLUMNS, FUNCTIONS, &error),
            VDBQ_OK);
        assert_int_equal(window_run(&params, &results, &error), VDBQ_OK);
        assert_int_equal(
            run_spill(&step, columns, &results, rooms[round / 4 % 3]), VDBQ_OK);
        row_set_finish(&results);
        random_windows_finish(functions, FUNCTIONS);
    }
    row_set_finish(&input);
}

/* Wherever the disk gets full, or memory ends. */
static void files_may_fail(void **state)
{
    struct step_window_function functions[FUNCTIONS];
    struct step_window step = { .functions = VECTOR_OF(functions, FUNCTIONS) };
    struct window_params params = {
        .step = &step, .rows = &input, .columns = input_columns, .threads = 1
    };
    struct step_column columns[RANDOM_COLUMNS + FUNCTIONS];
    enum vdbq_status status = VDBQ_IO;
    struct row_set results;
    (void)state;
    fill(1500, 40);
    random_windows(functions, FUNCTIONS, input_columns, columns);
    assert_int_equal(
        row_set_init(&results, columns + RANDOM_COLUMNS, FUNCTIONS, &error),
        VDBQ_OK);
    assert_int_equal(window_run(&params, &results, &error), VDBQ_OK);
    for (unsigned n = 0; status == VDBQ_IO; n += 1 + n / 10) {
        writes_left = n;
        status = run_spill(&step, columns, &results, 16 << 10);
        if (status == VDBQ_IO)
            assert_non_null(strstr(error.hint, "VDBQ_MEMORY"));
    }
    writes_left = UINT32_MAX;
    assert_int_equal(status, VDBQ_OK);
    status = VDBQ_NO_MEMORY;
    for (unsigned n = 0; status == VDBQ_NO_MEMORY; n += 1 + n / 20) {
        memory_fail_after(n);
        status = run_spill(&step, columns, &results, 16 << 10);
        memory_fail_never();
    }
    assert_int_equal(status, VDBQ_OK);
    row_set_finish(&results);
    row_set_finish(&input);
    random_windows_finish(functions, FUNCTIONS);
}

static void missing_memory_is_told(void **state)
{
    struct step_window_function function = random_window();
    struct step_window step = { .functions = VECTOR_OF(&function, 1) };
    struct window_params params = {
        .step = &step, .rows = &input, .columns = input_columns, .threads = 1
    };
    struct step_column column = { .name = "a", .type = VDBQ_BIGINT };
    enum vdbq_status status = VDBQ_NO_MEMORY;

    (void)state;
    function.function = WINDOW_AGGREGATE;
    function.aggregate = (struct step_aggregate){ .function = AGGREGATE_SUM,
                                                  .column = 1,
                                                  .filter = RANDOM_FILTER,
                                                  .distinct = true };
    fill(2000, 1000);
    for (unsigned calls = 0; status != VDBQ_OK; calls++) {
        struct row_set results;
        memory_fail_after(calls);
        status = row_set_init(&results, &column, 1, &error);
        if (status == VDBQ_OK)
            status = window_run(&params, &results, &error);
        row_set_finish(&results);
        memory_fail_never();
        assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
    }
    vector_finish(&function.partition);
    vector_finish(&function.order);
    row_set_finish(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_as_naive_ones),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(files_change_nothing),
        cmocka_unit_test(files_may_fail),
        cmocka_unit_test(missing_memory_is_told)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
