/* SPDX-License-Identifier: MIT */
/*
 * Groups of one row each. Where no two rows share the keys of a GROUP BY or of a
 * DISTINCT, each row is a group: the group's rows and their order are those
 * below it, and an aggregate is a value of the one row.
 */
#include "plan/simplify/group_key.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/unique_key.h"

/* ------------------------------------------------------------ the proof -- */

/* Whether some of a node's columns, none of which is NULL, are unique. */
static bool has_key(struct binder *binder, const struct node *node,
                    const int *columns, unsigned count)
{
    int *known = arena_alloc(binder->arena, (count + 1) * sizeof *known);
    unsigned known_count = 0;

    for (unsigned i = 0; known != NULL && i < count; i++)
        if (!node->columns[columns[i]].nullable)
            known[known_count++] = columns[i];
    return known_count > 0 && node_is_unique(node, known, known_count);
}

/* Column `column` of the group among these of the node below a SELECT; NULLs of
 * one group's keys are of one group. */
static bool gives_column(const struct node *select, const int *columns,
                         unsigned count, unsigned column)
{
    for (unsigned i = 0; i < count; i++) {
        const struct expression *e = select->results[columns[i]];
        if (e->kind == EXPRESSION_COLUMN && e->column.number == (int)column)
            return true;
    }
    return false;
}

/* Whether the rows are some of those of a group, with all of its keys among the
 * columns: these differ, NULLs included. */
static bool has_group_keys(const struct node *node, const int *columns,
                           unsigned count)
{
    const struct node *group = node->left;

    if (node->kind != NODE_SELECT || group->kind != NODE_GROUP
        || group->group.keys == 0)
        return false;
    for (unsigned i = 0; i < group->group.keys; i++)
        if (!gives_column(node, columns, count, i))
            return false;
    return true;
}

/* Whether keys are floats: of a group, -0 is 0. */
static bool has_floats(const struct node *group)
{
    for (unsigned i = 0; i < group->group.keys; i++)
        if (is_float(group->left->columns[i].type))
            return true;
    return false;
}

/* Whether no two rows below a group have equal keys, NULL being equal to
 * NULL. */
static bool are_rows_groups(struct binder *binder, const struct node *group)
{
    unsigned count = group->group.keys;
    int *columns = arena_alloc(binder->arena, (count + 1) * sizeof *columns);

    for (unsigned i = 0; columns != NULL && i < count; i++)
        columns[i] = (int)i;
    return columns != NULL && count > 0
           && (has_key(binder, group->left, columns, count)
               || has_group_keys(group->left, columns, count));
}

/* ------------------------------------------------------------- results -- */

/* Whether the value of an aggregate of one row is one that is known. Sums of
 * floats are left out: that of -0 is 0. */
static bool is_simple(const struct node *group,
                      const struct step_aggregate *aggregate)
{
    int type;

    if (aggregate->filter >= 0)
        return false;
    if (aggregate->column < 0)
        return aggregate->function == AGGREGATE_COUNT;
    type = group->left->columns[aggregate->column].type;
    switch (aggregate->function) {
    case AGGREGATE_COUNT:
    case AGGREGATE_FIRST:
        return true;
    case AGGREGATE_MIN:
    case AGGREGATE_MAX:
        return !is_float(type);
    case AGGREGATE_SUM:
    case AGGREGATE_BIT_AND:
    case AGGREGATE_BIT_OR:
    case AGGREGATE_BIT_XOR:
        return is_integer(type) || type == VDBQ_DECIMAL;
    default:
        return false;
    }
}

static bool are_simple(const struct node *group)
{
    for (size_t i = 0; i < group->group.aggregates.count; i++)
        if (!is_simple(group, vector_at(&group->group.aggregates, i)))
            return false;
    return true;
}

/* 1 where the value is not NULL, else 0. */
static struct expression *counted(struct binder *binder,
                                  struct expression *value)
{
    struct position nowhere = { 0 };
    struct ast_expression place = { 0 };
    struct expression *there =
        expression_null_test(binder, AST_IS_NOT, value, &place);
    struct expression *one = expression_integer(binder, 1, nowhere);
    struct expression *zero = expression_integer(binder, 0, nowhere);

    if (there == NULL || one == NULL || zero == NULL)
        return NULL;
    return expression_choice(binder, there, one, zero, nowhere);
}

static struct expression *value_of(struct binder *binder,
                                   const struct node *group,
                                   const struct step_aggregate *aggregate)
{
    struct position nowhere = { 0 };
    struct expression *value;

    if (aggregate->column < 0)
        return expression_integer(binder, 1, nowhere);
    value =
        node_column(binder, group->left, (unsigned)aggregate->column, nowhere);
    if (value == NULL || aggregate->function != AGGREGATE_COUNT)
        return value;
    return value->nullable ? counted(binder, value)
                           : expression_integer(binder, 1, nowhere);
}

/* The value as a column of the group, of its type. */
static struct expression *result_of(struct binder *binder,
                                    const struct node *group, unsigned column)
{
    const struct node_column *made = &group->columns[column];
    struct position nowhere = { 0 };
    struct expression *value;

    if (column < group->group.keys)
        return node_column(binder, group->left, column, nowhere);
    value = value_of(
        binder, group,
        vector_at(&group->group.aggregates, column - group->group.keys));
    if (value == NULL || value->type == made->type)
        return value;
    assert(made->type == VDBQ_BIGINT);
    return expression_number(binder, value, made->type, nowhere);
}

struct node *ungroup(struct binder *binder, struct node *node)
{
    struct expression **results;
    struct node *made;

    if (node->kind != NODE_GROUP || !are_simple(node) || has_floats(node)
        || !are_rows_groups(binder, node))
        return node;
    results =
        arena_alloc(binder->arena, (node->column_count + 1) * sizeof(*results));
    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++) {
        results[i] = result_of(binder, node, i);
        if (results[i] == NULL)
            return NULL;
    }
    made = node_select(binder, node->left, NULL, results, NULL,
                       node->column_count);
    for (unsigned i = 0; made != NULL && i < node->column_count; i++)
        made->columns[i].name = node->columns[i].name;
    return made;
}
