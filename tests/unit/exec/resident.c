/* SPDX-License-Identifier: MIT */
/*
 * Which tablets make room on a device whose budget is smaller than what is walked
 * over. The variable VDBQ_TEST_DEVICE names another device than "cpu".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exec/launch/resident.h"

enum { SIZE = 4096, ROOM = 8 }; /* of a tablet; tablets within the budget */

static struct device *device;
static struct resident *resident;
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

static int open_resident(void **state)
{
    (void)state;
    if (device != NULL)
        ok(resident_create(device, ROOM * SIZE, &resident, &failure));
    return 0;
}

static int close_resident(void **state)
{
    (void)state;
    resident_destroy(resident);
    resident = NULL;
    return 0;
}

/* Walks over a table of so many tablets; how many of them were there. */
static unsigned walk(uint32_t table_id, unsigned tablets)
{
    unsigned there = 0;
    for (unsigned i = 0; i < tablets; i++) {
        struct tablet_ref tablet = { .identity = { table_id + 1, i + 1 },
                                     .row_first = i };
        struct resident_tablet *pinned;
        there += resident_find(resident, &tablet) != NULL;
        ok(resident_pin(resident, table_id, &tablet, SIZE, &pinned, &failure));
        resident_release(resident, pinned);
    }
    assert_true(resident_bytes(resident) <= ROOM * SIZE);
    return there;
}

/* Of a table that does not fit the first tablets stay. */
static void most_of_a_large_table_stays(void **state)
{
    (void)state;
    if (device == NULL)
        skip();
    assert_int_equal(walk(0, ROOM + 3), 0);
    for (unsigned n = 0; n < 3; n++)
        assert_true(walk(0, ROOM + 3) >= ROOM - 1);
}

/* Whoever is walked over next has the room of all others. */
static void another_table_makes_way(void **state)
{
    (void)state;
    if (device == NULL)
        skip();
    walk(0, ROOM);
    assert_int_equal(walk(1, ROOM), 0);
    assert_int_equal(walk(1, ROOM), ROOM);
    assert_int_equal(walk(0, ROOM), 0);
}

/* Two that do not fit together take no more from each other than they must. */
static void two_tables_share_the_room(void **state)
{
    (void)state;
    if (device == NULL)
        skip();
    walk(0, ROOM - 2);
    walk(1, 4);
    assert_true(walk(0, ROOM - 2) >= ROOM - 2 - 4);
    assert_true(walk(1, 4) > 0);
}

/* Rows that could lie on the host leave room to what cannot, however many of them
 * come; tablets make way for them. */
static void rows_leave_a_quarter(void **state)
{
    const uint64_t most = (uint64_t)ROOM * SIZE / 4 * 3;
    (void)state;
    if (device == NULL)
        skip();
    (void)walk(0, ROOM);
    assert_int_equal(resident_reserve_rows(resident, most + 1, &failure),
                     VDBQ_LIMIT);
    ok(resident_reserve_rows(resident, most - 1, &failure));
    assert_int_equal(resident_reserve_rows(resident, 2, &failure), VDBQ_LIMIT);
    ok(resident_reserve(resident, ROOM * SIZE / 4, &failure));
    resident_return(resident, ROOM * SIZE / 4);
    resident_return_rows(resident, most - 1);
    ok(resident_reserve_rows(resident, most, &failure));
    resident_return_rows(resident, most);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_resident, close_resident)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(most_of_a_large_table_stays),
        TEST(another_table_makes_way),
        TEST(two_tables_share_the_room),
        TEST(rows_leave_a_quarter),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
