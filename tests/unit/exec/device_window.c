/* SPDX-License-Identifier: MIT */
/*
 * Windows on a device against those of the host, bit for bit: random functions of
 * random rows, of any number, in one partition or many; sums that do not fit; memory
 * that ends. By groups of one item, as CPUs have them, and of several. The variable
 * VDBQ_TEST_DEVICE names another device than "cpu"; the simulator Oclgrind, a
 * thousand times slower, is dealt some of the cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/backend.h"
#include "device/kind.h"
#include "exec/window/device_window.h"
#include "exec/window/window.h"
#include "fixtures/device_rig.h"
#include "fixtures/failing_memory.h"
#include "fixtures/random_rows.h"
#include "fixtures/window/random_windows.h"

enum { FUNCTIONS = 3, COLUMNS = RANDOM_COLUMNS + FUNCTIONS, WIDE_ITEMS = 32 };

static struct device *device;
static struct device_kind kind; /* its own */
static struct row_set input;
static struct step_column columns[COLUMNS];
static struct error failure;

static void ok(enum vdbq_status status)
{
    if (status != VDBQ_OK)
        fail_msg("%s", failure.message);
}

/* A device whose groups have so many items. */
static int open_items(unsigned items)
{
    if (device_open(&(struct device_params){ .choice = rig_tested() }, &device,
                    &failure)
        != VDBQ_OK)
        device = NULL;
    if (device == NULL)
        return 0;
    kind = *device->facts.kind;
    kind.group_items = items > 0 ? items : kind.group_items;
    device->facts.kind = &kind;
    return 0;
}

static int open_device(void **state)
{
    (void)state;
    return open_items(0);
}

static int open_wide(void **state)
{
    (void)state;
    return open_items(WIDE_ITEMS);
}

static int close_device(void **state)
{
    (void)state;
    row_set_finish(&input);
    device_close(device);
    return 0;
}

static bool is_simulator(void)
{
    return strcmp(rig_tested(), "oclgrind") == 0;
}

/* So many cases; of the simulator some of them. */
static unsigned rounds(unsigned all)
{
    return is_simulator() ? all / 40 : all;
}

/* What is known of the input's columns: sometimes in what range they are. */
static void describe(struct device_column *known)
{
    for (unsigned i = 0; i < RANDOM_COLUMNS; i++) {
        known[i] =
            (struct device_column){ .type = random_types[i],
                                    .nullable = input.columns[i].nulls != NULL,
                                    .ranged = !random_is_float(i)
                                              && random_below(2) == 0 };
        for (uint32_t row = 0; row < input.rows; row++) {
            int64_t value = random_integer(i, row);
            if (random_null(i, row))
                continue;
            known[i].low = value < known[i].low ? value : known[i].low;
            known[i].high = value > known[i].high ? value : known[i].high;
        }
    }
}

/* Has the device compute the functions of the input, which it gets. */
static enum vdbq_status run(const struct step_window *step,
                            struct device_rows *rows)
{
    const struct run_place place = { .device = device };
    unsigned made = (unsigned)step->functions.count;
    struct device_column *known = memory_zeroed(COLUMNS, sizeof *known);
    if (known != NULL) {
        describe(known);
        device_window_describe(step, columns, known, input.rows, RANDOM_COLUMNS,
                               known + RANDOM_COLUMNS);
    }
    enum vdbq_status status =
        device_rows_init(rows, &place, known, RANDOM_COLUMNS + made, &failure);
    rows->store.made_count = made;
    if (status == VDBQ_OK)
        status = device_store_fill(&rows->store, &input, &failure);
    if (status == VDBQ_OK)
        status = device_rows_settle(rows, &failure);
    return status == VDBQ_OK ? device_window_run(
               &(struct device_window_params){ .step = step,
                                               .columns = columns,
                                               .input_count = RANDOM_COLUMNS },
               rows, &failure)
                             : status;
}

/* Compares a column with the host's. */
static void check_column(const struct vdbq_vector *got,
                         const struct row_set_column *wanted)
{
    for (uint32_t row = 0; row < input.rows; row++) {
        bool null = got->nulls != NULL && got->nulls[row] != 0;
        size_t at = (size_t)row * wanted->width;
        if (null != row_set_is_null(wanted, row))
            fail_msg("row %u is %sNULL", row, null ? "" : "not ");
        if (!null
            && memcmp((const char *)got->values + at,
                      (const char *)wanted->values + at, wanted->width)
                   != 0)
            fail_msg("row %u is another", row);
    }
}

/* The rows of a device are the input's, with the host's results. */
static void check_rows(const struct device_rows *rows,
                       const struct row_set *results)
{
    struct device_fetch fetch;
    struct sink_rows all = device_rows_all(rows);
    struct vdbq_batch batch = { .columns = rows->store.column_count };
    ok(device_fetch_init(&fetch, device, batch.columns, &failure));
    if (all.count > 0) {
        ok(device_fetch_rows(&fetch, rows->columns, NULL, &all, &batch,
                             &failure));
        for (unsigned i = 0; i < RANDOM_COLUMNS; i++)
            check_column(&batch.column[i], &input.columns[i]);
        for (unsigned i = 0; i < results->column_count; i++)
            check_column(&batch.column[RANDOM_COLUMNS + i],
                         &results->columns[i]);
    }
    assert_int_equal(all.count, input.rows);
    device_fetch_finish(&fetch);
}

/* The host's results, and whether they are a failure. */
static enum vdbq_status run_host(const struct step_window *step,
                                 struct row_set *results)
{
    ok(row_set_init(results, columns + RANDOM_COLUMNS,
                    (unsigned)step->functions.count, &failure));
    return window_run(
        &(struct window_params){
            .step = step, .rows = &input, .columns = columns, .threads = 1 },
        results, &failure);
}

/* Runs functions on both; `*ran` counts those that a device computes. */
static void compare(const struct step_window *step, unsigned *ran)
{
    struct row_set results;
    struct device_rows rows = { .columns = NULL };
    if (!device_window_does(step, columns))
        return;
    ++*ran;
    enum vdbq_status status = run_host(step, &results);
    assert_int_equal(run(step, &rows), status);
    if (status == VDBQ_OK)
        check_rows(&rows, &results);
    device_rows_finish(&rows);
    row_set_finish(&results);
}

/* One function at a time: a device does not compute all of them. */
static void functions_are_as_the_host_has_them(void **state)
{
    static const uint32_t counts[] = { 0, 1, 5000, 63, 300, 2 };
    unsigned ran = 0;
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned round = 0; round < rounds(400); round++) {
        struct step_window_function function;
        struct step_window step = { .functions = VECTOR_OF(&function, 1) };
        uint32_t rows = counts[round % 6];
        rows = is_simulator() && rows > 500 ? 500 : rows;
        ok(random_row_set(rows, 1 + random_below(round % 5 ? 30 : 100000),
                          columns, &input, &failure));
        random_windows(&function, 1, columns, columns);
        compare(&step, &ran);
        random_windows_finish(&function, 1);
    }
    assert_true(ran > rounds(160));
}

/* Several at once, some with one window: their orders do not get mixed up. */
static void functions_share_a_sort(void **state)
{
    unsigned ran = 0;
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned round = 0; round < rounds(300); round++) {
        struct step_window_function functions[FUNCTIONS];
        struct step_window step = { .functions =
                                        VECTOR_OF(functions, FUNCTIONS) };
        ok(random_row_set(1 + random_below(700), 1 + random_below(30), columns,
                          &input, &failure));
        random_windows(functions, FUNCTIONS, columns, columns);
        compare(&step, &ran);
        random_windows_finish(functions, FUNCTIONS);
    }
    assert_true(ran > rounds(40));
}

/* The first column that has values of 64 bits. */
static int wide_column(void)
{
    int column = 0;
    while (random_types[column] != VDBQ_BIGINT)
        column++;
    return column;
}

/* A sum that does not fit 64 bits is a failure, where some row has it; halves of it
 * and means are not. */
static void great_sums(void **state)
{
    static const enum aggregate_function aggregates[] = {
        AGGREGATE_SUM, AGGREGATE_AVG, AGGREGATE_TOTAL, AGGREGATE_SUM_LOW,
        AGGREGATE_SUM_HIGH
    };
    int column = wide_column();
    unsigned ran = 0;
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned round = 0; round < rounds(100); round++) {
        struct step_window_function function;
        struct step_window step = { .functions = VECTOR_OF(&function, 1) };
        ok(random_row_set(2 + random_below(90), 30, columns, &input, &failure));
        random_windows(&function, 1, columns, columns);
        function.function = WINDOW_AGGREGATE;
        function.aggregate = (struct step_aggregate){
            .function = aggregates[round % 5], .column = column, .filter = -1
        };
        columns[RANDOM_COLUMNS].type =
            round % 5 == 1 || round % 5 == 2 ? VDBQ_DOUBLE : VDBQ_BIGINT;
        for (uint32_t row = 0; row < input.rows; row++)
            ((int64_t *)input.columns[column].values)[row] =
                ((int64_t *)random_values[column])[row] =
                    random_below(2) ? INT64_MAX - random_below(3)
                                    : INT64_MIN + random_below(3);
        compare(&step, &ran);
        random_windows_finish(&function, 1);
    }
    assert_int_equal(ran, rounds(100));
}

/* Wherever memory ends, that is told. */
static void missing_memory_is_told(void **state)
{
    struct step_window_function functions[FUNCTIONS];
    struct step_window step = { .functions = VECTOR_OF(functions, FUNCTIONS) };
    enum vdbq_status status = VDBQ_NO_MEMORY;
    (void)state;
    if (device == NULL)
        skip();
    ok(random_row_set(200, 20, columns, &input, &failure));
    random_windows(functions, FUNCTIONS, columns, columns);
    while (!device_window_does(&step, columns)) {
        random_windows_finish(functions, FUNCTIONS);
        random_windows(functions, FUNCTIONS, columns, columns);
    }
    for (unsigned n = 0; status == VDBQ_NO_MEMORY;
         n += 1 + n / (is_simulator() ? 1 : 20)) {
        struct device_rows rows = { .columns = NULL };
        memory_fail_after(n);
        status = run(&step, &rows);
        memory_fail_never();
        device_rows_finish(&rows);
    }
    assert_int_equal(status, VDBQ_OK);
    random_windows_finish(functions, FUNCTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_as_the_host_has_them),
        cmocka_unit_test(functions_share_a_sort),
        cmocka_unit_test(great_sums),
        cmocka_unit_test(missing_memory_is_told),
    };
    return cmocka_run_group_tests(tests, open_device, close_device)
           + cmocka_run_group_tests(tests, open_wide, close_device);
}
