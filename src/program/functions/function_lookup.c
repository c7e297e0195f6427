/* SPDX-License-Identifier: MIT */
/*
 * Reads calls as Lookup has them: name(argument, ...), where an argument is
 * `?`, a number, a text in single quotes, or such calls and whole numbers with
 * + and - between them, a call first. Some calls are computed for many words at
 * once, which lie one behind the other: patterns of literals, and numbers of
 * characters.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "program/functions/function_inner.h"

struct reading {
    const char *at;
    struct arena *arena;
    struct error *error;
    bool open;      /* `?` was met */
    unsigned depth; /* of the call that is being read */
};

static enum vdbq_status read_call(struct reading *reading,
                                  struct function_lookup *lookup);

static enum vdbq_status refuse(const struct reading *reading, const char *what)
{
    return error_set(reading->error, VDBQ_PROGRAM, "%s at \"%.40s\"", what,
                     reading->at);
}

static void pass_blanks(struct reading *reading)
{
    while (*reading->at == ' ')
        reading->at++;
}

static enum vdbq_status read_name(struct reading *reading,
                                  struct function_lookup *lookup)
{
    char name[64];
    size_t length = strcspn(reading->at, "( ");
    if (length == 0 || length >= sizeof name)
        return refuse(reading, "no function");
    memcpy(name, reading->at, length);
    name[length] = '\0';
    lookup->function = function_find(name);
    if (lookup->function == NULL)
        return refuse(reading, "no such function");
    reading->at += length;
    pass_blanks(reading);
    if (*reading->at != '(')
        return refuse(reading, "no (");
    reading->at++;
    return VDBQ_OK;
}

static enum vdbq_status read_text(struct reading *reading,
                                  struct function_value *value)
{
    size_t length = 0;
    char *text = arena_alloc(reading->arena, strlen(reading->at));
    if (text == NULL)
        return error_no_memory(reading->error);
    for (reading->at++; *reading->at != '\0'; reading->at++) {
        if (*reading->at == '\'' && *++reading->at != '\'')
            break;
        text[length++] = *reading->at;
    }
    if (reading->at[-1] != '\'')
        return refuse(reading, "the text does not end");
    value->text = (struct vdbq_text){ text, length };
    return VDBQ_OK;
}

static enum vdbq_status read_number(struct reading *reading,
                                    enum vdbq_type type,
                                    struct function_value *value)
{
    size_t length = strcspn(reading->at, ",) ");
    bool read = type == VDBQ_DOUBLE
                    ? text_to_double(reading->at, length, &value->real)
                    : text_to_int64(reading->at, length, &value->integer);
    if (!read)
        return refuse(reading, "no number");
    reading->at += length;
    return VDBQ_OK;
}

static enum vdbq_status read_open(struct reading *reading,
                                  struct function_lookup *lookup,
                                  enum vdbq_type type)
{
    if (type != VDBQ_TEXT)
        return refuse(reading, "an argument that cannot be open");
    reading->open = true;
    lookup->open |= 1u << lookup->count;
    reading->at++;
    return VDBQ_OK;
}

/* --------------------------------------------------------------- terms -- */

/* Whether a call stands here, behind a sign or without one. */
static bool is_call(const struct reading *reading)
{
    const char *at = reading->at;
    at += *at == '+' || *at == '-';
    return isalpha((unsigned char)*at) || *at == '_';
}

/* Whether a call gives what an argument takes: a text, or what the machine holds
 * in an integer. */
static bool fits(const struct function_lookup *call, enum vdbq_type type)
{
    enum vdbq_type result = call->function->result;
    bool real = result == VDBQ_FLOAT || result == VDBQ_DOUBLE;
    return (type == VDBQ_TEXT) == (result == VDBQ_TEXT) && !real;
}

/* A call or a number, behind its sign. */
static enum vdbq_status read_term(struct reading *reading, enum vdbq_type type,
                                  struct function_term *term)
{
    struct function_value value = { 0 };
    enum vdbq_status status;
    bool call = is_call(reading);
    term->minus = *reading->at == '-';
    reading->at += *reading->at == '+' || *reading->at == '-';
    pass_blanks(reading);
    call |= is_call(reading);
    if (!call) {
        status = read_number(reading, VDBQ_BIGINT, &value);
        term->integer = value.integer;
        return status;
    }
    term->call = arena_alloc(reading->arena, sizeof *term->call);
    if (term->call == NULL)
        return error_no_memory(reading->error);
    status = read_call(reading, term->call);
    return status != VDBQ_OK || fits(term->call, type)
               ? status
               : refuse(reading, "a call of another type");
}

/* All terms of an argument; a text has one, without a sign. */
static enum vdbq_status read_terms(struct reading *reading, enum vdbq_type type,
                                   const struct function_term **terms)
{
    do {
        struct function_term *term = arena_alloc(reading->arena, sizeof *term);
        if (term == NULL)
            return error_no_memory(reading->error);
        enum vdbq_status status = read_term(reading, type, term);
        if (status != VDBQ_OK)
            return status;
        if (type == VDBQ_TEXT && (term->minus || *terms != NULL))
            return refuse(reading, "a sum of texts");
        term->next = *terms;
        *terms = term;
        pass_blanks(reading);
    } while (*reading->at == '+' || *reading->at == '-');
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- calls -- */

static enum vdbq_status read_argument(struct reading *reading,
                                      struct function_lookup *lookup)
{
    const struct function *function = lookup->function;
    enum vdbq_status status;
    if (lookup->count == function->most)
        return refuse(reading, "too many arguments");
    enum vdbq_type type = function_takes(function, lookup->count);
    struct function_value *value = &lookup->arguments[lookup->count];
    pass_blanks(reading);
    if (*reading->at == '?')
        status = read_open(reading, lookup, type);
    else if (type != VDBQ_DOUBLE && is_call(reading)) {
        lookup->nests = true;
        status = read_terms(reading, type, &lookup->terms[lookup->count]);
    } else if (type != VDBQ_TEXT)
        status = read_number(reading, type, value);
    else if (*reading->at == '\'')
        status = read_text(reading, value);
    else
        status = refuse(reading, "no text");
    pass_blanks(reading);
    lookup->count++;
    return status;
}

/* A call with its arguments and the ) behind them. */
static enum vdbq_status read_call(struct reading *reading,
                                  struct function_lookup *lookup)
{
    *lookup = (struct function_lookup){ 0 };
    if (reading->depth == FUNCTION_LOOKUP_DEPTH)
        return refuse(reading, "calls are too deep");
    reading->depth++;
    enum vdbq_status status = read_name(reading, lookup);
    while (status == VDBQ_OK) {
        status = read_argument(reading, lookup);
        if (status != VDBQ_OK || *reading->at != ',')
            break;
        reading->at++;
    }
    reading->depth--;
    if (status != VDBQ_OK)
        return status;
    if (*reading->at != ')')
        return refuse(reading, "no )");
    if (lookup->count < lookup->function->least)
        return refuse(reading, "too few arguments");
    reading->at++;
    return function_pattern_read(lookup, reading->arena)
                   && function_regexp_read(lookup, reading->arena)
               ? VDBQ_OK
               : error_no_memory(reading->error);
}

enum vdbq_status function_lookup_read(const char *text, struct arena *arena,
                                      struct function_lookup *lookup,
                                      struct error *error)
{
    struct reading reading = { .at = text, .arena = arena, .error = error };
    enum vdbq_status status = read_call(&reading, lookup);
    if (status != VDBQ_OK)
        return status;
    if (*reading.at != '\0')
        return refuse(&reading, "no ) and end");
    return reading.open ? VDBQ_OK : refuse(&reading, "too few arguments");
}

bool function_lookup_is_of_first(const struct function_lookup *lookup)
{
    for (unsigned i = 1; i < lookup->count; i++)
        if ((lookup->open >> i & 1) != 0 || lookup->terms[i] != NULL)
            return false;
    return lookup->open == 1 || lookup->terms[0] != NULL;
}

/* -------------------------------------------------------------- calling -- */

void function_lookup_failure(const struct function *function,
                             char room[FUNCTION_FAILURE_MAX])
{
    const char *type = type_name(function->result);
    bool casts = strncmp(function->name, "to_", 3) == 0;
    bool whole = type_is_integer(function->result);
    snprintf(room, FUNCTION_FAILURE_MAX,
             !casts  ? "a text is not what %s takes"
             : whole ? "a text is out of the range of %s"
                     : "a text is no %s",
             casts ? type : function->name);
}

/* What an argument is for a text. What its terms give is all computed: one that
 * fails counts also beside NULL. */
static enum vdbq_status compute_terms(const struct function_term *term,
                                      struct vdbq_text text,
                                      struct arena *arena,
                                      struct function_value *argument,
                                      struct error *error)
{
    uint64_t sum = 0;
    bool null = false;
    for (; term != NULL; term = term->next) {
        struct function_value own[FUNCTION_ARGUMENTS_MAX];
        struct function_value value = { .integer = term->integer };
        if (term->call != NULL) {
            memcpy(own, term->call->arguments, term->call->count * sizeof *own);
            enum vdbq_status status = function_lookup_call(
                term->call, own, text, arena, &value, error);
            if (status != VDBQ_OK)
                return status;
        }
        null |= value.null;
        sum += term->minus ? -(uint64_t)value.integer : (uint64_t)value.integer;
        *argument = value;
    }
    argument->null = null;
    argument->integer = (int64_t)sum;
    return VDBQ_OK;
}

enum vdbq_status function_lookup_call(const struct function_lookup *lookup,
                                      struct function_value *arguments,
                                      struct vdbq_text text,
                                      struct arena *arena,
                                      struct function_value *value,
                                      struct error *error)
{
    bool null = false;
    for (unsigned i = 0; i < lookup->count; i++) {
        if ((lookup->open >> i & 1) != 0)
            arguments[i].text = text;
        if (!lookup->nests || lookup->terms[i] == NULL)
            continue;
        enum vdbq_status status =
            compute_terms(lookup->terms[i], text, arena, &arguments[i], error);
        if (status != VDBQ_OK)
            return status;
        null |= arguments[i].null;
    }
    if (null) {
        *value = (struct function_value){ .null = true };
        return VDBQ_OK;
    }
    return function_call(lookup->function, arguments, lookup->count, arena,
                         value, error);
}

/* --------------------------------------------------------- many words -- */

enum { BLOCK_WORDS = 256 }; /* whose characters are looked at together */

/* Whether a call counts the characters of its text. */
static bool is_length(const struct function_lookup *lookup)
{
    return lookup->function->compute == function_length && lookup->open == 1;
}

unsigned function_words_width(const struct function_lookup *lookup)
{
    if (function_lookup_is_pattern(lookup))
        return 1;
    return is_length(lookup) ? sizeof(int64_t) : 0;
}

/* The bytes of words [first, end). */
static struct vdbq_text bytes_of(const struct function_words *words,
                                 uint32_t first, uint32_t end)
{
    uint32_t start = function_word_start(words, first);
    return (struct vdbq_text){ words->bytes + start,
                               words->ends[end - 1] - start };
}

/* Where all characters have one byte, their number is told by where words end. */
static void count_block(const struct function_words *words, int64_t *lengths)
{
    uint32_t start = function_word_start(words, words->first);
    if (utf8_is_plain(bytes_of(words, words->first, words->end))) {
        for (uint32_t i = words->first; i < words->end; i++) {
            lengths[i] = words->ends[i] - start;
            start = words->ends[i];
        }
        return;
    }
    for (uint32_t i = words->first; i < words->end; i++)
        lengths[i] = (int64_t)utf8_count(bytes_of(words, i, i + 1));
}

/* Counts the characters of the words, block by block. */
static void count_words(const struct function_words *words, int64_t *lengths)
{
    struct function_words block = *words;
    for (; block.first < words->end; block.first = block.end) {
        uint32_t left = words->end - block.first;
        block.end = block.first + (left < BLOCK_WORDS ? left : BLOCK_WORDS);
        count_block(&block, lengths);
    }
}

void function_words_call(const struct function_lookup *lookup,
                         const struct function_words *words, void *values)
{
    assert(function_words_width(lookup) > 0);
    if (is_length(lookup))
        count_words(words, values);
    else
        function_pattern_words(lookup, words, values);
}
