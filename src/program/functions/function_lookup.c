/* SPDX-License-Identifier: MIT */
/*
 * Reads calls as Lookup has them: name(argument, ...), where an argument is
 * `?`, a number or a text in single quotes.
 */
#include <string.h>

#include "base/text.h"
#include "program/functions/function_inner.h"

struct reading {
    const char *at;
    struct arena *arena;
    struct function_lookup *lookup;
    struct error *error;
    bool open; /* `?` was met */
};

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

static enum vdbq_status read_name(struct reading *reading)
{
    char name[64];
    size_t length = strcspn(reading->at, "( ");
    if (length == 0 || length >= sizeof name)
        return refuse(reading, "no function");
    memcpy(name, reading->at, length);
    name[length] = '\0';
    reading->lookup->function = function_find(name);
    if (reading->lookup->function == NULL)
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

static enum vdbq_status read_open(struct reading *reading, enum vdbq_type type)
{
    if (type != VDBQ_TEXT || reading->open)
        return refuse(reading, "an argument that cannot be open");
    reading->open = true;
    reading->lookup->open = reading->lookup->count;
    reading->at++;
    return VDBQ_OK;
}

static enum vdbq_status read_argument(struct reading *reading)
{
    struct function_lookup *lookup = reading->lookup;
    const struct function *function = lookup->function;
    enum vdbq_status status;
    if (lookup->count == function->most)
        return refuse(reading, "too many arguments");
    enum vdbq_type type = function_takes(function, lookup->count);
    struct function_value *value = &lookup->arguments[lookup->count];
    pass_blanks(reading);
    if (*reading->at == '?')
        status = read_open(reading, type);
    else if (type != VDBQ_TEXT)
        status = read_number(reading, type, value);
    else if (*reading->at == '\'')
        status = read_text(reading, value);
    else
        status = refuse(reading, "no text");
    pass_blanks(reading);
    lookup->count++;
    return status;
}

enum vdbq_status function_lookup_read(const char *text, struct arena *arena,
                                      struct function_lookup *lookup,
                                      struct error *error)
{
    struct reading reading = {
        .at = text, .arena = arena, .lookup = lookup, .error = error
    };
    *lookup = (struct function_lookup){ 0 };
    enum vdbq_status status = read_name(&reading);
    while (status == VDBQ_OK) {
        status = read_argument(&reading);
        if (status != VDBQ_OK || *reading.at != ',')
            break;
        reading.at++;
    }
    if (status != VDBQ_OK)
        return status;
    if (strcmp(reading.at, ")") != 0)
        return refuse(&reading, "no ) and end");
    if (lookup->count < lookup->function->least || !reading.open)
        return refuse(&reading, "too few arguments");
    return function_pattern_read(lookup, arena)
                   && function_regexp_read(lookup, arena)
               ? VDBQ_OK
               : error_no_memory(error);
}
