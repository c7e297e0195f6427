/* SPDX-License-Identifier: MIT */
/*
 * Which programs are worth a specialised machine: those that were built, and
 * those that queries over many rows ran twice. tuning.h has the file that tells later
 * processes of both. Nothing here fails where it cannot be read or written.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "device/backend.h"
#include "device/cache/environment.h"
#include "device/tuning.h"

enum {
    SHAPES_READ_MAX = 1 << 16, /* lines of a file that are read         */
    LINE_BYTES = 18,           /* of one: a mark, 16 digits, a line end */
    MARK_BUILT = 'b',
    MARK_SIGHTED = 's'
};

static uint64_t hash_of(const struct known *known, const char *body)
{
    return XXH3_64bits_withSeed(body, strlen(body), known->seed);
}

static struct device_shape *shape_find(struct known *known, uint64_t hash)
{
    for (size_t i = 0; i < known->shapes.count; i++) {
        struct device_shape *shape = vector_at(&known->shapes, i);
        if (shape->hash == hash)
            return shape;
    }
    return NULL;
}

/* Finds the shape of that hash, or adds it. */
static struct device_shape *shape_of_hash(struct known *known, uint64_t hash)
{
    struct device_shape *shape = shape_find(known, hash);

    if (shape == NULL)
        shape = vector_add(&known->shapes);
    if (shape != NULL)
        shape->hash = hash;
    return shape;
}

/* Takes a line of the file; what was sighted is counted where it is new. */
static void take_line(struct known *known, const char *line, bool counts)
{
    struct device_shape *shape = NULL;
    uint64_t hash;
    char mark;

    if (strlen(line) == LINE_BYTES
        && sscanf(line, "%c%16" SCNx64, &mark, &hash) == 2)
        shape = shape_of_hash(known, hash);
    if (shape == NULL)
        return;
    shape->built = shape->built || mark == MARK_BUILT;
    shape->sights +=
        counts && mark == MARK_SIGHTED && shape->sights < DEVICE_SIGHTS;
}

/* Reads what earlier processes built and sighted, or what they built alone. */
static void shapes_read(struct known *known, bool counts)
{
    char name[64], line[2 * LINE_BYTES];
    FILE *file;

    known->shapes_read = true;
    snprintf(name, sizeof name, "%s.seen", known->key);
    file = known->key[0] != '\0' ? known_file(name) : NULL;
    while (file != NULL && known->shapes.count < SHAPES_READ_MAX
           && fgets(line, sizeof line, file) != NULL)
        take_line(known, line, counts);
    if (file != NULL)
        fclose(file);
}

struct device_shape *device_shape(struct device *device, const char *body)
{
    struct known *known = &device->known;

    if (known->shapes.width == 0)
        known->shapes = VECTOR(struct device_shape);
    if (!known->shapes_read)
        shapes_read(known, true);
    return shape_of_hash(known, hash_of(known, body));
}

bool known_tells(const struct known *known, const char *body)
{
    char name[64], wanted[LINE_BYTES + 1], line[2 * LINE_BYTES];
    bool told = false;

    snprintf(name, sizeof name, "%s.seen", known->key);
    snprintf(wanted, sizeof wanted, "%c%016" PRIx64 "\n", MARK_BUILT,
             hash_of(known, body));
    FILE *file = known->key[0] != '\0' ? known_file(name) : NULL;
    while (file != NULL && !told && fgets(line, sizeof line, file) != NULL)
        told = strcmp(line, wanted) == 0;
    if (file != NULL)
        fclose(file);
    return told;
}

void known_refresh(struct known *known)
{
    if (known->shapes_read)
        shapes_read(known, false);
}

/* Adds a line to KEY.seen, with one write so that lines stay whole. */
static void seen_add(const struct known *known, char mark, uint64_t hash)
{
    struct text path = { 0 };
    struct error ignored;
    char line[LINE_BYTES + 1];
    int length = snprintf(line, sizeof line, "%c%016" PRIx64 "\n", mark, hash);
    int file = -1;

    if (environment_cache_folder("tune", &path, &ignored) == VDBQ_OK) {
        text_print(&path, "/%s.seen", known->key);
        if (!path.failed)
            file = open(path.bytes,
                        O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                        0600);
    }
    if (file >= 0) {
        ssize_t written = write(file, line, (size_t)length);
        (void)written; /* a line that is cut says nothing */
        close(file);
    }
    text_finish(&path);
}

bool device_sight(struct device *device, const char *body)
{
    struct device_shape *shape = device_shape(device, body);

    if (shape == NULL)
        return false;
    if (shape->sights < DEVICE_SIGHTS) {
        shape->sights++;
        if (!shape->built && device->known.key[0] != '\0')
            seen_add(&device->known, MARK_SIGHTED, shape->hash);
    }
    return shape->built || shape->sights == DEVICE_SIGHTS;
}

bool known_build(struct device *device, const char *body, uint64_t build_ns)
{
    struct device_tuning *tuning = &device->known.tuning;
    struct device_shape *shape = device_shape(device, body);
    bool was_built;
    uint64_t *ns;

    if (shape == NULL)
        return false;
    was_built = shape->built;
    ns = was_built ? &tuning->cached_ns : &tuning->compile_ns;
    if (build_ns > 0)
        *ns = (*ns * 3 + build_ns) / 4;
    if (!was_built && device->known.key[0] != '\0')
        seen_add(&device->known, MARK_BUILT, shape->hash);
    shape->built = true;
    return was_built;
}
