/* SPDX-License-Identifier: MIT */
/*
 * The value of a subquery that is one: what is computed of its first row, or of
 * the aggregates of all its rows, beside the rows that ask. What can fail is
 * computed there, so that it fails for rows that come so far, and for no others.
 */
#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/unique_key.h"
#include "plan/unnest/unnest_inner.h"

/* ------------------------------------------------------------- first row -- */

/* What has the same first row without counting rows. */
static struct node *without_count(struct unnesting *unnesting,
                                  struct node *node)
{
    struct node *sort;

    if (node->kind == NODE_LIMIT && node->right == NULL
        && node->limit.offset == 0 && node->limit.limit > 0)
        return node->left;
    if (node->kind != NODE_SORT || node->sort.offset > 0
        || node->sort.limit == 0 || node->sort.limit == UINT64_MAX)
        return node;
    sort = node_sort(unnesting->binder, node->left, &node->sort.keys,
                     node->column_count);
    return sort;
}

/* The first of the rows of each tuple: the domain's columns, and then the node's
 * `count` ones. */
static struct node *first_rows(struct unnesting *unnesting, struct node *node,
                               unsigned count)
{
    struct binder *binder = unnesting->binder;
    unsigned width = unnest_width(unnesting);
    struct vector aggregates = VECTOR_IN(binder->arena, struct step_aggregate);
    int *columns = unnest_numbers(unnesting, width + count);
    bool nullable = false;

    if (columns == NULL)
        return NULL;
    for (unsigned i = 0; i < width + count; i++) {
        columns[i] = (int)(i < width ? count + i : i - width);
        nullable |= i < width && node->columns[count + i].nullable;
    }
    if (!nullable && node_is_unique(node, columns, width))
        return node_columns(binder, node, columns, width + count);
    node = node_columns(binder, node, columns, width + count);
    for (unsigned i = 0; i < count; i++) {
        struct step_aggregate first = { .function = AGGREGATE_FIRST,
                                        .column = (int)(width + i),
                                        .filter = -1 };
        if (!vector_append(&aggregates, &first, 1))
            return unnest_fail(unnesting);
    }
    return node ? node_group(binder, node, width, &aggregates) : NULL;
}

/* --------------------------------------------------------------- results -- */

/* What a subquery's result is made of, once its columns stand beside the rows
 * that ask. */
struct result {
    struct unnesting *unnesting;
    const struct step_group *group; /* NULL: columns are no aggregates  */
    const int *highs;        /* of each aggregate: that of the other half of its
                         sum; -1: it is no half                         */
    struct unnest_beside at; /* where the columns stand                    */
};

/* A sum of its halves, which fails where it needs more than 64 bits. */
static struct expression *whole_sum(const struct result *result,
                                    struct expression *low, unsigned high)
{
    struct binder *binder = result->unnesting->binder;
    struct ast_expression place = { .at = low->at };
    struct expression *above =
        node_column(binder, result->at.join, result->at.first + high, low->at);
    struct expression *zero = expression_integer(binder, 0, low->at);
    struct expression *minus = expression_integer(binder, -1, low->at);
    struct expression *sign, *more;

    if (!above || !zero || !minus)
        return NULL;
    sign = expression_operator(binder, AST_LT, low, zero, &place);
    sign = sign ? expression_choice(binder, sign, minus, zero, low->at) : NULL;
    more =
        sign ? expression_operator(binder, AST_NEQ, above, sign, &place) : NULL;
    return more ? expression_check(
               binder, low, more,
               "integer overflow: a SUM does not fit 64 bits")
                : NULL;
}

static struct expression *aggregate_beside(const struct result *result,
                                           unsigned number)
{
    struct expression *value = unnest_aggregate(
        result->unnesting, result->group, number, result->at.join,
        result->at.first + number, result->at.found);

    return value == NULL || result->highs[number] < 0
               ? value
               : whole_sum(result, value, (unsigned)result->highs[number]);
}

static struct expression *beside(void *context, struct expression *e,
                                 bool *failed)
{
    const struct result *result = context;
    struct unnesting *unnesting = result->unnesting;
    struct expression *placed;
    int column;

    if (e->kind == EXPRESSION_PARAMETER) {
        column = unnest_column(unnesting, e->parameter.number);
        return column < 0 ? NULL
                          : VECTOR_ITEMS(&unnesting->values,
                                         struct expression *)[column];
    }
    if (e->kind != EXPRESSION_COLUMN)
        return NULL;
    placed =
        result->group != NULL
            ? aggregate_beside(result, (unsigned)e->column.number)
            : node_column(unnesting->binder, result->at.join,
                          result->at.first + (unsigned)e->column.number, e->at);
    *failed = placed == NULL;
    return placed;
}

/* The value where the condition holds, else NULL. */
static struct expression *only_where(struct unnesting *unnesting,
                                     struct expression *condition,
                                     struct expression *value)
{
    struct expression *null =
        expression_null(unnesting->binder, value->type, value->at);

    return null ? expression_choice(unnesting->binder, condition, value, null,
                                    value->at)
                : NULL;
}

/* The result of a SELECT over what the join has beside its left rows. */
static struct expression *result_beside(struct result *result,
                                        const struct node *select)
{
    struct unnesting *unnesting = result->unnesting;
    struct binder *binder = unnesting->binder;
    struct expression *value = expression_replace(binder, select->results[0],
                                                  beside, result),
                      *where;

    if (value == NULL || result->group == NULL)
        return value ? only_where(unnesting, result->at.found, value) : NULL;
    if (select->where == NULL)
        return value;
    where = expression_replace(binder, select->where, beside, result);
    return where ? only_where(unnesting, where, value) : NULL;
}

static bool is_integer_sum(const struct node *below,
                           const struct step_aggregate *aggregate)
{
    return aggregate->function == AGGREGATE_SUM
           && !is_float(below->columns[aggregate->column].type);
}

/* A group without keys whose sums cannot fail: they are cut into halves, the
 * higher ones behind all other aggregates. */
static struct node *halve_sums(struct unnesting *unnesting,
                               const struct node *group, int *highs)
{
    struct binder *binder = unnesting->binder;
    struct vector all = VECTOR_IN(binder->arena, struct step_aggregate);

    if (!arena_vector_copy(binder->arena, &group->group.aggregates, &all))
        return unnest_fail(unnesting);
    for (unsigned i = 0; i < group->column_count; i++) {
        struct step_aggregate *low = vector_at(&all, i), high = *low;
        highs[i] = -1;
        if (!is_integer_sum(group->left, low))
            continue;
        low->function = AGGREGATE_SUM_LOW;
        high.function = AGGREGATE_SUM_HIGH;
        highs[i] = (int)all.count;
        if (!vector_append(&all, &high, 1))
            return unnest_fail(unnesting);
    }
    return node_group(binder, group->left, 0, &all);
}

/* What is computed of the aggregates of all rows of a tuple; `group` is that of
 * the SELECT, or has the halves of its sums. */
static struct node *aggregates_of(struct unnesting *unnesting,
                                  const struct node *select, struct node *group,
                                  const int *highs, struct expression **value)
{
    struct result result = { .unnesting = unnesting,
                             .group = &group->group,
                             .highs = highs };
    struct node *groups = unnest_groups(unnesting, group);
    struct node *node =
        groups ? unnest_domain_in_front(unnesting, groups, group->column_count)
               : NULL;

    node = node ? unnest_stand_beside(unnesting, node, &result.at) : NULL;
    *value = node ? result_beside(&result, select) : NULL;
    return *value ? node : NULL;
}

/* Sums that may need more than 64 bits are made of halves, so that they fail
 * where the value is computed. */
static struct node *aggregates_beside(struct unnesting *unnesting,
                                      const struct node *select,
                                      struct expression **value)
{
    struct node *group = select->left, *made;
    int *highs = unnest_numbers(unnesting, group->column_count);

    for (unsigned i = 0; highs != NULL && i < group->column_count; i++)
        highs[i] = -1;
    made = highs ? aggregates_of(unnesting, select, group, highs, value) : NULL;
    if (made != NULL || !unnesting->refused)
        return made;
    unnesting->refused = false;
    group = halve_sums(unnesting, group, highs);
    return group ? aggregates_of(unnesting, select, group, highs, value) : NULL;
}

/* What is computed of the first row of a tuple. */
static struct node *result_of_first(struct unnesting *unnesting,
                                    const struct node *select,
                                    struct expression **value)
{
    struct binder *binder = unnesting->binder;
    struct result result = { .unnesting = unnesting };
    unsigned count = select->left->column_count;
    struct node *node = select->left;

    if (select->where != NULL)
        node = node_filter(binder, node, select->where);
    node = node ? unnest_push(unnesting, node) : NULL;
    node = node ? first_rows(unnesting, node, count) : NULL;
    node = node ? unnest_stand_beside(unnesting, node, &result.at) : NULL;
    *value = node ? result_beside(&result, select) : NULL;
    return *value ? node : NULL;
}

/* A SELECT without FROM. */
static struct node *result_alone(struct unnesting *unnesting,
                                 const struct node *select,
                                 struct expression **value)
{
    struct expression *where;

    *value = unnest_valued(unnesting, select->results[0]);
    if (*value != NULL && select->where != NULL) {
        where = unnest_valued(unnesting, select->where);
        *value = where ? only_where(unnesting, where, *value) : NULL;
    }
    return *value ? unnesting->below : NULL;
}

/* The first column of the first row. */
static struct node *first_beside(struct unnesting *unnesting,
                                 struct node *query, struct expression **value)
{
    struct result result = { .unnesting = unnesting };
    struct node *node = unnest_push(unnesting, query);

    node = node ? first_rows(unnesting, node, query->column_count) : NULL;
    node = node ? unnest_stand_beside(unnesting, node, &result.at) : NULL;
    *value = node ? node_column(unnesting->binder, node, result.at.first,
                                (struct position){ 0 })
                  : NULL;
    return *value ? node : NULL;
}

struct node *unnest_scalar(struct unnesting *unnesting,
                           const struct expression *e,
                           struct expression **value)
{
    struct node *query = without_count(unnesting, e->subquery->node);

    if (query == NULL)
        return NULL;
    if (query->kind != NODE_SELECT)
        return first_beside(unnesting, query, value);
    if (query->left->kind == NODE_ONCE)
        return result_alone(unnesting, query, value);
    if (query->left->kind == NODE_GROUP && query->left->group.keys == 0)
        return aggregates_beside(unnesting, query, value);
    return query->results[0]->faults
                   || unnest_asks(unnesting, query->results[0])
               ? result_of_first(unnesting, query, value)
               : first_beside(unnesting, query, value);
}
