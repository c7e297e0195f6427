/* SPDX-License-Identifier: MIT */
/*
 * Semi and anti joins with a condition of both sides cannot be probed: all
 * rows of both sides meet in a step of its own. Such a join of a part of FROM is
 * made before that part is joined with others. Where these inner joins leave
 * few rows, it is made over them instead: whether a row has a partner does not
 * depend on what stands beside it.
 *
 * The joined part is the one whose rows come first, the base of the inner joins,
 * so rows stay in their order.
 */
#include "plan/rewrite/semi_late.h"

#include <assert.h>
#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/replace.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_readers.h"

/* Inner joins that leave no more than that share of the rows come first. */
static const double SHARE_MOST = 0.5;

/* Whether a node is a semi or anti join that no program can probe, and that
 * does not fail. */
static bool is_slow_semi(const struct node *node)
{
    return node->kind == NODE_JOIN && node_has_one_reader(node)
           && (node->join.kind == JOIN_SEMI || node->join.kind == JOIN_ANTI)
           && !node->join.nulls_match && node->join.left_keys.count > 0
           && (node->where != NULL || node->join.range.side != RANGE_JOIN_NONE)
           && !node_tree_fails(node);
}

/* Whether a node keeps rows of the node below and their columns. */
static bool only_filters(const struct node *node)
{
    if (node->kind != NODE_SELECT || node->where == NULL || node_fails(node)
        || node->column_count != node->left->column_count)
        return false;
    for (unsigned i = 0; i < node->column_count; i++)
        if (node->results[i]->kind != EXPRESSION_COLUMN
            || node->results[i]->column.number != (int)i)
            return false;
    return true;
}

/* Whether rows of the left side come out in their order, their columns in
 * front, and no other row, for one reader. */
static bool joins_others(const struct node *node)
{
    return node_has_one_reader(node)
           && ((node->kind == NODE_JOIN && node->join.kind == JOIN_INNER
                && !node->unnested && !node_fails(node))
               || only_filters(node));
}

/* ------------------------------------------------------------------ move -- */

/* A semi join's columns and condition, over a left side that has got more
 * columns behind its own. */
static bool widen(struct binder *binder, struct node *semi)
{
    const struct node *left = semi->left;
    unsigned before = semi->column_count, count = left->column_count;
    int *columns = arena_alloc(
        binder->arena, (before + semi->right->column_count) * sizeof *columns);
    struct node *both = node_join(binder, JOIN_INNER, semi->left, semi->right);

    semi->columns =
        arena_alloc(binder->arena, (count + 1) * sizeof *semi->columns);
    if (columns == NULL || semi->columns == NULL)
        return error_no_memory(binder->error) == VDBQ_OK;
    if (both == NULL)
        return false;
    assert(before <= count);
    memcpy(semi->columns, left->columns, count * sizeof *semi->columns);
    semi->column_count = count;
    for (unsigned i = 0; i < before + semi->right->column_count; i++)
        columns[i] = (int)(i < before ? i : i - before + count);
    if (semi->where != NULL)
        semi->where = expression_over(binder, semi->where, both, columns, 0);
    return semi->where != NULL || binder->error->status == VDBQ_OK;
}

static bool widen_all(struct binder *binder, struct node *semi,
                      const struct node *below)
{
    return semi == below
           || (widen_all(binder, semi->left, below) && widen(binder, semi));
}

/* The semi joins at `*low`, from the top one to the last slow one below it,
 * come to stand at `*high`, over the joins that were above them. */
static bool move_up(struct binder *binder, struct node **high,
                    struct node **low)
{
    struct node *semi = *low, *last = semi, *joins = *high;

    while (is_slow_semi(last->left))
        last = last->left;
    *low = last->left;
    last->left = joins;
    *high = semi;
    return widen_all(binder, semi, joins);
}

/* ------------------------------------------------------------------- walk -- */

/* The inner joins above a semi join end at `place`. */
static bool move_over_best(struct binder *binder, struct node **place)
{
    struct node **best = place, **low = place;

    while (joins_others(*low)) {
        if ((*low)->rows <= (*best)->rows)
            best = low;
        low = &(*low)->left;
    }
    if (low == place || !is_slow_semi(*low)
        || (*best)->rows > SHARE_MOST * (*low)->rows)
        return true;
    return move_up(binder, best, low);
}

static bool walk(struct binder *binder, struct node **place, bool first)
{
    struct node *node = *place;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if (first && joins_others(node) && !move_over_best(binder, place))
        return false;
    first = !joins_others(*place);
    for (size_t i = 0; i < node->parts.count; i++)
        if (!walk(binder, vector_at(&node->parts, i), true))
            return false;
    node = *place;
    return (node->left == NULL || walk(binder, &node->left, first))
           && (node->right == NULL || walk(binder, &node->right, true));
}

struct node *semi_late(struct binder *binder, struct node *node)
{
    estimate_node(binder, node);
    return node_count_readers(binder, node) && walk(binder, &node, true) ? node
                                                                         : NULL;
}
