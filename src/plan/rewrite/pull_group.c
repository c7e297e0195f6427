/* SPDX-License-Identifier: MIT */
/*
 * Conditions are pulled out of groups (pull.h): what they compare with outer
 * values becomes a key, so that each outer row finds its own group.
 */
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/operator.h"
#include "plan/rewrite/pull.h"
#include "plan/rewrite/pull_inner.h"
#include "plan/tree/binder.h"

/* The keys that the parts add, over `below`: each part compares one column
 * with outer values. False: one does not, or there is no memory. */
static bool added_keys(struct pulling *pulling, struct vector *keys)
{
    for (size_t i = 0; i < pulling->parts.count; i++) {
        struct expression *part =
            VECTOR_ITEMS(&pulling->parts, struct expression *)[i];
        struct expression *inner, *outer;
        if (!pull_equality(pulling->parameters, part, &inner, &outer)
            || inner->kind != EXPRESSION_COLUMN) {
            pulling->refused = true;
            return false;
        }
        if (!vector_append(keys, &inner->column.number, 1))
            return pull_fail(pulling), false;
    }
    return true;
}

/* Old keys, added ones, and then whatever was there. */
static struct node *keyed(struct pulling *pulling, struct node *below,
                          unsigned old, const struct vector *keys)
{
    struct binder *binder = pulling->binder;
    unsigned added = (unsigned)keys->count, all = below->column_count + added;
    struct expression **results =
        arena_alloc(binder->arena, (all + 1) * sizeof(*results));

    if (results == NULL)
        return pull_fail(pulling);
    for (unsigned i = 0; i < all; i++) {
        unsigned from = i < old ? i : i - added;
        if (i >= old && i < old + added)
            from = (unsigned)VECTOR_ITEMS(keys, int)[i - old];
        results[i] = node_column(binder, below, from, (struct position){ 0 });
        if (results[i] == NULL)
            return NULL;
    }
    return node_select(binder, below, NULL, results, NULL, all);
}

/* Aggregates of columns that moved behind added keys. */
static bool move_aggregates(struct pulling *pulling,
                            const struct step_group *group, unsigned added,
                            struct vector *aggregates)
{
    for (size_t i = 0; i < group->aggregates.count; i++) {
        struct step_aggregate aggregate =
            VECTOR_ITEMS(&group->aggregates, struct step_aggregate)[i];
        if (aggregate.column >= (int)group->keys)
            aggregate.column += (int)added;
        if (aggregate.filter >= (int)group->keys)
            aggregate.filter += (int)added;
        if (!vector_append(aggregates, &aggregate, 1))
            return pull_fail(pulling), false;
    }
    return true;
}

/* The parts are about the added keys now, the first of which is column
 * `first` of the group. */
static bool regard_keys(struct pulling *pulling, const struct node *group,
                        unsigned first)
{
    for (size_t i = 0; i < pulling->parts.count; i++) {
        struct expression **part = vector_at(&pulling->parts, i);
        struct ast_expression place = { .at = (*part)->at };
        struct expression *inner, *outer;
        pull_equality(pulling->parameters, *part, &inner, &outer);
        inner =
            node_column(pulling->binder, group, first + (unsigned)i, inner->at);
        *part = inner ? expression_operator(pulling->binder, AST_EQ, inner,
                                            outer, &place)
                      : NULL;
        if (*part == NULL)
            return false;
    }
    return true;
}

/* Groups by the added keys, too; these stand behind the old ones. */
static struct node *regroup(struct pulling *pulling, const struct node *node,
                            struct node *below)
{
    const struct step_group *group = &node->group;
    struct vector keys = VECTOR_IN(pulling->binder->arena, int);
    struct vector aggregates =
        VECTOR_IN(pulling->binder->arena, struct step_aggregate);
    struct node *made = NULL;
    unsigned added;

    if (added_keys(pulling, &keys))
        made = keyed(pulling, below, group->keys, &keys);
    added = (unsigned)keys.count;
    if (made != NULL && move_aggregates(pulling, group, added, &aggregates))
        made =
            node_group(pulling->binder, made, group->keys + added, &aggregates);
    else
        made = NULL;
    return made && regard_keys(pulling, made, group->keys) ? made : NULL;
}

struct node *pull_group(struct pulling *pulling, struct node *node)
{
    struct node *below, *made;
    unsigned added;
    int *columns;

    if (node->group.keys == 0)
        return pull_refuse(pulling);
    below = pull_conditions(pulling, node->left);
    made = below ? regroup(pulling, node, below) : NULL;
    if (made == NULL)
        return NULL;
    columns = arena_alloc(pulling->binder->arena,
                          (node->column_count + 1) * sizeof *columns);
    if (columns == NULL)
        return pull_fail(pulling);
    added = made->column_count - node->column_count;
    for (unsigned i = 0; i < node->column_count; i++)
        columns[i] = (int)(i < node->group.keys ? i : i + added);
    return pull_in_front(pulling, made, columns, node->column_count);
}

struct node *pull_whole_group(struct pulling *pulling, struct node *node)
{
    struct node *below = pull_conditions(pulling, node->left);

    return below ? regroup(pulling, node, below) : NULL;
}
