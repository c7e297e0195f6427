/* SPDX-License-Identifier: MIT */
/*
 * Inner joins in the order that costs least (join_order.c), and where
 * conditions are tested: as soon as their columns are there.
 */
#include "plan/rewrite/order.h"

#include <assert.h>
#include <math.h>

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/condition/asks.h"
#include "plan/condition/range_join.h"
#include "plan/rewrite/join_order.h"
#include "plan/rewrite/joining.h"
#include "plan/rewrite/extract.h"
#include "plan/rewrite/push.h"
#include "plan/unnest/unnest.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/binder.h"

/* --------------------------------------------------------------- parts -- */

static struct expression *both(struct binder *binder, struct expression *a,
                               struct expression *b)
{
    struct ast_expression place = { .at = b->at };

    return a == NULL ? b : expression_operator(binder, AST_AND, a, b, &place);
}

/* Whether a part is an equality of different leaves. The host may have to compute
 * its sides, each over its own leaves; subqueries are answered over all of them. */
static bool can_be_key(const struct joining *joining,
                       const struct expression *e)
{
    if (!is_equality(e) || expression_has(e, EXPRESSION_SUBQUERY))
        return false;
    uint64_t left = joining_leaves(joining, e->left);
    uint64_t right = joining_leaves(joining, e->right);
    return left != 0 && right != 0 && !(left & right);
}

static enum vdbq_status read_parts(struct joining *joining,
                                   const struct vector *conditions)
{
    joining->parts =
        arena_alloc(joining->binder->arena,
                    (conditions->count + 1) * sizeof *joining->parts);
    if (joining->parts == NULL)
        return error_no_memory(joining->binder->error);
    joining->part_count = conditions->count;
    for (size_t i = 0; i < conditions->count; i++) {
        struct expression *e = VECTOR_ITEMS(conditions, struct expression *)[i];
        joining->parts[i] = (struct part){ .expression = e,
                                           .leaves = joining_leaves(joining, e),
                                           .key = can_be_key(joining, e),
                                           .late = needs_extraction(e) };
    }
    return VDBQ_OK;
}

/* ------------------------------------------------------------- columns -- */

static struct expression *over_branch(const struct joining *joining,
                                      const struct branch *branch,
                                      struct expression *e)
{
    return expression_over(joining->binder, e, branch->node, branch->columns,
                           0);
}

static struct expression *over_leaf(const struct joining *joining,
                                    unsigned leaf, struct expression *e)
{
    return expression_over(joining->binder, e, joining->leaves[leaf], NULL,
                           joining->firsts[leaf]);
}

/* Numbers for all of FROM's columns, all of them -1. */
static int *no_columns(const struct joining *joining)
{
    unsigned count = joining->firsts[joining->count];
    int *columns =
        arena_alloc(joining->binder->arena, (count + 1) * sizeof *columns);

    for (unsigned i = 0; i < count && columns != NULL; i++)
        columns[i] = -1;
    if (columns == NULL)
        error_no_memory(joining->binder->error);
    return columns;
}

static enum vdbq_status start_branch(const struct joining *joining, int leaf,
                                     struct branch *branch)
{
    unsigned first = joining->firsts[leaf], end = joining->firsts[leaf + 1];

    *branch = (struct branch){ .node = joining->leaves[leaf],
                               .leaves = (uint64_t)1 << leaf,
                               .columns = no_columns(joining) };
    for (unsigned i = first; i < end && branch->columns != NULL; i++)
        branch->columns[i] = (int)(i - first);
    return branch->columns ? VDBQ_OK : joining->binder->error->status;
}

/* FROM's columns as those of the left branch and of the right one behind them,
 * from number `middle` on. */
static int *both_columns(const struct joining *joining,
                         const struct branch *sides, unsigned middle)
{
    unsigned count = joining->firsts[joining->count];
    int *columns = no_columns(joining);

    for (unsigned i = 0; i < count && columns != NULL; i++)
        if (sides[0].columns[i] >= 0)
            columns[i] = sides[0].columns[i];
        else if (sides[1].columns[i] >= 0)
            columns[i] = (int)middle + sides[1].columns[i];
    return columns;
}

/* ------------------------------------------------------------- filters -- */

/* A leaf of so many times fewer rows than another one is small beside it. */
static const double SMALL_LEAF = 4;

/* Whether a leaf is small beside another one: it is likely that each of its rows is joined
 * several times. */
static bool is_small(const struct joining *joining, unsigned leaf)
{
    double most = 0;

    for (unsigned i = 0; i < joining->count; i++) {
        estimate_node(joining->binder, joining->leaves[i]);
        most = fmax(most, joining->leaves[i]->rows);
    }
    return joining->leaves[leaf]->rows * SMALL_LEAF <= most;
}

/* Whether what a part asks of queries is asked for the rows of its leaf, before these are
 * joined: what is the same for all rows, and of small leaves what hangs on the row. */
static bool is_asked_early(const struct joining *joining, unsigned leaf,
                           struct expression *e)
{
    struct asks asks = condition_asks(e);

    return joining->count > 1 && asks.early
           && (!asks.of_row || is_small(joining, leaf));
}

/* A part about one leaf. What has to be extracted comes later, unless it can be
 * a join of the leaf, or may be asked before. */
static enum vdbq_status test_leaf(struct joining *joining, unsigned leaf,
                                  struct part *part)
{
    struct binder *binder = joining->binder;
    struct expression *e = over_leaf(joining, leaf, part->expression);
    struct node *node;

    if (e == NULL)
        return binder->error->status;
    part->done = true;
    if (part->late)
        node = unnest_filter(binder, joining->leaves[leaf], e, &part->done);
    else
        node = node_push(binder, joining->leaves[leaf], e);
    if (node == NULL && !part->done && is_asked_early(joining, leaf, e)) {
        part->done = true;
        return filter_by(binder, &joining->leaves[leaf], e);
    }
    if (node == NULL)
        return part->done ? binder->error->status : VDBQ_OK;
    joining->leaves[leaf] = node;
    return VDBQ_OK;
}

/* Tests what concerns one leaf alone before it is joined. */
static enum vdbq_status filter_leaf(struct joining *joining, unsigned leaf)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < joining->part_count && status == VDBQ_OK; i++) {
        struct part *part = &joining->parts[i];
        if (!part->done && part->leaves == (uint64_t)1 << leaf)
            status = test_leaf(joining, leaf, part);
    }
    return status;
}

/* Tests what can be tested of the rows of a branch. */
static enum vdbq_status filter_branch(struct joining *joining,
                                      struct branch *branch)
{
    struct binder *binder = joining->binder;
    struct expression *where = NULL;

    for (size_t i = 0; i < joining->part_count; i++) {
        struct part *part = &joining->parts[i];
        struct expression *e;
        if (part->done || part->late || (part->leaves & ~branch->leaves))
            continue;
        e = over_branch(joining, branch, part->expression);
        where = e ? both(binder, where, e) : NULL;
        if (where == NULL)
            return binder->error->status;
        part->done = true;
    }
    if (where == NULL)
        return VDBQ_OK;
    branch->node = node_filter(binder, branch->node, where);
    return branch->node ? VDBQ_OK : binder->error->status;
}

enum vdbq_status filter_by(struct binder *binder, struct node **node,
                           struct expression *e)
{
    struct expression **expressions[1] = { &e };
    bool done;
    struct node *kept = unnest_filter(binder, *node, e, &done);

    if (kept == NULL && !done
        && extract(binder, node, expressions, 1) == VDBQ_OK)
        kept = node_push(binder, *node, e);
    if (kept == NULL)
        return binder->error->status;
    *node = kept;
    return VDBQ_OK;
}

/* Tests what has a node of its own, over all rows. */
static enum vdbq_status filter_late(struct joining *joining)
{
    struct binder *binder = joining->binder;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < joining->part_count && status == VDBQ_OK; i++) {
        struct part *part = &joining->parts[i];
        struct expression *e;
        if (part->done)
            continue;
        e = over_branch(joining, &joining->all, part->expression);
        if (e == NULL)
            return binder->error->status;
        status = filter_by(binder, &joining->all.node, e);
    }
    return status;
}

/* ---------------------------------------------------------------- keys -- */

/* Whether a part says something of both sides, and of nothing else. */
static bool is_of_both(const struct part *part, const struct branch *sides)
{
    return !part->done && (part->leaves & sides[0].leaves)
           && (part->leaves & sides[1].leaves)
           && !(part->leaves & ~(sides[0].leaves | sides[1].leaves));
}

/* Whether a part is an equality of two branches; `*turned`: the right one is
 * on its left. */
static bool connects(const struct joining *joining, const struct part *part,
                     const struct branch *sides, bool *turned)
{
    uint64_t left, right;

    if (!is_of_both(part, sides) || !part->key)
        return false;
    left = joining_leaves(joining, part->expression->left);
    right = joining_leaves(joining, part->expression->right);
    *turned = !(left & ~sides[1].leaves) && !(right & ~sides[0].leaves);
    return *turned
           || (!(left & ~sides[0].leaves) && !(right & ~sides[1].leaves));
}

static enum vdbq_status collect_keys(struct joining *joining,
                                     const struct branch *sides,
                                     struct node *nodes[2],
                                     struct step_join *join)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < joining->part_count && status == VDBQ_OK; i++) {
        struct part *part = &joining->parts[i];
        struct expression *left, *right;
        bool turned;
        if (!connects(joining, part, sides, &turned))
            continue;
        left = part->expression->left;
        right = part->expression->right;
        left = over_branch(joining, &sides[turned], left);
        right = over_branch(joining, &sides[!turned], right);
        if (left == NULL || right == NULL)
            return joining->binder->error->status;
        status = extract_key(joining->binder, nodes, turned ? right : left,
                             turned ? left : right, join);
        part->done = true;
    }
    return status;
}

/* ---------------------------------------------------------------- ranges -- */

/* The parts that can be tested where two branches are joined, over the columns
 * of both; NULL in the place of others. */
static enum vdbq_status parts_over_both(const struct joining *joining,
                                        const struct branch *sides,
                                        struct node *const nodes[2],
                                        struct vector *parts)
{
    struct binder *binder = joining->binder;
    int *columns = both_columns(joining, sides, nodes[0]->column_count);
    struct node *both =
        columns ? node_join(binder, JOIN_INNER, nodes[0], nodes[1]) : NULL;

    if (both == NULL)
        return binder->error->status;
    for (size_t i = 0; i < joining->part_count; i++) {
        const struct part *part = &joining->parts[i];
        struct expression *e =
            is_of_both(part, sides) && !part->late
                ? expression_over(binder, part->expression, both, columns, 0)
                : NULL;
        if (binder->error->status != VDBQ_OK)
            return binder->error->status;
        if (!vector_append(parts, &e, 1))
            return error_no_memory(binder->error);
    }
    return VDBQ_OK;
}

/* Whether a range costs less than a grid would. */
static enum vdbq_status range_pays(const struct joining *joining,
                                   struct node *const nodes[2],
                                   const struct vector *parts, bool *pays)
{
    const struct estimate_nodes both = { nodes[0], nodes[1] };
    struct range_sides sides = { .columns = estimate_of_nodes(&both) };
    struct range_price price;
    enum vdbq_status status;

    for (int i = 0; i < 2; i++) {
        estimate_node(joining->binder, nodes[i]);
        sides.rows[i] = nodes[i]->rows;
        sides.bases[i] = nodes[i]->base;
    }
    status = join_price_range(joining->binder, nodes[0]->column_count, parts,
                              &sides, &price);
    *pays = price.range < price.grid;
    return status;
}

static enum vdbq_status add_best_range(struct joining *joining,
                                       struct node *nodes[2],
                                       struct vector *parts,
                                       struct step_range_join *range)
{
    enum vdbq_status status;

    for (size_t i = 0; i < parts->count; i++)
        joining->parts[i].done |=
            VECTOR_ITEMS(parts, struct expression *)[i] != NULL;
    status = join_add_range(joining->binder, nodes, nodes[0]->column_count,
                            parts, range);
    for (size_t i = 0; i < parts->count; i++)
        if (VECTOR_ITEMS(parts, struct expression *)[i] != NULL)
            joining->parts[i].done = false;
    return status;
}

/* What is said of the order of both, where there are no keys and it pays. */
static enum vdbq_status collect_range(struct joining *joining,
                                      const struct branch *sides,
                                      struct node *nodes[2],
                                      struct step_join *join)
{
    struct vector parts =
        VECTOR_IN(joining->binder->arena, struct expression *);
    enum vdbq_status status;
    bool pays = false;

    if (join->left_keys.count > 0)
        return VDBQ_OK;
    status = parts_over_both(joining, sides, nodes, &parts);
    if (status == VDBQ_OK)
        status = range_pays(joining, nodes, &parts, &pays);
    if (status == VDBQ_OK && pays)
        status = add_best_range(joining, nodes, &parts, &join->range);
    return status;
}

/* ------------------------------------------------------------- joining -- */

/* Both branches as one. */
static enum vdbq_status join_branches(struct joining *joining,
                                      const struct branch *sides,
                                      struct branch *joined)
{
    struct binder *binder = joining->binder;
    struct node *nodes[2] = { sides[0].node, sides[1].node };
    struct step_join keys = { .left_keys = VECTOR_IN(binder->arena, int),
                              .right_keys = VECTOR_IN(binder->arena, int) };
    enum vdbq_status status = collect_keys(joining, sides, nodes, &keys);
    struct node *join = NULL;

    assert(!(sides[0].leaves & sides[1].leaves));
    if (status == VDBQ_OK)
        status = collect_range(joining, sides, nodes, &keys);
    if (status == VDBQ_OK)
        join = node_join(binder, JOIN_INNER, nodes[0], nodes[1]);
    if (join == NULL)
        return binder->error->status;
    join->join.left_keys = keys.left_keys;
    join->join.right_keys = keys.right_keys;
    join->join.range = keys.range;
    *joined = (struct branch){ .node = join,
                               .leaves = sides[0].leaves | sides[1].leaves,
                               .columns = both_columns(
                                   joining, sides, nodes[0]->column_count) };
    return joined->columns ? filter_branch(joining, joined)
                           : binder->error->status;
}

/* Joins the leaves as the sequence says. */
static enum vdbq_status join_in_sequence(struct joining *joining)
{
    struct branch waiting[LEAVES_MAX] = { 0 };
    enum vdbq_status status = VDBQ_OK;
    unsigned count = 0;

    for (unsigned i = 0; i + 1 < 2 * joining->count && status == VDBQ_OK; i++) {
        int next = joining->sequence[i];
        if (next != JOIN_BOTH) {
            status = start_branch(joining, next, &waiting[count++]);
            continue;
        }
        assert(count >= 2);
        count--;
        status =
            join_branches(joining, &waiting[count - 1], &waiting[count - 1]);
    }
    joining->all = waiting[0];
    return status;
}

static enum vdbq_status join_leaves(struct joining *joining)
{
    enum vdbq_status status = VDBQ_OK;

    if (joining->count > 1)
        status = joining_order(joining);
    if (status == VDBQ_OK)
        status = join_in_sequence(joining);
    if (status == VDBQ_OK)
        status = filter_branch(joining, &joining->all);
    return status == VDBQ_OK ? filter_late(joining) : status;
}

/* The columns of FROM and no others, in their order. */
static struct node *in_order(const struct joining *joining)
{
    unsigned count = joining->firsts[joining->count];
    const struct branch *all = &joining->all;
    bool same = all->node->column_count == count;

    for (unsigned i = 0; i < count; i++)
        same &= all->columns[i] == (int)i;
    return same ? all->node
                : node_columns(joining->binder, all->node, all->columns, count);
}

static enum vdbq_status start_joining(struct joining *joining,
                                      const struct node *product)
{
    if (product->parts.count > LEAVES_MAX)
        return error_set(joining->binder->error, VDBQ_LIMIT,
                         "a query joins at most %d tables", LEAVES_MAX);
    joining->count = (unsigned)product->parts.count;
    for (unsigned i = 0; i < joining->count; i++) {
        joining->leaves[i] = VECTOR_ITEMS(&product->parts, struct node *)[i];
        joining->firsts[i + 1] =
            joining->firsts[i] + node_part_width(product, i);
    }
    return read_parts(joining, &product->conditions);
}

/* What is left of a product's conditions, over leaves that may have got more
 * columns than are the product's. */
static struct node *keep_leaves(const struct joining *joining,
                                struct node *product)
{
    struct binder *binder = joining->binder;
    struct vector left = VECTOR_IN(binder->arena, struct expression *);

    product->widths = arena_alloc(binder->arena, (joining->count + 1)
                                                     * sizeof *product->widths);
    if (product->widths == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < joining->count; i++) {
        VECTOR_ITEMS(&product->parts, struct node *)[i] = joining->leaves[i];
        product->widths[i] = joining->firsts[i + 1] - joining->firsts[i];
        assert(product->widths[i] <= joining->leaves[i]->column_count);
    }
    for (size_t i = 0; i < joining->part_count; i++)
        if (!joining->parts[i].done
            && !vector_append(&left, &joining->parts[i].expression, 1))
            return error_no_memory(binder->error), NULL;
    product->conditions = left;
    return product;
}

struct node *filter_product(struct binder *binder, struct node *product)
{
    struct joining joining = { .binder = binder };
    enum vdbq_status status = start_joining(&joining, product);

    for (unsigned i = 0; i < joining.count && status == VDBQ_OK; i++)
        status = filter_leaf(&joining, i);
    return status == VDBQ_OK ? keep_leaves(&joining, product) : NULL;
}

struct node *join_product(struct binder *binder, const struct node *product)
{
    struct joining joining = { .binder = binder };

    if (start_joining(&joining, product) != VDBQ_OK)
        return NULL;
    if (joining.count == 0) {
        joining.all.node = node_once(binder);
        if (joining.all.node == NULL
            || filter_branch(&joining, &joining.all) != VDBQ_OK
            || filter_late(&joining) != VDBQ_OK)
            return NULL;
        return in_order(&joining);
    }
    return join_leaves(&joining) == VDBQ_OK ? in_order(&joining) : NULL;
}
