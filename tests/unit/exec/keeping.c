/* SPDX-License-Identifier: MIT */
/*
 * Columns that a device copies, and their bounds: of all widths, from and to any row,
 * more than fit one call, looked at only, without rows. The variable VDBQ_TEST_DEVICE
 * names another device than "cpu".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cl/order.h"
#include "device/kernel.h"
#include "exec/launch/keeping.h"

enum { BYTES = 1 << 16, TRIES = 30, COLUMNS = 2 * KEEP_COLUMNS + 3 };

static struct device *device;
static struct device_memory *from, *to;
static uint8_t source[BYTES], wanted[BYTES], got[BYTES];
static struct error failure;

static void ok(enum vdbq_status status)
{
    if (status != VDBQ_OK)
        fail_msg("%s", failure.message);
}

static int open_device(void **state)
{
    const char *named = getenv("VDBQ_TEST_DEVICE");
    (void)state;
    if (device_open(
            &(struct device_params){ .choice = named != NULL ? named : "cpu" },
            &device, &failure)
        != VDBQ_OK)
        device = NULL;
    if (device == NULL)
        return 0;
    ok(device_memory_create(device, MEMORY_DEVICE, BYTES, &from, &failure));
    ok(device_memory_create(device, MEMORY_DEVICE, BYTES, &to, &failure));
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    device_memory_release(from);
    device_memory_release(to);
    device_close(device);
    return 0;
}

/* Both memories begin with random bytes and zeros. */
static struct keeping begin(struct device_times *times)
{
    for (unsigned i = 0; i < BYTES; i++)
        source[i] = (uint8_t)rand();
    memset(wanted, 0, BYTES);
    ok(device_write(from, 0, source, BYTES, times, &failure));
    ok(device_write(to, 0, wanted, BYTES, times, &failure));
    return (struct keeping){
        .device = device, .from = from, .to = to, .times = times
    };
}

/* Sends what was added, and compares all bytes. */
static void check(struct keeping *keeping)
{
    ok(keeping_send(keeping, &failure));
    ok(device_read(to, 0, got, BYTES, keeping->times, &failure));
    ok(device_calls_wait(device, keeping->times, &failure));
    for (unsigned i = 0; i < BYTES; i++)
        if (got[i] != wanted[i])
            fail_msg("byte %u is %u, not %u", i, got[i], wanted[i]);
}

static int64_t value_at(const struct keep_column *column, uint64_t row)
{
    int64_t wide;
    int32_t narrow;
    const uint8_t *at = source + column->from + row * column->width;
    memcpy(&wide, at, sizeof wide);
    memcpy(&narrow, at, sizeof narrow);
    return column->width == 8 ? wide : column->width == 4 ? narrow : *at;
}

/* Adds a column, and what is to come of it. */
static void add(struct keeping *keeping, const struct keep_column *column)
{
    const struct keep *keep = &keeping->keep;
    struct keep_bounds bounds = { 0 };
    ok(keeping_add(keeping, column, &failure));
    for (uint64_t i = 0; i < keep->count; i++) {
        u64 code = order_code(value_at(column, keep->first + i));
        bounds.least = ~code > bounds.least ? ~code : bounds.least;
        bounds.greatest = code > bounds.greatest ? code : bounds.greatest;
    }
    if (column->to != KEEP_NOWHERE)
        memcpy(wanted + column->to + keep->place * column->width,
               source + column->from + keep->first * column->width,
               keep->count * column->width);
    if (column->bounds > 0)
        memcpy(wanted + keep->bounds + (column->bounds - 1) * sizeof bounds,
               &bounds, sizeof bounds);
}

/* More columns than one call has, some of which nobody copies or asks. */
static void columns_are_copied_and_bounded(void **state)
{
    static const unsigned widths[] = { 1, 4, 8 };
    enum { EACH = 1600 };
    (void)state;
    if (device == NULL)
        skip();
    srand(1);
    for (unsigned n = 0; n < TRIES; n++) {
        struct device_times times = { 0 };
        struct keeping keeping = begin(&times);
        keeping.keep.first = (uint64_t)rand() % 20;
        keeping.keep.place = (uint64_t)rand() % 20;
        keeping.keep.count = n == 0 ? 0 : (uint64_t)rand() % 180;
        keeping.keep.bounds = COLUMNS * EACH;
        for (unsigned i = 0; i < COLUMNS; i++)
            add(&keeping,
                &(struct keep_column){
                    .from = (uint64_t)i * EACH,
                    .to = rand() % 5 == 0 ? KEEP_NOWHERE : (uint64_t)i * EACH,
                    .width = widths[rand() % 3],
                    .bounds = rand() % 2 == 0 ? i + 1 : 0 });
        check(&keeping);
    }
}

/* The ends of all integers are bounds like others. */
static void ends_are_bounds(void **state)
{
    static const int64_t ends[][2] = { { INT64_MIN, INT64_MIN },
                                       { INT64_MAX, INT64_MAX },
                                       { INT64_MIN, INT64_MAX },
                                       { -1, 0 } };
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct device_times times = { 0 };
        struct keeping keeping = begin(&times);
        memcpy(source, ends[i], sizeof ends[i]);
        ok(device_write(from, 0, source, BYTES, &times, &failure));
        keeping.keep = (struct keep){ .count = 2, .bounds = BYTES / 2 };
        add(&keeping,
            &(struct keep_column){ .to = 64, .width = 8, .bounds = 1 });
        check(&keeping);
        struct keep_bounds bounds;
        memcpy(&bounds, got + BYTES / 2, sizeof bounds);
        assert_true(order_of_code(~bounds.least) == ends[i][0]);
        assert_true(order_of_code(bounds.greatest) == ends[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_copied_and_bounded),
        cmocka_unit_test(ends_are_bounds),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
