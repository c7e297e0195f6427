/* SPDX-License-Identifier: MIT */
/*
 * The self-test's searches: sorted columns of every type in which values come
 * once or several times, and keys that are in them, between them, beyond them,
 * and NULL. Every value and every key is a step of a stair that each type has.
 * Where a bound is follows from the steps alone, not from any search.
 */
#include "trial/selftest_search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cl/bits.h"
#include "device/search.h"

/* So many that a directory has four levels, of which a team reads two; enough keys
 * for items of a CPU to sort them. */
enum {
    VALUES = 36000,
    NULLS = 100, /* of these, the first */
    NANS = 3,    /* ... and the last    */
    KEYS = 20 * SEARCH_SORTED_LEAST,
    STEPS = 2 * VALUES + 3, /* 0: NULL; the last one: NaN */
    ZERO = STEPS / 2,       /* a value's step             */
    TEXT_BYTES = 14,
    WORDS_MAX = 2 * SEARCH_ROW_COLUMN_WORDS /* of a row of two columns */
};

/* A column, its keys, and what the device said of them. */
struct searches {
    enum search_type type;
    uint32_t below[STEPS + 1]; /* how many values are of lower steps */
    uint64_t values[WORDS_MAX * VALUES];
    char texts[TEXT_BYTES * VALUES];
    uint32_t first_key; /* of those that are searched */
    uint32_t key_steps[KEYS];
    uint64_t keys[WORDS_MAX * KEYS];
    char key_texts[TEXT_BYTES * KEYS];
    uint8_t key_nulls[KEYS];
    uint32_t places[2 * KEYS];
};

static const char *const type_names[] = {
#define SEARCH_TYPE(name) #name,
    SEARCH_TYPES(SEARCH_TYPE)
#undef SEARCH_TYPE
};

/* -------------------------------------------------------------- values -- */

/* Zeros are of either sign. */
static double real_of(uint32_t step, uint32_t i)
{
    if (step == STEPS - 1)
        return (double)NAN;
    if (step == ZERO)
        return i % 2 == 0 ? 0.0 : -0.0;
    return ((double)step - ZERO) * 0.375;
}

/* Texts differ in their first 8 bytes, behind them, or in their length. */
static uint32_t text_of(uint32_t step, char *bytes)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%06u...%01u", step / 21, step / 3 % 7);
    memcpy(bytes, digits, 10);
    memset(bytes + 10, 'x', TEXT_BYTES - 10);
    return 10 + step % 3 * 2;
}

/* Writes number `i` of the column or of the keys. */
static void put(enum search_type type, uint32_t step, uint32_t i,
                uint64_t *words, char *texts)
{
    int64_t stair = (int64_t)step - ZERO;
    char *text = texts + (size_t)i * TEXT_BYTES;
    switch (type) {
    case SEARCH_I32:
        ((int32_t *)words)[i] = (int32_t)(stair * 29000);
        break;
    case SEARCH_I64:
        words[i] = (uint64_t)(stair * 77777777777);
        break;
    case SEARCH_F32:
        ((float *)words)[i] = (float)real_of(step, i);
        break;
    case SEARCH_F64:
        words[i] = bits_of_f64(real_of(step, i));
        break;
    case SEARCH_U32: /* half of them are more than the greatest with a sign */
        ((uint32_t *)words)[i] = step * 59000;
        break;
    case SEARCH_U64:
        words[i] = step * UINT64_C(256000000000000);
        break;
    case SEARCH_PAIR:
        words[2 * i] = UINT64_C(0x7fffffffffffff00) + step / 7;
        words[2 * i + 1] = step % 7 * UINT64_C(0x2000000000000000);
        break;
    case SEARCH_TEXT:
        search_text_words(text, text_of(step, text), i * TEXT_BYTES,
                          words + 2 * i);
        break;
    default: /* each of two columns is NULL in some rows */
        words += (uint64_t)WORDS_MAX * i;
        search_row_words(TYPE_I64, step / 5, step / 5 == 0, words);
        search_row_words(TYPE_F64, bits_of_f64(step % 5 - 2.5), step % 5 == 0,
                         words + SEARCH_ROW_COLUMN_WORDS);
    }
}

/* Even steps but 0 are no values; some of the others come three times. */
static uint32_t step_of_value(uint32_t i)
{
    if (i < NULLS)
        return 0;
    if (i >= VALUES - NANS)
        return STEPS - 1;
    return (i % 9 < 3 ? i - i % 9 : i) * 2 + 1;
}

static void fill(struct searches *searches, enum search_type type)
{
    memset(searches->below, 0, sizeof searches->below);
    searches->type = type;
    for (uint32_t i = 0; i < VALUES; i++) {
        uint32_t step = step_of_value(i);
        searches->below[step + 1]++;
        put(type, step, i, searches->values, searches->texts);
    }
    for (uint32_t step = 0; step < STEPS; step++)
        searches->below[step + 1] += searches->below[step];
    for (uint32_t k = 0; k < KEYS; k++) {
        searches->key_steps[k] = (uint32_t)((uint64_t)k * 7919 % STEPS);
        searches->key_nulls[k] = searches->key_steps[k] == 0;
        put(type, searches->key_steps[k], k, searches->keys,
            searches->key_texts);
    }
}

/* -------------------------------------------------------------- search -- */

/* A copy of bytes on a device, with room for more. */
static enum vdbq_status bring(struct device *device, const void *bytes,
                              uint64_t size, uint64_t room,
                              struct device_memory **memory,
                              struct error *error)
{
    struct device_times ignored = { 0 };
    enum vdbq_status status =
        device_memory_create(device, MEMORY_DEVICE, room, memory, error);
    return status == VDBQ_OK
               ? device_write(*memory, 0, bytes, size, &ignored, error)
               : status;
}

static enum vdbq_status compare(const struct selftest *test,
                                const struct searches *searches,
                                const struct search_params *params)
{
    bool both = params->bound == SEARCH_BOUND_BOTH;
    for (uint32_t i = 0; i < params->key_count << both; i++) {
        uint32_t upper = both ? i & 1 : params->bound == SEARCH_BOUND_UPPER;
        uint32_t step = searches->key_steps[searches->first_key + (i >> both)];
        if (searches->places[i] != searches->below[step + upper])
            return error_set(
                test->error, VDBQ_DEVICE,
                "%s search of %s for the %s bounds of %u keys: "
                "answer %u is %u instead of %u",
                search_name(params->algorithm), type_names[searches->type],
                both    ? "lower and upper"
                : upper ? "upper"
                        : "lower",
                (unsigned)params->key_count, i, searches->places[i],
                searches->below[step + upper]);
    }
    return VDBQ_OK;
}

/* Every bound, by every algorithm; of few keys, which a launch may carry, of more,
 * and of many. */
static enum vdbq_status search_all(struct selftest *test,
                                   struct searches *searches,
                                   struct search_params *params)
{
    static const enum search_bound bounds[] = { SEARCH_BOUND_LOWER,
                                                SEARCH_BOUND_UPPER,
                                                SEARCH_BOUND_BOTH };
    static const enum search_algorithm algorithms[] = { SEARCH_BINARY,
                                                        SEARCH_PARY,
                                                        SEARCH_TREE };
    static const uint32_t counts[] = { 13, 999, KEYS };
    const void *key_nulls = params->key_nulls;
    uint64_t width = search_width(params->type, params->columns);
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < 27 && status == VDBQ_OK; i++) {
        struct search_times times = { 0 };
        params->bound = bounds[i % 3];
        params->algorithm = algorithms[i / 3 % 3];
        params->key_count = counts[i / 9];
        searches->first_key = i < 9; /* the first one is NULL */
        params->keys = (const char *)searches->keys + (i < 9) * width;
        params->key_nulls = i < 9 ? NULL : key_nulls;
        status = search_keys(test->device.device, params, searches->places,
                             &times, test->error);
        if (status == VDBQ_OK)
            status = compare(test, searches, params);
    }
    return status;
}

static enum vdbq_status test_type(struct selftest *test,
                                  struct searches *searches,
                                  enum search_type type)
{
    struct device *device = test->device.device;
    bool rows = type == SEARCH_ROWS, text = type == SEARCH_TEXT;
    struct search_params params = {
        .count = VALUES,
        .directory = true,
        .nulls = rows ? 0 : NULLS,
        .type = type,
        .columns = rows ? 2 : 0,
        .keys = searches->keys,
        .key_nulls = rows ? NULL : searches->key_nulls,
        .key_text = text ? searches->key_texts : NULL,
        .key_text_bytes = text ? sizeof searches->key_texts : 0,
    };
    fill(searches, type);
    uint64_t width = search_width(type, params.columns);
    struct device_times ignored = { 0 };
    enum vdbq_status status =
        bring(device, searches->values, VALUES * width,
              search_directory_size(type, params.columns, VALUES),
              &params.sorted, test->error);
    if (status == VDBQ_OK)
        status = search_directory_make(device, &params, &ignored, test->error);
    if (status == VDBQ_OK && text)
        status = bring(device, searches->texts, sizeof searches->texts,
                       sizeof searches->texts, &params.text, test->error);
    if (status == VDBQ_OK)
        status = search_all(test, searches, &params);
    device_memory_destroy(params.sorted);
    device_memory_destroy(params.text);
    return status;
}

enum vdbq_status selftest_search(struct selftest *test)
{
    char line[128];
    struct searches *searches = memory_zeroed(1, sizeof *searches);
    enum vdbq_status status = VDBQ_OK;
    if (searches == NULL)
        return error_no_memory(test->error);
    for (int type = 0; type < SEARCH_TYPE_COUNT && status == VDBQ_OK; type++)
        status = test_type(test, searches, (enum search_type)type);
    memory_release(searches);
    if (status != VDBQ_OK)
        return status;
    snprintf(line, sizeof line,
             "ok: binary, p-ary and tree search of %d types, every bound, %d "
             "values, up to %d keys",
             SEARCH_TYPE_COUNT, VALUES, KEYS);
    test->report(test->context, line);
    return VDBQ_OK;
}
