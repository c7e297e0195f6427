/* SPDX-License-Identifier: MIT */
/*
 * Searches in sorted columns, against plain C: all algorithms, integers and
 * pairs of words, on the host and on the tested device; and the kernels' form
 * for groups, with a thread for each item, whatever devices there are. Other
 * types and bounds are those of the self-test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cl/search/search.h"
#include "cl/types.h"
#include "device/backend.h"
#include "device/kind.h"
#include "device/search.h"
#include "fixtures/device_rig.h"

/* Groups of a team's items. What they share is static; who waits meets the others. */
enum { ITEMS = SEARCH_TEAM, GROUPS = 2 };
static pthread_barrier_t barrier;
static _Thread_local u32 local_id;
static u32 group_id;

#define VDBQ_GROUP 16
#define GLOBAL
#define LOCAL                      static
#define KERNEL                     static
#define KERNEL_OF(items)           static
#define WAIT                       pthread_barrier_wait(&barrier)
#define get_local_id(dimension)    local_id
#define get_group_id(dimension)    ((u64)group_id)
#define get_num_groups(dimension)  ((u64)GROUPS)
#define get_global_id(dimension)   ((u64)group_id * ITEMS + local_id)
#define get_global_size(dimension) ((u64)GROUPS * ITEMS)
#include "cl/search/search.cl"

/* One, and around powers of 2, blocks, nodes of whole blocks, and nodes of
 * these: there are up to four levels. Where a level has a few entries more, a team
 * begins above it: 961 of the lowest, then of the third. */
static const uint32_t sizes[] = {
    0,     1,     2,     3,     4,     7,     8,     9,     10,    15,
    16,    17,    31,    32,    33,    80,    112,   127,   128,   129,
    143,   144,   255,   256,   257,   1007,  1008,  1023,  1024,  1025,
    1040,  1152,  8191,  8192,  8193,  15359, 15360, 15375, 15376, 15377,
    16383, 16384, 32767, 32768, 35937, 65535, 65536, 65553
};
static const uint32_t large_sizes[] = { 983039, 983040,  984063,
                                        984064, 1048576, 1048577 };
#define COUNT_OF(sizes) (sizeof(sizes) / sizeof *(sizes))
enum {
    COUNT_MAX = 1048577,
    KEYS_MAX = 5000,
    ENDS = 1000,                           /* of leaves */
    KEYS_SORTED = 3 * SEARCH_SORTED_LEAST, /* of one item, or of two */
    ALGORITHMS = SEARCH_TREE + 1
};

static struct error failure;

static void ok(enum vdbq_status status)
{
    if (status != VDBQ_OK)
        fail_msg("%s", failure.message);
}

/* ------------------------------------------------------------ columns -- */

/* A column, its keys, and what a search says of them. */
static struct {
    enum search_type type;
    enum search_bound bound; /* lower or upper */
    uint32_t count, key_count;
    u64 values[2 * COUNT_MAX]; /* a word of each, or two */
    u64 keys[2 * KEYS_SORTED];
    uint32_t places[KEYS_SORTED];
} test;

static unsigned words(void)
{
    return test.type == SEARCH_I64 ? 1 : 2;
}

/* Value `step` of those that there may be, in their order: both words matter,
 * and integers are of both signs. */
static void make(u64 *to, int64_t step)
{
    if (test.type == SEARCH_I64) {
        to[0] = (u64)(step * 1000003 - 5000000000);
    } else {
        to[0] = 0x7ffffffffffffff0u + (u64)(step / 5); /* over the sign's bit */
        to[1] = (u64)(step % 5) * 0x3fffffffffffffffu;
    }
}

static int less(const u64 *a, const u64 *b)
{
    if (test.type == SEARCH_I64)
        return (int64_t)a[0] < (int64_t)b[0];
    return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

/* Every odd step is a value, `same` times. */
static void make_column(enum search_type type, uint32_t count, uint32_t same)
{
    test.type = type;
    test.bound = SEARCH_BOUND_LOWER;
    test.count = count;
    for (uint32_t i = 0; i < count; i++)
        make(test.values + i * words(), i / same * 2 + 1);
}

/* Keys that are there, that are not, and those out of all bounds. */
static void make_keys(uint32_t key_count, uint32_t same)
{
    static const u64 bounds[][2] = { { 0, 0 },
                                     { UINT64_MAX, UINT64_MAX },
                                     { (u64)INT64_MIN, 0 },
                                     { INT64_MAX, UINT64_MAX } };
    uint32_t steps = test.count / same * 2 + 3;
    test.key_count = key_count;
    for (uint32_t k = 0; k < key_count; k++)
        make(test.keys + k * words(), (int64_t)((u64)k * 7919 % steps));
    for (uint32_t k = 0; k < 4 && k < key_count; k++)
        memcpy(test.keys + k * words(), bounds[k], words() * sizeof(u64));
}

/* Whether a value lies before the bound of a key. */
static int before(const u64 *value, const u64 *key)
{
    return test.bound == SEARCH_BOUND_UPPER ? !less(key, value)
                                            : less(value, key);
}

static void check_places(void)
{
    for (uint32_t k = 0; k < test.key_count; k++) {
        const u64 *key = test.keys + k * words();
        uint32_t place = test.places[k];
        assert_true(place <= test.count);
        if (place > 0)
            assert_true(before(test.values + (place - 1) * words(), key));
        if (place < test.count)
            assert_false(before(test.values + place * words(), key));
    }
}

/* Calls `search` with columns of a size, of all types and repetitions: where it is
 * odd, for the upper bounds. */
static void each_column_of(uint32_t size, uint32_t key_count,
                           void (*search)(void *), void *context)
{
    static const enum search_type types[] = { SEARCH_I64, SEARCH_PAIR,
                                              SEARCH_ROWS };
    for (unsigned t = 0; t < COUNT_OF(types); t++)
        for (uint32_t same = 1; same <= 50; same += 49) {
            make_column(types[t], size, same);
            test.bound = size % 2 ? SEARCH_BOUND_UPPER : SEARCH_BOUND_LOWER;
            make_keys(key_count, same);
            memset(test.places, 0xff, sizeof test.places);
            search(context);
            check_places();
        }
}

/* ... of all sizes, too. */
static void each_column(uint32_t key_count, void (*search)(void *),
                        void *context)
{
    for (unsigned i = 0; i < COUNT_OF(sizes); i++)
        each_column_of(sizes[i], key_count, search, context);
}

/* ------------------------------------------------------------ devices -- */

struct searched {
    struct device *device;
    enum search_algorithm algorithm;
    bool directory;
};

/* Values on a device, with their directory or without it. */
static void bring(struct device *device, const void *values, uint64_t bytes,
                  struct search_params *params)
{
    struct device_times ignored = { 0 };
    uint64_t size =
        search_directory_size(params->type, params->columns, params->count);

    ok(device_memory_create(device, MEMORY_DEVICE,
                            params->directory ? size : bytes, &params->sorted,
                            &failure));
    ok(device_write(params->sorted, 0, values, bytes, &ignored, &failure));
    if (params->directory)
        ok(search_directory_make(device, params, &ignored, &failure));
}

static void search_on(void *context)
{
    const struct searched *searched = context;
    struct search_times times = { 0 };
    struct search_params params = { .count = test.count,
                                    .type = test.type,
                                    .columns = test.type == SEARCH_ROWS,
                                    .directory = searched->directory,
                                    .keys = test.keys,
                                    .key_count = test.key_count,
                                    .bound = test.bound,
                                    .algorithm = searched->algorithm };
    if (test.count > 0)
        bring(searched->device, test.values, test.count * words() * sizeof(u64),
              &params);
    ok(search_keys(searched->device, &params, test.places, &times, &failure));
    assert_int_equal(times.kernel.launches,
                     test.count > 0 && test.key_count > 0);
    device_memory_release(params.sorted);
}

static void search_devices(const char *choice)
{
    static const uint32_t key_counts[] = { 0,   1,        5,          16,
                                           300, KEYS_MAX, KEYS_SORTED };
    struct searched searched;
    ok(device_open(&(struct device_params){ .choice = choice },
                   &searched.device, &failure));
    for (unsigned a = 0; a < 2 * ALGORITHMS; a++)
        for (unsigned i = 0; i < sizeof key_counts / sizeof *key_counts; i++) {
            searched.algorithm = (enum search_algorithm)(a / 2);
            searched.directory = a % 2;
            if (searched.directory || searched.algorithm <= SEARCH_BINARY)
                each_column(key_counts[i], search_on, &searched);
        }
    device_close(searched.device);
}

static void test_host(void **state)
{
    (void)state;
    search_devices("host");
}

/* It is too slow for thousands of keys, and of the kind of CPUs. */
static bool is_simulator(void)
{
    return strcmp(rig_tested(), "oclgrind") == 0;
}

static void test_device(void **state)
{
    (void)state;
    rig_need_device();
    if (is_simulator())
        skip();
    search_devices(rig_tested());
}

/* The times are told apart, and AUTO goes by the number of keys alone. */
static void test_times(void **state)
{
    struct search_times times = { 0 };
    struct device_memory *sorted;
    struct device *device;
    (void)state;
    make_column(SEARCH_I64, 1000, 1);
    make_keys(100, 1);
    ok(device_open(&(struct device_params){ .choice = "host" }, &device,
                   &failure));
    ok(device_memory_create(device, MEMORY_DEVICE, 8000, &sorted, &failure));
    ok(device_write(sorted, 0, test.values, 8000, &times.out, &failure));
    times.out = (struct device_times){ 0 };
    ok(search_keys(device,
                   &(struct search_params){ .sorted = sorted,
                                            .count = 1000,
                                            .type = SEARCH_I64,
                                            .keys = test.keys,
                                            .key_count = 100 },
                   test.places, &times, &failure));
    check_places();
    assert_int_equal(times.in.bytes_in, 800);
    assert_int_equal(times.in.bytes_out + times.out.bytes_in, 0);
    assert_int_equal(times.out.bytes_out, 400);
    assert_int_equal(times.kernel.launches, 1);
    assert_true(times.kernel.kernel_ns > 0);
    assert_int_equal(search_choose(device, UINT64_MAX), SEARCH_BINARY);
    assert_int_equal(search_choose(device, 1), SEARCH_TREE);
    device_memory_destroy(sorted);
    device_close(device);
}

/* ---------------------------------------------------- keys in order -- */

/* Columns of numbers without a sign that are searched together: one of 32 bits,
 * one without values, one of 64 bits. Their keys are in order, the first and the
 * last one of a range each. */
enum { COLUMNS = 3, PART_VALUES = 5000, RANGES = 700 };
static struct {
    uint32_t narrow[PART_VALUES];
    u64 wide[PART_VALUES];
    u64 keys[COLUMNS * 2 * RANGES];
    uint32_t places[COLUMNS * 2 * RANGES];
} parts;

/* Values of part `p`: each comes `same` times, the greatest with a sign lies
 * among them. */
static u64 part_value(unsigned p, uint32_t i, uint32_t same)
{
    return p == 0 ? (i / same + 1) * 800011u
                  : (i / same + 1) * UINT64_C(3500000000000011);
}

static u64 part_key(unsigned p, uint32_t k, uint32_t ranges)
{
    u64 greatest = p == 0 ? UINT32_MAX : UINT64_MAX;

    return greatest / (2 * ranges) * k + k % 7;
}

static enum search_type part_type(unsigned p)
{
    return p == 0 ? SEARCH_U32 : SEARCH_U64;
}

static void make_parts(uint32_t same, uint32_t ranges)
{
    char *to = (char *)parts.keys;

    for (uint32_t i = 0; i < PART_VALUES; i++) {
        parts.narrow[i] = (uint32_t)part_value(0, i, same);
        parts.wide[i] = part_value(2, i, same);
    }
    for (unsigned p = 0; p < COLUMNS; p++) {
        for (uint32_t k = 0; k < 2 * ranges; k++)
            if (p == 0)
                ((uint32_t *)(void *)to)[k] = (uint32_t)part_key(0, k, ranges);
            else
                ((u64 *)(void *)to)[k] = part_key(p, k, ranges);
        to += search_keys_size(part_type(p), 0, 2 * ranges);
    }
}

/* How many values of a part are less than a key, or no more than it. */
static uint32_t part_place(unsigned p, u64 key, bool upper, uint32_t same)
{
    uint32_t count = 0;

    while (p != 1 && count < PART_VALUES
           && (part_value(p, count, same) < key
               || (upper && part_value(p, count, same) == key)))
        count++;
    return count;
}

static void bring_parts(struct device *device, struct search_params params[],
                        uint32_t ranges)
{
    const char *keys = (const char *)parts.keys;

    for (unsigned p = 0; p < COLUMNS; p++) {
        const void *values = p == 0 ? (void *)parts.narrow : parts.wide;
        u64 bytes = p == 0 ? sizeof parts.narrow : sizeof parts.wide;
        params[p] = (struct search_params){ .type = part_type(p),
                                            .directory = true,
                                            .count = p == 1 ? 0 : PART_VALUES,
                                            .keys = keys,
                                            .key_count = 2 * ranges,
                                            .ascending = true,
                                            .bound = SEARCH_BOUND_PAIRS };
        keys += search_keys_size(part_type(p), 0, 2 * ranges);
        if (p != 1)
            bring(device, values, bytes, &params[p]);
    }
}

static void search_parts_of(struct device *device, uint32_t same,
                            uint32_t ranges, enum search_algorithm algorithm)
{
    struct search_params params[COLUMNS];
    struct search_times times = { 0 };

    make_parts(same, ranges);
    bring_parts(device, params, ranges);
    for (unsigned p = 0; p < COLUMNS; p++)
        params[p].algorithm = algorithm;
    memset(parts.places, 0xff, sizeof parts.places);
    ok(search_parts(device, params, COLUMNS, parts.places, &times, &failure));
    assert_int_equal(times.kernel.launches, COLUMNS - 1);
    for (uint32_t i = 0; i < COLUMNS * 2 * ranges; i++) {
        unsigned p = i / (2 * ranges);
        u64 key = part_key(p, i % (2 * ranges), ranges);
        assert_int_equal(parts.places[i], part_place(p, key, i % 2 == 1, same));
    }
    for (unsigned p = 0; p < COLUMNS; p++)
        device_memory_release(params[p].sorted);
}

static void search_parts_on(const char *choice)
{
    static const uint32_t counts[] = { 1, 2, 5, 16, 17, RANGES };
    struct device *device;

    ok(device_open(&(struct device_params){ .choice = choice }, &device,
                   &failure));
    for (int a = SEARCH_AUTO; a < ALGORITHMS; a++)
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
            search_parts_of(device, 1 + i % 3 * 20, counts[i],
                            (enum search_algorithm)a);
    device_close(device);
}

static void test_parts(void **state)
{
    (void)state;
    search_parts_on("host");
    rig_need_device();
    if (!is_simulator())
        search_parts_on(rig_tested());
}

/* The kernels for groups as OpenCL has them, under the checks of a simulator. */
static void test_simulator(void **state)
{
    static const uint32_t counts[] = { 5, 1000, 15375, 15376, 40000 };
    struct searched searched = { .directory = true };
    struct device_kind kind;
    (void)state;
    if (!is_simulator())
        skip();
    ok(device_open(&(struct device_params){ .choice = rig_tested() },
                   &searched.device, &failure));
    kind = *searched.device->facts.kind;
    kind.group_items = ITEMS;
    searched.device->facts.kind = &kind;
    for (int a = SEARCH_BINARY; a < ALGORITHMS; a++)
        for (unsigned i = 0; i < COUNT_OF(counts); i++) {
            searched.algorithm = (enum search_algorithm)a;
            each_column_of(counts[i], 11, search_on, &searched);
            each_column_of(counts[i], 67, search_on, &searched);
            search_parts_of(searched.device, i + 1, 17, searched.algorithm);
        }
    device_close(searched.device);
}

/* On the thread itself, with a copy of some values and without it; keys are close
 * together, and far from each other. */
static void test_here(void **state)
{
    static uint32_t steps[PART_VALUES / SEARCH_STEP], keys[PART_VALUES];
    static uint32_t places[PART_VALUES];
    static const uint32_t gaps[] = { 1, 2, 33, 40001, 2000003, 700000001 };

    (void)state;
    make_parts(3, 1);
    for (uint32_t i = 0; i < PART_VALUES / SEARCH_STEP; i++)
        steps[i] = parts.narrow[(i + 1) * SEARCH_STEP - 1];
    for (unsigned g = 0; g < 2 * sizeof gaps / sizeof *gaps; g++) {
        uint32_t gap = gaps[g / 2], count = 0;
        for (u64 key = gap > 33 ? 0 : 800011;
             key <= UINT32_MAX && count < PART_VALUES; key += gap)
            keys[count++] = (uint32_t)key;
        search_here(&(struct search_here){ .type = SEARCH_U32,
                                           .sorted = parts.narrow,
                                           .count = PART_VALUES,
                                           .steps = g % 2 == 0 ? steps : NULL,
                                           .keys = keys,
                                           .key_count = count },
                    places);
        for (uint32_t k = 0; k < count; k += 1 + count / 500)
            assert_int_equal(places[k], part_place(0, keys[k], false, 3));
    }
}

/* ------------------------------------------------------------- groups -- */

/* Kernels by the types of values; some take keys with them. */
typedef void search_kernel(SEARCH_ARGUMENTS);
typedef void few_kernel(SEARCH_ARGUMENTS, struct search_few);
#define KERNEL_OF_TYPE(T, way) [SEARCH_##T] = vdbq_search_##way##_##T
#define BINARY_KERNEL(T)       KERNEL_OF_TYPE(T, binary),
#define TREE_KERNEL(T)         KERNEL_OF_TYPE(T, tree),
#define DIRECTORY_KERNEL(T)    KERNEL_OF_TYPE(T, directory),
#define PARY_KERNEL(T)         KERNEL_OF_TYPE(T, pary),
#define FEW_KERNEL(T)          KERNEL_OF_TYPE(T, few),
static search_kernel *const binary[] = { SEARCH_TYPES(BINARY_KERNEL) };
static search_kernel *const tree[] = { SEARCH_TYPES(TREE_KERNEL) };
static search_kernel *const directory[] = { SEARCH_TYPES(DIRECTORY_KERNEL) };
static search_kernel *const pary[] = { SEARCH_TYPES(PARY_KERNEL) };
static few_kernel *const few_kernels[] = { SEARCH_FEW_TYPES(FEW_KERNEL) };

/* The column with room for a directory, and keys that come with a launch. */
static u64 column[4 * COUNT_MAX];
static struct search_few few;

static u64 width(void)
{
    return words() * sizeof(u64);
}

/* The test's searches, by the kernel for its type. */
static void call(search_kernel *const kernels[])
{
    kernels[test.type]((const u8 *)column, (const u8 *)test.keys, test.places,
                       NULL, NULL, NULL, NULL, test.count, test.key_count, 0,
                       test.bound, width(), 0, 0, 0);
}

static bool is_carried(void)
{
    return test.type != SEARCH_ROWS && test.key_count * width() <= sizeof few;
}

static void call_team(void)
{
    if (is_carried())
        few_kernels[test.type]((const u8 *)column, NULL, test.places, NULL,
                               NULL, NULL, NULL, test.count, test.key_count, 0,
                               test.bound, width(), 0, 0, 0, few);
    else
        call(pary);
}

/* A kernel whose items do not wait. */
static void run_alone(void *kernels)
{
    for (group_id = 0; group_id < GROUPS && test.count > 0; group_id++)
        for (local_id = 0; local_id < ITEMS; local_id++)
            call(kernels);
}

/* What a launch finds: the column, its directory, and few keys with it. */
static void prepare(void)
{
    u64 at = search_directory_at(test.count, width());
    uint32_t *places = (uint32_t *)column + at / sizeof(uint32_t);
    memcpy(column, test.values, test.count * width());
    if (is_carried())
        memcpy(&few, test.keys, test.key_count * width());
    if (test.count == 0)
        memset(test.places, 0, sizeof test.places);
    for (group_id = 0; group_id < GROUPS && test.count > 0; group_id++)
        for (local_id = 0; local_id < ITEMS; local_id++)
            directory[test.type]((const u8 *)column, NULL, places, NULL, NULL,
                                 NULL, NULL, test.count, 0, 0, 0, width(), 0, 0,
                                 0);
}

static void *run_item(void *item)
{
    local_id = (u32)(uintptr_t)item;
    call_team();
    return NULL;
}

static void run_groups(void *context)
{
    pthread_t threads[ITEMS];
    (void)context;
    prepare();
    for (group_id = 0; group_id < GROUPS && test.count > 0; group_id++) {
        for (uintptr_t i = 0; i < ITEMS; i++)
            assert_int_equal(
                pthread_create(&threads[i], NULL, run_item, (void *)i), 0);
        for (unsigned i = 0; i < ITEMS; i++)
            pthread_join(threads[i], NULL);
    }
}

/* Each of two teams has some keys one after the other: 11 come with the launch, 67 do
 * not. */
static void test_group(void **state)
{
    (void)state;
    pthread_barrier_init(&barrier, NULL, ITEMS);
    each_column(11, run_groups, NULL);
    each_column(67, run_groups, NULL);
    for (unsigned i = 0; i < COUNT_OF(large_sizes); i++)
        each_column_of(large_sizes[i], 67, run_groups, NULL);
    pthread_barrier_destroy(&barrier);
}

/* Keys that are the last value of a leaf, and those that follow it: where leaves are
 * few, of each. So a team meets whatever there is to count in its steps. */
static void test_group_ends(void **state)
{
    static const uint32_t counts[] = { 15375, 15376, 65553, 984063, 984064 };
    (void)state;
    pthread_barrier_init(&barrier, NULL, ITEMS);
    for (unsigned i = 0; i < COUNT_OF(counts); i++) {
        uint32_t leaves = counts[i] / SEARCH_LEAF;
        make_column(SEARCH_I64, counts[i], 1);
        test.key_count = 2 * ENDS;
        for (uint32_t k = 0; k < 2 * ENDS; k++) {
            u64 leaf = (u64)(k / 2) * leaves / ENDS;
            make(test.keys + k,
                 (int64_t)((leaf + 1) * SEARCH_LEAF * 2 - 1 + k % 2));
        }
        run_groups(NULL);
        check_places();
    }
    pthread_barrier_destroy(&barrier);
}

static void run_prepared(void *kernels)
{
    prepare();
    run_alone(kernels);
}

/* Searches of a group's items that do not wait. */
static void test_group_alone(void **state)
{
    (void)state;
    each_column(1000, run_prepared, (void *)(uintptr_t)binary);
    each_column(1000, run_prepared, (void *)(uintptr_t)tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),        cmocka_unit_test(test_device),
        cmocka_unit_test(test_times),       cmocka_unit_test(test_group),
        cmocka_unit_test(test_group_alone), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_here),        cmocka_unit_test(test_group_ends),
        cmocka_unit_test(test_simulator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
