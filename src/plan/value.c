/* SPDX-License-Identifier: MIT */
/*
 * Expressions to registers. A part that was computed before, where it is
 * still to be used, costs nothing: emit rule 2. What a NULL is in the value's
 * register does not matter, but it must do no harm (plan rules 2 and 4).
 */
#include "plan/codegen.h"

#include <assert.h>
#include <string.h>

/* The most bytes of the statement's text that a comment repeats. */
enum { COMMENT_MAX = 40 };

static struct value own_value(struct generator *generator,
                              const struct expression *e);
static struct value constant(struct generator *generator,
                             const struct expression *e, int machine);
static struct value column(struct generator *generator,
                           const struct expression *e);
static int column_null(struct generator *generator,
                       const struct expression *e);
static int text(struct generator *generator, const struct expression *e);
static struct value parameter(struct generator *generator,
                              const struct expression *e);
static struct value choice(struct generator *generator,
                           const struct expression *e);
static struct value math(struct generator *generator,
                         const struct expression *e);
static struct value lookup(struct generator *generator,
                           const struct expression *e);
static struct value check(struct generator *generator,
                          const struct expression *e);
static struct value operation(struct generator *generator,
                              const struct expression *e);
static struct value arithmetic(struct generator *generator,
                               const struct expression *e);
static struct value comparison(struct generator *generator,
                               const struct expression *e);
static struct value both(struct generator *generator,
                         const struct expression *e);
static struct value either(struct generator *generator,
                           const struct expression *e);
static struct value not(struct generator *generator,
                        const struct expression *e);
static struct value is(struct generator *generator,
                       const struct expression *e);
static struct value cast(struct generator *generator,
                         const struct expression *e);
static int binary(struct generator *generator, enum opcode op, int b, int c);
static int unary(struct generator *generator, enum opcode op, int b);
static int or_null(struct generator *generator, int a, int b);
static int choose(struct generator *generator, int type, int left, int right,
                  int condition);
static int zero_where(struct generator *generator, int r, int type, int null);
static int cast_register(struct generator *generator, int r, int to, int from,
                         const struct expression *e);
static const char *comment_of(struct generator *generator,
                              const struct expression *e);

struct value value_of(struct generator *generator,
                      const struct expression *expression, int machine)
{
    struct value value;

    if (expression->kind == EXPRESSION_CONSTANT)
        return constant(generator, expression, machine);
    value = own_value(generator, expression);
    if (machine != expression->machine) {
        assert(expression->machine == TYPE_I32 && machine == TYPE_I64);
        value.r = cast_register(generator, value.r, TYPE_I64, TYPE_I32,
                                expression);
    }
    return value;
}

int value_null(struct generator *generator,
               const struct expression *expression)
{
    if (!expression->nullable)
        return -1;
    if (expression->kind == EXPRESSION_COLUMN)
        return column_null(generator, expression);
    return value_of(generator, expression, expression->machine).null;
}

struct value value_truth(struct generator *generator,
                         const struct expression *expression)
{
    int type = expression->machine;
    struct value value = value_of(generator, expression, type);
    enum opcode equal = emit_typed(OP_IS_EQ_I32, type);

    if (type != TYPE_I32)
        value.r = unary(generator, OP_NEGATE_I32,
                        binary(generator, equal, value.r,
                               value_zero(generator, type)));
    return value;
}

int value_compared(const struct expression *comparison)
{
    int left = comparison->left->machine, right = comparison->right->machine;

    if (left == TYPE_F32 || left == TYPE_F64)
        return left;
    return left == TYPE_I32 && right == TYPE_I32 ? TYPE_I32 : TYPE_I64;
}

static struct value own_value(struct generator *generator,
                              const struct expression *e)
{
    switch (e->kind) {
    case EXPRESSION_COLUMN:
        return column(generator, e);
    case EXPRESSION_CAST:
        return cast(generator, e);
    case EXPRESSION_CONSTANT:
        return constant(generator, e, e->machine);
    case EXPRESSION_PARAMETER:
        return parameter(generator, e);
    case EXPRESSION_CHOICE:
        return choice(generator, e);
    case EXPRESSION_MATH:
        return math(generator, e);
    case EXPRESSION_LOOKUP:
        return lookup(generator, e);
    case EXPRESSION_CHECK:
        return check(generator, e);
    default:
        break;
    }
    assert(e->kind == EXPRESSION_OPERATOR);
    return operation(generator, e);
}

/* -------------------------------------------------------------- leaves -- */

int value_integer(struct generator *generator, int type, int64_t value)
{
    return emit_value(generator, &(struct instruction){
        .op = type == TYPE_I32 ? OP_INTEGER_I32 : OP_INTEGER_I64,
        .integer = value
    });
}

static int value_real(struct generator *generator, int type, double value)
{
    return emit_value(generator, &(struct instruction){
        .op = type == TYPE_F32 ? OP_FLOAT_F32 : OP_FLOAT_F64,
        .real = value
    });
}

int value_zero(struct generator *generator, int type)
{
    return type == TYPE_F32 || type == TYPE_F64
               ? value_real(generator, type, 0)
                          : value_integer(generator, type, 0);
}

static struct value constant(struct generator *generator,
                             const struct expression *e, int machine)
{
    struct value value = { .null = -1 };

    if (e->null) {
        value.r = value_zero(generator, machine);
        value.null = value_integer(generator, TYPE_I32, 1);
    } else if (e->type == VDBQ_TEXT) {
        value.r = text(generator, e);
    } else if (is_float(e->type)) {
        value.r = value_real(generator, machine, e->real);
    } else {
        value.r = value_integer(generator, machine, e->integer);
    }
    return value;
}

static int text(struct generator *generator, const struct expression *e)
{
    struct instruction in = { .op = OP_TEXT, .at = e->at };

    in.name = arena_copy(&generator->program->arena, e->text.bytes,
                         e->text.length);
    return emit_value(generator, &in);
}

/* Opcodes that fill a register for values of a type of SQL. */
struct op_family {
    enum opcode i32, i64, f32, f64, word;
};
static const struct op_family columns = { OP_COLUMN_I32, OP_COLUMN_I64,
                                          OP_COLUMN_F32, OP_COLUMN_F64,
                                          OP_COLUMN_WORD };
static const struct op_family keys = { OP_ROWID_I32, OP_ROWID_I64,
                                       OP_ROWID_F32, OP_ROWID_F64,
                                       OP_ROWID_WORD };
static const struct op_family found = { OP_COLUMN_AT_I32, OP_COLUMN_AT_I64,
                                        OP_COLUMN_AT_F32, OP_COLUMN_AT_F64,
                                        OP_COLUMN_AT_WORD };
static const struct op_family parameters = {
    OP_PARAMETER_I32, OP_PARAMETER_I64, OP_PARAMETER_F32, OP_PARAMETER_F64,
    OP_PARAMETER_WORD
};
/* No function gives a FLOAT. */
static const struct op_family lookups = { OP_LOOKUP_I32, OP_LOOKUP_I64,
                                          OP_LOOKUP_F64, OP_LOOKUP_F64,
                                          OP_LOOKUP_WORD };

static enum opcode op_of(const struct op_family *family, int type)
{
    switch (type_machine((enum vdbq_type)type)) {
    case TYPE_I32:
        return family->i32;
    case TYPE_I64:
        return family->i64;
    case TYPE_F32:
        return family->f32;
    case TYPE_F64:
        return family->f64;
    default:
        return family->word;
    }
}

/* What an opcode gives of the place of a column. */
static int column_in(struct generator *generator, const struct expression *e,
                     enum opcode op)
{
    const struct column_place *place = &generator->columns[e->column];

    assert(place->column >= 0 || place->row < 0);
    return emit_value(generator, &(struct instruction){
        .op = op,
        .b = place->column < 0 ? 0 : place->column,
        .c = place->cursor,
        .d = place->row < 0 ? 0 : place->row,
        .comment = comment_of(generator, e),
        .at = e->at
    });
}

/* The value of a column that is computed. */
static struct value made_column(struct generator *generator,
                                const struct expression *e)
{
    const struct column_place *columns = generator->columns;
    const struct made_column *made = columns[e->column].made;
    struct value value = { made->r, made->null };

    if (made->expression == NULL)
        return value;
    generator->columns = made->columns;
    value = value_of(generator, made->expression, e->machine);
    generator->columns = columns;
    return value;
}

static struct value column(struct generator *generator,
                           const struct expression *e)
{
    const struct column_place *place = &generator->columns[e->column];
    const struct op_family *family = place->row >= 0     ? &found
                                     : place->column < 0 ? &keys
                                                         : &columns;
    struct value value = { .null = -1 };

    if (place->made != NULL)
        return made_column(generator, e);
    value.r = column_in(generator, e, op_of(family, e->type));
    if (e->nullable)
        value.null = column_null(generator, e);
    return value;
}

static int column_null(struct generator *generator,
                       const struct expression *e)
{
    const struct column_place *place = &generator->columns[e->column];

    if (place->made != NULL)
        return made_column(generator, e).null;
    if (place->column < 0)
        return -1;
    return column_in(generator, e,
                     place->row < 0 ? OP_COLUMN_NULL : OP_COLUMN_AT_NULL);
}

static struct value parameter(struct generator *generator,
                              const struct expression *e)
{
    struct instruction in = {
        .op = op_of(&parameters, e->type),
        .b = e->parameter,
        .comment = comment_of(generator, e),
        .at = e->at
    };
    struct value value = { .r = emit_value(generator, &in) };

    in.op = OP_PARAMETER_NULL;
    value.null = emit_value(generator, &in);
    return value;
}

/* --------------------------------------------- choices, calls, functions -- */

/* The value of an expression that matters only where `idle` is not 1. */
static struct value guarded(struct generator *generator,
                            const struct expression *e, int machine, int idle)
{
    int before = generator->idle;
    struct value value;

    if (e->faults)
        generator->idle = or_null(generator, before, idle);
    value = value_of(generator, e, machine);
    generator->idle = before;
    return value;
}

/* A register with the NULL flags, also of a value that is never NULL. */
static int null_flags(struct generator *generator, struct value value)
{
    return value.null >= 0 ? value.null
                           : value_integer(generator, TYPE_I32, 0);
}

static struct value choice(struct generator *generator,
                           const struct expression *e)
{
    struct value condition = value_truth(generator, e->condition);
    struct value left, right, value = { .null = -1 };
    int taken = condition.r, other;

    if (condition.null >= 0)
        taken = binary(generator, OP_BOTH_I32, taken,
                       unary(generator, OP_NEGATE_I32, condition.null));
    other = e->left->faults ? unary(generator, OP_NEGATE_I32, taken) : -1;
    left = guarded(generator, e->left, e->machine, other);
    right = guarded(generator, e->right, e->machine, taken);
    value.r = choose(generator, e->machine, left.r, right.r, taken);
    if (left.null >= 0 || right.null >= 0)
        value.null = choose(generator, TYPE_I32, null_flags(generator, left),
                            null_flags(generator, right), taken);
    return value;
}

static struct value math(struct generator *generator,
                         const struct expression *e)
{
    const struct op_facts *facts = op_facts(e->op);
    bool rounds = e->op == OP_ROUND_F64;
    struct value left = value_of(generator, e->left, facts->reads);
    struct value right = { .null = -1 }, value;
    struct instruction in = { .op = e->op, .b = left.r, .at = e->at,
                              .comment = comment_of(generator, e) };

    if (facts->form == FORM_PART)
        in.c = (int)e->integer;
    if (e->right != NULL) {
        right = value_of(generator, e->right,
                         rounds ? TYPE_I32 : facts->reads);
        in.c = right.r;
    }
    value.null = or_null(generator, left.null, right.null);
    if (e->checked && (value.null >= 0 || generator->idle >= 0))
        in.b = zero_where(generator, in.b, facts->reads,
                          or_null(generator, value.null, generator->idle));
    value.r = emit_value(generator, &in);
    if (e->null_at_nan)
        value.null = or_null(generator, value.null,
                             unary(generator, OP_IS_NAN_F64, value.r));
    return value;
}

/* Fails where the call fails for a value that matters. */
static void fail_lookup(struct generator *generator,
                        const struct expression *e, int word, int harmless)
{
    struct instruction in = { .op = OP_LOOKUP_FAILS, .b = word,
                              .name = e->call, .at = e->at };
    int fails = emit_value(generator, &in);

    if (harmless >= 0)
        fails = binary(generator, OP_BOTH_I32, fails,
                       unary(generator, OP_NEGATE_I32, harmless));
    emit_fail(generator, fails, "a text is not what the function takes",
              e->at);
}

static struct value lookup(struct generator *generator,
                           const struct expression *e)
{
    struct value word = value_of(generator, e->left, TYPE_I32), value;
    struct instruction in = {
        .op = op_of(&lookups, (int)e->function->result),
        .b = word.r,
        .at = e->at
    };

    in.name = arena_copy(&generator->program->arena, e->call,
                         strlen(e->call));
    if (e->function->fails)
        fail_lookup(generator, e, word.r,
                    or_null(generator, word.null, generator->idle));
    value.r = emit_value(generator, &in);
    value.null = word.null;
    in.op = OP_LOOKUP_NULL;
    if (e->function->nulls)
        value.null = or_null(generator, value.null,
                             emit_value(generator, &in));
    return value;
}

/* Fails where the condition is true of a value that matters. */
static struct value check(struct generator *generator,
                          const struct expression *e)
{
    struct value value = value_of(generator, e->left, e->machine);
    struct value refused = value_truth(generator, e->condition);
    int harmless = or_null(generator, refused.null, generator->idle);
    int fails = refused.r;

    harmless = or_null(generator, harmless, value.null);
    if (harmless >= 0)
        fails = binary(generator, OP_BOTH_I32, fails,
                       unary(generator, OP_NEGATE_I32, harmless));
    emit_fail(generator, fails, e->call, e->at);
    return value;
}

/* ---------------------------------------------------------- operations -- */

static struct value operation(struct generator *generator,
                              const struct expression *e)
{
    switch (e->operator) {
    case AST_AND:
        return both(generator, e);
    case AST_OR:
        return either(generator, e);
    case AST_NOT:
        return not(generator, e);
    case AST_IS:
    case AST_IS_NOT:
        return is(generator, e);
    default:
        break;
    }
    return is_comparison(e->operator) ? comparison(generator, e)
                                      : arithmetic(generator, e);
}

static enum opcode arithmetic_op(const struct expression *e)
{
    switch (e->operator) {
    case AST_ADD:
        return e->checked ? OP_ADD_CHECKED_I64
                          : emit_typed(OP_ADD_I32, e->machine);
    case AST_SUB:
        return e->checked ? OP_SUB_CHECKED_I64
                          : emit_typed(OP_SUB_I32, e->machine);
    case AST_MUL:
        return e->checked ? OP_MUL_CHECKED_I64
                          : emit_typed(OP_MUL_I32, e->machine);
    case AST_DIV:
        return e->checked ? OP_DIV_CHECKED_I64
                          : emit_typed(OP_DIV_I32, e->machine);
    default:
        assert(e->operator == AST_MOD);
        return e->machine == TYPE_I32 ? OP_MOD_I32 : OP_MOD_I64;
    }
}

/* With one operand made 0 where the result is NULL, no checked operation
 * overflows there: the right one of a difference, else the left one. */
static struct value arithmetic(struct generator *generator,
                               const struct expression *e)
{
    int type = e->machine;
    struct value left = value_of(generator, e->left, type);
    struct value right = value_of(generator, e->right, type);
    int null = or_null(generator, left.null, right.null);
    struct instruction in = {
        .op = arithmetic_op(e),
        .b = left.r,
        .c = right.r,
        .comment = comment_of(generator, e),
        .at = e->at
    };
    int harmless = e->checked ? or_null(generator, null, generator->idle)
                              : -1;
    int r;

    if (e->checked && harmless >= 0 && e->operator == AST_SUB)
        in.c = zero_where(generator, in.c, type, harmless);
    else if (e->checked && harmless >= 0)
        in.b = zero_where(generator, in.b, type, harmless);
    r = emit_value(generator, &in);
    if (e->null_at_zero)
        null = or_null(generator, null,
                       binary(generator, emit_typed(OP_IS_EQ_I32, type),
                              right.r, value_zero(generator, type)));
    if (e->null_at_nan)
        null = or_null(generator, null,
                       unary(generator, type == TYPE_F32 ? OP_IS_NAN_F32
                                                         : OP_IS_NAN_F64, r));
    return (struct value){ .r = r, .null = null };
}

static struct value comparison(struct generator *generator,
                               const struct expression *e)
{
    int type = value_compared(e);
    struct value left = value_of(generator, e->left, type);
    struct value right = value_of(generator, e->right, type);
    bool swap = e->operator == AST_GT || e->operator == AST_GE;
    enum opcode op = OP_IS_EQ_I32;
    int r;

    if (e->operator == AST_LT || e->operator == AST_GT)
        op = OP_IS_LT_I32;
    if (e->operator == AST_LE || e->operator == AST_GE)
        op = OP_IS_LE_I32;
    r = binary(generator, emit_typed(op, type), swap ? right.r : left.r,
               swap ? left.r : right.r);
    if (e->operator == AST_NEQ)
        r = unary(generator, OP_NEGATE_I32, r);
    return (struct value){
        .r = r, .null = or_null(generator, left.null, right.null)
    };
}

/* The register, or where its value is NULL the value that decides nothing:
 * 1 for AND, 0 for OR. */
static int undecided(struct generator *generator, struct value value,
                     bool is_and)
{
    if (value.null < 0)
        return value.r;
    if (is_and)
        return binary(generator, OP_EITHER_I32, value.r, value.null);
    return binary(generator, OP_BOTH_I32, value.r,
                  unary(generator, OP_NEGATE_I32, value.null));
}

/* NULL where an operand is and none is false. */
static struct value both(struct generator *generator,
                         const struct expression *e)
{
    struct value left = value_truth(generator, e->left);
    struct value right = value_truth(generator, e->right);
    struct value value = { .null = or_null(generator, left.null, right.null) };
    int open;

    value.r = binary(generator, OP_BOTH_I32, left.r, right.r);
    if (value.null < 0)
        return value;
    open = binary(generator, OP_BOTH_I32, undecided(generator, left, true),
                  undecided(generator, right, true));
    value.null = binary(generator, OP_BOTH_I32, value.null, open);
    return value;
}

/* NULL where an operand is and none is true. What is true must be so whatever
 * the other's register holds; what is not must not be made so by it, but is
 * NULL then. */
static struct value either(struct generator *generator,
                           const struct expression *e)
{
    struct value left = value_truth(generator, e->left);
    struct value right = value_truth(generator, e->right);
    struct value value = { .null = or_null(generator, left.null, right.null) };
    int decided;

    value.r = binary(generator, OP_EITHER_I32, left.r, right.r);
    if (value.null < 0)
        return value;
    decided = binary(generator, OP_EITHER_I32,
                     undecided(generator, left, false),
                     undecided(generator, right, false));
    value.null = binary(generator, OP_BOTH_I32, value.null,
                        unary(generator, OP_NEGATE_I32, decided));
    return value;
}

static struct value not(struct generator *generator,
                        const struct expression *e)
{
    struct value value = value_truth(generator, e->left);

    value.r = unary(generator, OP_NEGATE_I32, value.r);
    return value;
}

/* Whether both are NULL, or neither is and they are equal. */
static int is_same(struct generator *generator, const struct expression *e)
{
    int type = value_compared(e), equal, one, nulls;
    struct value left = value_of(generator, e->left, type);
    struct value right = value_of(generator, e->right, type);

    equal = binary(generator, emit_typed(OP_IS_EQ_I32, type), left.r, right.r);
    one = or_null(generator, left.null, right.null);
    if (one < 0)
        return equal;
    equal = binary(generator, OP_BOTH_I32, equal,
                   unary(generator, OP_NEGATE_I32, one));
    if (left.null < 0 || right.null < 0)
        return equal;
    nulls = binary(generator, OP_BOTH_I32, left.null, right.null);
    return binary(generator, OP_EITHER_I32, equal, nulls);
}

static struct value is(struct generator *generator,
                       const struct expression *e)
{
    bool left_null = e->left->kind == EXPRESSION_CONSTANT && e->left->null;
    bool right_null = e->right->kind == EXPRESSION_CONSTANT && e->right->null;
    int r;

    if (left_null || right_null)
        r = value_null(generator, right_null ? e->left : e->right);
    else
        r = is_same(generator, e);
    if (r < 0)
        r = value_integer(generator, TYPE_I32, 0);
    if (e->operator == AST_IS_NOT)
        r = unary(generator, OP_NEGATE_I32, r);
    return (struct value){ .r = r, .null = -1 };
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
        value.r = zero_where(generator, value.r, from,
                             or_null(generator, value.null,
                                     generator->idle));
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
        .comment = comment_of(generator, e),
        .at = e->at
    });
}

/* ------------------------------------------------------------- helpers -- */

static int binary(struct generator *generator, enum opcode op, int b, int c)
{
    return emit_value(generator, &(struct instruction){ .op = op,
                                                        .b = b,
                                                        .c = c });
}

static int unary(struct generator *generator, enum opcode op, int b)
{
    return emit_value(generator, &(struct instruction){ .op = op, .b = b });
}

/* A NULL register for what is NULL where one of two is; either may be -1. */
static int or_null(struct generator *generator, int a, int b)
{
    if (a < 0 || a == b)
        return b;
    if (b < 0)
        return a;
    return binary(generator, OP_EITHER_I32, a, b);
}

static int choose(struct generator *generator, int type, int left, int right,
                  int condition)
{
    return emit_value(generator, &(struct instruction){
        .op = emit_typed(OP_CHOOSE_I32, type),
        .b = left,
        .c = right,
        .d = condition
    });
}

/* The register, but 0 where `null` is 1. */
static int zero_where(struct generator *generator, int r, int type, int null)
{
    return choose(generator, type, value_zero(generator, type), r, null);
}

/* The column's name, or the text of a short expression, for EXPLAIN. */
static const char *comment_of(struct generator *generator,
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
    return arena_copy(&generator->program->arena, text, length);
}
