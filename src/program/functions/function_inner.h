/* SPDX-License-Identifier: MIT */
/*
 * What the files of the functions share. Texts are UTF-8; a byte that is none
 * counts as a character of its own or as part of the one before it, so that
 * every text has characters.
 */
#ifndef VDBQ_PROGRAM_FUNCTION_INNER_H
#define VDBQ_PROGRAM_FUNCTION_INNER_H

#include <stddef.h>

#include "program/functions/function.h"

/* A call on its way. */
struct function_call_state {
    const struct function_value *arguments;
    unsigned count;
    struct arena *arena;          /* of texts that are made */
    struct function_value *value; /* zeroed; the result     */
    struct error *error;
};

/* The most bytes of a text that a function makes. */
enum { FUNCTION_TEXT_MAX = 1 << 28 };

/* Bytes of the character at `at`, up to `end`; at least 1. */
size_t utf8_length(const char *at, const char *end);
/* Characters of a text, and bytes of its first `count` ones. */
size_t utf8_count(struct vdbq_text text);
size_t utf8_offset(struct vdbq_text text, size_t count);
/* Writes a character, at most 4 bytes; those that are none become U+FFFD. */
size_t utf8_write(int64_t character, char *bytes);

/* Room for a text that is the value; NULL: no memory. */
char *function_room(struct function_call_state *state, size_t length);
/* A part of an argument, or another text that lives long enough, as value. */
enum vdbq_status function_text(struct function_call_state *state,
                               const char *bytes, size_t length);
/* A text that is made: copied. */
enum vdbq_status function_text_copy(struct function_call_state *state,
                                    const char *bytes, size_t length);

/* A row of the table. */
#define FUNCTION_BODY(name)                                                    \
    enum vdbq_status function_##name(struct function_call_state *state)

FUNCTION_BODY(lower);
FUNCTION_BODY(upper);
FUNCTION_BODY(length);
FUNCTION_BODY(octet_length);
FUNCTION_BODY(substr);
FUNCTION_BODY(trim);
FUNCTION_BODY(ltrim);
FUNCTION_BODY(rtrim);
FUNCTION_BODY(replace);
FUNCTION_BODY(instr);
FUNCTION_BODY(concat);
FUNCTION_BODY(concat_ws);
FUNCTION_BODY(reverse);
FUNCTION_BODY(repeat);
FUNCTION_BODY(lpad);
FUNCTION_BODY(rpad);
FUNCTION_BODY(left);
FUNCTION_BODY(right);
FUNCTION_BODY(starts_with);
FUNCTION_BODY(ends_with);
FUNCTION_BODY(contains);
FUNCTION_BODY(split_part);
FUNCTION_BODY(hex);
FUNCTION_BODY(unicode);
FUNCTION_BODY(char);
FUNCTION_BODY(like);
FUNCTION_BODY(glob);
FUNCTION_BODY(strftime);
FUNCTION_BODY(to_date);
FUNCTION_BODY(to_timestamp);
FUNCTION_BODY(to_moment);
FUNCTION_BODY(from_julian);
FUNCTION_BODY(from_unix);
FUNCTION_BODY(moved);
FUNCTION_BODY(to_smallint);
FUNCTION_BODY(to_integer);
FUNCTION_BODY(to_bigint);
FUNCTION_BODY(to_float);
FUNCTION_BODY(to_double);
FUNCTION_BODY(to_decimal);
FUNCTION_BODY(to_boolean);
FUNCTION_BODY(from_integer);
FUNCTION_BODY(from_float);
FUNCTION_BODY(from_double);
FUNCTION_BODY(from_decimal);
FUNCTION_BODY(from_boolean);
FUNCTION_BODY(from_date);
FUNCTION_BODY(from_timestamp);
FUNCTION_BODY(bound_bigint);
FUNCTION_BODY(bound_double);
FUNCTION_BODY(number_text);
FUNCTION_BODY(number_text_of);

#endif
