/* SPDX-License-Identifier: MIT */
/*
 * The table of settings, and how their values are read. Texts come from users:
 * each is checked, and none is longer than SETTING_BYTES_MAX.
 */
#include "base/settings.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cl/tablet.h"

static bool read_text(const struct setting *setting, const char *text,
                      struct settings *into);
static bool read_word(const struct setting *setting, const char *text,
                      struct settings *into);
static bool read_switch(const struct setting *setting, const char *text,
                        struct settings *into);
static bool read_size(const struct setting *setting, const char *text,
                      struct settings *into);
static bool read_number(const struct setting *setting, const char *text,
                        struct settings *into);

/* clang-format off */
static const struct setting_word
    modes[] = { { "auto", MODE_AUTO }, { "serial", MODE_SERIAL }, { "streamed", MODE_STREAMED },
                { "mapped", MODE_MAPPED }, { "cached", MODE_CACHED }, { 0 } },
    builds[] = { { "auto", BUILD_AUTO }, { "interpreted", BUILD_INTERPRETED },
                 { "specialised", BUILD_SPECIALISED }, { 0 } },
    encodings[] = { { "auto", CHOOSE_AUTO }, { "plain", CHOOSE_PLAIN },
                    { "packed", CHOOSE_PACKED }, { 0 } },
    places[] = { { "auto", STEPS_AUTO }, { "device", STEPS_DEVICE }, { "host", STEPS_HOST },
                 { 0 } },
    exchanges[] = { { "auto", EXCHANGE_AUTO }, { "on", EXCHANGE_ON },
                    { "off", EXCHANGE_OFF }, { 0 } },
    switches[] = { { "on", true }, { "off", false }, { 0 } };

#define FIELD(name) .field = offsetof(struct settings, name)

/* The order is that in which the environment is read: of several faults there
 * the first is told. Before each row: who reads the setting. */
static const struct setting table[] = {
    /* src/api, which opens the device */
    { { "device", "VDBQ_DEVICE", "",
        "cpu, gpu, auto, host, P:D, part of a name; several: gpu:all, cpu+gpu" },
      read_text, FIELD(device) },
    /* src/api, for each scan */
    { { "mode", "VDBQ_MODE", "auto", "auto, serial, streamed, mapped or cached" },
      read_word, FIELD(mode), .words = modes },
    /* src/api, which looks whether the device has that build; src/exec/launch */
    { { "build", "VDBQ_BUILD", "auto", "auto, interpreted or specialised" },
      read_word, FIELD(build), .words = builds },
    /* src/api, for pools, plans, and rows that steps hold */
    { { "memory", "VDBQ_MEMORY", "0", "host memory for tablets and steps, for instance 4G" },
      read_size, FIELD(memory_bytes),
      .values = "a size in bytes, for instance 512M or 4G; 0 for half of what there is" },
    /* src/api, for what stays on the device, and plans */
    { { "device_memory", "VDBQ_DEVICE_MEMORY", "0", "device memory for tablets that stay there" },
      read_size, FIELD(device_memory_bytes),
      .values = "a size in bytes, for instance 512M or 4G; 0 for the device's default" },
    /* src/api, for the device and the host's threads */
    { { "cores", "VDBQ_CORES", "0", "compute units of the device to use; 0: all" },
      read_number, FIELD(cores), .most = UINT16_MAX,
      .values = "a number of compute units, 0 for all" },
    /* src/data, for each tablet that is written */
    { { "encoding", "VDBQ_ENCODING", "auto", "auto, plain or packed: how columns are stored" },
      read_word, FIELD(encoding), .words = encodings },
    /* src/exec/scan */
    { { "skip", "VDBQ_SKIP", "on", "passes tablets over in which no row can match" },
      read_switch, FIELD(prune), .words = switches },
    /* src/api, for each scan */
    { { "steps", "VDBQ_STEPS", "auto",
        "auto, device or host: where rows are grouped, sorted and joined" },
      read_word, FIELD(steps), .words = places },
    /* src/cluster, for each plan */
    { { "exchange", "VDBQ_EXCHANGE", "auto",
        "auto, on or off: whether ranks exchange both sides of a join" },
      read_word, FIELD(exchange), .words = exchanges },
    /* src/data, for each tablet that is written */
    { { "tablet_rows", "VDBQ_TABLET_ROWS", "0",
        "rows of a full tablet, for tests; 0: the most there can be" },
      read_number, FIELD(tablet_rows), .most = TABLET_ROWS_MAX,
      .values = "rows of a full tablet, 0 for the most there can be" },
    /* src/api, which opens pools */
    { { "map", "VDBQ_MAP", "off", "reads numbers where they lie in the file" },
      read_switch, FIELD(map), .words = switches },
    /* src/api, for each device of a run */
    { { "profiling", "VDBQ_PROFILING", "off",
        "has devices tell the times of kernels and transfers" },
      read_switch, FIELD(profiling), .words = switches },
    /* src/data, when somebody else has the file */
    { { "timeout", "VDBQ_TIMEOUT", "5000",
        "milliseconds to wait for other connections that write" },
      read_number, FIELD(timeout_ms), .most = INT32_MAX,
      .values = "milliseconds to wait for other connections; 0 for none" },
    /* src/api, before each batch of rows */
    { { "read_timeout", "VDBQ_READ_TIMEOUT", "0",
        "milliseconds that a query may read an older state; 0: any time" },
      read_number, FIELD(read_timeout_ms), .most = INT32_MAX,
      .values = "milliseconds that a query may read an older state; 0 for any time" },
};
/* clang-format on */

enum { SETTINGS = sizeof table / sizeof table[0] };
_Static_assert((int)SETTINGS <= (int)SETTINGS_MAX, "the table has room");
/* read_word() writes fields of enums as what these are. */
_Static_assert(sizeof(enum run_mode) == sizeof(unsigned)
                   && sizeof(enum device_build) == sizeof(unsigned)
                   && sizeof(enum encoding_choice) == sizeof(unsigned)
                   && sizeof(enum steps_choice) == sizeof(unsigned)
                   && sizeof(enum exchange_choice) == sizeof(unsigned),
               "enums are unsigned");

const struct setting *setting_at(unsigned number)
{
    return number < SETTINGS ? &table[number] : NULL;
}

unsigned setting_find(const char *name)
{
    for (unsigned i = 0; i < SETTINGS; i++)
        if (name_equal(name, table[i].option.name))
            return i;
    return SETTINGS_MAX;
}

struct settings settings_default(void)
{
    struct settings settings = { 0 };
    for (unsigned i = 0; i < SETTINGS; i++) {
        bool known = table[i].read(&table[i], table[i].option.value, &settings);
        assert(known);
        (void)known;
    }
    return settings;
}

const char *run_mode_name(enum run_mode mode)
{
    const struct setting_word *word = modes;
    while (word->value != (unsigned)mode)
        word++;
    return word->name;
}

/* -------------------------------------------------------------- reading -- */

/* The values there are, for people: the row's text, its words with commas, or
 * else its help. */
static const char *values_of(const struct setting *setting, char *room,
                             size_t size)
{
    size_t length = 0;
    if (setting->words == NULL)
        return setting->values ? setting->values : setting->option.help;
    for (const struct setting_word *word = setting->words; word->name; word++)
        length += (size_t)snprintf(room + length, size - length, "%s%s",
                                   length > 0 ? ", " : "", word->name);
    assert(length < size);
    return room;
}

enum vdbq_status setting_read(const struct setting *setting, const char *text,
                              struct settings *into, struct error *error)
{
    char room[128];
    if (strlen(text) < SETTING_BYTES_MAX && setting->read(setting, text, into))
        return VDBQ_OK;
    error_set(error, VDBQ_RANGE, "\"%.64s\" is no value of %s", text,
              setting->option.name);
    return error_hint(error, "values of %s (%s): %s", setting->option.name,
                      setting->option.variable,
                      values_of(setting, room, sizeof room));
}

static void *field_of(const struct setting *setting, struct settings *into)
{
    return (char *)into + setting->field;
}

static bool read_text(const struct setting *setting, const char *text,
                      struct settings *into)
{
    strcpy(field_of(setting, into), text);
    return true;
}

/* The word that a text is; NULL: none of them. */
static const struct setting_word *word_of(const struct setting *setting,
                                          const char *text)
{
    for (const struct setting_word *word = setting->words; word->name; word++)
        if (name_equal(text, word->name))
            return word;
    return NULL;
}

static bool read_word(const struct setting *setting, const char *text,
                      struct settings *into)
{
    const struct setting_word *word = word_of(setting, text);
    if (word != NULL)
        memcpy(field_of(setting, into), &word->value, sizeof word->value);
    return word != NULL;
}

static bool read_switch(const struct setting *setting, const char *text,
                        struct settings *into)
{
    const struct setting_word *word = word_of(setting, text);
    if (word != NULL)
        *(bool *)field_of(setting, into) = word->value;
    return word != NULL;
}

static bool read_size(const struct setting *setting, const char *text,
                      struct settings *into)
{
    return text_to_size(text, field_of(setting, into));
}

static bool read_number(const struct setting *setting, const char *text,
                        struct settings *into)
{
    int64_t number;
    if (!text_to_int64(text, strlen(text), &number) || number < 0
        || number > setting->most)
        return false;
    *(uint32_t *)field_of(setting, into) = (uint32_t)number;
    return true;
}
