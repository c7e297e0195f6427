/* SPDX-License-Identifier: MIT */
/*
 * Semi-join reduction: of a join's side whose rows appear with a partner only,
 * those that have none need not be grouped, sorted or indexed first. The keys
 * that the other side can have (the source) filter that side, by a semi join
 * as far down as it means the same (the target).
 *
 * The source is a copy of the other side, or of what lies below it: more keys
 * than there are do no harm, so what only leaves out more rows is taken where
 * it is worth its price. Both are computed, so it must pay, by estimates, at
 * prices of rows in units of a row that a program scans.
 *
 * Rows are only left out that would be later, so their order stays; nothing is
 * left out of what can fail, for then a failure could be missing.
 */
#include "plan/rewrite/reduce.h"

#include <math.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_copy.h"
#include "plan/make/node_select.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_readers.h"
#include "plan/simplify/share.h"
#include "plan/tree/node_same.h"
#include "plan/tree/unique_key.h"

/* What a row costs: that a program tests or looks up in an index, that is put
 * into such an index, that a step of its own joins, indexes or groups. */
static const double PROBED = 1, PROBED_BUILD = 4, JOINED = 4, INDEXED = 12,
                    GROUPED = 12;

/* What is saved must be so many times what it costs, and worth a program. */
static const double GAIN_LEAST = 1.5, SAVED_LEAST = 50000;

enum {
    REDUCTIONS_MAX = 24, /* in a query: each copies a part of it  */
    STEPS_MAX = 16,      /* down from a join                       */
    LOOKS_MAX = 48       /* nodes asked how many values there are  */
};

/* --------------------------------------------------------------- prices -- */

/* Whether a join is a part of the program that scans its left side, as far as
 * can be told here (lower/probe.c). */
static bool is_probed(const struct node *join)
{
    const struct vector *keys = &join->join.right_keys;
    bool more = join->where != NULL || join->join.range.side != RANGE_JOIN_NONE;

    if (join->join.nulls_match || keys->count == 0)
        return false;
    switch (join->join.kind) {
    case JOIN_SEMI:
    case JOIN_ANTI:
        return keys->count == 1 && !more;
    case JOIN_INNER:
    case JOIN_LEFT:
        return node_is_unique(join->right, VECTOR_ITEMS(keys, int),
                              (unsigned)keys->count);
    default:
        return false;
    }
}

/* What the rows of a side cost a join. */
static double side_price(const struct node *join, int side)
{
    double rows = side == 0 ? join->left->rows : join->right->rows;

    if (is_probed(join))
        return rows * (side == 0 ? PROBED : PROBED_BUILD);
    return rows * (side == 0 ? JOINED : INDEXED);
}

/* What is saved of that where rows of a side are left out: next to nothing, where
 * the program that scans them looks them up. */
static double saved_price(const struct node *join, int side)
{
    return side == 0 && is_probed(join) ? 0 : side_price(join, side);
}

/* What the rows below cost a node. */
static double own_price(const struct node *node)
{
    switch (node->kind) {
    case NODE_TABLE:
        return node->rows * PROBED;
    case NODE_JOIN:
        return side_price(node, 0) + side_price(node, 1);
    case NODE_GROUP:
    case NODE_SORT:
    case NODE_WINDOW:
    case NODE_APPLY:
    case NODE_MAP:
        return node->left->rows * GROUPED;
    default:
        return 0;
    }
}

/* What it costs to compute a node once more: the pass *share* keeps rows for
 * both. The query of an APPLY may run for each row. */
static double tree_price(const struct node *node)
{
    double price = own_price(node);

    if (share_pays(node))
        return node->rows * JOINED;
    if (stack_is_short() || node->kind == NODE_APPLY)
        return HUGE_VAL;
    for (size_t i = 0; i < node->parts.count; i++)
        price += tree_price(VECTOR_ITEMS(&node->parts, const struct node *)[i]);
    if (node->left != NULL)
        price += tree_price(node->left);
    return node->right != NULL ? price + tree_price(node->right) : price;
}

/* --------------------------------------------------------------- values -- */

static double values_of(const struct node *node, unsigned column,
                        unsigned *looks);

/* The fewest values that a key's partners have. */
static double values_of_partners(const struct node *join, int of,
                                 unsigned column, unsigned *looks)
{
    const struct node *sides[2] = { join->left, join->right };
    const struct vector *keys[2] = { &join->join.left_keys,
                                     &join->join.right_keys };
    double values = HUGE_VAL;

    if (join->join.kind != JOIN_INNER && join->join.kind != JOIN_SEMI)
        return values;
    for (size_t i = 0; i<keys[of]->count && * looks> 0; i++) {
        unsigned other = (unsigned)VECTOR_ITEMS(keys[!of], int)[i];
        if (VECTOR_ITEMS(keys[of], int)[i] == (int)column)
            values = fmin(values, values_of(sides[!of], other, looks));
    }
    return values;
}

/* How many values a column has: no more than below, nor than what it equals. */
static double values_below(const struct node *node, unsigned column,
                           unsigned *looks)
{
    const struct expression *e;
    unsigned middle;

    switch (node->kind) {
    case NODE_SELECT:
        e = node->results[column];
        return e->kind == EXPRESSION_COLUMN
                   ? values_of(node->left, (unsigned)e->column.number, looks)
                   : HUGE_VAL;
    case NODE_JOIN:
        middle = node->left->column_count;
        if (column < middle)
            return fmin(values_of(node->left, column, looks),
                        values_of_partners(node, 0, column, looks));
        return column < middle + node->right->column_count
                       && node->join.kind <= JOIN_FULL
                   ? fmin(values_of(node->right, column - middle, looks),
                          values_of_partners(node, 1, column - middle, looks))
                   : HUGE_VAL;
    case NODE_GROUP:
        return column < node->group.keys ? values_of(node->left, column, looks)
                                         : HUGE_VAL;
    default:
        return HUGE_VAL;
    }
}

static double values_of(const struct node *node, unsigned column,
                        unsigned *looks)
{
    double values =
        fmax(fmin(node->columns[column].estimate.distinct, node->rows), 1);

    if (*looks == 0 || stack_is_short())
        return values;
    --*looks;
    return fmin(values, values_below(node, column, looks));
}

/* A side's column, and how many values it has. */
struct place {
    struct node **node;
    unsigned column;
};

static double values_at(const struct place *place)
{
    unsigned looks = LOOKS_MAX;

    return values_of(*place->node, place->column, &looks);
}

/* ----------------------------------------------------------------- down -- */

/* Down to where a join has a column from; false: it is computed there. */
static bool down_join(struct place *place)
{
    struct node *join = *place->node;
    unsigned middle = join->left->column_count;
    enum join_kind kind = join->join.kind;

    if (place->column < middle) {
        place->node = &join->left;
        return kind != JOIN_RIGHT && kind != JOIN_FULL;
    }
    place->node = &join->right;
    place->column -= middle;
    return kind == JOIN_INNER || kind == JOIN_RIGHT;
}

/* Down by one node, to where a column comes from: below, a row that has another
 * value does not count for those above that have this one. Others that read the
 * node want all of its rows, but for those of equal ones: they can have a copy. */
static bool down(struct place *place)
{
    struct node *node = *place->node;
    const struct expression *e;

    if (!node_has_one_reader(node) && !node->alike)
        return false;
    switch (node->kind) {
    case NODE_JOIN:
        return down_join(place);
    case NODE_SELECT:
        e = node->results[place->column];
        if (e->kind != EXPRESSION_COLUMN)
            return false;
        place->column = (unsigned)e->column.number;
        break;
    case NODE_GROUP:
        if (place->column >= node->group.keys)
            return false;
        break;
    case NODE_SORT:
        if (node->sort.limit != UINT64_MAX || node->sort.offset != 0)
            return false;
        break;
    case NODE_APPLY:
    case NODE_MAP:
        if (place->column >= node->left->column_count)
            return false;
        break;
    default:
        return false;
    }
    place->node = &node->left;
    return true;
}

/* ---------------------------------------------------------------- search -- */

/* A place in a side that can be filtered. */
struct target {
    struct place place;
    double values;
    double saved; /* where the filter leaves nothing */
};

/* A way to reduce a side of a join. */
struct reduction {
    struct place source, from; /* `from`: where the side has the key   */
    unsigned steps;            /* ... down to the target                */
    double gain;
};

/* What is saved of a node's price where no row comes up from `below`. */
static double saved_above(const struct node *node, const struct node *below)
{
    return node->kind == NODE_JOIN ? saved_price(node, below == node->right)
                                   : own_price(node);
}

/* The places in a side, from the join down, without their values; their
 * number. Of what stands for equal nodes, one of them has its part of the price: where
 * that is reduced, it gets a copy. */
static unsigned find_targets(const struct node *join, int side,
                             struct place place, struct target *targets)
{
    double saved = saved_price(join, side), part = 1;
    unsigned count = 0;

    while (count < STEPS_MAX) {
        const struct node *node = *place.node;
        targets[count++] = (struct target){ .place = place, .saved = saved };
        if (!node_has_one_reader(node))
            part /= node->readers;
        if (!down(&place))
            break;
        saved += part * saved_above(node, *place.node);
    }
    return count;
}

/* The share of a target's values that a source has. Where the source comes from
 * a key, and nobody counted the target's, these are values of the key. */
static double share_of(const struct place *source, double values,
                       const struct target *target)
{
    const struct column_estimate *from =
        &(*source->node)->columns[source->column].estimate;
    const struct column_estimate *to =
        &(*target->place.node)->columns[target->place.column].estimate;
    double most = target->values;

    if (from->trust == ESTIMATE_KEY && to->trust == ESTIMATE_BOUND)
        most = fmin(most, fmax(from->whole, 1));
    return fmin(1, values / most);
}

/* Filters each target by a source; keeps the best way. */
static void try_source(struct reduction *best, const struct place *source,
                       const struct target *targets, unsigned count)
{
    double price = tree_price(*source->node), values = values_at(source);

    price += values * PROBED_BUILD;
    for (unsigned i = 0; i < count; i++) {
        double share = share_of(source, values, &targets[i]);
        double saved = targets[i].saved * (1 - share);
        double cost = price + (*targets[i].place.node)->rows * PROBED;
        if (saved > SAVED_LEAST && saved > cost * GAIN_LEAST
            && saved - cost > best->gain)
            *best = (struct reduction){ *source, targets[0].place, i,
                                        saved - cost };
    }
}

/* Whether a target's rows come from what is the same as the source: it leaves
 * none of them out. */
static bool is_among(const struct place *source, const struct target *targets,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (targets[i].place.column == source->column
            && node_same(*targets[i].place.node, *source->node, 0))
            return true;
    return false;
}

/* Whether the machine looks a key up by a number. */
static bool is_probe_key(const struct node *a, unsigned a_column,
                         const struct node *b, unsigned b_column)
{
    int types[2] = { a->columns[a_column].type, b->columns[b_column].type };

    return !is_float(types[0]) && !is_float(types[1])
           && (types[0] == VDBQ_TEXT) == (types[1] == VDBQ_TEXT)
           && step_machine_type((enum vdbq_type)types[0])
                  == step_machine_type((enum vdbq_type)types[1]);
}

/* The column of a key on one side of a join. */
static struct place key_place(struct node *join, int side, size_t key)
{
    const struct vector *keys =
        side == 0 ? &join->join.left_keys : &join->join.right_keys;

    return (struct place){ side == 0 ? &join->left : &join->right,
                           (unsigned)VECTOR_ITEMS(keys, int)[key] };
}

/* The best way to reduce a side by one key. */
static void try_key(struct reduction *best, struct node *join, int side,
                    size_t key)
{
    struct place source = key_place(join, !side, key);
    struct place side_key = key_place(join, side, key);
    struct target targets[STEPS_MAX];
    unsigned count;

    if (!is_probe_key(*source.node, source.column, *side_key.node,
                      side_key.column))
        return;
    count = find_targets(join, side, side_key, targets);
    if (targets[count - 1].saved <= SAVED_LEAST)
        return;
    for (unsigned i = 0; i < count; i++)
        targets[i].values = values_at(&targets[i].place);
    for (unsigned step = 0; step < STEPS_MAX; step++) {
        if (!is_among(&source, targets, count))
            try_source(best, &source, targets, count);
        if (!node_has_one_reader(*source.node) || !down(&source))
            return;
    }
}

/* ---------------------------------------------------------------- reduce -- */

struct reducing {
    struct binder *binder;
    struct node *root;
    unsigned left; /* reductions that may still be made */
    unsigned walk; /* nodes that were come to have its number */
};

/* The keys, of a source that stands in one more place from now on. */
static struct node *keys_of(struct binder *binder, const struct place *source)
{
    int column = (int)source->column;
    struct node *keys = node_columns(binder, *source->node, &column, 1);

    if (keys != NULL)
        node_add_reader(keys->left);
    return keys;
}

static struct node *semi_join(struct binder *binder, struct node *target,
                              unsigned column, struct node *keys)
{
    struct node *join = node_join(binder, JOIN_SEMI, target, keys);
    int left = (int)column, right = 0;

    if (join == NULL)
        return NULL;
    join->join.left_keys = VECTOR_IN(binder->arena, int);
    join->join.right_keys = VECTOR_IN(binder->arena, int);
    if (!vector_append(&join->join.left_keys, &left, 1)
        || !vector_append(&join->join.right_keys, &right, 1))
        return error_no_memory(binder->error), NULL;
    return join;
}

/* Of rows that a chain of look-ups filters, the one that keeps fewer of them comes first. */
static struct node *sink(struct node *join)
{
    struct node *first = join->left;

    if (first->kind != NODE_JOIN || first->join.kind != JOIN_SEMI
        || !is_probed(first) || !is_probed(join) || !node_has_one_reader(first)
        || join->rows * first->left->rows >= first->rows * first->rows)
        return join;
    join->left = first->left;
    first->left = sink(join);
    return first;
}

/* The place of a reduction's target, of which nobody else reads the rows, nor what is on
 * the way there; NULL: a failure. */
static struct node **own_target(struct binder *binder,
                                const struct reduction *best, unsigned *column)
{
    struct place place = best->from;

    for (unsigned i = 0; i < best->steps; i++) {
        struct node *node = *place.node;
        if (!node_has_one_reader(node)) {
            *place.node = node_copy(binder, node);
            if (*place.node == NULL)
                return NULL;
            node->readers--;
        }
        down(&place);
    }
    *column = place.column;
    return place.node;
}

/* Filters what is in a place by the keys of a source: of a UNION ALL each part, as far
 * down as it means the same. */
static bool filter_by_keys(struct binder *binder, struct place place,
                           const struct place *source)
{
    struct node *node = *place.node, *keys;
    bool parted = node->kind == NODE_CONCAT && node_has_one_reader(node);

    for (size_t i = 0; parted && i < node->parts.count; i++) {
        struct place part = { vector_at(&node->parts, i), place.column };
        while (node_has_one_reader(*part.node) && down(&part))
            continue;
        if (!filter_by_keys(binder, part, source))
            return false;
    }
    if (parted)
        return true;
    keys = keys_of(binder, source);
    node = keys ? semi_join(binder, node, place.column, keys) : NULL;
    if (node == NULL)
        return false;
    estimate_node(binder, node);
    *place.node = sink(node);
    return true;
}

/* The join has the rows that it had: what is thought of them stays. */
static bool make(struct reducing *reducing, struct node *join,
                 const struct reduction *best)
{
    struct binder *binder = reducing->binder;
    struct place target = { .column = 0 };

    target.node = own_target(binder, best, &target.column);
    if (target.node == NULL || !filter_by_keys(binder, target, &best->source))
        return false;
    reducing->left--;
    join->settled = true;
    estimate_node(binder, reducing->root);
    return true;
}

static bool reduce_side(struct reducing *reducing, struct node *join, int side)
{
    struct reduction best = { .gain = 0 };

    if (reducing->left == 0 || !join_needs_partner(join, side))
        return true;
    for (size_t i = 0; i < join->join.left_keys.count; i++)
        try_key(&best, join, side, i);
    if (best.gain <= 0 || node_tree_fails(join->left)
        || node_tree_fails(join->right))
        return true;
    return make(reducing, join, &best);
}

static bool walk(struct reducing *reducing, struct node *node)
{
    if (stack_is_short())
        return stack_refuse(reducing->binder->error, (struct position){ 0 }),
               false;
    if (node->counted == reducing->walk)
        return true;
    node->counted = reducing->walk;
    if (node->kind == NODE_JOIN && !node->join.nulls_match)
        for (int side = 1; side >= 0; side--)
            if (!reduce_side(reducing, node, side))
                return false;
    for (size_t i = 0; i < node->parts.count; i++)
        if (!walk(reducing, VECTOR_ITEMS(&node->parts, struct node *)[i]))
            return false;
    return (node->left == NULL || walk(reducing, node->left))
           && (node->right == NULL || walk(reducing, node->right));
}

struct node *reduce(struct binder *binder, struct node *node)
{
    struct reducing reducing = { binder, node, REDUCTIONS_MAX, 0 };

    estimate_node(binder, node);
    if (!node_count_readers(binder, node))
        return NULL;
    reducing.walk = ++binder->counts;
    return walk(&reducing, node) ? node : NULL;
}
