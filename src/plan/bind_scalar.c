/* SPDX-License-Identifier: MIT */
/*
 * Functions that are made of other expressions, or are opcodes of the machine.
 */
#include "plan/call.h"
#include "plan/compare.h"
#include "plan/meet.h"

#include <string.h>
#include <strings.h>

typedef struct expression *(*call_maker)(struct binder *binder,
                                         const struct call *call);

/* ------------------------------------------- made of other expressions -- */

/* What is known keeps its type: nothing behind it matters. */
static struct expression *coalesce_from(struct binder *binder,
                                        const struct call *call, unsigned i)
{
    struct expression *e = call->arguments[i], *rest, *known;
    bool constant = e->kind == EXPRESSION_CONSTANT;

    if (i + 1 == call->count || (constant && !e->null))
        return e;
    if (constant)
        return coalesce_from(binder, call, i + 1);
    rest = coalesce_from(binder, call, i + 1);
    known = rest ? expression_null(binder, VDBQ_INTEGER, e->at) : NULL;
    known = known ? expression_operator(binder, AST_IS_NOT, e, known,
                                        call->tree) : NULL;
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
    return expression_choice(binder, call->arguments[0], call->arguments[1],
                             call->arguments[2], call->tree->at);
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
        best = wins ? expression_choice(binder, wins, best, next,
                                        call->tree->at) : NULL;
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
        test = null ? expression_operator(binder, AST_IS, e, null,
                                          call->tree) : NULL;
        best = test ? expression_choice(binder, test, null, best,
                                        call->tree->at) : NULL;
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

static struct expression *make_mod(struct binder *binder,
                                   const struct call *call)
{
    return expression_operator(binder, AST_MOD, call->arguments[0],
                               call->arguments[1], call->tree);
}

static struct expression *make_abs(struct binder *binder,
                                   const struct call *call)
{
    struct expression *e = call->arguments[0], *zero, *minus, *test;

    if (!is_number(e->type))
        return refuse_argument(binder, call, e);
    zero = expression_integer(binder, 0, e->at);
    minus = zero ? expression_operator(binder, AST_MINUS, e, NULL, call->tree)
                 : NULL;
    test = minus ? expression_operator(binder, AST_LT, e, zero, call->tree)
                 : NULL;
    return test ? expression_choice(binder, test, minus, e, call->tree->at)
                : NULL;
}

static struct expression *make_sign(struct binder *binder,
                                    const struct call *call)
{
    struct expression *e = call->arguments[0];
    struct expression *zero = expression_integer(binder, 0, e->at);
    struct expression *above, *below;

    if (zero == NULL || !is_number(e->type))
        return zero ? refuse_argument(binder, call, e) : NULL;
    above = expression_operator(binder, AST_GT, e, zero, call->tree);
    below = expression_operator(binder, AST_LT, e, zero, call->tree);
    return above && below ? expression_operator(binder, AST_SUB, above, below,
                                                call->tree)
                          : NULL;
}

/* ------------------------------------------------------- mathematics -- */

static struct expression *as_double(struct binder *binder,
                                    const struct call *call, unsigned i)
{
    struct expression *e = call->arguments[i];

    if (!is_number(e->type))
        return refuse_argument(binder, call, e);
    return expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
}

static const struct {
    const char *name;
    enum opcode op;
    unsigned count;
    bool nan; /* not every argument gives a number */
} math_names[] = {
    { "sqrt", OP_SQRT_F64, 1, true },   { "exp", OP_EXP_F64, 1, true },
    { "ln", OP_LN_F64, 1, true },       { "log", OP_LOG10_F64, 1, true },
    { "log10", OP_LOG10_F64, 1, true }, { "sin", OP_SIN_F64, 1, true },
    { "cos", OP_COS_F64, 1, true },     { "tan", OP_TAN_F64, 1, true },
    { "power", OP_POWER_F64, 2, true }, { "pow", OP_POWER_F64, 2, true },
};

static struct expression *make_math(struct binder *binder,
                                    const struct call *call, bool *found)
{
    const size_t names = sizeof math_names / sizeof *math_names;
    struct expression *left, *right = NULL;

    *found = false;
    for (size_t i = 0; i < names; i++) {
        if (!name_equal(call->name, math_names[i].name)
            || call->count != math_names[i].count)
            continue;
        *found = true;
        left = as_double(binder, call, 0);
        if (left != NULL && call->count == 2) {
            right = as_double(binder, call, 1);
            if (right == NULL)
                return NULL;
        }
        return left ? expression_math(binder, math_names[i].op, VDBQ_DOUBLE,
                                      left, right, math_names[i].nan,
                                      call->tree->at)
                    : NULL;
    }
    return NULL;
}

static struct expression *make_round(struct binder *binder,
                                     const struct call *call)
{
    struct expression *e = as_double(binder, call, 0), *digits;

    if (e == NULL)
        return NULL;
    digits = call->count > 1 ? call->arguments[1]
                             : expression_integer(binder, 0, e->at);
    if (digits != NULL)
        digits = expression_cast_plain(binder, digits, VDBQ_INTEGER, e->at);
    return digits ? expression_math(binder, OP_ROUND_F64, VDBQ_DOUBLE, e,
                                    digits, false, call->tree->at)
                  : NULL;
}

static struct expression *whole(struct binder *binder,
                                const struct call *call, enum opcode op)
{
    struct expression *e = call->arguments[0];

    if (is_integer(e->type))
        return e;
    e = as_double(binder, call, 0);
    return e ? expression_math(binder, op, VDBQ_DOUBLE, e, NULL, false,
                               call->tree->at)
             : NULL;
}

static struct expression *make_floor(struct binder *binder,
                                     const struct call *call)
{
    return whole(binder, call, OP_FLOOR_F64);
}

static struct expression *make_ceil(struct binder *binder,
                                    const struct call *call)
{
    return whole(binder, call, OP_CEIL_F64);
}

/* ---------------------------------------------------------------- dates -- */

static const char *const unit_names[] = {
    [AST_YEAR] = "year", [AST_MONTH] = "month", [AST_DAY] = "day",
    [AST_HOUR] = "hour", [AST_MINUTE] = "minute", [AST_SECOND] = "second"
};
enum { UNITS = AST_SECOND + 1 };

static int unit_named(const char *name, size_t length)
{
    for (int i = 0; i < UNITS; i++)
        if (strlen(unit_names[i]) == length
            && strncasecmp(unit_names[i], name, length) == 0)
            return i;
    return -1;
}

static struct expression *make_extract(struct binder *binder,
                                       const struct call *call)
{
    const struct expression *part = call->arguments[0];
    int unit = -1;

    if (part->kind == EXPRESSION_CONSTANT && part->type == VDBQ_TEXT)
        unit = unit_named(part->text.bytes, part->text.length);
    if (unit < 0) {
        error_at(binder->error, VDBQ_TYPE, part->at,
                 "the part is 'year', 'month', 'day', 'hour', 'minute' or "
                 "'second'");
        return NULL;
    }
    return expression_part(binder, call->arguments[1], (enum ast_unit)unit,
                           call->tree->at);
}

/* year(x) and so on. */
static struct expression *make_part(struct binder *binder,
                                    const struct call *call, bool *found)
{
    int unit = unit_named(call->name, strlen(call->name));

    *found = unit >= 0 && call->count == 1
             && (call->arguments[0]->type == VDBQ_DATE
                 || call->arguments[0]->type == VDBQ_TIMESTAMP);
    return *found ? expression_part(binder, call->arguments[0],
                                    (enum ast_unit)unit, call->tree->at)
                  : NULL;
}

/* ---------------------------------------------------------------- texts -- */

static struct expression *as_text(struct binder *binder,
                                  struct expression *e)
{
    return expression_cast_plain(binder, e, VDBQ_TEXT, e->at);
}

/* The text, or where it is NULL the empty one. */
static struct expression *or_empty(struct binder *binder,
                                   const struct call *call,
                                   struct expression *e)
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
        texts[i] = pair[1] ? expression_call(binder, "concat", pair, 2,
                                             call->tree->at) : NULL;
        texts[i] = texts[i] ? or_empty(binder, call, texts[i]) : NULL;
        if (texts[i] == NULL)
            return NULL;
    }
    cut[0] = between ? joined(binder, texts, count, call->tree->at) : NULL;
    cut[1] = cut[0] ? expression_call(binder, "length", &between, 1,
                                      call->tree->at) : NULL;
    one = cut[1] ? expression_integer(binder, 1, call->tree->at) : NULL;
    cut[1] = one ? expression_operator(binder, AST_ADD, cut[1], one,
                                       call->tree) : NULL;
    return cut[1] ? expression_call(binder, "substr", cut, 2, call->tree->at)
                  : NULL;
}

static struct expression *make_typeof(struct binder *binder,
                                      const struct call *call)
{
    const char *name =
        vdbq_type_name((enum vdbq_type)call->arguments[0]->type);
    struct vdbq_text text = { name, strlen(name) };

    return expression_text(binder, text, call->tree->at);
}

/* ------------------------------------------------------------------ all -- */

static const struct {
    const char *name;
    unsigned least, most;
    call_maker make;
} makers[] = {
    { "coalesce", 1, CALL_ARGUMENTS_MAX, make_coalesce },
    { "ifnull", 2, 2, make_coalesce },
    { "nullif", 2, 2, make_nullif },
    { "iif", 3, 3, make_iif },
    { "if", 3, 3, make_iif },
    { "min", 2, CALL_ARGUMENTS_MAX, make_least },
    { "least", 1, CALL_ARGUMENTS_MAX, make_least },
    { "max", 2, CALL_ARGUMENTS_MAX, make_greatest },
    { "greatest", 1, CALL_ARGUMENTS_MAX, make_greatest },
    { "mod", 2, 2, make_mod },
    { "abs", 1, 1, make_abs },
    { "sign", 1, 1, make_sign },
    { "round", 1, 2, make_round },
    { "floor", 1, 1, make_floor },
    { "ceil", 1, 1, make_ceil },
    { "ceiling", 1, 1, make_ceil },
    { "extract", 2, 2, make_extract },
    { "date_part", 2, 2, make_extract },
    { "typeof", 1, 1, make_typeof },
    { "concat", 1, CALL_ARGUMENTS_MAX, make_concat },
    { "concat_ws", 2, CALL_ARGUMENTS_MAX, make_concat_ws },
};

static struct expression *make_other(struct binder *binder,
                                     const struct call *call)
{
    bool found;
    struct expression *e = make_math(binder, call, &found);

    if (!found)
        e = make_part(binder, call, &found);
    return found ? e : expression_call(binder, call->name, call->arguments,
                                       call->count, call->tree->at);
}

struct expression *bind_scalar(struct binder *binder,
                               const struct call *call)
{
    const size_t count = sizeof makers / sizeof *makers;

    for (size_t i = 0; i < count; i++)
        if (name_equal(call->name, makers[i].name)
            && call->count >= makers[i].least
            && call->count <= makers[i].most)
            return makers[i].make(binder, call);
    return make_other(binder, call);
}
