/* SPDX-License-Identifier: MIT */
/*
 * The value of a subquery beside the rows that ask, found by the domain: what
 * unnest_push() makes is cut down to one row a tuple, and each row that asks is
 * joined with that of its tuple, if there is one. Here EXISTS and IN;
 * unnest_scalar.c has the values of others.
 */
#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_copy.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/unnest/decorrelate.h"
#include "plan/unnest/unnest_inner.h"

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

/* Rows of a node whose column 0 is not NULL. */
static struct node *known_only(struct unnesting *unnesting, struct node *node)
{
    struct expression *known = unnest_null(unnesting, node, 0, false);

    if (!node->columns[0].nullable)
        return node;
    return known ? node_filter(unnesting->binder, node, known) : NULL;
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
    struct node *marked = node ? unnest_with_mark(unnesting, node) : NULL;
    struct node *join =
        marked ? unnest_join_domain(unnesting, JOIN_LEFT, marked, kept, operand)
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
    node = node ? unnest_domain_in_front(unnesting, node, 1) : NULL;
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
                                   const struct unnest_beside *counts)
{
    struct binder *binder = unnesting->binder;
    struct ast_expression place = { .at = e->at };
    struct expression *null = expression_null(binder, e->type, e->at);
    struct expression *no = expression_truth(binder, false, e->at);
    struct expression *rows =
        node_column(binder, counts->join, counts->first, e->at);
    struct expression *values =
        node_column(binder, counts->join, counts->first + 1, e->at);
    struct expression *unknown, *sought;

    if (!null || !no || !rows || !values)
        return NULL;
    unknown = expression_operator(binder, AST_LT, values, rows, &place);
    sought = expression_null_test(binder, AST_IS, e->left, &place);
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
    struct unnest_beside counts = { 0 };
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
    node = counted ? unnest_stand_beside(unnesting, counted, &counts) : NULL;
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
enum { NODES_MOST = 16000, DOMAIN_MOST = 32 };

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
        node = unnest_scalar(unnesting, e, value);
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
    return node ? unnest_join_domain(unnesting, negated ? JOIN_ANTI : JOIN_SEMI,
                                     node, query->column_count, e->left)
                : NULL;
}
