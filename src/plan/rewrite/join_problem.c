/* SPDX-License-Identifier: MIT */
/*
 * What the search for an order of joins (join_order.c) is told: how many rows
 * the leaves have, and what the conditions between them keep. Those between
 * two leaves that make a range worth its price are one.
 */
#include <string.h>

#include "base/vector.h"
#include "plan/condition/range_join.h"
#include "plan/rewrite/join_order.h"
#include "plan/rewrite/joining.h"
#include "plan/tree/binder.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/unique_key.h"

/* -------------------------------------------------------------- leaves -- */

/* What find_leaves() adds to. */
struct finding {
    const struct joining *joining;
    uint64_t leaves;
};

static bool find_leaves(void *context, struct expression **operand)
{
    struct finding *finding = context;
    const struct joining *joining = finding->joining;
    struct expression *e = *operand;

    if (e->kind != EXPRESSION_COLUMN)
        return expression_each(e, find_leaves, context);
    for (unsigned i = 0; i < joining->count; i++)
        if ((unsigned)e->column.number >= joining->firsts[i]
            && (unsigned)e->column.number < joining->firsts[i + 1])
            finding->leaves |= (uint64_t)1 << i;
    return true;
}

uint64_t joining_leaves(const struct joining *joining, struct expression *e)
{
    struct finding finding = { joining, 0 };

    find_leaves(&finding, &e);
    return finding.leaves;
}

/* -------------------------------------------------------------- edges -- */

/* The leaf that has a column of FROM, and the column's number there. */
static const struct node *leaf_of(const struct joining *joining, int *column)
{
    unsigned leaf = 0;

    while ((unsigned)*column >= joining->firsts[leaf + 1])
        leaf++;
    *column -= (int)joining->firsts[leaf];
    return joining->leaves[leaf];
}

static const struct column_estimate *estimate_of(const void *context,
                                                 int column)
{
    const struct node *leaf = leaf_of(context, &column);

    return &leaf->columns[column].estimate;
}

static bool is_leaf_unique(const struct joining *joining, int column)
{
    const struct node *leaf = leaf_of(joining, &column);

    return node_is_unique(leaf, &column, 1);
}

/* A condition as the search for an order sees it. */
static struct join_edge edge_of(const struct joining *joining,
                                const struct part *part)
{
    const struct estimate_source source = { .column = estimate_of,
                                            .context = joining };
    const struct expression *e = part->expression;
    struct join_edge edge = { .leaves = part->leaves,
                              .price = (double)e->size };
    struct column_estimate sides[2];
    struct pair_estimate pairs;

    if (is_equality(e)) {
        edge.sides[0] = joining_leaves(joining, e->left);
        edge.sides[1] = joining_leaves(joining, e->right);
    }
    edge.key = part->key;
    if (!edge.key) {
        edge.share = estimate_kept(&source, e);
        return edge;
    }
    for (int i = 0; i < 2; i++) {
        const struct expression *side = i == 0 ? e->left : e->right;
        sides[i] = estimate_expression(&source, side);
        edge.columns[i] =
            side->kind == EXPRESSION_COLUMN ? side->column.number : -1;
        edge.unique[i] =
            edge.columns[i] >= 0 && is_leaf_unique(joining, edge.columns[i]);
    }
    pairs = estimate_pairs(&sides[0], &sides[1]);
    edge.share = pairs.possible;
    edge.values = pairs.values;
    memcpy(edge.within, pairs.within, sizeof edge.within);
    return edge;
}

/* -------------------------------------------------------------- ranges -- */

/* Whether a part says something of two leaves that is no key. */
static bool is_of_two(const struct joining *joining, const struct part *part,
                      unsigned leaves[2])
{
    unsigned count = 0;

    for (unsigned i = 0; i < joining->count; i++)
        if (part->leaves >> i & 1) {
            if (count < 2)
                leaves[count] = i;
            count++;
        }
    return count == 2 && !part->done && !part->late;
}

/* Prices the range that all parts about two leaves make: FROM's columns of the
 * first leaf come before those of the second. */
static enum vdbq_status price_range(const struct joining *joining,
                                    const struct join_problem *problem,
                                    const unsigned leaves[2],
                                    struct range_price *price)
{
    struct range_sides sides = {
        .columns = { .column = estimate_of, .context = joining },
    };
    struct vector parts = VECTOR(struct expression *);
    uint64_t both = (uint64_t)1 << leaves[0] | (uint64_t)1 << leaves[1];
    enum vdbq_status status = VDBQ_OK;

    for (int i = 0; i < 2; i++) {
        sides.rows[i] = problem->rows[leaves[i]];
        sides.bases[i] = problem->bases[leaves[i]];
    }
    for (size_t i = 0; i < joining->part_count && status == VDBQ_OK; i++) {
        const struct part *part = &joining->parts[i];
        if (part->leaves == both && !part->done && !part->late
            && !vector_append(&parts, &part->expression, 1))
            status = error_no_memory(joining->binder->error);
    }
    if (status == VDBQ_OK)
        status = join_price_range(joining->binder, joining->firsts[leaves[1]],
                                  &parts, &sides, price);
    vector_finish(&parts);
    return status;
}

/* Makes one edge of those between two leaves that are no keys: together they
 * keep no more than the range, and no more than each on its own. */
static void merge_edges(struct join_problem *problem, uint64_t leaves,
                        double share)
{
    struct join_edge range = { .leaves = leaves, .range = true, .share = 1 };
    unsigned kept = 0;

    for (unsigned i = 0; i < problem->edge_count; i++) {
        const struct join_edge *edge = &problem->edges[i];
        if (edge->leaves != leaves || edge->key) {
            problem->edges[kept++] = *edge;
            continue;
        }
        range.share *= edge->share;
        range.price += edge->price;
    }
    range.share = range.share < share ? range.share : share;
    problem->edges[kept++] = range;
    problem->edge_count = kept;
}

/* Whether edges of two leaves are one already, or there is a key. */
static bool is_linked(const struct join_problem *problem, uint64_t leaves)
{
    for (unsigned i = 0; i < problem->edge_count; i++)
        if (problem->edges[i].leaves == leaves
            && (problem->edges[i].key || problem->edges[i].range))
            return true;
    return false;
}

/* Finds the ranges that pay between two leaves. */
static enum vdbq_status find_ranges(const struct joining *joining,
                                    struct join_problem *problem)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < joining->part_count && status == VDBQ_OK; i++) {
        const struct part *part = &joining->parts[i];
        struct range_price price;
        unsigned leaves[2];
        if (!is_of_two(joining, part, leaves)
            || is_linked(problem, part->leaves))
            continue;
        status = price_range(joining, problem, leaves, &price);
        if (status == VDBQ_OK && price.share < 1 && price.range < price.grid)
            merge_edges(problem, part->leaves, price.share);
    }
    return status;
}

/* ---------------------------------------------------------------- all -- */

enum vdbq_status joining_order(struct joining *joining)
{
    struct arena *arena = joining->binder->arena;
    struct join_problem problem = { .count = joining->count };

    problem.edges =
        arena_alloc(arena, (joining->part_count + 1) * sizeof *problem.edges);
    if (problem.edges == NULL)
        return error_no_memory(joining->binder->error);
    for (unsigned i = 0; i < joining->count; i++) {
        estimate_node(joining->binder, joining->leaves[i]);
        problem.rows[i] = joining->leaves[i]->rows;
        problem.bases[i] = joining->leaves[i]->base;
    }
    for (size_t i = 0; i < joining->part_count; i++) {
        const struct part *part = &joining->parts[i];
        if (!part->done && (part->key || !part->late) && part->leaves != 0)
            problem.edges[problem.edge_count++] = edge_of(joining, part);
    }
    if (joining->count > 2 && find_ranges(joining, &problem) != VDBQ_OK)
        return joining->binder->error->status;
    return join_order(arena, &problem, joining->sequence)
               ? VDBQ_OK
               : error_no_memory(joining->binder->error);
}
