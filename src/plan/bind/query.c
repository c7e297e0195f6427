/* SPDX-License-Identifier: MIT */
/*
 * A query: a SELECT, a VALUES, or two queries joined by a set operator, with
 * WITH in front and ORDER BY and LIMIT behind.
 */
#include "plan/bind/query.h"

#include <stdio.h>
#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/bind/bind.h"
#include "plan/bind/clause.h"
#include "plan/bind/scope.h"
#include "plan/bind/values.h"
#include "plan/operator/compare.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"

enum { QUERIES_DEEP_MAX = 400 };

/* -------------------------------------------------------- order, limit -- */

/* A number of rows: an integer, or NULL where nothing says one. */
static struct expression *bind_number(struct binder *binder,
                                      const struct ast_expression *tree)
{
    bool constants = binder->constants;
    struct expression *e;

    if (tree == NULL)
        return expression_null(binder, VDBQ_BIGINT, (struct position){ 0 });
    binder->constants = true;
    e = bind_expression(binder, tree);
    binder->constants = constants;
    if (e == NULL || is_null_constant(e) || is_integer(e->type))
        return e;
    error_at(binder->error, VDBQ_TYPE, tree->at,
             "a number of rows is a whole number");
    error_hint(binder->error, "CAST(... AS BIGINT) makes a whole number of "
                              "other numbers and of texts");
    return NULL;
}

/* Both numbers, LIMIT first. They see no columns, as in SQLite: neither those
 * of the query itself nor those of queries around it. */
static bool bind_numbers(struct binder *binder, const struct ast_query *query,
                         struct expression *numbers[2])
{
    struct scope scope;

    scope_enter(binder, &scope);
    scope.closed = true;
    numbers[0] = bind_number(binder, query->limit);
    numbers[1] = numbers[0] ? bind_number(binder, query->offset) : NULL;
    scope_leave(binder, &scope);
    return numbers[1] != NULL;
}

/* A number that is known; below 0 it says nothing, as in SQLite. */
static uint64_t rows_said(const struct expression *e, uint64_t none)
{
    return e->constant.null || e->constant.integer < 0
               ? none
               : (uint64_t)e->constant.integer;
}

/* One row of both numbers, for when they are not known yet. */
static struct node *numbers_node(struct binder *binder,
                                 struct expression *numbers[2])
{
    struct node *once = node_once(binder);

    for (int i = 0; i < 2 && once != NULL; i++) {
        numbers[i] = expression_cast_plain(binder, numbers[i], VDBQ_BIGINT,
                                           numbers[i]->at);
        if (numbers[i] == NULL)
            return NULL;
    }
    return once ? node_select(binder, once, NULL, numbers, NULL, 2) : NULL;
}

static enum vdbq_status bind_limit(struct binder *binder,
                                   const struct ast_query *query,
                                   struct node **node)
{
    struct expression *numbers[2];
    struct node *counts;

    if (query->limit == NULL && query->offset == NULL)
        return VDBQ_OK;
    if (!bind_numbers(binder, query, numbers))
        return binder->error->status;
    if (numbers[0]->kind == EXPRESSION_CONSTANT
        && numbers[1]->kind == EXPRESSION_CONSTANT) {
        *node = node_limit(binder, *node, rows_said(numbers[1], 0),
                           rows_said(numbers[0], UINT64_MAX));
    } else {
        counts = numbers_node(binder, numbers);
        *node = counts ? node_limit_by(binder, *node, counts) : NULL;
    }
    return *node ? VDBQ_OK : binder->error->status;
}

/* ------------------------------------------------------------ one type -- */

/* Expressions over columns of a node, brought to the types given. */
static struct node *with_types(struct binder *binder, struct node *node,
                               const struct node_column *types)
{
    unsigned count = node->column_count;
    struct expression **results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*results));
    bool same = true;

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++) {
        struct ast_type type = { .type = (enum vdbq_type)types[i].type,
                                 .precision = types[i].precision,
                                 .scale = types[i].scale };
        struct position at = { 0 };
        results[i] = node_column(binder, node, i, at);
        if (results[i] == NULL)
            return NULL;
        if (node->kind == NODE_SELECT && is_null_constant(node->results[i])) {
            results[i] = expression_null(binder, types[i].type, at);
            same &= node->columns[i].type == types[i].type;
        }
        results[i] = expression_cast(binder, results[i], type, at);
        if (results[i] != NULL)
            results[i] =
                expression_affine(binder, results[i], node->columns[i].affine);
        if (results[i] == NULL)
            return NULL;
        same &= results[i]->kind == EXPRESSION_COLUMN;
    }
    if (same)
        return node;
    node = node_select(binder, node, NULL, results, NULL, count);
    if (node != NULL && node->left->kind == NODE_SELECT
        && node->left->left->kind == NODE_ONCE) /* constants stay such */
        node = node_merge(binder, node);
    for (unsigned i = 0; i < count && node != NULL; i++)
        node->columns[i].name = types[i].name;
    return node;
}

/* A column of a node as it meets another: a NULL of no type stays one. */
static struct expression *column_to_coerce(struct binder *binder,
                                           const struct node *node, unsigned i)
{
    struct position at = { 0 };

    if (node->kind == NODE_SELECT && is_null_constant(node->results[i]))
        return expression_null(binder, node->columns[i].type, at);
    return node_column(binder, node, i, at);
}

/* The types that the columns of several queries have in common. */
static enum vdbq_status common_types(struct binder *binder,
                                     struct node *const *parts, unsigned count,
                                     struct position at,
                                     struct node_column *types)
{
    for (unsigned c = 0; c < parts[0]->column_count; c++) {
        struct expression *sum = column_to_coerce(binder, parts[0], c);
        unsigned precision = sum ? coerce_precision(sum, sum) : 0, digits;
        for (unsigned i = 1; i < count && sum != NULL; i++) {
            struct expression *next = column_to_coerce(binder, parts[i], c);
            if (next == NULL
                || expression_coerce(binder, &sum, &next, at) == VDBQ_TYPE_NONE)
                return binder->error->status;
            if (is_null_constant(sum)) /* has the type of the last alone */
                sum = next;
            digits = coerce_precision(sum, next);
            precision = digits > precision ? digits : precision;
        }
        if (sum == NULL)
            return binder->error->status;
        types[c] = parts[0]->columns[c];
        types[c].type = sum->type;
        types[c].precision = sum->type == VDBQ_DECIMAL ? precision : 0;
        types[c].scale = sum->scale;
    }
    return VDBQ_OK;
}

static enum vdbq_status check_counts(struct binder *binder,
                                     struct node *const *parts, unsigned count,
                                     struct position at)
{
    for (unsigned i = 1; i < count; i++)
        if (parts[i]->column_count != parts[0]->column_count)
            return error_at(binder->error, VDBQ_TYPE, at,
                            "one side has %u columns, the other %u",
                            parts[0]->column_count, parts[i]->column_count);
    return VDBQ_OK;
}

/* Gives all parts the same types. */
static enum vdbq_status unite(struct binder *binder, struct node **parts,
                              unsigned count, struct position at)
{
    struct node_column *types = arena_alloc(
        binder->arena, (parts[0]->column_count + 1) * sizeof *types);
    enum vdbq_status status = check_counts(binder, parts, count, at);

    if (types == NULL)
        return error_no_memory(binder->error);
    if (status == VDBQ_OK)
        status = common_types(binder, parts, count, at, types);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        parts[i] = with_types(binder, parts[i], types);
        if (parts[i] == NULL)
            status = binder->error->status;
    }
    return status;
}

/* -------------------------------------------------------------- VALUES -- */

static struct node *bind_row(struct binder *binder, const struct ast_row *row)
{
    struct expression **values =
        arena_alloc(binder->arena, (row->item_count + 1) * sizeof(*values));
    const char **names =
        arena_alloc(binder->arena, (row->item_count + 1) * sizeof(*names));
    struct node *once = node_once(binder);
    unsigned count = 0;

    if (values == NULL || names == NULL || once == NULL)
        return error_no_memory(binder->error), NULL;
    for (const struct ast_item *item = row->items; item != NULL;
         item = item->next, count++) {
        struct ast_expression room;
        char name[32];
        int length = snprintf(name, sizeof name, "column%u", count + 1);
        values[count] = bind_expression(binder, ast_item_read(item, &room));
        names[count] = arena_copy(binder->arena, name, (size_t)length);
        if (values[count] == NULL)
            return NULL;
        if (names[count] == NULL)
            return error_no_memory(binder->error), NULL;
    }
    return node_select(binder, once, NULL, values, names, count);
}

static struct node *concat(struct binder *binder, struct node **parts,
                           unsigned count, struct position at)
{
    if (count == 1)
        return parts[0];
    if (unite(binder, parts, count, at) != VDBQ_OK)
        return NULL;
    return values_are_constant(parts, count)
               ? values_node(binder, parts, count)
               : node_concat(binder, parts, count);
}

/* Many rows of literals: a few of them tell the types of all. */
static struct node *bind_literals(struct binder *binder,
                                  const struct ast_query *query)
{
    struct vector samples, parts = VECTOR_IN(binder->arena, struct node *);
    enum vdbq_status status = values_samples(binder, query, &samples);

    for (size_t i = 0; i < samples.count && status == VDBQ_OK; i++) {
        struct node *part =
            bind_row(binder, VECTOR_ITEMS(&samples, const struct ast_row *)[i]);
        if (part == NULL || !vector_append(&parts, &part, 1))
            return part ? error_no_memory(binder->error), NULL : NULL;
    }
    if (status == VDBQ_OK && parts.count > 1)
        status = unite(binder, parts.items, (unsigned)parts.count, query->at);
    return status == VDBQ_OK ? values_of_literals(
               binder, query, VECTOR_ITEMS(&parts, struct node *)[0]->columns)
                             : NULL;
}

static struct node *bind_rows(struct binder *binder,
                              const struct ast_query *query)
{
    struct node **parts =
        arena_alloc(binder->arena, (query->row_count + 1) * sizeof(*parts));
    unsigned count = 0;
    bool done = parts != NULL;

    if (!done)
        return error_no_memory(binder->error), NULL;
    for (const struct ast_row *row = query->rows; row != NULL && done;
         row = row->next) {
        parts[count] = bind_row(binder, row);
        done = parts[count++] != NULL;
    }
    return done ? concat(binder, parts, count, query->at) : NULL;
}

static struct node *bind_values(struct binder *binder,
                                const struct ast_query *query)
{
    struct node *node;
    struct scope scope;

    scope_enter(binder, &scope);
    scope.node = node_once(binder);
    node = scope.node == NULL           ? NULL
           : values_are_literals(query) ? bind_literals(binder, query)
                                        : bind_rows(binder, query);
    scope_leave(binder, &scope);
    return node;
}

/* ------------------------------------------------------- set operators -- */

/* Rows of the left side that are on the right one, too, or are not; once. */
static struct node *filter_side(struct binder *binder, struct node **sides,
                                enum join_kind kind)
{
    struct node *left = node_distinct(binder, sides[0]);
    struct node *join = left ? node_join(binder, kind, left, sides[1]) : NULL;
    bool done = join != NULL;

    if (!done)
        return NULL;
    join->join.nulls_match = true;
    for (int i = 0; i < (int)left->column_count && done; i++)
        done = vector_append(&join->join.left_keys, &i, 1)
               && vector_append(&join->join.right_keys, &i, 1);
    return done ? join : (error_no_memory(binder->error), NULL);
}

static struct node *set_operation(struct binder *binder,
                                  const struct ast_query *query,
                                  struct node **sides)
{
    struct node *node;

    if (unite(binder, sides, 2, query->at) != VDBQ_OK)
        return NULL;
    if (query->kind == AST_QUERY_INTERSECT)
        return filter_side(binder, sides, JOIN_SEMI);
    if (query->kind == AST_QUERY_EXCEPT)
        return filter_side(binder, sides, JOIN_ANTI);
    node = node_concat(binder, sides, 2);
    return node && query->kind == AST_QUERY_UNION ? node_distinct(binder, node)
                                                  : node;
}

/* A long chain of operators hangs on the left side. */
static struct node *bind_sets(struct binder *binder,
                              const struct ast_query *query)
{
    const struct ast_query *first = query;
    size_t depth = 0;
    const struct ast_query **chain;
    struct node *sides[2];

    while (first->kind >= AST_QUERY_UNION && first->order == NULL
           && first->limit == NULL && first->with == NULL) {
        first = first->left;
        depth++;
    }
    chain = arena_alloc(binder->arena, depth * sizeof(*chain));
    if (chain == NULL)
        return error_no_memory(binder->error), NULL;
    for (size_t i = depth; i > 0; i--, query = query->left)
        chain[i - 1] = query;
    sides[0] = bind_query(binder, first);
    for (size_t i = 0; i < depth && sides[0] != NULL; i++) {
        sides[1] = bind_query(binder, chain[i]->right);
        sides[0] = sides[1] ? set_operation(binder, chain[i], sides) : NULL;
    }
    return sides[0];
}

/* ORDER BY of what is no SELECT: by number, name, or computed of these. */
static struct node *order_rows(struct binder *binder,
                               const struct ast_query *query, struct node *node)
{
    struct vector keys = VECTOR_IN(binder->arena, struct step_key);
    unsigned count = node->column_count;
    bool done = true;
    struct scope scope;

    scope_enter(binder, &scope);
    scope.node = node;
    done = scope_add_node(binder, "", node, 0) == VDBQ_OK;
    for (const struct ast_order *order = query->order; order != NULL && done;
         order = order->next) {
        const struct ast_expression *tree = order->expression;
        struct order_term term;
        struct step_key key;
        struct expression *e;
        if (tree->kind == AST_INTEGER && tree->integer >= 1
            && tree->integer <= (int64_t)count)
            e = node_column(binder, node, (unsigned)tree->integer - 1,
                            tree->at);
        else
            e = bind_expression(binder, tree);
        if (e != NULL && e->kind != EXPRESSION_COLUMN) {
            struct expression *added = e;
            node = node_extend(binder, node, &added, 1);
            e = node ? node_column(binder, node, node->column_count - 1,
                                   tree->at)
                     : NULL;
        }
        done = e != NULL;
        if (!done)
            break;
        term = order_term(order, e);
        key = (struct step_key){ e->column.number, term.descending,
                                 term.nulls_last };
        done = vector_append(&keys, &key, 1);
    }
    scope_leave(binder, &scope);
    node = done && node ? node_sort(binder, node, &keys, count) : NULL;
    if (node == NULL && binder->error->status == VDBQ_OK)
        error_no_memory(binder->error);
    return node;
}

/* ------------------------------------------------------------------ all -- */

static struct node *bind_body(struct binder *binder,
                              const struct ast_query *query)
{
    struct node *node;

    if (query->kind == AST_QUERY_SELECT)
        return bind_select(binder, query);
    if (query->kind == AST_QUERY_VALUES) {
        node = bind_values(binder, query);
    } else {
        struct ast_query plain = *query;
        plain.order = NULL;
        plain.limit = plain.offset = NULL;
        plain.with = NULL;
        node = bind_sets(binder, &plain);
    }
    if (node != NULL && query->order != NULL)
        node = order_rows(binder, query, node);
    return node;
}

struct node *bind_query(struct binder *binder, const struct ast_query *query)
{
    struct with_name *before = binder->with;
    struct node *node = NULL;
    bool there = true;

    if (stack_is_short())
        return stack_refuse(binder->error, query->at), NULL;
    if (++binder->deep > QUERIES_DEEP_MAX) {
        error_at(binder->error, VDBQ_LIMIT, query->at,
                 "queries are nested more than %d deep", QUERIES_DEEP_MAX);
        return NULL;
    }
    for (const struct ast_with *with = query->with; with != NULL && there;
         with = with->next) {
        struct with_name *name = arena_alloc(binder->arena, sizeof *name);
        there = name != NULL;
        if (there) {
            *name = (struct with_name){ with, binder->with, binder->scope };
            binder->with = name;
        }
    }
    if (!there)
        error_no_memory(binder->error);
    else
        node = bind_body(binder, query);
    if (node != NULL && bind_limit(binder, query, &node) != VDBQ_OK)
        node = NULL;
    binder->with = before;
    binder->deep--;
    return node;
}
