/* SPDX-License-Identifier: MIT */
/*
 * Expressions as text: as SQL would write them, as far as it has words. What
 * the planner made of them shows: comparisons of columns' words are look-ups,
 * for instance, and dates are moved by numbers.
 */
#include <assert.h>
#include <string.h>

#include "base/os/stack.h"
#include "plan/tree/print.h"

static void print_operand(const struct print_scope *scope,
                          const struct expression *e, struct vector *subqueries,
                          struct text *text);
static void print_part(const struct print_scope *scope,
                       const struct expression *e, enum ast_operator around,
                       struct vector *subqueries, struct text *text);

/* ------------------------------------------------------------- constants -- */

/* In quotes, each quote in it twice; control characters as blanks, so that a
 * line stays one. */
static void print_text(struct vdbq_text value, struct text *text)
{
    text_add(text, "'", 1);
    for (size_t i = 0; i < value.length; i++) {
        char c = (unsigned char)value.bytes[i] < ' ' ? ' ' : value.bytes[i];
        text_add(text, "''", c == '\'');
        text_add(text, &c, 1);
    }
    text_add(text, "'", 1);
}

static void print_constant(const struct expression *e, struct text *text)
{
    char room[TYPE_TEXT_MAX];
    int32_t narrow = (int32_t)e->constant.integer;
    bool dated = e->type == VDBQ_DATE || e->type == VDBQ_TIMESTAMP;

    if (e->constant.null)
        text_print(text, "NULL");
    else if (e->type == VDBQ_TEXT)
        print_text(e->constant.text, text);
    else if (is_float(e->type))
        text_add(text, room, text_from_double(e->constant.real, room));
    else if (dated || e->type == VDBQ_BOOLEAN || e->type == VDBQ_DECIMAL) {
        const void *value = type_bytes((enum vdbq_type)e->type) == sizeof narrow
                                ? (const void *)&narrow
                                : &e->constant.integer;
        text_add(text, "'", dated);
        text_add(text, room,
                 type_print((enum vdbq_type)e->type, e->scale, value, room));
        text_add(text, "'", dated);
    } else
        text_print(text, "%lld", (long long)e->constant.integer);
}

/* ------------------------------------------------------------ parameters -- */

/* What the query around gives for a parameter, where it does. */
static bool print_asked(const struct print_scope *scope, int parameter,
                        struct vector *subqueries, struct text *text)
{
    for (size_t i = 0; scope->asked && i < scope->asked->count; i++) {
        const struct outer_value *value = vector_at(scope->asked, i);
        if (value->parameter == parameter) {
            text_print(text, "outer ");
            print_operand(scope->outer, value->value, subqueries, text);
            return true;
        }
    }
    for (size_t i = 0; scope->applied && i < scope->applied->count; i++) {
        const struct step_parameter *value = vector_at(scope->applied, i);
        if (value->parameter == parameter) {
            text_print(text, "outer ");
            print_column(scope->outer, value->column, text);
            return true;
        }
    }
    return false;
}

/* A parameter of the statement, or a value of a query around this one. */
static void print_parameter(const struct print_scope *scope, int parameter,
                            struct vector *subqueries, struct text *text)
{
    for (; scope != NULL; scope = scope->outer)
        if ((scope->asked || scope->applied)
            && print_asked(scope, parameter, subqueries, text))
            return;
    text_print(text, "?%d", parameter + 1);
}

/* ------------------------------------------------------------- operators -- */

static const char *operator_name(enum ast_operator operator)
{
    static const char *const names[] = {
        [AST_ADD] = "+",         [AST_SUB] = "-",   [AST_MUL] = "*",
        [AST_DIV] = "/",         [AST_MOD] = "%",   [AST_EQ] = "=",
        [AST_NEQ] = "<>",        [AST_LT] = "<",    [AST_LE] = "<=",
        [AST_GT] = ">",          [AST_GE] = ">=",   [AST_IS] = "IS",
        [AST_IS_NOT] = "IS NOT", [AST_AND] = "AND", [AST_OR] = "OR",
        [AST_CONCAT] = "||",     [AST_NOT] = "NOT", [AST_MINUS] = "-",
        [AST_PLUS] = "+",
    };

    assert((size_t) operator<sizeof names / sizeof * names);
    assert(names[operator] != NULL);
    return names[operator];
}

static void print_operator(const struct print_scope *scope,
                           const struct expression *e,
                           struct vector *subqueries, struct text *text)
{
    enum ast_operator op = e->operation.op;

    if (e->right == NULL) {
        text_print(text, "%s ", operator_name(op));
        print_operand(scope, e->left, subqueries, text);
        return;
    }
    print_part(scope, e->left, op, subqueries, text);
    text_print(text, " %s ", operator_name(op));
    print_part(scope, e->right, op, subqueries, text);
}

/* "name(a, b)", b being optional. */
static void print_call(const struct print_scope *scope, const char *name,
                       struct expression *const *arguments, unsigned count,
                       struct vector *subqueries, struct text *text)
{
    text_print(text, "%s(", name);
    for (unsigned i = 0; i < count; i++) {
        text_add(text, ", ", i > 0 ? 2 : 0);
        print_expression(scope, arguments[i], subqueries, text);
    }
    text_print(text, ")");
}

static void print_math(const struct print_scope *scope,
                       const struct expression *e, struct vector *subqueries,
                       struct text *text)
{
    struct expression *const operands[2] = { e->left, e->right };

    print_call(scope, op_facts(e->math.op)->mnemonic, operands,
               e->right != NULL ? 2 : 1, subqueries, text);
}

/* The call's text has question marks in the places of its open arguments: those
 * outside of quotes. */
static void print_lookup(const struct print_scope *scope,
                         const struct expression *e, struct vector *subqueries,
                         struct text *text)
{
    bool quoted = false;

    for (const char *at = e->lookup.call; *at != '\0'; at++) {
        quoted ^= *at == '\'';
        if (*at == '?' && !quoted)
            print_expression(scope, e->left, subqueries, text);
        else
            text_add(text, at, 1);
    }
}

static void print_choice(const struct print_scope *scope,
                         const struct expression *e, struct vector *subqueries,
                         struct text *text)
{
    text_print(text, "CASE WHEN ");
    print_expression(scope, e->condition, subqueries, text);
    text_print(text, " THEN ");
    print_expression(scope, e->left, subqueries, text);
    text_print(text, " ELSE ");
    print_expression(scope, e->right, subqueries, text);
    text_print(text, " END");
}

/* -------------------------------------------------- what becomes nodes -- */

void print_direction(bool descending, bool nulls_last, struct text *text)
{
    if (descending)
        text_print(text, " DESC");
    if (nulls_last != descending)
        text_print(text, " NULLS %s", nulls_last ? "LAST" : "FIRST");
}

/* An aggregate, or the function of a window, that is bound. */
static void print_bound(const struct print_scope *scope,
                        const struct expression *e, const char *name,
                        bool distinct, struct vector *subqueries,
                        struct text *text)
{
    text_print(text, "%s(%s", name, distinct ? "DISTINCT " : "");
    if (e->left != NULL)
        print_expression(scope, e->left, subqueries, text);
    else if (e->kind == EXPRESSION_AGGREGATE)
        text_print(text, "*");
    text_print(text, ")");
    if (e->condition != NULL) {
        text_print(text, " FILTER (WHERE ");
        print_expression(scope, e->condition, subqueries, text);
        text_print(text, ")");
    }
}

static void print_over(const struct print_scope *scope,
                       const struct window *window, struct vector *subqueries,
                       struct text *text)
{
    text_print(text, " OVER (");
    for (size_t i = 0; i < window->partition.count; i++) {
        text_print(text, "%s", i > 0 ? ", " : "PARTITION BY ");
        print_expression(
            scope, VECTOR_ITEMS(&window->partition, struct expression *)[i],
            subqueries, text);
    }
    for (size_t i = 0; i < window->order.count; i++) {
        const struct order_term *term = vector_at(&window->order, i);
        text_print(text, "%s",
                   i > 0                         ? ", "
                   : window->partition.count > 0 ? " ORDER BY "
                                                 : "ORDER BY ");
        print_expression(scope, term->expression, subqueries, text);
        print_direction(term->descending, term->nulls_last, text);
    }
    frame_print(&window->frame, text);
    text_print(text, ")");
}

static void print_bound_window(const struct print_scope *scope,
                               const struct expression *e,
                               struct vector *subqueries, struct text *text)
{
    const struct window *window = e->window;
    bool aggregates = window->function == WINDOW_AGGREGATE;

    print_bound(scope, e,
                aggregates ? aggregate_name(window->aggregate)
                           : window_name(window->function),
                aggregates && window->distinct, subqueries, text);
    print_over(scope, window, subqueries, text);
}

static void print_subquery(const struct print_scope *scope,
                           const struct expression *e,
                           struct vector *subqueries, struct text *text)
{
    const struct subquery *subquery = e->subquery;

    if (subquery->kind == APPLY_IN) {
        print_operand(scope, e->left, subqueries, text);
        text_print(text, " IN ");
    }
    if (!vector_append(subqueries, &subquery, 1))
        text->failed = true;
    text_print(text, "%s(subquery %zu)",
               subquery->kind == APPLY_EXISTS ? "EXISTS " : "",
               subqueries->count);
}

/* --------------------------------------------------- columns of steps' kind -- */

void print_aggregate(const struct print_scope *scope,
                     const struct step_aggregate *aggregate, struct text *text)
{
    text_print(text, "%s(%s", aggregate_name(aggregate->function),
               aggregate->distinct ? "DISTINCT " : "");
    if (aggregate->column >= 0)
        print_column(scope, aggregate->column, text);
    else
        text_print(text, "*");
    text_print(text, ")");
    if (aggregate->filter >= 0) {
        text_print(text, " FILTER (WHERE ");
        print_column(scope, aggregate->filter, text);
        text_print(text, ")");
    }
}

void print_window(const struct print_scope *scope,
                  const struct step_window_function *function,
                  struct text *text)
{
    if (function->function == WINDOW_AGGREGATE) {
        print_aggregate(scope, &function->aggregate, text);
    } else {
        text_print(text, "%s(", window_name(function->function));
        if (function->aggregate.column >= 0)
            print_column(scope, function->aggregate.column, text);
        text_print(text, ")");
    }
    text_print(text, " OVER (");
    for (size_t i = 0; i < function->partition.count; i++) {
        text_print(text, "%s", i > 0 ? ", " : "PARTITION BY ");
        print_column(scope, VECTOR_ITEMS(&function->partition, int)[i], text);
    }
    for (size_t i = 0; i < function->order.count; i++) {
        const struct step_key *key = vector_at(&function->order, i);
        text_print(text, "%s",
                   i > 0                           ? ", "
                   : function->partition.count > 0 ? " ORDER BY "
                                                   : "ORDER BY ");
        print_column(scope, key->column, text);
        print_direction(key->descending, key->nulls_last, text);
    }
    frame_print(&function->frame, text);
    text_print(text, ")");
}

/* ------------------------------------------------------------------- all -- */

/* In parentheses where it is an operator of its own. */
static void print_operand(const struct print_scope *scope,
                          const struct expression *e, struct vector *subqueries,
                          struct text *text)
{
    bool enclosed = e->kind == EXPRESSION_OPERATOR;

    text_add(text, "(", enclosed);
    print_expression(scope, e, subqueries, text);
    text_add(text, ")", enclosed);
}

/* An operand of an operator: AND and OR need no parentheses around
 * comparisons, nor around what they are themselves. */
static void print_part(const struct print_scope *scope,
                       const struct expression *e, enum ast_operator around,
                       struct vector *subqueries, struct text *text)
{
    bool is_logic = around == AST_AND || around == AST_OR;

    if (is_logic && e->kind == EXPRESSION_OPERATOR
        && (e->operation.op == around
            || (e->operation.op >= AST_EQ && e->operation.op <= AST_IS_NOT)))
        print_expression(scope, e, subqueries, text);
    else
        print_operand(scope, e, subqueries, text);
}

void print_expression(const struct print_scope *scope,
                      const struct expression *e, struct vector *subqueries,
                      struct text *text)
{
    if (stack_is_short()) {
        text_print(text, "...");
        return;
    }
    switch (e->kind) {
    case EXPRESSION_CONSTANT:
        print_constant(e, text);
        break;
    case EXPRESSION_COLUMN:
        print_column(scope, e->column.number, text);
        break;
    case EXPRESSION_PARAMETER:
        print_parameter(scope, e->parameter.number, subqueries, text);
        break;
    case EXPRESSION_OPERATOR:
        print_operator(scope, e, subqueries, text);
        break;
    case EXPRESSION_CAST:
        text_print(text, "CAST(");
        print_expression(scope, e->left, subqueries, text);
        text_print(text, " AS %s)", type_name((enum vdbq_type)e->type));
        break;
    case EXPRESSION_CHOICE:
        print_choice(scope, e, subqueries, text);
        break;
    case EXPRESSION_MATH:
        print_math(scope, e, subqueries, text);
        break;
    case EXPRESSION_LOOKUP:
        print_lookup(scope, e, subqueries, text);
        break;
    case EXPRESSION_CHECK:
        text_print(text, "checked ");
        print_operand(scope, e->left, subqueries, text);
        break;
    case EXPRESSION_FUNCTION:
        print_call(scope, e->call.function->name, e->call.arguments,
                   e->call.count, subqueries, text);
        break;
    case EXPRESSION_AGGREGATE:
        print_bound(scope, e, aggregate_name(e->aggregate.function),
                    e->aggregate.distinct, subqueries, text);
        break;
    case EXPRESSION_WINDOW:
        print_bound_window(scope, e, subqueries, text);
        break;
    case EXPRESSION_SUBQUERY:
        print_subquery(scope, e, subqueries, text);
        break;
    }
}
