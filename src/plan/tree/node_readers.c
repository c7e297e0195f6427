/* SPDX-License-Identifier: MIT */
#include "plan/tree/node_readers.h"

#include "base/os/stack.h"
#include "plan/tree/binder.h"

/* A node's first reader leads to those that it reads. */
static bool count(struct binder *binder, struct node *node)
{
    bool first = node->counted != binder->counts;
    bool done = true;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    node->counted = binder->counts;
    node->readers = first ? 1 : node->readers + 1;
    if (!first)
        return true;
    if (node->left != NULL)
        done = count(binder, node->left);
    if (node->right != NULL && done)
        done = count(binder, node->right);
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = count(binder, VECTOR_ITEMS(&node->parts, struct node *)[i]);
    return done;
}

bool node_count_readers(struct binder *binder, struct node *root)
{
    binder->counts++;
    return count(binder, root);
}

void node_add_reader(struct node *node)
{
    node->readers = node->readers == 0 ? 2 : node->readers + 1;
}

bool node_has_one_reader(const struct node *node)
{
    return node->readers <= 1;
}
