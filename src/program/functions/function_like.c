/* SPDX-License-Identifier: MIT */
/*
 * Patterns. Only the last "any characters" of a pattern is ever gone back to:
 * what an earlier one could match more, the last one matches as well.
 */
#include <string.h>

#include "program/functions/function_inner.h"

/* How patterns are written. */
struct style {
    char any;                /* some characters, or none                      */
    char one;                /* one character                                 */
    bool folds;              /* ASCII letters match in either case            */
    bool sets;               /* [...] is one of these characters              */
    struct vdbq_text escape; /* what follows it stands for itself; length
                         0: none                                       */
};

/* A place in the pattern or in the text. */
struct place {
    const char *at, *end;
};

static char folded(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter ^ 0x20) : letter;
}

/* Passes over a character that stands for itself, in both; whether they are
 * the same. */
static bool match_same(const struct style *style, struct place *pattern,
                       struct place *text)
{
    size_t length = utf8_length(pattern->at, pattern->end);
    bool same = (size_t)(text->end - text->at) >= length;
    for (size_t i = 0; i < length && same; i++)
        same =
            pattern->at[i] == text->at[i]
            || (style->folds && folded(pattern->at[i]) == folded(text->at[i]));
    pattern->at += length;
    text->at += same ? length : 0;
    return same;
}

static int compare(const char *a, size_t a_length, const char *b,
                   size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

/* Passes over a set, up to behind its `]`, and one character of the text;
 * whether it is in the set. One that does not end matches nothing. */
static bool match_set(struct place *pattern, struct place *text)
{
    const char *at = pattern->at + 1, *end = pattern->end;
    size_t size = utf8_length(text->at, text->end);
    bool inverted = at < end && *at == '^', found = false, first = true;
    for (at += inverted; at < end && (first || *at != ']'); first = false) {
        const char *low = at, *high = at;
        size_t low_size = utf8_length(at, end), high_size = low_size;
        at += low_size;
        if (at + 1 < end && *at == '-' && at[1] != ']') {
            high = ++at;
            high_size = utf8_length(high, end);
            at += high_size;
        }
        found |= compare(low, low_size, text->at, size) <= 0
                 && compare(text->at, size, high, high_size) <= 0;
    }
    if (at >= end)
        return false;
    pattern->at = at + 1;
    text->at += size;
    return found != inverted;
}

static bool is_escape(const struct style *style, const struct place *pattern)
{
    size_t length = style->escape.length;
    return length > 0 && (size_t)(pattern->end - pattern->at) >= length
           && memcmp(pattern->at, style->escape.bytes, length) == 0;
}

/* Matches one character of the text with what is next in the pattern. */
static bool match_one(const struct style *style, struct place *pattern,
                      struct place *text)
{
    if (pattern->at == pattern->end)
        return false;
    if (is_escape(style, pattern)) {
        pattern->at += style->escape.length;
        return pattern->at < pattern->end && match_same(style, pattern, text);
    }
    if (*pattern->at == style->one) {
        pattern->at++;
        text->at += utf8_length(text->at, text->end);
        return true;
    }
    if (style->sets && *pattern->at == '[')
        return match_set(pattern, text);
    return match_same(style, pattern, text);
}

static bool is_any(const struct style *style, const struct place *pattern)
{
    return pattern->at < pattern->end && *pattern->at == style->any
           && !is_escape(style, pattern);
}

/* Whether what is next in the pattern is a character that stands for itself. */
static bool is_plain(const struct style *style, const struct place *pattern)
{
    return pattern->at < pattern->end && *pattern->at != style->any
           && *pattern->at != style->one
           && !(style->sets && *pattern->at == '[')
           && !is_escape(style, pattern) && !utf8_continues(*pattern->at);
}

/* The next character from which the text may match the pattern: one that
 * begins as what is next in it does. */
static const char *next_start(const struct style *style,
                              const struct place *pattern,
                              const struct place *text)
{
    const char *at = text->at + utf8_length(text->at, text->end);
    char first;
    if (!is_plain(style, pattern))
        return at;
    first = style->folds ? folded(*pattern->at) : *pattern->at;
    while (at < text->end && (style->folds ? folded(*at) : *at) != first)
        at++;
    return at;
}

static bool matches(const struct style *style, struct vdbq_text text_,
                    struct vdbq_text pattern_)
{
    struct place text = { text_.bytes, text_.bytes + text_.length };
    struct place pattern = { pattern_.bytes, pattern_.bytes + pattern_.length };
    struct place behind = { NULL, NULL }; /* the last "any", in the pattern */
    struct place from = text;             /* ... and what it left           */
    while (text.at < text.end) {
        if (is_any(style, &pattern)) {
            pattern.at++;
            if (pattern.at == pattern.end)
                return true;
            behind = pattern;
            from = text;
        } else if (!match_one(style, &pattern, &text)) {
            if (behind.at == NULL)
                return false;
            from.at = next_start(style, &behind, &from);
            text = from;
            pattern = behind;
        }
    }
    while (is_any(style, &pattern))
        pattern.at++;
    return pattern.at == pattern.end;
}

FUNCTION_BODY(like)
{
    struct style style = { .any = '%', .one = '_', .folds = true };
    if (state->count > 2)
        style.escape = state->arguments[2].text;
    if (utf8_count(style.escape) != 1)
        style.escape.length = 0;
    state->value->integer =
        matches(&style, state->arguments[0].text, state->arguments[1].text);
    return VDBQ_OK;
}

FUNCTION_BODY(glob)
{
    const struct style style = { .any = '*', .one = '?', .sets = true };
    state->value->integer =
        matches(&style, state->arguments[0].text, state->arguments[1].text);
    return VDBQ_OK;
}
