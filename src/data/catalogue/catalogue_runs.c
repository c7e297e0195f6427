/* SPDX-License-Identifier: MIT */
/*
 * The runs of a catalogue, by tablet, which its copies share: most commits change
 * none of them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostile.h"
#include "data/catalogue/catalogue_inner.h"

enum {
    RUNS_NEAR = HOSTILE(2, 8) /* that are looked at before a search: as many as
                                 tablets mostly have */
};

struct shared_runs {
    unsigned holders; /* catalogues */
    struct run_ref refs[];
};

void shared_runs_release(struct shared_runs *runs)
{
    if (runs == NULL)
        return;
    assert(runs->holders > 0);
    if (--runs->holders == 0)
        memory_release(runs);
}

void catalogue_share_runs(struct catalogue *copy, const struct catalogue *from)
{
    assert(copy->held_runs == NULL);
    copy->held_runs = from->held_runs;
    if (copy->held_runs != NULL)
        copy->held_runs->holders++;
    copy->runs = from->runs;
    copy->run_count = from->run_count;
    copy->runs_listed = from->runs_listed;
}

bool catalogue_new_runs(struct catalogue *catalogue, size_t count)
{
    struct shared_runs *runs =
        memory_resize(NULL, sizeof *runs + count * sizeof *runs->refs);

    if (runs == NULL)
        return false;
    runs->holders = 1;
    shared_runs_release(catalogue->held_runs);
    catalogue->held_runs = runs;
    catalogue->runs = runs->refs;
    catalogue->run_count = 0;
    return true;
}

bool catalogue_own_runs(struct catalogue *catalogue)
{
    const struct catalogue before = *catalogue;
    bool made;

    if (before.held_runs == NULL)
        return true;
    before.held_runs->holders++; /* while they are copied */
    made = catalogue_new_runs(catalogue, before.run_count);
    if (made) {
        memcpy(catalogue->runs, before.runs,
               before.run_count * sizeof *before.runs);
        catalogue->run_count = before.run_count;
    }
    shared_runs_release(before.held_runs);
    return made;
}

/* The order of runs: by tablet, then by columns. */
static int compare_runs(const void *a, const void *b)
{
    const struct run_ref *left = a, *right = b;
    const uint64_t x[2] = { left->tablet.origin, left->tablet.number };
    const uint64_t y[2] = { right->tablet.origin, right->tablet.number };

    for (int i = 0; i < 2; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    if (left->column_count != right->column_count)
        return left->column_count < right->column_count ? -1 : 1;
    return memcmp(left->columns, right->columns, sizeof left->columns);
}

void catalogue_sort_runs(struct catalogue *catalogue)
{
    if (catalogue->run_count > 1)
        qsort(catalogue->runs, catalogue->run_count, sizeof *catalogue->runs,
              compare_runs);
}

const struct run_ref *catalogue_run(const struct catalogue *catalogue,
                                    struct identity tablet,
                                    const unsigned *columns, unsigned count)
{
    struct run_ref wanted = { .tablet = tablet, .column_count = count };

    assert(count <= RUN_COLUMNS_MAX);
    if (catalogue->run_count == 0)
        return NULL;
    memcpy(wanted.columns, columns, count * sizeof *columns);
    return bsearch(&wanted, catalogue->runs, catalogue->run_count,
                   sizeof wanted, compare_runs);
}

const struct run_ref *catalogue_run_near(const struct catalogue *catalogue,
                                         struct identity tablet,
                                         const unsigned *columns,
                                         unsigned count, size_t *near)
{
    const struct run_ref *runs = catalogue->runs, *found = NULL;

    assert(*near <= catalogue->run_count);
    for (size_t i = *near;
         i < catalogue->run_count && i - *near < RUNS_NEAR && found == NULL;
         i++)
        if (identity_equal(runs[i].tablet, tablet)
            && runs[i].column_count == count
            && memcmp(runs[i].columns, columns, count * sizeof *columns) == 0)
            found = &runs[i];
    if (found == NULL)
        found = catalogue_run(catalogue, tablet, columns, count);
    if (found != NULL)
        *near = (size_t)(found - runs) + 1;
    return found;
}

size_t catalogue_runs_of(const struct catalogue *catalogue,
                         struct identity tablet, size_t *first)
{
    const struct run_ref wanted = { .tablet = tablet }; /* before all of it */
    size_t low = 0, high = catalogue->run_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_runs(&catalogue->runs[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low < catalogue->run_count
           && identity_equal(catalogue->runs[low].tablet, tablet))
        low++;
    return low - *first;
}
