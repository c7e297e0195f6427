/* SPDX-License-Identifier: MIT */
/*
 * Sorting elements on a device: those that there is room for, or fewer, which
 * are shared out in other spans. The variable VDBQ_TEST_DEVICE names another
 * device than "cpu".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exec/sort/device_radix.h"

enum { TRIES = 40, BITS = 13, ITEM_ELEMENTS = 8 };

static struct device *device;
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
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    device_close(device);
    return 0;
}

/* Sorts `count` elements where there is room for `room`; of equal keys the
 * numbers below keep their order. */
static void check(uint64_t room, uint64_t count)
{
    struct device_times times = { 0 };
    struct device_radix radix;
    uint64_t *elements = malloc(count * sizeof *elements);
    assert_non_null(elements);
    ok(device_radix_init(&radix, device, room, &times, &failure));
    device_radix_shrink(&radix, count);
    for (uint64_t i = 0; i < count; i++)
        elements[i] = (uint64_t)(rand() % (1 << BITS)) << 32 | i;
    ok(device_write(radix.elements, 0, elements, count * sizeof *elements,
                    &times, &failure));
    ok(device_radix_sort(&radix, BITS, &failure));
    ok(device_read(radix.elements, 0, elements, count * sizeof *elements,
                   &times, &failure));
    ok(device_calls_wait(device, &times, &failure));
    for (uint64_t i = 1; i < count; i++)
        assert_true(elements[i - 1] < elements[i]);
    device_radix_finish(&radix);
    free(elements);
}

/* As many elements as give each group one block, where there is room for more:
 * these would give half of the groups two. */
static void more_spans_have_room(void **state)
{
    struct device_times times = { 0 };
    struct device_radix radix;
    (void)state;
    if (device == NULL)
        skip();
    uint64_t block = (uint64_t)device_group_items(device) * ITEM_ELEMENTS;
    uint64_t most = device_groups_most(device);
    ok(device_radix_init(&radix, device, (most + 1) * block, &times, &failure));
    uint64_t before = radix.spans;
    device_radix_shrink(&radix, most * block);
    assert_true(radix.spans > before);
    assert_true(device_memory_size(radix.counts)
                >= (radix.spans + 1) * 16 * sizeof(uint32_t));
    device_radix_finish(&radix);
    check((most + 1) * block, most * block);
}

static void fewer_elements_are_sorted(void **state)
{
    (void)state;
    if (device == NULL)
        skip();
    srand(1);
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t room = 1 + (uint64_t)rand() % 6000;
        check(room, 1 + (uint64_t)rand() % room);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_spans_have_room), /* nothing is kept yet */
        cmocka_unit_test(fewer_elements_are_sorted),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
