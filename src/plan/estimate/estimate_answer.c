/* SPDX-License-Identifier: MIT */
/*
 * About what the answer of a query is: the greatest of n values that are spread
 * evenly (estimate rule 3) lies as far below the end as two of them lie apart.
 */
#include <math.h>

#include "base/os/stack.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/node.h"

static double middle_of(const struct column_estimate *values)
{
    return estimate_has_range(values) ? values->low / 2 + values->high / 2
                                      : NAN;
}

/* The least, or the greatest, of a column of a node. */
static double end_of(const struct node *rows, int column, bool greatest)
{
    const struct column_estimate *values = &rows->columns[column].estimate;
    double apart = (values->high - values->low) / (rows->rows + 1);

    if (!estimate_has_range(values))
        return NAN;
    return greatest ? values->high - apart : values->low + apart;
}

/* An aggregate of all rows of a node. */
static double aggregate_of(const struct step_aggregate *aggregate,
                           const struct node *rows)
{
    if (aggregate->column < 0)
        return NAN;
    switch (aggregate->function) {
    case AGGREGATE_MIN:
    case AGGREGATE_MAX:
        return end_of(rows, aggregate->column,
                      aggregate->function == AGGREGATE_MAX);
    case AGGREGATE_AVG:
        return middle_of(&rows->columns[aggregate->column].estimate);
    default:
        return NAN;
    }
}

/* Of the first row of an order, its first key; else it may be any. */
static double sorted_of(const struct node *sort, int column)
{
    const struct step_key *first = sort->sort.keys.items;

    return sort->sort.limit == 1 && sort->sort.offset == 0
                   && first->column == column
               ? end_of(sort->left, column, first->descending)
               : middle_of(&sort->columns[column].estimate);
}

static double column_of(const struct node *node, int column)
{
    int middle = node->kind == NODE_JOIN ? (int)node->left->column_count : 0;

    if (stack_is_short())
        return NAN;
    switch (node->kind) {
    case NODE_SELECT:
        return estimate_answer(node->left, node->results[column]);
    case NODE_JOIN:
        return column < middle ? column_of(node->left, column)
                               : column_of(node->right, column - middle);
    case NODE_GROUP:
        return node->group.keys == 0 ? aggregate_of(
                   vector_at(&node->group.aggregates, (size_t)column),
                   node->left)
                                     : NAN;
    case NODE_SORT:
        return sorted_of(node, column);
    default:
        return middle_of(&node->columns[column].estimate);
    }
}

/* A cast that leaves numbers what they are to estimates. */
static bool keeps_number(const struct expression *cast)
{
    int from = cast->left->type;

    return (is_integer(from) || is_float(from))
           && (is_integer(cast->type) || is_float(cast->type));
}

double estimate_answer(const struct node *node, const struct expression *e)
{
    if (stack_is_short() || e->type == VDBQ_TEXT)
        return NAN;
    switch (e->kind) {
    case EXPRESSION_COLUMN:
        return column_of(node, e->column.number);
    case EXPRESSION_CONSTANT:
        return e->constant.null    ? NAN
               : is_float(e->type) ? e->constant.real
                                   : (double)e->constant.integer;
    case EXPRESSION_CHECK:
        return estimate_answer(node, e->left);
    case EXPRESSION_CAST:
        return keeps_number(e) ? estimate_answer(node, e->left) : NAN;
    case EXPRESSION_OPERATOR:
        if (e->operation.op == AST_ADD)
            return estimate_answer(node, e->left)
                   + estimate_answer(node, e->right);
        return e->operation.op == AST_SUB
                   ? estimate_answer(node, e->left)
                         - estimate_answer(node, e->right)
                   : NAN;
    default:
        return NAN;
    }
}
