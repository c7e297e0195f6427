/* SPDX-License-Identifier: MIT */
/*
 * What is thought of columns and expressions, and which share of rows a
 * condition keeps.
 */
#include "plan/tree/estimate.h"

#include <math.h>

#include "base/os/stack.h"
#include "plan/tree/expression.h"
#include "plan/tree/guess.h"

enum { CONJUNCTS_MAX = 64, VALUES_TRIED = 16 };

double estimate_rows(double rows)
{
    if (!(rows > 0))
        return 0;
    return rows > 1e30 ? 1e30 : rows;
}

static double share(double value)
{
    if (!(value > 0))
        return 0;
    return value > 1 ? 1 : value;
}

static bool has_range(const struct column_estimate *estimate)
{
    return estimate->low <= estimate->high;
}

/* How many values fit between two: for floats, how wide that is. */
static double width(double low, double high, double unit)
{
    return high - low + unit;
}

/* -------------------------------------------------------------- tables -- */

/* The words of a text column; 0: nobody counted. A tablet whose texts are nearly all different
 * says that those of the others are, too; else the others have the same. */
static double words_of(const struct table *table, unsigned column)
{
    double most = 0;

    for (size_t i = 0; i < table->tablet_count; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        double words = (double)tablet->facts[column].maximum;
        if (words * 4 >= (double)tablet->rows * 3)
            words *= (double)table->rows / tablet->rows;
        most = words > most ? words : most;
    }
    return most;
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

static struct column_estimate estimate_row_id(double rows)
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
    } else if (has_range(&estimate) && estimate.unit > 0) {
        values = fmin(values, width(estimate.low, estimate.high, 1));
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
        share(1 - (1 - operands->all.nulls) * (1 - one->nulls));
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
    most = width((double)e->range.low, (double)e->range.high, 1);
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

/* --------------------------------------------------------- comparisons -- */

static double kept_equal(const struct column_estimate *a,
                         const struct column_estimate *b)
{
    double known = (1 - a->nulls) * (1 - b->nulls);

    if (has_range(a) && has_range(b) && (a->low > b->high || a->high < b->low))
        return 0;
    return share(known / fmax(fmax(a->distinct, b->distinct), 1));
}

/* The share of a column's values that are less than a value, or equal. */
static double below(const struct column_estimate *column, double value,
                    bool equal)
{
    double all = width(column->low, column->high, column->unit);
    double part = value - column->low + (equal ? column->unit : 0);

    if (all <= 0)
        return equal ? value >= column->low : value > column->low;
    return share(part / all);
}

/* The mean of that over some of another column's values. */
static double below_values(const struct column_estimate *column,
                           const struct column_estimate *other, bool equal)
{
    double sum = 0;

    for (int i = 0; i < VALUES_TRIED; i++)
        sum += below(
            column,
            other->low + (other->high - other->low) * (i + 0.5) / VALUES_TRIED,
            equal);
    return sum / VALUES_TRIED;
}

static double kept_less(const struct column_estimate *a,
                        const struct column_estimate *b, bool equal)
{
    double known = (1 - a->nulls) * (1 - b->nulls);

    if (!has_range(a) || !has_range(b))
        return known * KEPT_RANGE;
    if (b->low == b->high)
        return known * below(a, b->low, equal);
    if (a->low == a->high)
        return known * (1 - below(b, a->low, !equal));
    return known * below_values(a, b, equal);
}

/* Whether different values of its one operand that is not constant make
 * different values. */
static bool is_one_to_one(const struct expression *e)
{
    switch (e->kind) {
    case EXPRESSION_COLUMN:
        return true;
    case EXPRESSION_CAST:
    case EXPRESSION_CHECK:
        return is_one_to_one(e->left);
    case EXPRESSION_OPERATOR:
        if (e->operation.op != AST_ADD && e->operation.op != AST_SUB
            && e->operation.op != AST_MUL)
            return false;
        if (e->right->kind == EXPRESSION_CONSTANT)
            return is_one_to_one(e->left);
        return e->left->kind == EXPRESSION_CONSTANT && is_one_to_one(e->right);
    default:
        return false;
    }
}

/* Of what is computed otherwise it is only known how many values there can be:
 * a number's range may say that there are few. */
static struct column_estimate
estimate_compared(const struct estimate_source *source,
                  const struct expression *e)
{
    struct column_estimate estimate = estimate_expression(source, e);

    if (!is_one_to_one(e)
        && !(has_range(&estimate) && estimate.unit > 0
             && width(estimate.low, estimate.high, 1) <= estimate.distinct))
        estimate.distinct = fmin(estimate.distinct, VALUES_UNKNOWN);
    return estimate;
}

/* IS, and IS NOT as its opposite. */
static double kept_is(const struct estimate_source *source,
                      const struct expression *e)
{
    struct column_estimate left = estimate_compared(source, e->left);
    struct column_estimate right = estimate_compared(source, e->right);
    double both = left.nulls * right.nulls;

    if (is_null_constant(e->right))
        return left.nulls;
    return share(kept_equal(&left, &right) + both);
}

static double kept_comparison(const struct estimate_source *source,
                              const struct expression *e)
{
    struct column_estimate a = estimate_compared(source, e->left);
    struct column_estimate b = estimate_compared(source, e->right);

    switch (e->operation.op) {
    case AST_EQ:
        return kept_equal(&a, &b);
    case AST_NEQ:
        return share((1 - a.nulls) * (1 - b.nulls) - kept_equal(&a, &b));
    case AST_LT:
    case AST_LE:
        return share(kept_less(&a, &b, e->operation.op == AST_LE));
    default:
        return share(kept_less(&b, &a, e->operation.op == AST_GE));
    }
}

/* ----------------------------------------------------------------- and -- */

/* The parts of an AND, and what each keeps. */
struct conjuncts {
    struct estimate_conjunct parts[CONJUNCTS_MAX];
    unsigned count;
    double rest; /* what those beyond keep */
};

static double kept_one(const struct estimate_source *source,
                       const struct expression *e);
static bool is_guess(const struct estimate_source *source,
                     const struct expression *e);

static void split(const struct estimate_source *source,
                  const struct expression *e, struct conjuncts *conjuncts)
{
    if (e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_AND
        && !stack_is_short()) {
        split(source, e->left, conjuncts);
        split(source, e->right, conjuncts);
        return;
    }
    if (conjuncts->count == CONJUNCTS_MAX) {
        conjuncts->rest *=
            estimate_expression(source, e).answer ? 1 : kept_one(source, e);
        return;
    }
    conjuncts->parts[conjuncts->count++] = (struct estimate_conjunct){
        .condition = e,
        .kept = estimate_expression(source, e).answer ? 1 : kept_one(source, e)
    };
}

/* Whether it bounds its left side; `*lower`: from below. */
static bool is_range(const struct expression *e, bool *lower)
{
    enum ast_operator op;

    if (e->kind != EXPRESSION_OPERATOR)
        return false;
    op = e->operation.op;
    *lower = op == AST_GT || op == AST_GE;
    return *lower || op == AST_LT || op == AST_LE;
}

/* Both ends of a range leave what neither takes away. */
static void meet(const struct estimate_source *source,
                 struct estimate_conjunct *one, struct estimate_conjunct *other)
{
    const struct expression *a = one->condition, *b = other->condition;
    struct column_estimate value;
    bool lower[2];

    if (!is_range(a, &lower[0]) || !is_range(b, &lower[1])
        || lower[0] == lower[1] || !expression_same(a->left, b->left))
        return;
    value = estimate_expression(source, a->left);
    if (has_range(&value) && a->right->kind == EXPRESSION_CONSTANT
        && b->right->kind == EXPRESSION_CONSTANT)
        one->kept = share(one->kept + other->kept - (1 - value.nulls));
    else
        one->kept = KEPT_BETWEEN * (1 - value.nulls);
    one->with = b;
    other->kept = 1;
}

/* What the table's sample says of them. */
static void look_at_sample(const struct estimate_source *source,
                           struct conjuncts *conjuncts)
{
    for (unsigned i = 0; i < conjuncts->count; i++) {
        struct estimate_conjunct *part = &conjuncts->parts[i];
        part->guess = is_guess(source, part->condition)
                      || (part->with != NULL && is_guess(source, part->with));
    }
    source->samples->conjuncts(source->samples, source->table, conjuncts->parts,
                               conjuncts->count);
}

static void estimate_conjuncts(const struct estimate_source *source,
                               const struct expression *e,
                               struct conjuncts *conjuncts)
{
    struct estimate_conjunct *parts = conjuncts->parts;

    conjuncts->count = 0;
    conjuncts->rest = 1;
    split(source, e, conjuncts);
    for (unsigned i = 0; i < conjuncts->count; i++)
        for (unsigned j = i + 1; j < conjuncts->count; j++)
            if (parts[j].kept < 1)
                meet(source, &parts[i], &parts[j]);
    if (source->samples != NULL)
        look_at_sample(source, conjuncts);
}

double estimate_kept(const struct estimate_source *source,
                     const struct expression *e)
{
    struct conjuncts conjuncts;
    double kept;

    estimate_conjuncts(source, e, &conjuncts);
    kept = conjuncts.rest;
    for (unsigned i = 0; i < conjuncts.count; i++)
        kept *= conjuncts.parts[i].kept;
    return share(kept);
}

/* The column that an expression is about, if there is but one; -1: several,
 * -2: none. */
static bool find_column(void *context, struct expression **operand)
{
    int *column = context;

    if ((*operand)->kind != EXPRESSION_COLUMN)
        return expression_each(*operand, find_column, context);
    *column = *column == -2 || *column == (*operand)->column.number
                  ? (*operand)->column.number
                  : -1;
    return *column != -1;
}

double estimate_column_kept(const struct estimate_source *source,
                            const struct expression *e, double *kept,
                            unsigned count)
{
    struct conjuncts conjuncts;
    double all;

    estimate_conjuncts(source, e, &conjuncts);
    all = conjuncts.rest;
    for (unsigned i = 0; i < conjuncts.count; i++) {
        struct expression *part =
            (struct expression *)(uintptr_t)conjuncts.parts[i].condition;
        int column = -2;
        find_column(&column, &part);
        if (column >= 0 && (unsigned)column < count)
            kept[column] *= conjuncts.parts[i].kept;
        all *= conjuncts.parts[i].kept;
    }
    return share(all);
}

/* ---------------------------------------------------------- conditions -- */

static bool is_or(const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_OR;
}

/* Whether what an OR's sides ask next to it are other values of the same: IN is
 * a tree of ORs. */
static bool is_list(const struct expression *e)
{
    const struct expression *left = e->left, *right = e->right;

    while (is_or(left))
        left = left->right;
    while (is_or(right))
        right = right->left;
    return is_equality(left) && is_equality(right)
           && left->right->kind == EXPRESSION_CONSTANT
           && right->right->kind == EXPRESSION_CONSTANT
           && expression_same(left->left, right->left);
}

static double kept_or(const struct estimate_source *source,
                      const struct expression *e)
{
    double left = kept_one(source, e->left);
    double right = kept_one(source, e->right);

    return share(left + right - (is_list(e) ? 0 : left * right));
}

/* NULL is neither true nor false. */
static double kept_not(const struct estimate_source *source,
                       const struct expression *e)
{
    return share(1 - estimate_expression(source, e->left).nulls
                 - kept_one(source, e->left));
}

static double kept_operator(const struct estimate_source *source,
                            const struct expression *e)
{
    switch (e->operation.op) {
    case AST_AND:
        return estimate_kept(source, e);
    case AST_OR:
        return kept_or(source, e);
    case AST_NOT:
        return kept_not(source, e);
    case AST_IS:
        return kept_is(source, e);
    case AST_IS_NOT:
        return 1 - kept_is(source, e);
    default:
        return is_comparison(e->operation.op) ? kept_comparison(source, e)
                                              : KEPT_UNKNOWN;
    }
}

static double kept_one(const struct estimate_source *source,
                       const struct expression *e)
{
    if (stack_is_short())
        return KEPT_UNKNOWN;
    switch (e->kind) {
    case EXPRESSION_CONSTANT:
        return !e->constant.null
               && (is_float(e->type) ? e->constant.real != 0
                                     : e->constant.integer != 0);
    case EXPRESSION_COLUMN:
        return e->type == VDBQ_BOOLEAN ? KEPT_BOOLEAN : 1 - KEPT_UNKNOWN;
    case EXPRESSION_OPERATOR:
        return kept_operator(source, e);
    case EXPRESSION_LOOKUP:
        return KEPT_LIKE;
    case EXPRESSION_CAST:
    case EXPRESSION_CHECK:
        return kept_one(source, e->left);
    default:
        return KEPT_UNKNOWN;
    }
}

/* --------------------------------------------------------------- trust -- */

/* Whether facts tell what a comparison keeps: where the ranges of both sides are
 * known, or with a constant, of one whose values are counted. */
static bool knows_comparison(const struct estimate_source *source,
                             const struct expression *e)
{
    struct column_estimate a = estimate_expression(source, e->left);
    struct column_estimate b = estimate_expression(source, e->right);
    bool constants[] = { e->left->kind == EXPRESSION_CONSTANT,
                         e->right->kind == EXPRESSION_CONSTANT };
    bool ranges = has_range(&a) && has_range(&b), lower;

    if (is_range(e, &lower))
        return ranges;
    return constants[0] != constants[1]
           && (ranges || (constants[0] ? &b : &a)->trust != ESTIMATE_BOUND);
}

/* Whether what is thought of a condition does not come from facts alone. */
static bool is_guess(const struct estimate_source *source,
                     const struct expression *e)
{
    if (e->kind != EXPRESSION_OPERATOR || stack_is_short())
        return e->kind != EXPRESSION_CONSTANT;
    switch (e->operation.op) {
    case AST_AND:
    case AST_OR:
        return is_guess(source, e->left) || is_guess(source, e->right);
    case AST_NOT:
        return is_guess(source, e->left);
    case AST_IS:
    case AST_IS_NOT:
        if (is_null_constant(e->right))
            return e->left->kind != EXPRESSION_COLUMN;
        return !knows_comparison(source, e);
    default:
        return !is_comparison(e->operation.op) || !knows_comparison(source, e);
    }
}

/* --------------------------------------------------------------- pairs -- */

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

    if (has_range(left) && has_range(right)) {
        double unit = fmin(left->unit, right->unit);
        double low = fmax(left->low, right->low);
        double high = fmin(left->high, right->high);
        double widths[2] = { width(left->low, left->high, unit),
                             width(right->low, right->high, unit) };
        for (int i = 0; i < 2; i++)
            if (low > high)
                parts[i] = 0;
            else if (widths[i] > 0)
                parts[i] = share(width(low, high, unit) / widths[i]);
    }
    return (struct pair_estimate){
        .possible = share(known * parts[0] * parts[1]),
        .values = fmax(domain(left, left->whole * parts[0], right,
                              right->whole * parts[1]),
                       1)
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
    return by == NULL || has_range(by);
}

/* The way between what bounds, of the way from one end of the values to the
 * other. Where nothing is known, one bound keeps half, and two keep more
 * rows of a larger table, but a smaller share. */
double estimate_between(const struct column_estimate *value,
                        const struct column_estimate *low,
                        const struct column_estimate *high, double rows)
{
    double least = 1 / fmax(rows, 1), all, from, to;

    if (!has_range(value) || !is_known(low) || !is_known(high))
        return low != NULL && high != NULL ? sqrt(least) : KEPT_HALF;
    all = width(value->low, value->high, value->unit);
    from = low != NULL ? middle_of(low) : value->low;
    to = high != NULL ? middle_of(high) : value->high;
    return all > 0 ? fmin(fmax(width(from, to, value->unit) / all, least), 1)
                   : KEPT_HALF;
}
