/* SPDX-License-Identifier: MIT */
/*
 * Queries that are bound become one, and rows of VALUES: sets.h.
 */
#include "plan/operator/sets.h"

#include "base/text.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/collate_rows.h"
#include "plan/operator/compare.h"
#include "plan/tree/binder.h"

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
    for (unsigned i = 0; i < count && node != NULL; i++) {
        node->columns[i].name = types[i].name;
        node->columns[i].collating = types[i].collating;
    }
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
        types[c] = parts[0]->columns[c];
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

/* A column has the collation that the first part says which says one. */
static void share_collations(struct node *const *parts, size_t count)
{
    for (unsigned c = 0; c < parts[0]->column_count; c++) {
        struct collating found = { 0 };
        for (size_t i = 0; i < count; i++)
            if (c < parts[i]->column_count && found.by == COLLATED_NOT)
                found = parts[i]->columns[c].collating;
        for (size_t i = 0; i < count; i++)
            if (c < parts[i]->column_count)
                parts[i]->columns[c].collating = found;
    }
}

enum vdbq_status sets_unite(struct binder *binder, struct node **parts,
                            unsigned count, struct position at)
{
    struct node_column *types = arena_alloc(
        binder->arena, (parts[0]->column_count + 1) * sizeof *types);
    enum vdbq_status status = check_counts(binder, parts, count, at);

    if (types == NULL)
        return error_no_memory(binder->error);
    if (status == VDBQ_OK)
        share_collations(parts, count);
    if (status == VDBQ_OK)
        status = common_types(binder, parts, count, at, types);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        parts[i] = with_types(binder, parts[i], types);
        if (parts[i] == NULL)
            status = binder->error->status;
    }
    return status;
}

/* -------------------------------------------------------------- BY NAME -- */

/* The number of a column of that name; -1: there is none. */
static int column_named(const struct node *node, const char *name)
{
    for (unsigned i = 0; i < node->column_count; i++)
        if (name_equal(node->columns[i].name, name))
            return (int)i;
    return -1;
}

static enum vdbq_status check_names(struct binder *binder,
                                    const struct node *node, struct position at)
{
    for (unsigned i = 0; i < node->column_count; i++)
        if (column_named(node, node->columns[i].name) != (int)i)
            return error_at(binder->error, VDBQ_SYNTAX, at,
                            "UNION BY NAME: one side has two columns %s",
                            node->columns[i].name);
    return VDBQ_OK;
}

/* A side with the columns of these names, in this order: NULLs where it has none. */
static struct node *side_by_name(struct binder *binder, struct node *side,
                                 const char *const *names, unsigned count)
{
    struct expression **results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*results));
    struct position at = { 0 };

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++) {
        int number = column_named(side, names[i]);
        results[i] = number < 0
                         ? expression_null(binder, VDBQ_INTEGER, at)
                         : column_to_coerce(binder, side, (unsigned)number);
        if (results[i] == NULL)
            return NULL;
        if (number >= 0)
            results[i]->collating = side->columns[number].collating;
    }
    return node_select(binder, side, NULL, results, names, count);
}

/* Both sides with the columns of the left one, and behind them those that the right
 * one alone has. */
static enum vdbq_status align_names(struct binder *binder, struct node **sides,
                                    struct position at)
{
    unsigned count = 0;
    const char **names = arena_alloc(
        binder->arena,
        (sides[0]->column_count + sides[1]->column_count + 1) * sizeof(*names));

    if (names == NULL)
        return error_no_memory(binder->error);
    for (int s = 0; s < 2; s++) {
        if (check_names(binder, sides[s], at) != VDBQ_OK)
            return binder->error->status;
        for (unsigned i = 0; i < sides[s]->column_count; i++)
            if (s == 0 || column_named(sides[0], sides[1]->columns[i].name) < 0)
                names[count++] = sides[s]->columns[i].name;
    }
    for (int s = 1; s >= 0; s--) {
        sides[s] = side_by_name(binder, sides[s], names, count);
        if (sides[s] == NULL)
            return binder->error->status;
    }
    return VDBQ_OK;
}

/* ------------------------------------------------------- set operators -- */

static struct node *set_operation(struct binder *binder,
                                  const struct ast_query *query,
                                  struct node **sides)
{
    struct node *node;

    if (query->by_name && align_names(binder, sides, query->at) != VDBQ_OK)
        return NULL;
    if (sets_unite(binder, sides, 2, query->at) != VDBQ_OK)
        return NULL;
    switch (query->kind) {
    case AST_QUERY_INTERSECT:
        return collate_filter(binder, JOIN_SEMI, sides);
    case AST_QUERY_INTERSECT_ALL:
        return collate_filter_all(binder, JOIN_SEMI, sides);
    case AST_QUERY_EXCEPT:
        return collate_filter(binder, JOIN_ANTI, sides);
    case AST_QUERY_EXCEPT_ALL:
        return collate_filter_all(binder, JOIN_ANTI, sides);
    default:
        break;
    }
    node = node_concat(binder, sides, 2);
    return node && query->kind == AST_QUERY_UNION
               ? collate_distinct(binder, node)
               : node;
}

struct node *sets_join(struct binder *binder,
                       const struct ast_query *const *operators, size_t count,
                       struct node *const *parts)
{
    struct node *sides[2] = { parts[0] };
    bool by_name = false;

    for (size_t i = 0; i < count; i++)
        by_name |= operators[i]->by_name;
    if (!by_name) /* then each two that meet do so */
        share_collations(parts, count + 1);
    for (size_t i = 0; i < count && sides[0] != NULL; i++) {
        sides[1] = parts[i + 1];
        sides[0] = set_operation(binder, operators[i], sides);
    }
    return sides[0];
}
