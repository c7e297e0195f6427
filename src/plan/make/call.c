/* SPDX-License-Identifier: MIT */
/*
 * Calls of the host's functions (program/functions/function.h): of constants at once, of
 * one text by looking its word up, else row by row in a node of their own.
 */
#include "plan/make/call.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* Writes a constant as function_lookup_read() reads it. */
static void print_constant(struct text *text, const struct expression *e)
{
    if (e->type != VDBQ_TEXT) {
        if (is_float(e->type))
            text_print(text, "%.17g", e->constant.real);
        else
            text_print(text, "%lld", (long long)e->constant.integer);
        return;
    }
    text_print(text, "'");
    for (size_t i = 0; i < e->constant.text.length; i++)
        text_print(text, e->constant.text.bytes[i] == '\'' ? "''" : "%c",
                   e->constant.text.bytes[i]);
    text_print(text, "'");
}

/* Whether the text forms of programs, which end at a NUL, can have it. */
static bool is_printable(const struct expression *e)
{
    return e->type != VDBQ_TEXT || e->constant.text.length == 0
           || memchr(e->constant.text.bytes, '\0', e->constant.text.length)
                  == NULL;
}

/* The text form of a call with one open argument; `*call` NULL: there is not
 * just one, it is no text, or another one cannot be printed. False: a
 * failure. */
static bool lookup_text(struct binder *binder, const struct function *function,
                        struct expression *const *arguments, unsigned count,
                        const char **call, struct expression **open)
{
    struct text text = { 0 };
    bool fits = true;

    *call = NULL;
    *open = NULL;
    text_print(&text, "%s(", function->name);
    for (unsigned i = 0; i < count; i++) {
        text_print(&text, "%s", i > 0 ? ", " : "");
        if (arguments[i]->kind == EXPRESSION_CONSTANT) {
            fits &= is_printable(arguments[i]);
            print_constant(&text, arguments[i]);
            continue;
        }
        fits &= *open == NULL && arguments[i]->type == VDBQ_TEXT;
        *open = arguments[i];
        text_print(&text, "?");
    }
    text_print(&text, ")");
    fits &= *open != NULL;
    if (fits && !text.failed)
        *call = arena_copy(binder->arena, text.bytes, text.length);
    text_finish(&text);
    if (fits && *call == NULL)
        return error_no_memory(binder->error), false;
    return true;
}

/* What is true or false is an INTEGER, as a comparison is. */
static int result_type(const struct function *function)
{
    return function->result == VDBQ_BOOLEAN ? VDBQ_INTEGER
                                            : (int)function->result;
}

/* A call of constants is made at once. */
static struct expression *call_now(struct binder *binder,
                                   const struct function *function,
                                   struct expression *const *arguments,
                                   unsigned count, struct position at)
{
    struct function_value values[FUNCTION_ARGUMENTS_MAX], result;
    struct expression *e;

    for (unsigned i = 0; i < count; i++)
        values[i] =
            (struct function_value){ .integer = arguments[i]->constant.integer,
                                     .real = arguments[i]->constant.real,
                                     .text = arguments[i]->constant.text };
    memset(&result, 0, sizeof result);
    if (function_call(function, values, count, binder->arena, &result,
                      binder->error)
        != VDBQ_OK) {
        binder->error->line = at.line;
        binder->error->column = at.column;
        return NULL;
    }
    if (result.null)
        return expression_null(binder, (int)function->result, at);
    if (function->result == VDBQ_TEXT)
        return expression_text(binder, result.text, at);
    if (is_float((int)function->result))
        return expression_real(binder, (int)function->result, result.real, at);
    e = expression_integer(binder, result.integer, at);
    if (e == NULL)
        return NULL;
    e->type = result_type(function);
    e->literal = false;
    return e;
}

/* Brings the arguments to the function's types; `null`: one is NULL. */
static bool fit_arguments(struct binder *binder,
                          const struct function *function,
                          struct expression **arguments, unsigned count,
                          bool *null)
{
    *null = false;
    for (unsigned i = 0; i < count; i++) {
        int type = (int)function_takes(function, i);
        bool stays = type == VDBQ_BIGINT && arguments[i]->type != VDBQ_TEXT
                     && !is_float(arguments[i]->type);
        *null |= is_null_constant(arguments[i]);
        if (!stays)
            arguments[i] = expression_cast_plain(binder, arguments[i], type,
                                                 arguments[i]->at);
        if (arguments[i] == NULL)
            return false;
    }
    return true;
}

/* A call that the machine looks up for each word of `open`; `text`: it as
 * function_lookup_read() reads it. */
static struct expression *new_lookup(struct binder *binder,
                                     const struct function *function,
                                     const char *text, struct expression *open,
                                     struct position at)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_LOOKUP, result_type(function), at);

    if (e == NULL)
        return NULL;
    e->lookup.function = function;
    e->lookup.call = text;
    e->left = open;
    range_update(e);
    return expression_fits(binder, e) ? e : NULL;
}

/* A call that the host computes row by row. */
static struct expression *new_call(struct binder *binder,
                                   const struct function *function,
                                   struct expression *const *arguments,
                                   unsigned count, struct position at)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_FUNCTION, result_type(function), at);

    if (e == NULL)
        return NULL;
    e->call.function = function;
    e->call.arguments = arena_alloc(binder->arena, count * sizeof *arguments);
    if (e->call.arguments == NULL)
        return error_no_memory(binder->error), NULL;
    memcpy(e->call.arguments, arguments, count * sizeof *arguments);
    e->call.count = count;
    e->range = range_full(e->type);
    e->nullable = true;
    return expression_fits(binder, e) ? e : NULL;
}

/* (a || b) || c is made at once, where all fit into one call: the text of a || b
 * is never there. Returns how many arguments there are then. */
static unsigned spread_concat(const struct function *function,
                              struct expression **arguments, unsigned count)
{
    const struct expression *first = arguments[0];
    if (function != function_find("concat")
        || first->kind != EXPRESSION_FUNCTION
        || first->call.function != function
        || first->call.count + count - 1 > function->most)
        return count;
    memmove(arguments + first->call.count, arguments + 1,
            (count - 1) * sizeof *arguments);
    memcpy(arguments, first->call.arguments,
           first->call.count * sizeof *arguments);
    return first->call.count + count - 1;
}

struct expression *expression_call(struct binder *binder, const char *name,
                                   struct expression *const *arguments,
                                   unsigned count, struct position at)
{
    const struct function *function = function_find(name);
    struct expression *fitting[FUNCTION_ARGUMENTS_MAX], *open, *e;
    bool constant = true, null;
    const char *call;

    assert(function != NULL && count >= function->least
           && count <= function->most);
    for (unsigned i = 0; i < count; i++) {
        fitting[i] = expression_known(binder, arguments[i]);
        if (fitting[i] == NULL)
            return NULL;
    }
    if (!fit_arguments(binder, function, fitting, count, &null))
        return NULL;
    if (null)
        return expression_null(binder, (int)function->result, at);
    for (unsigned i = 0; i < count; i++)
        constant &= fitting[i]->kind == EXPRESSION_CONSTANT;
    if (constant) {
        e = call_now(binder, function, fitting, count, at);
        if (e == NULL || is_printable(e))
            return e;
    }
    count = spread_concat(function, fitting, count);
    if (!lookup_text(binder, function, fitting, count, &call, &open))
        return NULL;
    return call != NULL ? new_lookup(binder, function, call, open, at)
                        : new_call(binder, function, fitting, count, at);
}
