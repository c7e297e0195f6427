/* SPDX-License-Identifier: MIT */
/*
 * A query: a SELECT, a VALUES, or queries joined by set operators, with WITH in
 * front and ORDER BY and LIMIT behind.
 */
#include "plan/bind/query.h"

#include <stdio.h>
#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/bind/bind.h"
#include "plan/bind/clause.h"
#include "plan/bind/scope.h"
#include "plan/operator/sets.h"
#include "plan/bind/values.h"
#include "plan/operator/collate.h"
#include "plan/operator/collate_rows.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"

enum { QUERIES_DEEP_MAX = 400 };

static const struct query_calls calls;

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

/* -------------------------------------------------------------- VALUES -- */

/* Beside constants and queries random() may stand there. */
static struct expression *bind_value(struct binder *binder,
                                     const struct ast_expression *tree)
{
    struct scope *scope = binder->scope;
    bool random = scope != NULL && scope->random;
    struct expression *e;

    if (scope != NULL)
        scope->random = true;
    e = bind_expression(binder, tree);
    if (scope != NULL)
        scope->random = random;
    return e;
}

/* `defaults`: what DEFAULT is there; NULL: nothing. */
static struct node *bind_row(struct binder *binder, const struct ast_row *row,
                             const struct row_defaults *defaults)
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
        values[count] = item->kind == AST_DEFAULT && defaults != NULL
                                && count < defaults->count
                            ? defaults->values[count]
                            : bind_value(binder, ast_item_read(item, &room));
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
    if (sets_unite(binder, parts, count, at) != VDBQ_OK)
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
        struct node *part = bind_row(
            binder, VECTOR_ITEMS(&samples, const struct ast_row *)[i], NULL);
        if (part == NULL || !vector_append(&parts, &part, 1))
            return part ? error_no_memory(binder->error), NULL : NULL;
    }
    if (status == VDBQ_OK && parts.count > 1)
        status =
            sets_unite(binder, parts.items, (unsigned)parts.count, query->at);
    return status == VDBQ_OK ? values_of_literals(
               binder, query, VECTOR_ITEMS(&parts, struct node *)[0]->columns)
                             : NULL;
}

static struct node *bind_rows(struct binder *binder,
                              const struct ast_query *query)
{
    struct node **parts =
        arena_alloc(binder->arena, (query->row_count + 1) * sizeof(*parts));
    const struct row_defaults *defaults = binder->defaults;
    unsigned count = 0;
    bool done = parts != NULL;

    if (defaults != NULL && defaults->rows != query)
        defaults = NULL;
    if (!done)
        return error_no_memory(binder->error), NULL;
    for (const struct ast_row *row = query->rows; row != NULL && done;
         row = row->next) {
        parts[count] = bind_row(binder, row, defaults);
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

static const struct ast_query **
bind_chain(struct binder *binder, const struct ast_query *query, size_t *length)
{
    const struct ast_query *first = query;
    const struct ast_query **chain;

    *length = 0;
    do {
        first = first->left;
        (*length)++;
    } while (first->kind >= AST_QUERY_UNION && first->order == NULL
             && first->limit == NULL && first->offset == NULL
             && first->with == NULL);
    chain = arena_alloc(binder->arena, *length * sizeof(*chain));
    if (chain == NULL)
        return error_no_memory(binder->error), NULL;
    for (size_t i = *length; i > 0; i--, query = query->left)
        chain[i - 1] = query;
    return chain;
}

/* The queries of a chain, one more than operators. */
static struct node **bind_parts(struct binder *binder,
                                const struct ast_query *const *chain,
                                size_t length)
{
    struct node **parts =
        arena_alloc(binder->arena, (length + 1) * sizeof(*parts));

    if (parts == NULL)
        return error_no_memory(binder->error), NULL;
    for (size_t i = 0; i <= length; i++) {
        parts[i] =
            bind_query(binder, i == 0 ? chain[0]->left : chain[i - 1]->right);
        if (parts[i] == NULL)
            return NULL;
    }
    return parts;
}

/* The collations of a node's columns; NULL: no memory. */
static struct collating *collations_of(struct binder *binder,
                                       const struct node *node)
{
    struct collating *collations = arena_alloc(
        binder->arena, (node->column_count + 1) * sizeof *collations);

    if (collations == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++)
        collations[i] = node->columns[i].collating;
    return collations;
}

/* UNION and its kin. What stands around them sees the collations of the first
 * query alone, as in SQLite, but for ORDER BY: `*first`, of so many columns. */
static struct node *bind_sets(struct binder *binder,
                              const struct ast_query *query,
                              struct collating **first, unsigned *count)
{
    size_t length;
    const struct ast_query **chain = bind_chain(binder, query, &length);
    struct node **parts = chain ? bind_parts(binder, chain, length) : NULL;

    *first = parts ? collations_of(binder, parts[0]) : NULL;
    *count = parts ? parts[0]->column_count : 0;
    return *first ? sets_join(binder, chain, length, parts) : NULL;
}

/* ORDER BY of what is no SELECT: by number, name, or computed of these. */
static struct node *order_rows(struct binder *binder,
                               const struct ast_query *query, struct node *node)
{
    struct vector keys = VECTOR_IN(binder->arena, struct collated_key);
    unsigned count = node->column_count;
    const struct ast_order *order;
    bool done = true;
    struct scope scope;

    scope_enter(binder, &scope);
    scope.node = node;
    done = order_terms(binder, query, count, &order)
           && scope_add_node(binder, "", node, 0) == VDBQ_OK;
    for (; order != NULL && done; order = order->next) {
        const struct ast_expression *tree = order->expression;
        const struct ast_expression *named = named_before_collate(tree);
        struct order_term term;
        struct collated_key key;
        struct expression *e;
        if (named->kind == AST_INTEGER && named->integer >= 1
            && named->integer <= (int64_t)count)
            e = collated_result(binder,
                                node_column(binder, node,
                                            (unsigned)named->integer - 1,
                                            tree->at),
                                tree);
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
        key = (struct collated_key){ { e->column.number, term.descending,
                                       term.nulls_last },
                                     collation_of(e) };
        done = vector_append(&keys, &key, 1);
    }
    scope_leave(binder, &scope);
    node = done && node ? collate_sort(binder, node, &keys, count) : NULL;
    if (node == NULL && binder->error->status == VDBQ_OK)
        error_no_memory(binder->error);
    return node;
}

/* ------------------------------------------------------------------ all -- */

static struct node *bind_body(struct binder *binder,
                              const struct ast_query *query)
{
    struct collating *first = NULL;
    unsigned count = 0;
    struct node *node;

    if (query->kind == AST_QUERY_SELECT)
        return bind_select(binder, query);
    if (query->kind == AST_QUERY_VALUES) {
        node = bind_values(binder, query);
    } else {
        node = bind_sets(binder, query, &first, &count);
    }
    if (node != NULL && query->order != NULL)
        node = order_rows(binder, query, node);
    for (unsigned i = 0; node && first && i < count; i++)
        node->columns[i].collating = first[i];
    return node;
}

enum vdbq_status bind_with_names(struct binder *binder,
                                 const struct ast_with *with)
{
    for (; with != NULL; with = with->next) {
        struct with_name *name = arena_alloc(binder->arena, sizeof *name);
        if (name == NULL)
            return error_no_memory(binder->error);
        *name = (struct with_name){ .with = with,
                                    .outer = binder->with,
                                    .scope = binder->scope,
                                    .calls = &calls };
        binder->with = name;
    }
    return VDBQ_OK;
}

struct node *bind_query(struct binder *binder, const struct ast_query *query)
{
    struct with_name *before = binder->with;
    struct node *node = NULL;

    if (stack_is_short())
        return stack_refuse(binder->error, query->at), NULL;
    if (++binder->deep > QUERIES_DEEP_MAX) {
        error_at(binder->error, VDBQ_LIMIT, query->at,
                 "queries are nested more than %d deep", QUERIES_DEEP_MAX);
        return NULL;
    }
    if (bind_with_names(binder, query->with) == VDBQ_OK)
        node = bind_body(binder, query);
    if (node != NULL && bind_limit(binder, query, &node) != VDBQ_OK)
        node = NULL;
    binder->with = before;
    binder->deep--;
    return node;
}

static const struct query_calls calls = {
    .query = bind_query,
    .names = bind_with_names,
    .body = bind_body,
    .limit = bind_limit,
    .chain = bind_chain,
};
