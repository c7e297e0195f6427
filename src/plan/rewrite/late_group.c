/* SPDX-License-Identifier: MIT */
/*
 * Late materialisation through groups: a text that is grouped by need not be,
 * where the other keys determine the row that it comes from. The row's id is
 * a key in its place, and the texts are fetched for the groups that are left.
 */
#include <assert.h>
#include <string.h>

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/simplify/determined.h"
#include "plan/rewrite/late.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"

/* Keys that may be fetched later: texts that no aggregate reads. */
static bool *wanted_keys(struct binder *binder, const struct node *node,
                         const bool *wanted)
{
    const struct vector *aggregates = &node->group.aggregates;
    bool *keys = column_flags(binder, node->left->column_count, false);

    for (unsigned i = 0; keys != NULL && i < node->group.keys; i++)
        keys[i] = wanted[i] && node->left->columns[i].type == VDBQ_TEXT;
    for (size_t i = 0; keys != NULL && i < aggregates->count; i++) {
        const struct step_aggregate *aggregate = vector_at(aggregates, i);
        if (aggregate->column >= 0)
            keys[aggregate->column] = false;
        if (aggregate->filter >= 0)
            keys[aggregate->filter] = false;
    }
    return keys;
}

/* Takes the columns of sources whose rows the other keys do not determine out
 * of `keys`; `*all`: there were none such. False: no memory. */
static bool keep_determined(struct binder *binder, const struct node *node,
                            const struct node *below,
                            const struct vector *sources, bool *keys, bool *all)
{
    bool *known = column_flags(binder, below->column_count, false);

    *all = true;
    for (unsigned i = 0; known != NULL && i < node->group.keys; i++)
        known[i] = late_source_of(sources, i) == NULL;
    if (known == NULL || !add_determined(binder, below, known))
        return false;
    for (unsigned i = 0; i < node->group.keys; i++) {
        const struct late_source *source = late_source_of(sources, i);
        if (source == NULL || known[source->row])
            continue;
        keys[i] = false;
        *all = false;
    }
    return true;
}

/* What is below with ids of rows; the same, where there are none. */
static struct node *late_keys(struct binder *binder, struct node *node,
                              const bool *wanted, struct vector *sources)
{
    bool *keys = wanted_keys(binder, node, wanted), all = false;
    struct node *below = NULL;

    if (keys == NULL)
        return NULL;
    while (!all) {
        sources->count = 0;
        below = late_columns(binder, node->left, keys, sources);
        if (below == NULL
            || !keep_determined(binder, node, below, sources, keys, &all))
            return NULL;
    }
    return below;
}

/* ----------------------------------------------------------------- group -- */

/* The columns below of a group without the keys that are fetched. */
struct grouping {
    struct node *node; /* the group as it was                            */
    int *columns;      /* below, in their new order                      */
    int *places;       /* where each of them is in that; -1: nowhere     */
    unsigned keys;     /* keys that are left                             */
    unsigned count;    /* of `columns`                                   */
};

static void place(struct grouping *grouping, unsigned column)
{
    grouping->places[column] = (int)grouping->count;
    grouping->columns[grouping->count++] = (int)column;
}

/* Keys that stay first, then what is no key. */
static bool arrange(struct binder *binder, const struct vector *sources,
                    struct grouping *grouping)
{
    unsigned keys = grouping->node->group.keys;
    unsigned count = grouping->node->left->column_count;

    grouping->columns =
        arena_alloc(binder->arena, (count + 1) * sizeof *grouping->columns);
    grouping->places =
        arena_alloc(binder->arena, (count + 1) * sizeof *grouping->places);
    if (grouping->columns == NULL || grouping->places == NULL)
        return error_no_memory(binder->error), false;
    for (unsigned i = 0; i < keys; i++) {
        const struct late_source *source = late_source_of(sources, i);
        grouping->places[i] = -1;
        if (source == NULL || source->row == i)
            place(grouping, i);
    }
    grouping->keys = grouping->count;
    for (unsigned i = keys; i < count; i++)
        place(grouping, i);
    return true;
}

/* Aggregates of columns that have moved. */
static bool move_aggregates(struct binder *binder,
                            const struct grouping *grouping,
                            struct vector *aggregates)
{
    const struct vector *from = &grouping->node->group.aggregates;

    *aggregates = VECTOR_IN(binder->arena, struct step_aggregate);
    for (size_t i = 0; i < from->count; i++) {
        struct step_aggregate moved =
            VECTOR_ITEMS(from, struct step_aggregate)[i];
        if (moved.column >= 0)
            moved.column = grouping->places[moved.column];
        if (moved.filter >= 0)
            moved.filter = grouping->places[moved.filter];
        if (!vector_append(aggregates, &moved, 1))
            return error_no_memory(binder->error), false;
    }
    return true;
}

/* The group of fewer keys. */
static struct node *make_group(struct binder *binder,
                               const struct grouping *grouping,
                               struct node *below)
{
    const struct node *node = grouping->node;
    unsigned count = node->column_count - node->group.keys;
    struct node *arranged =
        node_columns(binder, below, grouping->columns, grouping->count);
    struct node *made;

    if (arranged == NULL)
        return NULL;
    made = node_new(binder, NODE_GROUP, arranged, grouping->keys + count);
    if (made == NULL
        || !move_aggregates(binder, grouping, &made->group.aggregates))
        return NULL;
    made->group.keys = grouping->keys;
    memcpy(made->columns, arranged->columns,
           grouping->keys * sizeof *made->columns);
    memcpy(made->columns + grouping->keys, node->columns + node->group.keys,
           count * sizeof *made->columns);
    return made;
}

/* The group's columns where those of the old one are; of a key that is fetched
 * some other one, which nobody reads. */
static struct node *as_before(struct binder *binder,
                              const struct grouping *grouping,
                              const struct vector *sources, struct node *group)
{
    const struct node *node = grouping->node;
    int *columns =
        arena_alloc(binder->arena, (node->column_count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++) {
        unsigned key = i;
        if (i >= node->group.keys) {
            columns[i] = (int)(i - node->group.keys + grouping->keys);
            continue;
        }
        if (grouping->places[i] < 0)
            key = late_source_of(sources, i)->row;
        columns[i] = grouping->places[key];
        assert(columns[i] >= 0 && columns[i] < (int)grouping->keys);
    }
    return node_columns(binder, group, columns, node->column_count);
}

struct node *late_group(struct binder *binder, struct node *node,
                        const bool *wanted, struct vector *sources)
{
    struct vector found = VECTOR_IN(binder->arena, struct late_source);
    struct node *below = late_keys(binder, node, wanted, &found), *group;
    struct grouping grouping = { .node = node };

    if (below == NULL || found.count == 0)
        return below != NULL ? node : NULL;
    if (!arrange(binder, &found, &grouping))
        return NULL;
    group = make_group(binder, &grouping, below);
    if (group == NULL)
        return NULL;
    if (!vector_append(sources, found.items, found.count))
        return error_no_memory(binder->error), NULL;
    return as_before(binder, &grouping, &found, group);
}
