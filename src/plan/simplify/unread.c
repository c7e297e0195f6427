/* SPDX-License-Identifier: MIT */
/*
 * Nodes that only add columns to the rows below them: outer joins whose right
 * rows are found by a unique key, windows, functions of the host, subqueries.
 * Where nobody reads these columns the node goes, and NULLs stand in their
 * place. Where rows are only told apart (DISTINCT, the right side of a semi-join)
 * it does not matter either how often an outer join gives a row.
 *
 * What can fail stays, since it would be run; of a node that stands in several
 * places, all is taken as read.
 */
#include "plan/simplify/unread.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/simplify/tree_pass.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_readers.h"
#include "plan/tree/node_reads.h"
#include "plan/tree/unique_key.h"

/* What is asked of a node. */
struct asked {
    const bool *needed; /* of each column: it is read                     */
    bool once;          /* equal rows, one behind the other or not, may be as
                           many as one, in the place of the first         */
};

static bool visit(struct binder *binder, struct node **place,
                  struct asked asked);

/* --------------------------------------------------------------- nodes -- */

static bool any_from(const struct node *node, const bool *needed,
                     unsigned first)
{
    for (unsigned i = first; i < node->column_count; i++)
        if (needed[i])
            return true;
    return false;
}

/* Whether each left row comes, at least once; and no more than that where it is
 * not all one. */
static bool keeps_left(const struct node *join, bool once)
{
    const struct vector *keys = &join->join.right_keys;

    if (join->join.kind == JOIN_MARK)
        return true;
    return join->join.kind == JOIN_LEFT
           && (once || join->unnested
               || (!join->join.nulls_match
                   && node_is_unique(join->right, keys->items,
                                     (unsigned)keys->count)));
}

/* Whether the rows of the node are those of the one on its left, in their order,
 * with more columns. */
static bool only_adds(const struct node *node, bool once)
{
    switch (node->kind) {
    case NODE_JOIN:
        return keeps_left(node, once);
    case NODE_APPLY:
    case NODE_WINDOW:
    case NODE_MAP:
        return true;
    default:
        return false;
    }
}

/* Whether nothing but the rows on the left of it can fail. */
static bool is_safe(const struct node *node)
{
    return !node_fails(node)
           && (node->right == NULL || !node_tree_fails(node->right));
}

/* The rows of `below` as those of `node`, whose other columns are NULL. */
static struct node *without(struct binder *binder, const struct node *node,
                            struct node *below)
{
    unsigned added = node->column_count - below->column_count;
    struct expression **nulls =
        arena_alloc(binder->arena, (added + 1) * sizeof(*nulls));

    if (nulls == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < added; i++) {
        const struct node_column *column =
            &node->columns[below->column_count + i];
        nulls[i] =
            expression_null(binder, column->type, (struct position){ 0 });
        if (nulls[i] == NULL)
            return NULL;
        nulls[i]->precision = column->precision;
        nulls[i]->scale = column->scale;
    }
    return node_extend(binder, below, nulls, added);
}

/* Results that nobody reads are NULL: they name columns that may be no more. */
static bool blank_results(struct binder *binder, struct node *select,
                          const bool *needed)
{
    for (unsigned i = 0; i < select->column_count; i++) {
        struct expression *e = select->results[i], *null;
        if (needed[i] || e->kind == EXPRESSION_CONSTANT)
            continue;
        null = expression_null(binder, e->type, e->at);
        if (null == NULL)
            return false;
        null->precision = e->precision;
        null->scale = e->scale;
        select->results[i] = null;
    }
    return true;
}

/* ---------------------------------------------------------------- walk -- */

/* Whether equal rows of the side below may be one, as the node reads them. */
static bool is_once(const struct node *node, bool once, bool is_right)
{
    switch (node->kind) {
    case NODE_GROUP:
        return node->group.aggregates.count == 0 && node->group.keys > 0;
    case NODE_JOIN:
        return is_right ? node->join.kind >= JOIN_SEMI
                        : once && node->join.kind != JOIN_RIGHT
                              && node->join.kind != JOIN_FULL;
    case NODE_APPLY:
        return is_right ? node->apply.kind != APPLY_SCALAR : once;
    case NODE_SELECT:
        return once;
    default:
        return false;
    }
}

static bool visit_below(struct binder *binder, struct node *node,
                        struct asked asked)
{
    bool *below[2];
    bool done = node_reads_below(binder, node, asked.needed, below);

    if (done && node->left != NULL)
        done =
            visit(binder, &node->left,
                  (struct asked){ below[0], is_once(node, asked.once, false) });
    if (done && node->right != NULL)
        done =
            visit(binder, &node->right,
                  (struct asked){ below[1], is_once(node, asked.once, true) });
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = visit(binder, vector_at(&node->parts, i), asked);
    return done;
}

static bool visit(struct binder *binder, struct node **place,
                  struct asked asked)
{
    struct node *node = *place, *left = node->left;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if (!node_has_one_reader(node))
        asked = (struct asked){ column_flags(binder, node->column_count, true),
                                false };
    if (asked.needed == NULL)
        return false;
    if (only_adds(node, asked.once)
        && !any_from(node, asked.needed, left->column_count) && is_safe(node)) {
        *place = without(binder, node, left);
        return *place != NULL && visit(binder, place, asked);
    }
    if (!visit_below(binder, node, asked))
        return false;
    if (node->kind != NODE_SELECT || node->left == left)
        return true;
    if (!blank_results(binder, node, asked.needed))
        return false;
    *place = tree_merge(binder, node);
    return *place != NULL;
}

struct node *drop_unread(struct binder *binder, struct node *node)
{
    const bool *all = column_flags(binder, node->column_count, true);

    return all != NULL && node_count_readers(binder, node)
                   && visit(binder, &node, (struct asked){ all, false })
               ? node
               : NULL;
}
