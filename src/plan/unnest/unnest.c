/* SPDX-License-Identifier: MIT */
/*
 * Subqueries become joins. Where their conditions can be taken out of them
 * (decorrelate.c), EXISTS and IN of a WHERE become a semi join, their opposites an
 * anti join, and an aggregate of rows that equal something of the outer query
 * one group for each value, beside the row that asks. Others are run for all
 * values that are asked for at once (unnest_push.c). What could fail for values
 * that nobody may come to is applied row by row (extract.c).
 */
#include "plan/unnest/unnest.h"

#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/condition/range_join.h"
#include "plan/condition/join_key.h"
#include "plan/unnest/decorrelate.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/binder.h"
#include "plan/tree/passes.h"
#include "plan/plan.h"
#include "plan/tree/rows_most.h"

/* The outer query's values take the place of parameters. */
static struct expression *outer_value(void *parameters, struct expression *e,
                                      bool *failed)
{
    const struct vector *values = parameters;

    (void)failed;
    for (size_t i = 0; e->kind == EXPRESSION_PARAMETER && i < values->count;
         i++) {
        const struct outer_value *value = vector_at(values, i);
        if (value->parameter == e->parameter.number)
            return value->value;
    }
    return NULL;
}

static struct expression *with_values(const struct decorrelating *decorrelating,
                                      struct expression *e)
{
    return expression_replace(decorrelating->binder, e, outer_value,
                              (void *)(uintptr_t)decorrelating->parameters);
}

/* --------------------------------------------------------------- joining -- */

/* The sides of a join that is being made, and what connects them. */
struct connecting {
    struct decorrelating *decorrelating;
    struct node *nodes[2];
    struct step_join keys;
    struct expression *where;
};

static enum vdbq_status connect_keys(struct connecting *to)
{
    struct decorrelating *decorrelating = to->decorrelating;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < decorrelating->parts.count && status == VDBQ_OK;
         i++) {
        struct expression *part =
            VECTOR_ITEMS(&decorrelating->parts, struct expression *)[i];
        struct expression *inner, *outer;
        if (!decorrelate_equality(decorrelating->parameters, part, &inner,
                                  &outer))
            continue;
        outer = with_values(decorrelating, outer);
        status = outer ? join_add_key(decorrelating->binder, to->nodes, outer,
                                      inner, &to->keys)
                       : decorrelating->binder->error->status;
    }
    return status;
}

/* Where columns of both sides are when the left one has got more of them than
 * `middle`. */
static int *both_columns(const struct connecting *to, unsigned middle)
{
    struct binder *binder = to->decorrelating->binder;
    unsigned count = middle + to->nodes[1]->column_count;
    unsigned added = to->nodes[0]->column_count - middle;
    int *columns = arena_alloc(binder->arena, (count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)(i < middle ? i : i + added);
    return columns;
}

/* All parts that are no keys, over the columns of both sides, where those of
 * the subquery are the columns from `middle` on. */
static enum vdbq_status other_parts(const struct decorrelating *decorrelating,
                                    unsigned middle, struct vector *parts)
{
    for (size_t i = 0; i < decorrelating->parts.count; i++) {
        struct expression *part =
            VECTOR_ITEMS(&decorrelating->parts, struct expression *)[i];
        struct expression *inner, *outer;
        if (decorrelate_equality(decorrelating->parameters, part, &inner,
                                 &outer))
            continue;
        part = expression_moved_by(decorrelating->binder, part, (int)middle);
        part = part ? with_values(decorrelating, part) : NULL;
        if (part == NULL)
            return decorrelating->binder->error->status;
        if (!vector_append(parts, &part, 1))
            return error_no_memory(decorrelating->binder->error);
    }
    return VDBQ_OK;
}

/* The condition: parts, but those that became NULL. The left node has got
 * more columns since there were `middle`. */
static enum vdbq_status connect_where(struct connecting *to, unsigned middle,
                                      const struct vector *parts)
{
    struct binder *binder = to->decorrelating->binder;
    struct node *both =
        node_join(binder, JOIN_INNER, to->nodes[0], to->nodes[1]);
    int *columns = both ? both_columns(to, middle) : NULL;

    for (size_t i = 0; columns != NULL && i < parts->count; i++) {
        struct expression *part = VECTOR_ITEMS(parts, struct expression *)[i];
        struct ast_expression place = { 0 };
        if (part == NULL)
            continue;
        place.at = part->at;
        part = expression_over(binder, part, both, columns, 0);
        if (part != NULL && to->where != NULL)
            part =
                expression_operator(binder, AST_AND, to->where, part, &place);
        if (part == NULL)
            return binder->error->status;
        to->where = part;
    }
    return columns ? VDBQ_OK : binder->error->status;
}

static enum vdbq_status connect_others(struct connecting *to)
{
    struct binder *binder = to->decorrelating->binder;
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    unsigned middle = to->nodes[0]->column_count;
    enum vdbq_status status = other_parts(to->decorrelating, middle, &parts);

    if (status == VDBQ_OK && to->keys.left_keys.count == 0)
        status =
            join_add_range(binder, to->nodes, middle, &parts, &to->keys.range);
    if (status == VDBQ_OK && parts.count > 0)
        status = connect_where(to, middle, &parts);
    return status;
}

static struct node *connect(struct decorrelating *decorrelating,
                            enum join_kind kind, struct node *below,
                            struct node *inner, struct expression *operand)
{
    struct binder *binder = decorrelating->binder;
    struct connecting to = {
        .decorrelating = decorrelating,
        .nodes = { below, inner },
        .keys = { .left_keys = VECTOR_IN(binder->arena, int),
                  .right_keys = VECTOR_IN(binder->arena, int) }
    };
    struct expression *column =
        operand ? node_column(binder, inner, 0, operand->at) : NULL;
    enum vdbq_status status = VDBQ_OK;
    struct node *join = NULL;

    if (operand != NULL)
        status = column
                     ? join_add_key(binder, to.nodes, operand, column, &to.keys)
                     : binder->error->status;
    if (status == VDBQ_OK)
        status = connect_keys(&to);
    if (status == VDBQ_OK && connect_others(&to) == VDBQ_OK)
        join = node_join(binder, kind, to.nodes[0], to.nodes[1]);
    if (join == NULL)
        return NULL;
    join->join.left_keys = to.keys.left_keys;
    join->join.right_keys = to.keys.right_keys;
    join->join.range = to.keys.range;
    join->where = to.where;
    join->unnested = true;
    join->asked = decorrelating->parameters->count > 0;
    if (kind == JOIN_LEFT)
        node_keep_ranges(join);
    return join;
}

/* --------------------------------------------------------- EXISTS and IN -- */

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
    if (e->left != NULL
        && (expression_has(e->left, EXPRESSION_SUBQUERY)
            || expression_has(e->left, EXPRESSION_FUNCTION) || e->left->faults))
        return NULL;
    return e;
}

/* Whether NOT IN is never NULL, so that it is the opposite of a match. */
static bool knows_all(const struct expression *e)
{
    return e->left == NULL
           || (!e->left->nullable && !e->subquery->node->columns[0].nullable);
}

/* Without any equality or range, all rows would meet all rows. */
static bool connects(const struct decorrelating *decorrelating, unsigned middle)
{
    struct vector parts =
        VECTOR_IN(decorrelating->binder->arena, struct expression *);
    struct expression *inner, *outer;
    bool has = false;

    for (size_t i = 0; i < decorrelating->parts.count; i++)
        if (decorrelate_equality(
                decorrelating->parameters,
                VECTOR_ITEMS(&decorrelating->parts, struct expression *)[i],
                &inner, &outer))
            return true;
    if (other_parts(decorrelating, middle, &parts) == VDBQ_OK)
        join_has_range(decorrelating->binder, middle, &parts, &has);
    return has;
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
        && !connects(&decorrelating, below->column_count)) {
        node = NULL;
        decorrelating.refused = binder->error->status == VDBQ_OK;
    }
    *done = !decorrelating.refused;
    if (node != NULL)
        node = connect(&decorrelating, negated ? JOIN_ANTI : JOIN_SEMI, below,
                       node, asked->left);
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
    struct expression *key, *null, *found;

    if (value == NULL || none->constant.null)
        return value;
    key = node_column(binder, join, first, e->at);
    null = key ? expression_null(binder, key->type, e->at) : NULL;
    found = null ? expression_operator(binder, AST_IS_NOT, key, null, &place)
                 : NULL;
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
        node = connect(decorrelating, JOIN_LEFT, below, node, NULL);
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
