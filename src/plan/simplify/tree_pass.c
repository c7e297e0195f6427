/* SPDX-License-Identifier: MIT */
/*
 * A walk over a tree that replaces nodes, from the tables up.
 */
#include "plan/simplify/tree_pass.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"

static bool replace_at(struct binder *binder, struct node **place,
                       tree_replace replace)
{
    *place = tree_pass(binder, *place, replace);
    return *place != NULL;
}

struct node *tree_merge(struct binder *binder, struct node *node)
{
    return binder->merges && node->kind == NODE_SELECT
               ? node_merge(binder, node)
               : node;
}

struct node *tree_pass(struct binder *binder, struct node *node,
                       tree_replace replace)
{
    const struct node *left = node->left;
    bool done = true;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), NULL;
    if (node->left != NULL)
        done = replace_at(binder, &node->left, replace);
    if (node->right != NULL && done)
        done = replace_at(binder, &node->right, replace);
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = replace_at(binder, vector_at(&node->parts, i), replace);
    if (done && node->left != left)
        node = tree_merge(binder, node);
    return done && node != NULL ? replace(binder, node) : NULL;
}
