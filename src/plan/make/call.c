/* SPDX-License-Identifier: MIT */
/*
 * Calls of the host's functions (program/functions/function.h): of constants at once, of
 * one text by looking its word up, else row by row in a node of their own.
 */
#include "plan/make/call.h"

#include <assert.h>
#include <string.h>

#include "plan/make/arithmetic.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/make/lookup.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

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
    e->type = lookup_result(function);
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

/* A call that the host computes row by row. */
static struct expression *new_call(struct binder *binder,
                                   const struct function *function,
                                   struct expression *const *arguments,
                                   unsigned count, struct position at)
{
    struct expression *e = expression_new(binder, EXPRESSION_FUNCTION,
                                          lookup_result(function), at);

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

/* The arguments of a look-up: its text, and constants. 0: there are calls among
 * them, or there was a failure. */
static unsigned looked_up(struct binder *binder, const struct expression *e,
                          struct expression **arguments)
{
    struct function_lookup lookup;
    if (e->lookup.depth > 1
        || function_lookup_read(e->lookup.call, binder->arena, &lookup,
                                binder->error)
               != VDBQ_OK)
        return 0;
    for (unsigned i = 0; i < lookup.count; i++) {
        arguments[i] =
            lookup.open >> i & 1
                ? e->left
                : expression_text(binder, lookup.arguments[i].text, e->at);
        if (arguments[i] == NULL)
            return 0;
    }
    return lookup.count;
}

/* The arguments of a call of `function`, computed row by row or looked up; 0: it
 * is something else, or there was a failure. */
static unsigned arguments_of(struct binder *binder,
                             const struct function *function,
                             const struct expression *e,
                             struct expression **arguments)
{
    if (e->kind == EXPRESSION_LOOKUP && e->lookup.function == function)
        return looked_up(binder, e, arguments);
    if (e->kind != EXPRESSION_FUNCTION || e->call.function != function)
        return 0;
    memcpy(arguments, e->call.arguments, e->call.count * sizeof *arguments);
    return e->call.count;
}

/* (a || b) || c is made at once, where all fit into one call: the text of a || b
 * is never there. `*count` is how many arguments there are then. False: a
 * failure. */
static bool spread_concat(struct binder *binder,
                          const struct function *function,
                          struct expression **arguments, unsigned *count)
{
    struct expression *first[FUNCTION_ARGUMENTS_MAX];
    unsigned more = function == function_find("concat")
                        ? arguments_of(binder, function, arguments[0], first)
                        : 0;
    if (more == 0 || more + *count - 1 > function->most)
        return binder->error->status == VDBQ_OK;
    memmove(arguments + more, arguments + 1, (*count - 1) * sizeof *arguments);
    memcpy(arguments, first, more * sizeof *arguments);
    *count += more - 1;
    return true;
}

/* Whether a function counts what joined texts have as many of as their parts have
 * together. */
static bool adds_up(const struct function *function)
{
    static const char *const counts[] = { "length", "octet_length",
                                          "bit_length" };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (function->compute == function_find(counts[i])->compute)
            return true;
    return false;
}

/* length(a || b) is length(a) + length(b): the joined text is never there, and
 * parts that are columns have their words' counts. NULL: a failure. */
static struct expression *sum_of_parts(struct binder *binder, const char *name,
                                       const struct expression *joined,
                                       struct position at)
{
    const struct ast_expression place = { .at = at };
    struct expression *sum = NULL;
    assert(joined->kind == EXPRESSION_FUNCTION && joined->call.count > 0);
    for (unsigned i = 0; i < joined->call.count; i++) {
        struct expression *part =
            expression_call(binder, name, &joined->call.arguments[i], 1, at);
        if (part != NULL && i > 0)
            part = expression_arithmetic(binder, AST_ADD, sum, part, &place);
        if (part == NULL)
            return NULL;
        sum = part;
    }
    return sum;
}

/* Whether a call is of texts that another call joins, and adds up. */
static bool is_sum(const struct function *function, const struct expression *e)
{
    return e->kind == EXPRESSION_FUNCTION
           && e->call.function == function_find("concat") && adds_up(function);
}

struct expression *expression_call(struct binder *binder, const char *name,
                                   struct expression *const *arguments,
                                   unsigned count, struct position at)
{
    const struct function *function = function_find(name);
    struct expression *fitting[FUNCTION_ARGUMENTS_MAX], *e;
    bool constant = true, null;

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
        if (e == NULL || lookup_is_constant(e))
            return e;
    }
    if (is_sum(function, fitting[0]))
        return sum_of_parts(binder, name, fitting[0], at);
    if (!spread_concat(binder, function, fitting, &count)
        || !lookup_make(binder, function, fitting, count, at, &e))
        return NULL;
    return e != NULL ? e : new_call(binder, function, fitting, count, at);
}
