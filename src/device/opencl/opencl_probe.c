/* SPDX-License-Identifier: MIT */
/*
 * Tries a device before it runs anything: it and the host answer the questions
 * of cl/probe.cl. Where an answer differs that kernels can do without, they
 * are built with an option for that, and tried again so; else the device is
 * refused. What was found is kept with the compiled kernels (cache.h), so that
 * a device is tried once.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cl/probe.cl"
#include "device/cache/cache.h"
#include "device/opencl/opencl.h"

/* The text of cl/probe.cl, which tools/embed.py made. */
extern const char vdbq_source_probe[];

/* Raised whenever rows_fill() changes. */
#define PROBE_FORMAT "probe 1"

_Static_assert(PROBES <= 64, "a set of questions is one word");

static const struct {
    const char *lacks;
    const char *option;
} probes[PROBES] = {
#define PROBE_ENTRY(name, lacks, option, answer)                               \
    [PROBE_##name] = { lacks, option },
    VDBQ_PROBES(PROBE_ENTRY)
#undef PROBE_ENTRY
};

/* What is asked about, and what the device says. */
struct trial {
    u64 words[2 * PROBE_ROWS]; /* of each row the first, then the second     */
    u64 answers[PROBES * PROBE_ROWS];
    u64 together[TOGETHER_CLAIMS];
};

/* The device's memory for it. */
struct trial_memory {
    struct device_memory *words;
    struct device_memory *answers;
    struct device_memory *together; /* and the claims behind it            */
};

static uint64_t remedies_needed(const struct opencl *opencl);
static bool remedies_known(struct opencl *opencl, uint64_t *remedies);
static void remedies_keep(struct opencl *opencl, uint64_t remedies);
static void remedies_use(struct opencl *opencl, uint64_t remedies);
static void rows_fill(u64 words[2 * PROBE_ROWS]);
static enum vdbq_status try_device(struct opencl *opencl, struct trial *trial,
                                   struct error *error);
static enum vdbq_status judge(const struct opencl *opencl,
                              const struct trial *trial, uint64_t *remedies,
                              bool *again, struct error *error);

bool opencl_is_tried(struct opencl *opencl)
{
    uint64_t remedies = remedies_needed(opencl);

    return remedies_known(opencl, &remedies);
}

enum vdbq_status opencl_probe(struct opencl *opencl, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    uint64_t remedies = remedies_needed(opencl);
    bool again = true;
    struct trial *trial;

    if (remedies_known(opencl, &remedies)) {
        remedies_use(opencl, remedies);
        return VDBQ_OK;
    }
    trial = memory_zeroed(1, sizeof *trial);
    if (trial == NULL)
        return error_no_memory(error);
    rows_fill(trial->words);
    remedies_use(opencl, remedies);
    while (again && status == VDBQ_OK) {
        status = try_device(opencl, trial, error);
        if (status == VDBQ_OK)
            status = judge(opencl, trial, &remedies, &again, error);
        if (status == VDBQ_OK && again)
            remedies_use(opencl, remedies);
    }
    if (status == VDBQ_OK)
        remedies_keep(opencl, remedies);
    memory_release(trial);
    return status;
}

/* ------------------------------------------------------------ remedies -- */

/* Those of what the device does not even promise: questions about some rows
 * can refute a promise, but not replace one. */
static uint64_t remedies_needed(const struct opencl *opencl)
{
    return opencl->found.exact_option ? 0 : 1ull << PROBE_DIVIDE_F32;
}

/* The set of questions whose options kernels may be built with. */
static uint64_t remedies_all(void)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < PROBES; i++)
        all |= (uint64_t)(probes[i].option[0] != '\0') << i;
    return all;
}

static void remedies_key(const struct opencl *opencl, struct text *key)
{
    const char *strings[] = { PROBE_FORMAT, vdbq_source_probe };

    opencl_key(opencl, strings, 2, opencl->options, key);
}

static bool remedies_known(struct opencl *opencl, uint64_t *remedies)
{
    struct text key = { 0 }, entry = { 0 };
    bool known;

    remedies_key(opencl, &key);
    known = !key.failed && cache_load(&key, &entry)
            && entry.length == sizeof *remedies;
    if (known) {
        memcpy(remedies, entry.bytes, sizeof *remedies);
        known = (*remedies & ~remedies_all()) == 0;
    }
    text_finish(&entry);
    text_finish(&key);
    return known;
}

static void remedies_keep(struct opencl *opencl, uint64_t remedies)
{
    struct text key = { 0 };

    opencl->options[opencl->options_plain] = '\0';
    remedies_key(opencl, &key);
    remedies_use(opencl, remedies);
    if (!key.failed)
        cache_save(&key, &remedies, sizeof remedies);
    text_finish(&key);
}

/* Puts their options behind those that every device gets. */
static void remedies_use(struct opencl *opencl, uint64_t remedies)
{
    size_t at = opencl->options_plain;

    assert((remedies & ~remedies_all()) == 0);
    opencl->options[at] = '\0';
    for (unsigned i = 0; i < PROBES; i++)
        if (remedies >> i & 1)
            at += (size_t)snprintf(opencl->options + at,
                                   sizeof opencl->options - at, "%s",
                                   probes[i].option);
    assert(at < sizeof opencl->options);
}

/* ---------------------------------------------------------------- rows -- */

/* Words with which arithmetic is most often wrong. */
static const u64 edges[] = {
    0x0000000000000000, 0x8000000080000000, /* 0 and -0, as both types      */
    0x0000000000000001, 0x000fffff007fffff, /* the least and largest denormal */
    0x0010000000800000, 0x7fefffff7f7fffff, /* ... and normal number        */
    0x3ff000003f800000, 0xbff00000bf800000, /* 1 and -1                     */
    0x3fe000003f000000, 0x40080000c0400000, /* 0.5; 3 and -3                */
    0x7ff000007f800000, 0x7ff800007fc00000, /* infinite; no number          */
    0x7fffffffffffffff, 0x8000000000000000, /* the largest, least integer   */
    0x433fffffffffffff, 0x0000001000000fff, /* rounds up; halfway           */
};
enum { EDGES = sizeof edges / sizeof *edges };

/* A fixed sequence of random bits (Marsaglia's xorshift64). */
static u64 random_bits(u64 *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1d;
}

/* Random bits with these exponents (biased) or one of the three above, in the
 * upper half as a double, in the lower as a float. */
static u64 with_exponents(u64 bits, u64 wide, u64 narrow)
{
    const u64 exponents = 0x7ffull << 52 | 0xffull << 23;
    u64 wide_at = wide + (bits >> 52 & 3),
        narrow_at = narrow + (bits >> 23 & 3);

    return (bits & ~exponents) | wide_at << 52 | narrow_at << 23;
}

/* Every pair of edges; then rows of random words: any, near 1, next to the
 * least of floats and doubles, the least with what is near 1, doubles that
 * are denormal floats. */
static void rows_fill(u64 words[2 * PROBE_ROWS])
{
    u64 state = 88172645463325252u;

    for (unsigned i = 0; i < PROBE_ROWS; i++) {
        u64 x = random_bits(&state), y = random_bits(&state);
        if (i < EDGES * EDGES) {
            x = edges[i / EDGES];
            y = edges[i % EDGES];
        } else if (i % 5 == 1) {
            x = with_exponents(x, 1022, 126);
            y = with_exponents(y, 1022, 126);
        } else if (i % 5 == 2) {
            x = with_exponents(x, 0, 0);
            y = with_exponents(y, 0, 0);
        } else if (i % 5 == 3) {
            x = with_exponents(x, 0, 0);
            y = with_exponents(y, 1022, 126);
        } else if (i % 5 == 4) {
            x = with_exponents(x, 1023 - 145, 126);
        }
        words[i] = x;
        words[PROBE_ROWS + i] = y;
    }
}

/* ---------------------------------------------------------------- tries -- */

static enum vdbq_status memory_make(struct device *device,
                                    struct trial_memory *memory,
                                    struct error *error)
{
    enum vdbq_status status = opencl_memory_create(device, MEMORY_DEVICE,
                                                   2 * PROBE_ROWS * sizeof(u64),
                                                   &memory->words, error);

    if (status == VDBQ_OK)
        status = opencl_memory_create(device, MEMORY_DEVICE,
                                      PROBES * PROBE_ROWS * sizeof(u64),
                                      &memory->answers, error);
    if (status == VDBQ_OK)
        status =
            opencl_memory_create(device, MEMORY_DEVICE,
                                 (TOGETHER_CLAIMS + PROBE_CLAIMS) * sizeof(u64),
                                 &memory->together, error);
    return status;
}

static void memory_free(struct trial_memory *memory)
{
    if (memory->words != NULL)
        opencl_memory_destroy(memory->words);
    if (memory->answers != NULL)
        opencl_memory_destroy(memory->answers);
    if (memory->together != NULL)
        opencl_memory_destroy(memory->together);
}

/* Runs both kernels, built with the options as they are. */
static enum vdbq_status run_kernels(struct opencl *opencl,
                                    const struct trial_memory *memory,
                                    struct error *error)
{
    const struct device_call answers = {
        .kernel = KERNEL_PROBE,
        .memories = { memory->words, memory->answers },
        .memory_count = 2,
        .items = PROBE_ROWS / PROBE_TILE,
    };
    const struct device_call together = { .kernel = KERNEL_PROBE_TOGETHER,
                                          .memories = { memory->together },
                                          .memory_count = 1,
                                          .items = PROBE_ITEMS };
    struct device_times ignored = { 0 };
    enum vdbq_status status =
        opencl_call(&opencl->head, &answers, &ignored, error);

    if (status == VDBQ_OK)
        status = opencl_call(&opencl->head, &together, &ignored, error);
    if (status == VDBQ_OK)
        status = opencl_calls_wait(&opencl->head, &ignored, error);
    return status;
}

static enum vdbq_status try_with(struct opencl *opencl,
                                 const struct trial_memory *memory,
                                 struct trial *trial, struct error *error)
{
    struct device_times ignored = { 0 };
    enum vdbq_status status = opencl_write(
        memory->words, 0, trial->words, sizeof trial->words, &ignored, error);

    if (status == VDBQ_OK)
        status = run_kernels(opencl, memory, error);
    if (status == VDBQ_OK)
        status = opencl_read(memory->answers, 0, trial->answers,
                             sizeof trial->answers, &ignored, error);
    if (status == VDBQ_OK)
        status = opencl_read(memory->together, 0, trial->together,
                             sizeof trial->together, &ignored, error);
    return status;
}

/* Fills the answers; leaves nothing behind on the device. */
static enum vdbq_status try_device(struct opencl *opencl, struct trial *trial,
                                   struct error *error)
{
    struct trial_memory memory = { 0 };
    enum vdbq_status status = memory_make(&opencl->head, &memory, error);

    if (status == VDBQ_OK)
        status = try_with(opencl, &memory, trial, error);
    memory_free(&memory);
    opencl_text_drop(opencl, TEXT_PROBE);
    return status;
}

/* ------------------------------------------------------------- verdict -- */

/* What the host answers. */
static u64 answer(enum probe probe, u64 x, u64 y)
{
    switch (probe) {
#define PROBE_CASE(name, lacks, option, answer)                                \
    case PROBE_##name:                                                         \
        return answer_##name(x, y);
        VDBQ_PROBES(PROBE_CASE)
#undef PROBE_CASE
    case PROBES:
        break;
    }
    return 0;
}

static enum vdbq_status refuse(const struct opencl *opencl, const char *lacks,
                               struct error *error)
{
    return error_set(error, VDBQ_DEVICE,
                     "device '%s' cannot run queries: it lacks %s",
                     opencl->found.name, lacks);
}

/* The first row whose answer is another than the host's; PROBE_ROWS: none. */
static unsigned first_fault(const struct trial *trial, enum probe probe)
{
    const u64 *answers = trial->answers + (size_t)probe * PROBE_ROWS;
    unsigned row = 0;

    while (row < PROBE_ROWS
           && answers[row]
                  == answer(probe, trial->words[row],
                            trial->words[PROBE_ROWS + row]))
        row++;
    return row;
}

static enum vdbq_status refuse_row(const struct opencl *opencl,
                                   const struct trial *trial, enum probe probe,
                                   unsigned row, struct error *error)
{
    u64 x = trial->words[row], y = trial->words[PROBE_ROWS + row];
    u64 given = trial->answers[(size_t)probe * PROBE_ROWS + row];

    refuse(opencl, probes[probe].lacks, error);
    return error_hint(error,
                      "of the words %016llx and %016llx it makes %llx, not "
                      "%llx; a newer driver may help, or choose another "
                      "device (--devices lists them)",
                      (unsigned long long)x, (unsigned long long)y,
                      (unsigned long long)given,
                      (unsigned long long)answer(probe, x, y));
}

/* Whether items add up and claim places as they must. */
static bool together_is_right(const u64 together[TOGETHER_CLAIMS])
{
    u64 sum = 0;

    for (u64 item = 0; item < PROBE_ITEMS; item++)
        sum += item_number(item);
    return together[TOGETHER_SUM] == sum
           && together[TOGETHER_MOST] == item_number(PROBE_ITEMS - 1)
           && together[TOGETHER_CLAIMED] == PROBE_CLAIMS;
}

/* Adds to `remedies` those of wrong answers; `*again`: there is a new one.
 * Fails where there is none for a wrong answer, or where it did not help. */
static enum vdbq_status judge(const struct opencl *opencl,
                              const struct trial *trial, uint64_t *remedies,
                              bool *again, struct error *error)
{
    const uint64_t had = *remedies, all = remedies_all();

    for (unsigned i = 0; i < PROBES; i++) {
        unsigned row = first_fault(trial, (enum probe)i);
        if (row < PROBE_ROWS && ((had | ~all) >> i & 1))
            return refuse_row(opencl, trial, (enum probe)i, row, error);
        *remedies |= (uint64_t)(row < PROBE_ROWS) << i;
    }
    if (!together_is_right(trial->together))
        return refuse(opencl, "64-bit atomics or barriers that hold", error);
    *again = *remedies != had;
    return VDBQ_OK;
}
