/* SPDX-License-Identifier: MIT */
/*
 * Expressions to registers. A part that was computed before, where it is
 * still to be used, costs nothing: emit rule 2. What a NULL is in the value's
 * register does not matter, but it must do no harm (plan rules 2 and 4).
 */
#include "plan/code/value.h"

#include <assert.h>

#include "plan/code/registers.h"
#include "plan/code/value_inner.h"
#include "plan/tree/expression.h"

/* The most bytes of the statement's text that a comment repeats. */
enum { COMMENT_MAX = 40 };

static struct value own_value(struct generator *generator,
                              const struct expression *e);
static struct value choice(struct generator *generator,
                           const struct expression *e);
static struct value math(struct generator *generator,
                         const struct expression *e);
static struct value check(struct generator *generator,
                          const struct expression *e);
static struct value cast(struct generator *generator,
                         const struct expression *e);
static int cast_register(struct generator *generator, int r, int to, int from,
                         const struct expression *e);

struct value value_compared_to(struct generator *generator,
                               const struct expression *expression, int machine)
{
    if (expression->kind == EXPRESSION_CONSTANT)
        return value_constant(generator, expression, machine, expression->at);
    return value_of(generator, expression, machine);
}

struct value value_of(struct generator *generator,
                      const struct expression *expression, int machine)
{
    struct value value;

    if (expression->kind == EXPRESSION_CONSTANT)
        return value_constant(generator, expression, machine,
                              (struct position){ 0 });
    if (emit_is_too_deep(generator, expression->at))
        return (struct value){ .r = register_zero(generator, machine),
                               .null = -1 };
    value = own_value(generator, expression);
    if (machine != expression->machine) {
        assert(expression->machine == TYPE_I32 && machine == TYPE_I64);
        value.r =
            cast_register(generator, value.r, TYPE_I64, TYPE_I32, expression);
    }
    return value;
}

int value_null(struct generator *generator, const struct expression *expression)
{
    if (!expression->nullable && !expression->faults)
        return -1;
    if (expression->kind == EXPRESSION_COLUMN)
        return value_column_null(generator, expression);
    return value_of(generator, expression, expression->machine).null;
}

struct value value_truth(struct generator *generator,
                         const struct expression *expression)
{
    int type = expression->machine;
    struct value value = value_of(generator, expression, type);
    enum opcode equal = emit_typed(OP_IS_EQ_I32, type);

    if (type != TYPE_I32)
        value.r = register_not(generator,
                               register_binary(generator, equal, value.r,
                                               register_zero(generator, type)));
    return value;
}

/* What was to be extracted (extract.c) is left where nothing extracts it. */
static struct value refuse_value(struct generator *generator,
                                 const struct expression *e)
{
    const char *what = e->kind == EXPRESSION_SUBQUERY    ? "a subquery"
                       : e->kind == EXPRESSION_AGGREGATE ? "an aggregate"
                       : e->kind == EXPRESSION_WINDOW    ? "a window function"
                                                         : "this function";

    if (generator->status == VDBQ_OK)
        generator->status = error_at(generator->error, VDBQ_SYNTAX, e->at,
                                     "%s is not supported here", what);
    return (struct value){ .r = register_zero(generator, e->machine),
                           .null = -1 };
}

static struct value own_value(struct generator *generator,
                              const struct expression *e)
{
    switch (e->kind) {
    case EXPRESSION_COLUMN:
        return value_column(generator, e);
    case EXPRESSION_CAST:
        return cast(generator, e);
    case EXPRESSION_PARAMETER:
        return value_parameter(generator, e);
    case EXPRESSION_CHOICE:
        return choice(generator, e);
    case EXPRESSION_MATH:
        return math(generator, e);
    case EXPRESSION_LOOKUP:
        return value_lookup(generator, e);
    case EXPRESSION_CHECK:
        return check(generator, e);
    case EXPRESSION_OPERATOR:
        return value_operator(generator, e);
    default:
        return refuse_value(generator, e);
    }
}

/* ------------------------------------------- choices, functions, checks -- */

/* The value of an expression that matters only where `idle` is not 1. */
static struct value guarded(struct generator *generator,
                            const struct expression *e, int machine, int idle)
{
    int before = generator->idle;
    struct value value;

    if (e->faults)
        generator->idle = register_any(generator, before, idle);
    value = value_of(generator, e, machine);
    generator->idle = before;
    return value;
}

/* A register with the NULL flags, also of a value that is never NULL. */
static int null_flags(struct generator *generator, struct value value)
{
    return value.null >= 0 ? value.null
                           : register_integer(generator, TYPE_I32, 0);
}

static struct value choice(struct generator *generator,
                           const struct expression *e)
{
    struct value condition = value_truth(generator, e->condition);
    struct value left, right, value = { .null = -1 };
    int chosen = condition.r, other;

    chosen = register_unless(generator, chosen, condition.null);
    other = e->left->faults ? register_not(generator, chosen) : -1;
    left = guarded(generator, e->left, e->machine, other);
    right = guarded(generator, e->right, e->machine, chosen);
    value.r = register_choose(generator, e->machine, left.r, right.r, chosen);
    if (left.null >= 0 || right.null >= 0)
        value.null =
            register_choose(generator, TYPE_I32, null_flags(generator, left),
                            null_flags(generator, right), chosen);
    return value;
}

static struct value math(struct generator *generator,
                         const struct expression *e)
{
    const struct op_facts *facts = op_facts(e->math.op);
    bool rounds = e->math.op == OP_ROUND_F64;
    int harmless;
    struct value left = value_of(generator, e->left, facts->reads);
    struct value right = { .null = -1 }, value;
    struct instruction in = { .op = e->math.op,
                              .b = left.r,
                              .at = e->at,
                              .comment = value_comment(generator, e) };

    if (facts->form == FORM_PART)
        in.c = (int)e->math.part;
    if (e->right != NULL) {
        right = value_of(generator, e->right, rounds ? TYPE_I32 : facts->reads);
        in.c = right.r;
    }
    value.null = register_any(generator, left.null, right.null);
    harmless =
        e->checked ? register_any(generator, value.null, generator->idle) : -1;
    if (harmless >= 0)
        in.b = register_zero_where(generator, in.b, facts->reads, harmless);
    if (harmless >= 0 && e->right != NULL)
        in.c = register_zero_where(generator, in.c, facts->reads, harmless);
    value.r = emit_value(generator, &in);
    if (e->null_at_nan)
        value.null =
            register_any(generator, value.null,
                         register_unary(generator,
                                        e->machine == TYPE_F32 ? OP_IS_NAN_F32
                                                               : OP_IS_NAN_F64,
                                        value.r));
    return value;
}

/* Fails where the condition is true of a value that matters. */
static struct value check(struct generator *generator,
                          const struct expression *e)
{
    struct value value = value_of(generator, e->left, e->machine);
    struct value refused = value_truth(generator, e->condition);
    int harmless = register_any(generator, refused.null, generator->idle);
    int fails;

    harmless = register_any(generator, harmless, value.null);
    fails = register_unless(generator, refused.r, harmless);
    emit_fail(generator, fails, e->check.message, e->at);
    return value;
}

/* --------------------------------------------------------------- casts -- */

static struct value cast(struct generator *generator,
                         const struct expression *e)
{
    int from = e->left->machine, to = e->machine;
    struct value value = value_of(generator, e->left, from);

    if (from == to)
        return value;
    if (e->checked && (value.null >= 0 || generator->idle >= 0))
        value.r = register_zero_where(
            generator, value.r, from,
            register_any(generator, value.null, generator->idle));
    value.r = cast_register(generator, value.r, to, from, e);
    return value;
}

static int cast_register(struct generator *generator, int r, int to, int from,
                         const struct expression *e)
{
    static const enum opcode ops[5][5] = {
        [TYPE_I32] = { [TYPE_I64] = OP_CAST_I32_I64,
                       [TYPE_F32] = OP_CAST_I32_F32,
                       [TYPE_F64] = OP_CAST_I32_F64 },
        [TYPE_I64] = { [TYPE_I32] = OP_CAST_I64_I32,
                       [TYPE_F32] = OP_CAST_I64_F32,
                       [TYPE_F64] = OP_CAST_I64_F64 },
        [TYPE_F32] = { [TYPE_I32] = OP_CAST_F32_I32,
                       [TYPE_I64] = OP_CAST_F32_I64,
                       [TYPE_F64] = OP_CAST_F32_F64 },
        [TYPE_F64] = { [TYPE_I32] = OP_CAST_F64_I32,
                       [TYPE_I64] = OP_CAST_F64_I64,
                       [TYPE_F32] = OP_CAST_F64_F32 }
    };

    assert(to != from);
    return emit_value(generator, &(struct instruction){
                                     .op = ops[to][from],
                                     .a = to,
                                     .b = r,
                                     .comment = value_comment(generator, e),
                                     .at = e->at });
}

/* ------------------------------------------------------------- comments -- */

const char *value_comment(struct generator *generator,
                          const struct expression *e)
{
    const char *text = e->name;
    size_t length = e->end - e->begin;

    if (generator->sql == NULL)
        return NULL;
    if (text == NULL)
        text = generator->sql + e->begin;
    else
        for (length = 0; text[length] != '\0' && length <= COMMENT_MAX;)
            length++;
    if (length == 0 || length > COMMENT_MAX)
        return NULL;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ')
            return NULL;
    return emit_text(generator, text, length);
}
