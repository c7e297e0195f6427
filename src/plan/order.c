/* SPDX-License-Identifier: MIT */
/*
 * Inner joins in the order that costs least (join_order.c), and where
 * conditions are tested: as soon as their columns are there.
 */
#include "plan/join_order.h"
#include "plan/plan_inner.h"

#include <string.h>

/* One part of a condition. */
struct part {
    struct expression *expression; /* over the columns of FROM            */
    uint64_t leaves;               /* whose columns it needs, a bit each  */
    bool late;                     /* something is to be lifted out of it */
    bool done;
};

struct joining {
    struct binder *binder;
    struct node *leaves[LEAVES_MAX];
    unsigned firsts[LEAVES_MAX + 1]; /* the number of a leaf's first column */
    unsigned count;
    unsigned order[LEAVES_MAX];      /* in which they are joined            */
    struct part *parts;
    size_t part_count;
    struct node *node;   /* what is joined so far                         */
    uint64_t joined;     /* leaves that are in it                         */
    int *columns;        /* of `node`, by FROM's numbers; -1: not there   */
};

/* --------------------------------------------------------------- parts -- */

static struct expression *both(struct binder *binder, struct expression *a,
                               struct expression *b)
{
    struct ast_expression place = { .at = b->at };

    return a == NULL ? b : expression_operator(binder, AST_AND, a, b, &place);
}

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
        if ((unsigned)e->column >= joining->firsts[i]
            && (unsigned)e->column < joining->firsts[i + 1])
            finding->leaves |= (uint64_t)1 << i;
    return true;
}

static uint64_t leaves_of(const struct joining *joining,
                          struct expression *e)
{
    struct finding finding = { joining, 0 };

    find_leaves(&finding, &e);
    return finding.leaves;
}

static enum vdbq_status read_parts(struct joining *joining,
                                   const struct vector *conditions)
{
    joining->parts = arena_alloc(joining->binder->arena,
                                 (conditions->count + 1)
                                     * sizeof *joining->parts);
    if (joining->parts == NULL)
        return error_no_memory(joining->binder->error);
    joining->part_count = conditions->count;
    for (size_t i = 0; i < conditions->count; i++) {
        struct expression *e =
            VECTOR_ITEMS(conditions, struct expression *)[i];
        joining->parts[i] = (struct part){
            .expression = e,
            .leaves = leaves_of(joining, e),
            .late = is_lifted(e)
        };
    }
    return VDBQ_OK;
}

/* ------------------------------------------------------------- columns -- */

static struct expression *over_joined(const struct joining *joining,
                                      struct expression *e)
{
    return expression_over(joining->binder, e, joining->node,
                           joining->columns, 0);
}

static struct expression *over_leaf(const struct joining *joining,
                                    unsigned leaf, struct expression *e)
{
    return expression_over(joining->binder, e, joining->leaves[leaf], NULL,
                           joining->firsts[leaf]);
}

/* ------------------------------------------------------------- filters -- */

/* A part about one leaf. What has to be lifted comes later, unless it can be
 * a join of the leaf. */
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

/* Tests what can be tested of the rows joined so far. */
static enum vdbq_status filter_joined(struct joining *joining)
{
    struct binder *binder = joining->binder;
    struct expression *where = NULL;

    for (size_t i = 0; i < joining->part_count; i++) {
        struct part *part = &joining->parts[i];
        struct expression *e;
        if (part->done || part->late || (part->leaves & ~joining->joined))
            continue;
        e = over_joined(joining, part->expression);
        where = e ? both(binder, where, e) : NULL;
        if (where == NULL)
            return binder->error->status;
        part->done = true;
    }
    if (where == NULL)
        return VDBQ_OK;
    joining->node = node_filter(binder, joining->node, where);
    return joining->node ? VDBQ_OK : binder->error->status;
}

enum vdbq_status filter_by(struct binder *binder, struct node **node,
                           struct expression *e)
{
    struct expression **expressions[1] = { &e };
    bool done;
    struct node *kept = unnest_filter(binder, *node, e, &done);

    if (kept == NULL && !done
        && lift(binder, node, expressions, 1) == VDBQ_OK)
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
        e = over_joined(joining, part->expression);
        if (e == NULL)
            return binder->error->status;
        status = filter_by(binder, &joining->node, e);
    }
    return status;
}

/* ---------------------------------------------------------------- keys -- */

static bool is_equality(const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && e->operator == AST_EQ;
}

/* Whether a part is an equality of what is joined and a leaf; `*turned`: the
 * leaf is on its left. */
static bool connects(const struct joining *joining, const struct part *part,
                     unsigned leaf, bool *turned)
{
    uint64_t bit = (uint64_t)1 << leaf, left, right;

    if (part->done || part->late || !is_equality(part->expression))
        return false;
    left = leaves_of(joining, part->expression->left);
    right = leaves_of(joining, part->expression->right);
    *turned = left == bit && right != 0 && !(right & ~joining->joined);
    return *turned
           || (right == bit && left != 0 && !(left & ~joining->joined));
}

enum vdbq_status join_add_key(struct binder *binder, struct node *nodes[2],
                              struct expression *left,
                              struct expression *right,
                              struct step_join *join)
{
    struct expression *sides[2] = { left, right };
    int columns[2];
    bool wide = type_machine((enum vdbq_type)left->type)
                != type_machine((enum vdbq_type)right->type);

    for (int i = 0; i < 2; i++) {
        if (wide)
            sides[i] = expression_cast_plain(binder, sides[i], VDBQ_BIGINT,
                                             sides[i]->at);
        columns[i] = sides[i] ? node_column_for(binder, &nodes[i], sides[i]) : -1;
        if (columns[i] < 0)
            return binder->error->status;
    }
    if (!vector_append(&join->left_keys, &columns[0], 1)
        || !vector_append(&join->right_keys, &columns[1], 1))
        return error_no_memory(binder->error);
    return VDBQ_OK;
}

bool join_keep_keys(struct binder *binder, struct step_join *join)
{
    bool left = arena_vector(binder->arena, &join->left_keys);
    bool right = arena_vector(binder->arena, &join->right_keys);

    if (!left || !right)
        error_no_memory(binder->error);
    return left && right;
}

static enum vdbq_status collect_keys(struct joining *joining, unsigned leaf,
                                     struct node *nodes[2],
                                     struct step_join *join)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < joining->part_count && status == VDBQ_OK; i++) {
        struct part *part = &joining->parts[i];
        struct expression *left, *right;
        bool turned;
        if (!connects(joining, part, leaf, &turned))
            continue;
        left = part->expression->left;
        right = part->expression->right;
        left = over_joined(joining, turned ? right : left);
        right = over_leaf(joining, leaf,
                          turned ? part->expression->left : right);
        if (left == NULL || right == NULL)
            return joining->binder->error->status;
        status = join_add_key(joining->binder, nodes, left, right, join);
        part->done = true;
    }
    return status;
}

/* ---------------------------------------------------------------- bands -- */

/* FROM's columns as those of what is joined and of a leaf behind it; -1: they
 * are of neither. */
static int *both_columns(const struct joining *joining, unsigned leaf)
{
    unsigned count = joining->firsts[joining->count];
    unsigned first = joining->firsts[leaf], end = joining->firsts[leaf + 1];
    int *columns = arena_alloc(joining->binder->arena,
                               (count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(joining->binder->error), NULL;
    for (unsigned i = 0; i < joining->count; i++)
        for (unsigned k = joining->firsts[i]; k < joining->firsts[i + 1]; k++)
            columns[k] = joining->joined >> i & 1 ? joining->columns[k] : -1;
    for (unsigned k = first; k < end; k++)
        columns[k] = (int)(joining->node->column_count + k - first);
    return columns;
}

/* What a part is over both; NULL: it does not say anything of them alone, or
 * there is a failure. */
static struct expression *over_both(const struct joining *joining,
                                    const struct part *part, unsigned leaf,
                                    const struct node *both,
                                    const int *columns)
{
    uint64_t bit = (uint64_t)1 << leaf;

    if (part->done || part->late || !(part->leaves & bit)
        || (part->leaves & ~bit) == 0
        || (part->leaves & ~(joining->joined | bit)))
        return NULL;
    return expression_over(joining->binder, part->expression, both, columns,
                           0);
}

/* The parts that can be tested where a leaf is joined, over the columns of
 * both; NULL in the place of others. */
static enum vdbq_status parts_over_both(const struct joining *joining,
                                        unsigned leaf,
                                        struct node *const nodes[2],
                                        struct vector *parts)
{
    struct binder *binder = joining->binder;
    int *columns = both_columns(joining, leaf);
    struct node *both =
        columns ? node_join(binder, JOIN_INNER, nodes[0], nodes[1]) : NULL;

    if (both == NULL)
        return binder->error->status;
    for (size_t i = 0; i < joining->part_count; i++) {
        struct expression *e = over_both(joining, &joining->parts[i], leaf,
                                         both, columns);
        if (binder->error->status != VDBQ_OK)
            return binder->error->status;
        if (!vector_append(parts, &e, 1))
            return error_no_memory(binder->error);
    }
    return VDBQ_OK;
}

/* Whether a band costs less than a grid would. */
static enum vdbq_status band_pays(const struct joining *joining,
                                  struct node *const nodes[2],
                                  const struct vector *parts, bool *pays)
{
    const struct estimate_nodes both = { nodes[0], nodes[1] };
    struct band_sides sides = { .columns = estimate_of_nodes(&both) };
    struct band_price price;
    enum vdbq_status status;

    for (int i = 0; i < 2; i++) {
        estimate_node(nodes[i]);
        sides.rows[i] = nodes[i]->rows;
        sides.bases[i] = estimate_base(nodes[i]);
    }
    status = join_price_band(joining->binder, nodes[0]->column_count, parts,
                             &sides, &price);
    *pays = price.band < price.grid;
    return status;
}

static enum vdbq_status add_best_band(struct joining *joining,
                                      struct node *nodes[2],
                                      struct vector *parts,
                                      struct step_band *band)
{
    enum vdbq_status status;

    for (size_t i = 0; i < parts->count; i++)
        joining->parts[i].done |=
            VECTOR_ITEMS(parts, struct expression *)[i] != NULL;
    status = join_add_band(joining->binder, nodes, nodes[0]->column_count,
                           parts, band);
    for (size_t i = 0; i < parts->count; i++)
        if (VECTOR_ITEMS(parts, struct expression *)[i] != NULL)
            joining->parts[i].done = false;
    return status;
}

/* What is said of the order of both, where there are no keys and it pays. */
static enum vdbq_status collect_band(struct joining *joining, unsigned leaf,
                                     struct node *nodes[2],
                                     struct step_join *join)
{
    struct vector parts = VECTOR(struct expression *);
    enum vdbq_status status;
    bool pays = false;

    if (join->left_keys.count > 0)
        return VDBQ_OK;
    status = parts_over_both(joining, leaf, nodes, &parts);
    if (status == VDBQ_OK)
        status = band_pays(joining, nodes, &parts, &pays);
    if (status == VDBQ_OK && pays)
        status = add_best_band(joining, nodes, &parts, &join->band);
    vector_finish(&parts);
    return status;
}

/* ------------------------------------------------------------- joining -- */

static void place_columns(struct joining *joining, unsigned leaf,
                          unsigned first)
{
    unsigned count = joining->firsts[leaf + 1] - joining->firsts[leaf];

    for (unsigned i = 0; i < count; i++)
        joining->columns[joining->firsts[leaf] + i] = (int)(first + i);
    joining->joined |= (uint64_t)1 << leaf;
}

static enum vdbq_status join_leaf(struct joining *joining, unsigned leaf)
{
    struct binder *binder = joining->binder;
    struct node *nodes[2] = { joining->node, joining->leaves[leaf] };
    struct step_join keys = { .left_keys = VECTOR(int),
                              .right_keys = VECTOR(int) };
    enum vdbq_status status = collect_keys(joining, leaf, nodes, &keys);
    struct node *join = NULL;

    if (status == VDBQ_OK)
        status = collect_band(joining, leaf, nodes, &keys);
    if (join_keep_keys(binder, &keys) && status == VDBQ_OK)
        join = node_join(binder, JOIN_INNER, nodes[0], nodes[1]);
    if (join == NULL)
        return binder->error->status;
    join->join.left_keys = keys.left_keys;
    join->join.right_keys = keys.right_keys;
    join->join.band = keys.band;
    joining->node = join;
    place_columns(joining, leaf, nodes[0]->column_count);
    return filter_joined(joining);
}

/* ---------------------------------------------------------------- order -- */

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
    const struct estimate_source source = { estimate_of, joining };
    const struct expression *e = part->expression;
    struct join_edge edge = { .leaves = part->leaves,
                              .price = (double)e->size };
    struct column_estimate sides[2];
    struct pair_estimate pairs;

    if (is_equality(e)) {
        edge.sides[0] = leaves_of(joining, e->left);
        edge.sides[1] = leaves_of(joining, e->right);
    }
    edge.key = edge.sides[0] != 0 && edge.sides[1] != 0
               && !(edge.sides[0] & edge.sides[1]);
    if (!edge.key) {
        edge.share = estimate_kept(&source, e);
        return edge;
    }
    for (int i = 0; i < 2; i++) {
        const struct expression *side = i == 0 ? e->left : e->right;
        sides[i] = estimate_expression(&source, side);
        edge.columns[i] =
            side->kind == EXPRESSION_COLUMN ? side->column : -1;
        edge.unique[i] = edge.columns[i] >= 0
                         && is_leaf_unique(joining, edge.columns[i]);
    }
    pairs = estimate_pairs(&sides[0], &sides[1]);
    edge.share = pairs.possible;
    edge.values = pairs.values;
    return edge;
}

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

/* Prices the band that all parts about two leaves make: FROM's columns of the
 * first leaf come before those of the second. */
static enum vdbq_status price_band(const struct joining *joining,
                                   const struct join_problem *problem,
                                   const unsigned leaves[2],
                                   struct band_price *price)
{
    struct band_sides sides = { .columns = { estimate_of, joining } };
    struct vector parts = VECTOR(struct expression *);
    uint64_t both =
        (uint64_t)1 << leaves[0] | (uint64_t)1 << leaves[1];
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
        status = join_price_band(joining->binder, joining->firsts[leaves[1]],
                                 &parts, &sides, price);
    vector_finish(&parts);
    return status;
}

/* Makes one edge of those between two leaves that are no keys: together they
 * keep no more than the band, and no more than each on its own. */
static void merge_edges(struct join_problem *problem, uint64_t leaves,
                        double share)
{
    struct join_edge band = { .leaves = leaves, .band = true, .share = 1 };
    unsigned kept = 0;

    for (unsigned i = 0; i < problem->edge_count; i++) {
        const struct join_edge *edge = &problem->edges[i];
        if (edge->leaves != leaves || edge->key) {
            problem->edges[kept++] = *edge;
            continue;
        }
        band.share *= edge->share;
        band.price += edge->price;
    }
    band.share = band.share < share ? band.share : share;
    problem->edges[kept++] = band;
    problem->edge_count = kept;
}

/* Whether edges of two leaves are one already, or there is a key. */
static bool is_linked(const struct join_problem *problem, uint64_t leaves)
{
    for (unsigned i = 0; i < problem->edge_count; i++)
        if (problem->edges[i].leaves == leaves
            && (problem->edges[i].key || problem->edges[i].band))
            return true;
    return false;
}

/* Finds the bands that pay between two leaves. */
static enum vdbq_status find_bands(const struct joining *joining,
                                   struct join_problem *problem)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < joining->part_count && status == VDBQ_OK; i++) {
        const struct part *part = &joining->parts[i];
        struct band_price price;
        unsigned leaves[2];
        if (!is_of_two(joining, part, leaves)
            || is_linked(problem, part->leaves))
            continue;
        status = price_band(joining, problem, leaves, &price);
        if (status == VDBQ_OK && price.share < 1 && price.band < price.grid)
            merge_edges(problem, part->leaves, price.share);
    }
    return status;
}

/* Fills joining->order. */
static enum vdbq_status find_order(struct joining *joining)
{
    struct arena *arena = joining->binder->arena;
    struct join_problem problem = { .count = joining->count };

    problem.edges = arena_alloc(arena, (joining->part_count + 1)
                                           * sizeof *problem.edges);
    if (problem.edges == NULL)
        return error_no_memory(joining->binder->error);
    for (unsigned i = 0; i < joining->count; i++) {
        estimate_node(joining->leaves[i]);
        problem.rows[i] = joining->leaves[i]->rows;
        problem.bases[i] = estimate_base(joining->leaves[i]);
    }
    for (size_t i = 0; i < joining->part_count; i++) {
        const struct part *part = &joining->parts[i];
        if (!part->done && !part->late && part->leaves != 0)
            problem.edges[problem.edge_count++] = edge_of(joining, part);
    }
    if (joining->count > 2 && find_bands(joining, &problem) != VDBQ_OK)
        return joining->binder->error->status;
    return join_order(arena, &problem, joining->order)
               ? VDBQ_OK : error_no_memory(joining->binder->error);
}

static enum vdbq_status join_leaves(struct joining *joining)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < joining->count && status == VDBQ_OK; i++)
        status = filter_leaf(joining, i);
    if (status == VDBQ_OK && joining->count > 1)
        status = find_order(joining);
    if (status != VDBQ_OK)
        return status;
    joining->node = joining->leaves[joining->order[0]];
    place_columns(joining, joining->order[0], 0);
    for (unsigned i = 1; i < joining->count && status == VDBQ_OK; i++)
        status = join_leaf(joining, joining->order[i]);
    if (status == VDBQ_OK)
        status = filter_joined(joining);
    return status == VDBQ_OK ? filter_late(joining) : status;
}

/* The columns of FROM and no others, in their order. */
static struct node *in_order(const struct joining *joining)
{
    unsigned count = joining->firsts[joining->count];
    bool same = joining->node->column_count == count;

    for (unsigned i = 0; i < count; i++)
        same &= joining->columns[i] == (int)i;
    return same ? joining->node
                : node_columns(joining->binder, joining->node,
                               joining->columns, count);
}

static enum vdbq_status start_joining(struct joining *joining,
                                      const struct from *from)
{
    if (from->leaves.count > LEAVES_MAX)
        return error_set(joining->binder->error, VDBQ_LIMIT,
                         "a query joins at most %d tables", LEAVES_MAX);
    joining->count = (unsigned)from->leaves.count;
    for (unsigned i = 0; i < joining->count; i++) {
        joining->leaves[i] = VECTOR_ITEMS(&from->leaves, struct node *)[i];
        joining->firsts[i + 1] =
            joining->firsts[i] + joining->leaves[i]->column_count;
    }
    joining->columns =
        arena_alloc(joining->binder->arena,
                    (joining->firsts[joining->count] + 1)
                        * sizeof *joining->columns);
    if (joining->columns == NULL)
        return error_no_memory(joining->binder->error);
    return read_parts(joining, &from->conditions);
}

struct node *join_in_order(struct binder *binder, const struct from *from)
{
    struct joining joining = { .binder = binder };

    if (start_joining(&joining, from) != VDBQ_OK)
        return NULL;
    if (joining.count == 0) {
        joining.node = node_once(binder);
        if (joining.node == NULL || filter_joined(&joining) != VDBQ_OK
            || filter_late(&joining) != VDBQ_OK)
            return NULL;
        return joining.node;
    }
    return join_leaves(&joining) == VDBQ_OK ? in_order(&joining) : NULL;
}
