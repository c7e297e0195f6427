/* SPDX-License-Identifier: MIT */
/*
 * The self-test's searches: sorted columns in which values come once or
 * several times, and keys that are in them, between them and beyond them.
 */
#include "trial/selftest_search.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "device/search.h"

/* Some more than 33 * 33 parts of 33, so that p-ary search takes four steps. */
enum { VALUES = 36000, KEYS = 1000 };

/* A column, its keys, and the host's and the device's answers. */
struct searches {
    enum search_type type;
    uint64_t values[2 * VALUES]; /* a word each, or two */
    uint64_t keys[2 * KEYS];
    uint32_t expected[KEYS];
    uint32_t places[KEYS];
};

/* Texts differ in either word; integers are of both signs. */
static void put(struct searches *searches, uint64_t *words, unsigned i,
                unsigned step)
{
    if (searches->type == SEARCH_TEXT) {
        words[2 * i] = UINT64_C(0x7fffffffffffff00) + step / 7;
        words[2 * i + 1] = step % 7 * UINT64_C(0x2000000000000000);
    } else {
        words[i] = (step - UINT64_C(20000)) * 77777777777;
    }
}

/* Even steps are no values; some of the others come three times. */
static void fill(struct searches *searches, enum search_type type)
{
    searches->type = type;
    for (unsigned i = 0; i < VALUES; i++)
        put(searches, searches->values, i, (i % 9 < 3 ? i - i % 9 : i) * 2 + 1);
    for (unsigned k = 0; k < KEYS; k++)
        put(searches, searches->keys, k, k * 7919 % (2 * VALUES + 3));
}

static enum vdbq_status search(struct device *device,
                               const struct searches *searches,
                               enum search_algorithm algorithm,
                               uint32_t *places, struct error *error)
{
    uint64_t size = VALUES * search_width(searches->type);
    struct search_times times = { 0 };
    struct device_memory *sorted;
    enum vdbq_status status =
        device_memory_create(device, MEMORY_DEVICE, size, &sorted, error);
    if (status == VDBQ_OK)
        status =
            device_write(sorted, 0, searches->values, size, &times.in, error);
    if (status == VDBQ_OK)
        status = search_keys(device,
                             &(struct search_params){ .sorted = sorted,
                                                      .count = VALUES,
                                                      .type = searches->type,
                                                      .keys = searches->keys,
                                                      .key_count = KEYS,
                                                      .algorithm = algorithm },
                             places, &times, error);
    device_memory_destroy(sorted);
    return status;
}

static enum vdbq_status compare(const struct selftest *test,
                                const struct searches *searches,
                                enum search_algorithm algorithm)
{
    for (unsigned k = 0; k < KEYS; k++)
        if (searches->places[k] != searches->expected[k])
            return error_set(
                test->error, VDBQ_DEVICE,
                "%s search of %s: key %u is at %u, on the host at %u",
                algorithm == SEARCH_PARY ? "p-ary" : "binary",
                searches->type == SEARCH_TEXT ? "texts" : "integers", k,
                searches->places[k], searches->expected[k]);
    return VDBQ_OK;
}

/* One type, by the host's binary search and both of the device. */
static enum vdbq_status test_type(struct selftest *test,
                                  struct searches *searches,
                                  enum search_type type)
{
    fill(searches, type);
    enum vdbq_status status = search(test->host.device, searches, SEARCH_BINARY,
                                     searches->expected, test->error);
    for (int a = SEARCH_BINARY; a <= SEARCH_PARY && status == VDBQ_OK; a++) {
        enum search_algorithm algorithm = (enum search_algorithm)a;
        status = search(test->device.device, searches, algorithm,
                        searches->places, test->error);
        if (status == VDBQ_OK)
            status = compare(test, searches, algorithm);
    }
    return status;
}

enum vdbq_status selftest_search(struct selftest *test)
{
    char line[128];
    struct searches *searches = memory_zeroed(1, sizeof *searches);
    if (searches == NULL)
        return error_no_memory(test->error);
    enum vdbq_status status = test_type(test, searches, SEARCH_I64);
    if (status == VDBQ_OK)
        status = test_type(test, searches, SEARCH_TEXT);
    memory_release(searches);
    if (status != VDBQ_OK)
        return status;
    snprintf(line, sizeof line,
             "ok: binary and p-ary search, %d values, %d keys, as on the host",
             VALUES, KEYS);
    test->report(test->context, line);
    return VDBQ_OK;
}
