/* SPDX-License-Identifier: MIT */
/*
 * Values of one side:
 *
 *   SELECT ... FROM d JOIN t ON t.x >= d.x AND t.x < d.x + INTERVAL 1 MONTH
 *
 * tests each pair of rows, and would compute d.x + INTERVAL 1 MONTH for each. So
 * d gets it as a column: it is computed once a row. That pays for functions of
 * the machine, which cost more than to read a column, on the side with fewer
 * rows, which becomes a step. What can fail stays: there may be no pair.
 */
#include "plan/simplify/side_values.h"

#include "base/vector.h"
#include "plan/condition/join_key.h"
#include "plan/estimate/estimate.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"

/* Fewer pairs than these are tested before another step begins. */
static const double PAIRS_MIN = 1 << 20;

/* A SELECT over a join while the join's smaller side gets columns. */
struct valuing {
    struct binder *binder;
    const struct node *select;
    unsigned middle;     /* columns of the left side, as it was  */
    int side;            /* the smaller one: SIDE_...            */
    struct vector found; /* of struct expression *: its values   */
    struct node *join;   /* with them                            */
};

/* ----------------------------------------------------------------- finding -- */

static bool is_value(const struct valuing *valuing, struct expression *e)
{
    return expression_has(e, EXPRESSION_MATH) && e->type != VDBQ_TEXT
           && e->type != VDBQ_BOOLEAN && !e->faults && expression_is_plain(e)
           && expression_sides(e, valuing->middle) == valuing->side;
}

static bool collect(void *context, struct expression **operand)
{
    struct valuing *valuing = context;
    struct expression *e = *operand;

    if (!is_value(valuing, e))
        return expression_each(e, collect, context);
    return expression_find(&valuing->found, 0, e) >= 0
           || vector_append(&valuing->found, operand, 1);
}

/* Chooses the side; false: a grid of this join, or of what is below it, has more
 * axes, or too few cells. */
static bool choose_side(struct valuing *valuing)
{
    struct node *join = valuing->select->left;
    const struct node *side;

    estimate_node(valuing->binder, join->left);
    estimate_node(valuing->binder, join->right);
    valuing->side =
        join->left->rows <= join->right->rows ? SIDE_LEFT : SIDE_RIGHT;
    side = valuing->side == SIDE_LEFT ? join->left : join->right;
    while (side->kind == NODE_SELECT)
        side = side->left;
    return side->kind != NODE_JOIN
           && join->left->rows * join->right->rows >= PAIRS_MIN;
}

/* --------------------------------------------------------------- replacing -- */

/* The join of which one side has the values behind its columns. */
static struct node *join_wider(const struct valuing *valuing)
{
    const struct node *before = valuing->select->left;
    struct node *sides[2] = { before->left, before->right };
    struct vector made = VECTOR_IN(valuing->binder->arena, struct expression *);
    bool right = valuing->side == SIDE_RIGHT;

    for (size_t i = 0; i < valuing->found.count; i++) {
        struct expression *e = expression_moved_by(
            valuing->binder,
            VECTOR_ITEMS(&valuing->found, struct expression *)[i],
            right ? -(int)valuing->middle : 0);
        if (e == NULL)
            return NULL;
        if (!vector_append(&made, &e, 1))
            return error_no_memory(valuing->binder->error), NULL;
    }
    sides[right] = node_extend(valuing->binder, sides[right], made.items,
                               (unsigned)made.count);
    return sides[right]
               ? node_join(valuing->binder, JOIN_INNER, sides[0], sides[1])
               : NULL;
}

/* The columns of both sides, and of the values, are those of the wider join. */
static struct expression *replace(void *context, struct expression *e,
                                  bool *failed)
{
    const struct valuing *valuing = context;
    unsigned added = (unsigned)valuing->found.count, number;
    int value = expression_find(&valuing->found, 0, e);

    if (value < 0 && e->kind != EXPRESSION_COLUMN)
        return NULL;
    number = value >= 0 ? (unsigned)value : (unsigned)e->column.number;
    if (value >= 0)
        number += valuing->side == SIDE_LEFT
                      ? valuing->middle
                      : valuing->join->column_count - added;
    else if (valuing->side == SIDE_LEFT && number >= valuing->middle)
        number += added;
    e = node_column(valuing->binder, valuing->join, number, e->at);
    *failed = e == NULL;
    return e;
}

/* The SELECT over the wider join. */
static struct node *select_over(struct valuing *valuing)
{
    const struct node *before = valuing->select;
    struct binder *binder = valuing->binder;
    unsigned count = before->column_count;
    struct expression **results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*results));
    struct expression *where =
        expression_replace(binder, before->where, replace, valuing);
    struct node *made;

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; where != NULL && i < count; i++) {
        results[i] =
            expression_replace(binder, before->results[i], replace, valuing);
        if (results[i] == NULL)
            return NULL;
    }
    made = where
               ? node_select(binder, valuing->join, where, results, NULL, count)
               : NULL;
    for (unsigned i = 0; made != NULL && i < count; i++)
        made->columns[i].name = before->columns[i].name;
    return made;
}

struct node *side_values(struct binder *binder, struct node *node)
{
    struct valuing valuing = { .binder = binder,
                               .select = node,
                               .found = VECTOR_IN(binder->arena,
                                                  struct expression *) };

    if (node->kind != NODE_SELECT || node->where == NULL
        || !node_is_pairs(node->left) || node->left->where != NULL
        || node->left->common != NULL || !choose_side(&valuing))
        return node;
    valuing.middle = node->left->left->column_count;
    if (!collect(&valuing, &node->where))
        return error_no_memory(binder->error), NULL;
    if (valuing.found.count == 0)
        return node;
    valuing.join = join_wider(&valuing);
    return valuing.join ? select_over(&valuing) : NULL;
}
