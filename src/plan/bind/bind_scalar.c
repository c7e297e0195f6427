/* SPDX-License-Identifier: MIT */
/*
 * Functions that are made of other expressions, or are opcodes of the machine.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "plan/bind/call.h"
#include "plan/bind/like.h"
#include "plan/bind/names.h"
#include "plan/make/call.h"
#include "plan/make/compare.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/meet.h"
#include "plan/make/operator.h"
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

static struct expression *make_coalesce(struct binder *binder,
                                        const struct call *call)
{
    return coalesce_from(binder, call, 0);
}

static struct expression *make_nullif(struct binder *binder,
                                      const struct call *call)
{
    struct expression *a = call->arguments[0], *b = call->arguments[1];
    struct expression *equal =
        expression_operator(binder, AST_EQ, a, b, call->tree);
    struct expression *null =
        equal ? expression_null(binder, a->type, a->at) : NULL;

    return null ? expression_choice(binder, equal, null, a, call->tree->at)
                : NULL;
}

static struct expression *make_iif(struct binder *binder,
                                   const struct call *call)
{
    struct expression *condition = expression_condition(
        binder, call->arguments[0], call->arguments[0]->at);

    return condition ? expression_choice(binder, condition, call->arguments[1],
                                         call->arguments[2], call->tree->at)
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
            meet_refuse(binder, best, next, next->at);
            return NULL;
        }
        if (expression_meet(binder, &best, &next, call->tree->at)
            == VDBQ_TYPE_NONE)
            return NULL;
        wins = expression_operator(binder, operator, best, next, call->tree);
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

static struct expression *make_least(struct binder *binder,
                                     const struct call *call)
{
    return null_first(binder, call, extreme(binder, call, AST_LE));
}

static struct expression *make_greatest(struct binder *binder,
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
static struct expression *make_concat(struct binder *binder,
                                      const struct call *call)
{
    struct expression *texts[CALL_ARGUMENTS_MAX];

    for (unsigned i = 0; i < call->count; i++) {
        texts[i] = as_text(binder, call->arguments[i]);
        texts[i] = texts[i] ? or_empty(binder, call, texts[i]) : NULL;
        if (texts[i] == NULL)
            return NULL;
    }
    return joined(binder, texts, call->count, call->tree->at);
}

/* The separator goes in front of each text that there is, and the first one
 * is cut off again. */
static struct expression *make_concat_ws(struct binder *binder,
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

static struct expression *make_typeof(struct binder *binder,
                                      const struct call *call)
{
    const char *name = type_name((enum vdbq_type)call->arguments[0]->type);
    struct vdbq_text text = { name, strlen(name) };

    return expression_text(binder, text, call->tree->at);
}

/* ------------------------------------------------------------------ all -- */

/* hex(NULL) is the empty text, as in SQLite. */
static struct expression *make_hex(struct binder *binder,
                                   const struct call *call)
{
    struct expression *e = as_text(binder, call->arguments[0]);

    e = e ? or_empty(binder, call, e) : NULL;
    return e ? expression_call(binder, "hex", &e, 1, call->tree->at) : NULL;
}

/* like(pattern, text), glob(pattern, text): the other way round than LIKE. */
static struct expression *make_like(struct binder *binder,
                                    const struct call *call)
{
    struct expression *operands[3] = { call->arguments[1], call->arguments[0] };

    if (call->count > 2)
        operands[2] = call->arguments[2];
    return expression_like(binder, call->name, operands, call->count,
                           call->tree->at);
}

/* Those of texts, choices and types. */
static const struct call_maker makers[] = {
    { "coalesce", 1, CALL_ARGUMENTS_MAX, make_coalesce },
    { "ifnull", 2, 2, make_coalesce },
    { "nullif", 2, 2, make_nullif },
    { "iif", 3, 3, make_iif },
    { "if", 3, 3, make_iif },
    { "min", 2, CALL_ARGUMENTS_MAX, make_least },
    { "least", 1, CALL_ARGUMENTS_MAX, make_least },
    { "max", 2, CALL_ARGUMENTS_MAX, make_greatest },
    { "greatest", 1, CALL_ARGUMENTS_MAX, make_greatest },
    { "typeof", 1, 1, make_typeof },
    { "concat", 1, CALL_ARGUMENTS_MAX, make_concat },
    { "concat_ws", 2, CALL_ARGUMENTS_MAX, make_concat_ws },
    { "hex", 1, 1, make_hex },
    { "like", 2, 3, make_like },
    { "ilike", 2, 3, make_like },
    { "glob", 2, 2, make_like },
    { .name = NULL }
};

/* ------------------------------------------------------------ by name -- */

static const struct call_maker *const *maker_tables(void)
{
    static const struct call_maker *tables[4];

    tables[0] = makers;
    tables[1] = math_makers();
    tables[2] = date_makers();
    return tables;
}

/* The maker of that name; of several the one for so many arguments. */
static const struct call_maker *find_maker(const struct call *call)
{
    const struct call_maker *found = NULL;

    for (const struct call_maker *const *table = maker_tables(); *table != NULL;
         table++)
        for (const struct call_maker *at = *table; at->name != NULL; at++) {
            if (!name_equal(call->name, at->name))
                continue;
            found = at;
            if (call->count >= at->least && call->count <= at->most)
                return at;
        }
    return found;
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
    for (const struct function *f = functions(); f->name != NULL; f++)
        likely_name(&likely, call->name, f->name);
    for (const struct call_maker *const *table = maker_tables(); *table != NULL;
         table++)
        for (const struct call_maker *at = *table; at->name != NULL; at++)
            likely_name(&likely, call->name, at->name);
    if (likely.name != NULL)
        error_hint(binder->error, "did you mean \"%s\"?", likely.name);
    return NULL;
}

/* A function of the host that has a name in SQL. */
static struct expression *call_host(struct binder *binder,
                                    const struct call *call)
{
    const struct function *function = function_named(call->name);

    if (function == NULL)
        return refuse_name(binder, call);
    if (call->count < function->arguments_min
        || call->count > function->arguments_max)
        return refuse_count(binder, call, function->arguments_min,
                            function->arguments_max);
    return expression_call(binder, call->name, call->arguments, call->count,
                           call->tree->at);
}

struct expression *bind_scalar(struct binder *binder, const struct call *call)
{
    const struct call_maker *maker = find_maker(call);

    if (maker == NULL)
        return call_host(binder, call);
    if (call->count < maker->least || call->count > maker->most)
        return refuse_count(binder, call, maker->least, maker->most);
    return maker->make(binder, call);
}
