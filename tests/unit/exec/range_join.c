/* SPDX-License-Identifier: MIT */
/*
 * Candidates by ranges against all pairs, one after the other: bounds that are
 * there or not, left out or not, on either side; integers of both widths and
 * floats, NULLs, spans that are empty; and any part of a row's candidates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "exec/join/range_join.h"
#include "fixtures/failing_memory.h"
#include "fixtures/random_rows.h"

/* Columns of random_rows.h that can be compared with each other. */
static const int integers[] = { 0, 1, 5, RANDOM_FILTER };
static const int floats[] = { 2, 2, 2, 2 };
static const int doubles[] = { 3, 3, 3, 3 };
static const int *const families[] = { integers, floats, doubles };

static struct row_set_column columns[2][RANDOM_COLUMNS];
static struct row_set sides[2];

/* The first rows are the left side, those behind them the right one. */
static void make_sides(uint32_t left, uint32_t right, uint32_t variety)
{
    random_fill(left + right, variety);
    for (unsigned i = 0; i < 2 * RANDOM_COLUMNS; i++) {
        unsigned side = i % 2, at = i / 2;
        uint32_t first = side > 0 ? left : 0;
        unsigned width = row_set_width(random_types[at]);
        columns[side][at] =
            (struct row_set_column){ .type = random_types[at],
                                     .width = width,
                                     .values = (char *)random_values[at]
                                               + (size_t)first * width,
                                     .nulls = random_nulls[at] + first };
    }
    sides[0] = (struct row_set){ .rows = left,
                                 .columns = columns[0],
                                 .column_count = RANDOM_COLUMNS };
    sides[1] = (struct row_set){ .rows = right,
                                 .columns = columns[1],
                                 .column_count = RANDOM_COLUMNS };
}

static struct step_range_join random_range_join(void)
{
    const int *family = families[random_below(3)];
    struct step_range_join range = { .side = random_below(2) ? RANGE_JOIN_LEFT
                                                             : RANGE_JOIN_RIGHT,
                                     .column = family[random_below(4)],
                                     .low = family[random_below(4)],
                                     .high = family[random_below(4)],
                                     .low_open = random_below(2) == 0,
                                     .high_open = random_below(2) == 0 };
    uint32_t missing = random_below(4);

    if (missing == 0)
        range.low = -1;
    if (missing == 1)
        range.high = -1;
    return range;
}

/* -1, 0, 1: what is at `a` before, like, behind what is at `b`. */
static int compare(const struct row_set_column *a, uint32_t row,
                   const struct row_set_column *b, uint32_t other)
{
    if (a->type == VDBQ_FLOAT || a->type == VDBQ_DOUBLE) {
        double x = row_set_real(a, row), y = row_set_real(b, other);
        return (x > y) - (x < y);
    }
    int64_t x = row_set_integer(a, row), y = row_set_integer(b, other);
    return (x > y) - (x < y);
}

static bool is_pair(const struct step_range_join *range, uint32_t left,
                    uint32_t right)
{
    unsigned side = range->side == RANGE_JOIN_RIGHT;
    uint32_t row = side ? right : left, other = side ? left : right;
    const struct row_set_column *of = &columns[side][range->column];
    const struct row_set_column *by = columns[!side];

    if (row_set_is_null(of, row))
        return false;
    if (range->low >= 0
        && (row_set_is_null(&by[range->low], other)
            || compare(of, row, &by[range->low], other) < range->low_open))
        return false;
    return range->high < 0
           || (!row_set_is_null(&by[range->high], other)
               && compare(of, row, &by[range->high], other)
                      <= -(int)range->high_open);
}

/* A part of what a row finds, too. */
static void check_row(const struct range_join *range, uint32_t left,
                      uint32_t start, uint32_t count)
{
    uint32_t *rows = malloc((count + 1) * sizeof *rows), n = 0;
    struct range_join_run run = { left, start, count, 0, count };

    range_join_write(range, &sides[0], &run, rows);
    for (uint32_t right = 0; right < sides[1].rows; right++)
        if (is_pair(&range->range, left, right)) {
            assert_true(n < count);
            assert_int_equal(rows[n], right);
            n++;
        }
    assert_int_equal(n, count);
    if (count > 0) {
        uint32_t *part = malloc((count + 1) * sizeof *part);
        run.skip = random_below(count);
        run.wanted = 1 + random_below(count - run.skip);
        range_join_write(range, &sides[0], &run, part);
        assert_memory_equal(part, rows + run.skip, run.wanted * sizeof *part);
        free(part);
    }
    free(rows);
}

static void check_range_join(const struct step_range_join *step, uint32_t every)
{
    uint32_t rows = (uint32_t)sides[0].rows;
    uint32_t *starts = malloc((rows + 1) * sizeof *starts);
    uint32_t *counts = malloc((rows + 1) * sizeof *counts);
    struct error error = { 0 };
    struct range_join range;

    assert_int_equal(
        range_join_init(
            &range, &(struct range_join_params){ step, &sides[1], 2 }, &error),
        VDBQ_OK);
    range_join_find(&range, &sides[0], 0, rows, starts, counts);
    for (uint32_t i = 0; i < rows; i += every)
        check_row(&range, i, starts[i], counts[i]);
    range_join_finish(&range);
    free(starts);
    free(counts);
}

static void bands_are_all_pairs(void **state)
{
    static const uint32_t varieties[] = { 2, 30, 5000, 1000000 };

    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        uint32_t left = random_below(60), right = random_below(300);
        struct step_range_join range = random_range_join();
        make_sides(left, i % 10 == 0 ? 0 : right, varieties[i % 4]);
        check_range_join(&range, 1);
    }
}

/* More candidates than are sorted at once, and than threads are made for. */
static void long_lists_are_cut(void **state)
{
    static const uint32_t varieties[] = { 2, 100, 1000000 };

    (void)state;
    for (unsigned i = 0; i < 24; i++) {
        struct step_range_join range = random_range_join();
        make_sides(60, 100000, varieties[i % 3]);
        check_range_join(&range, 7);
    }
}

static void memory_may_end(void **state)
{
    (void)state;
    make_sides(10, 1000, 500);
    for (unsigned i = 0; i < 24; i++) {
        struct step_range_join step = random_range_join();
        struct error error = { 0 };
        struct range_join range;
        enum vdbq_status status;
        memory_fail_after(i / 2);
        status = range_join_init(
            &range, &(struct range_join_params){ &step, &sides[1], 1 }, &error);
        memory_fail_never();
        assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
        range_join_finish(&range);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_all_pairs),
        cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(memory_may_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
