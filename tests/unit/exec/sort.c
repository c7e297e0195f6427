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

#include <stdlib.h>
#include <string.h>

#include "exec/sort/sort.h"
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

static void check_order(uint32_t rows, unsigned threads)
{
    struct row_set_column columns[RANDOM_COLUMNS];
    struct row_set row_set = view(rows, columns);
    struct sort_key made[KEYS_MAX];
    uint32_t *wanted = naive_order(rows);
    uint32_t *order = malloc((rows + 1) * sizeof *order);
    struct error error;

    sort_keys(&row_set, keys, key_count, made);
    assert_int_equal(sort_order(made, key_count, rows, threads, order, &error),
                     VDBQ_OK);
    assert_memory_equal(order, wanted, rows * sizeof *order);
    free(wanted);
    free(order);
}

static void orders_are_as_naive_ones(void **state)
{
    static const uint32_t counts[] = { 0, 1, 2, 63, 64, 65, 300, 5000 };
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
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
    for (unsigned round = 0; round < 40; round++) {
        random_fill(100, 10);
        for (unsigned i = 0; i < 100; i++)
            ((int64_t *)random_values[1])[i] = some[random_below(7)];
        random_keys();
        keys[random_below(key_count)].column = 1;
        check_order(100, 1);
    }
}

/* ------------------------------------------------------- the first rows -- */

static void check_top(uint32_t rows, uint64_t limit, uint32_t batch)
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
                                   RANDOM_COLUMNS, &error),
                     VDBQ_OK);
    for (uint32_t at = 0; at < rows; at += batch) {
        struct vdbq_batch given =
            random_batch(at, rows - at < batch ? rows - at : batch, vectors);
        assert_int_equal(sort_top_add(&top, &given, &error), VDBQ_OK);
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
    for (unsigned round = 0; round < 60; round++) {
        uint32_t rows = round % 5 ? 20000 : 65;
        random_fill(rows, 1 + random_below(round % 3 ? 40 : 2000000000));
        random_keys();
        check_top(rows, limits[round % 6], 1 + random_below(5000));
    }
}

static void missing_memory_is_told(void **state)
{
    struct step_column column = { .name = "x", .type = VDBQ_INTEGER };
    struct step_key key = { 0, true, false };
    struct vdbq_vector vectors[RANDOM_COLUMNS];
    enum vdbq_status status = VDBQ_NO_MEMORY;
    struct error error;

    (void)state;
    random_fill(5000, 1000);
    for (unsigned calls = 0; status != VDBQ_OK; calls++) {
        struct vdbq_batch batch = random_batch(0, 5000, vectors);
        struct sort_top top;
        memory_fail_after(calls);
        status = sort_top_init(&top, &key, 1, 10, &column, 1, &error);
        if (status == VDBQ_OK)
            status = sort_top_add(&top, &batch, &error);
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
        cmocka_unit_test(first_rows_are_those_of_the_order),
        cmocka_unit_test(missing_memory_is_told)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
