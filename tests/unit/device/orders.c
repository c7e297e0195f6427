/* SPDX-License-Identifier: MIT */
/*
 * Machines that are ordered of the build process: who ordered one loads it when that
 * process has built it, and compiles nothing. Both are this process, the devices fake
 * ones: the host, but that nothing is built.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/backend.h"
#include "device/build_process.h"
#include "device/builder.h"
#include "device/order.h"
#include "fixtures/own_cache.h"

static atomic_uint builds; /* of all devices */

static void nap(unsigned ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* In place of the one that starts the build process: it is there. */
bool build_process_start(const struct device_params *device,
                         const struct device_machine_params *wanted,
                         bool beside)
{
    (void)device;
    (void)wanted;
    (void)beside;
    return true;
}

static enum vdbq_status fake_build(struct device *device,
                                   const struct device_machine_params *params,
                                   struct device_machine **machine,
                                   struct error *error)
{
    static struct device_machine machines[16]; /* that nobody launches */
    unsigned number = atomic_fetch_add(&builds, 1);
    (void)params;
    (void)error;
    assert_true(number < sizeof machines / sizeof *machines);
    *machine = &machines[number];
    (*machine)->device = device;
    return VDBQ_OK;
}

/* A driver that keeps what it compiles. */
static bool fake_is_kept(struct device *device,
                         const struct device_machine_params *params)
{
    return params->build == BUILD_INTERPRETED
           || device_shape(device, params->body)->built;
}

/* A device of one of two kinds: that where compilers work beside one another. */
static struct device *fake_open(bool is_far)
{
    static struct device_backend backend;
    static struct device_kind kind;
    const struct device_params params = { .choice = "host" };
    struct device *device;
    struct error error;
    assert_int_equal(device_open(&params, &device, &error), VDBQ_OK);
    backend = *device->backend;
    backend.machine_build = fake_build;
    backend.machine_is_kept = fake_is_kept;
    kind = *device->facts.kind;
    kind.specialises = true;
    kind.interpreted_is_far = is_far;
    device->backend = &backend;
    device->facts.kind = &kind;
    strcpy(device->choice, "fake");
    strcpy(device->known.key, is_far ? "far" : "near");
    return device;
}

static bool order(struct device *device, char *body)
{
    const struct device_machine_params ordered = {
        .build = BUILD_SPECIALISED, .registers = 2, .axes = 1, .body = body
    };
    return device_machine_behind(device, &ordered);
}

/* The build process: builds what was ordered and ends. */
static void serve(bool is_far)
{
    const struct device_machine_params wanted = { .build = BUILD_INTERPRETED };
    struct device *device = fake_open(is_far);
    struct error error;
    assert_int_equal(order_build_all(device, &wanted, &error), VDBQ_OK);
    assert_null(device->builders);
    device_close(device);
}

/* Waits until nobody builds behind. */
static void settle(struct device *device, struct device_times *times)
{
    for (int i = 0; i < 1000 && device->builders != NULL; i++) {
        nap(10);
        builder_collect(device, false, times);
    }
    assert_null(device->builders);
}

/* All are waited for, by a thread each; who asks again for one that is there has
 * it loaded. */
static void check_way(bool is_far)
{
    char one[] = "one", two[] = "two", three[] = "three";
    struct device *device = fake_open(is_far);
    struct device_times times = { 0 };
    atomic_store(&builds, 0);
    assert_true(order(device, one));
    assert_true(order(device, two));
    assert_true(order(device, three));
    nap(120);
    builder_collect(device, false, &times);
    assert_non_null(device->builders);
    assert_int_equal(atomic_load(&builds), 0);

    serve(is_far);
    assert_true(atomic_load(&builds) >= 3);
    settle(device, &times);
    assert_true(times.builds == 3 && times.builds_cached == 3);
    assert_int_equal(atomic_load(&builds), 6);
    assert_true(order(device, three));
    settle(device, &times);
    serve(is_far);
    assert_int_equal(atomic_load(&builds), 7);
    device_close(device);
}

static void orders_are_built_and_loaded(void **state)
{
    (void)state;
    check_way(true);
    check_way(false);
}

/* A device that is closed waits for no order; the order stays for others. */
static void close_waits_for_no_order(void **state)
{
    char body[] = "never waited for";
    struct device *device = fake_open(true);
    (void)state;
    atomic_store(&builds, 0);
    assert_true(order(device, body));
    device_close(device);
    assert_int_equal(atomic_load(&builds), 0);
    serve(true);
    assert_int_equal(atomic_load(&builds), 1);
}

/* Beside the process that builds all another one builds orders, where compilers do not
 * take the cores of queries; and there are lanes for so many alone. */
static void others_build_beside(void **state)
{
    char body[] = "built beside";
    const unsigned lanes = device_build_lanes();
    unsigned lane;
    int first = device_builds_lock(true, &lane);

    (void)state;
    assert_int_equal(lane, 0);
    assert_int_equal(device_build_lane_is_free(), lanes > 1);
    for (int is_far = 0; is_far <= 1; is_far++) {
        struct device *device = fake_open(is_far);
        atomic_store(&builds, 0);
        assert_true(order(device, body));
        order_build_beside(device);
        assert_int_equal(atomic_load(&builds), is_far ? 2 : 0); /* and loaded */
        device_close(device);
        serve(is_far);
    }
    if (lanes > 1) {
        int second = device_builds_lock(true, &lane);
        assert_int_equal(lane, 1);
        device_builds_unlock(second);
    }
    device_builds_unlock(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_built_and_loaded),
        cmocka_unit_test(close_waits_for_no_order),
        cmocka_unit_test(others_build_beside),
    };
    return cmocka_run_group_tests(tests, own_cache_make, own_cache_remove);
}
