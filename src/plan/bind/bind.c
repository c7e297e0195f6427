/* SPDX-License-Identifier: MIT */
/*
 * The tree of an expression becomes an expression: names are looked up,
 * operators typed, leaves first.
 */
#include "plan/bind/bind.h"

#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/call/call.h"
#include "plan/bind/clause.h"
#include "plan/call/bind_quantified.h"
#include "plan/bind/query.h"
#include "plan/bind/row_value.h"
#include "plan/bind/scope.h"
#include "plan/bind/values.h"
#include "plan/operator/collate.h"
#include "plan/operator/compare.h"
#include "plan/make/array.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/make/logic.h"
#include "plan/make/coerce.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/operator/try_cast.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"
#include "program/parameter.h"

static struct expression *bind_column(struct binder *binder,
                                      const struct ast_expression *tree)
{
    return scope_find(binder, tree);
}

/* ----------------------------------------------------------- parameters -- */

/* A value that the caller gives later; of no type where it is not given. */
static struct expression *bind_parameter(struct binder *binder,
                                         const struct ast_expression *tree)
{
    int number = (int)tree->integer - 1;
    enum vdbq_type type = binder->parameters != NULL
                              ? binder->parameters[number].type
                              : VDBQ_TYPE_NONE;
    struct expression *e;

    if (array_given(binder, tree) != NULL) {
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "parameter %d has an array: it can stand in the list of an IN "
                 "and nowhere else",
                 number + 1);
        return NULL;
    }
    if (type == VDBQ_TYPE_NONE)
        return expression_null(binder, VDBQ_INTEGER, tree->at);
    if (binder->constants)
        return expression_given(binder, number, tree->at);
    e = expression_new(binder, EXPRESSION_PARAMETER, (int)type, tree->at);
    if (e == NULL)
        return NULL;
    e->parameter.number = number;
    e->nullable = true;
    e->range = range_full((int)type);
    return e;
}

/* ------------------------------------------------------------ operators -- */

/* Whether it is minus the one number that fits 64 bits only with its sign. */
static bool is_least_integer(const struct binder *binder,
                             const struct ast_expression *tree)
{
    static const char digits[] = "9223372036854775808";
    const struct ast_expression *operand = tree->left;

    return tree->operator == AST_MINUS && operand->kind == AST_DECIMAL
           && operand->end - operand->begin == sizeof digits - 1
           && memcmp(binder->sql + operand->begin, digits, sizeof digits - 1)
                  == 0;
}

/* IS TRUE, IS NOT FALSE ...: never NULL. */
static struct expression *bind_is_truth(struct binder *binder,
                                        const struct ast_expression *tree)
{
    bool wanted = tree->right->kind == AST_TRUE;
    bool is = tree->operator== AST_IS;
    struct expression *e = bind_condition(binder, tree->left);
    struct expression *yes, *no;

    if (e != NULL && !wanted)
        e = expression_operator(binder, AST_NOT, e, NULL, tree);
    yes = e ? expression_truth(binder, is, tree->at) : NULL;
    no = yes ? expression_truth(binder, !is, tree->at) : NULL;
    return no ? expression_choice(binder, e, yes, no, tree->at) : NULL;
}

static bool is_truth_test(const struct ast_expression *tree)
{
    return (tree->operator== AST_IS || tree->operator== AST_IS_NOT)
           && (tree->right->kind == AST_TRUE || tree->right->kind == AST_FALSE);
}

static struct expression *bind_operator(struct binder *binder,
                                        const struct ast_expression *tree)
{
    struct expression *left, *right = NULL;

    if (is_truth_test(tree))
        return bind_is_truth(binder, tree);
    if (row_value_stands_in(tree))
        return row_value_operator(binder, tree);

    if (is_least_integer(binder, tree))
        return expression_integer(binder, INT64_MIN, tree->at);
    if (interval_stands_in(tree))
        return interval_operator(binder, tree, bind_expression);
    left = bind_expression(binder, tree->left);
    if (left == NULL)
        return NULL;
    if (tree->right != NULL) {
        right = bind_expression(binder, tree->right);
        if (right == NULL)
            return NULL;
    }
    return expression_operator(binder, tree->operator, left, right, tree);
}

/* NOT, where it was written. */
static struct expression *negated(struct binder *binder,
                                  const struct ast_expression *tree,
                                  struct expression *e)
{
    if (e == NULL || !tree->negated)
        return e;
    return expression_operator(binder, AST_NOT, e, NULL, tree);
}

static struct expression *bind_between(struct binder *binder,
                                       const struct ast_expression *tree)
{
    const struct ast_value *bounds = tree->arguments;
    struct expression *e, *low, *high;

    if (row_value_stands_in(tree))
        return row_value_between(binder, tree);
    e = bind_expression(binder, tree->left);
    low = e ? bind_expression(binder, bounds->expression) : NULL;
    high = low ? bind_expression(binder, bounds->next->expression) : NULL;
    if (high == NULL)
        return NULL;
    low = expression_operator(binder, AST_GE, e, low, tree);
    high = expression_operator(binder, AST_LE, e, high, tree);
    if (low == NULL || high == NULL)
        return NULL;
    return negated(binder, tree,
                   expression_operator(binder, AST_AND, low, high, tree));
}

/* ---------------------------------------------------------------- CASE -- */

/* What a WHEN asks: a condition, or whether the operand equals it, which is a row
 * where it was not bound. */
static struct expression *bind_when(struct binder *binder,
                                    const struct ast_expression *tree,
                                    struct expression *operand,
                                    struct ast_expression *when)
{
    struct ast_expression equal = { .kind = AST_OPERATOR,
                                    .operator= AST_EQ,
                                    .left = tree->left,
                                    .right = when,
                                    .at = when->at };
    struct expression *e;

    if (operand == NULL && tree->left != NULL)
        return bind_condition(binder, &equal);
    if (operand == NULL)
        return bind_condition(binder, when);
    e = bind_expression(binder, when);
    return e ? expression_operator(binder, AST_EQ, operand, e, when) : NULL;
}

static struct expression *bind_whens(struct binder *binder,
                                     const struct ast_expression *tree,
                                     struct expression *operand,
                                     const struct ast_when *when)
{
    struct expression *condition, *then, *other;

    if (stack_is_short())
        return stack_refuse(binder->error, tree->at), NULL;
    if (when == NULL && tree->right == NULL)
        return expression_null(binder, VDBQ_INTEGER, tree->at);
    if (when == NULL)
        return bind_expression(binder, tree->right);
    condition = bind_when(binder, tree, operand, when->when);
    then = condition ? bind_expression(binder, when->then) : NULL;
    other = then ? bind_whens(binder, tree, operand, when->next) : NULL;
    return other ? expression_choice(binder, condition, then, other, tree->at)
                 : NULL;
}

/* Each WHEN stands in the ELSE of the one before: so many are as deep as
 * expressions may be. */
static bool few_whens(struct binder *binder, const struct ast_expression *tree)
{
    unsigned count = 0;

    for (const struct ast_when *when = tree->whens; when != NULL;
         when = when->next)
        count++;
    if (count <= SQL_DEPTH_MAX)
        return true;
    error_at(binder->error, VDBQ_LIMIT, tree->at,
             "a CASE has %u WHENs; %d is the limit", count, SQL_DEPTH_MAX);
    return false;
}

static struct expression *bind_case(struct binder *binder,
                                    const struct ast_expression *tree)
{
    struct expression *operand = NULL;

    if (!few_whens(binder, tree))
        return NULL;
    if (tree->left != NULL && tree->left->kind != AST_ROW) {
        operand = bind_expression(binder, tree->left);
        if (operand == NULL)
            return NULL;
    }
    return bind_whens(binder, tree, operand, tree->whens);
}

/* ----------------------------------------------------------- subqueries -- */

static struct expression *subquery_expression(struct binder *binder,
                                              const struct ast_expression *tree,
                                              enum apply_kind kind,
                                              struct node *node, size_t asked)
{
    struct expression *e = expression_new(
        binder, EXPRESSION_SUBQUERY,
        kind == APPLY_SCALAR ? node->columns[0].type : VDBQ_INTEGER, tree->at);
    struct vector *values = &binder->scope->asked;

    if (e != NULL)
        e->subquery = arena_alloc(binder->arena, sizeof *e->subquery);
    if (e == NULL || e->subquery == NULL)
        return error_no_memory(binder->error), NULL;
    e->subquery->kind = kind;
    e->subquery->node = node;
    e->subquery->parameters = VECTOR_IN(binder->arena, struct outer_value);
    e->subquery->parameters.count = values->count - asked;
    e->subquery->parameters.items =
        arena_alloc(binder->arena, (values->count - asked + 1) * values->width);
    if (e->subquery->parameters.items == NULL)
        return error_no_memory(binder->error), NULL;
    if (values->count > asked)
        memcpy(e->subquery->parameters.items, vector_at(values, asked),
               (values->count - asked) * values->width);
    values->count = asked;
    expression_place(binder, e, tree);
    if (kind == APPLY_SCALAR) {
        e->precision = node->columns[0].precision;
        e->scale = node->columns[0].scale;
        e->affine = node->columns[0].affine;
    }
    e->nullable = kind != APPLY_EXISTS;
    e->range = range_full(e->type);
    return expression_fits(binder, e) ? e : NULL;
}

/* What a query's rows say: column `number` of the `width` that it is to have.
 * EXISTS takes any width. */
static struct expression *bind_query_value(struct binder *binder,
                                           const struct ast_expression *tree,
                                           enum apply_kind kind,
                                           unsigned number, unsigned width)
{
    size_t asked = binder->scope->asked.count;
    struct collating collating = binder->collating;
    struct node *node = bind_query(binder, tree->query);
    int column = (int)number;

    binder->collating = collating;
    if (node == NULL)
        return NULL;
    if (kind != APPLY_EXISTS && node->column_count != width) {
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 width == 1 ? "a subquery that is a value has one column; "
                              "this one has %u"
                            : "the subquery has %u columns for %u",
                 node->column_count, width);
        return NULL;
    }
    if (width > 1)
        node = node_columns(binder, node, &column, 1);
    return node ? subquery_expression(binder, tree, kind, node, asked) : NULL;
}

static struct expression *bind_subquery(struct binder *binder,
                                        const struct ast_expression *tree,
                                        enum apply_kind kind)
{
    return bind_query_value(binder, tree, kind, 0, 1);
}

struct expression *bind_exists(struct binder *binder,
                               const struct ast_expression *tree,
                               struct node *node, size_t asked)
{
    return subquery_expression(binder, tree, APPLY_EXISTS, node, asked);
}

struct expression *bind_subquery_column(struct binder *binder,
                                        const struct ast_expression *tree,
                                        unsigned number, unsigned width)
{
    return bind_query_value(binder, tree, APPLY_SCALAR, number, width);
}

/* x IN (...): the operand and the query's column become keys. */
static struct expression *in_query(struct binder *binder, struct expression *e,
                                   struct expression *operand)
{
    struct node *node = e->subquery->node;
    struct expression *column = node_column(binder, node, 0, e->at);

    if (column != NULL)
        column->collating = node->columns[0].collating;
    if (column == NULL || !compare_as_keys(binder, &operand, &column, e->at))
        return NULL;
    if (column->kind != EXPRESSION_COLUMN)
        node = node_select(binder, node, NULL, &column, NULL, 1);
    if (node == NULL)
        return NULL;
    e->subquery->node = node;
    e->left = operand;
    return expression_fits(binder, e) ? e : NULL;
}

static struct expression *bind_in_query(struct binder *binder,
                                        const struct ast_expression *tree)
{
    struct expression *operand = bind_expression(binder, tree->left);
    struct expression *e =
        operand ? bind_subquery(binder, tree, APPLY_IN) : NULL;

    return e ? negated(binder, tree, in_query(binder, e, operand)) : NULL;
}

/* ------------------------------------------------------------------ IN -- */

/* Halves of a list are joined by OR, so that the tree stays flat. */
static struct expression *any_of(struct binder *binder,
                                 const struct ast_expression *tree,
                                 struct expression **equals, size_t count)
{
    struct expression *left, *right;

    if (count == 1)
        return equals[0];
    left = any_of(binder, tree, equals, count / 2);
    right = left ? any_of(binder, tree, equals + count / 2, count - count / 2)
                 : NULL;
    return right ? expression_operator(binder, AST_OR, left, right, tree)
                 : NULL;
}

struct expression *bind_item(struct binder *binder, const struct ast_item *item)
{
    struct ast_expression room;
    struct expression *e = bind_expression(binder, ast_item_read(item, &room));

    if (e != NULL)
        e = expression_affine(binder, e, false);
    return e != NULL ? expression_collated(binder, e, (struct collating){ 0 })
                     : NULL;
}

/* The items of a list, bound; NULL: a failure. */
static struct expression **bind_items(struct binder *binder,
                                      const struct ast_expression *tree)
{
    struct expression **items =
        arena_alloc(binder->arena, (tree->item_count + 1) * sizeof(*items));
    size_t count = 0;

    if (items == NULL)
        return error_no_memory(binder->error), NULL;
    for (const struct ast_item *item = tree->items; item != NULL;
         item = item->next) {
        items[count] = bind_item(binder, item);
        if (items[count++] == NULL)
            return NULL;
    }
    return items;
}

/* The operand is compared with one item after the other. */
static struct expression *equals_any(struct binder *binder,
                                     const struct ast_expression *tree,
                                     struct expression *operand,
                                     struct expression **items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        items[i] = expression_operator(binder, AST_EQ, operand, items[i], tree);
        if (items[i] == NULL)
            return NULL;
    }
    return any_of(binder, tree, items, count);
}

/* The operand is looked for among rows. */
static struct expression *is_in_rows(struct binder *binder,
                                     const struct ast_expression *tree,
                                     struct expression *operand,
                                     struct node *node)
{
    struct expression *e;

    if (node->value_rows == 0)
        return negated(binder, tree,
                       compare_with_none(binder, operand, tree->at));
    e = subquery_expression(binder, tree, APPLY_IN, node,
                            binder->scope->asked.count);
    return e ? negated(binder, tree, in_query(binder, e, operand)) : NULL;
}

struct expression *bind_in_rows(struct binder *binder,
                                struct expression *operand, struct node *node,
                                struct position at)
{
    const struct ast_expression place = { .kind = AST_IN, .at = at };

    return is_in_rows(binder, &place, operand, node);
}

/* The operand is looked for in a long array, if that is the list; `*done`: it
 * is. */
static struct expression *in_array(struct binder *binder,
                                   const struct ast_expression *list,
                                   struct expression *operand, bool *done)
{
    const struct parameter *given = array_alone(binder, list);
    struct node *node = NULL;

    *done = given != NULL
            && (values_of_array(binder, operand, given, &node) != VDBQ_OK
                || node != NULL);
    return node != NULL ? is_in_rows(binder, list, operand, node) : NULL;
}

static struct expression *bind_in_list(struct binder *binder,
                                       const struct ast_expression *list)
{
    struct expression *operand = bind_expression(binder, list->left), *made;
    const struct ast_expression *tree;
    struct expression **items;
    struct node *node;
    size_t count;
    bool done;

    if (operand == NULL)
        return NULL;
    made = in_array(binder, list, operand, &done);
    if (done)
        return made;
    tree = array_list(binder, list);
    count = tree != NULL ? tree->item_count : 0;
    if (tree == NULL
        || values_of_items(binder, operand, tree, &node) != VDBQ_OK)
        return NULL;
    if (node != NULL)
        return is_in_rows(binder, tree, operand, node);
    items = bind_items(binder, tree);
    if (items == NULL)
        return NULL;
    if (count == 0) /* nothing is in it, not even NULL */
        return expression_truth(binder, tree->negated, tree->at);
    if (values_of_list(binder, operand, items, count, &node) != VDBQ_OK)
        return NULL;
    return node != NULL
               ? is_in_rows(binder, tree, operand, node)
               : negated(binder, tree,
                         equals_any(binder, tree, operand, items, count));
}

/* ------------------------------------------------------------------ all -- */

static struct expression *bind_cast(struct binder *binder,
                                    const struct ast_expression *tree)
{
    struct expression *operand = bind_expression(binder, tree->left);
    struct expression *e =
        tree->try ? expression_try_cast(binder, operand, tree->type, tree->at)
                  : expression_cast(binder, operand, tree->type, tree->at);

    if (e == NULL)
        return NULL;
    if (e->kind == EXPRESSION_CONSTANT) {
        struct expression *own = arena_alloc(binder->arena, sizeof *own);
        if (own == NULL)
            return error_no_memory(binder->error), NULL;
        *own = *e;
        own->literal = false; /* it has a type of its own now */
        return own;
    }
    if (e->kind == EXPRESSION_CAST)
        expression_place(binder, e, tree);
    return expression_collated(binder, e, operand->collating);
}

static struct expression *bind_collate(struct binder *binder,
                                       const struct ast_expression *tree)
{
    struct expression *e = bind_expression(binder, tree->left);

    binder->collating =
        (struct collating){ tree->collation, COLLATED_EXPLICITLY };
    return e;
}

/* LIKE and its kin: the function that has the same meaning. */
static struct expression *bind_like(struct binder *binder,
                                    const struct ast_expression *tree)
{
    static const struct {
        const char *name;
        bool pattern_first; /* of the function's arguments */
    } functions[] = { [AST_MATCH_LIKE] = { "like", true },
                      [AST_MATCH_ILIKE] = { "ilike", true },
                      [AST_MATCH_GLOB] = { "glob", true },
                      [AST_MATCH_REGEXP] = { "regexp_matches", false },
                      [AST_MATCH_SIMILAR] = { "regexp_full_match", false } };
    const struct ast_expression *parts[3] = { tree->left, tree->right,
                                              tree->escape };
    unsigned first = functions[tree->match].pattern_first;
    struct call call = { .tree = tree,
                         .name = functions[tree->match].name,
                         .count = tree->escape != NULL ? 3 : 2 };

    for (unsigned i = 0; i < call.count; i++) {
        unsigned place = i < 2 ? i ^ first : i;
        call.arguments[place] = bind_expression(binder, parts[i]);
        if (call.arguments[place] == NULL)
            return NULL;
    }
    return negated(binder, tree, bind_scalar(binder, &call));
}

/* A query whose rows nobody reads here: what it asks for is not asked for. */
static struct node *look_at_query(struct binder *binder,
                                  const struct ast_query *query)
{
    struct vector *values = &binder->scope->asked;
    size_t asked = values->count;
    struct node *node = bind_query(binder, query);

    values->count = asked;
    return node;
}

/* It stands for a value where that is a column's, of which others know. */
static struct expression *refuse_default(struct binder *binder,
                                         const struct ast_expression *tree)
{
    error_at(binder->error, VDBQ_SYNTAX, tree->at,
             "DEFAULT is a value of a column: it stands in VALUES of INSERT "
             "and in SET alone");
    return NULL;
}

static struct expression *bind_tree(struct binder *binder,
                                    const struct ast_expression *tree)
{
    if (stack_is_short())
        return stack_refuse(binder->error, tree->at), NULL;
    switch (tree->kind) {
    case AST_INTEGER:
    case AST_DECIMAL:
    case AST_STRING:
    case AST_NULL:
    case AST_TRUE:
    case AST_FALSE:
        return bind_literal(binder, tree);
    case AST_INTERVAL:
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "an INTERVAL is added to a date or taken from it");
        return NULL;
    case AST_COLUMN:
        return bind_column(binder, tree);
    case AST_PARAMETER:
        return bind_parameter(binder, tree);
    case AST_OPERATOR:
        return bind_operator(binder, tree);
    case AST_BETWEEN:
        return bind_between(binder, tree);
    case AST_CAST:
        return bind_cast(binder, tree);
    case AST_COLLATE:
        return bind_collate(binder, tree);
    case AST_CASE:
        return bind_case(binder, tree);
    case AST_IN:
        if (row_value_stands_in(tree))
            return row_value_in(binder, tree);
        return tree->query != NULL ? bind_in_query(binder, tree)
                                   : bind_in_list(binder, tree);
    case AST_LIKE:
        return bind_like(binder, tree);
    case AST_FUNCTION:
        return bind_function(binder, tree);
    case AST_QUANTIFIED:
        return bind_quantified(
            binder, tree,
            &(struct quantified_calls){ bind_expression, look_at_query });
    case AST_SUBQUERY:
        return bind_subquery(binder, tree, APPLY_SCALAR);
    case AST_DEFAULT:
        return refuse_default(binder, tree);
    case AST_SETS: /* of GROUP BY, which takes it apart: key_sets.c */
    case AST_ROW:
        return row_value_refuse(binder, tree), NULL;
    case AST_EXISTS:
        break;
    }
    return negated(binder, tree, bind_subquery(binder, tree, APPLY_EXISTS));
}

/* What is computed has no affinity, not even where nothing is left to be
 * computed: +x, coalesce(x), CASE WHEN true THEN x END; COLLATE computes nothing.
 * Its collation is what a COLLATE in it says; without one only +x and CAST have
 * the column's. */
static struct expression *with_facts(struct binder *binder,
                                     const struct ast_expression *tree,
                                     struct expression *e,
                                     struct collating written)
{
    bool named = tree->kind == AST_COLUMN || tree->kind == AST_SUBQUERY;
    bool cast = tree->kind == AST_CAST;
    bool plus = tree->kind == AST_OPERATOR && tree->operator== AST_PLUS;

    if (e == NULL || named)
        return e;
    if (tree->kind != AST_COLLATE)
        e = expression_affine(binder, e, cast);
    if (e == NULL || ((cast || plus) && written.by == COLLATED_NOT))
        return e;
    return expression_collated(binder, e, written);
}

struct expression *bind_expression(struct binder *binder,
                                   const struct ast_expression *tree)
{
    struct collating before = binder->collating;
    struct expression *e;

    binder->collating = (struct collating){ 0 };
    e = bind_tree(binder, tree);
    e = with_facts(binder, tree, e, binder->collating);
    binder->collating = before;
    if (e != NULL && before.by == COLLATED_NOT
        && e->collating.by == COLLATED_EXPLICITLY)
        binder->collating = e->collating;
    return e;
}

struct expression *bind_condition(struct binder *binder,
                                  const struct ast_expression *tree)
{
    return expression_condition(binder, bind_expression(binder, tree),
                                tree->at);
}
