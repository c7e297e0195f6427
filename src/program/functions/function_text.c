/* SPDX-License-Identifier: MIT */
/*
 * Functions of texts. Positions count characters; where SQLite has the
 * function, it is the same here.
 */
#include <string.h>

#include "program/functions/function_inner.h"

#define TEXT(i)    (state->arguments[i].text)
#define INTEGER(i) (state->arguments[i].integer)

/* --------------------------------------------------------- whole texts -- */

FUNCTION_BODY(length)
{
    state->value->integer = (int64_t)utf8_count(TEXT(0));
    return VDBQ_OK;
}

FUNCTION_BODY(octet_length)
{
    state->value->integer = (int64_t)TEXT(0).length;
    return VDBQ_OK;
}

FUNCTION_BODY(bit_length)
{
    state->value->integer = 8 * (int64_t)TEXT(0).length;
    return VDBQ_OK;
}

FUNCTION_BODY(reverse)
{
    struct vdbq_text text = TEXT(0);
    const char *end = text.bytes + text.length;
    char *to = function_room(state, text.length);
    if (to == NULL)
        return error_no_memory(state->error);
    to += text.length;
    for (const char *at = text.bytes; at < end;) {
        size_t length = utf8_length(at, end);
        to -= length;
        memcpy(to, at, length);
        at += length;
    }
    return VDBQ_OK;
}

FUNCTION_BODY(hex)
{
    static const char digits[] = "0123456789ABCDEF";
    struct vdbq_text text = TEXT(0);
    char *to = function_room(state, 2 * text.length);
    if (to == NULL)
        return error_no_memory(state->error);
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        to[2 * i] = digits[byte >> 4];
        to[2 * i + 1] = digits[byte & 15];
    }
    return VDBQ_OK;
}

FUNCTION_BODY(unicode)
{
    struct vdbq_text text = TEXT(0);
    state->value->null = text.length == 0;
    if (text.length == 0)
        return VDBQ_OK;
    unsigned bytes;
    state->value->integer =
        utf8_character(text.bytes, text.bytes + text.length, &bytes);
    return VDBQ_OK;
}

FUNCTION_BODY(char)
{
    char *to = function_room(state, (size_t)4 * state->count);
    size_t length = 0;
    if (to == NULL)
        return error_no_memory(state->error);
    for (unsigned i = 0; i < state->count; i++)
        length += utf8_write(INTEGER(i), to + length);
    state->value->text.length = length;
    return VDBQ_OK;
}

FUNCTION_BODY(compare)
{
    struct vdbq_text a = TEXT(0), b = TEXT(1);
    size_t both = a.length < b.length ? a.length : b.length;
    int order = both > 0 ? memcmp(a.bytes, b.bytes, both) : 0;
    if (order == 0)
        order = (a.length > b.length) - (a.length < b.length);
    state->value->integer = (order > 0) - (order < 0);
    return VDBQ_OK;
}

/* --------------------------------------------------------------- parts -- */

/* Characters [from, from + count) of the first argument. */
static enum vdbq_status part(struct function_call_state *state, size_t from,
                             size_t count)
{
    struct vdbq_text text = TEXT(0);
    size_t begin = utf8_offset(text, from);
    struct vdbq_text rest = { text.bytes + begin, text.length - begin };
    return function_text(state, rest.bytes, utf8_offset(rest, count));
}

/* A number that no text has so many characters of, nor less. */
static int64_t bounded(int64_t number)
{
    const int64_t most = (int64_t)1 << 40;
    return number > most ? most : number < -most ? -most : number;
}

FUNCTION_BODY(substr)
{
    int64_t start = bounded(INTEGER(1));
    int64_t count = state->count > 2 ? bounded(INTEGER(2)) : bounded(INT64_MAX);
    bool before = count < 0;
    if (before)
        count = -count;
    if (start < 0) {
        start += (int64_t)utf8_count(TEXT(0));
        if (start < 0) {
            count = count + start < 0 ? 0 : count + start;
            start = 0;
        }
    } else if (start > 0) {
        start--;
    } else if (count > 0) {
        count--;
    }
    if (before) {
        start -= count;
        if (start < 0) {
            count += start;
            start = 0;
        }
    }
    return part(state, (size_t)start, (size_t)(count < 0 ? 0 : count));
}

FUNCTION_BODY(left)
{
    int64_t count = bounded(INTEGER(1));
    if (count < 0)
        count += (int64_t)utf8_count(TEXT(0));
    return part(state, 0, (size_t)(count < 0 ? 0 : count));
}

size_t function_lookup_first(const struct function_lookup *lookup)
{
    const struct function_value *arguments = lookup->arguments;
    bool left = lookup->function->compute == function_left;
    bool substr = lookup->function->compute == function_substr
                  && lookup->count > 2 && arguments[1].integer == 1;
    int64_t count = substr ? arguments[2].integer : arguments[1].integer;
    return (left || substr) && lookup->open == 1 && !lookup->nests && count > 0
               ? (size_t)bounded(count)
               : 0;
}

FUNCTION_BODY(right)
{
    int64_t count = bounded(INTEGER(1)), all = (int64_t)utf8_count(TEXT(0));
    int64_t from = count < 0 ? -count : all - count;
    return part(state, (size_t)(from < 0 ? 0 : from), (size_t)all);
}

/* Whether the character at `at` is one of the set. */
static bool is_among(const char *at, size_t length, struct vdbq_text set)
{
    const char *end = set.bytes + set.length;
    for (const char *one = set.bytes; one < end;) {
        size_t size = utf8_length(one, end);
        if (size == length && memcmp(one, at, size) == 0)
            return true;
        one += size;
    }
    return false;
}

/* Start of the character that ends at `end`. */
static const char *last_character(const char *begin, const char *end)
{
    const char *at = end - 1;
    while (at > begin && end - at < 4 && utf8_continues(*at))
        at--;
    return at;
}

static enum vdbq_status strip(struct function_call_state *state, bool start,
                              bool end_too)
{
    struct vdbq_text text = TEXT(0), set = { " ", 1 };
    const char *at = text.bytes, *end = text.bytes + text.length;
    if (state->count > 1)
        set = TEXT(1);
    while (start && at < end && is_among(at, utf8_length(at, end), set))
        at += utf8_length(at, end);
    while (end_too && at < end) {
        const char *last = last_character(at, end);
        if (!is_among(last, (size_t)(end - last), set))
            break;
        end = last;
    }
    return function_text(state, at, (size_t)(end - at));
}

FUNCTION_BODY(trim)
{
    return strip(state, true, true);
}
FUNCTION_BODY(ltrim)
{
    return strip(state, true, false);
}
FUNCTION_BODY(rtrim)
{
    return strip(state, false, true);
}

/* ------------------------------------------------------------ searching -- */

/* Where `what` is next in [at, end); NULL: nowhere. */
static const char *find(const char *at, const char *end, struct vdbq_text what)
{
    if (what.length == 0)
        return at;
    while ((size_t)(end - at) >= what.length) {
        size_t room = (size_t)(end - at) - what.length + 1;
        at = memchr(at, what.bytes[0], room);
        if (at == NULL)
            return NULL;
        if (memcmp(at, what.bytes, what.length) == 0)
            return at;
        at++;
    }
    return NULL;
}

static const char *find_in(struct vdbq_text text, struct vdbq_text what)
{
    return find(text.bytes, text.bytes + text.length, what);
}

FUNCTION_BODY(instr)
{
    struct vdbq_text text = TEXT(0);
    const char *at = find_in(text, TEXT(1));
    if (at != NULL) {
        text.length = (size_t)(at - text.bytes);
        state->value->integer = (int64_t)utf8_count(text) + 1;
    }
    return VDBQ_OK;
}

FUNCTION_BODY(contains)
{
    state->value->integer = find_in(TEXT(0), TEXT(1)) != NULL;
    return VDBQ_OK;
}

FUNCTION_BODY(starts_with)
{
    struct vdbq_text text = TEXT(0), start = TEXT(1);
    state->value->integer =
        start.length <= text.length
        && memcmp(text.bytes, start.bytes, start.length) == 0;
    return VDBQ_OK;
}

FUNCTION_BODY(ends_with)
{
    struct vdbq_text text = TEXT(0), end = TEXT(1);
    state->value->integer =
        end.length <= text.length
        && memcmp(text.bytes + text.length - end.length, end.bytes, end.length)
               == 0;
    return VDBQ_OK;
}

static int64_t occurrences(struct vdbq_text text, struct vdbq_text what)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    int64_t count = 0;
    while (what.length > 0 && (at = find(at, end, what)) != NULL) {
        at += what.length;
        count++;
    }
    return count;
}

FUNCTION_BODY(replace)
{
    struct vdbq_text text = TEXT(0), what = TEXT(1), by = TEXT(2);
    const char *at = text.bytes, *end = text.bytes + text.length, *next;
    int64_t count = occurrences(text, what);
    if (count == 0)
        return function_text(state, text.bytes, text.length);
    int64_t length = (int64_t)text.length
                     + count * ((int64_t)by.length - (int64_t)what.length);
    if (length > FUNCTION_TEXT_MAX)
        return function_too_long(state);
    char *to = function_room(state, (size_t)length);
    if (to == NULL)
        return error_no_memory(state->error);
    while ((next = find(at, end, what)) != NULL) {
        memcpy(to, at, (size_t)(next - at));
        to += next - at;
        memcpy(to, by.bytes, by.length);
        to += by.length;
        at = next + what.length;
    }
    memcpy(to, at, (size_t)(end - at));
    return VDBQ_OK;
}

/* What a character becomes: that of `to` at the place where it is first in
 * `from`, or nothing where `to` is shorter; or itself. */
static struct vdbq_text translated(struct vdbq_text character,
                                   struct vdbq_text from, struct vdbq_text to)
{
    const char *end = from.bytes + from.length, *to_end = to.bytes + to.length;
    const char *by = to.bytes;
    for (const char *at = from.bytes; at < end;) {
        size_t length = utf8_length(at, end);
        size_t by_length = by < to_end ? utf8_length(by, to_end) : 0;
        if (length == character.length
            && memcmp(at, character.bytes, length) == 0)
            return (struct vdbq_text){ by, by_length };
        at += length;
        by += by_length;
    }
    return character;
}

/* (A character has at most four bytes.) */
FUNCTION_BODY(translate)
{
    struct vdbq_text text = TEXT(0);
    const char *end = text.bytes + text.length;
    char *room = function_room(state, 4 * utf8_count(text)), *to = room;
    if (room == NULL)
        return error_no_memory(state->error);
    for (const char *at = text.bytes; at < end;) {
        struct vdbq_text one = { at, utf8_length(at, end) };
        struct vdbq_text by = translated(one, TEXT(1), TEXT(2));
        if (by.length > 0)
            memcpy(to, by.bytes, by.length);
        to += by.length;
        at += one.length;
    }
    state->value->text.length = (size_t)(to - room);
    return VDBQ_OK;
}

FUNCTION_BODY(split_part)
{
    struct vdbq_text text = TEXT(0), what = TEXT(1);
    const char *at = text.bytes, *end = text.bytes + text.length, *next;
    int64_t parts = occurrences(text, what) + 1, number = INTEGER(2);
    if (number < 0)
        number = number >= -parts ? number + parts + 1 : 0;
    if (number < 1 || number > parts)
        return function_text(state, "", 0);
    for (; number > 1; number--)
        at = find(at, end, what) + what.length;
    next = what.length > 0 ? find(at, end, what) : NULL;
    return function_text(state, at, (size_t)((next ? next : end) - at));
}

/* -------------------------------------------------------------- joining -- */

/* Texts [first, ...) with another one between them. */
static enum vdbq_status join(struct function_call_state *state, unsigned first,
                             struct vdbq_text between)
{
    size_t length = 0;
    for (unsigned i = first; i < state->count; i++)
        length += TEXT(i).length + (i > first ? between.length : 0);
    if (length > FUNCTION_TEXT_MAX)
        return function_too_long(state);
    char *to = function_room(state, length);
    if (to == NULL)
        return error_no_memory(state->error);
    for (unsigned i = first; i < state->count; i++) {
        if (i > first && between.length > 0) {
            memcpy(to, between.bytes, between.length);
            to += between.length;
        }
        if (TEXT(i).length > 0)
            memcpy(to, TEXT(i).bytes, TEXT(i).length);
        to += TEXT(i).length;
    }
    return VDBQ_OK;
}

FUNCTION_BODY(concat)
{
    return join(state, 0, (struct vdbq_text){ "", 0 });
}

FUNCTION_BODY(concat_ws)
{
    return join(state, 1, TEXT(0));
}

FUNCTION_BODY(repeat)
{
    struct vdbq_text text = TEXT(0);
    int64_t times = INTEGER(1) < 0 ? 0 : INTEGER(1);
    if (text.length > 0 && times > FUNCTION_TEXT_MAX / (int64_t)text.length)
        return function_too_long(state);
    char *to = function_room(state, text.length * (size_t)times);
    if (to == NULL)
        return error_no_memory(state->error);
    for (; text.length > 0 && times > 0; times--, to += text.length)
        memcpy(to, text.bytes, text.length);
    return VDBQ_OK;
}

/* Writes `count` characters, those of `fill` again and again. */
static char *fill_up(char *to, struct vdbq_text fill, int64_t count)
{
    const char *end = fill.bytes + fill.length;
    for (const char *at = fill.bytes; count > 0; count--) {
        size_t length = utf8_length(at, end);
        memcpy(to, at, length);
        to += length;
        at = at + length < end ? at + length : fill.bytes;
    }
    return to;
}

static enum vdbq_status pad(struct function_call_state *state, bool start)
{
    struct vdbq_text text = TEXT(0), fill = { " ", 1 };
    int64_t wanted = INTEGER(1) < 0 ? 0 : INTEGER(1);
    int64_t lack = wanted - (int64_t)utf8_count(text);
    if (state->count > 2)
        fill = TEXT(2);
    if (lack <= 0 || fill.length == 0)
        return part(state, 0, (size_t)wanted);
    if (wanted > FUNCTION_TEXT_MAX / 4)
        return function_too_long(state);
    char *room = function_room(state, text.length + 4 * (size_t)lack);
    if (room == NULL)
        return error_no_memory(state->error);
    char *to = start ? fill_up(room, fill, lack) : room;
    memcpy(to, text.bytes, text.length);
    to += text.length;
    to = start ? to : fill_up(to, fill, lack);
    state->value->text.length = (size_t)(to - room);
    return VDBQ_OK;
}

FUNCTION_BODY(lpad)
{
    return pad(state, true);
}
FUNCTION_BODY(rpad)
{
    return pad(state, false);
}
