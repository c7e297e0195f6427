/* SPDX-License-Identifier: MIT */
/*
 * Functions that change letters. Their case: of those of ASCII, as SQLite's do,
 * or of all that Unicode has; or their accents. A byte that is no UTF-8 stays as
 * it is.
 */
#include <assert.h>
#include <string.h>

#include "program/letters/accent.h"
#include "program/functions/function_inner.h"
#include "program/letters/letter.h"

/* The bytes from `at` on that are ASCII. */
static size_t ascii_length(const char *at, const char *end)
{
    const char *from = at;
    uint64_t bytes;

    for (; end - at >= (ptrdiff_t)sizeof bytes; at += sizeof bytes) {
        memcpy(&bytes, at, sizeof bytes);
        if ((bytes & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (at < end && (unsigned char)*at < 128)
        at++;
    return (size_t)(at - from);
}

/* Changes so many bytes, whatever they are. */
static void change_bytes(const char *from, char *to, size_t length,
                         enum letter_change change)
{
    char first = change == LETTER_UPPER ? 'a' : 'A';

    for (size_t i = 0; i < length; i++) {
        bool changes = from[i] >= first && from[i] <= first + 25;
        to[i] = changes ? (char)(from[i] ^ 0x20) : from[i];
    }
}

static enum vdbq_status change_ascii(struct function_call_state *state,
                                     enum letter_change change)
{
    struct vdbq_text text = state->arguments[0].text;
    char *to = function_room(state, text.length);

    if (to == NULL)
        return error_no_memory(state->error);
    change_bytes(text.bytes, to, text.length, change);
    return VDBQ_OK;
}

FUNCTION_BODY(lower)
{
    return change_ascii(state, LETTER_LOWER);
}

FUNCTION_BODY(upper)
{
    return change_ascii(state, LETTER_UPPER);
}

/* What a function does to letters. */
struct change {
    bool strips;                /* it leaves out accents ... */
    enum letter_change letters; /* ... or else changes the case */
};

/* Writes what becomes of a character of so many bytes at `at`; bytes written. */
static size_t change_character(struct change change, const char *at,
                               uint32_t character, size_t length, char *to)
{
    uint32_t changed = change.strips
                           ? accent_base(character)
                           : letter_changed(character, change.letters);

    if (change.strips && accent_is_mark(character))
        return 0;
    if (changed != character)
        return utf8_write(changed, to);
    memcpy(to, at, length);
    return length;
}

static void change_plain(struct change change, const char *from, char *to,
                         size_t length)
{
    if (change.strips && length > 0)
        memcpy(to, from, length);
    else
        change_bytes(from, to, length, change.letters);
}

/* (A character of two bytes may become one of three, one of three bytes one of
 * four, but none grows by more; and those of ASCII become others of ASCII.) */
static enum vdbq_status change_all(struct function_call_state *state,
                                   struct change change)
{
    struct vdbq_text text = state->arguments[0].text;
    const char *at = text.bytes, *end = at + text.length;
    size_t plain = ascii_length(at, end);
    size_t most = text.length + (text.length - plain) / 2;
    char *room = function_room(state, most), *to = room;

    if (room == NULL)
        return error_no_memory(state->error);
    while (at < end) {
        change_plain(change, at, to, plain);
        at += plain;
        to += plain;
        if (at < end) {
            unsigned bytes;
            uint32_t character = utf8_character(at, end, &bytes);
            to += change_character(change, at, character, bytes, to);
            at += bytes;
        }
        plain = ascii_length(at, end);
    }
    assert((size_t)(to - room) <= most);
    state->value->text.length = (size_t)(to - room);
    return VDBQ_OK;
}

FUNCTION_BODY(unicode_lower)
{
    return change_all(state, (struct change){ .letters = LETTER_LOWER });
}

FUNCTION_BODY(unicode_upper)
{
    return change_all(state, (struct change){ .letters = LETTER_UPPER });
}

FUNCTION_BODY(casefold)
{
    return change_all(state, (struct change){ .letters = LETTER_FOLD });
}

FUNCTION_BODY(strip_accents)
{
    return change_all(state, (struct change){ .strips = true });
}
