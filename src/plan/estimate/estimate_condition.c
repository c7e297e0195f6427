/* SPDX-License-Identifier: MIT */
/*
 * Which share of rows a condition keeps: what each of its parts keeps by what
 * is thought of its columns, or by the table's sample where that says little.
 */
#include "plan/estimate/estimate.h"

#include <math.h>

#include "base/os/stack.h"
#include "plan/tree/expression.h"
#include "plan/estimate/guess.h"

enum { CONJUNCTS_MAX = 64, VALUES_TRIED = 16 };

/* --------------------------------------------------------- comparisons -- */

static double kept_equal(const struct column_estimate *a,
                         const struct column_estimate *b)
{
    double known = (1 - a->nulls) * (1 - b->nulls);

    if (estimate_has_range(a) && estimate_has_range(b)
        && (a->low > b->high || a->high < b->low))
        return 0;
    return estimate_share(known / fmax(fmax(a->distinct, b->distinct), 1));
}

/* The share of a column's values that are less than a value, or equal. */
static double below(const struct column_estimate *column, double value,
                    bool equal)
{
    double all = estimate_width(column->low, column->high, column->unit);
    double part = value - column->low + (equal ? column->unit : 0);

    if (all <= 0)
        return equal ? value >= column->low : value > column->low;
    return estimate_share(part / all);
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

    if (!estimate_has_range(a) || !estimate_has_range(b))
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
        && !(estimate_has_range(&estimate) && estimate.unit > 0
             && estimate_width(estimate.low, estimate.high, 1)
                    <= estimate.distinct))
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
    return estimate_share(kept_equal(&left, &right) + both);
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
        return estimate_share((1 - a.nulls) * (1 - b.nulls)
                              - kept_equal(&a, &b));
    case AST_LT:
    case AST_LE:
        return estimate_share(kept_less(&a, &b, e->operation.op == AST_LE));
    default:
        return estimate_share(kept_less(&b, &a, e->operation.op == AST_GE));
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
    if (estimate_has_range(&value) && a->right->kind == EXPRESSION_CONSTANT
        && b->right->kind == EXPRESSION_CONSTANT)
        one->kept = estimate_share(one->kept + other->kept - (1 - value.nulls));
    else
        one->kept = KEPT_BETWEEN * (1 - value.nulls);
    one->with = b;
    other->kept = 1;
}

/* Of two that bound the same column the one that keeps less has what both keep. */
static void take_less(const struct estimate_source *source,
                      struct estimate_conjunct *one,
                      struct estimate_conjunct *other)
{
    if (other->kept < 1
        && estimate_bound_alike(source, one->condition, other->condition))
        *(one->kept < other->kept ? &other->kept : &one->kept) = 1;
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
    for (unsigned i = 0; i < conjuncts->count; i++)
        for (unsigned j = i + 1; j < conjuncts->count; j++)
            if (parts[i].kept < 1)
                take_less(source, &parts[i], &parts[j]);
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
    return estimate_share(kept);
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
                            unsigned count, struct estimate_said *said)
{
    struct conjuncts conjuncts;
    double all;

    estimate_conjuncts(source, e, &conjuncts);
    all = conjuncts.rest;
    *said = (struct estimate_said){ .met = true };
    for (unsigned i = 0; i < conjuncts.count; i++) {
        struct expression *part =
            (struct expression *)(uintptr_t)conjuncts.parts[i].condition;
        int column = -2;
        find_column(&column, &part);
        if (column >= 0 && (unsigned)column < count)
            kept[column] *= conjuncts.parts[i].kept;
        all *= conjuncts.parts[i].kept;
        said->sampled |= conjuncts.parts[i].sampled;
        said->met &= !conjuncts.parts[i].unmet;
    }
    said->met &= said->sampled;
    return estimate_share(all);
}

/* ---------------------------------------------------------- conditions -- */

static bool is_or(const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_OR;
}

/* Whether it is a value that the statement says. */
static bool is_said(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT || e->kind == EXPRESSION_PARAMETER;
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
    return is_equality(left) && is_equality(right) && is_said(left->right)
           && is_said(right->right) && expression_same(left->left, right->left);
}

static double kept_or(const struct estimate_source *source,
                      const struct expression *e)
{
    double left = kept_one(source, e->left);
    double right = kept_one(source, e->right);

    return estimate_share(left + right - (is_list(e) ? 0 : left * right));
}

/* NULL is neither true nor false. */
static double kept_not(const struct estimate_source *source,
                       const struct expression *e)
{
    return estimate_share(1 - estimate_expression(source, e->left).nulls
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
        return estimate_expression(source, e).call ? KEPT_LIKE
               : e->type == VDBQ_BOOLEAN           ? KEPT_BOOLEAN
                                                   : 1 - KEPT_UNKNOWN;
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
    bool ranges = estimate_has_range(&a) && estimate_has_range(&b), lower;

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
