/* SPDX-License-Identifier: MIT */
/*
 * The value of a subquery beside the rows that ask, found by the domain: what
 * unnest_push() makes is cut down to one row a tuple, and each row that asks is
 * joined with that of its tuple, if there is one. What can fail is computed
 * there, so that it fails for rows that come so far, and for no others.
 */
#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_copy.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/condition/join_key.h"
#include "plan/unnest/decorrelate.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/unique_key.h"

/* -------------------------------------------------------------- joining -- */

/* The rows that ask, joined with those of their tuples; the domain's columns of
 * `node` are those from `first` on. `operand` (NULL: none) equals column 0. */
static struct node *join_domain(struct unnesting *unnesting,
                                enum join_kind kind, struct node *node,
                                unsigned first, struct expression *operand)
{
    struct binder *binder = unnesting->binder;
    struct node *nodes[2] = { unnesting->below, node };
    struct step_join keys = { .left_keys = VECTOR_IN(binder->arena, int),
                              .right_keys = VECTOR_IN(binder->arena, int) };
    struct expression *column =
        operand ? node_column(binder, node, 0, operand->at) : NULL;

    if (operand != NULL
        && (column == NULL
            || join_add_key(binder, nodes, operand, column, &keys) != VDBQ_OK))
        return NULL;
    if (!unnest_equal(unnesting, nodes, NULL, 0, first, &keys))
        return NULL;
    return unnest_join(unnesting, kind, nodes, &keys);
}

/* A node with a column behind its own that is NULL where a row of an outer join
 * has no partner. */
static struct node *with_mark(struct unnesting *unnesting, struct node *node)
{
    struct expression *one =
        expression_truth(unnesting->binder, true, (struct position){ 0 });

    return one ? node_extend(unnesting->binder, node, &one, 1) : NULL;
}

/* Rows of a node whose column 0 is not NULL. */
static struct node *known_only(struct unnesting *unnesting, struct node *node)
{
    struct expression *known = unnest_null(unnesting, node, 0, false);

    if (!node->columns[0].nullable)
        return node;
    return known ? node_filter(unnesting->binder, node, known) : NULL;
}

/* -------------------------------------------------------------- first row -- */

struct node *unnest_without_limit(const struct subquery *subquery)
{
    struct node *node = subquery->node;

    if (subquery->kind != APPLY_EXISTS)
        return node;
    if (node->kind == NODE_LIMIT && node->right == NULL
        && node->limit.offset == 0 && node->limit.limit > 0)
        return node->left;
    if (node->kind == NODE_SORT && node->sort.offset == 0
        && node->sort.limit > 0)
        return node->left;
    return node;
}

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

/* --------------------------------------------------------------- scalars -- */

/* What a subquery's result is made of, once its columns stand beside the rows
 * that ask. */
struct result {
    struct unnesting *unnesting;
    const struct step_group *group; /* NULL: columns are no aggregates  */
    const int *highs; /* of each aggregate: that of the other half of its
                         sum; -1: it is no half                         */
    const struct node *join;
    unsigned first; /* of its columns that are the subquery's          */
    struct expression *found;
};

/* A sum of its halves, which fails where it needs more than 64 bits. */
static struct expression *whole_sum(const struct result *result,
                                    struct expression *low, unsigned high)
{
    struct binder *binder = result->unnesting->binder;
    struct ast_expression place = { .at = low->at };
    struct expression *above =
        node_column(binder, result->join, result->first + high, low->at);
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
    struct expression *value =
        unnest_aggregate(result->unnesting, result->group, number, result->join,
                         result->first + number, result->found);

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
            : node_column(unnesting->binder, result->join,
                          result->first + (unsigned)e->column.number, e->at);
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
        return value ? only_where(unnesting, result->found, value) : NULL;
    if (select->where == NULL)
        return value;
    where = expression_replace(binder, select->where, beside, result);
    return where ? only_where(unnesting, where, value) : NULL;
}

/* Columns of a subquery beside the rows that ask: `count` of them from number
 * `width` of `node` on, behind the domain's. */
static struct node *stand_beside(struct unnesting *unnesting, struct node *node,
                                 struct result *result)
{
    struct node *marked = with_mark(unnesting, node);
    struct node *join =
        marked ? join_domain(unnesting, JOIN_LEFT, marked, 0, NULL) : NULL;

    if (join == NULL)
        return NULL;
    result->join = join;
    result->first = join->left->column_count + unnest_width(unnesting);
    result->found =
        unnest_null(unnesting, join,
                    join->left->column_count + marked->column_count - 1, false);
    return result->found ? join : NULL;
}

/* The domain's columns in front of the others. */
static struct node *domain_in_front(struct unnesting *unnesting,
                                    struct node *node, unsigned count)
{
    unsigned width = unnest_width(unnesting);
    int *columns = unnest_numbers(unnesting, width + count);

    if (columns == NULL)
        return NULL;
    for (unsigned i = 0; i < width + count; i++)
        columns[i] = (int)(i < width ? count + i : i - width);
    return node_columns(unnesting->binder, node, columns, width + count);
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
        groups ? domain_in_front(unnesting, groups, group->column_count) : NULL;

    node = node ? stand_beside(unnesting, node, &result) : NULL;
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
    node = node ? stand_beside(unnesting, node, &result) : NULL;
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
    node = node ? stand_beside(unnesting, node, &result) : NULL;
    *value = node ? node_column(unnesting->binder, node, result.first,
                                (struct position){ 0 })
                  : NULL;
    return *value ? node : NULL;
}

static struct node *scalar_beside(struct unnesting *unnesting,
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

/* --------------------------------------------------------- EXISTS and IN -- */

/* Each tuple that has rows, once; `kept` columns of these beside it, in front. */
static struct node *tuples_with_rows(struct unnesting *unnesting,
                                     struct node *node, unsigned count,
                                     unsigned kept)
{
    int *columns = unnest_numbers(unnesting, kept);

    node =
        columns ? unnest_columns(unnesting, node, columns, kept, count) : NULL;
    return node ? node_distinct(unnesting->binder, node) : NULL;
}

/* Whether a row has a partner, behind `node`, whose domain's columns are those
 * from `kept` on. */
static struct node *whether_beside(struct unnesting *unnesting,
                                   struct node *node, unsigned kept,
                                   struct expression *operand,
                                   struct expression **found)
{
    struct node *marked = node ? with_mark(unnesting, node) : NULL;
    struct node *join =
        marked ? join_domain(unnesting, JOIN_LEFT, marked, kept, operand)
               : NULL;

    *found = join ? unnest_null(unnesting, join, join->column_count - 1, false)
                  : NULL;
    return *found ? join : NULL;
}

static struct node *exists_beside(struct unnesting *unnesting,
                                  const struct expression *e,
                                  struct expression **value)
{
    struct node *query = unnest_without_limit(e->subquery);
    struct node *node = unnest_push(unnesting, query);

    if (node != NULL)
        node = tuples_with_rows(unnesting, node, query->column_count, 0);
    return whether_beside(unnesting, node, 0, NULL, value);
}

/* How many rows a tuple has, and how many of them have a value, behind the
 * domain's columns. */
static struct node *count_values(struct unnesting *unnesting,
                                 struct node *query)
{
    struct binder *binder = unnesting->binder;
    unsigned width = unnest_width(unnesting);
    struct vector aggregates = VECTOR_IN(binder->arena, struct step_aggregate);
    const struct step_aggregate counts[2] = {
        { .function = AGGREGATE_COUNT, .column = -1, .filter = -1 },
        { .function = AGGREGATE_COUNT, .column = (int)width, .filter = -1 }
    };
    struct node *node = node_copy(binder, query);
    int column = 0;

    node = node ? unnest_push(unnesting, node) : NULL;
    node =
        node ? unnest_columns(unnesting, node, &column, 1, query->column_count)
             : NULL;
    node = node ? domain_in_front(unnesting, node, 1) : NULL;
    if (node == NULL)
        return NULL;
    return vector_append(&aggregates, counts, 2)
               ? node_group(binder, node, width, &aggregates)
               : unnest_fail(unnesting);
}

/* What IN is where there is no match: NULL where the value that is sought, or
 * one among which it is sought, is, else false. */
static struct expression *no_match(struct unnesting *unnesting,
                                   const struct expression *e,
                                   const struct result *counts)
{
    struct binder *binder = unnesting->binder;
    struct ast_expression place = { .at = e->at };
    struct expression *null = expression_null(binder, e->type, e->at);
    struct expression *no = expression_truth(binder, false, e->at);
    struct expression *rows =
        node_column(binder, counts->join, counts->first, e->at);
    struct expression *values =
        node_column(binder, counts->join, counts->first + 1, e->at);
    struct expression *unknown, *sought, *none;

    if (!null || !no || !rows || !values)
        return NULL;
    unknown = expression_operator(binder, AST_LT, values, rows, &place);
    none = expression_null(binder, e->left->type, e->at);
    sought = none ? expression_operator(binder, AST_IS, e->left, none, &place)
                  : NULL;
    if (unknown != NULL && sought != NULL)
        unknown = expression_operator(binder, AST_OR, sought, unknown, &place);
    if (unknown == NULL || sought == NULL)
        return NULL;
    unknown =
        expression_operator(binder, AST_AND, counts->found, unknown, &place);
    return unknown ? expression_choice(binder, unknown, null, no, e->at) : NULL;
}

static struct node *in_beside(struct unnesting *unnesting,
                              const struct expression *e,
                              struct expression **value)
{
    struct binder *binder = unnesting->binder;
    struct node *query = e->subquery->node;
    struct node *node = unnest_push(unnesting, query), *counted;
    struct result counts = { .unnesting = unnesting };
    struct expression *found, *no;

    if (node != NULL)
        node = tuples_with_rows(unnesting, node, query->column_count, 1);
    node = node ? known_only(unnesting, node) : NULL;
    node = whether_beside(unnesting, node, 1, e->left, &found);
    if (node == NULL)
        return NULL;
    if (!e->left->nullable && !query->columns[0].nullable) {
        *value = found;
        return node;
    }
    counted = count_values(unnesting, query);
    unnesting->below = node;
    node = counted ? stand_beside(unnesting, counted, &counts) : NULL;
    no = node ? no_match(unnesting, e, &counts) : NULL;
    *value =
        no ? expression_choice(binder, found,
                               expression_truth(binder, true, e->at), no, e->at)
           : NULL;
    return *value ? node : NULL;
}

/* ------------------------------------------------------------------ all -- */

/* Past so many nodes, and columns of a domain, planning would take longer than
 * running. */
enum { NODES_MOST = 4000, DOMAIN_MOST = 32 };

static bool can_unnest(const struct unnesting *unnesting,
                       const struct expression *e)
{
    return unnesting->binder->nodes < NODES_MOST && unnest_width(unnesting) > 0
           && unnest_width(unnesting) <= DOMAIN_MOST
           && (e->left == NULL
               || !decorrelate_fails(unnesting->binder, e->left->faults));
}

struct node *unnest_by_domain(struct unnesting *unnesting,
                              const struct expression *e,
                              struct expression **value)
{
    struct node *node = NULL;

    if (!can_unnest(unnesting, e))
        return unnest_refuse(unnesting);
    if (e->subquery->kind == APPLY_SCALAR)
        node = scalar_beside(unnesting, e, value);
    else if (e->subquery->kind == APPLY_EXISTS)
        node = exists_beside(unnesting, e, value);
    else
        node = in_beside(unnesting, e, value);
    return node;
}

struct node *unnest_filter_by_domain(struct unnesting *unnesting,
                                     const struct expression *e, bool negated)
{
    struct node *query = unnest_without_limit(e->subquery), *node;

    if (!can_unnest(unnesting, e))
        return unnest_refuse(unnesting);
    node = unnest_push(unnesting, query);
    if (node != NULL && e->left != NULL)
        node = known_only(unnesting, node);
    return node ? join_domain(unnesting, negated ? JOIN_ANTI : JOIN_SEMI, node,
                              query->column_count, e->left)
                : NULL;
}
