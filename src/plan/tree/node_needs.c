/* SPDX-License-Identifier: MIT */
/*
 * What all readers of a shared node read of it. A node that stands in several
 * places is come to from each of them, and what is below it is looked at again
 * where one reads more than those before.
 */
#include "plan/tree/node_needs.h"

#include "base/os/stack.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"

/* Adds what one more reader needs; `*more`: it is more than was needed. */
static bool add_needs(struct binder *binder, struct node *node,
                      const bool *needed, bool *more)
{
    *more = node->needs == NULL;
    if (node->needs == NULL)
        node->needs = column_flags(binder, node->column_count, false);
    if (node->needs == NULL)
        return false;
    for (unsigned i = 0; i < node->column_count; i++) {
        *more |= needed[i] && !node->needs[i];
        node->needs[i] |= needed[i];
    }
    return true;
}

static bool visit_below(struct binder *binder, struct node *node,
                        const bool *needed)
{
    bool *below[2];
    bool done = node_reads_below(binder, node, needed, below);

    if (done && node->left != NULL)
        done = node_needs(binder, node->left, below[0]);
    if (done && node->right != NULL)
        done = node_needs(binder, node->right, below[1]);
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = node_needs(binder, VECTOR_ITEMS(&node->parts, struct node *)[i],
                          needed);
    return done;
}

bool node_needs(struct binder *binder, struct node *node, const bool *needed)
{
    bool more = true;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if (node->shared && !add_needs(binder, node, needed, &more))
        return false;
    if (!more)
        return true;
    return visit_below(binder, node, node->shared ? node->needs : needed);
}
