/* SPDX-License-Identifier: MIT */
/*
 * Sums that differ in a constant:
 *
 *   SELECT sum(x), sum(x + 1), sum(x - 2) FROM t
 *
 * add x up once and count its values: sum(x + 1) is sum(x) + 1 * count(x). Where
 * no value counts, sum(x) is NULL and so is the result.
 *
 * It is done for integers alone, and where the number of rows and the range of x
 * prove that nothing can overflow, before and after.
 */
#include "plan/simplify/shifted_sums.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/make/arithmetic.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"
#include "plan/tree/rows_most.h"

/* A summand as a value and what is added to it. */
struct shifted {
    struct expression *base;
    int64_t by;
};

/* A group over what a SELECT computes, and what is to stand in its place. */
struct sharing {
    struct binder *binder;
    const struct node *group, *select;
    struct vector columns;    /* of struct expression *: of the new SELECT  */
    struct vector aggregates; /* of struct step_aggregate: of the new group */
};

/* -------------------------------------------------------------- the proof -- */

static const struct step_aggregate *aggregate_at(const struct node *group,
                                                 size_t number)
{
    return vector_at(&group->group.aggregates, number);
}

static bool is_small(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT && is_integer(e->type)
           && !e->constant.null && e->constant.integer >= INT32_MIN
           && e->constant.integer <= INT32_MAX;
}

/* x + c, c + x and x - c taken apart; all else as it is. */
static struct shifted take_apart(struct expression *e)
{
    struct shifted whole = { e, 0 };

    if (e->kind != EXPRESSION_OPERATOR
        || (e->operation.op != AST_ADD && e->operation.op != AST_SUB)
        || e->right == NULL || !is_integer(e->left->type)
        || !is_integer(e->right->type))
        return whole;
    if (is_small(e->right))
        return (struct shifted){ e->left, e->operation.op == AST_ADD
                                              ? e->right->constant.integer
                                              : -e->right->constant.integer };
    if (e->operation.op == AST_ADD && is_small(e->left))
        return (struct shifted){ e->right, e->left->constant.integer };
    return whole;
}

/* Whether a sum of the value, over all rows, cannot overflow. */
static bool sum_fits(const struct sharing *sharing, const struct expression *e)
{
    const struct node_column column = { .type = e->type, .range = e->range };
    struct interval range;

    return sum_range(sharing->select, &column, &range);
}

/* Whether it is a sum of integers that cannot fail before they are added. */
static bool is_sum(const struct sharing *sharing,
                   const struct step_aggregate *aggregate,
                   struct shifted *shifted)
{
    struct expression *e;

    if (aggregate->function != AGGREGATE_SUM || aggregate->distinct)
        return false;
    e = sharing->select->results[aggregate->column];
    if (!is_integer(e->type) || e->faults)
        return false;
    *shifted = take_apart(e);
    return true;
}

/* Whether the sum of the same values, but for a constant, is asked for, too. */
static bool has_twin(const struct sharing *sharing, size_t number,
                     const struct shifted *shifted)
{
    const struct vector *aggregates = &sharing->group->group.aggregates;
    int filter = aggregate_at(sharing->group, number)->filter;
    struct shifted other;

    for (size_t i = 0; i < aggregates->count; i++) {
        const struct step_aggregate *aggregate = vector_at(aggregates, i);
        if (i != number && aggregate->filter == filter
            && is_sum(sharing, aggregate, &other)
            && expression_same(shifted->base, other.base))
            return true;
    }
    return false;
}

/* Whether a sum is made of another one. */
static bool is_shared(const struct sharing *sharing, size_t number,
                      struct shifted *shifted)
{
    const struct step_aggregate *aggregate =
        aggregate_at(sharing->group, number);

    return is_sum(sharing, aggregate, shifted) && shifted->by != 0
           && has_twin(sharing, number, shifted)
           && sum_fits(sharing, sharing->select->results[aggregate->column])
           && sum_fits(sharing, shifted->base);
}

/* --------------------------------------------------------------- the group -- */

/* The number of a column with that value, keys left out; -1: no memory. */
static int column_of(struct sharing *sharing, struct expression *e)
{
    int column =
        expression_find(&sharing->columns, sharing->group->group.keys, e);

    if (column >= 0)
        return column;
    return vector_append(&sharing->columns, &e, 1)
               ? (int)sharing->columns.count - 1
               : -1;
}

static bool same_aggregate(const struct step_aggregate *a,
                           const struct step_aggregate *b)
{
    return a->function == b->function && a->column == b->column
           && a->filter == b->filter && a->distinct == b->distinct;
}

/* The number of an aggregate of the new group, of a value (NULL: rows) and a
 * filter (NULL: none); -1: no memory. */
static int aggregate_of(struct sharing *sharing, struct step_aggregate like,
                        struct expression *value, struct expression *filter)
{
    like.column = value ? column_of(sharing, value) : -1;
    like.filter = filter ? column_of(sharing, filter) : -1;
    if ((value && like.column < 0) || (filter && like.filter < 0))
        return -1;
    for (size_t i = 0; i < sharing->aggregates.count; i++)
        if (same_aggregate(&like, vector_at(&sharing->aggregates, i)))
            return (int)i;
    return vector_append(&sharing->aggregates, &like, 1)
               ? (int)sharing->aggregates.count - 1
               : -1;
}

/* Where the parts of an aggregate are: a sum, which may be all of it, and the
 * number of values. */
struct parts {
    int sum, count;
    int64_t by;
};

/* False: no memory. */
static bool add_parts(struct sharing *sharing, size_t number,
                      struct parts *parts)
{
    struct expression *const *results = sharing->select->results;
    const struct step_aggregate *aggregate =
        aggregate_at(sharing->group, number);
    struct step_aggregate count = *aggregate;
    struct expression *filter =
        aggregate->filter >= 0 ? results[aggregate->filter] : NULL;
    struct expression *value =
        aggregate->column >= 0 ? results[aggregate->column] : NULL;
    struct shifted shifted = { value, 0 };

    if (!is_shared(sharing, number, &shifted))
        shifted = (struct shifted){ value, 0 };
    count.function = AGGREGATE_COUNT;
    parts->by = shifted.by;
    parts->sum = aggregate_of(sharing, *aggregate, shifted.base, filter);
    parts->count =
        shifted.by == 0
            ? 0
            : aggregate_of(sharing, count,
                           shifted.base->nullable ? shifted.base : NULL,
                           filter);
    return parts->sum >= 0 && parts->count >= 0;
}

/* The keys and the parts of all aggregates; NULL: a failure. */
static struct node *make_group(struct sharing *sharing, struct parts *parts)
{
    unsigned keys = sharing->group->group.keys;
    struct node *select;
    bool done =
        keys == 0
        || vector_append(&sharing->columns, sharing->select->results, keys);

    for (size_t i = 0; i < sharing->group->group.aggregates.count && done; i++)
        done = add_parts(sharing, i, &parts[i]);
    if (!done)
        return error_no_memory(sharing->binder->error), NULL;
    select = node_select(sharing->binder, sharing->select->left,
                         sharing->select->where, sharing->columns.items, NULL,
                         (unsigned)sharing->columns.count);
    return select
               ? node_group(sharing->binder, select, keys, &sharing->aggregates)
               : NULL;
}

/* --------------------------------------------------------------- the sums -- */

/* What the aggregate was, of the new group's columns. */
static struct expression *value_of(const struct sharing *sharing,
                                   const struct node *group,
                                   const struct parts *parts)
{
    struct binder *binder = sharing->binder;
    unsigned keys = group->group.keys;
    struct position nowhere = { 0 };
    struct ast_expression place = { 0 };
    struct expression *sum =
        node_column(binder, group, keys + (unsigned)parts->sum, nowhere);

    if (sum == NULL || parts->by == 0)
        return sum;
    struct expression *added = expression_calculate(
        binder, AST_MUL,
        node_column(binder, group, keys + (unsigned)parts->count, nowhere),
        parts->by, nowhere);
    return added ? expression_arithmetic(binder, AST_ADD, sum, added, &place)
                 : NULL;
}

/* The columns that the group had; `node` itself where one might fail. */
static struct node *as_before(const struct sharing *sharing, struct node *node,
                              struct node *group, const struct parts *parts)
{
    struct expression **results = arena_alloc(
        sharing->binder->arena, (node->column_count + 1) * sizeof(*results));
    struct position nowhere = { 0 };

    if (results == NULL)
        return error_no_memory(sharing->binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++) {
        results[i] =
            i < node->group.keys
                ? node_column(sharing->binder, group, i, nowhere)
                : value_of(sharing, group, &parts[i - node->group.keys]);
        if (results[i] == NULL)
            return NULL;
        if (results[i]->faults)
            return node;
        assert(results[i]->type == node->columns[i].type);
    }
    struct node *made = node_select(sharing->binder, group, NULL, results, NULL,
                                    node->column_count);
    for (unsigned i = 0; made != NULL && i < node->column_count; i++)
        made->columns[i].name = node->columns[i].name;
    return made;
}

static bool has_shared(const struct sharing *sharing)
{
    struct shifted shifted;

    for (size_t i = 0; i < sharing->group->group.aggregates.count; i++)
        if (is_shared(sharing, i, &shifted))
            return true;
    return false;
}

struct node *shifted_sums(struct binder *binder, struct node *node)
{
    struct sharing sharing = {
        .binder = binder,
        .group = node,
        .select = node->left,
        .columns = VECTOR_IN(binder->arena, struct expression *),
        .aggregates = VECTOR_IN(binder->arena, struct step_aggregate)
    };

    if (node->kind != NODE_GROUP || node->left->kind != NODE_SELECT
        || node->left->common != NULL || !has_shared(&sharing))
        return node;
    struct parts *parts = arena_alloc(
        binder->arena, (node->group.aggregates.count + 1) * sizeof(*parts));
    if (parts == NULL)
        return error_no_memory(binder->error), NULL;
    struct node *group = make_group(&sharing, parts);
    return group ? as_before(&sharing, node, group, parts) : NULL;
}
