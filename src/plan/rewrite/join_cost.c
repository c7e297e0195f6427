/* SPDX-License-Identifier: MIT */
#include "plan/rewrite/join_cost.h"

#include <math.h>

#include "base/memory.h"
#include "plan/estimate/estimate.h"
#include "program/program.h"

/* Keys of one join that are looked at. */
enum { KEYS_MAX = 16 };

/* Half of an index of so many rows is in a cache; what is not costs so much
 * more. */
static const double CACHED_ROWS = 1 << 16, MISS = 3;

/* What asking costs where the rows of a set are the right side: few of a
 * table's keys are left, and their index is hashed. (TPC-H 3: orders of some
 * customers are an eighth of all, and lineitem asks for them no faster than for
 * all orders, whose index is dense.) */
static const double HASHED = 1.5;

/* A row of an index is read, and written with its key; who asks reads a slot
 * and a key; what comes out is read, and written unless each row has at most
 * one partner: then the same program goes on with it. Where a key can have
 * several rows, they are counted first, and written in order. */
static struct join_prices make_prices(void)
{
    return (struct join_prices){ .read = op_facts(OP_COLUMN_I64)->cost,
                                 .write = op_facts(OP_RESULT)->cost,
                                 .cell = op_facts(OP_LT_I64)->cost };
}

/* Lists the edges of a leaf. */
static bool list_edges(struct order_search *search, struct arena *arena,
                       unsigned leaf)
{
    const struct join_problem *problem = search->problem;
    unsigned count = 0;

    for (unsigned i = 0; i < problem->edge_count; i++)
        count += problem->edges[i].leaves >> leaf & 1;
    search->edges[leaf] =
        arena_alloc(arena, (count + 1) * sizeof *search->edges[leaf]);
    if (search->edges[leaf] == NULL)
        return false;
    for (unsigned i = 0; i < problem->edge_count; i++)
        if (problem->edges[i].leaves >> leaf & 1)
            search->edges[leaf][search->edge_counts[leaf]++] =
                &problem->edges[i];
    return true;
}

static bool is_one_leaf(uint64_t leaves)
{
    return (leaves & (leaves - 1)) == 0;
}

/* Puts down between which leaves keys are; lists what is no key of two. */
static bool list_keys(struct order_search *search, struct arena *arena)
{
    const struct join_problem *problem = search->problem;

    search->others =
        arena_alloc(arena, (problem->edge_count + 1) * sizeof *search->others);
    if (search->others == NULL)
        return false;
    for (unsigned i = 0; i < problem->edge_count; i++) {
        const struct join_edge *edge = &problem->edges[i];
        if (!edge->key || !is_one_leaf(edge->sides[0])
            || !is_one_leaf(edge->sides[1])) {
            search->others[search->other_count++] = edge;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            unsigned leaf = 0;
            while (!(edge->sides[side] >> leaf & 1))
                leaf++;
            search->keyed[leaf] |= edge->sides[1 - side];
            if (edge->unique[side])
                search->once[leaf] |= edge->sides[1 - side];
        }
    }
    return true;
}

bool order_search_init(struct order_search *search, struct arena *arena,
                       const struct join_problem *problem)
{
    bool done;

    *search =
        (struct order_search){ .problem = problem, .prices = make_prices() };
    done = list_keys(search, arena);
    for (unsigned i = 0; i < problem->count && done; i++)
        done = list_edges(search, arena, i);
    return done;
}

/* ----------------------------------------------------------------- keys -- */

/* Keys between what is joined and a leaf. */
struct keys {
    const struct join_edge *edges[KEYS_MAX];
    int columns[KEYS_MAX]; /* of the leaf */
    unsigned count;
};

/* Whether an edge is a key of a leaf and others; its side that is the leaf. */
static bool is_key_of(const struct join_edge *edge, uint64_t leaves,
                      unsigned leaf, int *side)
{
    uint64_t bit = (uint64_t)1 << leaf;

    for (*side = 0; *side < 2; ++*side)
        if (edge->key && edge->sides[*side] == bit
            && !(edge->sides[1 - *side] & ~leaves))
            return true;
    return false;
}

/* One column has one value: a second key of it takes hardly a row away. */
static void add_key(struct keys *keys, int column, const struct join_edge *edge)
{
    unsigned i = 0;

    while (i < keys->count && (column < 0 || keys->columns[i] != column))
        i++;
    if (i == KEYS_MAX)
        return;
    if (i < keys->count
        && edge->share / edge->values
               >= keys->edges[i]->share / keys->edges[i]->values)
        return;
    keys->columns[i] = column;
    keys->edges[i] = edge;
    keys->count += i == keys->count;
}

/* The leaves that an equality or a range of a leaf connects with some, of
 * which it is one. */
static uint64_t reach(const struct order_search *search, uint64_t leaves,
                      unsigned leaf)
{
    uint64_t reached = 0;

    for (unsigned i = 0; i < search->edge_counts[leaf]; i++) {
        const struct join_edge *edge = search->edges[leaf][i];
        for (int side = 0; side < 2 && edge->key; side++)
            if (!(edge->sides[1 - side] & ~leaves)
                && is_one_leaf(edge->sides[side]))
                reached |= edge->sides[side];
        if (edge->range)
            reached |= edge->leaves;
    }
    return reached & ~leaves;
}

static bool is_connected(const struct joined *joined, unsigned leaf)
{
    return joined->reached >> leaf & 1;
}

bool joined_may_follow(const struct joined *joined, unsigned leaf)
{
    return joined->reached == 0 || is_connected(joined, leaf);
}

/* Of each row of what is on one side of a key there is one at most with a
 * value: the side is a leaf whose rows come once at most. */
static bool is_once(const struct joined *joined, const struct join_edge *edge,
                    int side)
{
    return edge->unique[side] && (edge->sides[side] & joined->kept);
}

/* ---------------------------------------------------------------- steps -- */

/* What the edges between what is joined and a leaf say. */
struct link {
    struct keys keys;
    const struct join_edge *range; /* where there is no key: that which leaves
                                      the fewest pairs; NULL: none           */
    bool single; /* a row finds at most one partner in the leaf */
    bool turned; /* ... and one of the leaf at most one         */
};

static void link_key(struct link *link, const struct joined *before,
                     const struct join_edge *edge, int side)
{
    add_key(&link->keys, edge->columns[side], edge);
    link->single |= edge->unique[side];
    link->turned |= is_once(before, edge, 1 - side);
}

static struct link link_of(const struct order_search *search,
                           const struct joined *before, unsigned leaf)
{
    struct link link = { .range = NULL };
    int side;

    for (unsigned i = 0; i < search->edge_counts[leaf]; i++) {
        const struct join_edge *edge = search->edges[leaf][i];
        if (is_key_of(edge, before->leaves, leaf, &side))
            link_key(&link, before, edge, side);
        else if (edge->range && (edge->leaves & before->leaves)
                 && (link.range == NULL || edge->share < link.range->share))
            link.range = edge;
    }
    if (link.keys.count > 0)
        link.range = NULL;
    return link;
}

/* The conditions that can be tested once a leaf is there, but for what its
 * `range` says. */
static double test_share(const struct order_search *search, uint64_t leaves,
                         unsigned leaf, const struct join_edge *range,
                         double *price)
{
    uint64_t all = leaves | (uint64_t)1 << leaf;
    double share = 1;
    int side;

    *price = 0;
    for (unsigned i = 0; i < search->edge_counts[leaf]; i++) {
        const struct join_edge *edge = search->edges[leaf][i];
        if (edge == range || (edge->leaves & ~all)
            || is_key_of(edge, leaves, leaf, &side))
            continue;
        share *= edge->share;
        *price += edge->price;
    }
    return share;
}

/* The rows of the table that all keys of a leaf ask, where the leaf's values seem
 * to be among its; else INFINITY. */
static double rows_asked(const struct join_problem *problem,
                         const struct keys *keys, unsigned leaf)
{
    uint64_t bit = (uint64_t)1 << leaf, asked = 0;

    for (unsigned i = 0; i < keys->count; i++) {
        const struct join_edge *edge = keys->edges[i];
        int side = edge->sides[0] == bit ? 0 : 1;
        if (!edge->within[side])
            return INFINITY;
        asked |= edge->sides[1 - side];
    }
    for (unsigned i = 0; i < problem->count; i++)
        if (asked == (uint64_t)1 << i)
            return problem->bases[i];
    return INFINITY;
}

/* The share of all pairs that keys keep. Several columns have no more
 * different values together than their table has rows, or one that has all of
 * them. */
static double key_share(const struct join_problem *problem,
                        const struct keys *keys, unsigned leaf)
{
    double share = 1, values = 1;

    for (unsigned i = 0; i < keys->count; i++) {
        share *= keys->edges[i]->share;
        values = estimate_rows(values * keys->edges[i]->values);
    }
    if (keys->count > 1)
        values = fmin(values, fmax(fmin(problem->bases[leaf],
                                        rows_asked(problem, keys, leaf)),
                                   1));
    return share / values;
}

/* What it costs to build an index of so many rows and to ask it. */
static double asking_cost(const struct order_search *search, double asking,
                          double rows, bool single)
{
    const struct join_prices *prices = &search->prices;
    double build = (single ? 1 : 2) * (prices->read + 2 * prices->write);
    double ask = 2 * prices->read;
    double far = 1 + MISS * rows / (rows + CACHED_ROWS);

    return (rows * build + asking * ask) * far;
}

/* What it costs to sort a leaf and to search it. */
static double searching_cost(const struct order_search *search,
                             const struct joined *before, unsigned leaf)
{
    const struct join_prices *prices = &search->prices;
    double rows = search->problem->rows[leaf];

    return (rows * (prices->read + 2 * prices->write)
            + before->rows * 2 * prices->read)
           * log2(rows + 2);
}

/* What rows cost that come out. */
static double giving_cost(const struct order_search *search, double rows,
                          bool single)
{
    const struct join_prices *prices = &search->prices;

    return rows * (prices->read + (single ? 0 : prices->write));
}

struct joined joined_start(const struct order_search *search, unsigned leaf)
{
    uint64_t bit = (uint64_t)1 << leaf;

    return (struct joined){ .leaves = bit,
                            .reached = reach(search, bit, leaf),
                            .keyed = search->keyed[leaf],
                            .kept = bit,
                            .once = search->once[leaf],
                            .right = bit,
                            .rows = search->problem->rows[leaf],
                            .known = true };
}

static struct joined with_leaf(const struct order_search *search,
                               const struct joined *before, unsigned leaf,
                               const struct link *link)
{
    uint64_t bit = (uint64_t)1 << leaf, leaves = before->leaves | bit;

    return (struct joined){
        .leaves = leaves,
        .reached = (before->reached | reach(search, leaves, leaf)) & ~leaves,
        .keyed = before->keyed | search->keyed[leaf],
        .kept = (link->single ? before->kept : 0) | (link->turned ? bit : 0),
        .right = bit,
        .cost = before->cost,
        .known = true
    };
}

struct joined joined_extend(const struct order_search *search,
                            const struct joined *before, unsigned leaf)
{
    const struct join_problem *problem = search->problem;
    const struct link link = link_of(search, before, leaf);
    struct joined after = with_leaf(search, before, leaf, &link);
    double pairs = estimate_rows(before->rows * problem->rows[leaf]);
    double share, price;

    if (link.range != NULL) {
        pairs *= link.range->share;
        after.cost += searching_cost(search, before, leaf);
    } else if (is_connected(before, leaf)) {
        pairs *= key_share(problem, &link.keys, leaf);
        after.cost +=
            asking_cost(search, before->rows, problem->rows[leaf], link.single);
    } else {
        after.cost += pairs * search->prices.cell;
    }
    share = test_share(search, before->leaves, leaf, link.range, &price);
    after.rows = pairs * share;
    after.cost += pairs * price + giving_cost(search, after.rows, link.single);
    after.cost = estimate_rows(after.cost);
    return after;
}

/* ---------------------------------------------------------------- pairs -- */

void joined_settle(const struct order_search *search, struct joined *joined)
{
    joined->once = 0;
    for (unsigned i = 0; i < search->problem->count; i++)
        if (joined->kept >> i & 1)
            joined->once |= search->once[i];
}

/* The conditions that two sets are tested by, beside their keys. */
static double pair_share(const struct order_search *search, uint64_t left,
                         uint64_t right, double *price)
{
    double share = 1;

    *price = 0;
    for (unsigned i = 0; i < search->other_count; i++) {
        const struct join_edge *edge = search->others[i];
        if ((edge->leaves & ~(left | right)) || !(edge->leaves & left)
            || !(edge->leaves & right))
            continue;
        share *= edge->share;
        *price += edge->price;
    }
    return share;
}

double joined_pair_cost(const struct order_search *search,
                        const struct joined *left, const struct joined *right,
                        double rows, double most)
{
    bool single = (right->once & left->leaves) != 0;
    double cost = left->cost + right->cost, share, price;

    if (!(right->keyed & left->leaves))
        return INFINITY;
    cost += asking_cost(search, HASHED * left->rows, right->rows, single)
            + giving_cost(search, rows, single);
    if (cost > most)
        return INFINITY;
    share = pair_share(search, left->leaves, right->leaves, &price);
    cost += (share > 0 ? rows / share : rows) * price;
    return cost <= most ? estimate_rows(cost) : INFINITY;
}
