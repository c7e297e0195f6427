/* SPDX-License-Identifier: MIT */
/*
 * Choices of several devices: what they name, one by one, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "device/several.h"

/* A text names these devices, joined by blanks. */
static void expect(const char *text, const char *wanted)
{
    struct device_choices choices;
    struct error error;
    char got[1024] = "", first[SETTING_BYTES_MAX];
    assert_int_equal(device_choices_read(text, &choices, &error), VDBQ_OK);
    for (unsigned i = 0; i < choices.count; i++) {
        strcat(got, i > 0 ? " " : "");
        strcat(got, choices.texts[i]);
    }
    assert_string_equal(got, wanted);
    assert_int_equal(device_choice_is_several(text), choices.count > 1);
    device_choice_first(text, first);
    assert_string_equal(first, choices.texts[0]);
}

static void refuse(const char *text, const char *message)
{
    struct device_choices choices;
    struct error error;
    assert_int_equal(device_choices_read(text, &choices, &error), VDBQ_DEVICE);
    assert_string_equal(error.message, message);
}

static void test_names(void **state)
{
    (void)state;
    expect("gpu", "gpu");
    expect("gpu:1", "gpu:1");
    expect("GPU:0,2", "gpu:0 gpu:2");
    expect("cpu+gpu", "cpu gpu");
    expect("host+gpu:0,1+1:2+NVIDIA H100", "host gpu:0 gpu:1 1:2 NVIDIA H100");
    expect("0:1", "0:1");
    expect("host:0", "host:0"); /* which no device is called */
    expect("gpu:x", "gpu:x");
    expect("a, b", "a, b");
}

/* Where there is none of a kind, who opens the first one says so. */
static void test_all(void **state)
{
    struct device_choices choices;
    struct error error;
    char first[SETTING_BYTES_MAX];
    (void)state;
    assert_int_equal(device_choices_read("gpu:all", &choices, &error), VDBQ_OK);
    assert_in_range(choices.count, 1, DEVICES_MAX);
    assert_memory_equal(choices.texts[0], "gpu:", 4);
    assert_true(device_choice_is_several("gpu:ALL"));
    device_choice_first("gpu:all+host", first);
    assert_string_equal(first, "gpu:0");
}

static void test_refused(void **state)
{
    (void)state;
    refuse("cpu+", "device 'cpu+': a device is missing in the list");
    refuse("gpu:1,,2", "device 'gpu:1,,2': a device is missing in the list");
    refuse("gpu:1,", "device 'gpu:1,': a device is missing in the list");
    refuse("gpu:1,1", "device 'gpu:1,1' names 'gpu:1' twice");
    refuse("Host+host", "device 'Host+host' names 'host' twice");
}

static void test_too_many(void **state)
{
    char text[SETTING_BYTES_MAX] = "gpu:0";
    struct device_choices choices;
    struct error error;
    (void)state;
    for (unsigned i = 1; i <= DEVICES_MAX; i++)
        sprintf(text + strlen(text), ",%u", i);
    assert_int_equal(device_choices_read(text, &choices, &error), VDBQ_DEVICE);
    assert_non_null(strstr(error.message, "names more than 64 devices"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
