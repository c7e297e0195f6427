/* SPDX-License-Identifier: MIT */
/*
 * Functions of regular expressions. Where all but the text is constant, pattern,
 * options and replacement are read once for all texts (function_lookup_read()),
 * else for each.
 */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "program/functions/function_inner.h"
#include "program/regexp/regexp.h"

#define TEXT(i)    (state->arguments[i].text)
#define INTEGER(i) (state->arguments[i].integer)

/* A part of a replacement: bytes that stand for themselves, and behind them what
 * a group matched. */
struct piece {
    const char *bytes;
    size_t length;
    int group; /* -1: none; 0: the whole match */
};

/* What is read once of a call: all but the text. */
struct regexp_call {
    struct regexp regexp;
    bool all; /* regexp_replace() is to replace all matches */
    struct piece *pieces;
    unsigned piece_count;
};

/* The same as it is written. */
struct written {
    struct vdbq_text pattern, options;
    struct vdbq_text with; /* of regexp_replace(); no bytes: not known */
    bool replaces;
};

/* ---------------------------------------------------------------- reading -- */

/* Reads the letters of options. */
static enum vdbq_status read_options(const struct written *written,
                                     struct regexp_options *options, bool *all,
                                     struct error *error)
{
    struct vdbq_text letters = written->options;

    for (size_t i = 0; i < letters.length; i++) {
        char letter = letters.bytes[i];
        if (letter == 'g' && written->replaces)
            *all = true;
        else if (letter == 'i' || letter == 'c')
            options->folds = letter == 'i';
        else if (letter == 'l')
            options->literal = true;
        else if (letter == 's' || letter == 'm' || letter == 'n'
                 || letter == 'p')
            options->dot_breaks = letter == 's';
        else
            return error_set(error, VDBQ_RANGE,
                             "an option of a regular expression is not one "
                             "of c, i, l, m, n, p, s%s: \"%.*s\"",
                             written->replaces ? ", g" : "",
                             utf8_shown(letters), letters.bytes);
    }
    return VDBQ_OK;
}

/* How many pieces a replacement has at most. */
static size_t pieces_max(struct vdbq_text with)
{
    size_t count = 1;

    for (size_t i = 0; i < with.length; i++)
        count += with.bytes[i] == '\\';
    return count;
}

/* Ends a piece at a byte of the replacement; the next one begins there. */
static struct piece *end_piece(struct regexp_call *call, const char *at,
                               int group)
{
    struct piece *piece = &call->pieces[call->piece_count++];

    piece->length = (size_t)(at - piece->bytes);
    piece->group = group;
    piece[1].bytes = at;
    return piece + 1;
}

/* Reads a replacement: `\1` is the first group, `\0` all of the match, two
 * backslashes are one. It may name only groups that there are. */
static enum vdbq_status read_replacement(struct vdbq_text with,
                                         struct arena *arena,
                                         struct regexp_call *call,
                                         struct error *error)
{
    const char *end = with.bytes + with.length;
    struct piece *piece =
        arena_alloc(arena, (pieces_max(with) + 1) * sizeof *piece);

    if (piece == NULL)
        return error_no_memory(error);
    call->pieces = piece;
    piece->bytes = with.bytes;
    for (const char *at = with.bytes; at + 1 < end; at++) {
        int group = at[1] - '0';
        if (at[0] != '\\')
            continue;
        if (group >= 0 && group < REGEXP_GROUPS) {
            if (group > (int)call->regexp.groups)
                return error_set(error, VDBQ_RANGE,
                                 "a replacement names group %d of a regular "
                                 "expression that has %u",
                                 group, call->regexp.groups);
            piece = end_piece(call, at++, group);
            piece->bytes = at + 1;
        } else if (at[1] == '\\') {
            piece = end_piece(call, ++at, -1);
            piece->bytes = at + 1;
        }
    }
    end_piece(call, end, -1);
    return VDBQ_OK;
}

/* Reads what is written, as far as it is known; what it becomes lives in
 * `arena`. Fails with RANGE, NO_MEMORY. */
static enum vdbq_status read_call(const struct written *written,
                                  struct arena *arena, struct regexp_call *call,
                                  struct error *error)
{
    struct regexp_options options = { 0 };
    enum vdbq_status status;

    *call = (struct regexp_call){ 0 };
    status = read_options(written, &options, &call->all, error);
    if (status == VDBQ_OK)
        status =
            regexp_read(written->pattern, options, arena, &call->regexp, error);
    if (status == VDBQ_OK && written->replaces && written->with.bytes != NULL)
        status = read_replacement(written->with, arena, call, error);
    return status;
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

enum vdbq_status function_pattern_check(const struct function *function,
                                        const struct vdbq_text *texts,
                                        unsigned count, struct error *error)
{
    unsigned options = options_of(function);
    struct written written = { .pattern = texts[1],
                               .replaces = is_replace(function) };
    struct arena arena = { 0 };
    struct regexp_call call;
    enum vdbq_status status;

    if (!has_pattern(function) || texts[1].bytes == NULL
        || (count > options && texts[options].bytes == NULL))
        return VDBQ_OK;
    if (count > options)
        written.options = texts[options];
    if (written.replaces)
        written.with = texts[2];
    status = read_call(&written, &arena, &call, error);
    arena_finish(&arena);
    return status;
}

/* What the arguments of a call say. */
static struct written written_in(const struct function_value *arguments,
                                 unsigned count, unsigned options,
                                 bool replaces)
{
    struct written written = { .pattern = arguments[1].text,
                               .replaces = replaces };

    if (count > options)
        written.options = arguments[options].text;
    if (replaces)
        written.with = arguments[2].text;
    return written;
}

bool function_regexp_read(struct function_lookup *lookup, struct arena *arena)
{
    const struct function *function = lookup->function;
    struct regexp_call *call;
    struct written written;
    struct error ignored = { 0 };

    if (!has_pattern(function) || !function_lookup_is_of_first(lookup))
        return true;
    written = written_in(lookup->arguments, lookup->count, options_of(function),
                         is_replace(function));
    call = arena_alloc(arena, sizeof *call);
    if (call == NULL)
        return false;
    if (read_call(&written, arena, call, &ignored) == VDBQ_OK) {
        lookup->arguments[1].regexp = call;
        return regexp_make_table(
            &call->regexp, function->compute == function_regexp_full_match,
            arena);
    }
    return ignored.status != VDBQ_NO_MEMORY;
}

/* ------------------------------------------------------------- the call -- */

/* What was read of a call. */
struct matching {
    const struct regexp_call *call;
    struct regexp_call own; /* where it was not read once */
    struct arena arena;     /* ... and what it needs      */
};

static enum vdbq_status begin(struct function_call_state *state,
                              unsigned options, bool replaces,
                              struct matching *matching)
{
    struct written written;

    memset(&matching->arena, 0, sizeof matching->arena);
    matching->call = state->arguments[1].regexp;
    if (matching->call != NULL)
        return VDBQ_OK;
    matching->call = &matching->own;
    written = written_in(state->arguments, state->count, options, replaces);
    return read_call(&written, &matching->arena, &matching->own, state->error);
}

/* Whether the text has a match, or is one. */
static enum vdbq_status match(struct function_call_state *state, bool whole)
{
    struct matching matching;
    bool found = false;
    enum vdbq_status status = begin(state, 2, false, &matching);

    if (status == VDBQ_OK)
        status = regexp_find(&matching.call->regexp, TEXT(0), 0, whole, NULL,
                             &found, state->error);
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

    if (status == VDBQ_OK && (group < 0 || group >= REGEXP_GROUPS))
        status = error_set(state->error, VDBQ_RANGE,
                           "a group of a regular expression is 0 to %d: %lld",
                           REGEXP_GROUPS - 1, (long long)group);
    if (status == VDBQ_OK)
        status = regexp_find(&matching.call->regexp, TEXT(0), 0, false, &match,
                             &found, state->error);
    if (status == VDBQ_OK && found
        && group <= (int64_t)matching.call->regexp.groups)
        part = group_of(TEXT(0), &match, (unsigned)group);
    arena_finish(&matching.arena);
    return status == VDBQ_OK ? function_text(state, part.bytes, part.length)
                             : status;
}

/* -------------------------------------------------------------- replace -- */

/* A text on its way to one with replacements. */
struct replacing {
    const struct regexp_call *call;
    struct vdbq_text text;
    struct text made;
    bool too_long;
    size_t at;   /* what is before it has been added */
    size_t last; /* where the last match ended */
    bool any;    /* there was a match */
};

static void add(struct replacing *replacing, const char *bytes, size_t length)
{
    replacing->too_long =
        replacing->too_long
        || !function_text_add(&replacing->made, bytes, length);
}

/* Adds what stands in the place of a match. */
static void add_replacement(struct replacing *replacing,
                            const struct regexp_match *match)
{
    const struct regexp_call *call = replacing->call;

    for (unsigned i = 0; i < call->piece_count && !replacing->too_long; i++) {
        const struct piece *piece = &call->pieces[i];
        struct vdbq_text part = { "", 0 };
        if (piece->group >= 0)
            part = group_of(replacing->text, match, (unsigned)piece->group);
        add(replacing, piece->bytes, piece->length);
        add(replacing, part.bytes, part.length);
    }
}

/* Adds the text from where it was added to. */
static void add_up_to(struct replacing *replacing, size_t end)
{
    add(replacing, replacing->text.bytes + replacing->at, end - replacing->at);
    replacing->at = end;
}

/* Replaces the next match; `*more`: there was one. An empty match where the last
 * one ended is none: the character behind it is passed over. */
static enum vdbq_status replace_next(struct replacing *replacing, bool *more,
                                     struct error *error)
{
    struct vdbq_text text = replacing->text;
    struct regexp_match match;
    unsigned bytes;
    enum vdbq_status status =
        regexp_find(&replacing->call->regexp, text, replacing->at, false,
                    &match, more, error);

    if (status != VDBQ_OK || !*more)
        return status;
    add_up_to(replacing, match.begin[0]);
    if (match.begin[0] != match.end[0] || match.begin[0] != replacing->last) {
        add_replacement(replacing, &match);
        replacing->at = replacing->last = match.end[0];
        replacing->any = true;
        return VDBQ_OK;
    }
    *more = replacing->at < text.length;
    if (*more) {
        utf8_character(text.bytes + replacing->at, text.bytes + text.length,
                       &bytes);
        add_up_to(replacing, replacing->at + bytes);
    }
    return VDBQ_OK;
}

/* What was made, and the rest of the text. */
static enum vdbq_status replaced(struct function_call_state *state,
                                 struct replacing *replacing)
{
    if (!replacing->any)
        return function_text(state, replacing->text.bytes,
                             replacing->text.length);
    add_up_to(replacing, replacing->text.length);
    return function_text_made(state, &replacing->made, replacing->too_long);
}

FUNCTION_BODY(regexp_replace)
{
    struct matching matching;
    struct replacing replacing = { .text = TEXT(0), .last = REGEXP_NOWHERE };
    enum vdbq_status status = begin(state, 3, true, &matching);
    bool more = true;

    replacing.call = matching.call;
    while (status == VDBQ_OK && more && !replacing.too_long) {
        status = replace_next(&replacing, &more, state->error);
        more = more && matching.call->all;
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
