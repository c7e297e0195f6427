/* SPDX-License-Identifier: MIT */
#include "plan/make/common.h"

#include <assert.h>
#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/estimate/estimate.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/rows_most.h"

enum {
    NODES_APART = 1000, /* past so many of a statement a name is bound once */
    PLACES_APART = 500  /* a tree of more is not copied                     */
};

bool common_is_due(const struct binder *binder)
{
    return binder->nodes > NODES_APART;
}

struct common *common_find(const struct binder *binder, const void *of)
{
    struct common *common = binder->commons;

    while (common != NULL && common->of != of)
        common = common->next;
    return common;
}

struct common *common_new(struct binder *binder, const void *of,
                          struct node *root)
{
    struct common *common = arena_alloc(binder->arena, sizeof *common);

    if (common == NULL)
        return error_no_memory(binder->error), NULL;
    *common = (struct common){ .root = root,
                               .of = of,
                               .asks = binder->asking > 0,
                               .fails = true,
                               .rows_most = node_rows_most(root) };
    if (binder->commons_last != NULL)
        binder->commons_last->next = common;
    else
        binder->commons = common;
    binder->commons_last = common;
    return common;
}

void common_settle(struct binder *binder, struct common *common)
{
    estimate_node(binder, common->root);
    common->fails = node_tree_fails(common->root);
    common->rows_most = node_rows_most(common->root);
    common->ready = true;
}

struct node *node_common(struct binder *binder, struct common *common)
{
    unsigned count = common->root->column_count;
    struct node *node = node_new(binder, NODE_COMMON, NULL, count);

    if (node == NULL)
        return NULL;
    memcpy(node->columns, common->root->columns, count * sizeof *node->columns);
    node->common = common;
    common->readers++;
    return node;
}

struct node *common_inline(const struct node *leaf)
{
    struct node *root = leaf->common->root;

    assert(leaf->kind == NODE_COMMON && leaf->common->readers == 1);
    for (unsigned i = 0; i < leaf->column_count; i++)
        root->columns[i].name = leaf->columns[i].name;
    root->called = leaf->called;
    return root;
}

/* How many nodes a tree has, those that stand in several places once for each:
 * `most` and more are as many. */
static unsigned places_of(const struct node *node, unsigned most)
{
    unsigned count = 1;

    if (stack_is_short())
        return most;
    if (node->left != NULL && count < most)
        count += places_of(node->left, most - count);
    if (node->right != NULL && count < most)
        count += places_of(node->right, most - count);
    for (size_t i = 0; i < node->parts.count && count < most; i++)
        count += places_of(VECTOR_ITEMS(&node->parts, struct node *)[i],
                           most - count);
    return count;
}

bool common_part(struct binder *binder, struct node *node)
{
    struct node *own, *leaf;
    struct common *common;

    if (places_of(node, PLACES_APART) < PLACES_APART)
        return true;
    own = arena_alloc(binder->arena, sizeof *own);
    if (own == NULL)
        return error_no_memory(binder->error), false;
    *own = *node;
    common = common_new(binder, NULL, own);
    leaf = common ? node_common(binder, common) : NULL;
    if (leaf == NULL)
        return false;
    common_settle(binder, common);
    common->readers++; /* there are more places: nobody inlines it */
    leaf->called = node->called;
    leaf->rewritten = node;
    *node = *leaf;
    return true;
}
