/* SPDX-License-Identifier: MIT */
/*
 * Keys that say nothing new:
 *
 *   SELECT x, x - 1, 7, count(*) FROM t GROUP BY x, x - 1, 7
 *
 * has the groups of x alone, in the same order, that of their first rows. What
 * is computed of keys is computed once for each group, then.
 *
 * Floats are left out, as what is computed and as what it is computed of: equal
 * keys may be 0.0 and -0.0, and of -0.0 a group shows 0.0. So are texts, whose
 * words a program had to know, and what can fail.
 */
#include "plan/simplify/computed_keys.h"

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"

/* A group over what a SELECT computes. */
struct keys {
    struct binder *binder;
    const struct node *group, *select;
    bool *plain;     /* of the columns below the SELECT: it is a key        */
    bool *dropped;   /* of the keys: it is computed of the groups           */
    int *places;     /* of the SELECT's columns: their new number           */
    int *from_below; /* of the columns below the SELECT: the key, likewise  */
    unsigned kept;   /* keys */
};

/* --------------------------------------------------------------- the proof -- */

/* Keys that are columns as they are. */
static void find_plain(struct keys *keys)
{
    for (unsigned i = 0; i < keys->group->group.keys; i++) {
        const struct expression *e = keys->select->results[i];
        if (e->kind == EXPRESSION_COLUMN && !is_float(e->type))
            keys->plain[e->column.number] = true;
    }
}

/* Whether plain keys alone say what a key is; -1: no memory. */
static int is_computed(const struct keys *keys, struct expression *e)
{
    unsigned count = keys->select->left->column_count;
    bool *reads;

    if (e->kind == EXPRESSION_COLUMN || e->faults || is_float(e->type)
        || e->type == VDBQ_TEXT || needs_extraction(e)
        || expression_has(e, EXPRESSION_WINDOW))
        return false;
    reads = column_flags(keys->binder, count, false);
    if (reads == NULL)
        return -1;
    expression_reads(reads, &e);
    for (unsigned i = 0; i < count; i++)
        if (reads[i] && !keys->plain[i])
            return false;
    return true;
}

/* Without a key, a group of no rows would be a row: one stays. */
static bool find_dropped(struct keys *keys)
{
    unsigned count = keys->group->group.keys;

    keys->kept = count;
    for (unsigned i = count; i-- > 0 && keys->kept > 1;) {
        int computed = is_computed(keys, keys->select->results[i]);
        if (computed < 0)
            return false;
        keys->dropped[i] = computed > 0;
        keys->kept -= computed > 0;
    }
    return true;
}

/* Whether an aggregate reads a key that is no more. */
static bool is_read(const struct keys *keys, int column)
{
    return column >= 0 && column < (int)keys->group->group.keys
           && keys->dropped[column];
}

static bool are_read(const struct keys *keys)
{
    const struct vector *aggregates = &keys->group->group.aggregates;

    for (size_t i = 0; i < aggregates->count; i++) {
        const struct step_aggregate *aggregate = vector_at(aggregates, i);
        if (is_read(keys, aggregate->column)
            || is_read(keys, aggregate->filter))
            return true;
    }
    return false;
}

/* --------------------------------------------------------------- the group -- */

/* Fewer keys, and what aggregates read. */
static struct node *make_select(struct keys *keys)
{
    const struct node *select = keys->select;
    struct expression **results = arena_alloc(
        keys->binder->arena, (select->column_count + 1) * sizeof(*results));
    unsigned count = 0;

    if (results == NULL)
        return error_no_memory(keys->binder->error), NULL;
    for (unsigned i = 0; i < select->column_count; i++) {
        struct expression *e = select->results[i];
        if (i < keys->group->group.keys && keys->dropped[i])
            continue;
        if (i < keys->group->group.keys && e->kind == EXPRESSION_COLUMN)
            keys->from_below[e->column.number] = (int)count;
        keys->places[i] = (int)count;
        results[count++] = e;
    }
    return node_select(keys->binder, select->left, select->where, results, NULL,
                       count);
}

static struct node *make_group(struct keys *keys)
{
    const struct vector *aggregates = &keys->group->group.aggregates;
    struct vector moved = VECTOR_IN(keys->binder->arena, struct step_aggregate);
    struct node *select = make_select(keys);

    for (size_t i = 0; select != NULL && i < aggregates->count; i++) {
        struct step_aggregate aggregate =
            VECTOR_ITEMS(aggregates, struct step_aggregate)[i];
        if (aggregate.column >= 0)
            aggregate.column = keys->places[aggregate.column];
        if (aggregate.filter >= 0)
            aggregate.filter = keys->places[aggregate.filter];
        if (!vector_append(&moved, &aggregate, 1))
            return error_no_memory(keys->binder->error), NULL;
    }
    return select ? node_group(keys->binder, select, keys->kept, &moved) : NULL;
}

/* The columns that the group had. */
static struct node *as_before(const struct keys *keys, struct node *group)
{
    const struct node *before = keys->group;
    struct expression **results = arena_alloc(
        keys->binder->arena, (before->column_count + 1) * sizeof(*results));
    struct position nowhere = { 0 };
    unsigned column = 0;

    if (results == NULL)
        return error_no_memory(keys->binder->error), NULL;
    for (unsigned i = 0; i < before->column_count; i++) {
        results[i] =
            i < before->group.keys && keys->dropped[i]
                ? expression_over(keys->binder, keys->select->results[i], group,
                                  keys->from_below, 0)
                : node_column(keys->binder, group, column++, nowhere);
        if (results[i] == NULL)
            return NULL;
    }
    struct node *made = node_select(keys->binder, group, NULL, results, NULL,
                                    before->column_count);
    for (unsigned i = 0; made != NULL && i < before->column_count; i++)
        made->columns[i].name = before->columns[i].name;
    return made;
}

static bool make_room(struct keys *keys)
{
    size_t below = keys->select->left->column_count;
    size_t count = keys->select->column_count;

    keys->plain = column_flags(keys->binder, below, false);
    keys->dropped = column_flags(keys->binder, count, false);
    keys->places =
        arena_alloc(keys->binder->arena, (count + 1) * sizeof *keys->places);
    keys->from_below = arena_alloc(keys->binder->arena,
                                   (below + 1) * sizeof *keys->from_below);
    if (keys->plain && keys->dropped && keys->places && keys->from_below)
        return true;
    error_no_memory(keys->binder->error);
    return false;
}

struct node *computed_keys(struct binder *binder, struct node *node)
{
    struct keys keys = { .binder = binder,
                         .group = node,
                         .select = node->left };

    if (node->kind != NODE_GROUP || node->group.keys < 2
        || node->left->kind != NODE_SELECT || node->left->common != NULL)
        return node;
    if (!make_room(&keys))
        return NULL;
    find_plain(&keys);
    if (!find_dropped(&keys))
        return NULL;
    if (keys.kept == node->group.keys || are_read(&keys))
        return node;
    struct node *group = make_group(&keys);
    return group ? as_before(&keys, group) : NULL;
}
