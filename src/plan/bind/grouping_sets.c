/* SPDX-License-Identifier: MIT */
/*
 * GROUP BY of several groupings: ROLLUP, CUBE and GROUPING SETS. Each grouping is
 * a set of keys. The SELECT is bound once for each, so that every one has a tree of
 * its own from FROM up to its groups, of which *share* makes one step what is worth
 * it. Their rows, one grouping behind the other as they are written, have the columns
 *
 *   all keys, NULL where the grouping has not got them; the same as they are written,
 *   where texts are grouped by keys made of them; aggregates; and for each key 1
 *   where the grouping has not got it, else 0: what GROUPING() is made of.
 *
 * What is over the groups names these.
 */
#include "base/vector.h"
#include "plan/bind/select.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"

static enum vdbq_status no_memory(const struct selecting *selecting)
{
    return error_no_memory(selecting->binder->error);
}

static bool is_grouping(const struct expression *e)
{
    return e->kind == EXPRESSION_AGGREGATE
           && e->aggregate.function == AGGREGATE_GROUPING;
}

/* Stops at the first GROUPING. */
static bool has_none(void *context, struct expression **operand)
{
    return !is_grouping(*operand)
           && expression_each(*operand, has_none, context);
}

/* ------------------------------------------------------------- symbols -- */

/* The number of a key, as it is grouped by or (`*written`) as it is written. */
static int key_of(const struct selecting *selecting, const struct expression *e,
                  bool *written)
{
    int key = expression_find(&selecting->keys, 0, e);

    *written = key < 0;
    return key >= 0 ? key : expression_find(&selecting->written, 0, e);
}

static bool check_grouping(const struct selecting *selecting,
                           const struct expression *e)
{
    bool written;

    if (key_of(selecting, e->left, &written) >= 0)
        return true;
    error_at(selecting->binder->error, VDBQ_SYNTAX, e->at,
             "GROUPING takes what GROUP BY names");
    return false;
}

/* Finds what the groups are to give beside keys. */
static bool collect(void *context, struct expression **operand)
{
    struct selecting *selecting = context;
    struct expression *e = *operand;
    bool written;

    if (key_of(selecting, e, &written) >= 0)
        return true;
    if (is_grouping(e))
        return check_grouping(selecting, e);
    return select_collect(selecting, e, collect);
}

/* Calls it for all expressions over the rows at hand, until it says false. */
static bool each_place(struct selecting *selecting,
                       bool (*visit)(void *context, struct expression **place),
                       bool *stopped)
{
    size_t count;
    struct expression ***places = select_places(selecting, &count);

    *stopped = false;
    for (size_t i = 0; places != NULL && i < count && !*stopped; i++)
        *stopped = !visit(selecting, places[i]);
    return places != NULL;
}

static enum vdbq_status collect_all(struct selecting *selecting)
{
    bool stopped;

    if (!each_place(selecting, collect, &stopped))
        return selecting->binder->error->status;
    if (!stopped || selecting->binder->error->status != VDBQ_OK)
        return selecting->binder->error->status;
    return no_memory(selecting);
}

enum vdbq_status select_find_grouping(struct selecting *selecting, bool *found)
{
    unsigned count = (unsigned)selecting->keys.count;
    int *keys =
        arena_alloc(selecting->binder->arena, (count + 1) * sizeof *keys);
    struct key_set all = { keys, count };

    *found = selecting->sets.count > 0;
    if (*found)
        return VDBQ_OK;
    if (keys == NULL || !each_place(selecting, has_none, found))
        return no_memory(selecting);
    for (unsigned i = 0; i < count; i++)
        keys[i] = (int)i;
    return !*found || vector_append(&selecting->sets, &all, 1)
               ? VDBQ_OK
               : no_memory(selecting);
}

/* -------------------------------------------------------- one grouping -- */

/* What is computed of the groups of one set: those of the keys that are grouped by
 * keys made of them, as they are written, and the aggregates. */
static bool add_results(const struct selecting *selecting,
                        struct vector *results)
{
    struct expression *const *written =
        VECTOR_ITEMS(&selecting->written, struct expression *);
    struct result result = { .name = "" };

    for (size_t i = 0; i < selecting->written.count; i++) {
        result.expression = select_first(selecting->binder, written[i]);
        if (result.expression == NULL || !vector_append(results, &result, 1))
            return false;
    }
    for (size_t i = 0; i < selecting->aggregates.count; i++) {
        result.expression =
            VECTOR_ITEMS(&selecting->aggregates, struct expression *)[i];
        if (!vector_append(results, &result, 1))
            return false;
    }
    return true;
}

/* The groups of a set, and in `results` what is computed of them; NULL: a failure. */
static struct node *group_by_set(const struct selecting *selecting,
                                 const struct key_set *set,
                                 struct vector *results)
{
    struct arena *arena = selecting->binder->arena;
    struct selecting part = { .binder = selecting->binder,
                              .query = selecting->query,
                              .select = selecting->select,
                              .results = VECTOR_IN(arena, struct result),
                              .keys = VECTOR_IN(arena, struct expression *),
                              .aggregates =
                                  VECTOR_IN(arena, struct expression *),
                              .node = selecting->node };
    struct expression *const *keys =
        VECTOR_ITEMS(&selecting->keys, struct expression *);
    bool done = add_results(selecting, &part.results);

    for (unsigned i = 0; i < set->count && done; i++)
        done = vector_append(&part.keys, &keys[set->keys[i]], 1);
    if (!done)
        return no_memory(selecting), NULL;
    if (select_group(&part) != VDBQ_OK)
        return NULL;
    *results = part.results;
    return part.node;
}

static struct expression *no_value(struct binder *binder,
                                   const struct expression *e)
{
    struct expression *null = expression_null(binder, e->type, e->at);

    if (null != NULL) {
        null->precision = e->precision;
        null->scale = e->scale;
    }
    return null;
}

static struct expression *flag(struct binder *binder, bool value,
                               struct position at)
{
    struct expression *e = expression_integer(binder, value, at);

    return e ? expression_cast_plain(binder, e, VDBQ_BIGINT, at) : NULL;
}

/* Where key `key` of the SELECT is in a set's; its count: nowhere. */
static unsigned place_in(const struct key_set *set, int key)
{
    unsigned i = 0;

    while (i < set->count && set->keys[i] != key)
        i++;
    return i;
}

/* Fills what a grouping gives of a key: its value twice, and the flag. */
static bool fill_key(const struct selecting *selecting, struct node *node,
                     const struct key_set *set, const struct vector *results,
                     unsigned key, struct expression **columns)
{
    struct binder *binder = selecting->binder;
    unsigned count = (unsigned)selecting->keys.count,
             flags = 2 * count + (unsigned)selecting->aggregates.count,
             place = place_in(set, (int)key);
    struct expression *e =
        VECTOR_ITEMS(&selecting->keys, struct expression *)[key];
    struct expression *written =
        VECTOR_ITEMS(&selecting->written, struct expression *)[key];
    bool there = place < set->count;
    const struct result *first = vector_at(results, key);

    columns[key] =
        there ? node_column(binder, node, place, e->at) : no_value(binder, e);
    columns[count + key] = !there         ? no_value(binder, written)
                           : written == e ? columns[key]
                                          : first->expression;
    columns[flags + key] = flag(binder, !there, e->at);
    return columns[key] && columns[count + key] && columns[flags + key];
}

/* The rows of one grouping. NULL: a failure. */
static struct node *one_grouping(struct selecting *selecting, unsigned number)
{
    struct binder *binder = selecting->binder;
    const struct key_set *set = vector_at(&selecting->sets, number);
    unsigned keys = (unsigned)selecting->keys.count,
             aggregates = (unsigned)selecting->aggregates.count,
             count = 3 * keys + aggregates;
    struct expression **columns =
        arena_alloc(binder->arena, (count + 1) * sizeof(*columns));
    struct vector results;
    struct node *node = columns ? group_by_set(selecting, set, &results) : NULL;

    if (columns == NULL)
        return no_memory(selecting), NULL;
    for (unsigned i = 0; i < keys && node != NULL; i++)
        if (!fill_key(selecting, node, set, &results, i, columns))
            return NULL;
    for (unsigned i = 0; i < aggregates && node != NULL; i++) {
        const struct result *result = vector_at(&results, keys + i);
        columns[2 * keys + i] = result->expression;
    }
    return node ? node_select(binder, node, NULL, columns, NULL, count) : NULL;
}

/* ----------------------------------------------------------------- all -- */

/* A column is what the key is to what reads it, whichever grouping comes first. */
static void describe_keys(const struct selecting *selecting, struct node *node)
{
    unsigned count = (unsigned)selecting->keys.count;

    for (unsigned i = 0; i < 2 * count; i++) {
        const struct vector *keys =
            i < count ? &selecting->keys : &selecting->written;
        const struct expression *e =
            VECTOR_ITEMS(keys, struct expression *)[i % count];
        node->columns[i].affine = e->affine;
        node->columns[i].collating = e->collating;
        node->columns[i].name = e->name != NULL ? e->name : "";
    }
}

static struct expression *grouped(void *context, struct expression *e,
                                  bool *failed)
{
    const struct selecting *selecting = context;
    int keys = (int)selecting->keys.count,
        aggregates = (int)selecting->aggregates.count, number;
    struct expression *column;
    bool written;

    number = key_of(selecting, is_grouping(e) ? e->left : e, &written);
    if (is_grouping(e))
        number += 2 * keys + aggregates;
    else if (number >= 0 && written)
        number += keys;
    if (number < 0 && e->kind == EXPRESSION_COLUMN)
        e = select_first(selecting->binder, e);
    if (number < 0 && e != NULL && e->kind == EXPRESSION_AGGREGATE)
        number = 2 * keys + expression_find(&selecting->aggregates, 0, e);
    *failed = e == NULL;
    if (number < 0)
        return NULL;
    column = node_column(selecting->binder, selecting->node, (unsigned)number,
                         e->at);
    *failed = column == NULL;
    return column;
}

struct node *select_one_set(struct selecting *selecting, unsigned number)
{
    return collect_all(selecting) == VDBQ_OK ? one_grouping(selecting, number)
                                             : NULL;
}

enum vdbq_status select_join_sets(struct selecting *selecting,
                                  struct node *const *parts)
{
    unsigned count = (unsigned)selecting->sets.count;

    selecting->node =
        count == 1 ? parts[0] : node_concat(selecting->binder, parts, count);
    if (selecting->node == NULL)
        return selecting->binder->error->status;
    describe_keys(selecting, selecting->node);
    return select_replace(selecting, grouped);
}
