/* SPDX-License-Identifier: MIT */
/*
 * The table of settings: every row is whole, every value that it tells of is
 * read into its own field, and others are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/settings.h"
#include "cl/tablet.h"

/* Each row has all that people are told, and a name of its own. */
static void test_rows(void **state)
{
    const struct setting *setting;
    struct settings settings = settings_default();
    struct error error;
    unsigned count = 0;
    (void)state;
    for (; (setting = setting_at(count)) != NULL; count++) {
        assert_int_equal(setting_find(setting->option.name), count);
        assert_int_equal(strncmp(setting->option.variable, "VDBQ_", 5), 0);
        assert_true(setting->option.help[0] != '\0');
        assert_true(setting->values == NULL || setting->words == NULL);
        assert_int_equal(
            setting_read(setting, setting->option.value, &settings, &error),
            VDBQ_OK);
        for (unsigned i = 0; i < count; i++)
            assert_true(setting_at(i)->field != setting->field);
    }
    assert_true(count > 0);
    assert_int_equal(setting_find("nonsense"), SETTINGS_MAX);
    assert_null(setting_at(SETTINGS_MAX));
}

static void read(const char *name, const char *text, struct settings *into)
{
    struct error error;
    assert_int_equal(
        setting_read(setting_at(setting_find(name)), text, into, &error),
        VDBQ_OK);
}

/* Setting one changes no other: a row with the wrong field or width would. */
static void test_fields(void **state)
{
    struct settings settings = settings_default(), plain = settings_default();
    (void)state;
    assert_int_equal(settings.mode, MODE_AUTO);
    assert_true(settings.prune && !settings.map && !settings.profiling);
    assert_int_equal(settings.timeout_ms, 5000);
    read("device", "gpu", &settings);
    read("Mode", "CACHED", &settings);
    read("build", "specialised", &settings);
    read("memory", "3G", &settings);
    read("device_memory", "5", &settings);
    read("cores", "65535", &settings);
    read("encoding", "packed", &settings);
    read("skip", "off", &settings);
    read("steps", "host", &settings);
    read("tablet_rows", "1048576", &settings);
    read("map", "on", &settings);
    read("profiling", "ON", &settings);
    read("timeout", "2147483647", &settings);
    assert_string_equal(settings.device, "gpu");
    assert_int_equal(settings.mode, MODE_CACHED);
    assert_int_equal(settings.build, BUILD_SPECIALISED);
    assert_int_equal(settings.memory_bytes, (uint64_t)3 << 30);
    assert_int_equal(settings.device_memory_bytes, 5);
    assert_int_equal(settings.cores, 65535);
    assert_int_equal(settings.encoding, CHOOSE_PACKED);
    assert_int_equal(settings.steps, STEPS_HOST);
    assert_int_equal(settings.tablet_rows, TABLET_ROWS_MAX);
    assert_true(!settings.prune && settings.map && settings.profiling);
    assert_int_equal(settings.timeout_ms, INT32_MAX);
    for (unsigned i = 0; setting_at(i) != NULL; i++)
        read(setting_at(i)->option.name, setting_at(i)->option.value,
             &settings);
    assert_memory_equal(&settings.mode, &plain.mode,
                        sizeof settings - offsetof(struct settings, mode));
    assert_string_equal(settings.device, "");
}

/* A value that is none changes nothing, and the hint tells which there are. */
static void test_refuse(void **state)
{
    static const char *const refused[][3] = {
        { "mode", "serial ", "auto, serial, streamed, mapped, cached" },
        { "skip", "1", "(VDBQ_SKIP): on, off" },
        { "memory", "1X", "a size in bytes" },
        { "cores", "65536", "0 for all" },
        { "cores", "", "VDBQ_CORES" },
        { "timeout", "2147483648", "milliseconds" },
        { "read_timeout", "-1", "milliseconds" },
    };
    char longest[SETTING_BYTES_MAX + 1];
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct settings settings = settings_default(), before = settings;
        const struct setting *setting = setting_at(setting_find(refused[i][0]));
        assert_int_equal(
            setting_read(setting, refused[i][1], &settings, &error),
            VDBQ_RANGE);
        assert_non_null(strstr(error.hint, refused[i][2]));
        assert_memory_equal(&settings, &before, sizeof settings);
    }
    struct settings settings = settings_default();
    memset(longest, 'x', sizeof longest);
    longest[SETTING_BYTES_MAX] = '\0';
    assert_int_equal(setting_read(setting_at(0), longest, &settings, &error),
                     VDBQ_RANGE);
    longest[SETTING_BYTES_MAX - 1] = '\0';
    assert_int_equal(setting_read(setting_at(0), longest, &settings, &error),
                     VDBQ_OK);
    assert_string_equal(settings.device, longest);
}

static void test_mode_names(void **state)
{
    (void)state;
    assert_string_equal(run_mode_name(MODE_SERIAL), "serial");
    assert_string_equal(run_mode_name(MODE_CACHED), "cached");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_mode_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
