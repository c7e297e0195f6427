/* SPDX-License-Identifier: MIT */
/*
 * Late calls for the first rows: of what a sort with a LIMIT puts in order, and of what
 * the condition below a LIMIT asks. Indexes of expressions were chosen before, and calls
 * of what calls give are one.
 */
#include "plan/simplify/tree_pass.h"
#include "plan/texts/late_calls.h"
#include "plan/texts/late_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_readers.h"

/* The text of its SELECT by which a sort keeps so few rows that a map makes no words
 * of those behind them; NULL: there is none. */
static const struct expression *first_text(const struct node *sort)
{
    if (sort->kind != NODE_SORT || sort->left->kind != NODE_SELECT
        || step_sort_firsts(&sort->sort) == 0)
        return NULL;
    const struct step_key *key = vector_at(&sort->sort.keys, 0);
    return sort->left->results[key->column];
}

static bool late_below_sort(struct binder *binder, struct node *node)
{
    const struct expression *first = first_text(node);
    if (first == NULL || !late_can_be(node->left))
        return true;
    node->left =
        late_select(binder, node->left, &(struct late_wants){ .first = first });
    return node->left != NULL;
}

struct node *first_calls(struct binder *binder, struct node *root)
{
    return node_count_readers(binder, root)
                   && tree_look_once(binder, root, late_below_sort)
               ? root
               : NULL;
}

/* -------------------------------------------------------- first conditions -- */

/* Where the rows come from that a LIMIT takes one for one: below what computes. */
static struct node **first_source(struct node *limit)
{
    struct node **source = &limit->left;
    while (late_is_own(*source)
           && ((*source)->kind == NODE_MAP
               || ((*source)->kind == NODE_SELECT && (*source)->where == NULL
                   && (*source)->left->kind != NODE_ONCE)))
        source = &(*source)->left;
    return source;
}

static bool late_below_limit(struct binder *binder, struct node *node)
{
    struct node **source;
    if (node->kind != NODE_LIMIT || node->right != NULL)
        return true;
    source = first_source(node);
    if (!late_can_be(*source) || (*source)->where == NULL)
        return true;
    *source = late_select(
        binder, *source,
        &(struct late_wants){ .rows = (double)node->limit.offset
                                      + (double)node->limit.limit });
    return *source != NULL;
}

struct node *first_conditions(struct binder *binder, struct node *root)
{
    return node_count_readers(binder, root)
                   && tree_look_once(binder, root, late_below_limit)
               ? root
               : NULL;
}
