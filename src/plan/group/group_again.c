/* SPDX-License-Identifier: MIT */
/*
 * Groups of groups [Gray et al. 1997, the data cube]:
 *
 *   SELECT a, b, count(*), max(x) FROM t GROUP BY ROLLUP (a, b)
 *
 * has the groups of t's rows by a and b, by a, and one of all rows. Those by a are
 * made of those by a and b, whose counts are added and of whose greatest values
 * the greatest is taken; the last one is made of those by a. Where groups are
 * much fewer than rows, or rows are more than a scan of a table, the rows are so
 * read once. *share* makes one step of the groups that others are made of.
 *
 * Groups come in the order of their first rows, and so do groups of groups: rows
 * and their order stay. Sums of floats are left out, since they would be rounded
 * twice, and so are extremes of floats, since equal ones may differ in their sign.
 */
#include "plan/group/group_again.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/estimate/estimate.h"
#include "plan/group/group_parts.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_same.h"

enum {
    PARTS_MAX = 128, /* of a concat whose groups are compared           */
    ROWS_A_GROUP = 2 /* that groups have at least which others are made of */
};

/* The groups of a part of a concat. */
struct part {
    struct node **place; /* where they stand                             */
    struct node *bound;  /* as they were                                 */
    struct node *made;   /* what stands there from now on; NULL: not yet */
};

struct parts {
    struct binder *binder;
    unsigned walk; /* node_same.h */
    unsigned count;
    struct part part[PARTS_MAX];
};

/* ------------------------------------------------------------- the proof -- */

/* Whether a part is what is computed of groups of what a SELECT computes. */
static bool has_groups(const struct node *part)
{
    const struct node *group = part->left;

    return part->kind == NODE_SELECT && part->common == NULL
           && group->kind == NODE_GROUP && group->common == NULL
           && group->left->kind == NODE_SELECT && group->left->common == NULL;
}

static bool are_same(const struct expression *a, const struct expression *b)
{
    return a == NULL || b == NULL ? a == b : expression_same(a, b);
}

static bool has_key(const struct node *group, const struct expression *key)
{
    unsigned i = 0;

    while (i < group->group.keys
           && !expression_same(group->left->results[i], key))
        i++;
    return i < group->group.keys;
}

/* Whether rows are those of a table, as far as a condition keeps them: they are as soon
 * read as groups, which are held. */
static bool is_scan(const struct node *node)
{
    while (node->kind == NODE_SELECT)
        node = node->left;
    return node->kind == NODE_TABLE;
}

/* Whether groups cost less to read than what they are made of. */
static bool are_cheap(const struct node *group)
{
    return !is_scan(group->left)
           || group->rows * ROWS_A_GROUP <= group->left->rows;
}

/* Whether the groups of `fine` are parts of those of `coarse`. */
static bool is_finer(const struct parts *parts, const struct node *fine,
                     const struct node *coarse)
{
    bool finer = fine->group.keys > coarse->group.keys && are_cheap(fine);

    for (unsigned i = 0; i < coarse->group.keys && finer; i++)
        finer = has_key(fine, coarse->left->results[i]);
    return finer && are_same(fine->left->where, coarse->left->where)
           && node_same(fine->left->left, coarse->left->left, parts->walk);
}

/* What an aggregate reads of a row; NULL: nothing. */
static const struct expression *read_by(const struct node *group, int column)
{
    return column < 0 ? NULL : group->left->results[column];
}

/* The column of `fine` that is the aggregate of `coarse`; -1: none is. */
static int column_of_aggregate(const struct node *fine,
                               const struct node *coarse,
                               const struct step_aggregate *aggregate)
{
    for (size_t i = 0; i < fine->group.aggregates.count; i++) {
        const struct step_aggregate *other =
            vector_at(&fine->group.aggregates, i);
        if (other->function == aggregate->function && !other->distinct
            && are_same(read_by(fine, other->column),
                        read_by(coarse, aggregate->column))
            && are_same(read_by(fine, other->filter),
                        read_by(coarse, aggregate->filter)))
            return (int)(fine->group.keys + i);
    }
    return -1;
}

static bool tells_aggregates(const struct node *fine, const struct node *coarse)
{
    enum aggregate_function function;

    for (size_t i = 0; i < coarse->group.aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&coarse->group.aggregates, i);
        int type = coarse->columns[coarse->group.keys + i].type;
        if (!aggregate_of_parts(aggregate, type, &function)
            || column_of_aggregate(fine, coarse, aggregate) < 0)
            return false;
    }
    return true;
}

/* The fewest groups that those of a part can be made of; NULL: none. */
static struct part *best_for(struct parts *parts, const struct node *coarse)
{
    struct part *best = NULL;

    for (unsigned i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];
        if ((best == NULL || part->bound->rows < best->bound->rows)
            && is_finer(parts, part->bound, coarse)
            && tells_aggregates(part->bound, coarse))
            best = part;
    }
    return best;
}

/* ---------------------------------------------------------------- making -- */

static unsigned column_of_key(const struct node *group,
                              const struct expression *key)
{
    unsigned i = 0;

    while (!expression_same(group->left->results[i], key))
        i++;
    assert(i < group->group.keys); /* has_key() */
    return i;
}

/* The columns of groups that stand for `fine` that those of `coarse` are made of:
 * as many, keys first. */
static struct node *make_below(struct binder *binder, const struct node *coarse,
                               const struct node *fine,
                               const struct node *stands)
{
    unsigned keys = coarse->group.keys;
    int *columns = arena_alloc(binder->arena,
                               (coarse->column_count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < coarse->column_count; i++)
        columns[i] = i < keys
                         ? (int)column_of_key(fine, coarse->left->results[i])
                         : column_of_aggregate(
                             fine, coarse,
                             vector_at(&coarse->group.aggregates, i - keys));
    return node_columns(binder, (struct node *)(uintptr_t)stands, columns,
                        coarse->column_count);
}

/* The groups of `coarse`, made of those that stand for `fine`. */
static struct node *make(struct binder *binder, const struct node *coarse,
                         const struct node *fine, const struct node *stands)
{
    struct node *made = make_below(binder, coarse, fine, stands);

    return made == NULL ? NULL : group_of_parts(binder, made, coarse);
}

/* Settles what stands for a part's groups, those that they are made of before. */
static bool settle(struct parts *parts, struct part *part)
{
    struct part *fine = best_for(parts, part->bound);

    if (part->made != NULL)
        return true;
    if (fine == NULL)
        return part->made = part->bound, true;
    if (!settle(parts, fine))
        return false;
    part->made = make(parts->binder, part->bound, fine->bound, fine->made);
    if (part->made != NULL)
        *part->place = part->made;
    return part->made != NULL;
}

struct node *group_again(struct binder *binder, struct node *node)
{
    struct parts parts = { .binder = binder, .walk = ++binder->counts };
    bool done = true;

    if (node->kind != NODE_CONCAT || node->parts.count > PARTS_MAX)
        return node;
    for (size_t i = 0; i < node->parts.count; i++) {
        struct node *part = VECTOR_ITEMS(&node->parts, struct node *)[i];
        if (has_groups(part))
            parts.part[parts.count++] =
                (struct part){ .place = &part->left, .bound = part->left };
    }
    if (parts.count > 1)
        estimate_node(binder, node);
    for (unsigned i = 0; i < parts.count && done; i++)
        done = settle(&parts, &parts.part[i]);
    return done ? node : NULL;
}
