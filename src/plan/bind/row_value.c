/* SPDX-License-Identifier: MIT */
/*
 * Rows are compared value by value, as SQLite does: equal where all values are,
 * less where the first one that is not equal is less. What is NULL decides only
 * where no value before it has. So all that is left of a row is a condition about
 * its values; of IN with a query, it is an EXISTS of rows that equal it.
 */
#include "plan/bind/row_value.h"

#include <assert.h>

#include "base/os/stack.h"
#include "plan/bind/bind.h"
#include "plan/bind/query.h"
#include "plan/bind/scope.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

enum {
    LIST_LONG = 64 /* rows that cost less in a program than in a join */
};

/* Two rows of `width` values, compared at `tree`. */
struct sides {
    struct binder *binder;
    const struct ast_expression *tree;
    unsigned width;
    struct expression **left, **right;
};

bool row_value_stands_in(const struct ast_expression *tree)
{
    bool in = tree->left != NULL && tree->left->kind == AST_ROW;

    in |= tree->right != NULL && tree->right->kind == AST_ROW;
    for (const struct ast_value *value = tree->arguments;
         tree->kind == AST_BETWEEN && value != NULL; value = value->next)
        in |= value->expression->kind == AST_ROW;
    return in;
}

void row_value_refuse(struct binder *binder, const struct ast_expression *tree)
{
    error_at(binder->error, VDBQ_TYPE, tree->at,
             "a row of %u values stands where one value is wanted",
             tree->item_count);
    error_hint(binder->error, "rows are compared with rows: by =, <>, <, <=, "
                              ">, >=, IS, BETWEEN, IN and CASE");
}

/* --------------------------------------------------------------- values -- */

static struct expression **room_for(struct binder *binder, unsigned width)
{
    struct expression **values =
        arena_alloc(binder->arena, width * sizeof(*values));

    assert(width > 0);
    if (values == NULL)
        error_no_memory(binder->error);
    return values;
}

static bool has_width(struct binder *binder, const struct ast_expression *tree,
                      unsigned width)
{
    if (tree->kind == AST_ROW && tree->item_count == width)
        return true;
    if (tree->kind == AST_ROW)
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "a row of %u values is compared with a row of %u", width,
                 tree->item_count);
    else
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "a row of %u values is compared with a single value", width);
    return false;
}

/* The values of a row, or of the row that a subquery is. NULL: a failure. */
static struct expression **bind_row(struct binder *binder,
                                    const struct ast_expression *tree,
                                    unsigned width)
{
    struct expression **values = room_for(binder, width);
    const struct ast_item *item = tree->items;
    bool query = tree->kind == AST_SUBQUERY;
    bool done = values != NULL && (query || has_width(binder, tree, width));

    for (unsigned i = 0; i < width && done; i++) {
        struct ast_expression room;
        values[i] = query ? bind_subquery_column(binder, tree, i, width)
                          : bind_expression(binder, ast_item_read(item, &room));
        item = query ? NULL : item->next;
        done = values[i] != NULL;
    }
    return done ? values : NULL;
}

/* ------------------------------------------------------------ comparing -- */

static struct expression *join(const struct sides *sides, enum ast_operator op,
                               struct expression *left,
                               struct expression *right)
{
    return left != NULL && right != NULL ? expression_operator(
               sides->binder, op, left, right, sides->tree)
                                         : NULL;
}

static struct expression *compare(const struct sides *sides,
                                  enum ast_operator op, unsigned i)
{
    return join(sides, op, sides->left[i], sides->right[i]);
}

/* All values compared by one operator, joined by another one. */
static struct expression *compare_all(const struct sides *sides,
                                      enum ast_operator op,
                                      enum ast_operator joined)
{
    struct expression *e = compare(sides, op, 0);

    assert(sides->width > 0);
    for (unsigned i = 1; i < sides->width && e != NULL; i++)
        e = join(sides, joined, e, compare(sides, op, i));
    return e;
}

/* a < x OR (a = x AND rest), written so that the first part is one about a alone,
 * which an index or tablets' facts can answer: a <= x AND (a < x OR rest). */
static struct expression *compare_order(const struct sides *sides,
                                        enum ast_operator op, unsigned i)
{
    bool less = op == AST_LT || op == AST_LE;
    struct expression *first, *rest;

    if (stack_is_short())
        return stack_refuse(sides->binder->error, sides->tree->at), NULL;
    if (i + 1 == sides->width)
        return compare(sides, op, i);
    first = compare(sides, less ? AST_LE : AST_GE, i);
    rest = first != NULL ? compare_order(sides, op, i + 1) : NULL;
    rest = join(sides, AST_OR, compare(sides, less ? AST_LT : AST_GT, i), rest);
    return join(sides, AST_AND, first, rest);
}

static struct expression *compare_sides(const struct sides *sides,
                                        enum ast_operator op)
{
    switch (op) {
    case AST_EQ:
    case AST_IS:
        return compare_all(sides, op, AST_AND);
    case AST_NEQ:
    case AST_IS_NOT:
        return compare_all(sides, op, AST_OR);
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE:
        return compare_order(sides, op, 0);
    default:
        break;
    }
    row_value_refuse(sides->binder, sides->tree->left->kind == AST_ROW
                                        ? sides->tree->left
                                        : sides->tree->right);
    return NULL;
}

struct expression *row_value_operator(struct binder *binder,
                                      const struct ast_expression *tree)
{
    struct sides sides = { .binder = binder, .tree = tree };
    const struct ast_expression *row =
        tree->left->kind == AST_ROW ? tree->left : tree->right;

    if (tree->right == NULL)
        return row_value_refuse(binder, row), NULL;
    sides.width = row->item_count;
    sides.left = bind_row(binder, tree->left, sides.width);
    if (sides.left != NULL)
        sides.right = bind_row(binder, tree->right, sides.width);
    return sides.right != NULL ? compare_sides(&sides, tree->operator) : NULL;
}

/* NOT, where it was written. */
static struct expression *negated(struct binder *binder,
                                  const struct ast_expression *tree,
                                  struct expression *e)
{
    return e == NULL || !tree->negated
               ? e
               : expression_operator(binder, AST_NOT, e, NULL, tree);
}

struct expression *row_value_between(struct binder *binder,
                                     const struct ast_expression *tree)
{
    const struct ast_expression *low = tree->arguments->expression;
    const struct ast_expression *high = tree->arguments->next->expression;
    struct sides sides = { .binder = binder, .tree = tree };
    struct expression *above, *below = NULL;

    if (tree->left->kind != AST_ROW)
        return row_value_refuse(binder, low->kind == AST_ROW ? low : high),
               NULL;
    sides.width = tree->left->item_count;
    sides.left = bind_row(binder, tree->left, sides.width);
    if (sides.left == NULL)
        return NULL;
    sides.right = bind_row(binder, low, sides.width);
    above = sides.right != NULL ? compare_sides(&sides, AST_GE) : NULL;
    if (above != NULL)
        sides.right = bind_row(binder, high, sides.width);
    if (above != NULL && sides.right != NULL)
        below = compare_sides(&sides, AST_LE);
    return negated(binder, tree, join(&sides, AST_AND, above, below));
}

/* -------------------------------------------------------------- queries -- */

/* Which rows of a query are meant. */
enum which {
    ROWS_EQUAL,  /* those that equal the row                  */
    ROWS_UNKNOWN /* those of which that is NULL               */
};

/* What a value of the query around is for the rows of a query in it. */
static struct expression *ask(struct binder *binder, struct expression *value)
{
    return value->kind == EXPRESSION_CONSTANT
               ? value
               : scope_ask(binder, binder->scope, value);
}

/* The row's values, and the columns of the query's rows, at one place. */
static bool meet(const struct sides *sides, struct node *node,
                 struct sides *inside)
{
    struct binder *binder = sides->binder;

    *inside = *sides;
    inside->left = room_for(binder, sides->width);
    inside->right = room_for(binder, sides->width);
    if (inside->left == NULL || inside->right == NULL)
        return false;
    for (unsigned i = 0; i < sides->width; i++) {
        struct expression *column =
            node_column(binder, node, i, sides->tree->at);
        inside->left[i] = ask(binder, sides->left[i]);
        inside->right[i] = column;
        if (column == NULL || inside->left[i] == NULL)
            return false;
        column->collating = node->columns[i].collating;
    }
    return true;
}

/* Whether a comparison of the row with the query's rows can be NULL. */
static bool may_be_unknown(const struct sides *sides, const struct node *node)
{
    bool nullable = false;

    for (unsigned i = 0; i < sides->width; i++)
        nullable |= sides->left[i]->nullable || node->columns[i].nullable;
    return nullable;
}

/* EXISTS of such rows of the query; `*nullable`: some can be ROWS_UNKNOWN. */
static struct expression *exist(const struct sides *sides,
                                struct ast_query *query, enum which which,
                                bool *nullable)
{
    struct binder *binder = sides->binder;
    size_t asked = binder->scope->asked.count;
    struct node *node = bind_query(binder, query);
    struct expression *e;
    struct sides inside;

    if (node == NULL)
        return NULL;
    if (node->column_count != sides->width) {
        error_at(binder->error, VDBQ_TYPE, sides->tree->at,
                 "the subquery has %u columns for %u", node->column_count,
                 sides->width);
        return NULL;
    }
    *nullable = may_be_unknown(sides, node);
    e = meet(sides, node, &inside) ? compare_all(&inside, AST_EQ, AST_AND)
                                   : NULL;
    if (e != NULL && which == ROWS_UNKNOWN)
        e = join(sides, AST_IS, e,
                 expression_null(binder, VDBQ_INTEGER, sides->tree->at));
    node = e != NULL ? node_filter(binder, node, e) : NULL;
    return node != NULL ? bind_exists(binder, sides->tree, node, asked) : NULL;
}

/* NULL where rows may equal the row and none does; else what is written, where
 * `equal`, an EXISTS, is not. The forms are those of which conditions keep no
 * more than EXISTS and NOT EXISTS (split.h). */
static struct expression *or_null(const struct sides *sides,
                                  struct expression *equal,
                                  struct expression *unknown)
{
    struct binder *binder = sides->binder;
    const struct ast_expression *tree = sides->tree;
    struct expression *null = expression_null(binder, VDBQ_BOOLEAN, tree->at);
    struct expression *yes = expression_truth(binder, true, tree->at);
    struct expression *no = expression_truth(binder, false, tree->at), *e;

    if (null == NULL || yes == NULL || no == NULL)
        return NULL;
    if (!tree->negated) {
        e = expression_choice(binder, unknown, null, no, tree->at);
        return e != NULL ? expression_choice(binder, equal, yes, e, tree->at)
                         : NULL;
    }
    e = expression_operator(binder, AST_NOT, unknown, NULL, tree);
    e = e != NULL ? expression_choice(binder, e, yes, null, tree->at) : NULL;
    equal = expression_operator(binder, AST_NOT, equal, NULL, tree);
    return join(sides, AST_AND, equal, e);
}

static struct expression *in_query(const struct sides *sides,
                                   struct ast_query *query)
{
    bool nullable;
    struct expression *equal = exist(sides, query, ROWS_EQUAL, &nullable);
    struct expression *unknown;

    if (equal == NULL || !nullable)
        return negated(sides->binder, sides->tree, equal);
    unknown = exist(sides, query, ROWS_UNKNOWN, &nullable);
    return unknown != NULL ? or_null(sides, equal, unknown) : NULL;
}

/* ---------------------------------------------------------------- lists -- */

/* The rows of a list, as those of VALUES. False: something else is in it. */
static bool read_rows(const struct sides *sides, struct ast_row **first)
{
    struct binder *binder = sides->binder;
    struct ast_row **last = first;

    *first = NULL;
    for (const struct ast_item *item = sides->tree->items; item != NULL;
         item = item->next) {
        struct ast_expression room;
        const struct ast_expression *row = ast_item_read(item, &room);
        if (!has_width(binder, row, sides->width))
            return false;
        *last = arena_alloc(binder->arena, sizeof **last);
        if (*last == NULL)
            return error_no_memory(binder->error), false;
        **last = (struct ast_row){ .items = row->items,
                                   .item_count = row->item_count,
                                   .at = row->at };
        last = &(*last)->next;
    }
    return true;
}

/* Whether the row equals one row of a list. */
static struct expression *equals_row(const struct sides *sides,
                                     const struct ast_row *row)
{
    const struct ast_item *item = row->items;
    struct sides inside = *sides;

    inside.right = room_for(sides->binder, sides->width);
    for (unsigned i = 0; inside.right != NULL && i < sides->width;
         i++, item = item->next) {
        inside.right[i] = bind_item(sides->binder, item);
        if (inside.right[i] == NULL)
            return NULL;
    }
    return inside.right != NULL ? compare_all(&inside, AST_EQ, AST_AND) : NULL;
}

/* Halves of the rows are joined by OR, so that the tree stays flat. */
static struct expression *equals_any(const struct sides *sides,
                                     const struct ast_row **next, size_t count)
{
    struct expression *e;

    assert(count > 0);
    if (count == 1) {
        e = equals_row(sides, *next);
        *next = (*next)->next;
        return e;
    }
    e = equals_any(sides, next, count / 2);
    return e != NULL ? join(sides, AST_OR, e,
                            equals_any(sides, next, count - count / 2))
                     : NULL;
}

/* Whether a query is VALUES and nothing else, with rows of the row's width. */
static bool is_rows(const struct sides *sides, const struct ast_query *query)
{
    return query->kind == AST_QUERY_VALUES && query->with == NULL
           && query->order == NULL && query->limit == NULL
           && query->offset == NULL && query->rows->item_count == sides->width;
}

static struct expression *in_rows(const struct sides *sides,
                                  struct ast_query *query)
{
    const struct ast_row *rows = query->rows;

    if (query->row_count > LIST_LONG)
        return in_query(sides, query);
    return negated(sides->binder, sides->tree,
                   equals_any(sides, &rows, query->row_count));
}

/* VALUES is a query of its own: no aggregate of the one around it stands there. */
static struct expression *in_values(const struct sides *sides,
                                    struct ast_query *query)
{
    struct scope *scope = sides->binder->scope;
    bool aggregates = scope->aggregates, windows = scope->windows;
    struct expression *e;

    scope->aggregates = scope->windows = false;
    e = in_rows(sides, query);
    scope->aggregates = aggregates;
    scope->windows = windows;
    return e;
}

struct expression *row_value_in(struct binder *binder,
                                const struct ast_expression *tree)
{
    struct sides sides = { .binder = binder,
                           .tree = tree,
                           .width = tree->left->item_count };
    struct ast_query values = { .kind = AST_QUERY_VALUES,
                                .depth = tree->depth,
                                .row_count = tree->item_count,
                                .at = tree->at };

    sides.left = bind_row(binder, tree->left, sides.width);
    if (sides.left == NULL)
        return NULL;
    if (tree->query != NULL)
        return is_rows(&sides, tree->query) ? in_values(&sides, tree->query)
                                            : in_query(&sides, tree->query);
    if (tree->item_count == 0) /* nothing is in it, not even NULL */
        return expression_truth(binder, tree->negated, tree->at);
    return read_rows(&sides, &values.rows) ? in_rows(&sides, &values) : NULL;
}
