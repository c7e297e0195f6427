/* SPDX-License-Identifier: MIT */
/*
 * Eager aggregation [Yan and Larson 1995]: how many orders each customer has,
 *
 *   SELECT c.key, count(o.key) FROM c LEFT JOIN o ON c.key = o.customer
 *   GROUP BY c.key
 *
 * is counted before the join. Where each row of the left side is a group of its
 * own, the right rows of a group are those of one key of the join. So they are
 * grouped by that key, and each left row looks up one row: no pairs are made.
 *
 * Groups come in the order of their first rows, and that is the left side's,
 * before and after. What can fail is left as it is, for there are right rows
 * that no left one asks for.
 */
#include "plan/simplify/group_early.h"

#include <string.h>

#include "base/vector.h"
#include "plan/condition/refuses.h"
#include "plan/estimate/estimate.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_reads.h"
#include "plan/tree/unique_key.h"

/* A group over what a SELECT computes of a left join. */
struct early {
    struct binder *binder;
    const struct node *group, *select, *join;
    struct between left, right; /* columns of the join's sides */
    int *places;    /* of the SELECT's columns among those that the right side's
                    groups are made of; -1: not there                     */
    unsigned count; /* of these: keys of the join first */
    struct expression **results;
};

/* ------------------------------------------------------------- the proof -- */

/* A join whose right rows have a left one's key or have no partner. */
static bool is_plain_join(const struct node *join)
{
    return join->kind == NODE_JOIN && join->join.kind == JOIN_LEFT
           && join->where == NULL && join->join.range.side == RANGE_JOIN_NONE
           && !join->join.nulls_match && join->join.left_keys.count > 0
           && !join->unnested && join->common == NULL;
}

/* Keys of floats are left out: equal ones may still differ. */
static bool has_exact_keys(const struct node *join)
{
    for (size_t i = 0; i < join->join.left_keys.count; i++) {
        int a = VECTOR_ITEMS(&join->join.left_keys, int)[i];
        int b = VECTOR_ITEMS(&join->join.right_keys, int)[i];
        if (is_float(join->left->columns[a].type)
            || is_float(join->right->columns[b].type))
            return false;
    }
    return true;
}

/* Whether an expression reads columns of one side only. */
static bool is_of(const struct early *early, struct expression *e,
                  struct between side)
{
    unsigned count = early->join->column_count;
    bool *reads = column_flags(early->binder, count, false);

    if (reads == NULL || !expression_reads(reads, &e))
        return false;
    for (int i = 0; i < (int)count; i++)
        if (reads[i] && (i < side.low || i >= side.high))
            return false;
    return true;
}

/* Whether the group's keys are of the left side, and no two of its rows have
 * them all. */
static bool are_left_rows_groups(const struct early *early)
{
    unsigned keys = early->group->group.keys, known = 0;
    int *columns = arena_alloc(early->binder->arena, (keys + 1) * sizeof(int));

    for (unsigned i = 0; columns != NULL && i < keys; i++) {
        struct expression *e = early->select->results[i];
        if (is_float(e->type) || !is_of(early, e, early->left))
            return false;
        if (e->kind == EXPRESSION_COLUMN && !e->nullable)
            columns[known++] = e->column.number;
    }
    return columns != NULL && known > 0
           && node_is_unique(early->join->left, columns, known);
}

/* Whether a column of the SELECT is a value of the left row, the same in all
 * rows of its group. */
static bool is_left_value(const struct early *early,
                          const struct step_aggregate *aggregate)
{
    return aggregate->function == AGGREGATE_FIRST && aggregate->filter < 0
           && is_of(early, early->select->results[aggregate->column],
                    early->left);
}

/* Whether right rows alone say what an aggregate is, and a left row without a
 * partner counts as none of them. */
static bool is_right_value(const struct early *early,
                           const struct step_aggregate *aggregate)
{
    struct expression *const *results = early->select->results;

    if (aggregate->filter >= 0) {
        struct expression *filter = results[aggregate->filter];
        if (filter->faults || !is_of(early, filter, early->right)
            || !refuses_null(filter, early->right))
            return false;
    }
    if (aggregate->column < 0)
        return true;
    struct expression *value = results[aggregate->column];
    return !value->faults && is_of(early, value, early->right)
           && is_null_with(value, early->right);
}

static bool are_values_of_sides(const struct early *early)
{
    const struct vector *aggregates = &early->group->group.aggregates;

    for (size_t i = 0; i < aggregates->count; i++) {
        const struct step_aggregate *aggregate = vector_at(aggregates, i);
        if (!is_left_value(early, aggregate)
            && !is_right_value(early, aggregate))
            return false;
    }
    return true;
}

/* Whether the join has many pairs, so that groups made before it are the fewer
 * rows; a few left rows ask for a few right ones. */
static bool has_many_pairs(const struct early *early)
{
    struct node *join = early->group->left->left;

    estimate_node(early->binder, join);
    return join->rows * 2 >= join->right->rows;
}

static bool may_be_early(const struct early *early)
{
    const struct vector *keys = &early->join->join.right_keys;

    return has_exact_keys(early->join)
           && !node_is_unique(early->join->right, keys->items,
                              (unsigned)keys->count)
           && are_left_rows_groups(early) && are_values_of_sides(early)
           && has_many_pairs(early);
}

/* ------------------------------------------------- groups of the right side -- */

static bool add_result(struct early *early, struct expression *e)
{
    early->results[early->count++] = e;
    return e != NULL;
}

/* Adds a column that aggregates read, if it is not there yet. */
static bool add_column(struct early *early, int column)
{
    if (column < 0 || early->places[column] >= 0)
        return true;
    early->places[column] = (int)early->count;
    return add_result(early, expression_over(early->binder,
                                             early->select->results[column],
                                             early->join->right, NULL,
                                             (unsigned)early->right.low));
}

/* What the groups of the right side are made of. */
static struct node *make_below(struct early *early)
{
    const struct vector *keys = &early->join->join.right_keys;
    const struct vector *aggregates = &early->group->group.aggregates;
    struct position nowhere = { 0 };
    bool done = true;

    for (size_t i = 0; i < keys->count && done; i++)
        done = add_result(
            early, node_column(early->binder, early->join->right,
                               (unsigned)VECTOR_ITEMS(keys, int)[i], nowhere));
    for (size_t i = 0; i < aggregates->count && done; i++) {
        const struct step_aggregate *aggregate = vector_at(aggregates, i);
        done = is_left_value(early, aggregate)
               || (add_column(early, aggregate->column)
                   && add_column(early, aggregate->filter));
    }
    return done ? node_select(early->binder, early->join->right, NULL,
                              early->results, NULL, early->count)
                : NULL;
}

/* The aggregates of right values, over their new columns. */
static bool move_aggregates(const struct early *early, struct vector *moved)
{
    const struct vector *aggregates = &early->group->group.aggregates;

    for (size_t i = 0; i < aggregates->count; i++) {
        struct step_aggregate aggregate =
            VECTOR_ITEMS(aggregates, struct step_aggregate)[i];
        if (is_left_value(early, &aggregate))
            continue;
        if (aggregate.column >= 0)
            aggregate.column = early->places[aggregate.column];
        if (aggregate.filter >= 0)
            aggregate.filter = early->places[aggregate.filter];
        if (!vector_append(moved, &aggregate, 1))
            return error_no_memory(early->binder->error), false;
    }
    return true;
}

static struct node *make_group(struct early *early)
{
    struct vector moved =
        VECTOR_IN(early->binder->arena, struct step_aggregate);
    struct node *below = make_below(early);

    if (below == NULL || !move_aggregates(early, &moved))
        return NULL;
    return node_group(early->binder, below,
                      (unsigned)early->join->join.right_keys.count, &moved);
}

/* ------------------------------------------------------------- the join -- */

/* Of the left side's rows, each with the group of its key. */
static struct node *make_join(const struct early *early, struct node *group)
{
    struct node *made =
        node_join(early->binder, JOIN_LEFT, early->join->left, group);

    for (int i = 0; made != NULL && i < (int)early->join->join.left_keys.count;
         i++)
        if (!vector_append(&made->join.left_keys,
                           vector_at(&early->join->join.left_keys, (size_t)i),
                           1)
            || !vector_append(&made->join.right_keys, &i, 1))
            return error_no_memory(early->binder->error), NULL;
    if (made != NULL)
        node_keep_ranges(made);
    return made;
}

/* The value of aggregate `number`, whose group has it in a column of the
 * join. */
static struct expression *value_of(const struct early *early, size_t number,
                                   const struct node *join, unsigned *column)
{
    const struct step_aggregate *aggregate =
        vector_at(&early->group->group.aggregates, number);
    struct position nowhere = { 0 };

    if (is_left_value(early, aggregate))
        return expression_over(early->binder,
                               early->select->results[aggregate->column], join,
                               NULL, 0);
    struct expression *value =
        node_column(early->binder, join, (*column)++, nowhere);
    if (value == NULL
        || aggregate_row(aggregate->function)->none == AGGREGATE_NULL)
        return value;
    return expression_value_or(early->binder, value,
                               aggregate->column < 0 && aggregate->filter < 0);
}

/* The columns that the group had, of the join. */
static struct node *as_before(const struct early *early, struct node *join)
{
    const struct node *group = early->group;
    unsigned keys = group->group.keys;
    unsigned column =
        (unsigned)(early->right.low + (int)early->join->join.left_keys.count);
    struct expression **results = arena_alloc(
        early->binder->arena, (group->column_count + 1) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(early->binder->error), NULL;
    for (unsigned i = 0; i < group->column_count; i++) {
        results[i] =
            i < keys ? expression_over(early->binder, early->select->results[i],
                                       join, NULL, 0)
                     : value_of(early, i - keys, join, &column);
        if (results[i] == NULL)
            return NULL;
    }
    struct node *made = node_select(early->binder, join, NULL, results, NULL,
                                    group->column_count);
    for (unsigned i = 0; made != NULL && i < group->column_count; i++)
        made->columns[i].name = group->columns[i].name;
    return made;
}

/* Room for what the right side's groups are made of. */
static bool make_room(struct early *early)
{
    size_t count = early->select->column_count;
    size_t most = count + early->join->join.right_keys.count;

    early->places =
        arena_alloc(early->binder->arena, (count + 1) * sizeof(*early->places));
    early->results =
        arena_alloc(early->binder->arena, (most + 1) * sizeof(*early->results));
    if (early->places == NULL || early->results == NULL)
        return error_no_memory(early->binder->error), false;
    memset(early->places, 0xff, count * sizeof *early->places);
    return true;
}

struct node *group_early(struct binder *binder, struct node *node)
{
    const struct node *select = node->left;

    if (node->kind != NODE_GROUP || select->kind != NODE_SELECT
        || select->where != NULL || select->common != NULL
        || !is_plain_join(select->left))
        return node;
    struct early early = {
        .binder = binder, .group = node, .select = select, .join = select->left
    };
    early.left.high = (int)early.join->left->column_count;
    early.right =
        (struct between){ early.left.high, (int)early.join->column_count };
    if (!may_be_early(&early))
        return node;
    struct node *group = make_room(&early) ? make_group(&early) : NULL;
    if (group == NULL || node_fails(group))
        return group != NULL ? node : NULL;
    struct node *join = make_join(&early, group);
    return join != NULL ? as_before(&early, join) : NULL;
}
