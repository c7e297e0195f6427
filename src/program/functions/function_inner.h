/* SPDX-License-Identifier: MIT */
/*
 * What the files of the functions share.
 */
#ifndef VDBQ_PROGRAM_FUNCTION_INNER_H
#define VDBQ_PROGRAM_FUNCTION_INNER_H

#include <stddef.h>

#include "base/text.h"
#include "program/functions/function.h"
#include "program/functions/function_table.h"
#include "program/letters/utf8.h"

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

/* Room for a text that is the value; NULL: no memory. */
char *function_room(struct function_call_state *state, size_t length);
/* A part of an argument, or another text that lives long enough, as value. */
enum vdbq_status function_text(struct function_call_state *state,
                               const char *bytes, size_t length);
/* A text that is made: copied. */
enum vdbq_status function_text_copy(struct function_call_state *state,
                                    const char *bytes, size_t length);

/* The failure that a text would be longer than that. */
enum vdbq_status function_too_long(struct function_call_state *state);
/* Adds to a text that is made; false: it would be longer, and stays as it is. A
 * want of memory sticks in it. */
bool function_text_add(struct text *made, const char *bytes, size_t length);
/* What was made so as value; `too_long`: something was not added. */
enum vdbq_status function_text_made(struct function_call_state *state,
                                    const struct text *made, bool too_long);

/* Whether only the first argument is no constant: the text, or made of it. */
bool function_lookup_is_of_first(const struct function_lookup *lookup);

/* Reads the pattern of a call of like or glob, once for all texts, where it is
 * one of literals; other calls stay as they are. False: no memory. */
bool function_pattern_read(struct function_lookup *lookup, struct arena *arena);

/* Likewise, of calls with regular expressions. */
bool function_regexp_read(struct function_lookup *lookup, struct arena *arena);

/* Whether a call asks for literals alone of its text. */
bool function_lookup_is_pattern(const struct function_lookup *lookup);
/* Computes such a call for the words: matches[word] becomes 0 or 1. */
void function_pattern_words(const struct function_lookup *lookup,
                            const struct function_words *words, char *matches);
/* Where a word begins in the bytes of all. */
static inline uint32_t function_word_start(const struct function_words *words,
                                           uint32_t word)
{
    return word > 0 ? words->ends[word - 1] : 0;
}

/* Computes a function of the table. */
#define FUNCTION_BODY(name)                                                    \
    enum vdbq_status function_##name(struct function_call_state *state)

#define PASS(...)
#define DECLARE(name, least, most, gives, takes, may, body, meaning)           \
    FUNCTION_BODY(body);
SCALAR_FUNCTIONS(PASS, PASS, DECLARE)
INNER_FUNCTIONS(DECLARE)
#undef PASS
#undef DECLARE

#endif
