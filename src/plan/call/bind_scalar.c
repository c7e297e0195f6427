/* SPDX-License-Identifier: MIT */
/*
 * Functions that are made of other expressions, or are opcodes of the machine.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "plan/operator/like.h"
#include "plan/call/names.h"
#include "plan/call/scalar.h"
#include "plan/make/call.h"
#include "plan/operator/collate.h"
#include "plan/operator/compare.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/coerce.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "base/type.h"

/* ------------------------------------------- made of other expressions -- */

/* What is known keeps its type: nothing behind it matters. */
static struct expression *coalesce_from(struct binder *binder,
                                        const struct call *call, unsigned i)
{
    struct expression *e = call->arguments[i], *rest, *known;
    bool constant = e->kind == EXPRESSION_CONSTANT;

    if (i + 1 == call->count || (constant && !e->constant.null))
        return e;
    if (constant)
        return coalesce_from(binder, call, i + 1);
    rest = coalesce_from(binder, call, i + 1);
    known = rest ? expression_null(binder, VDBQ_INTEGER, e->at) : NULL;
    known = known
                ? expression_operator(binder, AST_IS_NOT, e, known, call->tree)
                : NULL;
    return known ? expression_choice(binder, known, e, rest, call->tree->at)
                 : NULL;
}

struct expression *scalar_coalesce(struct binder *binder,
                                   const struct call *call)
{
    return coalesce_from(binder, call, 0);
}

/* Compares two of the arguments, or what is made of them: in the collation of
 * the first argument that has one, as in SQLite. */
static struct expression *compare_arguments(struct binder *binder,
                                            const struct call *call,
                                            enum ast_operator operator,
                                            struct expression * left,
                                            struct expression *right)
{
    unsigned i = 0;

    while (i + 1 < call->count
           && call->arguments[i]->collating.by == COLLATED_NOT)
        i++;
    left = expression_collated(binder, left, call->arguments[i]->collating);
    if (left != NULL)
        right =
            expression_collated(binder, right, call->arguments[i]->collating);
    return left && right
               ? expression_operator(binder, operator, left, right, call->tree)
               : NULL;
}

struct expression *scalar_nullif(struct binder *binder, const struct call *call)
{
    struct expression *a = call->arguments[0], *b = call->arguments[1];
    struct expression *equal = compare_arguments(binder, call, AST_EQ, a, b);
    struct expression *null =
        equal ? expression_null(binder, a->type, a->at) : NULL;

    return null ? expression_choice(binder, equal, null, a, call->tree->at)
                : NULL;
}

struct expression *scalar_iif(struct binder *binder, const struct call *call)
{
    struct expression *condition = expression_condition(
        binder, call->arguments[0], call->arguments[0]->at);
    struct expression *yes = call->arguments[1];
    struct expression *no = call->count > 2
                                ? call->arguments[2]
                                : expression_null(binder, yes->type, yes->at);

    return condition && no
               ? expression_choice(binder, condition, yes, no, call->tree->at)
               : NULL;
}

/* The least or greatest where none is NULL. */
static struct expression *extreme(struct binder *binder,
                                  const struct call *call,
                                  enum ast_operator operator)
{
    struct expression *best = call->arguments[0];

    for (unsigned i = 1; i < call->count && best != NULL; i++) {
        struct expression *next = call->arguments[i], *wins;
        if (comparing_of(best, next) != COMPARE_AS_ONE) {
            coerce_refuse(binder, best, next, next->at);
            return NULL;
        }
        if (expression_coerce(binder, &best, &next, call->tree->at)
            == VDBQ_TYPE_NONE)
            return NULL;
        wins = compare_arguments(binder, call, operator, best, next);
        best = wins
                   ? expression_choice(binder, wins, best, next, call->tree->at)
                   : NULL;
    }
    return best;
}

/* NULL where an argument is, as in SQLite. */
static struct expression *null_first(struct binder *binder,
                                     const struct call *call,
                                     struct expression *best)
{
    for (unsigned i = 0; i < call->count && best != NULL; i++) {
        struct expression *e = call->arguments[i], *null, *test;
        if (!e->nullable)
            continue;
        null = expression_null(binder, best->type, e->at);
        test = null ? expression_operator(binder, AST_IS, e, null, call->tree)
                    : NULL;
        best = test
                   ? expression_choice(binder, test, null, best, call->tree->at)
                   : NULL;
    }
    return best;
}

/* Of texts that a collation takes for equal min() gives the last one, and max()
 * the first one, as in SQLite. */
struct expression *scalar_least(struct binder *binder, const struct call *call)
{
    return null_first(binder, call, extreme(binder, call, AST_LT));
}

struct expression *scalar_greatest(struct binder *binder,
                                   const struct call *call)
{
    return null_first(binder, call, extreme(binder, call, AST_GE));
}

/* ---------------------------------------------------------------- texts -- */

static struct expression *as_text(struct binder *binder, struct expression *e)
{
    return expression_cast_plain(binder, e, VDBQ_TEXT, e->at);
}

/* The text, or where it is NULL the empty one. */
static struct expression *
or_empty(struct binder *binder, const struct call *call, struct expression *e)
{
    struct expression *null = expression_null(binder, VDBQ_TEXT, e->at);
    struct expression *known =
        null ? expression_operator(binder, AST_IS_NOT, e, null, call->tree)
             : NULL;
    struct expression *empty =
        known ? expression_text(binder, (struct vdbq_text){ "", 0 }, e->at)
              : NULL;

    return empty ? expression_choice(binder, known, e, empty, e->at) : NULL;
}

/* Joins texts. */
static struct expression *joined(struct binder *binder,
                                 struct expression *const *texts,
                                 unsigned count, struct position at)
{
    struct expression *e = count > 0 ? texts[0] : NULL, *pair[2];

    for (unsigned i = 1; i < count && e != NULL; i++) {
        pair[0] = e;
        pair[1] = texts[i];
        e = expression_call(binder, "concat", pair, 2, at);
    }
    return e;
}

/* concat() passes over NULLs; || does not. */
struct expression *scalar_concat(struct binder *binder, const struct call *call)
{
    struct expression *texts[CALL_ARGUMENTS_MAX];

    for (unsigned i = 0; i < call->count; i++) {
        texts[i] = as_text(binder, call->arguments[i]);
        if (texts[i] != NULL && call->arguments[i]->nullable)
            texts[i] = or_empty(binder, call, texts[i]);
        if (texts[i] == NULL)
            return NULL;
    }
    return joined(binder, texts, call->count, call->tree->at);
}

/* The separator goes in front of each text that there is, and the first one
 * is cut off again. */
struct expression *scalar_concat_ws(struct binder *binder,
                                    const struct call *call)
{
    struct expression *between = as_text(binder, call->arguments[0]);
    struct expression *texts[CALL_ARGUMENTS_MAX] = { NULL }, *cut[2], *one;
    unsigned count = call->count - 1;

    for (unsigned i = 0; i < count && between != NULL; i++) {
        struct expression *pair[2] = {
            between, as_text(binder, call->arguments[i + 1])
        };
        texts[i] =
            pair[1] ? expression_call(binder, "concat", pair, 2, call->tree->at)
                    : NULL;
        texts[i] = texts[i] ? or_empty(binder, call, texts[i]) : NULL;
        if (texts[i] == NULL)
            return NULL;
    }
    cut[0] = between ? joined(binder, texts, count, call->tree->at) : NULL;
    cut[1] =
        cut[0] ? expression_call(binder, "length", &between, 1, call->tree->at)
               : NULL;
    one = cut[1] ? expression_integer(binder, 1, call->tree->at) : NULL;
    cut[1] = one ? expression_operator(binder, AST_ADD, cut[1], one, call->tree)
                 : NULL;
    return cut[1] ? expression_call(binder, "substr", cut, 2, call->tree->at)
                  : NULL;
}

/* Tells what is wrong with a format that is a constant: whatever is printed, it
 * is. */
static bool check_format(struct binder *binder, const struct expression *e)
{
    struct function_value format = { .text = e->constant.text }, made;
    struct arena arena = { 0 };
    struct error error = { 0 };
    enum vdbq_status status = VDBQ_OK;

    if (is_text_constant(e) && !e->constant.null)
        status = function_call(function_find("printf"), &format, 1, &arena,
                               &made, &error);
    arena_finish(&arena);
    if (status != VDBQ_OK)
        error_at(binder->error, status, e->at, "%s", error.message);
    return status == VDBQ_OK;
}

/* The values are texts, and of NULL empty ones. */
struct expression *scalar_printf(struct binder *binder, const struct call *call)
{
    struct expression *texts[CALL_ARGUMENTS_MAX];

    for (unsigned i = 0; i < call->count; i++) {
        texts[i] = as_text(binder, call->arguments[i]);
        if (i > 0 && texts[i] != NULL)
            texts[i] = or_empty(binder, call, texts[i]);
        if (texts[i] == NULL)
            return NULL;
    }
    if (!check_format(binder, texts[0]))
        return NULL;
    return expression_call(binder, "printf", texts, call->count,
                           call->tree->at);
}

/* What it says of a condition is a guess; samples of rows tell the planner more. */
struct expression *scalar_likely(struct binder *binder, const struct call *call)
{
    (void)binder;
    return call->arguments[0];
}

struct expression *scalar_typeof(struct binder *binder, const struct call *call)
{
    const char *name = type_name((enum vdbq_type)call->arguments[0]->type);
    struct vdbq_text text = { name, strlen(name) };

    return expression_text(binder, text, call->tree->at);
}

/* ------------------------------------------------------------------ all -- */

/* hex(NULL) is the empty text, as in SQLite. */
struct expression *scalar_hex(struct binder *binder, const struct call *call)
{
    struct expression *e = as_text(binder, call->arguments[0]);

    e = e ? or_empty(binder, call, e) : NULL;
    return e ? expression_call(binder, "hex", &e, 1, call->tree->at) : NULL;
}

/* like(pattern, text), glob(pattern, text): the other way round than LIKE. */
struct expression *scalar_like(struct binder *binder, const struct call *call)
{
    struct expression *operands[3] = { call->arguments[1], call->arguments[0] };

    if (call->count > 2)
        operands[2] = call->arguments[2];
    return expression_like(binder, call->name, operands, call->count,
                           call->tree->at);
}

/* ----------------------------------------------------------- the table -- */

/* Tells what is wrong with a pattern that is a constant; of a call with a NULL,
 * which is NULL, nobody asks. */
static bool check_pattern(struct binder *binder, const struct call *call)
{
    const struct function *function = function_find(call->name);
    struct vdbq_text texts[FUNCTION_ARGUMENTS_MAX] = { { 0 } };
    struct error error = { 0 };

    for (unsigned i = 0; i < call->count; i++) {
        const struct expression *e = call->arguments[i];
        if (e->kind == EXPRESSION_CONSTANT && e->constant.null)
            return true;
        if (e->kind == EXPRESSION_CONSTANT && e->type == VDBQ_TEXT)
            texts[i] = e->constant.text;
    }
    if (function_pattern_check(function, texts, call->count, &error) == VDBQ_OK)
        return true;
    error_at(binder->error, error.status, call->arguments[1]->at, "%s",
             error.message);
    return false;
}

/* A function that the host computes, as it is. */
static struct expression *scalar_host(struct binder *binder,
                                      const struct call *call)
{
    if (!check_pattern(binder, call))
        return NULL;
    return expression_call(binder, call->name, call->arguments, call->count,
                           call->tree->at);
}

enum { MANY = CALL_ARGUMENTS_MAX };

#define BOUND(name, least, most, bind, meaning)                                \
    { #name, least, most, scalar_##bind, OP_INVALID },
#define OPCODE(name, least, most, bind, op, meaning)                           \
    { #name, least, most, scalar_##bind, OP_##op##_F64 },
#define HOST(name, least, most, gives, takes, may, body, meaning)              \
    { #name, least, most, scalar_host, OP_INVALID },
static const struct scalar scalars[] = { SCALAR_FUNCTIONS(BOUND, OPCODE,
                                                          HOST) };
enum { SCALARS = sizeof scalars / sizeof *scalars };

static const struct scalar *find(const char *name)
{
    for (size_t i = 0; i < SCALARS; i++)
        if (name_equal(name, scalars[i].name))
            return &scalars[i];
    return NULL;
}

static struct expression *refuse_count(struct binder *binder,
                                       const struct call *call, unsigned least,
                                       unsigned most)
{
    char range[40];

    if (least == most)
        snprintf(range, sizeof range, "%u", least);
    else if (most == CALL_ARGUMENTS_MAX)
        snprintf(range, sizeof range, "at least %u", least);
    else
        snprintf(range, sizeof range, "%u to %u", least, most);
    error_at(binder->error, VDBQ_TYPE, call->tree->at,
             "%s takes %s argument%s, not %u", call->name, range,
             most == 1 ? "" : "s", call->count);
    return NULL;
}

static struct expression *refuse_name(struct binder *binder,
                                      const struct call *call)
{
    struct likely likely = { 0 };

    error_at(binder->error, VDBQ_UNKNOWN, call->tree->at,
             "no such function: %s", call->name);
    if (name_equal(call->name, "any") || name_equal(call->name, "some")) {
        error_hint(binder->error,
                   "x > ANY (query) is of a query: of a list it is ANY (VALUES "
                   "(1), (2)), and = ANY is IN (1, 2)");
        return NULL;
    }
    for (size_t i = 0; i < SCALARS; i++)
        likely_name(&likely, call->name, scalars[i].name);
    if (likely.name != NULL)
        error_hint(binder->error, "did you mean \"%s\"?", likely.name);
    return NULL;
}

struct expression *bind_scalar(struct binder *binder, struct call *call)
{
    const struct scalar *scalar = find(call->name);

    if (scalar == NULL)
        return refuse_name(binder, call);
    if (call->count < scalar->least || call->count > scalar->most)
        return refuse_count(binder, call, scalar->least, scalar->most);
    call->function = scalar;
    return scalar->bind(binder, call);
}
