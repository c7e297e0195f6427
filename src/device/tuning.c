/* SPDX-License-Identifier: MIT */
/*
 * Keeps what was measured of a device; tuning.h has the files. Nothing here
 * fails where a file cannot be read: then the built-in values hold.
 */
#include "device/tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "device/backend.h"
#include "device/cache/environment.h"

enum { LINE_MAX_BYTES = 256 };

enum field_kind { FIELD_COUNT, FIELD_NS, FIELD_REAL };

/* The lines of a file. */
#define FIELD(name, kind)                                                      \
    {                                                                          \
#name, kind, offsetof(struct device_tuning, name)                      \
    }
static const struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
} fields[] = {
    FIELD(tile, FIELD_COUNT),
    FIELD(tile_specialised, FIELD_COUNT),
    FIELD(group, FIELD_COUNT),
    FIELD(item_rows, FIELD_COUNT),
    FIELD(gain, FIELD_REAL),
    FIELD(cost_ns, FIELD_REAL),
    FIELD(compile_ns, FIELD_NS),
    FIELD(cached_ns, FIELD_NS),
    FIELD(launch_ns, FIELD_NS),
    FIELD(host_rows_max, FIELD_NS),
    FIELD(pary_keys_max, FIELD_NS),
    FIELD(look_ups_min, FIELD_NS),
    FIELD(limits.memory_read, FIELD_REAL),
    FIELD(limits.copy_in, FIELD_REAL),
    FIELD(limits.copy_out, FIELD_REAL),
    FIELD(limits.copy_both, FIELD_REAL),
    FIELD(limits.host_read, FIELD_REAL),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool tuning_read(const char *name, struct device_tuning *tuning);

/* -------------------------------------------------------------- known -- */

void known_init(struct known *known, const char *const *parts,
                const char *source, const struct device_kind *kind)
{
    struct text key = { 0 };
    struct device_tuning read = kind->tuning;
    char name[64];

    *known = (struct known){ .tuning = kind->tuning,
                             .shapes = VECTOR(struct device_shape),
                             .seed = XXH3_64bits(source, strlen(source)) };
    text_print(&key, "%d", TUNING_FORMAT);
    for (; *parts != NULL; parts++)
        text_print(&key, "\n%s", *parts);
    if (!key.failed) {
        XXH128_hash_t hash = XXH3_128bits(key.bytes, key.length);
        snprintf(known->key, sizeof known->key, "%016" PRIx64 "%016" PRIx64,
                 (uint64_t)hash.high64, (uint64_t)hash.low64);
        snprintf(name, sizeof name, "%s.txt", known->key);
        if (tuning_read(name, &read) && tuning_is_sound(&read, &kind->bounds))
            known->tuning = read;
    }
    text_finish(&key);
}

void known_finish(struct known *known)
{
    vector_finish(&known->shapes);
}

static bool is_power(unsigned value, unsigned low, unsigned high)
{
    return value >= low && value <= high && (value & (value - 1)) == 0;
}

bool tuning_is_sound(const struct device_tuning *tuning,
                     const struct kind_bounds *bounds)
{
    return is_power(tuning->tile, bounds->tile_min, bounds->tile_max)
           && is_power(tuning->tile_specialised, bounds->tile_min,
                       bounds->tile_max)
           && is_power(tuning->item_rows, 1, 1 << 20)
           && is_power(tuning->group, bounds->group_min, bounds->group_max)
           && tuning->gain > 0 && tuning->gain < 1e6 && tuning->cost_ns >= 0
           && tuning->cost_ns < 1e6;
}

const struct device_tuning *device_tuning(const struct device *device)
{
    return &device->known.tuning;
}

void device_tuning_set(struct device *device,
                       const struct device_tuning *tuning)
{
    struct device_times ignored = { 0 };

    builder_collect(device, true, &ignored);
    device->known.tuning = *tuning;
}

void device_gain_note(struct device *device, double gain)
{
    double *known = &device->known.tuning.gain;

    *known = (*known * 3 + gain) / 4;
}

/* --------------------------------------------------------------- read -- */

/* Takes a line "name value"; false where it is none. */
static bool take_line(const char *line, struct device_tuning *tuning)
{
    char name[64], number[64], rest[2];
    double value;
    size_t i = 0;

    if (line[0] == '#' || line[strspn(line, " \n")] == '\0')
        return true;
    if (sscanf(line, "%63s %63s %1s", name, number, rest) != 2
        || !text_to_double(number, strlen(number), &value)
        || !(value >= 0 && value < 1e18))
        return false;
    while (i < FIELDS && strcmp(fields[i].name, name) != 0)
        i++;
    if (i == FIELDS)
        return false;
    void *field = (char *)tuning + fields[i].offset;
    if (fields[i].kind == FIELD_REAL)
        *(double *)field = value;
    else if (fields[i].kind == FIELD_NS)
        *(uint64_t *)field = (uint64_t)value;
    else
        *(unsigned *)field = value <= 1 << 30 ? (unsigned)value : 0;
    return true;
}

FILE *known_file(const char *name)
{
    struct text path = { 0 };
    FILE *file = NULL;

    if (environment_cache_path("tune", &path)) {
        text_print(&path, "/%s", name);
        if (!path.failed)
            file = fopen(path.bytes, "re");
    }
    text_finish(&path);
    return file;
}

/* Reads a file over what is in `tuning`; false: none, or none that is whole. */
static bool tuning_read(const char *name, struct device_tuning *tuning)
{
    FILE *file = known_file(name);
    char line[LINE_MAX_BYTES];
    bool sound = true;

    if (file == NULL)
        return false;
    while (sound && fgets(line, sizeof line, file) != NULL)
        sound = strchr(line, '\n') != NULL && take_line(line, tuning);
    sound = sound && !ferror(file);
    fclose(file);
    return sound;
}

uint64_t device_host_rows_max(void)
{
    struct device_tuning tuning = { 0 };

    return tuning_read("host.txt", &tuning) ? tuning.host_rows_max : 0;
}

/* -------------------------------------------------------------- write -- */

/* Adds the line of a field; it reads back as the same value. */
static void add_line(const struct field *field,
                     const struct device_tuning *tuning, struct text *lines)
{
    const void *at = (const char *)tuning + field->offset;
    char real[32];

    text_print(lines, "%s ", field->name);
    if (field->kind == FIELD_REAL)
        text_add(lines, real, text_from_double(*(const double *)at, real));
    else if (field->kind == FIELD_NS)
        text_print(lines, "%" PRIu64, *(const uint64_t *)at);
    else
        text_print(lines, "%u", *(const unsigned *)at);
    text_print(lines, "\n");
}

enum vdbq_status device_tuning_save(const struct device *device,
                                    struct text *path, struct error *error)
{
    const struct known *known = &device->known;
    struct text lines = { 0 }, host = { 0 }, ignored = { 0 };
    char name[64];
    enum vdbq_status status;

    if (known->key[0] == '\0')
        return error_set(error, VDBQ_DEVICE, "device '%s' cannot be tuned",
                         device->facts.name);
    text_print(&lines, "# %s, %u cores: written by vdbq --tune\n",
               device->facts.name, device->facts.cores);
    for (size_t i = 0; i < FIELDS; i++)
        add_line(&fields[i], &known->tuning, &lines);
    text_print(&host, "host_rows_max %" PRIu64 "\n",
               known->tuning.host_rows_max);
    snprintf(name, sizeof name, "%s.txt", known->key);
    status = environment_cache_write("tune", name, &lines, path, error);
    if (status == VDBQ_OK && device->facts.kind->host_is_quick)
        status =
            environment_cache_write("tune", "host.txt", &host, &ignored, error);
    text_finish(&ignored);
    text_finish(&host);
    text_finish(&lines);
    return status;
}
