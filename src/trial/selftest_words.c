/* SPDX-License-Identifier: MIT */
/*
 * The self-test's words: short ones of few letters, so that literals meet parts
 * of one another, in two memories. What the device says of each pattern is
 * compared with what the function itself gives for each word.
 */
#include "trial/selftest_words.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "device/kernel.h"
#include "device/words.h"
#include "program/functions/function.h"

enum {
    WORDS = 20000,
    FIRST = 777,     /* words of the first memory */
    LENGTH_MAX = 23, /* bytes of a word; the first has none */
    BITS = (WORDS + 31) / 32
};

/* All words, and what the device said of them. */
struct tested_words {
    uint32_t ends[WORDS];
    char bytes[WORDS * LENGTH_MAX];
    uint32_t second_ends[WORDS - FIRST]; /* as the second memory counts */
    uint32_t bits[BITS];
};

static const char *const patterns[] = {
    "like(?, '')",           "like(?, '%')",        "like(?, 'ab')",
    "like(?, 'ab%')",        "like(?, '%ab')",      "like(?, '%ab%')",
    "like(?, 'a%a')",        "like(?, '%ab%ba%')",  "like(?, 'B%aB%c')",
    "like(?, '%\xc3\xa9%')", "like(?, 'aba%bab%')", "like(?, '%%abc%%')",
    "glob(?, '*aB*')",       "glob(?, 'a*B')",      "like(?, '%a%b%c%a%b%c%')",
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static void fill(struct tested_words *words)
{
    static const char letters[] = "abcAB\xc3\xa9";
    uint32_t state = 1, end = 0;

    for (uint32_t i = 0; i < WORDS; i++) {
        for (uint32_t k = 0; k < i % (LENGTH_MAX + 1); k++) {
            state = state * 1664525 + 1013904223;
            words->bytes[end++] = letters[(state >> 24) % 7];
        }
        words->ends[i] = end;
        if (i >= FIRST)
            words->second_ends[i - FIRST] = end - words->ends[FIRST - 1];
    }
}

static struct vdbq_text text_of(const struct tested_words *words, uint32_t i)
{
    uint32_t start = i > 0 ? words->ends[i - 1] : 0;

    return (struct vdbq_text){ words->bytes + start, words->ends[i] - start };
}

/* Compares the bits with what the function says. */
static enum vdbq_status compare(struct selftest *test,
                                const struct tested_words *words,
                                const struct function_lookup *lookup,
                                const char *call)
{
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX], value;
    enum vdbq_status status = VDBQ_OK;

    memcpy(arguments, lookup->arguments, sizeof arguments);
    for (uint32_t i = 0; i < WORDS && status == VDBQ_OK; i++) {
        uint32_t bit = words->bits[i / 32] >> i % 32 & 1;
        status = function_lookup_call(lookup, arguments, text_of(words, i),
                                      &test->open.arena, &value, test->error);
        if (status == VDBQ_OK && value.integer != bit)
            status = error_set(test->error, VDBQ_DEVICE,
                               "%s of word %u is %u instead of %u", call, i,
                               bit, (unsigned)value.integer);
    }
    return status;
}

static enum vdbq_status test_pattern(struct selftest *test,
                                     struct tested_words *words,
                                     const struct words_part parts[2],
                                     const char *call)
{
    struct device_times ignored = { 0 };
    struct function_lookup lookup;
    struct words_pattern pattern;
    enum vdbq_status status =
        function_lookup_read(call, &test->open.arena, &lookup, test->error);

    if (status == VDBQ_OK && !function_lookup_literals(&lookup, &pattern))
        return error_set(test->error, VDBQ_DEVICE, "%s has no literals", call);
    if (status == VDBQ_OK)
        status = words_match(test->device.device, parts, 2, &pattern,
                             words->bits, BITS, &ignored, test->error);
    return status == VDBQ_OK ? compare(test, words, &lookup, call) : status;
}

/* Brings words to a memory of their own. */
static enum vdbq_status bring(struct selftest *test, const struct words *words,
                              struct words_part *part)
{
    struct device_times ignored = { 0 };
    enum vdbq_status status =
        device_memory_create(test->device.device, MEMORY_DEVICE,
                             words_room(words), &part->memory, test->error);

    part->count = words->count;
    return status == VDBQ_OK
               ? words_write(words, part->memory, &ignored, test->error)
               : status;
}

static enum vdbq_status test_all(struct selftest *test,
                                 struct tested_words *words)
{
    struct words_part parts[2] = { { .first = 0 }, { .first = FIRST } };
    enum vdbq_status status;

    fill(words);
    status = bring(test, &(struct words){ words->ends, words->bytes, FIRST },
                   &parts[0]);
    if (status == VDBQ_OK)
        status = bring(test,
                       &(struct words){ words->second_ends,
                                        words->bytes + words->ends[FIRST - 1],
                                        WORDS - FIRST },
                       &parts[1]);
    for (int i = 0; i < PATTERNS && status == VDBQ_OK; i++)
        status = test_pattern(test, words, parts, patterns[i]);
    device_memory_destroy(parts[0].memory);
    device_memory_destroy(parts[1].memory);
    return status;
}

enum vdbq_status selftest_words(struct selftest *test)
{
    struct tested_words *words;
    enum vdbq_status status;
    char line[80];

    if (!device_has_kernels(test->device.device))
        return VDBQ_OK;
    words = memory_zeroed(1, sizeof *words);
    if (words == NULL)
        return error_no_memory(test->error);
    status = test_all(test, words);
    memory_release(words);
    if (status != VDBQ_OK)
        return status;
    snprintf(line, sizeof line, "ok: %d patterns asked of %d words", PATTERNS,
             WORDS);
    test->report(test->context, line);
    return VDBQ_OK;
}
