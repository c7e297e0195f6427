/* SPDX-License-Identifier: MIT */
/*
 * Whether a row has a partner that compares with it,
 *
 *   SELECT ... FROM l WHERE EXISTS
 *       (SELECT * FROM r WHERE r.key = l.key AND r.x <> l.x)
 *
 * is told by the least and the greatest x of its key: if r.x < l.x holds for
 * any right row of the key, it holds for the least one, and r.x <> l.x holds for
 * the least or for the greatest. So the right rows are grouped by the key, and
 * each left row looks up one row, which a program can do: no pairs are made.
 *
 * Left rows stay in their order. NULLs are no extremes, as they are no partners.
 * Floats are left out: NaN differs from all numbers, and is no extreme. So is
 * what can fail, for there are right rows that no left one asks for.
 */
#include "plan/simplify/partner_extremes.h"

#include "base/vector.h"
#include "plan/condition/refuses.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/operator/compare.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_reads.h"
#include "plan/tree/unique_key.h"

/* A semi or anti join, and its condition: `right` OPERATOR `left`. */
struct partners {
    struct binder *binder;
    const struct node *join;
    enum ast_operator operator;
    struct expression *right, *left; /* over the columns of both sides */
};

/* ------------------------------------------------------------- the proof -- */

/* Whether a join looks for partners by keys and a condition, where one look
 * does not tell. */
static bool looks_for_partners(const struct node *node)
{
    const struct vector *keys = &node->join.right_keys;

    return node->kind == NODE_JOIN
           && (node->join.kind == JOIN_SEMI || node->join.kind == JOIN_ANTI)
           && node->where != NULL && !node->join.nulls_match
           && node->join.range.side == RANGE_JOIN_NONE && keys->count > 0
           && !node_is_unique(node->right, keys->items, (unsigned)keys->count);
}

/* Whether an expression reads columns of one side, and of that one only. */
static bool is_of_side(const struct partners *partners, struct expression *e,
                       struct between side)
{
    unsigned count = partners->join->left->column_count
                     + partners->join->right->column_count;
    bool *reads = column_flags(partners->binder, count, false);
    bool some = false;

    if (reads == NULL || !expression_reads(reads, &e))
        return false;
    for (int i = 0; i < (int)count; i++) {
        if (reads[i] && (i < side.low || i >= side.high))
            return false;
        some = some || reads[i];
    }
    return some;
}

static bool set_sides(struct partners *partners, struct expression *right,
                      struct expression *left, enum ast_operator operator)
{
    int middle = (int)partners->join->left->column_count;
    int end = middle + (int)partners->join->right->column_count;

    partners->right = right;
    partners->left = left;
    partners->operator= operator;
    return is_of_side(partners, right, (struct between){ middle, end })
           && is_of_side(partners, left, (struct between){ 0, middle });
}

/* Whether the condition compares a value of one side with one of the other, of
 * a type whose order is that of the comparison. */
static bool compares_sides(struct partners *partners)
{
    const struct expression *where = partners->join->where;

    if (where->kind != EXPRESSION_OPERATOR || where->faults
        || !is_comparison(where->operation.op) || where->operation.op == AST_EQ)
        return false;
    if (is_float(where->left->type) || is_float(where->right->type))
        return false;
    return set_sides(partners, where->left, where->right, where->operation.op)
           || set_sides(partners, where->right, where->left,
                        compare_mirrored(where->operation.op));
}

/* ------------------------------------------------------------ the groups -- */

/* The extremes that tell, the least first. */
static bool asks_least(const struct partners *partners)
{
    return partners->operator!= AST_GT && partners->operator!= AST_GE;
}

static bool asks_greatest(const struct partners *partners)
{
    return partners->operator!= AST_LT && partners->operator!= AST_LE;
}

/* The keys of the right side, and behind them the value that is compared. */
static struct node *make_below(const struct partners *partners)
{
    const struct node *join = partners->join;
    const struct vector *keys = &join->join.right_keys;
    struct position nowhere = { 0 };
    struct expression **results = arena_alloc(
        partners->binder->arena, (keys->count + 1) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(partners->binder->error), NULL;
    for (size_t i = 0; i < keys->count; i++) {
        int column = VECTOR_ITEMS(keys, int)[i];
        results[i] = node_column(partners->binder, join->right,
                                 (unsigned)column, nowhere);
        if (results[i] == NULL)
            return NULL;
    }
    results[keys->count] =
        expression_over(partners->binder, partners->right, join->right, NULL,
                        join->left->column_count);
    return results[keys->count] != NULL
               ? node_select(partners->binder, join->right, NULL, results, NULL,
                             (unsigned)keys->count + 1)
               : NULL;
}

static bool add_extreme(const struct partners *partners,
                        struct vector *extremes,
                        enum aggregate_function function)
{
    struct step_aggregate extreme = {
        .function = function,
        .column = (int)partners->join->join.right_keys.count,
        .filter = -1
    };

    return vector_append(extremes, &extreme, 1)
           || error_no_memory(partners->binder->error) == VDBQ_OK;
}

static struct node *make_group(const struct partners *partners)
{
    struct vector extremes =
        VECTOR_IN(partners->binder->arena, struct step_aggregate);
    struct node *below = make_below(partners);

    if (below == NULL
        || (asks_least(partners)
            && !add_extreme(partners, &extremes, AGGREGATE_MIN))
        || (asks_greatest(partners)
            && !add_extreme(partners, &extremes, AGGREGATE_MAX)))
        return NULL;
    return node_group(partners->binder, below,
                      (unsigned)partners->join->join.right_keys.count,
                      &extremes);
}

/* -------------------------------------------------------------- the join -- */

/* Of the left rows, each with the group of its key; a row of a semi join has
 * one. */
static struct node *make_join(const struct partners *partners,
                              struct node *group)
{
    const struct step_join *step = &partners->join->join;
    struct node *made = node_join(
        partners->binder, step->kind == JOIN_SEMI ? JOIN_INNER : JOIN_LEFT,
        partners->join->left, group);

    for (int i = 0; made != NULL && i < (int)step->left_keys.count; i++)
        if (!vector_append(&made->join.left_keys,
                           vector_at(&step->left_keys, (size_t)i), 1)
            || !vector_append(&made->join.right_keys, &i, 1))
            return error_no_memory(partners->binder->error), NULL;
    if (made != NULL)
        node_keep_ranges(made);
    return made;
}

/* Whether an extreme, a column of the join, compares with the left row. */
static struct expression *compare_extreme(const struct partners *partners,
                                          const struct node *join,
                                          unsigned column)
{
    struct position nowhere = { 0 };
    struct ast_expression place = { 0 };
    struct expression *extreme =
        node_column(partners->binder, join, column, nowhere);
    struct expression *left =
        expression_over(partners->binder, partners->left, join, NULL, 0);

    return extreme != NULL && left != NULL
               ? expression_operation(partners->binder, partners->operator,
                                      partners->join->where->type, extreme,
                                      left, &place)
               : NULL;
}

/* Whether a left row stays; where nothing is known, it has no partner. */
static struct expression *make_condition(const struct partners *partners,
                                         const struct node *join)
{
    struct position nowhere = { 0 };
    struct ast_expression place = { 0 };
    unsigned column = partners->join->left->column_count
                      + (unsigned)partners->join->join.right_keys.count;
    struct expression *has = compare_extreme(partners, join, column), *other;

    if (has != NULL && column + 1 < join->column_count) {
        other = compare_extreme(partners, join, column + 1);
        has = other ? expression_logic(partners->binder, AST_OR, has, other,
                                       &place)
                    : NULL;
    }
    if (has == NULL || partners->join->join.kind == JOIN_SEMI)
        return has;
    other = expression_truth(partners->binder, true, nowhere);
    return other ? expression_operator(partners->binder, AST_IS_NOT, has, other,
                                       &place)
                 : NULL;
}

/* Of the left rows those that stay, with their columns. */
static struct node *keep_left(const struct partners *partners,
                              struct node *join)
{
    struct position nowhere = { 0 };
    struct expression *where = make_condition(partners, join);
    unsigned count = partners->join->left->column_count;
    struct expression **results =
        arena_alloc(partners->binder->arena, (count + 1) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(partners->binder->error), NULL;
    for (unsigned i = 0; i < count; i++) {
        results[i] = node_column(partners->binder, join, i, nowhere);
        if (results[i] == NULL)
            return NULL;
    }
    return where ? node_select(partners->binder, join, where, results, NULL,
                               count)
                 : NULL;
}

struct node *partner_extremes(struct binder *binder, struct node *node)
{
    struct partners partners = { .binder = binder, .join = node };

    if (!looks_for_partners(node) || !compares_sides(&partners))
        return node;
    struct node *group = make_group(&partners);
    if (group == NULL || node_fails(group))
        return group != NULL ? node : NULL;
    struct node *join = make_join(&partners, group);
    return join != NULL ? keep_left(&partners, join) : NULL;
}
