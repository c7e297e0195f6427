/* SPDX-License-Identifier: MIT */
/*
 * What is thought of the values of columns and expressions, and of two that a
 * join compares.
 */
#include "plan/estimate/estimate.h"

#include <math.h>

#include "plan/tree/expression.h"
#include "plan/estimate/guess.h"

double estimate_rows(double rows)
{
    if (!(rows > 0))
        return 0;
    return rows > 1e30 ? 1e30 : rows;
}

double estimate_share(double value)
{
    if (!(value > 0))
        return 0;
    return value > 1 ? 1 : value;
}

bool estimate_has_range(const struct column_estimate *column)
{
    return column->low <= column->high;
}

double estimate_width(double low, double high, double unit)
{
    return high - low + unit;
}

/* -------------------------------------------------------------- tables -- */

/* The words of a text column; 0: nobody counted those of most rows, as of tablets with edits.
 * A tablet whose texts are nearly all different says that those of the others are, too; else the
 * others have the same. */
static double words_of(const struct table *table, unsigned column)
{
    double most = 0;
    uint64_t counted = 0;

    for (size_t i = 0; i < table->tablet_count; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        double words = (double)tablet->facts[column].maximum;
        if (words > 0 || tablet->facts[column].empty)
            counted += tablet->rows;
        if (words * 4 >= (double)tablet->rows * 3)
            words *= (double)table->rows / tablet->rows;
        most = words > most ? words : most;
    }
    return counted * 2 >= table->rows ? most : 0;
}

static void estimate_range(struct column_estimate *estimate, int type,
                           const struct column_facts *facts)
{
    bool real = is_float(type);
    double low = real ? facts->minimum_real : (double)facts->minimum;
    double high = real ? facts->maximum_real : (double)facts->maximum;

    if (type == VDBQ_TEXT || facts->empty || !isfinite(low) || !isfinite(high))
        return;
    estimate->low = low;
    estimate->high = high;
    estimate->unit = real ? 0 : 1;
}

struct column_estimate estimate_row_id(double rows)
{
    return (struct column_estimate){ .distinct = rows,
                                     .whole = rows,
                                     .high = rows - 1,
                                     .unit = 1,
                                     .trust = ESTIMATE_KEY };
}

struct column_estimate estimate_table(const struct table *table,
                                      unsigned column,
                                      const struct column_facts *facts)
{
    double rows = (double)table->rows, values, words = 0;
    struct column_estimate estimate = { .low = 1, .high = 0 };
    bool text;

    if (column == table->column_count)
        return estimate_row_id(rows);
    text = table->columns[column].type == VDBQ_TEXT;
    estimate_range(&estimate, (int)table->columns[column].type, facts);
    values = rows - (double)facts->null_count;
    if (column == table->key || table->columns[column].unique) {
        estimate.trust = ESTIMATE_KEY;
    } else if (text) {
        words = words_of(table, column);
        estimate.trust = words > 0 ? ESTIMATE_COUNTED : ESTIMATE_BOUND;
        values = fmin(values, words > 0 ? words : VALUES_UNKNOWN);
    } else if (estimate_has_range(&estimate) && estimate.unit > 0) {
        values = fmin(values, estimate_width(estimate.low, estimate.high, 1));
    }
    estimate.distinct = estimate.whole = estimate_rows(values);
    estimate.nulls = rows > 0 ? (double)facts->null_count / rows : 0;
    return estimate;
}

/* --------------------------------------------------------- expressions -- */

static struct column_estimate estimate_constant(const struct expression *e)
{
    double value =
        is_float(e->type) ? e->constant.real : (double)e->constant.integer;
    bool known = !e->constant.null && e->type != VDBQ_TEXT && isfinite(value);

    return (struct column_estimate){ .distinct = 1,
                                     .whole = 1,
                                     .nulls = e->constant.null,
                                     .low = known ? value : 1,
                                     .high = known ? value : 0,
                                     .unit = is_float(e->type) ? 0 : 1,
                                     .trust = ESTIMATE_COUNTED };
}

/* What an expression's operands are like, together. */
struct operands {
    const struct estimate_source *source;
    struct column_estimate all;
    int column; /* the last one seen, or -1 */
};

static bool add_operand(void *context, struct expression **operand)
{
    struct operands *operands = context;
    const struct expression *e = *operand;
    const struct column_estimate *one;

    if (e->kind != EXPRESSION_COLUMN)
        return expression_each(*operand, add_operand, context);
    if (e->column.number == operands->column)
        return true;
    operands->column = e->column.number;
    one = operands->source->column(operands->source->context, e->column.number);
    operands->all.distinct =
        estimate_rows(operands->all.distinct * fmax(one->distinct, 1));
    operands->all.whole =
        estimate_rows(operands->all.whole * fmax(one->whole, 1));
    operands->all.nulls =
        estimate_share(1 - (1 - operands->all.nulls) * (1 - one->nulls));
    operands->all.answer |= one->answer;
    return true;
}

/* No more values than those of the columns, and than the range has. */
static struct column_estimate
estimate_computed(const struct estimate_source *source,
                  const struct expression *e)
{
    struct operands operands = {
        .source = source,
        .all = { .distinct = 1, .whole = 1, .low = 1, .high = 0 },
        .column = -1
    };
    struct column_estimate *all = &operands.all;
    double most;

    expression_each((struct expression *)(uintptr_t)e, add_operand, &operands);
    if (all->answer)
        return *all;
    if (!e->nullable)
        all->nulls = 0;
    if (is_float(e->type) && isfinite(e->range.low_real)
        && isfinite(e->range.high_real)) {
        all->low = e->range.low_real;
        all->high = e->range.high_real;
    }
    if (is_float(e->type) || e->type == VDBQ_TEXT)
        return *all;
    most = estimate_width((double)e->range.low, (double)e->range.high, 1);
    all->distinct = fmin(all->distinct, most);
    all->whole = fmin(all->whole, most);
    if (most < 9e18) {
        all->low = (double)e->range.low;
        all->high = (double)e->range.high;
        all->unit = 1;
    }
    return *all;
}

struct column_estimate estimate_expression(const struct estimate_source *source,
                                           const struct expression *e)
{
    switch (e->kind) {
    case EXPRESSION_CONSTANT:
        return estimate_constant(e);
    case EXPRESSION_COLUMN:
        return *source->column(source->context, e->column.number);
    case EXPRESSION_PARAMETER:
        return (struct column_estimate){
            .distinct = 1, .whole = 1, .low = 1, .high = 0
        };
    case EXPRESSION_CHECK:
        return estimate_expression(source, e->left);
    case EXPRESSION_CAST:
        if (e->type >= e->left->type
            && is_float(e->left->type) <= is_float(e->type)
            && e->left->type <= VDBQ_BIGINT)
            return estimate_expression(source, e->left);
        return estimate_computed(source, e);
    default:
        return estimate_computed(source, e);
    }
}

/* --------------------------------------------------------------- pairs -- */

/* So many times the values of a column are hardly more of them. */
static const double HARDLY_MORE = 1.1;

/* How many values both sides choose from (estimate rule 4). A bound says
 * little: where the other side is a key, its values are those there are. */
static double domain(const struct column_estimate *a, double a_whole,
                     const struct column_estimate *b, double b_whole)
{
    if (a->trust == ESTIMATE_KEY && b->trust == ESTIMATE_BOUND)
        return a_whole;
    if (b->trust == ESTIMATE_KEY && a->trust == ESTIMATE_BOUND)
        return b_whole;
    return fmax(a_whole, b_whole);
}

struct pair_estimate estimate_pairs(const struct column_estimate *left,
                                    const struct column_estimate *right)
{
    double known = (1 - left->nulls) * (1 - right->nulls);
    double parts[2] = { 1, 1 };

    if (estimate_has_range(left) && estimate_has_range(right)) {
        double unit = fmin(left->unit, right->unit);
        double low = fmax(left->low, right->low);
        double high = fmin(left->high, right->high);
        double widths[2] = { estimate_width(left->low, left->high, unit),
                             estimate_width(right->low, right->high, unit) };
        for (int i = 0; i < 2; i++)
            if (low > high)
                parts[i] = 0;
            else if (widths[i] > 0)
                parts[i] =
                    estimate_share(estimate_width(low, high, unit) / widths[i]);
    }
    return (struct pair_estimate){
        .possible = estimate_share(known * parts[0] * parts[1]),
        .values = fmax(domain(left, left->whole * parts[0], right,
                              right->whole * parts[1]),
                       1),
        .within = { left->whole <= right->whole * HARDLY_MORE,
                    right->whole <= left->whole * HARDLY_MORE }
    };
}

/* --------------------------------------------------------------- ranges -- */

/* What is thought to lie in the middle of a column's values. */
static double middle_of(const struct column_estimate *by)
{
    return by->low / 2 + by->high / 2;
}

static bool is_known(const struct column_estimate *by)
{
    return by == NULL || estimate_has_range(by);
}

/* The way between what bounds, of the way from one end of the values to the
 * other. Where nothing is known, one bound keeps half, and two keep more
 * rows of a larger table, but a smaller share. */
double estimate_between(const struct column_estimate *value,
                        const struct column_estimate *low,
                        const struct column_estimate *high, double rows)
{
    double least = 1 / fmax(rows, 1), all, from, to;

    if (!estimate_has_range(value) || !is_known(low) || !is_known(high))
        return low != NULL && high != NULL ? sqrt(least) : KEPT_HALF;
    all = estimate_width(value->low, value->high, value->unit);
    from = low != NULL ? middle_of(low) : value->low;
    to = high != NULL ? middle_of(high) : value->high;
    return all > 0 ? fmin(
               fmax(estimate_width(from, to, value->unit) / all, least), 1)
                   : KEPT_HALF;
}
