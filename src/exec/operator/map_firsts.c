/* SPDX-License-Identifier: MIT */
/*
 * A row whose text is behind those of `wanted.count` others is not among the first
 * ones of all threads' rows either, whatever text behind theirs it has. That text
 * stays right, for what comes later only moves the last of the first ones ahead.
 */
#include "exec/operator/map_firsts.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "data/tablet/dictionary_sort.h"

void map_firsts_finish(struct map_firsts *firsts)
{
    memory_release(firsts->places);
    *firsts = (struct map_firsts){ 0 };
}

/* Less than 0: the first text comes before the other one. */
static int order(struct step_firsts wanted, struct vdbq_text a,
                 struct vdbq_text b)
{
    return wanted.descending ? text_compare(b, a) : text_compare(a, b);
}

/* -------------------------------------------------------------- the heap -- */

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t other = *a;
    *a = *b;
    *b = other;
}

/* Whether place i of the heap has a text behind that of place k. */
static bool is_behind(const struct map_firsts *firsts,
                      struct step_firsts wanted, const struct gather *gather,
                      uint32_t i, uint32_t k)
{
    return order(wanted, gather->texts[firsts->places[i]],
                 gather->texts[firsts->places[k]])
           > 0;
}

/* The last place moves ahead until the heap is one. */
static void rise(const struct map_firsts *firsts, struct step_firsts wanted,
                 const struct gather *gather)
{
    uint32_t i = firsts->count - 1;
    while (i > 0 && is_behind(firsts, wanted, gather, i, (i - 1) / 2)) {
        swap(&firsts->places[i], &firsts->places[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

/* The head moves back until the heap is one. */
static void sink(const struct map_firsts *firsts, struct step_firsts wanted,
                 const struct gather *gather)
{
    for (uint32_t i = 0, next; 2 * i + 1 < firsts->count; i = next) {
        next = 2 * i + 1;
        if (next + 1 < firsts->count
            && is_behind(firsts, wanted, gather, next + 1, next))
            next++;
        if (!is_behind(firsts, wanted, gather, next, i))
            return;
        swap(&firsts->places[i], &firsts->places[next]);
    }
}

/* ---------------------------------------------------------------- adding -- */

/* Gathers a text that is behind the last of the first ones: that with a byte more,
 * or the empty one, for that is not empty then. False: no memory. */
static bool add_behind(struct map_firsts *firsts, struct step_firsts wanted,
                       struct gather *gather)
{
    struct vdbq_text last = gather->texts[firsts->places[0]];
    struct vdbq_text text = { "", 0 };
    char *longer = NULL;
    if (!wanted.descending) {
        longer = memory_zeroed(last.length + 1, 1);
        if (longer == NULL)
            return false;
        if (last.length > 0)
            memcpy(longer, last.bytes, last.length);
        text = (struct vdbq_text){ longer, last.length + 1 };
    }
    firsts->has_behind = gather_add(gather, text, &firsts->behind);
    memory_release(longer);
    return firsts->has_behind;
}

/* One of the first texts, while they are not all there. */
static bool add_first(struct map_firsts *firsts, struct step_firsts wanted,
                      struct gather *gather, struct vdbq_text text,
                      uint32_t *place)
{
    if (firsts->places == NULL)
        firsts->places =
            memory_resize(NULL, wanted.count * sizeof *firsts->places);
    if (firsts->places == NULL || !gather_add(gather, text, place))
        return false;
    firsts->places[firsts->count++] = *place;
    rise(firsts, wanted, gather);
    return true;
}

bool map_firsts_add(struct map_firsts *firsts, struct step_firsts wanted,
                    struct gather *gather, struct vdbq_text text,
                    uint32_t *place)
{
    assert(wanted.count > 0);
    if (firsts->count < wanted.count)
        return add_first(firsts, wanted, gather, text, place);
    int before = order(wanted, text, gather->texts[firsts->places[0]]);
    if (before > 0) {
        bool there = firsts->has_behind || add_behind(firsts, wanted, gather);
        *place = firsts->behind;
        return there;
    }
    *place = firsts->places[0];
    if (before == 0)
        return true;
    if (!gather_add(gather, text, place))
        return false;
    firsts->places[0] = *place;
    sink(firsts, wanted, gather);
    return true;
}

void map_firsts_end(const struct map_firsts *firsts, struct step_firsts wanted,
                    struct gather *gather)
{
    bool has_behind = firsts->has_behind;
    uint32_t behind = firsts->behind;
    if (firsts->count < wanted.count || wanted.count == 0)
        return;
    struct vdbq_text last = gather->texts[firsts->places[0]];
    for (uint32_t i = 0; i < gather->count; i++) {
        if (order(wanted, gather->texts[i], last) <= 0)
            continue;
        if (!has_behind)
            behind = i;
        has_behind = true;
        gather->texts[i] = gather->texts[behind];
        gather->hashes[i] = gather->hashes[behind];
    }
}
