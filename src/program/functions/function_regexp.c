/* SPDX-License-Identifier: MIT */
/*
 * Functions of regular expressions. A pattern that is a constant is read once
 * for all texts (function_lookup_read()), any other for each.
 */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "program/functions/function_inner.h"
#include "program/functions/regexp.h"

#define TEXT(i)    (state->arguments[i].text)
#define INTEGER(i) (state->arguments[i].integer)

/* -------------------------------------------------------------- options -- */

/* What letters ask for, and of regexp_replace() that all matches are meant. */
struct asked {
    struct regexp_options options;
    bool all;
};

static enum vdbq_status read_options(struct vdbq_text letters, bool replaces,
                                     struct asked *asked, struct error *error)
{
    *asked = (struct asked){ 0 };
    for (size_t i = 0; i < letters.length; i++) {
        char letter = letters.bytes[i];
        if (letter == 'g' && replaces)
            asked->all = true;
        else if (letter == 'i' || letter == 'c')
            asked->options.folds = letter == 'i';
        else if (letter == 'l')
            asked->options.literal = true;
        else if (letter == 's' || letter == 'm' || letter == 'n'
                 || letter == 'p')
            asked->options.dot_breaks = letter == 's';
        else
            return error_set(error, VDBQ_RANGE,
                             "an option of a regular expression is not one "
                             "of c, i, l, m, n, p, s%s",
                             replaces ? ", g" : "");
    }
    return VDBQ_OK;
}

/* Which argument has the options of a function. */
static unsigned options_of(const struct function *function)
{
    return function->most - 1;
}

static bool is_replace(const struct function *function)
{
    return function->compute == function_regexp_replace;
}

static bool has_pattern(const struct function *function)
{
    return function->compute == function_regexp_matches
           || function->compute == function_regexp_full_match
           || function->compute == function_regexp_extract
           || is_replace(function);
}

/* Whether a replacement names only groups that there are. */
static enum vdbq_status check_replacement(struct vdbq_text with,
                                          const struct regexp *regexp,
                                          struct error *error)
{
    for (size_t i = 0; i + 1 < with.length; i++) {
        unsigned group = (unsigned)(unsigned char)with.bytes[i + 1] - '0';
        if (with.bytes[i] != '\\')
            continue;
        if (group < REGEXP_GROUPS && group > regexp->groups)
            return error_set(error, VDBQ_RANGE,
                             "a replacement names group %u of a regular "
                             "expression that has %u",
                             group, regexp->groups);
        i++;
    }
    return VDBQ_OK;
}

enum vdbq_status function_pattern_check(const struct function *function,
                                        const struct vdbq_text *texts,
                                        unsigned count, struct error *error)
{
    unsigned options = options_of(function);
    struct vdbq_text none = { "", 0 };
    struct arena arena = { 0 };
    struct regexp regexp;
    struct asked asked;
    enum vdbq_status status;

    if (!has_pattern(function) || texts[1].bytes == NULL
        || (count > options && texts[options].bytes == NULL))
        return VDBQ_OK;
    status = read_options(count > options ? texts[options] : none,
                          is_replace(function), &asked, error);
    if (status == VDBQ_OK)
        status = regexp_read(texts[1], asked.options, &arena, &regexp, error);
    if (status == VDBQ_OK && is_replace(function) && texts[2].bytes != NULL)
        status = check_replacement(texts[2], &regexp, error);
    arena_finish(&arena);
    return status;
}

bool function_regexp_read(struct function_lookup *lookup, struct arena *arena)
{
    unsigned options = options_of(lookup->function);
    struct vdbq_text letters = { "", 0 };
    struct regexp *regexp;
    struct asked asked;
    struct error ignored = { 0 };

    if (!has_pattern(lookup->function) || lookup->open != 0)
        return true;
    if (lookup->count > options)
        letters = lookup->arguments[options].text;
    regexp = arena_alloc(arena, sizeof *regexp);
    if (regexp == NULL)
        return false;
    if (read_options(letters, is_replace(lookup->function), &asked, &ignored)
            == VDBQ_OK
        && regexp_read(lookup->arguments[1].text, asked.options, arena, regexp,
                       &ignored)
               == VDBQ_OK)
        lookup->arguments[1].regexp = regexp;
    return ignored.status != VDBQ_NO_MEMORY;
}

/* ------------------------------------------------------------- the call -- */

/* The pattern of a call, and what its options ask for. */
struct matching {
    const struct regexp *regexp;
    struct asked asked;
    struct regexp own;  /* where the pattern is none that was read once */
    struct arena arena; /* ... and what it needs */
};

static enum vdbq_status begin(struct function_call_state *state,
                              unsigned options, bool replaces,
                              struct matching *matching)
{
    struct vdbq_text letters = { "", 0 };
    enum vdbq_status status;

    memset(&matching->arena, 0, sizeof matching->arena);
    if (state->count > options)
        letters = TEXT(options);
    status = read_options(letters, replaces, &matching->asked, state->error);
    matching->regexp = state->arguments[1].regexp;
    if (status != VDBQ_OK || matching->regexp != NULL)
        return status;
    matching->regexp = &matching->own;
    return regexp_read(TEXT(1), matching->asked.options, &matching->arena,
                       &matching->own, state->error);
}

/* Whether the text has a match, or is one. */
static enum vdbq_status match(struct function_call_state *state, bool whole)
{
    struct matching matching;
    bool found = false;
    enum vdbq_status status = begin(state, 2, false, &matching);

    if (status == VDBQ_OK)
        status = regexp_find(matching.regexp, TEXT(0), 0, whole, NULL, &found,
                             state->error);
    arena_finish(&matching.arena);
    state->value->integer = found;
    return status;
}

FUNCTION_BODY(regexp_matches)
{
    return match(state, false);
}

FUNCTION_BODY(regexp_full_match)
{
    return match(state, true);
}

/* The text of a group; empty where it is not in the match. */
static struct vdbq_text group_of(struct vdbq_text text,
                                 const struct regexp_match *match,
                                 unsigned group)
{
    if (match->begin[group] == REGEXP_NOWHERE)
        return (struct vdbq_text){ "", 0 };
    return (struct vdbq_text){ text.bytes + match->begin[group],
                               match->end[group] - match->begin[group] };
}

FUNCTION_BODY(regexp_extract)
{
    int64_t group = state->count > 2 ? INTEGER(2) : 0;
    struct vdbq_text part = { "", 0 };
    struct regexp_match match;
    struct matching matching;
    bool found = false;
    enum vdbq_status status = begin(state, 3, false, &matching);

    if (status == VDBQ_OK
        && (group < 0 || group >= REGEXP_GROUPS
            || group > (int64_t)matching.regexp->groups))
        status = error_set(state->error, VDBQ_RANGE,
                           "a regular expression has no group %lld",
                           (long long)group);
    if (status == VDBQ_OK)
        status = regexp_find(matching.regexp, TEXT(0), 0, false, &match, &found,
                             state->error);
    if (status == VDBQ_OK && found)
        part = group_of(TEXT(0), &match, (unsigned)group);
    arena_finish(&matching.arena);
    return status == VDBQ_OK ? function_text(state, part.bytes, part.length)
                             : status;
}

/* -------------------------------------------------------------- replace -- */

/* Adds what stands in the place of a match: `\1` is its first group, `\0` all
 * of it, two backslashes are one. */
static void add_replacement(struct text *to, struct vdbq_text with,
                            struct vdbq_text text,
                            const struct regexp_match *match)
{
    for (size_t i = 0; i < with.length; i++) {
        char next = i + 1 < with.length ? with.bytes[i + 1] : '\0';
        if (with.bytes[i] != '\\'
            || (next != '\\' && (next < '0' || next > '9'))) {
            text_add(to, with.bytes + i, 1);
            continue;
        }
        i++;
        if (next == '\\') {
            text_add(to, "\\", 1);
        } else {
            struct vdbq_text part =
                group_of(text, match, (unsigned)(next - '0'));
            text_add(to, part.bytes, part.length);
        }
    }
}

/* A text on its way to one with replacements. */
struct replacing {
    const struct regexp *regexp;
    struct vdbq_text text, with;
    struct text made;
    size_t at;   /* what is before it has been added */
    size_t last; /* where the last match ended */
    bool any;    /* there was a match */
};

/* Replaces the next match; `*more`: there was one. An empty match where the last
 * one ended is none. */
static enum vdbq_status replace_next(struct replacing *replacing, bool *more,
                                     struct error *error)
{
    struct vdbq_text text = replacing->text;
    struct regexp_match match;
    unsigned bytes = 1;
    enum vdbq_status status = regexp_find(
        replacing->regexp, text, replacing->at, false, &match, more, error);

    if (status != VDBQ_OK || !*more)
        return status;
    text_add(&replacing->made, text.bytes + replacing->at,
             match.begin[0] - replacing->at);
    replacing->at = match.end[0];
    if (match.begin[0] != match.end[0] || match.begin[0] != replacing->last) {
        add_replacement(&replacing->made, replacing->with, text, &match);
        replacing->any = true;
        replacing->last = replacing->at;
        return VDBQ_OK;
    }
    *more = replacing->at < text.length;
    if (*more)
        utf8_character(text.bytes + replacing->at, text.bytes + text.length,
                       &bytes);
    text_add(&replacing->made, text.bytes + replacing->at, *more ? bytes : 0);
    replacing->at += *more ? bytes : 0;
    return VDBQ_OK;
}

/* What was made, and the rest of the text. */
static enum vdbq_status replaced(struct function_call_state *state,
                                 struct replacing *replacing)
{
    struct text *made = &replacing->made;

    if (!replacing->any)
        return function_text(state, replacing->text.bytes,
                             replacing->text.length);
    text_add(made, replacing->text.bytes + replacing->at,
             replacing->text.length - replacing->at);
    if (made->failed)
        return error_no_memory(state->error);
    if (made->length > FUNCTION_TEXT_MAX)
        return error_set(state->error, VDBQ_RANGE,
                         "a text would be longer than %d bytes",
                         FUNCTION_TEXT_MAX);
    return function_text_copy(state, made->length > 0 ? made->bytes : "",
                              made->length);
}

FUNCTION_BODY(regexp_replace)
{
    struct matching matching;
    struct replacing replacing = { .text = TEXT(0),
                                   .with = TEXT(2),
                                   .last = REGEXP_NOWHERE };
    enum vdbq_status status = begin(state, 3, true, &matching);
    bool more = true;

    replacing.regexp = matching.regexp;
    if (status == VDBQ_OK)
        status = check_replacement(TEXT(2), matching.regexp, state->error);
    while (status == VDBQ_OK && more
           && replacing.made.length <= FUNCTION_TEXT_MAX) {
        status = replace_next(&replacing, &more, state->error);
        more = more && matching.asked.all;
    }
    if (status == VDBQ_OK)
        status = replaced(state, &replacing);
    text_finish(&replacing.made);
    arena_finish(&matching.arena);
    return status;
}

/* --------------------------------------------------------------- escape -- */

/* Whether a byte stands for itself in a pattern, wherever it is. */
static bool is_plain(char byte)
{
    unsigned char letter = (unsigned char)byte | 0x20;

    return (unsigned char)byte >= 128 || byte == '_'
           || (byte >= '0' && byte <= '9') || (letter >= 'a' && letter <= 'z');
}

FUNCTION_BODY(regexp_escape)
{
    struct vdbq_text text = TEXT(0);
    char *room = function_room(state, 2 * text.length), *to = room;

    if (room == NULL)
        return error_no_memory(state->error);
    for (size_t i = 0; i < text.length; i++) {
        if (!is_plain(text.bytes[i]))
            *to++ = '\\';
        *to++ = text.bytes[i];
    }
    state->value->text.length = (size_t)(to - room);
    return VDBQ_OK;
}
