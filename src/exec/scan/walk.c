/* SPDX-License-Identifier: MIT */
/*
 * The walk over a table, in table order: launch by launch through a tablet,
 * then to the next one that is not to be skipped.
 */
#include "exec/scan/walk.h"

#include <assert.h>

/* Tablets that are worth to be asked all at once whether any is passed over. */
enum { TABLETS_MANY = 8 };

bool walk_init(struct walk *walk, const struct pruning_params *params,
               bool prunes, struct arena *arena)
{
    *walk = (struct walk){ .table = params->table,
                           .prunes = prunes,
                           .unread = params->dictionary != NULL
                                         ? params->dictionary->base->left_out
                                         : NULL,
                           .end = params->table->tablet_count };
    if (!pruning_init(&walk->pruning, params, arena))
        return false;
    if (walk->end >= TABLETS_MANY && prunes && prune_none(&walk->pruning))
        walk->prunes = false;
    return true;
}

static_assert((int)RANK_SHARE_ALL == (int)TABLE_SHARE_ALL,
              "ranks have shares of tables");

void walk_share(struct walk *walk, const struct ranks *ranks)
{
    const struct table *table = walk->table;
    assert(walk->tablet == 0 && walk->row == 0);
    assert(ranks->share_first <= ranks->share_end);
    if (table_is_copy(table)) {
        assert(table->parts->parts == ranks->count);
        walk->tablet = walk->ahead = table->parts->first[ranks->rank];
        walk->end = table->parts->first[ranks->rank + 1];
        return;
    }
    walk->tablet = walk->ahead = table_share(table, ranks->share_first);
    if (ranks->share_end < RANK_SHARE_ALL)
        walk->end = table_share(table, ranks->share_end);
}

/* Whether nothing comes of a tablet. */
static bool skipped(struct walk *walk, size_t tablet)
{
    assert(tablet < walk->end);
    return (walk->unread != NULL && walk->unread[tablet])
           || (walk->prunes
               && prune_tablet(&walk->pruning, &walk->table->tablets[tablet]));
}

const bool *walk_unread(const struct pruning_params *params,
                        struct arena *arena)
{
    const struct table *table = params->table;
    struct pruning pruning;
    size_t count = 0;
    assert(params->dictionary == NULL);
    bool *unread = table->tablet_count > 1 && params->pack->build_count == 0
                           && params->pack->index_count == 0
                       ? arena_alloc(arena, table->tablet_count)
                       : NULL;
    if (unread == NULL || !pruning_init(&pruning, params, arena))
        return NULL;
    for (size_t i = 0; i < table->tablet_count; i++) {
        unread[i] = prune_tablet(&pruning, &table->tablets[i]);
        count += unread[i];
    }
    return count > table->tablet_count / 2 ? unread : NULL;
}

/* Goes on to the next tablet that is not to be skipped. */
static void pass_over(struct walk *walk)
{
    while (walk->tablet < walk->end && skipped(walk, walk->tablet)) {
        walk->rows_skipped += walk->table->tablets[walk->tablet].rows;
        walk->tablets_skipped++;
        walk->tablet++;
    }
}

bool walk_more(struct walk *walk)
{
    if (walk->row == 0)
        pass_over(walk);
    return walk->tablet < walk->end;
}

void walk_on(struct walk *walk, uint64_t rows)
{
    assert(walk->row + rows <= walk->table->tablets[walk->tablet].rows);
    assert(walk->tablet < walk->end);
    walk->row += rows;
    if (walk->row < walk->table->tablets[walk->tablet].rows)
        return;
    walk->row = 0;
    walk->tablet++;
    pass_over(walk);
}

bool walk_fits(const struct walk *walk, uint64_t rows_max)
{
    return walk->row == 0 && walk->tablet < walk->end
           && walk->table->tablets[walk->tablet].rows <= rows_max;
}

void walk_ahead(struct walk *walk, const struct source_params *sources)
{
    if (walk->ahead < walk->tablet)
        walk->ahead = walk->tablet;
    for (; walk->ahead < walk->end; walk->ahead++)
        if (!skipped(walk, walk->ahead)
            && !source_ahead(sources, &walk->table->tablets[walk->ahead]))
            return;
}

/* Whether the walk passes over no tablet, as far as its ends tell: what leaves out
 * some of a table in whose order its condition is leaves out one of these. */
static bool keeps_ends(struct walk *walk)
{
    return walk->unread == NULL && walk->end > 0 && !skipped(walk, 0)
           && !skipped(walk, walk->end - 1);
}

bool walk_ranges(struct walk *walk, struct interval *ranges)
{
    bool known = false;
    if (keeps_ends(walk))
        return prune_results(&walk->pruning, 0, walk->table->tablet_count,
                             false, ranges);
    for (size_t i = 0; i < walk->table->tablet_count; i++)
        if (walk->unread == NULL || !walk->unread[i])
            known |= prune_results(&walk->pruning, i, i + 1, known, ranges);
    return known;
}
