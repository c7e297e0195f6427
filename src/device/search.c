/* SPDX-License-Identifier: MIT */
/*
 * Searches: see search.h and cl/search/search.cl.
 */
#include "device/search.h"

#include <assert.h>
#include <string.h>

#include "cl/order.h"
#include "device/kernel.h"
#include "device/kind.h"

/* Columns that are searched together, and what all their keys take. Texts and
 * NULLs among keys are of one column alone. */
struct batch {
    const struct search_params *parts;
    unsigned count; /* of `parts` */
    uint64_t key_bytes, searches;
    uint64_t scratch_words;       /* of the launch that needs most */
    const struct search_few *few; /* the keys, if the launch carries them */
};

/* What a launch needs beside the column. */
struct call_memories {
    struct device_memory *keys, *places;
    struct device_memory *scratch;   /* NULL: nothing is sorted   */
    struct device_memory *key_text;  /* NULL: keys have no bytes  */
    struct device_memory *key_nulls; /* NULL: no key is NULL      */
};

uint64_t search_width(enum search_type type, unsigned columns)
{
    static const uint8_t widths[SEARCH_TYPE_COUNT] = {
        [SEARCH_I32] = 4, [SEARCH_I64] = 8,   [SEARCH_F32] = 4,
        [SEARCH_F64] = 8, [SEARCH_PAIR] = 16, [SEARCH_TEXT] = 16,
        [SEARCH_U32] = 4, [SEARCH_U64] = 8,
    };

    assert((type == SEARCH_ROWS) == (columns > 0));
    return type == SEARCH_ROWS
               ? columns * SEARCH_ROW_COLUMN_WORDS * sizeof(uint64_t)
               : widths[type];
}

uint64_t search_keys_size(enum search_type type, unsigned columns,
                          uint64_t count)
{
    return (count * search_width(type, columns) + 7) / 8 * 8;
}

void search_text_words(const void *bytes, uint32_t length, uint32_t place,
                       uint64_t words[2])
{
    const uint8_t *at = bytes;

    words[0] = 0;
    for (uint32_t i = 0; i < length && i < sizeof words[0]; i++)
        words[0] |= (uint64_t)at[i] << (56 - 8 * i);
    words[1] = (uint64_t)length << 32 | place;
}

void search_row_words(uint32_t type, uint64_t value, bool null,
                      uint64_t words[SEARCH_ROW_COLUMN_WORDS])
{
    words[0] = !null;
    words[1] = null ? 0 : value_code(type, value);
}

enum search_algorithm search_choose(const struct device *device,
                                    uint64_t key_count)
{
    if (key_count <= device_tuning(device)->pary_keys_max)
        return SEARCH_PARY;
    return device_group_items(device) <= 1
                   && key_count / device_facts(device)->cores
                          >= SEARCH_SORTED_LEAST
               ? SEARCH_BINARY
               : SEARCH_TREE;
}

const char *search_name(enum search_algorithm algorithm)
{
    static const char *const names[] = { [SEARCH_AUTO] = "no",
                                         [SEARCH_BINARY] = "binary",
                                         [SEARCH_PARY] = "p-ary",
                                         [SEARCH_TREE] = "tree" };

    return names[algorithm];
}

/* ------------------------------------------------------------- memories -- */

static uint64_t searches_of(const struct search_params *params)
{
    return params->bound == SEARCH_BOUND_BOTH ? 2 * params->key_count
                                              : params->key_count;
}

static uint64_t key_bytes(const struct search_params *params)
{
    return search_keys_size(params->type, params->columns, params->key_count);
}

static enum search_algorithm algorithm_of(const struct device *device,
                                          const struct search_params *params)
{
    if (params->algorithm != SEARCH_AUTO)
        return params->algorithm;
    return params->directory ? search_choose(device, params->key_count)
                             : SEARCH_BINARY;
}

/* Items that are alone and have many keys sort them: how many such items there
 * are, 0: none. The more keys one has, the more of them find the same memory. */
static uint64_t count_sorters(const struct device *device,
                              const struct search_params *params)
{
    return device_group_items(device) <= 1 && !params->ascending
                   && searches_of(params) >= SEARCH_SORTED_LEAST
                   && algorithm_of(device, params) == SEARCH_BINARY
               ? device_facts(device)->cores
               : 0;
}

static enum vdbq_status create(struct device *device, uint64_t size,
                               struct device_memory **memory,
                               struct error *error)
{
    return size == 0 ? VDBQ_OK
                     : device_memory_create(device, MEMORY_DEVICE, size, memory,
                                            error);
}

/* So many bytes of keys, or of answers, the kernels read and write in the host's
 * memory: to copy them takes longer (H200: 1,024 keys of 16 bytes 20 us in all, else 35;
 * of 64 KB no sooner). */
enum { FEW_BYTES = 32 << 10 };

/* Memory of keys or answers. */
static enum vdbq_status create_shared(struct device *device, uint64_t size,
                                      struct device_memory **memory,
                                      struct error *error)
{
    return size > 0 && size <= FEW_BYTES && device_zero_copies(device)
               ? device_memory_create(device, MEMORY_ZERO_COPY, size, memory,
                                      error)
               : create(device, size, memory, error);
}

/* Words that a launch sorts its searches in. */
static uint64_t scratch_words(const struct device *device,
                              const struct search_params *params)
{
    uint64_t sorters = count_sorters(device, params);
    uint64_t width = search_width(params->type, params->columns);

    return sorters > 0
               ? sorters * SEARCH_SORTER_WORDS(width) + searches_of(params)
               : 0;
}

/* Launches come one after the other: they share what they sort in. */
static enum vdbq_status create_all(struct device *device,
                                   const struct batch *batch,
                                   struct call_memories *made,
                                   struct error *error)
{
    const struct search_params *first = batch->parts;
    enum vdbq_status status =
        create_shared(device, batch->key_bytes, &made->keys, error);

    if (status == VDBQ_OK)
        status = create_shared(device, batch->searches * sizeof(uint32_t),
                               &made->places, error);
    if (status == VDBQ_OK)
        status = create(device, batch->scratch_words * sizeof(uint32_t),
                        &made->scratch, error);
    if (status == VDBQ_OK)
        status = create(device, first->key_text_bytes, &made->key_text, error);
    if (status == VDBQ_OK && first->key_nulls != NULL)
        status = create(device, first->key_count, &made->key_nulls, error);
    return status;
}

static void release_all(const struct call_memories *made)
{
    device_memory_release(made->keys);
    device_memory_release(made->places);
    device_memory_release(made->scratch);
    device_memory_release(made->key_text);
    device_memory_release(made->key_nulls);
}

/* ---------------------------------------------------------------- run -- */

static enum vdbq_status put(struct device_memory *memory, const void *bytes,
                            uint64_t size, struct device_times *times,
                            struct error *error)
{
    if (device_memory_host(memory) == NULL)
        return device_put(memory, bytes, size, times, error);
    times->bytes_in += size;
    return device_write(memory, 0, bytes, size, times, error);
}

/* The keys' way in. */
static enum vdbq_status write_keys(const struct batch *batch,
                                   const struct call_memories *made,
                                   struct device_times *times,
                                   struct error *error)
{
    const struct search_params *last = &batch->parts[batch->count - 1];
    uint64_t padding =
        key_bytes(last)
        - last->key_count * search_width(last->type, last->columns);
    enum vdbq_status status = put(made->keys, batch->parts->keys,
                                  batch->key_bytes - padding, times, error);

    if (status == VDBQ_OK && made->key_text != NULL)
        status = device_put(made->key_text, batch->parts->key_text,
                            batch->parts->key_text_bytes, times, error);
    if (status == VDBQ_OK && made->key_nulls != NULL)
        status = device_put(made->key_nulls, batch->parts->key_nulls,
                            batch->parts->key_count, times, error);
    return status;
}

/* The kernel for values of a type. */
static enum device_kernel kernel_of(enum search_algorithm algorithm,
                                    enum search_type type, bool is_few)
{
    static const enum device_kernel firsts[] = {
        [SEARCH_BINARY] = KERNEL_SEARCH_BINARY_I32,
        [SEARCH_PARY] = KERNEL_SEARCH_PARY_I32,
        [SEARCH_TREE] = KERNEL_SEARCH_TREE_I32,
    };
    enum device_kernel first =
        is_few ? KERNEL_SEARCH_FEW_I32 : firsts[algorithm];

    return (enum device_kernel)((unsigned)first + type);
}

/* One launch over keys that are there, from these on, or that it carries. */
static enum vdbq_status launch(struct device *device, const struct batch *batch,
                               const struct search_params *params,
                               const struct call_memories *made,
                               uint64_t keys_at, uint64_t places_at,
                               struct device_times *times, struct error *error)
{
    enum search_algorithm algorithm = algorithm_of(device, params);
    uint64_t flags = (uint64_t)params->bound
                     | (params->ascending ? SEARCH_ASCENDING : 0)
                     | (params->key_nulls != NULL ? SEARCH_KEY_NULLS : 0);
    uint64_t sorters = count_sorters(device, params);
    bool is_team = algorithm == SEARCH_PARY && device_group_items(device) > 1;

    assert(algorithm == SEARCH_BINARY || params->directory);
    return device_call(
        device,
        &(struct device_call){
            .kernel = kernel_of(algorithm, params->type, batch->few != NULL),
            .memories = { params->sorted, made->keys, made->places,
                          made->scratch, params->text, made->key_text,
                          made->key_nulls },
            .memory_count = 7,
            .numbers = { params->count, params->key_count, params->nulls, flags,
                         search_width(params->type, params->columns), sorters,
                         keys_at, places_at },
            .number_count = 8,
            .value = batch->few,
            .value_bytes = sizeof *batch->few,
            .group_items = is_team ? SEARCH_TEAM : 0,
            .items = sorters > 0
                         ? sorters
                         : searches_of(params) * (is_team ? SEARCH_TEAM : 1) },
        times, error);
}

/* A launch for each column that has values, and keys. */
static enum vdbq_status launch_all(struct device *device,
                                   const struct batch *batch,
                                   const struct call_memories *made,
                                   struct device_times *times,
                                   struct error *error)
{
    uint64_t keys_at = 0, places_at = 0;
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < batch->count && status == VDBQ_OK; i++) {
        const struct search_params *part = &batch->parts[i];
        if (part->count > 0 && part->key_count > 0)
            status = launch(device, batch, part, made, keys_at, places_at,
                            times, error);
        keys_at += key_bytes(part);
        places_at += searches_of(part);
    }
    return status;
}

/* The answers' way out, which those in the host's memory have behind them when the
 * kernels have ended. */
static enum vdbq_status
read_places(struct device *device, const struct batch *batch,
            const struct call_memories *made, uint32_t *places,
            struct search_times *times, struct error *error)
{
    uint64_t bytes = batch->searches * sizeof *places;
    enum vdbq_status status = VDBQ_OK;

    if (device_memory_host(made->places) != NULL) {
        status = device_calls_wait(device, &times->kernel, error);
        times->out.bytes_out += bytes;
    }
    return status == VDBQ_OK
               ? device_read(made->places, 0, places, bytes, &times->out, error)
               : status;
}

/* The whole way, in which the host waits for the answers alone. */
static enum vdbq_status run(struct device *device, const struct batch *batch,
                            const struct call_memories *made, uint32_t *places,
                            struct search_times *times, struct error *error)
{
    struct device_times ran = { 0 };
    struct error ignored;
    enum vdbq_status status = batch->few == NULL
                                  ? write_keys(batch, made, &times->in, error)
                                  : VDBQ_OK;

    if (batch->few != NULL)
        times->in.bytes_in += batch->key_bytes;
    if (status == VDBQ_OK)
        status = launch_all(device, batch, made, &times->kernel, error);
    if (status == VDBQ_OK)
        status = read_places(device, batch, made, places, times, error);
    if (status != VDBQ_OK) /* the keys are the caller's */
        device_calls_wait(device, &ran, &ignored);
    else
        status = device_calls_wait(device, &ran, error);
    times->in.transfer_ns += ran.transfer_ns;
    times->kernel.kernel_ns += ran.kernel_ns;
    return status;
}

/* In a column without values every bound is 0. */
static void clear_empty(const struct batch *batch, uint32_t *places)
{
    for (unsigned i = 0; i < batch->count; i++) {
        uint64_t searches = searches_of(&batch->parts[i]);
        if (batch->parts[i].count == 0 && searches > 0)
            memset(places, 0, searches * sizeof *places);
        places += searches;
    }
}

static struct batch batch_of(const struct device *device,
                             const struct search_params *parts, unsigned count)
{
    struct batch batch = { .parts = parts, .count = count };

    for (unsigned i = 0; i < count; i++) {
        const struct search_params *part = &parts[i];
        uint64_t words = scratch_words(device, part);
        assert(part->count < UINT32_MAX && part->nulls <= part->count);
        assert(part->type != SEARCH_ROWS || part->nulls == 0);
        assert(part->sorted != NULL || part->count == 0);
        assert(count == 1
               || (part->key_nulls == NULL && part->key_text == NULL));
        assert((const char *)part->keys
               == (const char *)parts->keys + batch.key_bytes);
        batch.key_bytes += key_bytes(part);
        batch.searches += searches_of(part);
        if (words > batch.scratch_words)
            batch.scratch_words = words;
    }
    return batch;
}

/* Words that a launch needs to carry all keys. */
static uint64_t few_words(const struct search_params *params)
{
    return params->key_count * (params->type == SEARCH_PAIR ? 2 : 1);
}

/* Whether one does: those of one p-ary search that need nothing beside them. */
static bool is_carried(const struct device *device, const struct batch *batch)
{
    const struct search_params *first = batch->parts;

    return batch->count == 1 && device_group_items(device) > 1
           && first->type < SEARCH_TEXT && first->key_nulls == NULL
           && few_words(first) <= SEARCH_FEW_WORDS
           && algorithm_of(device, first) == SEARCH_PARY;
}

static void carry(const struct search_params *params, struct search_few *few)
{
    const uint32_t *halves = params->keys;

    memset(few, 0, sizeof *few);
    if (search_width(params->type, 0) >= sizeof *few->words)
        memcpy(few->words, params->keys,
               few_words(params) * sizeof *few->words);
    else
        for (uint64_t i = 0; i < params->key_count; i++)
            few->words[i] = halves[i];
}

/* Whether there is anything to be searched. */
static bool is_empty(const struct batch *batch)
{
    bool empty = true;

    for (unsigned i = 0; i < batch->count; i++)
        empty &= batch->parts[i].count == 0 || batch->parts[i].key_count == 0;
    return empty;
}

enum vdbq_status search_parts(struct device *device,
                              const struct search_params *parts, unsigned count,
                              uint32_t *places, struct search_times *times,
                              struct error *error)
{
    struct batch batch = batch_of(device, parts, count);
    struct call_memories made = { 0 };
    struct search_few few;
    enum vdbq_status status = VDBQ_OK;

    if (is_carried(device, &batch)) {
        carry(parts, &few);
        batch.few = &few;
    }
    if (!is_empty(&batch)) {
        status = create_all(device, &batch, &made, error);
        if (status == VDBQ_OK)
            status = run(device, &batch, &made, places, times, error);
        release_all(&made);
    }
    clear_empty(&batch, places);
    return status;
}

enum vdbq_status search_keys(struct device *device,
                             const struct search_params *params,
                             uint32_t *places, struct search_times *times,
                             struct error *error)
{
    return search_parts(device, params, 1, places, times, error);
}

/* ---------------------------------------------------------- directory -- */

static uint64_t directory_entries(uint64_t count)
{
    uint64_t entries = 0;

    for (uint32_t level = search_levels((uint32_t)count); level-- > 0;)
        entries += search_room((uint32_t)count, level);
    return entries;
}

uint64_t search_directory_size(enum search_type type, unsigned columns,
                               uint64_t count)
{
    uint64_t width = search_width(type, columns);
    uint64_t entry = width < sizeof(uint64_t) ? width : sizeof(uint64_t);

    return search_directory_at(count, width) + directory_entries(count) * entry;
}

enum vdbq_status search_directory_make(struct device *device,
                                       const struct search_params *params,
                                       struct device_times *times,
                                       struct error *error)
{
    uint64_t entries = directory_entries(params->count - params->nulls);
    uint64_t width = search_width(params->type, params->columns);
    struct error ignored;
    enum vdbq_status status;

    if (entries == 0)
        return VDBQ_OK;
    status = device_call(
        device,
        &(struct device_call){
            .kernel = (enum device_kernel)((unsigned)KERNEL_SEARCH_DIRECTORY_I32
                                           + params->type),
            .memories = { params->sorted, NULL, params->sorted },
            .memory_count = 7,
            .numbers = { params->count, entries, params->nulls, 0, width, 0, 0,
                         search_directory_at(params->count, width)
                             / sizeof(uint32_t) },
            .number_count = 8,
            .items = entries },
        times, error);
    if (status != VDBQ_OK)
        device_calls_wait(device, times, &ignored);
    else
        status = device_calls_wait(device, times, error);
    return status;
}
