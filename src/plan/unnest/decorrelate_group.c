/* SPDX-License-Identifier: MIT */
/*
 * Conditions are taken out of groups (decorrelate.h): what they compare with outer
 * values becomes a key, so that each outer row finds its own group.
 */
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/unnest/decorrelate.h"
#include "plan/unnest/decorrelate_inner.h"
#include "plan/tree/binder.h"

/* The keys that the parts add, over `below`: each part compares one column
 * with outer values. False: one does not, or there is no memory. */
static bool added_keys(struct decorrelating *decorrelating, struct vector *keys)
{
    for (size_t i = 0; i < decorrelating->parts.count; i++) {
        struct expression *part =
            VECTOR_ITEMS(&decorrelating->parts, struct expression *)[i];
        struct expression *inner, *outer;
        if (!decorrelate_equality(decorrelating->parameters, part, &inner,
                                  &outer)
            || inner->kind != EXPRESSION_COLUMN) {
            decorrelating->refused = true;
            return false;
        }
        if (!vector_append(keys, &inner->column.number, 1))
            return decorrelate_fail(decorrelating), false;
    }
    return true;
}

/* Old keys, added ones, and then whatever was there. */
static struct node *keyed(struct decorrelating *decorrelating,
                          struct node *below, unsigned old,
                          const struct vector *keys)
{
    struct binder *binder = decorrelating->binder;
    unsigned added = (unsigned)keys->count, all = below->column_count + added;
    struct expression **results =
        arena_alloc(binder->arena, (all + 1) * sizeof(*results));

    if (results == NULL)
        return decorrelate_fail(decorrelating);
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
static bool move_aggregates(struct decorrelating *decorrelating,
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
            return decorrelate_fail(decorrelating), false;
    }
    return true;
}

/* The parts are about the added keys now, the first of which is column
 * `first` of the group. */
static bool regard_keys(struct decorrelating *decorrelating,
                        const struct node *group, unsigned first)
{
    for (size_t i = 0; i < decorrelating->parts.count; i++) {
        struct expression **part = vector_at(&decorrelating->parts, i);
        struct ast_expression place = { .at = (*part)->at };
        struct expression *inner, *outer;
        decorrelate_equality(decorrelating->parameters, *part, &inner, &outer);
        inner = node_column(decorrelating->binder, group, first + (unsigned)i,
                            inner->at);
        *part = inner ? expression_operator(decorrelating->binder, AST_EQ,
                                            inner, outer, &place)
                      : NULL;
        if (*part == NULL)
            return false;
    }
    return true;
}

/* Groups by the added keys, too; these stand behind the old ones. */
static struct node *regroup(struct decorrelating *decorrelating,
                            const struct node *node, struct node *below)
{
    const struct step_group *group = &node->group;
    struct vector keys = VECTOR_IN(decorrelating->binder->arena, int);
    struct vector aggregates =
        VECTOR_IN(decorrelating->binder->arena, struct step_aggregate);
    struct node *made = NULL;
    unsigned added;

    if (added_keys(decorrelating, &keys))
        made = keyed(decorrelating, below, group->keys, &keys);
    added = (unsigned)keys.count;
    if (made != NULL
        && move_aggregates(decorrelating, group, added, &aggregates))
        made = node_group(decorrelating->binder, made, group->keys + added,
                          &aggregates);
    else
        made = NULL;
    return made && regard_keys(decorrelating, made, group->keys) ? made : NULL;
}

struct node *decorrelate_group(struct decorrelating *decorrelating,
                               struct node *node)
{
    struct node *below, *made;
    unsigned added;
    int *columns;

    if (node->group.keys == 0)
        return decorrelate_refuse(decorrelating);
    below = decorrelate_conditions(decorrelating, node->left);
    made = below ? regroup(decorrelating, node, below) : NULL;
    if (made == NULL)
        return NULL;
    columns = arena_alloc(decorrelating->binder->arena,
                          (node->column_count + 1) * sizeof *columns);
    if (columns == NULL)
        return decorrelate_fail(decorrelating);
    added = made->column_count - node->column_count;
    for (unsigned i = 0; i < node->column_count; i++)
        columns[i] = (int)(i < node->group.keys ? i : i + added);
    return decorrelate_in_front(decorrelating, made, columns,
                                node->column_count);
}

struct node *decorrelate_whole_group(struct decorrelating *decorrelating,
                                     struct node *node)
{
    struct node *below = decorrelate_conditions(decorrelating, node->left);

    return below ? regroup(decorrelating, node, below) : NULL;
}
