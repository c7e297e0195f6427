/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions: those that the planner makes of other expressions,
 * those that are opcodes, aggregates and windows, and those that the host
 * computes (program/function.h).
 */
#include "plan/plan_inner.h"

#include <string.h>

enum { ARGUMENTS_MAX = 64 };

/* A call whose arguments are bound. */
struct call {
    const struct ast_expression *tree;
    const char *name;
    unsigned count;
    struct expression *arguments[ARGUMENTS_MAX];
};

typedef struct expression *(*call_maker)(struct binder *binder,
                                         const struct call *call);

static struct expression *refuse_type(struct binder *binder,
                                      const struct call *call,
                                      const struct expression *argument)
{
    error_at(binder->error, VDBQ_TYPE, call->tree->at,
             "%s does not take a %s", call->name,
             vdbq_type_name((enum vdbq_type)argument->type));
    return NULL;
}

/* ---------------------------------------------------------- aggregates -- */

struct aggregate_name {
    const char *name;
    enum aggregate_function function;
};
static const struct aggregate_name aggregate_names[] = {
    { "count", AGGREGATE_COUNT }, { "sum", AGGREGATE_SUM },
    { "total", AGGREGATE_TOTAL }, { "avg", AGGREGATE_AVG },
    { "min", AGGREGATE_MIN },     { "max", AGGREGATE_MAX },
};

static const struct aggregate_name *aggregate_named(
    const struct ast_expression *tree)
{
    const size_t count = sizeof aggregate_names / sizeof *aggregate_names;

    for (size_t i = 0; i < count; i++) {
        const struct aggregate_name *name = &aggregate_names[i];
        bool several = name->function >= AGGREGATE_MIN
                       && tree->argument_count > 1;
        if (name_equal(tree->column.text, name->name))
            return several ? NULL : name;
    }
    return NULL;
}

bool is_aggregate_call(const struct ast_expression *tree)
{
    return tree->kind == AST_FUNCTION && tree->over == NULL
           && aggregate_named(tree) != NULL;
}

/* The argument in a type that the aggregate adds up. */
static struct expression *summand(struct binder *binder,
                                  const struct call *call,
                                  enum aggregate_function function,
                                  struct expression *e)
{
    bool sums = function == AGGREGATE_SUM || function == AGGREGATE_TOTAL
                || function == AGGREGATE_AVG;

    if (!sums || is_float(e->type) || is_integer(e->type))
        return e;
    if (e->type == VDBQ_BOOLEAN)
        return expression_cast_plain(binder, e, VDBQ_INTEGER, e->at);
    if (e->type == VDBQ_DECIMAL && function == AGGREGATE_SUM)
        return e;
    if (e->type == VDBQ_DECIMAL)
        return expression_cast_plain(binder, e, VDBQ_DOUBLE, e->at);
    return refuse_type(binder, call, e);
}

/* Gives an aggregate its type. */
static void type_aggregate(struct expression *e)
{
    struct node_column argument = { 0 }, column;

    if (e->left != NULL)
        argument = (struct node_column){ .type = e->left->type,
                                         .precision = e->left->precision,
                                         .scale = e->left->scale,
                                         .range = e->left->range };
    aggregate_column(e->aggregate, &argument, &column);
    e->type = column.type;
    e->precision = column.precision;
    e->scale = column.scale;
    e->nullable = column.nullable;
    e->range = column.range;
    e->machine = type_machine((enum vdbq_type)e->type);
}

static struct expression *bind_aggregate(struct binder *binder,
                                         const struct call *call,
                                         const struct aggregate_name *name)
{
    const struct ast_expression *tree = call->tree;
    struct expression *e = expression_new(binder, EXPRESSION_AGGREGATE,
                                          VDBQ_BIGINT, tree->at);

    if (e == NULL)
        return NULL;
    if (call->count > 1 || (call->count == 0
                            && name->function != AGGREGATE_COUNT)) {
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "%s takes one argument, not %u", call->name, call->count);
        return NULL;
    }
    e->aggregate = name->function;
    e->distinct = tree->distinct;
    e->begin = tree->begin;
    e->end = tree->end;
    if (call->count == 1) {
        e->left = summand(binder, call, name->function, call->arguments[0]);
        if (e->left == NULL)
            return NULL;
    }
    if (tree->filter != NULL) {
        e->condition = bind_condition(binder, tree->filter);
        if (e->condition == NULL)
            return NULL;
    }
    type_aggregate(e);
    return e;
}

static struct expression *refuse_aggregate(struct binder *binder,
                                           const struct call *call)
{
    error_at(binder->error, VDBQ_SYNTAX, call->tree->at,
             "the aggregate %s cannot stand here", call->name);
    error_hint(binder->error,
               "aggregates stand in the results, HAVING and ORDER BY of a "
               "query, not in WHERE, GROUP BY or one another");
    return NULL;
}

/* -------------------------------------------------------------- windows -- */

static const struct {
    const char *name;
    enum window_function function;
    unsigned least, most;
} window_names[] = {
    { "row_number", WINDOW_ROW_NUMBER, 0, 0 },
    { "rank", WINDOW_RANK, 0, 0 },
    { "dense_rank", WINDOW_DENSE_RANK, 0, 0 },
    { "lag", WINDOW_LAG, 1, 3 },
    { "lead", WINDOW_LEAD, 1, 3 },
    { "first_value", WINDOW_FIRST, 1, 1 },
    { "last_value", WINDOW_LAST, 1, 1 },
};

static bool bind_over(struct binder *binder, const struct ast_window *over,
                      struct window *window)
{
    window->partition = VECTOR(struct expression *);
    window->order = VECTOR(struct order_term);
    for (const struct ast_value *value = over->partition; value != NULL;
         value = value->next) {
        struct expression *e = bind_expression(binder, value->expression);
        if (e == NULL || !vector_append(&window->partition, &e, 1))
            return false;
    }
    for (const struct ast_order *order = over->order; order != NULL;
         order = order->next) {
        struct expression *e = bind_expression(binder, order->expression);
        struct order_term term = order_term(order, e);
        if (e == NULL || !vector_append(&window->order, &term, 1))
            return false;
    }
    return arena_vector(binder->arena, &window->partition)
           && arena_vector(binder->arena, &window->order);
}

/* LAG and LEAD: how far, and what is there where no row is. */
static bool bind_distance(struct binder *binder, const struct call *call,
                          struct expression *e)
{
    e->window->offset = 1;
    if (call->count > 1) {
        const struct expression *offset =
            expression_known(binder, call->arguments[1]);
        if (offset == NULL)
            return false;
        if (offset->kind != EXPRESSION_CONSTANT || offset->null
            || !is_integer(offset->type)) {
            error_at(binder->error, VDBQ_TYPE, offset->at,
                     "the distance of %s is a whole number", call->name);
            return false;
        }
        e->window->offset = offset->integer;
    }
    if (call->count > 2) {
        e->right = expression_cast_plain(binder, call->arguments[2],
                                         e->left->type, e->at);
        return e->right != NULL;
    }
    return true;
}

static struct expression *new_window(struct binder *binder,
                                     const struct call *call)
{
    struct expression *e = expression_new(binder, EXPRESSION_WINDOW,
                                          VDBQ_BIGINT, call->tree->at);

    if (e == NULL)
        return NULL;
    e->begin = call->tree->begin;
    e->end = call->tree->end;
    e->window = arena_alloc(binder->arena, sizeof *e->window);
    if (e->window == NULL)
        return error_no_memory(binder->error), NULL;
    if (!bind_over(binder, call->tree->over, e->window)) {
        if (binder->error->status == VDBQ_OK)
            error_no_memory(binder->error);
        return NULL;
    }
    e->nullable = true;
    return e;
}

static struct expression *window_of_aggregate(
    struct binder *binder, const struct call *call,
    const struct aggregate_name *name)
{
    struct expression *e = new_window(binder, call);
    struct expression *aggregate =
        e ? bind_aggregate(binder, call, name) : NULL;

    if (aggregate == NULL)
        return NULL;
    e->window->function = WINDOW_AGGREGATE;
    e->aggregate = aggregate->aggregate;
    e->distinct = aggregate->distinct;
    e->left = aggregate->left;
    e->condition = aggregate->condition;
    type_aggregate(e);
    return e;
}

static struct expression *bind_window(struct binder *binder,
                                      const struct call *call)
{
    const struct aggregate_name *name = aggregate_named(call->tree);
    const size_t names = sizeof window_names / sizeof *window_names;
    struct expression *e;
    size_t i = 0;

    if (name != NULL)
        return window_of_aggregate(binder, call, name);
    while (i < names && !name_equal(call->name, window_names[i].name))
        i++;
    if (i == names || call->count < window_names[i].least
        || call->count > window_names[i].most) {
        error_at(binder->error, VDBQ_UNKNOWN, call->tree->at,
                 "there is no window function %s with %u arguments",
                 call->name, call->count);
        return NULL;
    }
    e = new_window(binder, call);
    if (e == NULL)
        return NULL;
    e->window->function = window_names[i].function;
    if (call->count > 0) {
        struct expression *argument = call->arguments[0];
        e->left = argument;
        e->type = argument->type;
        e->precision = argument->precision;
        e->scale = argument->scale;
        if (!bind_distance(binder, call, e))
            return NULL;
    }
    e->machine = type_machine((enum vdbq_type)e->type);
    e->range = range_full(e->type);
    return e;
}

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
        return refuse_type(binder, call, e);
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
        return zero ? refuse_type(binder, call, e) : NULL;
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
        return refuse_type(binder, call, e);
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
    { "coalesce", 1, ARGUMENTS_MAX, make_coalesce },
    { "ifnull", 2, 2, make_coalesce },
    { "nullif", 2, 2, make_nullif },
    { "iif", 3, 3, make_iif },
    { "if", 3, 3, make_iif },
    { "min", 2, ARGUMENTS_MAX, make_least },
    { "least", 1, ARGUMENTS_MAX, make_least },
    { "max", 2, ARGUMENTS_MAX, make_greatest },
    { "greatest", 1, ARGUMENTS_MAX, make_greatest },
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

static struct expression *make_call(struct binder *binder,
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

/* Binds the arguments; aggregates do not stand in aggregates. */
static bool bind_arguments(struct binder *binder, struct call *call,
                           bool aggregate)
{
    bool aggregates = binder->aggregates, windows = binder->windows;

    binder->aggregates &= !aggregate;
    binder->windows &= !aggregate;
    for (const struct ast_value *value = call->tree->arguments; value != NULL;
         value = value->next) {
        struct expression *e;
        if (call->count == ARGUMENTS_MAX) {
            error_at(binder->error, VDBQ_LIMIT, call->tree->at,
                     "a function takes at most %d arguments", ARGUMENTS_MAX);
            return false;
        }
        e = bind_expression(binder, value->expression);
        if (e == NULL)
            return false;
        call->arguments[call->count++] = e;
    }
    binder->aggregates = aggregates;
    binder->windows = windows;
    return true;
}

struct expression *bind_function(struct binder *binder,
                                 const struct ast_expression *tree)
{
    struct call call = { .tree = tree, .name = tree->column.text };
    const struct aggregate_name *aggregate = aggregate_named(tree);
    bool is_aggregate = aggregate != NULL && tree->over == NULL;

    if (is_aggregate && !binder->aggregates)
        return refuse_aggregate(binder, &call);
    if (tree->over != NULL && !binder->windows) {
        error_at(binder->error, VDBQ_SYNTAX, tree->at,
                 "window functions stand in the results and ORDER BY only");
        return NULL;
    }
    if (!bind_arguments(binder, &call, is_aggregate))
        return NULL;
    binder->scope->aggregated |= is_aggregate;
    if (is_aggregate)
        return bind_aggregate(binder, &call, aggregate);
    if (tree->over != NULL)
        return bind_window(binder, &call);
    return make_call(binder, &call);
}

/* -------------------------------------------------- functions on texts -- */

/* Writes a constant as function_lookup_read() reads it. */
static void print_constant(struct text *text, const struct expression *e)
{
    if (e->type != VDBQ_TEXT) {
        if (is_float(e->type))
            text_print(text, "%.17g", e->real);
        else
            text_print(text, "%lld", (long long)e->integer);
        return;
    }
    text_print(text, "'");
    for (size_t i = 0; i < e->text.length; i++)
        text_print(text, e->text.bytes[i] == '\'' ? "''" : "%c",
                   e->text.bytes[i]);
    text_print(text, "'");
}

/* The text form of a call with one open argument; NULL: there is not just
 * one, or it is no text. */
static const char *lookup_text(struct binder *binder,
                               const struct function *function,
                               struct expression *const *arguments,
                               unsigned count, struct expression **open)
{
    struct text text = { 0 };
    const char *copy = NULL;
    bool fits = true;

    *open = NULL;
    text_print(&text, "%s(", function->name);
    for (unsigned i = 0; i < count; i++) {
        text_print(&text, "%s", i > 0 ? ", " : "");
        if (arguments[i]->kind == EXPRESSION_CONSTANT) {
            print_constant(&text, arguments[i]);
            continue;
        }
        fits &= *open == NULL && arguments[i]->type == VDBQ_TEXT;
        *open = arguments[i];
        text_print(&text, "?");
    }
    text_print(&text, ")");
    if (fits && *open != NULL && text.bytes != NULL)
        copy = arena_copy(binder->arena, text.bytes, text.length);
    text_finish(&text);
    return copy;
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
        values[i] = (struct function_value){ .integer = arguments[i]->integer,
                                             .real = arguments[i]->real,
                                             .text = arguments[i]->text };
    memset(&result, 0, sizeof result);
    if (function_call(function, values, count, binder->arena, &result,
                      binder->error) != VDBQ_OK) {
        binder->error->line = at.line;
        binder->error->column = at.column;
        return NULL;
    }
    if (result.null)
        return expression_null(binder, (int)function->result, at);
    if (function->result == VDBQ_TEXT)
        return expression_text(binder, result.text, at);
    if (is_float((int)function->result))
        return expression_real(binder, (int)function->result, result.real,
                               at);
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
        int type = (int)function->arguments[i];
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

static struct expression *new_call(struct binder *binder,
                                   const struct function *function,
                                   struct position at,
                                   enum expression_kind kind)
{
    struct expression *e =
        expression_new(binder, kind, result_type(function), at);

    if (e == NULL)
        return NULL;
    e->function = function;
    e->range = range_full(e->type);
    return e;
}

static struct expression *refuse_function(struct binder *binder,
                                          const char *name, unsigned count,
                                          struct position at)
{
    const struct function *function = function_find(name);
    struct likely likely = { 0 };

    if (function != NULL) {
        error_at(binder->error, VDBQ_TYPE, at,
                 "%s takes %u to %u arguments, not %u", name,
                 function->arguments_min, function->arguments_max, count);
        return NULL;
    }
    error_at(binder->error, VDBQ_UNKNOWN, at, "no such function: %s", name);
    for (const struct function *f = functions(); f->name != NULL; f++)
        likely_name(&likely, name, f->name);
    if (likely.name != NULL)
        error_hint(binder->error, "did you mean \"%s\"?", likely.name);
    return NULL;
}

struct expression *expression_call(struct binder *binder, const char *name,
                                   struct expression *const *arguments,
                                   unsigned count, struct position at)
{
    const struct function *function = function_find(name);
    struct expression *fitting[FUNCTION_ARGUMENTS_MAX], *open, *e;
    bool constant = true, null;
    const char *call;

    if (function == NULL || count < function->arguments_min
        || count > function->arguments_max)
        return refuse_function(binder, name, count, at);
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
    if (constant)
        return call_now(binder, function, fitting, count, at);
    call = lookup_text(binder, function, fitting, count, &open);
    if (call != NULL) {
        e = new_call(binder, function, at, EXPRESSION_LOOKUP);
        if (e == NULL)
            return NULL;
        e->call = call;
        e->left = open;
        range_update(e);
        return e;
    }
    e = new_call(binder, function, at, EXPRESSION_FUNCTION);
    if (e == NULL)
        return NULL;
    e->arguments = arena_alloc(binder->arena, count * sizeof *arguments);
    if (e->arguments == NULL)
        return error_no_memory(binder->error), NULL;
    memcpy(e->arguments, fitting, count * sizeof *arguments);
    e->argument_count = count;
    e->nullable = true;
    return e;
}
