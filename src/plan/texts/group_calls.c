/* SPDX-License-Identifier: MIT */
/*
 * Functions of few different values, where rows are grouped by what they give:
 *
 *   SELECT strftime(day, '%Y-%m') m, count(*) FROM t GROUP BY m
 *
 * has the groups by `day` first, of which the function is computed, and then
 * groups of these, whose counts are added. So the function is computed once a
 * day, and no row gets a text.
 *
 * Groups come in the order of their first rows, and so do groups of groups, as in
 * plan/group/group_again.c: rows and their order stay. Floats are left out as
 * arguments: equal keys may be 0.0 and -0.0, which functions tell apart. So are sums
 * that might overflow: the sum of some rows might where that of all does not.
 */
#include "plan/texts/group_calls.h"

#include "base/vector.h"
#include "plan/estimate/estimate.h"
#include "plan/group/group_parts.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/simplify/tree_pass.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_reads.h"
#include "plan/tree/rows_most.h"

enum { ROWS_A_GROUP = 16 }; /* that the first groups have at least */

/* A group over what a SELECT takes of the columns of a map. */
struct grouping {
    struct binder *binder;
    const struct node *group, *select, *map;
    unsigned
        below;   /* columns of the rows that the map gets; its own are behind */
    bool *reads; /* of the map's columns: the keys are made of it        */
    int *places; /* ... where it is over the first groups, if they are    */
    unsigned keys; /* of the first groups                                   */
};

/* ------------------------------------------------------------- the proof -- */

/* Whether a node is a group by what it takes of a map's columns. */
static bool begin(struct grouping *grouping, const struct node *node)
{
    const struct node *select = node->left;

    if (node->kind != NODE_GROUP || node->common != NULL
        || node->group.keys == 0 || select->kind != NODE_SELECT
        || select->common != NULL || select->where != NULL
        || select->left->kind != NODE_MAP || select->left->common != NULL)
        return false;
    grouping->group = node;
    grouping->select = select;
    grouping->map = select->left;
    grouping->below = select->left->left->column_count;
    return true;
}

static const struct step_function *function_of(const struct grouping *grouping,
                                               unsigned column)
{
    return vector_at(&grouping->map->map.functions, column - grouping->below);
}

/* Notes what the keys are made of; whether functions are part of that. */
static bool functions_are_keys(struct grouping *grouping)
{
    bool found = false;

    for (unsigned i = 0; i < grouping->group->group.keys; i++)
        expression_reads(grouping->reads, &grouping->select->results[i]);
    for (unsigned c = grouping->below; c < grouping->map->column_count; c++) {
        if (!grouping->reads[c])
            continue;
        const struct vector *arguments = &function_of(grouping, c)->arguments;
        for (size_t i = 0; i < arguments->count; i++)
            grouping->reads[VECTOR_ITEMS(arguments, int)[i]] = true;
        found = true;
    }
    return found;
}

/* Whether equal keys give equal results. */
static bool tell_keys(const struct grouping *grouping)
{
    bool tell = true;

    for (unsigned c = 0; c < grouping->below && tell; c++)
        tell = !grouping->reads[c]
               || !is_float(grouping->map->left->columns[c].type);
    return tell;
}

/* Whether no function is part of what an aggregate reads; -1: it reads nothing. */
static bool is_below(const struct grouping *grouping, int column)
{
    unsigned count = grouping->map->column_count;
    bool *reads;

    if (column < 0)
        return true;
    reads = column_flags(grouping->binder, count, false);
    if (reads == NULL)
        return false;
    expression_reads(reads, &grouping->select->results[column]);
    for (unsigned c = grouping->below; c < count; c++)
        if (reads[c])
            return false;
    return true;
}

static bool aggregates_are_of_parts(const struct grouping *grouping)
{
    const struct node *group = grouping->group;
    enum aggregate_function function;

    for (size_t i = 0; i < group->group.aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->group.aggregates, i);
        int type = group->columns[group->group.keys + i].type;
        if (!aggregate_of_parts(aggregate, type, &function)
            || !is_below(grouping, aggregate->column)
            || !is_below(grouping, aggregate->filter))
            return false;
    }
    return !node_sum_overflows(group);
}

/* ------------------------------------------------------ the first groups -- */

/* A column behind those that there are, of what an aggregate reads; -1: nothing. */
static int add_read(const struct grouping *grouping, int column,
                    struct expression **results, unsigned *count)
{
    if (column < 0)
        return -1;
    results[*count] = grouping->select->results[column];
    return (int)(*count)++;
}

/* The map's arguments, then what aggregates read, of the rows below it. */
static struct node *make_rows(struct grouping *grouping,
                              struct vector *aggregates)
{
    const struct vector *asked = &grouping->group->group.aggregates;
    struct node *below = grouping->map->left;
    unsigned count = 0;
    struct expression **results =
        arena_alloc(grouping->binder->arena,
                    (grouping->below + 2 * asked->count) * sizeof *results);
    struct position at = { 0 };

    if (results == NULL)
        return error_no_memory(grouping->binder->error), NULL;
    for (unsigned c = 0; c < grouping->below; c++) {
        if (!grouping->reads[c])
            continue;
        grouping->places[c] = (int)count;
        results[count] = node_column(grouping->binder, below, c, at);
        if (results[count++] == NULL)
            return NULL;
    }
    grouping->keys = count;
    for (size_t i = 0; i < asked->count; i++) {
        struct step_aggregate one =
            VECTOR_ITEMS(asked, struct step_aggregate)[i];
        one.column = add_read(grouping, one.column, results, &count);
        one.filter = add_read(grouping, one.filter, results, &count);
        if (!vector_append(aggregates, &one, 1))
            return error_no_memory(grouping->binder->error), NULL;
    }
    return node_select(grouping->binder, below, NULL, results, NULL, count);
}

/* The groups by the arguments; these may be what other functions give. */
static struct node *make_first(struct grouping *grouping)
{
    struct vector aggregates =
        VECTOR_IN(grouping->binder->arena, struct step_aggregate);
    struct node *rows = make_rows(grouping, &aggregates);

    rows = rows == NULL ? NULL : tree_merge(grouping->binder, rows);
    rows = rows == NULL ? NULL
                        : node_group(grouping->binder, rows, grouping->keys,
                                     &aggregates);
    return rows == NULL ? NULL : group_calls(grouping->binder, rows);
}

/* Whether the groups are few, and fail as the rows did. */
static bool is_better(const struct grouping *grouping, struct node *first)
{
    estimate_node(grouping->binder, grouping->map->left);
    estimate_node(grouping->binder, first);
    return grouping->keys > 0 /* else no rows would be one group */
           && first->rows * ROWS_A_GROUP <= grouping->map->left->rows
           && !(node_fails(grouping->map) && node_tree_fails(first));
}

/* ------------------------------------------------------- groups of groups -- */

static bool add_function(const struct grouping *grouping,
                         const struct step_function *function,
                         struct vector *functions)
{
    struct step_function moved = *function;

    moved.arguments = VECTOR_IN(grouping->binder->arena, int);
    for (size_t i = 0; i < function->arguments.count; i++) {
        int column = VECTOR_ITEMS(&function->arguments, int)[i];
        if (!vector_append(&moved.arguments, &grouping->places[column], 1))
            return false;
    }
    return vector_append(functions, &moved, 1);
}

/* The functions that keys are made of, over the first groups. */
static struct node *make_map(struct grouping *grouping, struct node *first)
{
    struct vector functions =
        VECTOR_IN(grouping->binder->arena, struct step_function);
    unsigned added = 0;
    struct node *map;

    for (unsigned c = grouping->below; c < grouping->map->column_count; c++)
        added += grouping->reads[c];
    map = node_wider(grouping->binder, NODE_MAP, first, added);
    for (unsigned c = grouping->below, next = first->column_count;
         map != NULL && c < grouping->map->column_count; c++) {
        if (!grouping->reads[c])
            continue;
        if (!add_function(grouping, function_of(grouping, c), &functions))
            return error_no_memory(grouping->binder->error), NULL;
        map->columns[next] = grouping->map->columns[c];
        grouping->places[c] = (int)next++;
    }
    if (map != NULL)
        map->map.functions = functions;
    return map;
}

/* The keys, and the first groups' aggregates behind them. */
static struct node *make_select(const struct grouping *grouping,
                                struct node *map)
{
    const struct node *group = grouping->group;
    struct position at = { 0 };
    struct expression **results = arena_alloc(
        grouping->binder->arena, group->column_count * sizeof *results);

    if (results == NULL)
        return error_no_memory(grouping->binder->error), NULL;
    for (unsigned i = 0; i < group->column_count; i++) {
        results[i] =
            i < group->group.keys
                ? expression_over(grouping->binder,
                                  grouping->select->results[i], map,
                                  grouping->places, 0)
                : node_column(grouping->binder, map,
                              grouping->keys + i - group->group.keys, at);
        if (results[i] == NULL)
            return NULL;
    }
    return node_select(grouping->binder, map, NULL, results, NULL,
                       group->column_count);
}

static struct node *make_second(struct grouping *grouping, struct node *first)
{
    struct node *made = make_map(grouping, first);

    if (made != NULL)
        made = make_select(grouping, made);
    return made == NULL
               ? NULL
               : group_of_parts(grouping->binder, made, grouping->group);
}

struct node *group_calls(struct binder *binder, struct node *node)
{
    struct grouping grouping = { .binder = binder };
    struct node *first;

    if (!begin(&grouping, node))
        return node;
    grouping.reads = column_flags(binder, grouping.map->column_count, false);
    grouping.places =
        arena_alloc(binder->arena, grouping.map->column_count * sizeof(int));
    if (grouping.reads == NULL || grouping.places == NULL)
        return error_no_memory(binder->error), NULL;
    if (!functions_are_keys(&grouping) || !tell_keys(&grouping)
        || !aggregates_are_of_parts(&grouping))
        return node;
    first = make_first(&grouping);
    if (first == NULL)
        return NULL;
    return is_better(&grouping, first) ? make_second(&grouping, first) : node;
}
