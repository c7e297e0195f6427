/* SPDX-License-Identifier: MIT */
/*
 * Copies of nodes. What a pass may change in place is copied: columns, lists of
 * nodes and of results, conditions. Keys and functions are made once and shared.
 */
#include "plan/make/node_copy.h"

#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"

static bool copy_below(struct binder *binder, struct node *copy)
{
    if (copy->left != NULL)
        copy->left = node_copy(binder, copy->left);
    if (copy->right != NULL)
        copy->right = node_copy(binder, copy->right);
    for (size_t i = 0; i < copy->parts.count; i++) {
        struct node **part = vector_at(&copy->parts, i);
        *part = node_copy(binder, *part);
        if (*part == NULL)
            return false;
    }
    return binder->error->status == VDBQ_OK;
}

static bool copy_results(struct binder *binder, struct node *copy)
{
    size_t size = (copy->column_count + 1) * sizeof(struct expression *);
    struct expression **own = arena_alloc(binder->arena, size);

    if (own == NULL)
        return false;
    memcpy(own, copy->results, copy->column_count * sizeof *own);
    copy->results = own;
    return true;
}

static bool copy_lists(struct binder *binder, struct node *copy)
{
    return arena_vector_copy(binder->arena, &copy->parts, &copy->parts)
           && arena_vector_copy(binder->arena, &copy->conditions,
                                &copy->conditions)
           && (copy->kind != NODE_SELECT || copy_results(binder, copy));
}

struct node *node_copy(struct binder *binder, const struct node *node)
{
    struct node *copy;
    struct node_column *columns;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), NULL;
    copy = node_new(binder, node->kind, NULL, node->column_count);
    if (copy == NULL)
        return NULL;
    columns = copy->columns;
    memcpy(columns, node->columns, node->column_count * sizeof *columns);
    *copy = *node;
    copy->columns = columns;
    copy->rewritten = NULL;
    copy->readers = 0; /* nobody counted them */
    copy->alike = false;
    if (!copy_lists(binder, copy))
        return error_no_memory(binder->error), NULL;
    return copy_below(binder, copy) ? copy : NULL;
}
