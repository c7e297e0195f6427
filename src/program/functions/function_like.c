/* SPDX-License-Identifier: MIT */
/*
 * Patterns. One of literals and "any characters" alone is read once for all
 * texts, and its literals are looked for one after the other, each as early as
 * it comes. Others are matched character by character: only the last "any
 * characters" of such a pattern is ever gone back to: what an earlier one could
 * match more, the last one matches as well.
 */
#include <string.h>

#include "cl/words/words.h"
#include "program/functions/function_inner.h"
#include "program/functions/literal.h"

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

/* ------------------------------------------------------------ literals -- */

/* A pattern of literals with "any characters" between them. */
struct pattern {
    struct literal *literals;
    unsigned count;
    bool any;          /* there is an "any"; without one, all is one literal */
    bool begins, ends; /* the first literal begins the text; the last ends it */
    size_t least;      /* bytes of all literals                      */
    const struct literal *needed; /* the longest that may be anywhere; NULL:
                                     there is none of several bytes    */
};

static bool pattern_matches(const struct pattern *pattern,
                            struct vdbq_text text)
{
    const struct literal *literal = pattern->literals;
    const struct literal *behind = literal + pattern->count;
    const char *at = text.bytes, *end = at + text.length;
    if (text.length < pattern->least
        || (!pattern->any && text.length > pattern->least))
        return false;
    if (pattern->begins) {
        if (!literal_at(literal, at))
            return false;
        at += literal++->length;
    }
    if (pattern->ends && literal < behind) {
        end -= (--behind)->length;
        if (!literal_at(behind, end))
            return false;
    }
    for (; literal < behind; at += literal++->length) {
        at = literal_find(literal, at, end);
        if (at == NULL)
            return false;
    }
    return true;
}

/* Adds what is next in the pattern, a character that stands for itself. It
 * begins a literal if it is the first one behind an "any". False: it is none. */
static bool add_same(const struct style *style, struct pattern *pattern,
                     struct place *from, bool first)
{
    if (is_escape(style, from))
        from->at += style->escape.length;
    else if (*from->at == style->one || (style->sets && *from->at == '['))
        return false;
    if (from->at == from->end || (first && utf8_continues(*from->at)))
        return false;
    if (first)
        pattern->count++;
    struct literal *literal = &pattern->literals[pattern->count - 1];
    const char *next = from->at + utf8_length(from->at, from->end);
    for (; from->at < next; pattern->least++)
        literal_add(literal, *from->at++, style->folds);
    return true;
}

/* Reads a pattern, for which there is room; false: it has more than literals
 * and "any"s. */
static bool read_pattern(const struct style *style, struct place from,
                         struct pattern *pattern)
{
    char *bytes = pattern->literals->bytes, *cases = pattern->literals->cases;
    bool first = true;
    pattern->begins = from.at < from.end && !is_any(style, &from);
    while (from.at < from.end) {
        pattern->ends = !is_any(style, &from);
        if (!pattern->ends) {
            from.at++;
            first = pattern->any = true;
            continue;
        }
        if (first)
            pattern->literals[pattern->count] =
                (struct literal){ .bytes = bytes + pattern->least,
                                  .cases = cases + pattern->least };
        if (!add_same(style, pattern, &from, first))
            return false;
        first = false;
    }
    for (unsigned i = 0; i < pattern->count; i++)
        literal_finish(&pattern->literals[i]);
    return true;
}

/* The literal that tells most of a text that has it somewhere. */
static const struct literal *find_needed(const struct pattern *pattern)
{
    const struct literal *needed = NULL;
    for (unsigned i = pattern->begins; i < pattern->count; i++)
        if (pattern->literals[i].length > 1
            && (needed == NULL || pattern->literals[i].length > needed->length))
            needed = &pattern->literals[i];
    return needed;
}

/* Makes room for a pattern of so many bytes; NULL: no memory. */
static struct pattern *pattern_room(struct arena *arena, size_t length)
{
    struct pattern *pattern = arena_alloc(arena, sizeof *pattern);
    if (pattern == NULL)
        return NULL;
    pattern->literals =
        arena_alloc(arena, (length + 1) * sizeof *pattern->literals);
    if (pattern->literals == NULL)
        return NULL;
    pattern->literals->bytes = arena_alloc(arena, length + 1);
    pattern->literals->cases = arena_alloc(arena, length + 1);
    return pattern->literals->bytes && pattern->literals->cases ? pattern
                                                                : NULL;
}

/* ---------------------------------------------------------------- read -- */

/* How a call writes its pattern. */
static struct style style_of(const struct function_value *arguments,
                             unsigned count, bool globs)
{
    if (globs)
        return (struct style){ .any = '*', .one = '?', .sets = true };
    struct style style = { .any = '%', .one = '_', .folds = true };
    if (count > 2)
        style.escape = arguments[2].text;
    if (utf8_count(style.escape) != 1)
        style.escape.length = 0;
    return style;
}

/* contains(), starts_with() and ends_with() look for one literal, which stands for
 * itself; false: it is another call. */
static bool read_literal(const struct function *function, struct vdbq_text text,
                         struct pattern *pattern)
{
    struct literal *literal = pattern->literals;
    pattern->begins = function->compute == function_starts_with;
    pattern->ends = function->compute == function_ends_with;
    if (!pattern->begins && !pattern->ends
        && function->compute != function_contains)
        return false;
    pattern->any = true;
    pattern->count = text.length > 0;
    pattern->least = text.length;
    if (pattern->count == 0) /* all texts have it */
        return true;
    for (size_t i = 0; i < text.length; i++)
        literal_add(literal, text.bytes[i], false);
    literal_finish(literal);
    return true;
}

/* Reads the pattern of LIKE or GLOB; false: it is another call, or has more than
 * literals. */
static bool read_like(const struct function_lookup *lookup,
                      struct pattern *pattern)
{
    bool globs = lookup->function->compute == function_glob;
    struct vdbq_text text = lookup->arguments[1].text;
    struct place from = { text.bytes, text.bytes + text.length };
    struct style style = style_of(lookup->arguments, lookup->count, globs);
    return (globs || lookup->function->compute == function_like)
           && read_pattern(&style, from, pattern);
}

bool function_pattern_read(struct function_lookup *lookup, struct arena *arena)
{
    if (lookup->function->result != VDBQ_BOOLEAN || lookup->count < 2
        || !function_lookup_is_of_first(lookup))
        return true;
    struct vdbq_text text = lookup->arguments[1].text;
    struct pattern *pattern = pattern_room(arena, text.length);
    if (pattern != NULL
        && (read_literal(lookup->function, text, pattern)
            || read_like(lookup, pattern))) {
        pattern->needed = find_needed(pattern);
        lookup->arguments[1].pattern = pattern;
    }
    return pattern != NULL;
}

bool function_lookup_literals(const struct function_lookup *lookup,
                              struct words_pattern *to)
{
    const struct pattern *pattern = lookup->arguments[1].pattern;
    if (pattern == NULL || lookup->open != 1 || lookup->nests
        || pattern->count > WORDS_LITERALS_MAX
        || pattern->least > WORDS_BYTES_MAX)
        return false;
    *to = (struct words_pattern){ .count = pattern->count,
                                  .any = pattern->any,
                                  .begins = pattern->begins,
                                  .ends = pattern->ends,
                                  .least = (u32)pattern->least };
    for (unsigned i = 0; i < pattern->count; i++)
        to->lengths[i] = (u8)pattern->literals[i].length;
    if (pattern->count > 0) {
        memcpy(to->bytes, pattern->literals->bytes, pattern->least);
        memcpy(to->cases, pattern->literals->cases, pattern->least);
    }
    return true;
}

/* --------------------------------------------------------------- words -- */

enum {
    BLOCK_WORDS = 256, /* that are gone through in one way */
    FEW_WORDS = 16     /* of a block, that have a literal which is seldom */
};

bool function_lookup_is_pattern(const struct function_lookup *lookup)
{
    return lookup->arguments[1].pattern != NULL && !lookup->nests;
}

static bool word_matches(const struct pattern *pattern,
                         const struct function_words *words, uint32_t word)
{
    uint32_t start = function_word_start(words, word);
    return pattern_matches(
        pattern,
        (struct vdbq_text){ words->bytes + start, words->ends[word] - start });
}

/* Matches each word; how many do. */
static uint32_t match_each(const struct pattern *pattern,
                           const struct function_words *words, char *matches)
{
    uint32_t count = 0;
    for (uint32_t word = words->first; word < words->end; word++)
        count += (uint32_t)(matches[word] = word_matches(pattern, words, word));
    return count;
}

/* The word, from `word` on, that byte `place` belongs to: near ones are tried
 * first. */
static uint32_t word_with(const struct function_words *words, uint32_t word,
                          size_t place)
{
    uint32_t high = word, step = 1;
    while (high < words->end && words->ends[high] <= place) {
        word = high + 1;
        high = words->end - high > step ? high + step : words->end;
        step *= 2;
    }
    while (word < high) {
        uint32_t middle = word + (high - word) / 2;
        if (words->ends[middle] <= place)
            word = middle + 1;
        else
            high = middle;
    }
    return word;
}

/* Matches those words alone that have the literal which is needed, as it is found
 * in the bytes of all; how many have it. */
static uint32_t match_found(const struct pattern *pattern,
                            const struct function_words *words, char *matches)
{
    const char *at = words->bytes + function_word_start(words, words->first);
    const char *stop = words->bytes + words->ends[words->end - 1];
    uint32_t count = 0;
    memset(matches + words->first, 0, words->end - words->first);
    for (uint32_t word = words->first; word < words->end; word++, count++) {
        at = literal_find_far(pattern->needed, at, stop);
        if (at == NULL)
            break;
        word = word_with(words, word, (size_t)(at - words->bytes));
        matches[word] = word_matches(pattern, words, word);
        at = words->bytes + words->ends[word];
    }
    return count;
}

/* Where few words of a block have the literal, the next block's are found by it. */
void function_pattern_words(const struct function_lookup *lookup,
                            const struct function_words *words, char *matches)
{
    const struct pattern *pattern = lookup->arguments[1].pattern;
    bool few = pattern->needed != NULL;
    struct function_words block = *words;
    for (; block.first < words->end; block.first = block.end) {
        uint32_t left = words->end - block.first;
        block.end = block.first + (left < BLOCK_WORDS ? left : BLOCK_WORDS);
        uint32_t count = few ? match_found(pattern, &block, matches)
                             : match_each(pattern, &block, matches);
        few = pattern->needed != NULL && count <= FEW_WORDS;
    }
}

/* ------------------------------------------------------------ functions -- */

static enum vdbq_status match(struct function_call_state *state, bool globs)
{
    struct vdbq_text text = state->arguments[0].text;
    const struct function_value *pattern = &state->arguments[1];
    struct style style;
    if (pattern->pattern != NULL) {
        state->value->integer = pattern_matches(pattern->pattern, text);
        return VDBQ_OK;
    }
    style = style_of(state->arguments, state->count, globs);
    state->value->integer = matches(&style, text, pattern->text);
    return VDBQ_OK;
}

FUNCTION_BODY(like)
{
    return match(state, false);
}

FUNCTION_BODY(glob)
{
    return match(state, true);
}
