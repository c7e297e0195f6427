/* SPDX-License-Identifier: MIT */
/*
 * Patterns up to their first "any". LIKE takes ASCII letters in either case, so
 * that what begins with two letters begins in one of four ways; of a longer
 * text, its first letters do.
 */
#include "plan/index/index_prefix.h"

#include <string.h>

#include "data/catalogue/sample.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"
#include "program/functions/function.h"

enum { LETTERS_MAX = 8 }; /* whose cases are told apart: 256 ways */

/* How a function writes what a text begins with. */
struct style {
    const char *function;
    unsigned text, pattern; /* its arguments                              */
    const char *wild;       /* what does not stand for itself, the first of
                               them for any text; "": all does            */
    bool folds;             /* ASCII letters are equal in either case     */
};

static const struct style styles[] = {
    { "like", 0, 1, "%_", true },   { "ilike", 0, 1, "%_", true },
    { "glob", 0, 1, "*?[", false }, { "starts_with", 0, 1, "", false },
    { "prefix", 0, 1, "", false },
};

static const struct style *style_of(const struct function_lookup *call)
{
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (strcmp(call->function->name, styles[i].function) == 0
            && call->count == 2 && !call->nests
            && call->open == 1u << styles[i].text)
            return &styles[i];
    return NULL;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The first bytes of a pattern that stand for themselves. */
static size_t plain_length(const struct style *style, struct vdbq_text pattern)
{
    size_t length = 0;

    while (length < pattern.length
           && (pattern.bytes[length] == '\0'
               || strchr(style->wild, pattern.bytes[length]) == NULL))
        length++;
    return length;
}

/* ... of these, those up to the first letter that is one too many. */
static size_t told_length(const struct style *style, struct vdbq_text pattern,
                          size_t plain, unsigned *letters)
{
    size_t length = 0;

    *letters = 0;
    for (; length < plain; length++) {
        bool letter = style->folds && is_letter(pattern.bytes[length]);
        if (letter && *letters == LETTERS_MAX)
            break;
        *letters += letter;
    }
    return length;
}

/* Writes the text with its letters in the cases that the bits say. */
static bool put_cases(struct binder *binder, const struct style *style,
                      struct vdbq_text text, unsigned cases,
                      struct index_prefix *prefix)
{
    struct expression constant = { .kind = EXPRESSION_CONSTANT,
                                   .type = VDBQ_TEXT };
    char *bytes = arena_copy(binder->arena, text.bytes, text.length);

    if (bytes == NULL)
        return false;
    for (size_t i = 0; i < text.length && style->folds; i++)
        if (is_letter(bytes[i])) {
            bytes[i] =
                (char)(cases % 2 != 0 ? bytes[i] | 0x20 : bytes[i] & ~0x20);
            cases /= 2;
        }
    constant.constant.text = (struct vdbq_text){ bytes, text.length };
    return constants_put(binder->arena, &prefix->texts, prefix->count++,
                         &constant);
}

/* What texts begin with that match a pattern. */
static bool read_pattern(struct binder *binder, const struct style *style,
                         struct vdbq_text pattern, struct index_prefix *prefix)
{
    size_t plain = plain_length(style, pattern), told;
    unsigned letters;
    bool done;

    told = told_length(style, pattern, plain, &letters);
    if (told == 0 || (uint8_t)pattern.bytes[told - 1] == UINT8_MAX)
        return true; /* the second is in no text: it is not UTF-8 */
    prefix->exact = told == plain
                    && (style->wild[0] == '\0'
                        || (plain + 1 == pattern.length
                            && pattern.bytes[plain] == style->wild[0]));
    done = constants_room(binder->arena, VDBQ_TEXT, (size_t)1 << letters,
                          &prefix->texts);
    pattern.length = told;
    for (unsigned cases = 0; cases < 1u << letters && done; cases++)
        done = put_cases(binder, style, pattern, cases, prefix);
    return done;
}

bool index_prefix_read(struct binder *binder, const struct expression *e,
                       struct index_prefix *prefix)
{
    struct function_lookup call;
    struct error ignored;
    const struct style *style;
    enum vdbq_status status;

    *prefix = (struct index_prefix){ .count = 0 };
    if (e->kind != EXPRESSION_LOOKUP || e->lookup.depth != 1)
        return true;
    status =
        function_lookup_read(e->lookup.call, binder->arena, &call, &ignored);
    if (status != VDBQ_OK)
        return status != VDBQ_NO_MEMORY;
    style = style_of(&call);
    return style == NULL
           || read_pattern(binder, style, call.arguments[style->pattern].text,
                           prefix);
}

static bool begins_with(struct vdbq_text text, struct vdbq_text beginning)
{
    return text.length >= beginning.length
           && memcmp(text.bytes, beginning.bytes, beginning.length) == 0;
}

double index_prefix_share(const struct table *table, unsigned column,
                          const struct vdbq_vector *texts, uint64_t count)
{
    const struct sample *sample = table->sample;
    const struct vdbq_text *beginnings = texts->values, *values;
    uint32_t hits = 0;

    if (sample == NULL || column >= sample->column_count || sample->rows == 0)
        return 0;
    values = sample->columns[column].values;
    for (uint32_t i = 0; i < sample->rows; i++) {
        bool begins = false;
        for (uint64_t k = 0; k < count && !begins; k++)
            begins = sample->columns[column].nulls[i] == 0
                     && begins_with(values[i], beginnings[k]);
        hits += begins;
    }
    return hits > 1 ? (double)hits / sample->rows : 0;
}
