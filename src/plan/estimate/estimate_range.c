/* SPDX-License-Identifier: MIT */
/*
 * Between which values a condition leaves columns: those that it bounds, and those
 * that rise or fall with these in the table's sample, as the days of a calendar do
 * with their years. A key that rises with what is asked for lies in a part of its
 * range then, where a join finds its partners (estimate rule 6).
 */
#include "plan/estimate/estimate.h"

#include <math.h>

#include "base/os/stack.h"
#include "data/catalogue/sample.h"
#include "plan/tree/expression.h"
#include "plan/tree/node.h"

/* Values from `low` up to, without it, `end`. */
struct span_of_values {
    double low, end;
};

/* A column that a condition bounds. */
struct bounded {
    int column; /* -1: none */
    struct span_of_values span;
};

/* The rows of a sample in which a column has values, in the order of these. */
struct order {
    double x[SAMPLE_ROWS];
    uint32_t rows[SAMPLE_ROWS];
    unsigned count;
};

/* Those in which two have, by both. */
struct pairs {
    double x[SAMPLE_ROWS], y[SAMPLE_ROWS];
    unsigned count;
};

/* By chance alone no more than one pair of columns in so many seems to rise
 * together. */
static const double CHANCE = 1e6;

static struct span_of_values whole_of(const struct column_estimate *column)
{
    return (struct span_of_values){ column->low, column->high + column->unit };
}

/* --------------------------------------------------------------- bounds -- */

/* The column that an expression is, or a cast that keeps its numbers. */
static int column_of(const struct expression *e)
{
    while (e->kind == EXPRESSION_CHECK
           || (e->kind == EXPRESSION_CAST && e->type >= e->left->type
               && e->type <= VDBQ_BIGINT))
        e = e->left;
    return e->kind == EXPRESSION_COLUMN ? e->column.number : -1;
}

static double number_of(const struct expression *constant)
{
    return is_float(constant->type) ? constant->constant.real
                                    : (double)constant->constant.integer;
}

static struct bounded bounds_comparison(const struct estimate_source *source,
                                        const struct expression *e)
{
    struct bounded bounded = { .column = column_of(e->left) };
    const struct column_estimate *column;
    double value;

    if (bounded.column < 0 || e->right->kind != EXPRESSION_CONSTANT
        || e->right->constant.null || e->right->type == VDBQ_TEXT)
        return (struct bounded){ .column = -1 };
    column = source->column(source->context, bounded.column);
    value = number_of(e->right);
    bounded.span = whole_of(column);
    switch (e->operation.op) {
    case AST_EQ:
        bounded.span = (struct span_of_values){ value, value + column->unit };
        break;
    case AST_LT:
        bounded.span.end = value;
        break;
    case AST_LE:
        bounded.span.end = value + column->unit;
        break;
    case AST_GT:
        bounded.span.low = value + column->unit;
        break;
    case AST_GE:
        bounded.span.low = value;
        break;
    default:
        bounded.column = -1;
    }
    return bounded;
}

static struct bounded bounds_of(const struct estimate_source *source,
                                const struct expression *e);

/* What both sides of an AND bound, or an OR. */
static struct bounded bounds_both(const struct estimate_source *source,
                                  const struct expression *e)
{
    struct bounded a = bounds_of(source, e->left);
    struct bounded b = bounds_of(source, e->right);

    if (a.column != b.column)
        return (struct bounded){ .column = -1 };
    if (e->operation.op == AST_AND) {
        a.span.low = fmax(a.span.low, b.span.low);
        a.span.end = fmin(a.span.end, b.span.end);
    } else {
        a.span.low = fmin(a.span.low, b.span.low);
        a.span.end = fmax(a.span.end, b.span.end);
    }
    return a;
}

static struct bounded bounds_of(const struct estimate_source *source,
                                const struct expression *e)
{
    if (e->kind != EXPRESSION_OPERATOR || stack_is_short())
        return (struct bounded){ .column = -1 };
    if (e->operation.op == AST_AND || e->operation.op == AST_OR)
        return bounds_both(source, e);
    if (is_comparison(e->operation.op))
        return bounds_comparison(source, e);
    return (struct bounded){ .column = -1 };
}

bool estimate_bound_alike(const struct estimate_source *source,
                          const struct expression *a,
                          const struct expression *b)
{
    int column = bounds_of(source, a).column;

    return column >= 0 && column == bounds_of(source, b).column;
}

/* --------------------------------------------------------------- sample -- */

static double value_at(const struct vdbq_vector *vector, uint32_t row)
{
    bool wide = type_bytes(vector->type) == sizeof(int64_t);

    if (is_float((int)vector->type))
        return wide ? ((const double *)vector->values)[row]
                    : (double)((const float *)vector->values)[row];
    return wide ? (double)((const int64_t *)vector->values)[row]
                : (double)((const int32_t *)vector->values)[row];
}

static bool has_numbers(const struct sample *sample, int column)
{
    return (unsigned)column < sample->column_count
           && sample->columns[column].type != VDBQ_TEXT;
}

/* Puts a pair in its place: by x, and where these are equal by y. */
static void put(struct pairs *pairs, double x, double y)
{
    unsigned i = pairs->count++;

    for (; i > 0
           && (pairs->x[i - 1] > x
               || (!(pairs->x[i - 1] < x) && pairs->y[i - 1] > y));
         i--) {
        pairs->x[i] = pairs->x[i - 1];
        pairs->y[i] = pairs->y[i - 1];
    }
    pairs->x[i] = x;
    pairs->y[i] = y;
}

/* The rows in the order of a column, and what it has there. */
static struct order order_of(const struct sample *sample, int column)
{
    const struct vdbq_vector *values = &sample->columns[column];
    struct order order = { .count = 0 };

    for (uint32_t row = 0; row < sample->rows; row++) {
        double x = value_at(values, row);
        unsigned i;
        if (vector_null(values, row))
            continue;
        for (i = order.count++; i > 0 && order.x[i - 1] > x; i--) {
            order.x[i] = order.x[i - 1];
            order.rows[i] = order.rows[i - 1];
        }
        order.x[i] = x;
        order.rows[i] = row;
    }
    return order;
}

/* Whether y, or its opposite, never falls where x rises. */
static bool never_falls(const struct order *order,
                        const struct vdbq_vector *values, double sign)
{
    double before = -HUGE_VAL, here = -HUGE_VAL; /* the most so far */

    for (unsigned i = 0; i < order->count; i++) {
        double y = sign * value_at(values, order->rows[i]);
        if (i > 0 && order->x[i] > order->x[i - 1])
            before = here;
        if (vector_null(values, order->rows[i]))
            continue;
        if (y < before)
            return false;
        here = fmax(here, y);
    }
    return true;
}

static struct pairs pairs_of(const struct order *order,
                             const struct vdbq_vector *values, double sign)
{
    struct pairs pairs = { .count = 0 };

    for (unsigned i = 0; i < order->count; i++)
        if (!vector_null(values, order->rows[i]))
            put(&pairs, order->x[i], sign * value_at(values, order->rows[i]));
    return pairs;
}

/* In how many orders values could stand, by logarithm; equal ones stand together. */
static double orders_of(const double *sorted, unsigned count)
{
    double orders = lgamma(count + 1.0);
    unsigned first = 0;

    for (unsigned i = 1; i <= count; i++)
        if (i == count || sorted[i] > sorted[first]) {
            orders -= lgamma(i - first + 1.0);
            first = i;
        }
    return orders;
}

/* Whether that they rise together is no chance. */
static bool is_no_chance(const struct pairs *pairs)
{
    return fmin(orders_of(pairs->x, pairs->count),
                orders_of(pairs->y, pairs->count))
           > log(CHANCE);
}

/* Rows with the same x are thought to lie evenly in the unit behind it. */
static void spread(struct pairs *pairs, double unit)
{
    for (unsigned i = 0, end = 0; i < pairs->count; i = end) {
        double x = pairs->x[i];
        while (end < pairs->count && pairs->x[end] <= x)
            end++;
        for (unsigned k = i; k < end; k++)
            pairs->x[k] = x + unit * (k - i + 0.5) / (end - i);
    }
}

/* A place in the plane of two columns. */
struct point {
    double x, y;
};

/* Where y is when x is at a value: between the two pairs that are next to it. */
static double y_at(const struct pairs *pairs, double value,
                   struct span_of_values x, struct span_of_values y)
{
    struct point from = { x.low, y.low }, to = { x.end, y.end };
    unsigned i = 0;

    while (i < pairs->count && pairs->x[i] <= value)
        i++;
    if (i > 0)
        from = (struct point){ pairs->x[i - 1], pairs->y[i - 1] };
    if (i < pairs->count)
        to = (struct point){ pairs->x[i], pairs->y[i] };
    if (!(to.x > from.x))
        return from.y;
    return from.y
           + (to.y - from.y)
                 * estimate_share((value - from.x) / (to.x - from.x));
}

/* ------------------------------------------------------------ narrowing -- */

/* The same values, or (`sign` -1) their opposites. */
static struct span_of_values turned(struct span_of_values span, double sign)
{
    return sign > 0 ? span : (struct span_of_values){ -span.end, -span.low };
}

/* The column's rows are thought to be those with values in a span. */
static void narrow(struct column_estimate *column, struct span_of_values span)
{
    double all = estimate_width(column->low, column->high, column->unit);
    double low = fmax(column->low, span.low);
    double high = fmin(column->high, span.end - column->unit);

    if (!(all > 0) || low > high)
        return;
    column->whole =
        fmax(column->whole * estimate_width(low, high, column->unit) / all, 1);
    column->distinct = fmin(column->distinct, column->whole);
    column->low = low;
    column->high = high;
}

/* Where a column lies that rises with the one that is bounded, or (`sign` -1) falls. False:
 * it does not. */
static bool narrow_with(const struct order *order,
                        const struct bounded *bounded,
                        const struct column_estimate *x,
                        const struct vdbq_vector *values, double sign,
                        struct column_estimate *column)
{
    struct span_of_values all = whole_of(column), span;
    struct pairs pairs;

    if (!never_falls(order, values, sign))
        return false;
    pairs = pairs_of(order, values, sign);
    if (!is_no_chance(&pairs))
        return false;
    spread(&pairs, x->unit);
    all = turned(all, sign);
    span.low = y_at(&pairs, bounded->span.low, whole_of(x), all);
    span.end = y_at(&pairs, bounded->span.end, whole_of(x), all);
    narrow(column, turned(span, sign));
    return true;
}

/* The table's column that a result is; -1: none. `results` NULL: of the table itself. */
static int made_of(struct expression *const *results, unsigned i)
{
    if (results == NULL)
        return (int)i;
    return results[i]->kind == EXPRESSION_COLUMN ? results[i]->column.number
                                                 : -1;
}

/* Columns made of a table's, by what one of these is bounded to. */
static void narrow_by(const struct estimate_source *source,
                      const struct bounded *bounded,
                      struct expression *const *results,
                      struct node_column *columns, unsigned count)
{
    const struct column_estimate *x =
        source->column(source->context, bounded->column);
    const struct sample *sample = source->table->sample;
    struct order order = order_of(sample, bounded->column);

    for (unsigned i = 0; i < count; i++) {
        struct column_estimate *column = &columns[i].estimate;
        int y = made_of(results, i);
        if (y < 0 || !estimate_has_range(column))
            continue;
        if (y == bounded->column)
            narrow(column, bounded->span);
        else if (has_numbers(sample, y)
                 && !narrow_with(&order, bounded, x, &sample->columns[y], 1,
                                 column))
            narrow_with(&order, bounded, x, &sample->columns[y], -1, column);
    }
}

/* Whether it bounds a number that the sample has, and leaves some of its range out. */
static bool leaves_out(const struct estimate_source *source,
                       const struct bounded *bounded)
{
    const struct column_estimate *x;

    if (bounded->column < 0
        || !has_numbers(source->table->sample, bounded->column))
        return false;
    x = source->column(source->context, bounded->column);
    return estimate_has_range(x)
           && (bounded->span.low > x->low
               || bounded->span.end < x->high + x->unit);
}

void estimate_narrow_partner(const struct node *side, unsigned key,
                             const struct column_estimate *partner,
                             struct node_column *columns)
{
    const bool selects = side->kind == NODE_SELECT;
    struct expression *const *results = selects ? side->results : NULL;
    const struct estimate_nodes nodes = { selects ? side->left : side, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    const struct bounded bounded = { .column = made_of(results, key),
                                     .span = whole_of(partner) };

    if (source.samples != NULL && estimate_has_range(partner)
        && leaves_out(&source, &bounded))
        narrow_by(&source, &bounded, results, columns, side->column_count);
}

void estimate_narrow(const struct estimate_source *source,
                     const struct expression *where, struct node *node)
{
    struct bounded bounded;

    if (where->kind == EXPRESSION_OPERATOR && where->operation.op == AST_AND
        && !stack_is_short()) {
        estimate_narrow(source, where->left, node);
        estimate_narrow(source, where->right, node);
        return;
    }
    bounded = bounds_of(source, where);
    if (leaves_out(source, &bounded))
        narrow_by(source, &bounded, node->results, node->columns,
                  node->column_count);
}
