/* SPDX-License-Identifier: MIT */
/*
 * Groups of a subquery for all tuples of the domain at once: the tuple is a key,
 * too. A group without keys is there also where it has no rows: then each tuple
 * is joined with its group, if it has one.
 */
#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/unnest/decorrelate.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"

/* The keys, the domain's columns, and then what aggregates are of. */
static struct node *keys_first(struct unnesting *unnesting,
                               const struct node *node, struct node *below)
{
    unsigned keys = node->group.keys, width = unnest_width(unnesting);
    unsigned all = node->left->column_count;
    int *columns = unnest_numbers(unnesting, all + width);

    if (columns == NULL)
        return NULL;
    for (unsigned i = 0; i < width; i++)
        columns[keys + i] = (int)(all + i);
    for (unsigned i = keys; i < all; i++)
        columns[width + i] = (int)i;
    return node_columns(unnesting->binder, below, columns, all + width);
}

/* The group by the keys and the domain's columns. */
static struct node *regroup(struct unnesting *unnesting,
                            const struct node *node, struct node *below)
{
    unsigned keys = node->group.keys, width = unnest_width(unnesting);
    struct vector aggregates =
        VECTOR_IN(unnesting->binder->arena, struct step_aggregate);

    for (size_t i = 0; i < node->group.aggregates.count; i++) {
        struct step_aggregate aggregate =
            VECTOR_ITEMS(&node->group.aggregates, struct step_aggregate)[i];
        if (aggregate.column >= (int)keys)
            aggregate.column += (int)width;
        if (aggregate.filter >= (int)keys)
            aggregate.filter += (int)width;
        if (!vector_append(&aggregates, &aggregate, 1))
            return unnest_fail(unnesting);
    }
    return node_group(unnesting->binder, below, keys + width, &aggregates);
}

struct node *unnest_groups(struct unnesting *unnesting, struct node *node)
{
    unsigned keys = node->group.keys, width = unnest_width(unnesting);
    int *columns = unnest_numbers(unnesting, node->column_count);
    struct node *made;

    made = unnest_push(unnesting, node->left);
    if (made != NULL)
        made = keys_first(unnesting, node, made);
    if (made != NULL)
        made = regroup(unnesting, node, made);
    if (made == NULL || columns == NULL)
        return NULL;
    if (decorrelate_fails(unnesting->binder, node_fails(made)))
        return unnest_refuse(unnesting);
    for (unsigned i = keys; i < node->column_count; i++)
        columns[i] += (int)width;
    return unnest_columns(unnesting, made, columns, node->column_count, keys);
}

struct expression *unnest_aggregate(struct unnesting *unnesting,
                                    const struct step_group *group,
                                    unsigned number, const struct node *node,
                                    unsigned column, struct expression *found)
{
    struct binder *binder = unnesting->binder;
    const struct step_aggregate *aggregate =
        vector_at(&group->aggregates, number);
    struct expression *value = node_column(binder, node, column, aggregate->at),
                      *none;

    if (value == NULL
        || (aggregate->function != AGGREGATE_COUNT
            && aggregate->function != AGGREGATE_TOTAL))
        return value;
    none = aggregate->function == AGGREGATE_COUNT
               ? expression_integer(binder, 0, aggregate->at)
               : expression_real(binder, VDBQ_DOUBLE, 0, aggregate->at);
    return none ? expression_choice(binder, found, value, none, aggregate->at)
                : NULL;
}

/* Each tuple beside its group, and a column that is NULL where it has none; the
 * groups are those of some of its values. */
static struct node *join_groups(struct unnesting *unnesting,
                                struct unnesting *narrow, struct node *groups,
                                unsigned first)
{
    struct binder *binder = unnesting->binder;
    struct expression *one =
        expression_truth(binder, true, (struct position){ 0 });
    struct node *nodes[2] = { unnest_domain(unnesting, NULL, NULL),
                              one ? node_extend(binder, groups, &one, 1)
                                  : NULL };
    struct step_join keys = { .left_keys = VECTOR_IN(binder->arena, int),
                              .right_keys = VECTOR_IN(binder->arena, int) };

    if (nodes[0] == NULL || nodes[1] == NULL
        || !unnest_equal(narrow, nodes, unnesting, 0, first, &keys))
        return NULL;
    return unnest_join(unnesting, JOIN_LEFT, nodes, &keys);
}

/* The groups of those values that are asked for, joined with all tuples. */
static struct node *tuples_and_groups(struct unnesting *unnesting,
                                      struct node *node)
{
    struct unnesting narrow;
    struct node *groups = NULL;

    if (unnest_begin_for(unnesting, node, &narrow))
        groups = unnest_groups(&narrow, node);
    unnesting->refused |= narrow.refused;
    return groups ? join_groups(unnesting, &narrow, groups, node->column_count)
                  : NULL;
}

/* The aggregates, and the domain's columns behind them. */
static struct node *push_whole(struct unnesting *unnesting, struct node *node)
{
    struct binder *binder = unnesting->binder;
    unsigned count = node->column_count, width = unnest_width(unnesting);
    struct node *join = tuples_and_groups(unnesting, node);
    struct expression **results =
        arena_alloc(binder->arena, (count + width + 1) * sizeof(*results));
    struct expression *found =
        join ? unnest_null(unnesting, join, join->column_count - 1, false)
             : NULL;

    if (results == NULL)
        return unnest_fail(unnesting);
    if (found == NULL)
        return NULL;
    for (unsigned i = 0; i < count + width; i++) {
        results[i] =
            i < count
                ? unnest_aggregate(unnesting, &node->group, i, join,
                                   join->left->column_count + i, found)
                : node_column(binder, join, i - count, (struct position){ 0 });
        if (results[i] == NULL)
            return NULL;
    }
    return node_select(binder, join, NULL, results, NULL, count + width);
}

struct node *unnest_push_group(struct unnesting *unnesting, struct node *node)
{
    return node->group.keys == 0 ? push_whole(unnesting, node)
                                 : unnest_groups(unnesting, node);
}
