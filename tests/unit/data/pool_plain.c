/* SPDX-License-Identifier: MIT */
/*
 * Where the pool's tablets lie: in plain memory where they are moved to the
 * device once, in memory that the device reaches wherever that is asked for,
 * whatever was there before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hostile.h"
#include "data/database/database.h"
#include "data/pool/pool_inner.h"
#include "data/tablet/block.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum {
    TABLET_ROWS = 100,
    TABLETS = 12,
    ROUNDS = 2000,
    ROOM = HOSTILE(2, 5) /* tablets that the budget holds */
};

static struct database *database;
static struct device *device;
static struct snapshot snapshot;
static const struct table *table;
static struct pool *pool;

static int set_up(void **state)
{
    struct device_params host = { .choice = "host" };

    (void)state;
    disk_start(NULL, 0);
    assert_int_equal(device_open(&host, &device, ERROR), VDBQ_OK);
    assert_int_equal(
        sample_database(TABLET_ROWS, TABLET_ROWS * TABLETS, &database),
        VDBQ_OK);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "t");
    assert_int_equal(table->tablet_count, TABLETS);
    assert_int_equal(
        pool_create(database, device,
                    ROOM * page_round(table->tablets[0].size_bytes) * 5 / 4,
                    &pool, ERROR),
        VDBQ_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pool_destroy(pool);
    snapshot_close(&snapshot);
    database_close(database);
    device_close(device);
    disk_end();
    return 0;
}

/* Pins a tablet, in which all its bytes are right. */
static struct pool_slot *pin(size_t tablet, bool reached, bool moved)
{
    const struct tablet_ref *ref = &table->tablets[tablet];
    const struct pool_want want = {
        .table = table, .tablet = ref, .reached = reached, .moved = moved
    };
    struct pool_slot *slot;

    if (pool_pin(pool, &want, &slot, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    assert_int_equal(block_checksum(device_memory_host(slot->memory),
                                    (size_t)ref->size_bytes),
                     ref->checksum);
    return slot;
}

static bool is_reached(size_t tablet, bool reached, bool moved)
{
    struct pool_slot *slot = pin(tablet, reached, moved);
    bool it_is = device_memory_is_reached(slot->memory);

    pool_release(pool, slot);
    return it_is;
}

static void what_is_moved_lies_in_plain_memory(void **state)
{
    (void)state;
    pool_empty(pool);
    assert_false(is_reached(0, false, true));
    assert_false(is_reached(0, false, false)); /* it is there */
    assert_true(is_reached(0, true, false));   /* brought in anew */
    assert_true(is_reached(0, false, true));   /* it is there */
    assert_true(is_reached(1, false, false));  /* the device shares memory */
}

/* Both at once. */
static void a_tablet_in_use_stays_where_it_is(void **state)
{
    struct pool_slot *plain, *reached;

    (void)state;
    pool_empty(pool);
    plain = pin(3, false, true);
    reached = pin(3, true, false);
    assert_false(device_memory_is_reached(plain->memory));
    assert_true(device_memory_is_reached(reached->memory));
    pool_release(pool, plain);
    pool_release(pool, reached);
}

/* Slots take over one another's memory, each of its own kind. */
static void tablets_come_and_go(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS / FEWER; i++) {
        bool reached = chance_below(2) > 0;
        bool it_is = is_reached(chance_below(TABLETS), reached, !reached);
        assert_true(it_is || !reached);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_moved_lies_in_plain_memory),
        cmocka_unit_test(a_tablet_in_use_stays_where_it_is),
        cmocka_unit_test(tablets_come_and_go),
    };

    chance_start();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
