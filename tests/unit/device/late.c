/* SPDX-License-Identifier: MIT */
/*
 * Threads of a driver that come late: on a machine with much to do one loses
 * its core at any point, for instance after it told that a command ended and
 * before it is done with it. Here each of them sleeps now and then after it
 * unlocked something, and what is released is overwritten, so that a driver
 * that looks at it crashes. Devices are opened, used and closed meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <time.h>

#include "device/device.h"
#include "fixtures/device_rig.h"

enum {
    LATE_ONE_IN = 4,      /* unlocks of a thread              */
    LATE_NS = 10000000,   /* that it sleeps                   */
    OVERWRITE = 54,       /* what released memory is full of  */
    ROUNDS = 12,          /* that a device is opened          */
    BLOCK_BYTES = 1 << 16 /* that go to a device and back     */
};

static _Thread_local uint32_t chance = 1; /* of this thread               */
static _Thread_local bool is_tester;      /* it is the one that runs tests */

/* In place of the C library's, for drivers, too. */
int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);
    const struct timespec late = { .tv_nsec = LATE_NS };
    int code;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    code = real(mutex);
    chance = chance * 1664525 + 1013904223;
    if (!is_tester && (chance >> 16) % LATE_ONE_IN == 0)
        nanosleep(&late, NULL);
    return code;
}

/* Moves a block to a device and back, and closes the device at once. */
static void use_device(unsigned cores)
{
    static unsigned char bytes[BLOCK_BYTES];
    struct device_params params = { .choice = rig_tested(), .cores = cores };
    struct device_times times = { 0 };
    struct device_memory *memory;
    struct device *device;
    struct error error;

    if (device_open(&params, &device, &error) != VDBQ_OK)
        fail_msg("%s\n%s", error.message, error.hint);
    assert_int_equal(device_memory_create(device, MEMORY_DEVICE, sizeof bytes,
                                          &memory, &error),
                     VDBQ_OK);
    assert_int_equal(
        device_write(memory, 0, bytes, sizeof bytes, &times, &error), VDBQ_OK);
    assert_int_equal(
        device_read(memory, 0, bytes, sizeof bytes, &times, &error), VDBQ_OK);
    device_memory_destroy(memory);
    device_close(device);
}

static void test_devices_close_at_once(void **state)
{
    (void)state;
    rig_need_device();
    for (unsigned i = 0; i < ROUNDS; i++)
        use_device(0);
}

static void test_parts_of_devices_close_at_once(void **state)
{
    (void)state;
    rig_need_device();
    for (unsigned i = 0; i < ROUNDS; i++)
        use_device(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_close_at_once),
        cmocka_unit_test(test_parts_of_devices_close_at_once),
    };

    is_tester = true;
    mallopt(M_PERTURB, OVERWRITE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
