/* SPDX-License-Identifier: MIT */
/*
 * The order of joins. Each order costs what its steps cost: join_cost.h. Up to
 * a number of leaves the cheapest order is found by way of the cheapest ones of
 * fewer leaves (Selinger's way, over connected sets of leaves): leaves are
 * joined to a set one at a time, or as a set that was joined before (a bushy
 * tree). With more leaves, each next leaf is the cheapest one.
 *
 * A leaf that no equality and no range connects comes when nothing connected
 * is left.
 * Where two orders cost the same, the leaves come as they were written. A set
 * is joined to a set where that saves a fifth: estimates are hardly better than that.
 */
#include "plan/rewrite/join_order.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "plan/rewrite/join_cost.h"

/* Leaves, for the cheapest order of all. */
enum { EXACT_MAX = 10 };

/* What a set that is joined to a set must cost at most, of what it costs to
 * join one leaf after the other. */
static const double BUSHY_COST = 0.8;

/* ---------------------------------------------------------------- exact -- */

/* The cheapest way to join a last leaf, given those of all smaller sets. */
static struct joined cheapest_leaf(const struct order_search *search,
                                   const struct joined *sets, uint64_t leaves)
{
    struct joined best = { .known = false };
    uint64_t kept = 0;

    for (unsigned leaf = search->problem->count; leaf-- > 0;) {
        const struct joined *before = &sets[leaves & ~((uint64_t)1 << leaf)];
        struct joined after;
        if (!(leaves >> leaf & 1) || !before->known
            || !joined_may_follow(before, leaf))
            continue;
        after = joined_extend(search, before, leaf);
        kept |= after.kept;
        if (!best.known || after.cost < best.cost)
            best = after;
    }
    best.kept = kept;
    return best;
}

/* Joins two sets instead, where that costs less. */
static void try_pairs(const struct order_search *search,
                      const struct joined *sets, struct joined *best)
{
    uint64_t leaves = best->leaves;
    double most = best->cost * BUSHY_COST;

    for (uint64_t right = (leaves - 1) & leaves; right != 0;
         right = (right - 1) & leaves) {
        const struct joined *sides[2] = { &sets[leaves & ~right],
                                          &sets[right] };
        double cost;
        if (!(right & (right - 1)) || !sides[0]->known || !sides[1]->known
            || sides[0]->cost + sides[1]->cost >= most)
            continue;
        cost = joined_pair_cost(search, sides[0], sides[1], best->rows, most);
        if (cost < most) {
            best->cost = most = cost;
            best->right = right;
        }
    }
}

/* Puts down how a set is joined; returns how many numbers these are. */
static unsigned put_down(const struct joined *sets, uint64_t leaves,
                         int *sequence)
{
    const struct joined *joined = &sets[leaves];
    unsigned count = 0;

    if (joined->right == leaves) { /* one leaf; maybe connected to nothing */
        sequence[0] = 0;
        while (!(leaves >> sequence[0] & 1))
            sequence[0]++;
        return 1;
    }
    assert(joined->known);
    count = put_down(sets, leaves & ~joined->right, sequence);
    count += put_down(sets, joined->right, &sequence[count]);
    sequence[count++] = JOIN_BOTH;
    return count;
}

static bool order_exactly(const struct order_search *search,
                          struct arena *arena, int *sequence)
{
    unsigned count = search->problem->count;
    uint64_t all = ((uint64_t)1 << count) - 1, connected = 0;
    struct joined *sets = arena_alloc(arena, (all + 1) * sizeof *sets);

    if (sets == NULL)
        return false;
    for (unsigned i = 0; i < count; i++) {
        sets[(uint64_t)1 << i] = joined_start(search, i);
        connected |= sets[(uint64_t)1 << i].reached;
    }
    for (unsigned i = 0; i < count && connected != 0; i++)
        sets[(uint64_t)1 << i].known = sets[(uint64_t)1 << i].reached != 0;
    for (uint64_t leaves = 1; leaves <= all; leaves++) {
        if (!(leaves & (leaves - 1)))
            continue;
        sets[leaves] = cheapest_leaf(search, sets, leaves);
        joined_settle(search, &sets[leaves]);
        if (sets[leaves].known)
            try_pairs(search, sets, &sets[leaves]);
    }
    put_down(sets, all, sequence);
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

/* The leaf whose own cost, with that of the rows that the following one will
 * be asked with, is least. */
static struct joined cheapest_next(const struct order_search *search,
                                   const struct joined *joined, unsigned *leaf)
{
    struct joined best = { .known = false };
    double best_cost = 0;

    for (unsigned i = 0; i < search->problem->count; i++) {
        struct joined next;
        double cost;
        if ((joined->leaves >> i & 1) || !joined_may_follow(joined, i))
            continue;
        next = joined_extend(search, joined, i);
        cost = next.cost + next.rows * 2 * search->prices.read;
        if (!best.known || cost < best_cost) {
            best = next;
            best_cost = cost;
            *leaf = i;
        }
    }
    return best;
}

static void order_greedily(const struct order_search *search, int *sequence)
{
    const struct join_problem *problem = search->problem;
    unsigned leaf = largest_leaf(problem), count = 0;
    struct joined joined = joined_start(search, leaf);

    sequence[count++] = (int)leaf;
    for (unsigned i = 1; i < problem->count; i++) {
        joined = cheapest_next(search, &joined, &leaf);
        sequence[count++] = (int)leaf;
        sequence[count++] = JOIN_BOTH;
    }
}

bool join_order(struct arena *arena, const struct join_problem *problem,
                int *sequence)
{
    struct order_search search;

    if (!order_search_init(&search, arena, problem))
        return false;
    if (problem->count <= EXACT_MAX)
        return order_exactly(&search, arena, sequence);
    order_greedily(&search, sequence);
    return true;
}
