/* SPDX-License-Identifier: MIT */
/*
 * Walks over a tree, from the tables up.
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

static bool look_below(struct binder *binder, struct node *node, tree_look look)
{
    bool done = true;

    if (node == NULL || node->counted == binder->counts)
        return true;
    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    node->counted = binder->counts;
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = look_below(binder, VECTOR_ITEMS(&node->parts, struct node *)[i],
                          look);
    return done && look_below(binder, node->left, look)
           && look_below(binder, node->right, look) && look(binder, node);
}

bool tree_look_once(struct binder *binder, struct node *root, tree_look look)
{
    binder->counts++;
    return look_below(binder, root, look);
}
