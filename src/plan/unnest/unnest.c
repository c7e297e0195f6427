/* SPDX-License-Identifier: MIT */
/*
 * Subqueries become joins. Where their conditions can be taken out of them
 * (decorrelate.c), EXISTS and IN of a WHERE become a semi join, their opposites an
 * anti join, and an aggregate of rows that equal something of the outer query
 * one group for each value, beside the row that asks (decorrelate_connect.c).
 * Others are run for all values that are asked for at once (unnest_push.c). What
 * could fail for values that nobody may come to is applied row by row (extract.c).
 */
#include "plan/unnest/unnest.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/unnest/decorrelate.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/binder.h"
#include "plan/tree/passes.h"
#include "plan/plan.h"
#include "plan/tree/rows_most.h"

/* --------------------------------------------------------- EXISTS and IN -- */

/* Whether a value that a subquery asks for is to be computed before it is joined. */
static bool is_computed_before(const struct expression *value)
{
    return expression_has(value, EXPRESSION_SUBQUERY)
           || expression_has(value, EXPRESSION_FUNCTION) || value->faults;
}

/* Whether the operand of an IN, or what else is asked for, is. */
static bool asks_for_computed(const struct expression *e)
{
    const struct vector *asked = &e->subquery->parameters;
    bool computed = e->left != NULL && is_computed_before(e->left);

    for (size_t i = 0; i < asked->count; i++)
        computed |= is_computed_before(
            VECTOR_ITEMS(asked, struct outer_value)[i].value);
    return computed;
}

/* The subquery of a condition that is EXISTS or IN, or the opposite; NULL: it
 * is something else. */
static const struct expression *asked_of(const struct expression *e,
                                         bool *negated)
{
    *negated = e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_NOT;
    if (*negated)
        e = e->left;
    if (e->kind != EXPRESSION_SUBQUERY || e->subquery->kind == APPLY_SCALAR)
        return NULL;
    return asks_for_computed(e) ? NULL : e;
}

/* Whether NOT IN is never NULL, so that it is the opposite of a match. */
static bool knows_all(const struct expression *e)
{
    return e->left == NULL
           || (!e->left->nullable && !e->subquery->node->columns[0].nullable);
}

/* ------------------------------------------------------------- deferring -- */

/* Parameters that a subquery's rows have, be it of the query around it or of one
 * in it. */
struct known {
    const struct binder *binder;
    struct vector numbers; /* of int */
    bool asks;             /* it has another one */
};

static bool look_around(void *context, struct expression **operand)
{
    struct known *known = context;
    const struct expression *e = *operand;
    bool is = e->kind != EXPRESSION_PARAMETER
              || e->parameter.number < known->binder->value_count;

    for (size_t i = 0; i < known->numbers.count && !is; i++)
        is = VECTOR_ITEMS(&known->numbers, int)[i] == e->parameter.number;
    known->asks |= !is;
    return expression_each(*operand, look_around, context);
}

static bool add_known(struct known *known, int parameter)
{
    return vector_append(&known->numbers, &parameter, 1);
}

/* Looks at the expressions of a node and of all below it; what it applies is
 * known from there on. */
static bool look_below(struct known *known, struct node *node)
{
    bool done = !stack_is_short();

    if (node->where != NULL)
        look_around(known, &node->where);
    for (unsigned i = 0; node->results != NULL && i < node->column_count; i++)
        look_around(known, &node->results[i]);
    for (size_t i = 0; i < node->apply.parameters.count && done; i++)
        done = add_known(known, VECTOR_ITEMS(&node->apply.parameters,
                                             struct step_parameter)[i]
                                    .parameter);
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = look_below(known, VECTOR_ITEMS(&node->parts, struct node *)[i]);
    return done && (node->left == NULL || look_below(known, node->left))
           && (node->right == NULL || look_below(known, node->right));
}

/* Whether a subquery asks queries further around for something, too. Then it
 * is unnested when the query around it is: what it is asked for depends on
 * both. */
static bool is_deferred(struct binder *binder, const struct subquery *subquery)
{
    struct known known = { .binder = binder,
                           .numbers = VECTOR_IN(binder->arena, int) };
    bool done = true;

    for (size_t i = 0; i < subquery->parameters.count && done; i++)
        done = add_known(
            &known, VECTOR_ITEMS(&subquery->parameters, struct outer_value)[i]
                        .parameter);
    return !done || !look_below(&known, subquery->node) || known.asks;
}

/* --------------------------------------------------------------- choosing -- */

/* Of so many times more rows than ask only those that are asked for are
 * grouped. */
static const double ROWS_FEW = 8;

/* As unnest_filter(), by taking out what the subquery asks for. */
static struct node *filter_by_parts(struct binder *binder, struct node *below,
                                    const struct expression *asked,
                                    bool negated, bool *done)
{
    struct decorrelating decorrelating = {
        .binder = binder,
        .parameters = &asked->subquery->parameters,
        .parts = VECTOR_IN(binder->arena, struct expression *)
    };
    struct node *node = decorrelate_conditions(
        &decorrelating, unnest_without_limit(asked->subquery));

    if (node != NULL && asked->left == NULL
        && !decorrelate_can_connect(&decorrelating, below->column_count)) {
        node = NULL;
        decorrelating.refused = binder->error->status == VDBQ_OK;
    }
    *done = !decorrelating.refused;
    if (node != NULL)
        node =
            decorrelate_connect(&decorrelating, negated ? JOIN_ANTI : JOIN_SEMI,
                                below, node, asked->left);
    return node;
}

/* Begins to unnest in the hope that nothing fails what has been refused. False:
 * that is not to be hoped. */
static bool begin_to_hope(struct binder *binder)
{
    binder->hopes = binder->limits == NULL || !binder->limits->careful;
    return binder->hopes;
}

/* Ends it: `hoped` before, and whether it was of use. */
static void end_to_hope(struct binder *binder, bool hoped, bool done)
{
    binder->hopes = false;
    binder->hoped = hoped || (binder->hoped && done);
}

/* unnest_filter() of EXISTS or IN that can be unnested. */
static struct node *filter_by_join(struct binder *binder, struct node *below,
                                   const struct expression *asked, bool negated,
                                   bool *done)
{
    struct unnesting unnesting = { .binder = binder, .below = below };
    struct node *node;

    node = filter_by_parts(binder, below, asked, negated, done);
    if (*done || asked->subquery->parameters.count == 0)
        return node;
    unnesting.parameters = &asked->subquery->parameters;
    node = unnest_begin(&unnesting)
               ? unnest_filter_by_domain(&unnesting, asked, negated)
               : NULL;
    *done = !unnesting.refused;
    return node;
}

struct node *unnest_filter(struct binder *binder, struct node *below,
                           const struct expression *e, bool *done)
{
    bool negated, hoped = binder->hoped;
    const struct expression *asked = asked_of(e, &negated);
    struct node *node;

    *done = false;
    if (asked == NULL || (negated && !knows_all(asked))
        || (!pass_is_on(binder, "unnest")
            && asked->subquery->parameters.count > 0)
        || is_deferred(binder, asked->subquery))
        return NULL;
    node = filter_by_join(binder, below, asked, negated, done);
    if (*done || asked->subquery->parameters.count == 0
        || !begin_to_hope(binder))
        return node;
    node = filter_by_join(binder, below, asked, negated, done);
    end_to_hope(binder, hoped, *done);
    return node;
}

/* ------------------------------------------------------------ aggregates -- */

/* Whether a subquery is what is computed of the aggregates of all its rows. */
static bool is_aggregate_query(const struct node *node,
                               const struct vector *parameters)
{
    return node->kind == NODE_SELECT && node->where == NULL
           && node->left->kind == NODE_GROUP && node->left->group.keys == 0
           && node->column_count == 1 && !node->results[0]->faults
           && !decorrelate_is_outer(parameters, node->results[0])
           && !node_sum_overflows(node->left);
}

/* What an aggregate of no rows is. */
struct nothing {
    struct binder *binder;
    const struct step_group *group;
};

static struct expression *of_nothing(void *context, struct expression *e,
                                     bool *failed)
{
    const struct nothing *nothing = context;
    const struct step_aggregate *aggregate;
    struct expression *value;

    if (e->kind != EXPRESSION_COLUMN)
        return NULL;
    aggregate =
        vector_at(&nothing->group->aggregates, (size_t)e->column.number);
    if (aggregate_row(aggregate->function)->none == AGGREGATE_NULL)
        value = expression_null(nothing->binder, e->type, e->at);
    else if (is_float(e->type))
        value = expression_real(nothing->binder, VDBQ_DOUBLE, 0, e->at);
    else
        value = expression_integer(nothing->binder, 0, e->at);
    *failed = value == NULL;
    return value;
}

/* The keys of a group, and the subquery's result behind them. */
static struct node *keys_and_result(struct binder *binder, struct node *group,
                                    const struct node *query)
{
    unsigned keys = group->group.keys;
    struct expression **results =
        arena_alloc(binder->arena, (keys + 2) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < keys; i++) {
        results[i] = node_column(binder, group, i, (struct position){ 0 });
        if (results[i] == NULL)
            return NULL;
    }
    results[keys] = expression_moved_by(binder, query->results[0], (int)keys);
    return results[keys]
               ? node_select(binder, group, NULL, results, NULL, keys + 1)
               : NULL;
}

/* The value of the subquery for a row of the join, which stands behind so
 * many keys: what it is of no rows where the row has no partner. */
static struct expression *value_beside(struct binder *binder,
                                       const struct node *join, size_t keys,
                                       struct expression *none,
                                       const struct expression *e)
{
    struct ast_expression place = { .at = e->at };
    unsigned first = join->left->column_count;
    struct expression *value =
        node_column(binder, join, first + (unsigned)keys, e->at);
    struct expression *found;

    if (value == NULL || none->constant.null)
        return value;
    found = expression_null_test(
        binder, AST_IS_NOT, node_column(binder, join, first, e->at), &place);
    return found ? expression_choice(binder, found, value, none, e->at) : NULL;
}

static struct node *beside(struct decorrelating *decorrelating,
                           struct node *below, const struct expression *e,
                           struct expression *none, struct expression **value)
{
    struct binder *binder = decorrelating->binder;
    const struct node *query = e->subquery->node;
    struct node *node = decorrelate_whole_group(decorrelating, query->left);

    if (node != NULL && decorrelating->parts.count == 0)
        decorrelating->refused = true;
    if (node == NULL || decorrelating->refused)
        return NULL;
    node = keys_and_result(binder, node, query);
    if (node != NULL)
        node = decorrelate_connect(decorrelating, JOIN_LEFT, below, node, NULL);
    if (node != NULL)
        *value =
            value_beside(binder, node, decorrelating->parts.count, none, e);
    return node && *value ? node : NULL;
}

/* Whether few rows ask for something of the groups of many: then only the
 * groups that are asked for are made. */
static bool asks_few(struct binder *binder, struct node *below,
                     const struct subquery *subquery)
{
    struct decorrelating decorrelating = {
        .binder = binder,
        .parameters = &subquery->parameters,
        .parts = VECTOR_IN(binder->arena, struct expression *)
    };
    struct node *all;

    if (subquery->kind != APPLY_SCALAR
        || !is_aggregate_query(subquery->node, &subquery->parameters))
        return false;
    all = decorrelate_conditions(&decorrelating, subquery->node->left->left);
    if (all == NULL)
        return false;
    estimate_node(binder, below);
    estimate_node(binder, all);
    return below->rows * ROWS_FEW < all->rows;
}

/* As unnest_value(), of one group for each value that the subquery equals. */
static struct node *value_by_parts(struct binder *binder, struct node *below,
                                   const struct expression *e,
                                   struct expression **value, bool *done)
{
    const struct subquery *subquery = e->subquery;
    struct decorrelating decorrelating = {
        .binder = binder,
        .parameters = &subquery->parameters,
        .parts = VECTOR_IN(binder->arena, struct expression *)
    };
    struct nothing nothing = { .binder = binder };
    struct expression *none;
    struct node *node;

    *done = false;
    if (subquery->kind != APPLY_SCALAR
        || !is_aggregate_query(subquery->node, &subquery->parameters))
        return NULL;
    nothing.group = &subquery->node->left->group;
    none = expression_replace(binder, subquery->node->results[0], of_nothing,
                              &nothing);
    *done = none == NULL;
    if (none == NULL || none->kind != EXPRESSION_CONSTANT)
        return NULL;
    node = beside(&decorrelating, below, e, none, value);
    *done = !decorrelating.refused;
    return node;
}

/* unnest_value() of a subquery that asks for values. */
static struct node *value_by_join(struct binder *binder, struct node *below,
                                  const struct expression *e,
                                  struct expression **value, bool *done)
{
    struct unnesting unnesting = { .binder = binder,
                                   .below = below,
                                   .parameters = &e->subquery->parameters };
    struct node *node;

    *done = false;
    if (!asks_few(binder, below, e->subquery)) {
        node = value_by_parts(binder, below, e, value, done);
        if (*done)
            return node;
    }
    node = unnest_begin(&unnesting) ? unnest_by_domain(&unnesting, e, value)
                                    : NULL;
    *done = !unnesting.refused;
    return node || *done ? node : value_by_parts(binder, below, e, value, done);
}

struct node *unnest_value(struct binder *binder, struct node *below,
                          const struct expression *e, struct expression **value,
                          bool *done)
{
    bool hoped = binder->hoped;
    struct node *node;

    *done = false;
    if (!pass_is_on(binder, "unnest") || e->subquery->parameters.count == 0
        || is_deferred(binder, e->subquery))
        return NULL;
    node = value_by_join(binder, below, e, value, done);
    if (*done || !begin_to_hope(binder))
        return node;
    node = value_by_join(binder, below, e, value, done);
    end_to_hope(binder, hoped, *done);
    return node;
}
