/* SPDX-License-Identifier: MIT */
/*
 * The table of functions, and calls of them.
 */
#include "program/functions/function_inner.h"

#include <string.h>
#include <strings.h>

#define T       VDBQ_TEXT
#define I       VDBQ_BIGINT
#define D       VDBQ_DOUBLE
#define BOOLEAN VDBQ_BOOLEAN

/* Those with names in SQL.
 *    name, result, least and most arguments, their types, NULL, fails, ... */
static const struct function table[] = {
    { "lower",
      T,
      1,
      1,
      { T },
      false,
      false,
      "ASCII letters as small ones",
      function_lower },
    { "upper",
      T,
      1,
      1,
      { T },
      false,
      false,
      "ASCII letters as capitals",
      function_upper },
    { "length",
      I,
      1,
      1,
      { T },
      false,
      false,
      "number of characters",
      function_length },
    { "octet_length",
      I,
      1,
      1,
      { T },
      false,
      false,
      "number of bytes",
      function_octet_length },
    { "substr",
      T,
      2,
      3,
      { T, I, I },
      false,
      false,
      "characters from a position on, counted from 1, or from the end if "
      "negative; so many of them, or if negative those before",
      function_substr },
    { "substring",
      T,
      2,
      3,
      { T, I, I },
      false,
      false,
      "as substr",
      function_substr },
    { "trim",
      T,
      1,
      2,
      { T, T },
      false,
      false,
      "without blanks, or given characters, at both ends",
      function_trim },
    { "ltrim",
      T,
      1,
      2,
      { T, T },
      false,
      false,
      "... at the start",
      function_ltrim },
    { "rtrim",
      T,
      1,
      2,
      { T, T },
      false,
      false,
      "... at the end",
      function_rtrim },
    { "replace",
      T,
      3,
      3,
      { T, T, T },
      false,
      true,
      "with each second text replaced by the third",
      function_replace },
    { "instr",
      I,
      2,
      2,
      { T, T },
      false,
      false,
      "where the second text starts in the first, from 1; 0: nowhere",
      function_instr },
    { "concat",
      T,
      1,
      8,
      { T, T, T, T, T, T, T, T },
      false,
      true,
      "all texts, one after another",
      function_concat },
    { "concat_ws",
      T,
      2,
      8,
      { T, T, T, T, T, T, T, T },
      false,
      true,
      "all texts but the first, which stands between them",
      function_concat_ws },
    { "reverse",
      T,
      1,
      1,
      { T },
      false,
      false,
      "characters from the last to the first",
      function_reverse },
    { "repeat",
      T,
      2,
      2,
      { T, I },
      false,
      true,
      "so many times the text",
      function_repeat },
    { "lpad",
      T,
      2,
      3,
      { T, I, T },
      false,
      true,
      "exactly so many characters: filled up at the start, with blanks or "
      "the third text, or cut",
      function_lpad },
    { "rpad",
      T,
      2,
      3,
      { T, I, T },
      false,
      true,
      "... filled up at the end",
      function_rpad },
    { "left",
      T,
      2,
      2,
      { T, I },
      false,
      false,
      "the first characters; if negative, all but so many",
      function_left },
    { "right",
      T,
      2,
      2,
      { T, I },
      false,
      false,
      "the last characters; if negative, all but so many",
      function_right },
    { "starts_with",
      BOOLEAN,
      2,
      2,
      { T, T },
      false,
      false,
      "whether the first text starts with the second",
      function_starts_with },
    { "ends_with",
      BOOLEAN,
      2,
      2,
      { T, T },
      false,
      false,
      "whether the first text ends with the second",
      function_ends_with },
    { "contains",
      BOOLEAN,
      2,
      2,
      { T, T },
      false,
      false,
      "whether the second text is in the first",
      function_contains },
    { "split_part",
      T,
      3,
      3,
      { T, T, I },
      false,
      false,
      "a part of the first text, cut at the second; parts count from 1, or "
      "from the end if negative",
      function_split_part },
    { "hex",
      T,
      1,
      1,
      { T },
      false,
      false,
      "its bytes as hexadecimal digits",
      function_hex },
    { "unicode",
      I,
      1,
      1,
      { T },
      true,
      false,
      "code point of the first character; NULL: there is none",
      function_unicode },
    { "ascii", I, 1, 1, { T }, true, false, "as unicode", function_unicode },
    { "char",
      T,
      1,
      8,
      { I, I, I, I, I, I, I, I },
      false,
      false,
      "characters of these code points",
      function_char },
    { "like",
      BOOLEAN,
      2,
      3,
      { T, T, T },
      false,
      false,
      "whether the text is like the pattern: % any characters, _ one; ASCII "
      "letters match in either case. The third text is the escape, one "
      "character",
      function_like },
    { "ilike",
      BOOLEAN,
      2,
      3,
      { T, T, T },
      false,
      false,
      "as like",
      function_like },
    { "glob",
      BOOLEAN,
      2,
      2,
      { T, T },
      false,
      false,
      "whether the text is like the pattern: * any characters, ? one, [...] "
      "one of these, [^...] none of them",
      function_glob },
    { .name = NULL }
};

/* The planner's, and programs': casts, and parts of what SQL names. */
static const struct function casts[] = {
    { "strftime",
      T,
      2,
      2,
      { T, I },
      true,
      false,
      "a timestamp as the format says; NULL: it has an unknown letter",
      function_strftime },
    { "to_date",
      VDBQ_DATE,
      1,
      1,
      { T },
      false,
      true,
      "CAST of a text to DATE",
      function_to_date },
    { "to_timestamp",
      VDBQ_TIMESTAMP,
      1,
      1,
      { T },
      false,
      true,
      "CAST of a text to TIMESTAMP",
      function_to_timestamp },
    { "to_moment",
      VDBQ_TIMESTAMP,
      1,
      1,
      { T },
      true,
      false,
      "the moment that a text is, a date, a time or a Julian day; NULL: none",
      function_to_moment },
    { "from_julian",
      VDBQ_TIMESTAMP,
      1,
      1,
      { D },
      true,
      false,
      "the moment of a Julian day; NULL: outside the years of dates",
      function_from_julian },
    { "from_unix",
      VDBQ_TIMESTAMP,
      1,
      1,
      { D },
      true,
      false,
      "the moment so many seconds after 1970-01-01; NULL likewise",
      function_from_unix },
    { "moved",
      VDBQ_TIMESTAMP,
      2,
      2,
      { I, T },
      true,
      false,
      "a moment moved as the text says, '+1 month'; NULL: it says nothing",
      function_moved },
    { "to_smallint",
      VDBQ_SMALLINT,
      1,
      1,
      { T },
      false,
      true,
      "CAST of a text to SMALLINT: the number it starts with",
      function_to_smallint },
    { "to_integer",
      VDBQ_INTEGER,
      1,
      1,
      { T },
      false,
      true,
      "CAST of a text to INTEGER: the number it starts with",
      function_to_integer },
    { "to_bigint",
      I,
      1,
      1,
      { T },
      false,
      true,
      "CAST of a text to BIGINT: the number it starts with",
      function_to_bigint },
    { "to_float",
      VDBQ_FLOAT,
      1,
      1,
      { T },
      false,
      false,
      "CAST of a text to FLOAT: the number it starts with",
      function_to_float },
    { "to_double",
      D,
      1,
      1,
      { T },
      false,
      false,
      "CAST of a text to DOUBLE: the number it starts with",
      function_to_double },
    { "to_decimal",
      VDBQ_DECIMAL,
      3,
      3,
      { T, I, I },
      false,
      true,
      "CAST of a text to DECIMAL of a precision and a scale",
      function_to_decimal },
    { "to_boolean",
      BOOLEAN,
      1,
      1,
      { T },
      false,
      true,
      "CAST of a text to BOOLEAN",
      function_to_boolean },
    { "from_integer",
      T,
      1,
      1,
      { I },
      false,
      false,
      "CAST of an integer to TEXT",
      function_from_integer },
    { "from_float",
      T,
      1,
      1,
      { D },
      false,
      false,
      "CAST of a FLOAT to TEXT",
      function_from_float },
    { "from_double",
      T,
      1,
      1,
      { D },
      false,
      false,
      "CAST of a DOUBLE to TEXT",
      function_from_double },
    { "from_decimal",
      T,
      2,
      2,
      { I, I },
      false,
      false,
      "CAST of a DECIMAL of a scale to TEXT",
      function_from_decimal },
    { "from_boolean",
      T,
      1,
      1,
      { I },
      false,
      false,
      "CAST of a BOOLEAN to TEXT",
      function_from_boolean },
    { "from_date",
      T,
      1,
      1,
      { I },
      false,
      false,
      "CAST of a DATE to TEXT",
      function_from_date },
    { "from_timestamp",
      T,
      1,
      1,
      { I },
      false,
      false,
      "CAST of a TIMESTAMP to TEXT",
      function_from_timestamp },
    { "bound_bigint",
      I,
      2,
      2,
      { T, I },
      true,
      false,
      "what a BIGINT is compared with in the place of a text: bound.h",
      function_bound_bigint },
    { "bound_double",
      D,
      2,
      2,
      { T, I },
      true,
      false,
      "what a DOUBLE is compared with in the place of a text: bound.h",
      function_bound_double },
    { "number_text",
      T,
      1,
      1,
      { T },
      false,
      false,
      "a text, but one for all texts that look like the same number",
      function_number_text },
    { "number_text_of",
      T,
      1,
      1,
      { D },
      false,
      false,
      "one text for all numbers that are equal",
      function_number_text_of },
    { .name = NULL }
};

const struct function *functions(void)
{
    return table;
}

static const struct function *find_in(const struct function *from,
                                      const char *name)
{
    for (; from->name != NULL; from++)
        if (strcasecmp(from->name, name) == 0)
            return from;
    return NULL;
}

const struct function *function_named(const char *name)
{
    return find_in(table, name);
}

const struct function *function_find(const char *name)
{
    const struct function *found = function_named(name);
    return found != NULL ? found : find_in(casts, name);
}

enum vdbq_status function_call(const struct function *function,
                               const struct function_value *arguments,
                               unsigned count, struct arena *arena,
                               struct function_value *value,
                               struct error *error)
{
    struct function_call_state state = { .arguments = arguments,
                                         .count = count,
                                         .arena = arena,
                                         .value = value,
                                         .error = error };
    *value = (struct function_value){ 0 };
    return function->compute(&state);
}

/* ---------------------------------------------------------- characters -- */

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t utf8_length(const char *at, const char *end)
{
    size_t length = 1;
    while (length < 4 && at + length < end && continues(at[length]))
        length++;
    return length;
}

size_t utf8_count(struct vdbq_text text)
{
    size_t count = 0;
    const char *end = text.bytes + text.length;
    for (const char *at = text.bytes; at < end; at += utf8_length(at, end))
        count++;
    return count;
}

size_t utf8_offset(struct vdbq_text text, size_t count)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    while (count-- > 0 && at < end)
        at += utf8_length(at, end);
    return (size_t)(at - text.bytes);
}

size_t utf8_write(int64_t character, char *bytes)
{
    bool none = character < 0 || character > 0x10ffff
                || (character >= 0xd800 && character < 0xe000);
    unsigned c = none ? 0xfffd : (unsigned)character;
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = length; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(first[length] | c);
    return length;
}

/* --------------------------------------------------------------- values -- */

char *function_room(struct function_call_state *state, size_t length)
{
    char *room = arena_alloc(state->arena, length + 1);
    state->value->text = (struct vdbq_text){ room, length };
    return room;
}

enum vdbq_status function_text(struct function_call_state *state,
                               const char *bytes, size_t length)
{
    state->value->text = (struct vdbq_text){ bytes, length };
    return VDBQ_OK;
}

enum vdbq_status function_text_copy(struct function_call_state *state,
                                    const char *bytes, size_t length)
{
    char *room = function_room(state, length);
    if (room == NULL)
        return error_no_memory(state->error);
    memcpy(room, bytes, length);
    return VDBQ_OK;
}
