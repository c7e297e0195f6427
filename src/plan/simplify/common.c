/* SPDX-License-Identifier: MIT */
/*
 * Common subplans, once all trees are rewritten: each tree takes the places of
 * the leaves that read it, and is one step, whose rows all of them read.
 */
#include "plan/tree/common.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/node_select.h"
#include "plan/simplify/share.h"
#include "plan/tree/binder.h"

bool share_is_bare(const struct node *parent)
{
    return parent == NULL
           || (parent->kind != NODE_SELECT && parent->kind != NODE_JOIN);
}

struct node *share_over(struct binder *binder, struct node *node)
{
    bool merges = binder->merges;
    struct node *made;

    binder->merges = false;
    made = node_filter(binder, node, NULL);
    binder->merges = merges;
    return made;
}

bool share_put(struct binder *binder, struct node *shared, bool bare,
               struct node **place)
{
    *place = bare ? share_over(binder, shared) : shared;
    return *place != NULL;
}

bool share_is_step(const struct node *node)
{
    switch (node->kind) {
    case NODE_SELECT:
    case NODE_GROUP:
    case NODE_SORT:
    case NODE_WINDOW:
        return true;
    default:
        return false;
    }
}

bool share_twice(struct binder *binder, struct node **place)
{
    struct node *node = *place;

    if (node->shared)
        return true;
    if (!share_is_step(node))
        node = share_over(binder, node);
    if (node == NULL)
        return false;
    node->shared = true;
    *place = node;
    return true;
}

static bool expand(struct binder *binder, const struct node *parent,
                   struct node **place);

static bool expand_below(struct binder *binder, struct node *node)
{
    bool done = true;

    if (node->counted == binder->counts)
        return true;
    node->counted = binder->counts;
    if (node->left != NULL)
        done = expand(binder, node, &node->left);
    if (node->right != NULL && done)
        done = expand(binder, node, &node->right);
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = expand(binder, node, vector_at(&node->parts, i));
    return done;
}

/* What stands for a common subplan; NULL: a failure. */
static struct node *stand(struct binder *binder, struct common *common)
{
    struct node *root = common->root;

    if (common->stands != NULL)
        return common->stands;
    if (!expand(binder, root, &root))
        return NULL;
    common->stands =
        root->shared || share_is_step(root) ? root : share_over(binder, root);
    if (common->stands != NULL) {
        common->stands->shared = true;
        common->stands->common = common;
    }
    return common->stands;
}

static bool expand(struct binder *binder, const struct node *parent,
                   struct node **place)
{
    struct node *shared;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if ((*place)->kind != NODE_COMMON)
        return expand_below(binder, *place);
    shared = stand(binder, (*place)->common);
    return shared != NULL
           && share_put(binder, shared, share_is_bare(parent), place);
}

bool common_expand(struct binder *binder, struct node **root)
{
    binder->counts++;
    return expand(binder, NULL, root);
}
