/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of whole tables. The catalogue keeps how many rows a table has, and
 * of each column how many are NULL, the least and the greatest value. These are
 * counted from the rows, and are those of the snapshot that the plan is for; a
 * plan for another one is made anew.
 *
 * Floats are left out, since of 0 and -0 the first one is the least; so are
 * texts, of which nothing is kept but their number.
 */
#include "plan/simplify/facts_group.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/make/basis.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"
#include "plan/tree/range.h"

/* The table below nodes that only hand its columns on; NULL: there is none.
 * `*column`, one of the node's or -1, becomes the table's; -2: it is none. */
static const struct table *table_below(const struct node *node, int *column)
{
    while (node->kind == NODE_SELECT && node->where == NULL) {
        const struct expression *e =
            *column >= 0 ? node->results[*column] : NULL;
        if (e != NULL)
            *column = e->kind == EXPRESSION_COLUMN ? e->column.number : -2;
        node = node->left;
    }
    if (node->kind != NODE_TABLE)
        return NULL;
    if (*column >= (int)node->table->column_count) /* rowid */
        *column = -2;
    return node->table;
}

static bool is_known(const struct node *group,
                     const struct step_aggregate *aggregate)
{
    int column = aggregate->column;
    const struct table *table = table_below(group->left, &column);
    int type;

    if (table == NULL || column < -1 || aggregate->filter >= 0)
        return false;
    if (column >= 0 && !table_facts_exact(table, (unsigned)column))
        return false;
    if (aggregate->function == AGGREGATE_COUNT)
        return !aggregate->distinct;
    if (aggregate->function != AGGREGATE_MIN
        && aggregate->function != AGGREGATE_MAX)
        return false;
    type = table->columns[column].type;
    return !is_float(type) && type != VDBQ_TEXT;
}

/* The value of an aggregate, as a constant of the type that it has. */
static struct expression *value_of(struct binder *binder,
                                   const struct node *group,
                                   const struct step_aggregate *aggregate,
                                   const struct node_column *made)
{
    int column = aggregate->column;
    const struct table *table = table_below(group->left, &column);
    struct expression *e = expression_new(binder, EXPRESSION_CONSTANT,
                                          made->type, (struct position){ 0 });
    struct column_facts facts = { 0 };

    assert(table != NULL);
    if (e == NULL)
        return NULL;
    if (column >= 0)
        facts = table_facts(table, (unsigned)column);
    e->precision = made->precision;
    e->scale = made->scale;
    if (aggregate->function == AGGREGATE_COUNT)
        e->constant.integer = (int64_t)(table->rows - facts.null_count);
    else if (facts.empty)
        e->constant.null = true;
    else
        e->constant.integer = aggregate->function == AGGREGATE_MIN
                                  ? facts.minimum
                                  : facts.maximum;
    range_constant(e);
    return e;
}

struct node *group_facts(struct binder *binder, struct node *node)
{
    const struct vector *aggregates = &node->group.aggregates;
    struct vdbq_vector *values;

    if (node->kind != NODE_GROUP || node->group.keys > 0
        || aggregates->count == 0)
        return node;
    for (size_t i = 0; i < aggregates->count; i++)
        if (!is_known(node, vector_at(aggregates, i)))
            return node;
    values = arena_alloc(binder->arena, aggregates->count * sizeof(*values));
    if (values == NULL)
        return error_no_memory(binder->error), NULL;
    for (size_t i = 0; i < aggregates->count; i++) {
        const struct expression *e =
            value_of(binder, node, vector_at(aggregates, i), &node->columns[i]);
        if (e == NULL)
            return NULL;
        if (!constants_room(binder->arena, e->type, 1, &values[i])
            || !constants_put(binder->arena, &values[i], 0, e))
            return error_no_memory(binder->error), NULL;
    }
    if (binder->basis != NULL)
        binder->basis->exact = true;
    return node_values(binder, node->columns, node->column_count, values, 1);
}
