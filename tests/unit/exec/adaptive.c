/* SPDX-License-Identifier: MIT */
/*
 * Adaptive execution: the machine changes between launches and nothing else
 * does. The device is a fake one: the host, whose "specialised" machine is
 * the host's own, built on the builder's thread in a time that the test sets.
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
#include <unistd.h>

#include "cl/tablet.h"
#include "device/backend.h"
#include "device/build_process.h"
#include "device/search.h"
#include "exec/launch/launcher.h"
#include "fixtures/own_cache.h"

enum {
    ROWS = 2000,
    LAUNCHES_MAX = 4000,
    MANY_LAUNCHES = 80,           /* over many rows, for adapt.c */
    COMPILED_LAUNCHES_MAX = 60000 /* each takes 1 ms: a compiler's minute */
};

static const char program_text[] = "Table 0 0 0 0 \"t\"\n"
                                   "ResultColumn 1 0 0 0 \"x\"\n"
                                   "Parallel 0 0 8 0\n"
                                   "Column.I32 1 0 0 0\n"
                                   "Integer.I32 0 60 0 0\n"
                                   "Le.I32 1 0 7 0\n"
                                   "Result 1 1 0 0\n"
                                   "Converge 0 0 0 0\n"
                                   "Finish 0 0 0 0\n";

/* --------------------------------------------------------------- fake -- */

static struct {
    struct device_backend backend;
    const struct device_backend *host;
    struct device *second; /* whose machine plays the specialised */
    struct device_machine *kept;
    char body[1024]; /* that it is found by; "": by all    */
    unsigned build_ms;
    atomic_bool waits; /* builds do not end */
    bool fails;
    bool unloaded;      /* this process has not loaded the interpreted one  */
    bool is_far;        /* nobody has built the interpreted machine yet ... */
    bool has_process;   /* ... and there is a program that may              */
    unsigned processes; /* times that it was started                        */
} fake;

static void nap(unsigned ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* In place of the one that starts the build process: where there is none,
 * threads build. */
bool build_process_start(const struct device_params *device,
                         const struct device_machine_params *wanted,
                         bool beside)
{
    (void)device;
    (void)beside;
    fake.processes += wanted->build == BUILD_INTERPRETED;
    return wanted->build == BUILD_INTERPRETED && fake.has_process;
}

static bool fake_is_kept(struct device *device,
                         const struct device_machine_params *params)
{
    (void)device;
    return params->build == BUILD_SPECIALISED || !fake.is_far;
}

static struct device_machine *
fake_find(struct device *device, const struct device_machine_params *params)
{
    if (params->build == BUILD_INTERPRETED)
        return fake.unloaded ? NULL : fake.host->machine_find(device, params);
    return fake.body[0] == '\0' || strcmp(fake.body, params->body) == 0
               ? fake.kept
               : NULL;
}

static enum vdbq_status fake_build(struct device *device,
                                   const struct device_machine_params *params,
                                   struct device_machine **machine,
                                   struct error *error)
{
    struct device_machine_params plain = { .build = BUILD_INTERPRETED,
                                           .registers = params->registers };
    if (params->build == BUILD_INTERPRETED) {
        *machine = fake.host->machine_find(device, params);
        return *machine != NULL
                   ? VDBQ_OK
                   : fake.host->machine_build(device, params, machine, error);
    }
    nap(fake.build_ms);
    while (atomic_load(&fake.waits))
        nap(1);
    if (fake.fails)
        return error_set(error, VDBQ_DEVICE, "the build was to fail");
    return fake.host->machine_build(fake.second, &plain, machine, error);
}

static enum vdbq_status fake_keep(struct device_machine *machine,
                                  struct error *error)
{
    if (machine->device == fake.second)
        fake.kept = machine;
    return fake.host->machine_keep(machine, error);
}

/* Its kind: as a CPU, tuned otherwise. */
static const struct device_kind tuned = {
    .name = "fake",
    .specialises = true,
    .tuning = { .tile = 1024,
                .tile_specialised = 512,
                .group = 1,
                .item_rows = 65536,
                .gain = 1,
                .compile_ns = 7,
                .cached_ns = 8 },
    .bounds = { .tile_min = 128,
                .tile_max = 8192,
                .group_min = 1,
                .group_max = 1 },
    .host_is_quick = true,
    .launch_factor = 1,
    .interpreted_is_far = true,
};

/* Opens the fake device; a build pays as soon as a launch was measured. */
static struct device *fake_open(unsigned build_ms, double gain)
{
    struct device_params params = { .choice = "host" };
    struct device *device;
    struct error error;
    assert_int_equal(device_open(&params, &device, &error), VDBQ_OK);
    assert_int_equal(device_open(&params, &fake.second, &error), VDBQ_OK);
    fake.kept = NULL;
    fake.body[0] = '\0';
    fake.fails = fake.is_far = fake.has_process = fake.unloaded = false;
    fake.processes = 0;
    fake.build_ms = build_ms;
    fake.host = device->backend;
    fake.backend = *device->backend;
    fake.backend.machine_find = fake_find;
    fake.backend.machine_build = fake_build;
    fake.backend.machine_keep = fake_keep;
    fake.backend.machine_is_kept = fake_is_kept;
    device->backend = &fake.backend;
    device->facts.kind = &tuned;
    device->known.tuning = (struct device_tuning){ .gain = gain };
    return device;
}

static void fake_close(struct device *device)
{
    device_close(device);
    device_close(fake.second);
}

/* ------------------------------------------------------------ program -- */

static void program_make(struct program *program, const char *text)
{
    static const int types[] = { TYPE_I32 };
    struct error error;
    program_init(program);
    assert_int_equal(program_read(text, program, &error), VDBQ_OK);
    struct program_table *table = vector_at(&program->tables, 0);
    table->column_count = 1;
    table->column_types = types;
    table->key_type = TYPE_I64;
    assert_int_equal(program_check(program, &error), VDBQ_OK);
}

/* What a query over many launches saw. */
struct seen {
    unsigned launches;
    uint64_t rows;
    uint64_t wrong; /* rows that are not the expected ones, in order */
    char build[64];
};

static int32_t value_at(uint64_t i)
{
    return (int32_t)(i * 2654435761u % 201) - 100;
}

/* Counts the rows of a launch, and those that are wrong. */
static void take_rows(struct launcher *launcher, const int32_t *values,
                      struct seen *seen)
{
    struct vdbq_batch batch;
    uint64_t at = 0;
    struct error error;
    for (;;) {
        assert_int_equal(launcher_batch(launcher, &batch, &error), VDBQ_OK);
        if (batch.rows == 0)
            return;
        for (uint64_t i = 0; i < batch.rows; i++, at++) {
            while (at < ROWS && values[at] <= 60)
                at++;
            seen->rows++;
            seen->wrong +=
                at >= ROWS
                || ((const int32_t *)batch.column[0].values)[i] != values[at];
        }
    }
}

/* Runs launches until the specialised machine has run some, or `most`. */
static struct seen query_run(struct device *device, unsigned most)
{
    struct seen seen = { 0 };
    struct program program;
    struct launcher *launcher;
    struct error error;
    struct device_memory *data;
    struct column_input input = { .width = 4, .encoding = ENCODING_PLAIN };
    program_make(&program, program_text);
    const struct settings settings = settings_default();
    const struct run_place place = { .device = device,
                                     .mode = MODE_SERIAL,
                                     .settings = &settings };
    struct launcher_params params = { .place = &place,
                                      .program = &program,
                                      .rows = (uint64_t)most * ROWS };
    assert_int_equal(
        device_memory_create(device, MEMORY_PINNED, ROWS * 4, &data, &error),
        VDBQ_OK);
    int32_t *values = device_memory_host(data);
    for (uint64_t i = 0; i < ROWS; i++)
        values[i] = value_at(i);
    assert_int_equal(launcher_open(&params, &launcher, &error), VDBQ_OK);
    struct launcher_request request = {
        .morsels = { { .inputs = &input, .rows = ROWS, .host = (u8 *)values } },
        .count = 1
    };
    unsigned after = 0;
    while (seen.launches < most && after < 3) {
        assert_int_equal(launcher_start(launcher, &request, &error), VDBQ_OK);
        seen.launches++;
        take_rows(launcher, values, &seen);
        after += strcmp(launcher_build(launcher), "interpreted") != 0;
        nap(1);
    }
    strcpy(seen.build, launcher_build(launcher));
    launcher_close(launcher);
    device_memory_destroy(data);
    program_finish(&program);
    return seen;
}

static uint64_t rows_expected(const struct seen *seen)
{
    uint64_t rows = 0;
    for (uint64_t i = 0; i < ROWS; i++)
        rows += value_at(i) > 60;
    return rows * seen->launches;
}

/* Starts launches over `data` while there is room; how many. */
static unsigned start_all(struct launcher *launcher, struct device_memory *data)
{
    struct column_input input = { .width = 4, .encoding = ENCODING_PLAIN };
    struct launcher_request request = {
        .morsels = { { .inputs = &input, .rows = ROWS, .data = data } },
        .count = 1
    };
    struct error error;
    unsigned started = 0;
    for (; launcher_has_room(launcher); started++)
        assert_int_equal(launcher_start(launcher, &request, &error), VDBQ_OK);
    return started;
}

/* -------------------------------------------------------------- tests -- */

/* On the host's memory nothing is worked on ahead before the first launch's
 * rows were asked for. */
static void first_launch_is_alone(void **state)
{
    struct device_params params = { .choice = "host" };
    struct device *device;
    struct device_memory *data;
    struct program program;
    struct launcher *launcher;
    struct error error;
    struct seen seen = { 0 };
    static int32_t values[ROWS];
    (void)state;
    program_make(&program, program_text);
    assert_int_equal(device_open(&params, &device, &error), VDBQ_OK);
    assert_int_equal(device_memory_create(device, MEMORY_PINNED, sizeof values,
                                          &data, &error),
                     VDBQ_OK);
    for (uint64_t i = 0; i < ROWS; i++)
        values[i] = value_at(i);
    memcpy(device_memory_host(data), values, sizeof values);
    const struct settings settings = settings_default();
    const struct run_place place = { .device = device,
                                     .mode = MODE_MAPPED,
                                     .settings = &settings };
    assert_int_equal(
        launcher_open(
            &(struct launcher_params){ .place = &place, .program = &program },
            &launcher, &error),
        VDBQ_OK);
    assert_int_equal(start_all(launcher, data), 1);
    take_rows(launcher, values, &seen);
    assert_int_equal(start_all(launcher, data), LAUNCHER_RING_MAX);
    for (int i = 0; i < LAUNCHER_RING_MAX; i++)
        take_rows(launcher, values, &seen);
    seen.launches = 1 + LAUNCHER_RING_MAX;
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.rows, rows_expected(&seen));
    launcher_close(launcher);
    device_memory_destroy(data);
    device_close(device);
    program_finish(&program);
}

/* The machine changes while the query runs; rows and their order stay, and
 * the stats tell from which launch on. The next query starts with it. */
static void machine_changes_between_launches(void **state)
{
    (void)state;
    struct device *device = fake_open(20, 3);
    struct seen seen = query_run(device, LAUNCHES_MAX);
    char expected[64];
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.rows, rows_expected(&seen));
    assert_true(seen.launches > 3 && seen.launches < LAUNCHES_MAX);
    snprintf(expected, sizeof expected, "adaptive (specialised from launch %u)",
             seen.launches - 2);
    assert_string_equal(seen.build, expected);
    seen = query_run(device, 2);
    assert_int_equal(seen.wrong, 0);
    assert_string_equal(seen.build, "specialised");
    fake_close(device);
}

/* A device that keeps times only when asked keeps them for a query that may
 * change its machine: it notes what it gained. */
static void gain_is_noted_where_no_times_are_kept(void **state)
{
    struct device_params params = { .choice = "cpu" };
    struct device *device;
    struct error error;
    (void)state;
    if (device_open(&params, &device, &error) != VDBQ_OK)
        skip();
    device->known.tuning.gain = 1000;
    device->known.tuning.cost_ns = 0;
    device->known.tuning.compile_ns = device->known.tuning.cached_ns = 0;
    struct seen seen = query_run(device, COMPILED_LAUNCHES_MAX);
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.rows, rows_expected(&seen));
    assert_true(seen.launches < COMPILED_LAUNCHES_MAX);
    /* What was gained is the machine's and the moment's affair; it is noted. */
    assert_true(device_tuning(device)->gain != 1000);
    assert_int_equal(device->times_holds, 0);
    device_close(device);
}

/* A query that ends first does not wait; the next one finds the machine. */
static void build_serves_the_next_query(void **state)
{
    (void)state;
    struct device *device = fake_open(50, 3);
    struct seen seen = query_run(device, 2);
    assert_string_equal(seen.build, "interpreted");
    assert_null(fake.kept);
    nap(120);
    seen = query_run(device, 2);
    assert_string_equal(seen.build, "specialised");
    assert_int_equal(seen.wrong, 0);
    fake_close(device);
}

/* Closing joins a build that still runs. */
static void close_joins_the_build(void **state)
{
    (void)state;
    struct device *device = fake_open(50, 3);
    query_run(device, 2);
    assert_non_null(device->builders);
    device_close(device);
    assert_non_null(fake.kept);
    device_close(fake.second);
}

/* No gain, or a price that the rows never pay: nothing is built. */
static void nothing_is_built_that_does_not_pay(void **state)
{
    (void)state;
    struct device *device = fake_open(0, 1);
    query_run(device, 3);
    assert_null(device->builders);
    device->known.tuning.gain = 3;
    device->known.tuning.compile_ns = 1000000000000;
    struct seen seen = query_run(device, 3);
    assert_null(device->builders);
    assert_string_equal(seen.build, "interpreted");
    fake_close(device);
}

/* Queries that come again and again pay for the build together. */
static void queries_add_up(void **state)
{
    (void)state;
    struct device *device = fake_open(0, 3);
    unsigned queries = 0;
    device->known.tuning.compile_ns = 2000000;
    while (fake.kept == NULL && queries < LAUNCHES_MAX) {
        query_run(device, 1);
        queries++;
    }
    assert_true(queries > 1 && queries < LAUNCHES_MAX);
    fake_close(device);
}

/* A build that fails changes nothing, and is not tried again. */
static void failed_build_changes_nothing(void **state)
{
    (void)state;
    struct device *device = fake_open(0, 3);
    fake.fails = true;
    struct seen seen = query_run(device, 20);
    assert_int_equal(seen.wrong, 0);
    assert_string_equal(seen.build, "interpreted");
    assert_null(device->builders);
    fake_close(device);
}

/* A device on which no build ever pays. */
static struct device *dear_open(void)
{
    struct device *device = fake_open(0, 3);
    device->known.tuning.compile_ns = 1000000000000;
    device->known.tuning.cached_ns = 1000000000000;
    return device;
}

/* Who asks twice of many rows asks again: that is built whatever it takes, and
 * a third query starts with it. What is over few rows is not. */
static void second_sight_builds(void **state)
{
    (void)state;
    struct device *device = dear_open();
    for (int i = 0; i < 4; i++)
        query_run(device, 2);
    assert_null(device->builders);
    assert_string_equal(query_run(device, MANY_LAUNCHES).build, "interpreted");
    assert_null(device->builders);
    struct seen seen = query_run(device, LAUNCHES_MAX);
    assert_string_not_equal(seen.build, "interpreted");
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.rows, rows_expected(&seen));
    assert_string_equal(query_run(device, 2).build, "specialised");
    fake_close(device);
}

/* What a cache holds is loaded behind the first query over many rows. */
static void what_is_kept_is_taken_at_first_sight(void **state)
{
    (void)state;
    struct device *device = dear_open();
    query_run(device, 2);
    struct device_shape *shape = vector_at(&device->known.shapes, 0);
    assert_int_equal(shape->sights, 0);
    shape->built = true;
    struct seen seen = query_run(device, LAUNCHES_MAX);
    assert_string_not_equal(seen.build, "interpreted");
    assert_int_equal(seen.wrong, 0);
    fake_close(device);
}

/* Where neither machine is in memory yet, it is loaded in place of the interpreted
 * one. */
static void what_is_kept_is_loaded_first(void **state)
{
    (void)state;
    struct device *device = dear_open();
    query_run(device, 2);
    struct device_shape *shape = vector_at(&device->known.shapes, 0);
    fake.unloaded = true;
    assert_string_equal(query_run(device, 2).build, "interpreted");
    shape->built = true;
    struct seen seen = query_run(device, MANY_LAUNCHES);
    assert_string_equal(seen.build, "specialised");
    assert_int_equal(seen.wrong, 0);
    fake_close(device);
}

/* While one is built, another that was sighted twice waits for a later query. */
static void one_is_built_at_a_time(void **state)
{
    (void)state;
    struct device *device = dear_open();
    struct device_times ignored = { 0 };
    query_run(device, MANY_LAUNCHES);
    atomic_store(&fake.waits, true);
    fake.fails = true;
    strcpy(fake.body, "of another program");
    const struct device_machine_params other = {
        .build = BUILD_SPECIALISED, .registers = 2, .axes = 1, .body = fake.body
    };
    assert_true(device_machine_behind(device, &other));
    assert_false(device_machine_behind(device, &other));
    query_run(device, 20);
    assert_string_equal(query_run(device, MANY_LAUNCHES).build, "interpreted");
    atomic_store(&fake.waits, false);
    builder_collect(device, true, &ignored);
    fake.body[0] = '\0';
    fake.fails = false;
    assert_string_not_equal(query_run(device, LAUNCHES_MAX).build,
                            "interpreted");
    fake_close(device);
}

/* Where the interpreted machine is not there for long, the first launch runs
 * specialised while a process builds that one; a program without the process
 * waits for it. */
static void what_is_far_is_not_waited_for(void **state)
{
    struct device *device = fake_open(0, 3);
    (void)state;
    strcpy(device->known.key, "unit-adaptive");
    fake.is_far = true;
    assert_string_equal(query_run(device, 1).build, "interpreted");
    assert_true(fake.processes > 0);
    fake_close(device);

    device = fake_open(0, 3);
    strcpy(device->known.key, "unit-adaptive");
    fake.is_far = fake.has_process = true;
    struct seen seen = query_run(device, 2);
    assert_string_equal(seen.build, "specialised");
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.rows, rows_expected(&seen));
    assert_null(device->backend->machine_find(
        device, &(struct device_machine_params){ .build = BUILD_INTERPRETED }));
    fake_close(device);
}

/* The program's text where the input is encoded so in all launches; 0: not. */
static void body_make(const struct program *program, unsigned char encoding)
{
    struct program_pack pack;
    struct arena arena = { 0 };
    struct text text = { 0 };
    struct error error;
    assert_int_equal(program_pack(program, &arena, &pack, &error), VDBQ_OK);
    program_specialise(program, &pack,
                       &(struct program_loads){ .encodings = &encoding },
                       &text);
    assert_true(!text.failed && text.length < sizeof fake.body);
    strcpy(fake.body, text.bytes);
    text_finish(&text);
    arena_finish(&arena);
}

/* One launch over some rows, of which none is kept. */
static void launch_none(struct launcher *launcher, struct column_input input,
                        void *values)
{
    struct launcher_request request = {
        .morsels = { { .inputs = &input, .rows = 64, .host = values } },
        .count = 1
    };
    struct vdbq_batch batch;
    struct error error;
    assert_int_equal(launcher_start(launcher, &request, &error), VDBQ_OK);
    assert_int_equal(launcher_batch(launcher, &batch, &error), VDBQ_OK);
    assert_int_equal(batch.rows, 0);
}

/* A launch whose inputs are encoded otherwise gets another machine, which then
 * serves both; until it is there, launches are interpreted. */
static void other_encodings_change_the_machine(void **state)
{
    static int32_t values[64];
    const struct column_input plain = { .width = 4,
                                        .encoding = ENCODING_PLAIN };
    const struct column_input constant = { .width = 4,
                                           .encoding = ENCODING_CONSTANT };
    struct device *device = fake_open(0, 3);
    struct program program;
    struct launcher *launcher;
    struct error error;
    (void)state;
    query_run(device, 3);
    nap(20);
    query_run(device, 3);
    program_make(&program, program_text);
    body_make(&program, 1 + ENCODING_PLAIN);
    device->known.tuning.gain = 3;
    device->known.tuning.compile_ns = 1000000000000;
    const struct settings settings = settings_default();
    const struct run_place place = { .device = device, .settings = &settings };
    assert_int_equal(
        launcher_open(
            &(struct launcher_params){ .place = &place, .program = &program },
            &launcher, &error),
        VDBQ_OK);
    launch_none(launcher, plain, values);
    assert_string_equal(launcher_build(launcher), "specialised");
    launch_none(launcher, constant, values);
    assert_string_equal(launcher_build(launcher),
                        "adaptive (1 of 2 launches specialised)");
    body_make(&program, 0);
    launch_none(launcher, plain, values);
    launch_none(launcher, constant, values);
    assert_string_equal(launcher_build(launcher),
                        "adaptive (3 of 4 launches specialised)");
    launcher_close(launcher);
    program_finish(&program);
    fake_close(device);
}

/* Constants are arguments: two queries that differ in one share a machine. */
static void constants_share_a_machine(void **state)
{
    (void)state;
    char *other = strdup(program_text);
    struct text bodies[2] = { { 0 }, { 0 } };
    memcpy(strstr(other, "60"), "61", 2);
    for (int i = 0; i < 2; i++) {
        struct program program;
        struct program_pack pack;
        struct arena arena = { 0 };
        struct error error;
        program_make(&program, i == 0 ? program_text : other);
        assert_int_equal(program_pack(&program, &arena, &pack, &error),
                         VDBQ_OK);
        assert_int_equal(pack.constants[0], 60 + i);
        program_specialise(&program, &pack, &(struct program_loads){ 0 },
                           &bodies[i]);
        arena_finish(&arena);
        program_finish(&program);
    }
    assert_string_equal(bodies[0].bytes, bodies[1].bytes);
    text_finish(&bodies[0]);
    text_finish(&bodies[1]);
    free(other);
}

/* ------------------------------------------------------------- tuning -- */

/* What a process finds that opens the device now. */
static struct device *tuning_open(const char *driver)
{
    const char *const parts[] = { "platform", driver, NULL };
    struct device *device = fake_open(0, 1);
    known_init(&device->known, parts, "source", &tuned);
    return device;
}

/* Checks what such a process finds. */
static void check_tuning(const char *driver, unsigned tile, double gain)
{
    struct device *device = tuning_open(driver);
    assert_int_equal(device_tuning(device)->tile, tile);
    assert_true(device_tuning(device)->gain == gain);
    fake_close(device);
}

static void file_put(const char *path, const char *how, const char *text)
{
    FILE *file = fopen(path, how);
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* What was tuned is found again by the same device and driver alone, and a
 * file with anything wrong in it is not used at all. */
static void tuning_is_kept(void **state)
{
    static const char *const wrong[] = { "tile 3\n",     "tile\n",
                                         "tile x\n",     "colour 3\n",
                                         "gain nan\n",   "gain -1\n",
                                         "tile 512 5\n", "tile 512" };
    struct device *device = tuning_open("1");
    struct device_tuning tuning = *device_tuning(device);
    struct text path = { 0 };
    struct error error;
    (void)state;
    assert_int_equal(tuning.tile, 1024);
    tuning.tile = 256;
    tuning.gain = 2.5;
    tuning.host_rows_max = 4321;
    tuning.pary_keys_max = 256;
    tuning.look_ups_min = 654321;
    tuning.limits.copy_both = 77.25;
    device_tuning_set(device, &tuning);
    assert_int_equal(device_tuning_save(device, &path, &error), VDBQ_OK);
    fake_close(device);
    check_tuning("1", 256, 2.5);
    check_tuning("2", 1024, 1);
    device = tuning_open("1");
    assert_true(device_tuning(device)->limits.copy_both == 77.25);
    assert_true(device_tuning(device)->limits.memory_read == 0);
    assert_int_equal(search_choose(device, 256), SEARCH_PARY);
    assert_int_equal(search_choose(device, 257), SEARCH_TREE);
    assert_int_equal(device_tuning(device)->look_ups_min, 654321);
    fake_close(device);
    assert_int_equal(device_host_rows_max(), 4321);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        file_put(path.bytes, "w", wrong[i]);
        check_tuning("1", 1024, 1);
    }
    file_put(path.bytes, "w", "# a note\n\ngain 3\n");
    check_tuning("1", 1024, 3);
    text_finish(&path);
}

/* That a program was built once is known to the next process. */
static void built_shapes_are_known(void **state)
{
    struct device *device = tuning_open("3");
    (void)state;
    assert_false(device_shape(device, "body")->built);
    assert_false(known_build(device, "body", 1007));
    assert_true(device_shape(device, "body")->built);
    assert_int_equal(device_tuning(device)->compile_ns, (3 * 7 + 1007) / 4);
    assert_true(known_build(device, "body", 108));
    assert_int_equal(device_tuning(device)->cached_ns, (3 * 8 + 108) / 4);
    fake_close(device);
    device = tuning_open("3");
    assert_true(device_shape(device, "body")->built);
    assert_false(device_shape(device, "other")->built);
    fake_close(device);
    device = tuning_open("4");
    assert_false(device_shape(device, "body")->built);
    fake_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_launch_is_alone),
        cmocka_unit_test(machine_changes_between_launches),
        cmocka_unit_test(gain_is_noted_where_no_times_are_kept),
        cmocka_unit_test(build_serves_the_next_query),
        cmocka_unit_test(close_joins_the_build),
        cmocka_unit_test(nothing_is_built_that_does_not_pay),
        cmocka_unit_test(queries_add_up),
        cmocka_unit_test(second_sight_builds),
        cmocka_unit_test(what_is_kept_is_taken_at_first_sight),
        cmocka_unit_test(what_is_kept_is_loaded_first),
        cmocka_unit_test(one_is_built_at_a_time),
        cmocka_unit_test(what_is_far_is_not_waited_for),
        cmocka_unit_test(failed_build_changes_nothing),
        cmocka_unit_test(other_encodings_change_the_machine),
        cmocka_unit_test(constants_share_a_machine),
        cmocka_unit_test(tuning_is_kept),
        cmocka_unit_test(built_shapes_are_known),
    };
    return cmocka_run_group_tests(tests, own_cache_make, own_cache_remove);
}
