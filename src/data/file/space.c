/* SPDX-License-Identifier: MIT */
/*
 * Free space: gaps between extents, the first that is large enough is used. Small
 * blocks of one commit are neighbours where that costs little room: a disk takes
 * a third of the time for one run of pages that it takes for eight.
 */
#include "data/file/space.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "data/tablet/block.h"

enum {
    SMALL_BYTES = 1 << 16,                /* of a block that goes to others */
    STRETCH_BYTES = HOSTILE(2, 16) << 12, /* of a gap that has room for them */
    SLACK_BYTES = 4 * STRETCH_BYTES, /* by which the file may get longer for
                                        that, ...                            */
    SLACK_SHARE = 4,                 /* ... at most one in so many of it     */
    SORT_FEW = HOSTILE(4, 64), /* extents that are sorted in place, ...   */
    DIGIT_BITS = 8,            /* ... others by digits of so many bits   */
    DIGITS = 1 << DIGIT_BITS
};

bool extents_add(struct vector *extents, uint64_t offset, uint64_t size)
{
    assert(offset <= UINT64_MAX - size);
    struct extent extent = { offset, page_round(size) };

    if (extents->count == extents->capacity)
        return vector_append(extents, &extent, 1);
    VECTOR_ITEMS(extents, struct extent)[extents->count++] = extent;
    return true;
}

/* Tablets, and their edits. */
static bool add_tablets(struct vector *extents, const struct table *table)
{
    for (size_t i = 0; i < table->tablet_count; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        const struct edit *edit = tablet->edit;
        if (!extents_add(extents, tablet->offset, tablet->size_bytes)
            || (edit != NULL && edit->offset > 0
                && !extents_add(extents, edit->offset, edit->size_bytes)))
            return false;
    }
    return true;
}

bool extents_add_catalogue(struct vector *extents,
                           const struct catalogue *catalogue)
{
    bool added = true;

    for (size_t i = 0; i < catalogue->table_count && added; i++) {
        const struct table *table = &catalogue->tables[i];
        const struct sample *sample = table->sample;
        added =
            add_tablets(extents, table)
            && (sample == NULL
                || extents_add(extents, sample->offset, sample->size_bytes));
    }
    for (size_t i = 0; i < catalogue->run_count && added; i++)
        added = extents_add(extents, catalogue->runs[i].offset,
                            catalogue->runs[i].size_bytes);
    return added;
}

/* Sorts few, or without memory for more, by insertion over shorter and shorter gaps. */
static void sort_few(struct extent *extents, size_t count)
{
    for (size_t gap = count / 3 + 1; gap > 0; gap = gap == 1 ? 0 : gap / 3 + 1)
        for (size_t i = gap; i < count; i++) {
            struct extent moved = extents[i];
            size_t at = i;
            for (; at >= gap && extents[at - gap].offset > moved.offset;
                 at -= gap)
                extents[at] = extents[at - gap];
            extents[at] = moved;
        }
}

static unsigned digit_of(const struct extent *extent, unsigned shift)
{
    return (unsigned)(extent->offset / PAGE_BYTES >> shift) % DIGITS;
}

/* Sorts by one digit of the pages' numbers; those that have the same stay in order. */
static void sort_digit(const struct extent *from, size_t count, unsigned shift,
                       struct extent *to)
{
    size_t starts[DIGITS] = { 0 }, sum = 0;

    for (size_t i = 0; i < count; i++)
        starts[digit_of(&from[i], shift)]++;
    for (unsigned i = 0; i < DIGITS; i++) {
        size_t here = starts[i];
        starts[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(&from[i], shift)]++] = from[i];
}

/* Sorts many, with room for as many. Every commit does it: digit by digit it takes
 * a few passes in whatever order they come. */
static void sort_many(struct extent *extents, size_t count, struct extent *room)
{
    struct extent *from = extents, *to = room;
    uint64_t pages = 0; /* the bits of all their numbers */

    for (size_t i = 0; i < count; i++)
        pages |= extents[i].offset / PAGE_BYTES;
    for (unsigned shift = 0; shift < 64 && pages >> shift != 0;
         shift += DIGIT_BITS) {
        struct extent *sorted = to;
        sort_digit(from, count, shift, sorted);
        to = from;
        from = sorted;
    }
    if (from != extents)
        memcpy(extents, from, count * sizeof *extents);
}

void extents_sort(struct vector *extents)
{
    const size_t bytes = extents->count * sizeof(struct extent);
    struct extent *room =
        extents->count > SORT_FEW ? memory_resize(NULL, bytes) : NULL;

    if (room != NULL)
        sort_many(extents->items, extents->count, room);
    else
        sort_few(extents->items, extents->count);
    memory_release(room);
}

const struct extent *extents_overlap(const struct vector *extents)
{
    const struct extent *extent = extents->items;

    for (size_t i = 1; i < extents->count; i++)
        if (extent[i - 1].offset + extent[i - 1].size > extent[i].offset)
            return &extent[i - 1];
    return NULL;
}

struct space space_init(uint64_t tail)
{
    return (struct space){ .gaps = VECTOR(struct extent), .tail = tail };
}

bool space_fill(struct space *space, struct vector *extents, uint64_t first)
{
    const struct extent *extent = extents->items;

    extents_sort(extents);
    for (size_t i = 0; i < extents->count; i++) {
        uint64_t end = extent[i].offset + extent[i].size;
        if (extent[i].offset > first
            && !extents_add(&space->gaps, first, extent[i].offset - first))
            return false;
        first = end > first ? end : first;
    }
    space->tail = first;
    return true;
}

/* The first gap of that size, or NULL. */
static struct extent *find_gap(const struct space *space, uint64_t size)
{
    struct extent *gap = space->gaps.items;

    for (size_t i = 0; i < space->gaps.count; i++)
        if (gap[i].size >= size)
            return &gap[i];
    return NULL;
}

bool space_find(const struct space *space, uint64_t size, uint64_t *offset)
{
    const struct extent *gap = find_gap(space, size);

    if (gap != NULL)
        *offset = gap->offset;
    return gap != NULL;
}

void space_near(struct space *space, uint64_t end)
{
    uint64_t slack = end / SLACK_SHARE;

    if (slack > SLACK_BYTES)
        slack = SLACK_BYTES;
    space->limit = space->low ? 0 : end + slack;
}

/* The gap for a small block; NULL: behind all that is in use. */
static struct extent *find_stretch(const struct space *space, uint64_t size)
{
    struct extent *gap = space->gaps.items, *stretch = NULL;
    uint64_t free = 0;

    for (size_t i = 0; i < space->gaps.count; i++) {
        if (gap[i].offset == space->next && gap[i].size >= size)
            return &gap[i];
        if (stretch == NULL && gap[i].size >= STRETCH_BYTES
            && gap[i].offset < space->limit)
            stretch = &gap[i];
        free += gap[i].size;
    }
    if (stretch != NULL && stretch->size >= size)
        return stretch;
    return free < SLACK_BYTES && space->tail < space->limit
               ? NULL
               : find_gap(space, size);
}

uint64_t space_take(struct space *space, uint64_t size)
{
    struct extent *gap = space->limit > 0 && size <= SMALL_BYTES
                             ? find_stretch(space, size)
                             : find_gap(space, size);
    uint64_t offset;

    assert(size % PAGE_BYTES == 0);
    if (gap == NULL)
        return space_take_last(space, size);
    offset = gap->offset;
    space->taken += size;
    gap->offset += size;
    gap->size -= size;
    space->next = gap->offset;
    return offset;
}

uint64_t space_take_last(struct space *space, uint64_t size)
{
    uint64_t offset = space->tail;

    assert(size % PAGE_BYTES == 0);
    space->taken += size;
    space->tail += size;
    space->next = space->tail;
    return offset;
}

bool space_give(struct space *space, uint64_t offset, uint64_t size)
{
    assert(offset % PAGE_BYTES == 0 && size % PAGE_BYTES == 0);
    struct extent *gap = space->gaps.items, *used_up = NULL;

    for (size_t i = 0; i < space->gaps.count; i++) {
        if (gap[i].size == 0)
            used_up = &gap[i];
        if (gap[i].offset == offset + size && space->next == gap[i].offset) {
            gap[i].offset = space->next = offset; /* as if it was not taken */
            gap[i].size += size;
            return true;
        }
        if (gap[i].offset + gap[i].size == offset) {
            gap[i].size += size;
            return true;
        }
    }
    if (used_up == NULL)
        return extents_add(&space->gaps, offset, size);
    *used_up = (struct extent){ offset, size };
    return true;
}

void space_finish(struct space *space)
{
    vector_finish(&space->gaps);
}
