/* SPDX-License-Identifier: MIT */
/*
 * The walk over a table, in table order: launch by launch through a tablet,
 * then to the next one that is not to be skipped.
 */
#include "exec/scan/walk.h"

#include <assert.h>

bool walk_init(struct walk *walk, const struct pruning_params *params,
               bool prunes, struct arena *arena)
{
    *walk = (struct walk){ .table = params->table, .prunes = prunes };
    return pruning_init(&walk->pruning, params, arena);
}

/* Whether nothing comes of a tablet. */
static bool skipped(struct walk *walk, size_t tablet)
{
    assert(tablet < walk->table->tablet_count);
    return walk->prunes
           && prune_tablet(&walk->pruning, &walk->table->tablets[tablet]);
}

/* Goes on to the next tablet that is not to be skipped. */
static void pass_over(struct walk *walk)
{
    while (walk->tablet < walk->table->tablet_count
           && skipped(walk, walk->tablet)) {
        walk->rows_skipped += walk->table->tablets[walk->tablet].rows;
        walk->tablets_skipped++;
        walk->tablet++;
    }
}

bool walk_more(struct walk *walk)
{
    if (walk->row == 0)
        pass_over(walk);
    return walk->tablet < walk->table->tablet_count;
}

void walk_on(struct walk *walk, uint64_t rows)
{
    assert(walk->row + rows <= walk->table->tablets[walk->tablet].rows);
    assert(walk->tablet < walk->table->tablet_count);
    walk->row += rows;
    if (walk->row < walk->table->tablets[walk->tablet].rows)
        return;
    walk->row = 0;
    walk->tablet++;
    pass_over(walk);
}

bool walk_fits(const struct walk *walk, uint64_t rows_max)
{
    return walk->row == 0 && walk->tablet < walk->table->tablet_count
           && walk->table->tablets[walk->tablet].rows <= rows_max;
}

void walk_ahead(struct walk *walk, const struct source_params *sources)
{
    if (walk->ahead < walk->tablet)
        walk->ahead = walk->tablet;
    for (; walk->ahead < walk->table->tablet_count; walk->ahead++)
        if (!skipped(walk, walk->ahead)
            && !source_ahead(sources, &walk->table->tablets[walk->ahead]))
            return;
}

bool walk_ranges(struct walk *walk, struct interval *ranges)
{
    bool known = false;
    for (size_t i = 0; i < walk->table->tablet_count; i++)
        known |= prune_results(&walk->pruning, &walk->table->tablets[i], known,
                               ranges);
    return known;
}
