/* SPDX-License-Identifier: MIT */
/*
 * Quantiles of partitions against naive ones, for all rows and for the first row
 * of each partition, by one thread and by several; those of all rows, and of first
 * rows, in files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "exec/window/window_firsts.h"
#include "exec/window/window_parts.h"
#include "exec/window/window_select.h"
#include "fixtures/chance.h"
#include "fixtures/failing_memory.h"
#include "fixtures/random_rows.h"

enum { FUNCTIONS = 4 };

static struct row_set input;
static struct step_column columns[RANDOM_COLUMNS];
static struct error error;

static void fill(uint32_t rows, uint32_t variety)
{
    assert_int_equal(random_row_set(rows, variety, columns, &input, &error),
                     VDBQ_OK);
}

/* Quantiles with the same partition: their order is that of their values. */
static void make(struct step_window_function *functions)
{
    static const double shares[] = { 0, 0.1, 0.5, 0.77, 1 };
    unsigned keys = random_below(3), first = random_below(RANDOM_COLUMNS);

    for (unsigned i = 0; i < FUNCTIONS; i++) {
        struct step_window_function *f = &functions[i];
        double share = shares[random_below(5)];
        *f = (struct step_window_function){
            .function = (enum window_function)(WINDOW_QUANTILE_BELOW + i),
            .aggregate = { .column = (int)random_below(RANDOM_COLUMNS),
                           .filter = -1 },
            .fallback = -1,
            .partition = VECTOR(int),
            .order = VECTOR(struct step_key)
        };
        memcpy(&f->offset, &share, sizeof share);
        for (unsigned k = 0; k < keys; k++)
            *(int *)vector_add(&f->partition) =
                (int)((first + k) % RANDOM_COLUMNS);
        *(struct step_key *)vector_add(&f->order) =
            (struct step_key){ .column = f->aggregate.column,
                               .nulls_last = true };
    }
}

static void finish(struct step_window_function *functions)
{
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        vector_finish(&functions[i].partition);
        vector_finish(&functions[i].order);
    }
}

/* The columns that they give. */
static void describe(const struct step_window *step, struct step_column *made)
{
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const struct step_window_function *f = vector_at(&step->functions, i);
        made[i] = (struct step_column){ .name = "r", .type = VDBQ_DOUBLE };
        if (f->function != WINDOW_QUANTILE_PART)
            made[i].type = random_types[f->aggregate.column];
    }
}

/* Runs them; `firsts` may be NULL. */
static enum vdbq_status run(const struct step_window *step, unsigned threads,
                            struct window_firsts *firsts,
                            struct row_set *results)
{
    struct step_column made[FUNCTIONS];
    struct window_params params = { .step = step,
                                    .rows = &input,
                                    .columns = columns,
                                    .firsts = firsts,
                                    .threads = threads };

    describe(step, made);
    if (row_set_init(results, made, FUNCTIONS, &error) != VDBQ_OK)
        return error.status;
    return window_run(&params, results, &error);
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

/* The rows of a partition that have a value, in the order of values. */
static uint32_t values_of(const struct step_window_function *f, uint32_t row,
                          uint32_t *rows)
{
    unsigned column = (unsigned)f->aggregate.column;
    uint32_t count = 0;

    for (uint32_t i = 0; i < input.rows; i++) {
        uint32_t at = count;
        if (!same_partition(f, row, i) || random_null(column, i))
            continue;
        for (; at > 0
               && random_less(column, random_real(column, i),
                              random_integer(column, i),
                              random_real(column, rows[at - 1]),
                              random_integer(column, rows[at - 1]));
             at--)
            rows[at] = rows[at - 1];
        rows[at] = i;
        count++;
    }
    return count;
}

/* The place of the value that a function takes of n. */
static uint32_t place_of(enum window_function function, double share, double n)
{
    double at = n - floor(n - share * n);

    if (function == WINDOW_QUANTILE_VALUE)
        return at < 1 ? 0 : (uint32_t)at - 1;
    return (uint32_t)(function == WINDOW_QUANTILE_BELOW
                          ? floor((n - 1) * share)
                          : ceil((n - 1) * share));
}

static void check_row(const struct step_window_function *f,
                      const struct row_set_column *result, uint32_t row)
{
    uint32_t rows[256], count = values_of(f, row, rows);
    const char *values = random_values[f->aggregate.column];
    double share, part;

    memcpy(&share, &f->offset, sizeof share);
    part = (count - 1.0) * share - floor((count - 1.0) * share);
    assert_int_equal(row_set_is_null(result, row), count == 0);
    if (count > 0 && f->function == WINDOW_QUANTILE_PART)
        assert_memory_equal((double *)result->values + row, &part, sizeof part);
    else if (count > 0)
        assert_memory_equal(
            (char *)result->values + (size_t)row * result->width,
            values
                + (size_t)rows[place_of(f->function, share, count)]
                      * result->width,
            result->width);
}

/* --------------------------------------------------------------- tests -- */

/* Checks that two values are the same, to the bit. */
static void check_value(const struct row_set_column *a, uint32_t row,
                        const struct row_set_column *b, uint32_t of)
{
    assert_int_equal(row_set_is_null(a, row), row_set_is_null(b, of));
    if (!row_set_is_null(a, row))
        assert_memory_equal((char *)a->values + (size_t)row * a->width,
                            (char *)b->values + (size_t)of * b->width,
                            a->width);
}

/* Row `row` of some results has what row `of` of all has. */
static void check_same(const struct row_set *some, uint32_t row,
                       const struct row_set *all, uint32_t of)
{
    for (unsigned i = 0; i < FUNCTIONS; i++)
        check_value(&some->columns[i], row, &all->columns[i], of);
}

/* Whether a row is the first one of its partition. */
static bool is_first(const struct step_window_function *f, uint32_t row)
{
    uint32_t i = 0;

    while (!same_partition(f, i, row))
        i++;
    return i == row;
}

static void quantiles_are_as_naive_ones(void **state)
{
    static const uint32_t counts[] = { 0, 1, 2, 63, 120 };

    (void)state;
    for (unsigned round = 0; round < fewer(300); round++) {
        struct step_window_function functions[FUNCTIONS];
        struct step_window step = { .functions =
                                        VECTOR_OF(functions, FUNCTIONS) };
        struct window_firsts firsts = { 0 };
        struct row_set all, some;
        uint32_t at = 0;
        fill(counts[round % 5], 1 + random_below(30));
        make(functions);
        assert_int_equal(run(&step, 1 + round % 2, NULL, &all), VDBQ_OK);
        assert_int_equal(run(&step, 1 + round % 3, &firsts, &some), VDBQ_OK);
        assert_int_equal(all.rows, input.rows);
        for (uint32_t row = 0; row < input.rows; row++) {
            for (unsigned i = 0; i < FUNCTIONS; i++)
                check_row(&functions[i], &all.columns[i], row);
            if (is_first(functions, row)) {
                assert_int_equal(firsts.rows[at], row);
                check_same(&some, at++, &all, row);
            }
        }
        assert_int_equal(some.rows, at);
        window_firsts_finish(&firsts);
        row_set_finish(&all);
        row_set_finish(&some);
        finish(functions);
    }
    row_set_finish(&input);
}

/* Partitions that lie in the shares of several threads, and many small ones. */
static void threads_change_nothing(void **state)
{
    enum { ROWS = 120000 };
    static const uint32_t variety[] = { 1, 3, 300, 1000000000 };

    (void)state;
    for (unsigned round = 0; round < fewer(24); round++) {
        struct step_window_function functions[FUNCTIONS];
        struct step_window step = { .functions =
                                        VECTOR_OF(functions, FUNCTIONS) };
        struct window_firsts firsts = { 0 };
        struct row_set all, some;
        fill(ROWS, variety[round % 4]);
        make(functions);
        assert_int_equal(run(&step, 1, NULL, &all), VDBQ_OK);
        assert_int_equal(run(&step, 2 + round % 6, &firsts, &some), VDBQ_OK);
        assert_int_equal(some.rows, firsts.count);
        for (uint32_t i = 0; i < firsts.count; i++) {
            assert_true(i == 0 || firsts.rows[i] > firsts.rows[i - 1]);
            check_same(&some, i, &all, firsts.rows[i]);
        }
        window_firsts_finish(&firsts);
        row_set_finish(&all);
        row_set_finish(&some);
        finish(functions);
    }
    row_set_finish(&input);
}

/* The columns of the input, then those that the functions give. */
static void describe_all(const struct step_window *step,
                         struct step_column *all)
{
    memcpy(all, columns, sizeof columns);
    describe(step, all + RANDOM_COLUMNS);
}

/* Quantiles of all rows, which come in batches, with so much memory. */
static enum vdbq_status run_select(const struct step_window *step,
                                   uint64_t room_bytes, struct row_set *rows)
{
    struct account_share memory = { .account = NULL };
    struct step_column all[RANDOM_COLUMNS + FUNCTIONS];
    const struct window_select_params params = { .step = step,
                                                 .columns = all,
                                                 .column_count = RANDOM_COLUMNS,
                                                 .threads = 3,
                                                 .room_bytes = room_bytes,
                                                 .files = &os_memory_files,
                                                 .memory = &memory };
    struct window_select *select;
    struct vdbq_vector vectors[RANDOM_COLUMNS];
    struct vdbq_batch batch = { .rows = 1 };
    describe_all(step, all);
    if (row_set_init(rows, all, RANDOM_COLUMNS + FUNCTIONS, &error) != VDBQ_OK)
        return error.status;
    enum vdbq_status status = window_select_create(&params, &select, &error);
    for (uint32_t at = 0, count; status == VDBQ_OK && at < input.rows;
         at += count) {
        count = 1 + random_below(9000);
        count = count < input.rows - at ? count : (uint32_t)input.rows - at;
        batch = random_batch(at, count, vectors);
        status = window_select_add(select, &batch, &error);
    }
    if (status == VDBQ_OK)
        status = window_select_end(select, &error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = window_select_batch(select, &batch, &error);
        if (status == VDBQ_OK)
            status = row_set_append(rows, &batch, 1, &error);
    }
    window_select_destroy(select);
    return status;
}

/* Checks that a row of the input, all its columns, is that row. */
static void check_input(const struct row_set *rows, uint32_t row, uint32_t of)
{
    for (unsigned i = 0; i < RANDOM_COLUMNS; i++)
        check_value(&rows->columns[i], row, &input.columns[i], of);
}

/* Checks that rows from files, with their quantiles, are those of memory. */
static void check_rows(const struct step_window *step,
                       const struct row_set *rows)
{
    struct window_firsts firsts = { 0 };
    struct row_set wanted, results = *rows;
    results.columns += RANDOM_COLUMNS;
    assert_int_equal(run(step, 1, step->firsts ? &firsts : NULL, &wanted),
                     VDBQ_OK);
    assert_int_equal(rows->rows, wanted.rows);
    for (uint32_t i = 0; i < wanted.rows; i++) {
        check_input(rows, i, step->firsts ? firsts.rows[i] : i);
        check_same(&results, i, &wanted, i);
    }
    window_firsts_finish(&firsts);
    row_set_finish(&wanted);
}

/* Functions over all rows, in either order. */
static void make_whole(struct step_window_function *functions)
{
    make(functions);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        functions[i].partition.count = 0;
        ((struct step_key *)functions[i].order.items)->descending =
            random_below(2) == 1;
    }
}

/* Of few values many are alike; sorted ones are all behind the first batch. */
static void selected_ones_are_the_same(void **state)
{
    static const uint32_t counts[] = { 1, 2, 700, 20000, 120000 };
    static const uint32_t variety[] = { 1, 3, 300, 1000000000 };
    static const uint64_t rooms[] = { 1 << 8, 1 << 14, 1 << 21 };

    (void)state;
    for (unsigned round = 0; round < fewer(60); round++) {
        struct step_window_function functions[FUNCTIONS];
        struct step_window step = { .functions =
                                        VECTOR_OF(functions, FUNCTIONS),
                                    .firsts = random_below(2) == 0 };
        struct row_set rows;
        fill(counts[round % 5], variety[round % 4]);
        make_whole(functions);
        assert_true(window_select_can(&step));
        assert_int_equal(run_select(&step, rooms[round % 3], &rows), VDBQ_OK);
        check_rows(&step, &rows);
        row_set_finish(&rows);
        finish(functions);
    }
    row_set_finish(&input);
}

/* Functions that have partitions. */
static void make_parted(const struct step_window *step,
                        struct step_window_function *functions)
{
    make(functions);
    while (!window_parts_can(step)) {
        finish(functions);
        make(functions);
    }
}

/* Rows with their quantiles, with so much memory; the rows come in batches. */
static enum vdbq_status run_parts(const struct step_window *step,
                                  uint64_t room_bytes, struct row_set *rows)
{
    struct account_share memory = { .account = NULL };
    struct step_column all[RANDOM_COLUMNS + FUNCTIONS];
    const struct window_spill_params params = { .step = step,
                                                .columns = all,
                                                .input_count = RANDOM_COLUMNS,
                                                .threads = 2,
                                                .room_bytes = room_bytes,
                                                .files = &os_memory_files,
                                                .memory = &memory };
    struct window_parts *parts;
    struct vdbq_vector vectors[RANDOM_COLUMNS];
    struct vdbq_batch batch = { .rows = 1 };
    describe_all(step, all);
    if (row_set_init(rows, all, RANDOM_COLUMNS + FUNCTIONS, &error) != VDBQ_OK)
        return error.status;
    enum vdbq_status status = window_parts_create(&params, &parts, &error);
    for (uint32_t at = 0, count; status == VDBQ_OK && at < input.rows;
         at += count) {
        count = 1 + random_below(20000);
        count = count < input.rows - at ? count : (uint32_t)input.rows - at;
        batch = random_batch(at, count, vectors);
        status = window_parts_add(parts, &batch, &error);
    }
    if (status == VDBQ_OK)
        status = window_parts_end(parts, &error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = window_parts_batch(parts, &batch, &error);
        if (status == VDBQ_OK)
            status = row_set_append(rows, &batch, 1, &error);
    }
    window_parts_destroy(parts);
    return status;
}

/* Few partitions have more rows than fit, many ones are computed together. */
static void rows_in_files_are_the_same(void **state)
{
    static const uint32_t counts[] = { 1, 2, 700, 20000, 120000 };
    static const uint32_t variety[] = { 1, 3, 300, 1000000000 };
    static const uint64_t rooms[] = { 1 << 8, 1 << 16, 1 << 21 };

    (void)state;
    for (unsigned round = 0; round < fewer(60); round++) {
        struct step_window_function functions[FUNCTIONS];
        struct step_window step = { .functions =
                                        VECTOR_OF(functions, FUNCTIONS),
                                    .firsts = random_below(2) == 0 };
        struct row_set rows;
        fill(counts[round % 5], variety[round % 4]);
        make_parted(&step, functions);
        assert_int_equal(run_parts(&step, rooms[round % 3], &rows), VDBQ_OK);
        check_rows(&step, &rows);
        row_set_finish(&rows);
        finish(functions);
    }
    row_set_finish(&input);
}

static void missing_memory_for_first_rows_is_told(void **state)
{
    struct step_window_function functions[FUNCTIONS];
    struct step_window step = { .functions = VECTOR_OF(functions, FUNCTIONS),
                                .firsts = true };
    enum vdbq_status status = VDBQ_NO_MEMORY;

    (void)state;
    fill(3000, 30);
    make_parted(&step, functions);
    for (unsigned calls = 0; status != VDBQ_OK; calls += 7) {
        struct row_set rows = { 0 };
        memory_fail_after(calls);
        status = run_parts(&step, 1 << 14, &rows);
        memory_fail_never();
        row_set_finish(&rows);
        assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
    }
    finish(functions);
    row_set_finish(&input);
}

static void missing_memory_to_select_is_told(void **state)
{
    struct step_window_function functions[FUNCTIONS];
    struct step_window step = { .functions = VECTOR_OF(functions, FUNCTIONS) };
    enum vdbq_status status = VDBQ_NO_MEMORY;

    (void)state;
    fill(3000, 100);
    make_whole(functions);
    for (unsigned calls = 0; status != VDBQ_OK; calls += 7) {
        struct row_set rows = { 0 };
        memory_fail_after(calls);
        status = run_select(&step, 1 << 14, &rows);
        memory_fail_never();
        row_set_finish(&rows);
        assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
    }
    finish(functions);
    row_set_finish(&input);
}

static void missing_memory_is_told(void **state)
{
    struct step_window_function functions[FUNCTIONS];
    struct step_window step = { .functions = VECTOR_OF(functions, FUNCTIONS) };
    enum vdbq_status status = VDBQ_NO_MEMORY;

    (void)state;
    fill(2000, 100);
    make(functions);
    for (unsigned calls = 0; status != VDBQ_OK; calls++) {
        struct window_firsts firsts = { 0 };
        struct row_set results = { 0 };
        memory_fail_after(calls);
        status = run(&step, 1, &firsts, &results);
        memory_fail_never();
        row_set_finish(&results);
        window_firsts_finish(&firsts);
        assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
    }
    finish(functions);
    row_set_finish(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_as_naive_ones),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(selected_ones_are_the_same),
        cmocka_unit_test(missing_memory_to_select_is_told),
        cmocka_unit_test(rows_in_files_are_the_same),
        cmocka_unit_test(missing_memory_for_first_rows_is_told),
        cmocka_unit_test(missing_memory_is_told)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
