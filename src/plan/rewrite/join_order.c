/* SPDX-License-Identifier: MIT */
/*
 * The order of joins. Each order costs what its steps cost: rows that are
 * built into an index, rows that ask it, rows that come out, conditions that
 * are tested, in prices of the opcodes that do the like. Up to a number of
 * leaves the cheapest order is found by way of the cheapest ones of fewer
 * leaves (Selinger's way); with more, each next leaf is the cheapest one.
 *
 * A leaf that no equality and no range connects comes when nothing connected
 * is left.
 * Where two orders cost the same, the leaves come as they were written.
 */
#include "plan/rewrite/join_order.h"

#include <math.h>

#include "base/memory.h"
#include "plan/tree/estimate.h"
#include "program/program.h"

enum {
    EXACT_MAX = 10, /* leaves, for the cheapest order of all */
    KEYS_MAX = 16   /* keys of one join that are looked at   */
};

/* Half of an index of so many rows is in a cache; what is not costs so much
 * more. */
static const double CACHED_ROWS = 1 << 16, MISS = 3;

/* What a row costs. */
struct prices {
    double read, write, cell;
};

/* Some leaves, joined. */
struct joined {
    uint64_t leaves;
    uint64_t reached; /* the leaves that an equality or a range connects with
                         these                                           */
    double rows, cost;
    unsigned last; /* the leaf that was joined last */
    bool known;    /* an order was found             */
};

struct search {
    const struct join_problem *problem;
    struct prices prices;
};

/* A row of an index is read, and written with its key; who asks reads a slot
 * and a key; what comes out is read, and written unless each row has at most
 * one partner: then the same program goes on with it. Where a key can have
 * several rows, they are counted first, and written in order. */
static struct prices make_prices(void)
{
    return (struct prices){ .read = op_facts(OP_COLUMN_I64)->cost,
                            .write = op_facts(OP_RESULT)->cost,
                            .cell = op_facts(OP_LT_I64)->cost };
}

/* ----------------------------------------------------------------- keys -- */

/* Keys between what is joined and a leaf. */
struct keys {
    const struct join_edge *edges[KEYS_MAX];
    int columns[KEYS_MAX]; /* of the leaf */
    unsigned count;
};

/* Whether an edge is a key of a leaf and others; its column of the leaf. */
static bool is_key_of(const struct join_edge *edge, uint64_t leaves,
                      unsigned leaf, int *column)
{
    uint64_t bit = (uint64_t)1 << leaf;

    for (int i = 0; i < 2; i++) {
        *column = edge->columns[i];
        if (edge->key && edge->sides[i] == bit
            && !(edge->sides[1 - i] & ~leaves))
            return true;
    }
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

/* The leaves that an equality or a range connects with some. */
static uint64_t reach(const struct join_problem *problem, uint64_t leaves)
{
    uint64_t reached = 0;

    for (unsigned i = 0; i < problem->edge_count; i++) {
        const struct join_edge *edge = &problem->edges[i];
        for (int side = 0; side < 2 && edge->key; side++)
            if (!(edge->sides[1 - side] & ~leaves)
                && !(edge->sides[side] & (edge->sides[side] - 1)))
                reached |= edge->sides[side];
        if (edge->range && (edge->leaves & leaves))
            reached |= edge->leaves;
    }
    return reached & ~leaves;
}

static bool is_connected(const struct joined *joined, unsigned leaf)
{
    return joined->reached >> leaf & 1;
}

/* ---------------------------------------------------------------- steps -- */

/* Whether a key connects a leaf. */
static bool has_key(const struct join_problem *problem, uint64_t leaves,
                    unsigned leaf)
{
    int column;

    for (unsigned i = 0; i < problem->edge_count; i++)
        if (is_key_of(&problem->edges[i], leaves, leaf, &column))
            return true;
    return false;
}

/* The range that leaves the fewest pairs, where there is no key; NULL: there
 * is none. */
static const struct join_edge *best_range(const struct join_problem *problem,
                                          uint64_t leaves, unsigned leaf)
{
    const struct join_edge *best = NULL;

    if (has_key(problem, leaves, leaf))
        return NULL;
    for (unsigned i = 0; i < problem->edge_count; i++) {
        const struct join_edge *edge = &problem->edges[i];
        if (edge->range && (edge->leaves & leaves) && (edge->leaves >> leaf & 1)
            && (best == NULL || edge->share < best->share))
            best = edge;
    }
    return best;
}

/* The conditions that can be tested once a leaf is there, but for what its
 * `range` says. */
static double test_share(const struct join_problem *problem, uint64_t leaves,
                         unsigned leaf, const struct join_edge *range,
                         double *price)
{
    uint64_t all = leaves | (uint64_t)1 << leaf;
    double share = 1;
    int column;

    *price = 0;
    for (unsigned i = 0; i < problem->edge_count; i++) {
        const struct join_edge *edge = &problem->edges[i];
        if (edge == range || (edge->leaves & ~all)
            || !(edge->leaves >> leaf & 1)
            || is_key_of(edge, leaves, leaf, &column))
            continue;
        share *= edge->share;
        *price += edge->price;
    }
    return share;
}

/* The share of all pairs that keys keep. Several columns have no more
 * different values together than their table has rows. */
static double key_share(const struct join_problem *problem, uint64_t leaves,
                        unsigned leaf)
{
    struct keys keys = { .count = 0 };
    double share = 1, values = 1;
    int column;

    for (unsigned i = 0; i < problem->edge_count; i++)
        if (is_key_of(&problem->edges[i], leaves, leaf, &column))
            add_key(&keys, column, &problem->edges[i]);
    for (unsigned i = 0; i < keys.count; i++) {
        share *= keys.edges[i]->share;
        values = estimate_rows(values * keys.edges[i]->values);
    }
    if (keys.count > 1)
        values = fmin(values, fmax(problem->bases[leaf], 1));
    return share / values;
}

/* Whether a row finds at most one partner in a leaf. */
static bool finds_one(const struct join_problem *problem, uint64_t leaves,
                      unsigned leaf)
{
    int column;

    for (unsigned i = 0; i < problem->edge_count; i++) {
        const struct join_edge *edge = &problem->edges[i];
        if (is_key_of(edge, leaves, leaf, &column)
            && edge->unique[edge->sides[1] == (uint64_t)1 << leaf])
            return true;
    }
    return false;
}

/* What it costs to build an index of a leaf and to ask it. */
static double asking_cost(const struct search *search,
                          const struct joined *before, unsigned leaf,
                          bool single)
{
    const struct prices *prices = &search->prices;
    double rows = search->problem->rows[leaf];
    double build = (single ? 1 : 2) * (prices->read + 2 * prices->write);
    double ask = 2 * prices->read;
    double far = 1 + MISS * rows / (rows + CACHED_ROWS);

    return (rows * build + before->rows * ask) * far;
}

/* What it costs to sort a leaf and to search it. */
static double searching_cost(const struct search *search,
                             const struct joined *before, unsigned leaf)
{
    const struct prices *prices = &search->prices;
    double rows = search->problem->rows[leaf];

    return (rows * (prices->read + 2 * prices->write)
            + before->rows * 2 * prices->read)
           * log2(rows + 2);
}

/* Joins one more leaf. */
static struct joined extend(const struct search *search,
                            const struct joined *before, unsigned leaf)
{
    const struct join_problem *problem = search->problem;
    const struct prices *prices = &search->prices;
    bool single = finds_one(problem, before->leaves, leaf);
    struct joined after = { .leaves = before->leaves | (uint64_t)1 << leaf,
                            .cost = before->cost,
                            .last = leaf,
                            .known = true };
    double pairs = estimate_rows(before->rows * problem->rows[leaf]);
    const struct join_edge *range = best_range(problem, before->leaves, leaf);
    double share, price;

    if (range != NULL) {
        pairs *= range->share;
        after.cost += searching_cost(search, before, leaf);
    } else if (is_connected(before, leaf)) {
        pairs *= key_share(problem, before->leaves, leaf);
        after.cost += asking_cost(search, before, leaf, single);
    } else {
        after.cost += pairs * prices->cell;
    }
    share = test_share(problem, before->leaves, leaf, range, &price);
    after.rows = pairs * share;
    after.cost += pairs * price
                  + after.rows * (prices->read + (single ? 0 : prices->write));
    after.cost = estimate_rows(after.cost);
    after.reached = reach(problem, after.leaves);
    return after;
}

static struct joined first_leaf(const struct join_problem *problem,
                                unsigned leaf)
{
    return (struct joined){ .leaves = (uint64_t)1 << leaf,
                            .reached = reach(problem, (uint64_t)1 << leaf),
                            .rows = problem->rows[leaf],
                            .last = leaf,
                            .known = true };
}

/* Whether a leaf may come next. */
static bool may_follow(const struct joined *joined, unsigned leaf)
{
    return joined->reached == 0 || is_connected(joined, leaf);
}

/* ---------------------------------------------------------------- exact -- */

/* The cheapest way to join a set of leaves, given those of all its parts. */
static struct joined cheapest(const struct search *search,
                              const struct joined *sets, uint64_t leaves)
{
    struct joined best = { .known = false };

    for (unsigned leaf = search->problem->count; leaf-- > 0;) {
        const struct joined *before = &sets[leaves & ~((uint64_t)1 << leaf)];
        struct joined after;
        if (!(leaves >> leaf & 1) || !before->known
            || !may_follow(before, leaf))
            continue;
        after = extend(search, before, leaf);
        if (!best.known || after.cost < best.cost)
            best = after;
    }
    return best;
}

static bool order_exactly(const struct search *search, struct arena *arena,
                          unsigned *order)
{
    unsigned count = search->problem->count;
    uint64_t all = ((uint64_t)1 << count) - 1, left = all, connected = 0;
    struct joined *sets = arena_alloc(arena, (all + 1) * sizeof *sets);

    if (sets == NULL)
        return false;
    for (unsigned i = 0; i < count; i++) {
        sets[(uint64_t)1 << i] = first_leaf(search->problem, i);
        connected |= sets[(uint64_t)1 << i].reached;
    }
    for (unsigned i = 0; i < count && connected != 0; i++)
        sets[(uint64_t)1 << i].known = sets[(uint64_t)1 << i].reached != 0;
    for (uint64_t leaves = 1; leaves <= all; leaves++)
        if (leaves & (leaves - 1))
            sets[leaves] = cheapest(search, sets, leaves);
    for (unsigned i = count; i-- > 0;) {
        order[i] = sets[left].last;
        left &= ~((uint64_t)1 << order[i]);
    }
    return true;
}

/* -------------------------------------------------------------- greedily -- */

static unsigned largest_leaf(const struct join_problem *problem)
{
    unsigned best = 0;

    for (unsigned i = 1; i < problem->count; i++)
        if (problem->rows[i] > problem->rows[best])
            best = i;
    return best;
}

/* The next leaf is the one whose own cost, with that of the rows that the
 * following one will be asked with, is least. */
static void order_greedily(const struct search *search, unsigned *order)
{
    const struct join_problem *problem = search->problem;
    struct joined joined = first_leaf(problem, largest_leaf(problem));

    order[0] = joined.last;
    for (unsigned i = 1; i < problem->count; i++) {
        struct joined best = { .known = false };
        double best_cost = 0;
        for (unsigned leaf = 0; leaf < problem->count; leaf++) {
            struct joined next;
            double cost;
            if ((joined.leaves >> leaf & 1) || !may_follow(&joined, leaf))
                continue;
            next = extend(search, &joined, leaf);
            cost = next.cost + next.rows * 2 * search->prices.read;
            if (!best.known || cost < best_cost) {
                best = next;
                best_cost = cost;
            }
        }
        joined = best;
        order[i] = joined.last;
    }
}

bool join_order(struct arena *arena, const struct join_problem *problem,
                unsigned *order)
{
    struct search search = { problem, make_prices() };

    if (problem->count <= EXACT_MAX)
        return order_exactly(&search, arena, order);
    order_greedily(&search, order);
    return true;
}
