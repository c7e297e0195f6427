/* SPDX-License-Identifier: MIT */
/*
 * Groups of groups: see group_parts.h.
 */
#include "plan/group/group_parts.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* The group of no groups counts none. */
static struct node *with_zeros(struct binder *binder, const struct node *whole,
                               struct node *made)
{
    struct expression **results =
        arena_alloc(binder->arena, (made->column_count + 1) * sizeof(*results));

    assert(whole->group.keys == 0);
    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < made->column_count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&whole->group.aggregates, i);
        results[i] = node_column(binder, made, i, aggregate->at);
        if (aggregate->function == AGGREGATE_COUNT && results[i] != NULL)
            results[i] = expression_value_or(binder, results[i], 0);
        if (results[i] == NULL)
            return NULL;
    }
    return node_select(binder, made, NULL, results, NULL, made->column_count);
}

struct node *group_of_parts(struct binder *binder, struct node *below,
                            const struct node *whole)
{
    struct node *made = node_group_of_parts(binder, below, whole);

    if (made != NULL && whole->group.keys == 0)
        made = with_zeros(binder, whole, made);
    for (unsigned i = 0; made != NULL && i < made->column_count; i++) {
        assert(made->columns[i].type == whole->columns[i].type);
        made->columns[i].name = whole->columns[i].name;
        made->columns[i].affine = whole->columns[i].affine;
        made->columns[i].collating = whole->columns[i].collating;
    }
    return made;
}
